//! `network-policy-blocks-webhooks`: NetworkPolicies in the namespace of the control plane don't let the API server in to the
//! webhooks of Linkerd.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::serving::silent_injector;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::model::installed::COMPONENT;
use crate::model::network_policy::{Direction, Passage, Peer, Policies, Port};
use crate::objects::{NetworkPolicy, Pod};

/// The webhooks of the control plane: component of the pod, port, name.
const WEBHOOKS: [(&str, u16, &str); 3] = [
    ("proxy-injector", 8443, "proxy-injector"),
    ("destination", 8443, "sp-validator"),
    ("destination", 9443, "policy-validator"),
];

/// What a set of policies shuts.
#[derive(Default)]
struct Shut<'a> {
    policies: Vec<&'a NetworkPolicy>,
    webhooks: BTreeSet<(&'static str, u16)>,
    pods: BTreeSet<&'a str>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = ctx.seen::<NetworkPolicy>();
    let pods = ctx.seen::<Pod>()?;
    let policies = Policies::of(policies?);
    let home = ctx.namespaces().control_plane.as_str();
    let mut shut: BTreeMap<Vec<&str>, Shut<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.metadata.namespace == home && !pod.is_finished()) {
        let component = pod.metadata.label(COMPONENT);
        for (_, number, name) in WEBHOOKS.iter().filter(|(of, ..)| component == Some(*of)) {
            let port = Port { protocol: "TCP", number: *number, of: Some(pod) };
            if let Passage::Shut(by) = policies.passage(Direction::Ingress, pod, port, Peer::Host) {
                let at = by.iter().map(|policy| policy.metadata.name.as_str()).collect();
                let entry = shut.entry(at).or_default();
                entry.policies = by;
                entry.webhooks.insert((name, *number));
                entry.pods.insert(pod.metadata.name.as_str());
            }
        }
    }
    // Whoever was injected under these policies shows that the network lets hosts in.
    let injected = |policies: &[&NetworkPolicy]| {
        let newest =
            policies.iter().map(|policy| policy.metadata.creation_timestamp).collect::<Option<Vec<_>>>();
        let Some(newest) = newest.and_then(|times| times.into_iter().max()) else { return false };
        pods.iter().any(|pod| {
            pod.metadata.namespace != home
                && pod.spec.proxy().is_some()
                && pod.metadata.creation_timestamp.is_some_and(|created| created > newest)
        })
    };
    let called = shut.values().any(|shut| is_injector(shut) && injected(&shut.policies));
    let findings = shut.values().filter(|_| !called).map(|shut| finding(ctx, shut));
    Ok(findings.collect::<Vec<_>>().into())
}

fn is_injector(shut: &Shut<'_>) -> bool {
    shut.webhooks.iter().any(|(name, _)| *name == "proxy-injector")
}

fn finding(ctx: &Context<'_>, shut: &Shut<'_>) -> Finding {
    let listed: Vec<String> = shut.webhooks.iter().map(|(name, port)| format!("{name} ({port})")).collect();
    let then = match is_injector(shut) {
        true => "new pods start without a proxy, or are refused where failurePolicy is Fail",
        false => {
            "policies and profiles of Linkerd are accepted unchecked, or refused where failurePolicy is Fail"
        }
    };
    let message = format!(
        "NetworkPolicies don't let the API server in to {}: it runs in the network of its host, which no selector of pods or \
         namespaces matches; {then}",
        listed.join(", ")
    );
    let home = &ctx.namespaces().control_plane;
    let mut finding = ctx.finding(Subject::thing("NetworkPolicies"), message).likely();
    finding.subjects = shut
        .policies
        .iter()
        .map(|policy| Subject::object("NetworkPolicy", home, &policy.metadata.name))
        .collect();
    for policy in &shut.policies {
        let said = match policy.spec.ingress.as_slice() {
            [] => "no rule: nothing is let in",
            _ => "none of its rules lets a host in to these ports",
        };
        finding = finding.evidence(Evidence::field(
            format!("NetworkPolicy {home}/{}", policy.metadata.name),
            "spec.ingress",
            said,
        ));
    }
    let pods: Vec<&str> = shut.pods.iter().copied().collect();
    let finding = finding
        .evidence(Evidence::other("Pods that they hold for", pods.join(", ")))
        .remedy(remedy(home, shut));
    match is_injector(shut) {
        true => finding.tie(silent_injector()),
        false => finding.severity(Severity::Warning),
    }
}

fn remedy(home: &str, shut: &Shut<'_>) -> Remedy {
    let ports: BTreeSet<u16> = shut.webhooks.iter().map(|(_, port)| *port).collect();
    let ports: Vec<serde_json::Value> =
        ports.iter().map(|port| serde_json::json!({"protocol": "TCP", "port": port})).collect();
    let rule = serde_json::json!({ "ports": ports });
    let Some(policy) = shut.policies.first() else { return Remedy::new() };
    let patch = match policy.spec.ingress.as_slice() {
        // There is no list yet to which one could be added.
        [] => serde_json::json!([{"op": "add", "path": "/spec/ingress", "value": [rule]}]),
        _ => serde_json::json!([{"op": "add", "path": "/spec/ingress/-", "value": rule}]),
    };
    let add = kubectl()
        .namespace(home)
        .words("patch networkpolicy")
        .operand(&policy.metadata.name)
        .words("--type=json -p")
        .arg(patch.to_string());
    Remedy::new()
        .run(
            StepKind::Command,
            "Let anybody in to the ports of the webhooks, which serve TLS; where the addresses of the API servers are known, an \
             ipBlock can narrow it",
            add,
        )
        .step(
            StepKind::Note,
            "Make the change where the policy comes from, too: a chart or an operator puts it back",
        )
}
