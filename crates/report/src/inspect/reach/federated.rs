//! Step of a walk for a federated Service: destination resolves it to the endpoints of its members.

use super::{Caller, Mesh};
use crate::finding::{Evidence, Subject};
use crate::inspect::steps::{Outcome, Part, Walk};
use crate::model::policy::Spoken;
use crate::objects::service::{LOCAL_DISCOVERY, REMOTE_DISCOVERY};
use crate::objects::{Kind, Service, ServicePort};

impl<'a> Mesh<'a> {
    /// Evaluates the members. The Service itself has no endpoints, so only proxies can call it.
    pub(super) fn to_members(
        &self,
        walk: &mut Walk,
        caller: Caller<'_>,
        service: &Service,
        number: u16,
        spoken: Option<Spoken>,
    ) {
        let (namespace, name) = service.metadata.key();
        if !caller.meshed {
            let says = format!(
                "Service {namespace}/{name} is federated: it has no endpoints of its own, and without a proxy \
                 nothing resolves its members"
            );
            walk.step(Part::Endpoints, Outcome::Stops, says)
                .evidence(members(service))
                .fix("inject the client: its proxy connects to the members");
            return;
        }
        let local = service.local_member().map(|local| (local, self.service(namespace, local)));
        let remote: Vec<&str> = service.remote_members().collect();
        let serving = local.and_then(|(_, member)| member).filter(|member| self.ready(member).0 > 0);
        if let (Some((local, None)), true) = (local, remote.is_empty()) {
            let says =
                format!("the only member, Service {namespace}/{local}, does not exist: {}", self.calls.no_endpoint);
            walk.step(Part::Endpoints, Outcome::Stops, says)
                .evidence(members(service))
                .fix(format!("create Service {namespace}/{local}, or link a cluster that has it"));
            return;
        }
        let mut ways: Vec<(String, Walk)> = Vec::new();
        // Without a ready endpoint here, the calls go to the other clusters.
        if let Some(member) = serving.or(local.and_then(|(_, member)| member).filter(|_| remote.is_empty())) {
            let mut way = walk.branch();
            self.to_endpoints(&mut way, caller, member, declared(member, number), spoken);
            ways.push((format!("member {}", member.metadata.name), way));
        }
        if !remote.is_empty() {
            let mut way = walk.branch();
            let says = format!(
                "Service {namespace}/{name} is federated with {}: these members are not in this evidence",
                remote.join(", ")
            );
            way.step(Part::OtherCluster, Outcome::NotJudged, says)
                .evidence(members(service))
                .fix("also run meshdoctor against these clusters");
            ways.push(("members of other clusters".to_owned(), way));
        }
        walk.join(ways);
    }
}

/// The port of a member with the number that the client calls.
fn declared(member: &Service, number: u16) -> Result<&ServicePort, u16> {
    member.spec.tcp_ports().find(|port| port.port == number).ok_or(number)
}

/// The annotations that name the members.
fn members(service: &Service) -> Evidence {
    let (namespace, name) = service.metadata.key();
    let key = if service.local_member().is_some() { LOCAL_DISCOVERY } else { REMOTE_DISCOVERY };
    Evidence::field(
        Subject::object(Kind::Service, namespace, name),
        format!("metadata.annotations[{key}]"),
        service.metadata.annotation(key).unwrap_or_default(),
    )
}
