//! NetworkPolicies of Kubernetes in the neutral form:
//! https://kubernetes.io/docs/concepts/services-networking/network-policies/

use std::net::IpAddr;

use super::form::{
    Action, AppliedPolicy, Label, Match, Peers, Place, Policy, Ports, Rule, Subject, in_network, selects,
};
use super::{Direction, Known, Peer};
use crate::networks::Network;
use crate::objects::{IpBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyRule, Pod};

/// The order that Calico assigns to Kubernetes policies.
const ORDER: f64 = 1000.0;
/// The prefix that Calico adds to their names.
const PREFIX: &str = "knp.default.";

/// The rules of a policy in a direction; `None` if it does not apply to the direction.
pub(super) fn read(policy: &NetworkPolicy, direction: Direction) -> Option<AppliedPolicy<'_>> {
    let (about, rules) = match direction {
        Direction::Ingress => (policy.spec.is_about_ingress(), &policy.spec.ingress),
        Direction::Egress => (policy.spec.is_about_egress(), &policy.spec.egress),
    };
    let field = format!("spec.{}", direction.field());
    let rules = rules.iter().enumerate();
    let rules = rules.map(|(index, rule)| Rule {
        field: format!("{field}[{index}]"),
        action: Action::Allow,
        ports: rule.ports.iter().map(ports).collect(),
        peers: Peers::Kubernetes(rule),
        doubt: None,
    });
    let rules = rules.collect();
    about.then(|| AppliedPolicy {
        policy: Policy::Kubernetes(policy),
        subject: Subject::Kubernetes(&policy.spec.pod_selector),
        shuts: true,
        rules,
        place: Place {
            order: ORDER,
            name: format!("{PREFIX}{}", policy.metadata.name),
            ..super::calico::default_place()
        },
        field,
    })
}

fn ports(named: &crate::objects::NetworkPolicyPort) -> Ports {
    let protocol = if named.protocol.is_empty() { "TCP" } else { named.protocol.as_str() };
    Ports::new(Some(protocol), named.port.as_ref(), named.end_port)
}

/// Whether a rule of a policy in `namespace` matches a peer.
pub(super) fn is_about(rule: &NetworkPolicyRule, namespace: &str, peer: Peer<'_>, known: &Known<'_>) -> Match {
    match (rule.peers.as_slice(), peer) {
        ([], _) => Match::Yes,
        (_, Peer::Anyone) => Match::Perhaps(super::WHOM),
        (peers, _) => Match::any(peers.iter().map(|named| is_peer(named, namespace, peer, known))),
    }
}

fn is_peer(named: &NetworkPolicyPeer, namespace: &str, peer: Peer<'_>, known: &Known<'_>) -> Match {
    if let Some(block) = &named.ip_block {
        return match peer {
            Peer::Host => Match::Yes,
            Peer::Anyone => Match::Perhaps(super::WHOM),
            Peer::Address(address) => holds(block, address).into(),
            // Most networks exclude pods from ipBlocks, some do not. A block that contains their range is
            // assumed to include them.
            Peer::Pod(pod) => pod.status.pod_ip.is_some_and(|address| holds(block, address)).into(),
        };
    }
    let Some(pod) = in_network(peer) else { return Match::No };
    if !named.pod_selector.as_ref().is_none_or(|selector| selector.matches(&pod.metadata.labels)) {
        return Match::No;
    }
    match &named.namespace_selector {
        None => (pod.metadata.namespace == namespace && named.pod_selector.is_some()).into(),
        Some(selector) => selects(selector, |key| known.of_namespace(&pod.metadata.namespace, key)),
    }
}

fn holds(block: &IpBlock, address: IpAddr) -> bool {
    let within = |cidr: &String| cidr.parse::<Network>().is_ok_and(|network| network.contains(address));
    within(&block.cidr) && !block.except.iter().any(within)
}

/// A label of a pod.
pub(super) fn label<'p>(pod: &'p Pod, key: &str) -> Label<'p> {
    pod.metadata.label(key).map_or(Label::Absent, Label::Is)
}
