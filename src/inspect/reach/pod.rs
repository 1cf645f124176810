//! The last part of a walk: what lets it to the port of a pod, and who is let in there.

use super::{Mesh, subject};
use crate::certificates::BundlePrint;
use crate::finding::{Evidence, Subject};
use crate::inspect::walk::{Outcome, Part, Walk};
use crate::model::policy::{Client, Entry, Inbound, TakenBy, Workload};
use crate::model::skipped::{IN, skipped};
use crate::objects::container::TRUST_ANCHORS;
use crate::objects::{Kind, Pod};

impl<'a> Mesh<'a> {
    /// The last part of the way: to the port of a pod.
    pub(super) fn to_pod(&self, walk: &mut Walk, client: &Pod, meshed: bool, pod: &'a Pod, port: u16) {
        let object = subject(pod);
        if !self.network.walk(walk, client, meshed, pod, port) {
            return;
        }
        if pod.spec.proxy().is_none() {
            walk.step(
                Part::Server,
                Outcome::Passes,
                format!("pod {} has no proxy: no policy holds for it", pod.metadata.name),
            );
            return;
        }
        if let Some(skipped) = skipped(pod, IN).filter(|skipped| skipped.holds(port)) {
            walk.step(
                Part::Server,
                Outcome::Passes,
                format!(
                    "port {port} of pod {} is skipped by its proxy: no policy holds for it",
                    pod.metadata.name
                ),
            )
            .evidence(skipped.by());
            return;
        }
        let Some(workload) = Workload::of_pod(pod, self.policy.index.controller.quirks) else {
            walk.step(
                Part::Server,
                Outcome::NotJudged,
                format!("pod {} has a proxy that the policy controller does not know", pod.metadata.name),
            )
            .evidence(Evidence::field(
                object,
                "metadata.labels[linkerd.io/control-plane-ns]",
                "not there",
            ));
            return;
        };
        if meshed && !anchors(walk, client, pod) {
            return;
        }
        let identity = self.identity(client);
        let who = Client { identity: meshed.then_some(identity.as_str()), address: client.status.pod_ip };
        let inbound = self.policy.index.inbound(&workload, port);
        policy(walk, &inbound, who, pod, port);
    }
}

/// Whether both proxies share a trust anchor, as far as they say.
fn anchors(walk: &mut Walk, client: &Pod, server: &Pod) -> bool {
    let print = |pod: &Pod| {
        // What is kept of the variable is the print of its certificates.
        let print: BundlePrint = pod.spec.proxy()?.env_value(TRUST_ANCHORS)?.parse().ok()?;
        Some(print).filter(|print| !print.is_empty())
    };
    let path = format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]");
    match (print(client), print(server)) {
        (Some(ours), Some(theirs)) if !ours.overlaps(&theirs) => {
            walk.step(Part::Identity, Outcome::Stops, "the proxies of client and server share no trust anchor: neither takes the other's certificate")
                .evidence(Evidence::field(subject(client), path.clone(), ours.shown()))
                .evidence(Evidence::field(subject(server), path, theirs.shown()))
                .fix("roll out the one with the older anchors: kubectl rollout restart");
            return false;
        }
        (Some(_), Some(_)) => {
            walk.step(Part::Identity, Outcome::Passes, "both proxies share a trust anchor");
        }
        _ => {
            walk.step(
                Part::Identity,
                Outcome::NotJudged,
                "the trust anchors of the proxies are not in their environment",
            );
        }
    }
    true
}

fn policy(walk: &mut Walk, inbound: &Inbound<'_>, who: Client<'_>, pod: &Pod, port: u16) {
    let (by, evidence) = match inbound.taken_by {
        TakenBy::Server(server) => {
            let meta = &server.metadata;
            let object = Subject::object(Kind::Server, &meta.namespace, &meta.name);
            (
                format!("Server {}", meta.name),
                Evidence::field(object, "spec.port", format!("takes port {port}")),
            )
        }
        TakenBy::Default(policy) => {
            (format!("default policy {policy}"), Evidence::other("default inbound policy", policy.as_str()))
        }
    };
    let shows = who.identity.map_or_else(|| "a client without identity".to_owned(), str::to_owned);
    let admits = |one: &&crate::model::policy::Authorization<'_>| one.admits(who.identity, who.address);
    match inbound.connect(who) {
        Entry::Admitted => {
            let at_port = inbound.authorizations.iter().find(admits);
            let says = match at_port {
                Some(one) => format!("{by} lets in {shows}, by {}", one.by.name()),
                None => format!("{by} lets in {shows} on some of its routes; others may refuse it"),
            };
            walk.step(Part::Policy, Outcome::Passes, says).evidence(evidence);
        }
        Entry::Refused | Entry::NoRoute => {
            walk.step(Part::Policy, Outcome::Stops, format!("{by} of pod {} lets nobody in who is {shows}: status 403, or the connection ends", pod.metadata.name))
                .evidence(evidence)
                .fix(format!(
                    "add an AuthorizationPolicy for {by} that lets this client in; meshdoctor policy {}/{}:{port} shows who is let in",
                    pod.metadata.namespace, pod.metadata.name
                ));
        }
    }
}
