//! Steps of a walk for pods whose connections do not reach their proxy, and for proxies of a removed control plane.

use super::{Mesh, subject};
use crate::finding::Evidence;
use crate::inspect::steps::{Outcome, Part, Walk};
use crate::model::installed::{COMPONENT, control_plane_of};
use crate::model::redirection::{EXEMPT_USER, NotRedirected, not_redirected};
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

impl Mesh<'_> {
    /// Evaluates whether the calls of a client, or the connections to a server, reach its proxy. Returns `false` if
    /// they fail.
    pub(super) fn is_redirected(&self, walk: &mut Walk, part: Part, pod: &Pod) -> bool {
        let name = &pod.metadata.name;
        let is_server = part == Part::Server;
        match not_redirected(pod) {
            Some(NotRedirected::NoRules) => {
                let effect = if is_server {
                    "connections to its proxy, meshed clients cannot connect, and no policy applies"
                } else {
                    "its calls, they bypass its proxy and have no identity"
                };
                let says = format!("pod {name} has no {INIT_CONTAINER}: unless linkerd-cni redirects {effect}");
                without_rules(walk, part, pod, says);
                true
            }
            Some(fault @ NotRedirected::OtherPort { inbound, .. }) if inbound == is_server => {
                let what = if is_server { "connections to" } else { "the calls of" };
                let says = format!(
                    "{what} pod {name} are redirected to a port on which its proxy does not listen: they are refused"
                );
                other_port(walk, part, pod, &fault, says);
                false
            }
            Some(NotRedirected::OtherUser { exempt, runs_as }) => {
                let effect = if is_server {
                    "connections to the control plane return to it: it gets no certificate"
                } else {
                    "connections return to it: calls fail"
                };
                let says =
                    format!("the rules of pod {name} exempt another user than that of its proxy, whose {effect}");
                other_user(walk, part, pod, (exempt, runs_as), says);
                false
            }
            Some(NotRedirected::OtherPort { .. }) | None => true,
        }
    }

    /// Records that a proxy belongs to a control plane that does not exist.
    pub(super) fn belongs_elsewhere(&self, walk: &mut Walk, pod: &Pod, is_client: bool) -> bool {
        if pod.spec.proxy().is_none() {
            return false;
        }
        let Some(namespace) = control_plane_of(pod) else { return false };
        let runs =
            |one: &&Pod| one.metadata.namespace == namespace && one.metadata.label(COMPONENT) == Some("destination");
        if namespace == self.policy.index.controller.namespace || self.policy.pods.iter().any(|one| runs(&one)) {
            return false;
        }
        let name = &pod.metadata.name;
        let (outcome, says) = if is_client {
            let says = format!(
                "the proxy of pod {name} connects to namespace {namespace}, which has no control plane: calls hang, \
                 unless it already knows this target"
            );
            (Outcome::Partly, says)
        } else {
            let says = format!(
                "the proxy of pod {name} connects to namespace {namespace}, which has no control plane: it \
                 applies earlier policies or its default policy"
            );
            (Outcome::NotJudged, says)
        };
        walk.step(Part::ControlPlane, outcome, says)
            .evidence(Evidence::field(subject(pod), "control plane of the proxy", namespace))
            .fix("restart the workload, so that its proxy belongs to the current control plane");
        true
    }
}

fn without_rules(walk: &mut Walk, part: Part, pod: &Pod, says: String) {
    walk.step(part, Outcome::NotJudged, says)
        .evidence(Evidence::field(subject(pod), "spec.initContainers", format!("{INIT_CONTAINER} is missing")))
        .fix("find out what removes the container, and restart the workload");
}

fn other_port(walk: &mut Walk, part: Part, pod: &Pod, fault: &NotRedirected, says: String) {
    let NotRedirected::OtherPort { argument, redirected, variable, listens, .. } = fault else { return };
    walk.step(part, Outcome::Stops, says)
        .evidence(Evidence::field(
            subject(pod),
            format!("spec.initContainers[{INIT_CONTAINER}].args: {argument}"),
            redirected.to_string(),
        ))
        .evidence(Evidence::field(subject(pod), format!("containers[linkerd-proxy].env[{variable}]"), listens))
        .fix("find out what changes the port, and restart the workload");
}

fn other_user(walk: &mut Walk, part: Part, pod: &Pod, (exempt, runs_as): (i64, i64), says: String) {
    walk.step(part, Outcome::Stops, says)
        .evidence(Evidence::field(
            subject(pod),
            format!("spec.initContainers[{INIT_CONTAINER}].args: {EXEMPT_USER}"),
            exempt.to_string(),
        ))
        .evidence(Evidence::field(
            subject(pod),
            "spec.containers[linkerd-proxy].securityContext.runAsUser",
            runs_as.to_string(),
        ))
        .fix("find out what changes the user of the proxy, and restart the workload");
}
