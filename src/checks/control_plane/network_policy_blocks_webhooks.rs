//! `network-policy-blocks-webhooks`: NetworkPolicies block the API server from Linkerd's webhooks and from
//! tap of viz.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::network_policies::{self, PeerSelector, Set, about, cannot_say, is_older, set};
use crate::checks::prelude::*;
use crate::checks::serving::silent_injector;
use crate::item::EXTENSION_LABEL;
use crate::model::installed::COMPONENT;
use crate::network_policy::{DecidedBy, Direction, Peer, Policy, Port, Verdict};

/// The webhooks of the control plane: component of the pod, port, name.
const WEBHOOKS: [(&str, u16, &str); 3] = [
    ("proxy-injector", 8443, "proxy-injector"),
    ("destination", 8443, "sp-validator"),
    ("destination", 9443, "policy-validator"),
];

/// The endpoint of viz that the API server calls: component of the pod, port, name.
const OF_VIZ: [(&str, u16, &str); 1] = [("tap", 8089, "tap")];

/// The webhooks that a set of policies blocks.
#[derive(Default)]
struct BlockedWebhooks<'a> {
    by: Vec<DecidedBy<'a>>,
    webhooks: BTreeSet<(&'static str, u16)>,
    pods: BTreeSet<&'a str>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = network_policies::policies(ctx);
    let pods = ctx.partial_list::<Pod>()?;
    let policies = policies?;
    let home = ctx.namespaces().control_plane.as_str();
    let mut shut: BTreeMap<Set<'_>, BlockedWebhooks<'_>> = BTreeMap::new();
    let mut doubts = Vec::new();
    for pod in pods.iter().filter(|pod| !pod.is_finished()) {
        let meta = &pod.metadata;
        let (component, asked) = match meta.label(EXTENSION_LABEL) {
            Some("viz") => (meta.label("component"), &OF_VIZ[..]),
            _ if meta.namespace == home => (meta.label(COMPONENT), &WEBHOOKS[..]),
            _ => continue,
        };
        for (_, number, name) in asked.iter().filter(|(of, ..)| component == Some(*of)) {
            let port = Port { protocol: "TCP", number: *number, of: Some(pod) };
            match policies.passage(Direction::Ingress, pod, port, Peer::Host) {
                Verdict::Open | Verdict::Through(_) => {}
                Verdict::Unknown(unknown) => doubts.extend(unknown),
                Verdict::Shut(by) => {
                    let entry = shut.entry(set(&by)).or_default();
                    entry.by = by;
                    entry.webhooks.insert((name, *number));
                    entry.pods.insert(pod.metadata.name.as_str());
                }
            }
        }
    }
    // A pod that was injected under these policies shows that the network admits hosts.
    let is_meshed = |pod: &&Pod| pod.metadata.namespace != home && pod.spec.proxy().is_some();
    let meshed: Vec<&Pod> = pods.iter().filter(is_meshed).collect();
    let injected = |policies: &[Policy<'_>]| {
        !policies.is_empty() && meshed.iter().any(|pod| policies.iter().all(|policy| is_older(*policy, pod)))
    };
    let of_injector = || shut.values().filter(|shut| is_injector(shut));
    let called = of_injector().any(|shut| injected(&shut.policies()));
    // The policies may have changed since.
    let was_called = of_injector().any(|shut| meshed.iter().any(|pod| shut.is_created_before(pod)));
    if !called && !injected(&doubts.iter().map(|doubt| doubt.policy).collect::<Vec<_>>()) {
        cannot_say(ctx, &doubts);
    }
    let findings = shut.values().filter(|_| !called).map(|shut| {
        let finding = finding(ctx, shut);
        if was_called { shut.changed_since(finding) } else { finding }
    });
    Ok(findings.collect())
}

impl<'a> BlockedWebhooks<'a> {
    fn policies(&self) -> Vec<Policy<'a>> {
        self.by.iter().map(|decides| decides.policy).collect()
    }

    /// Whether all of its policies existed before a pod, in whatever form.
    fn is_created_before(&self, pod: &Pod) -> bool {
        self.by.iter().all(|decides| {
            let policy = decides.policy.meta().creation_timestamp.get();
            policy.zip(pod.metadata.creation_timestamp.get()).is_some_and(|(policy, pod)| policy < pod)
        })
    }

    /// The finding if pods were injected after the policies were created: one of them has changed, then or later.
    fn changed_since(&self, finding: Finding) -> Finding {
        let finding = finding.severity(Severity::Warning);
        match self.by.iter().find(|decides| !decides.policy.meta().is_unchanged()) {
            None => finding,
            Some(changed) => {
                let said = format!("{}: it changed after its creation", changed.policy.meta().generation);
                let object = network_policies::subject(changed.policy);
                finding.evidence(Evidence::field(object, "metadata.generation", said))
            }
        }
    }
}

fn is_injector(shut: &BlockedWebhooks<'_>) -> bool {
    shut.webhooks.iter().any(|(name, _)| *name == "proxy-injector")
}

fn finding(ctx: &Context<'_>, shut: &BlockedWebhooks<'_>) -> Finding {
    let listed: Vec<String> = shut.webhooks.iter().map(|(name, port)| format!("{name} ({port})")).collect();
    let of_tap = shut.webhooks.iter().all(|(name, _)| *name == "tap");
    let then = match is_injector(shut) {
        true => "new pods start without a proxy, or are rejected if failurePolicy is Fail",
        false if of_tap => "its API is unavailable, so linkerd viz tap and namespace deletion fail",
        false => "Linkerd policies and profiles are accepted unchecked, or rejected if failurePolicy is Fail",
    };
    let message = format!(
        "{} block the API server from {} (on the host network, which selectors do not match): {then}",
        network_policies::kind_names(&shut.by),
        listed.join(", ")
    );
    let mut finding = about(ctx, &shut.by, message);
    for decides in &shut.by {
        let said = match decides.said.as_str() {
            _ if decides.denies => format!("denies it: {}", decides.said),
            said if said.starts_with("no rule") => "no rule: all ingress is denied".to_owned(),
            _ => "none of its rules allows a host at these ports".to_owned(),
        };
        finding = finding.evidence(Evidence::field(network_policies::subject(decides.policy), &decides.field, said));
    }
    let pods: Vec<&str> = shut.pods.iter().copied().collect();
    let finding = finding.evidence(Evidence::other("Selected pods", pods.join(", "))).remedy(remedy(shut));
    match is_injector(shut) {
        true => finding.tie(silent_injector()),
        false => finding.severity(Severity::Warning),
    }
}

fn remedy(shut: &BlockedWebhooks<'_>) -> Remedy {
    let ports: BTreeSet<u16> = shut.webhooks.iter().map(|(_, port)| *port).collect();
    let ports = ports.into_iter().map(|port| ("TCP", port)).collect();
    let Some(decides) = shut.by.first() else { return Remedy::new() };
    let narrow = match decides.policy {
        Policy::Kubernetes(_) => "if the addresses of the API servers are known, restrict it with an ipBlock",
        Policy::Cilium(_) => "restrict it with fromEntities kube-apiserver",
        Policy::Calico(_) => "if the addresses of the API servers are known, restrict it with source.nets",
        Policy::Admin(..) => "its peers can only be pods, so rules for the API servers belong in a NetworkPolicy",
    };
    let words = format!("Allow all sources at the webhook ports, which serve TLS ({narrow})");
    network_policies::remedy(decides, Direction::Ingress, &[(PeerSelector::Anybody, ports)], words)
}
