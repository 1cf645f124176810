//! Cilium policies in the neutral form: https://docs.cilium.io/en/stable/security/policy/language/. Pods
//! are endpoints with labels of Kubernetes and of Cilium; hosts, API servers and outside addresses are
//! entities. CIDR blocks never match pods, nor do host names that resolve to one.

use std::net::IpAddr;

use super::form::{
    Action, AppliedPolicy, Label, Match, Peers, Place, Policy, Ports, Rule, Subject, Which, in_network, selects,
};
use super::{Direction, Known, Peer, kubernetes};
use crate::networks::Network;
use crate::objects::{
    CiliumBlock, CiliumPolicy, CiliumPort, CiliumPorts, CiliumRule, CiliumSide, LabelSelector, Pod, TargetPort, Word,
};

/// Cilium's label for the namespace of an endpoint's pod.
const NAMESPACE: &str = "io.kubernetes.pod.namespace";
/// The prefix of labels of that namespace.
const OF_NAMESPACE: &str = "io.cilium.k8s.namespace.labels.";
/// The label for the service account.
const ACCOUNT: &str = "io.cilium.k8s.policy.serviceaccount";
/// The label for the cluster.
const CLUSTER: &str = "io.cilium.k8s.policy.cluster";
/// Prefixes of pod labels that Cilium ignores by default.
const LEFT_OUT: [&str; 3] = ["kubernetes.io/", "k8s.io/", "io.kubernetes."];

const HOSTS: &str = "the host that the connection comes from or goes to";
const OUTSIDE: &str = "the addresses that Cilium treats as outside of the cluster";

/// The rules of a policy in a direction, one entry for each rule that selects pods.
pub(super) fn read(policy: &CiliumPolicy, direction: Direction) -> Vec<AppliedPolicy<'_>> {
    policy.rules().filter_map(|(field, rule)| applied_rule(policy, field, rule, direction)).collect()
}

fn applied_rule<'a>(
    policy: &'a CiliumPolicy,
    field: String,
    rule: &'a CiliumRule,
    direction: Direction,
) -> Option<AppliedPolicy<'a>> {
    // A rule without it selects nodes.
    let selector = rule.endpoint_selector.as_ref()?;
    let (allow, deny, asked) = match direction {
        Direction::Ingress => (&rule.ingress, &rule.ingress_deny, rule.enable_default_deny.ingress),
        Direction::Egress => (&rule.egress, &rule.egress_deny, rule.enable_default_deny.egress),
    };
    let shuts = asked.unwrap_or(!allow.is_empty() || !deny.is_empty());
    if allow.is_empty() && deny.is_empty() && !shuts {
        return None;
    }
    let word = direction.field();
    let of = |sides: &'a [CiliumSide], name: String, action: Action| {
        sides
            .iter()
            .enumerate()
            .flat_map(|(index, side)| rules(side, format!("{field}.{name}[{index}]"), action))
            .collect::<Vec<_>>()
    };
    let mut all = of(deny, format!("{word}Deny"), Action::Deny);
    all.extend(of(allow, word.to_owned(), Action::Allow));
    Some(AppliedPolicy {
        policy: Policy::Cilium(policy),
        field: format!("{field}.{word}"),
        subject: Subject::Cilium(selector),
        shuts,
        rules: all,
        place: Place { name: policy.metadata.name.clone(), ..super::calico::default_place() },
    })
}

/// One rule per list of ports: each may have its own requirements for requests.
fn rules(side: &CiliumSide, field: String, action: Action) -> Vec<Rule<'_>> {
    let allows = action == Action::Allow;
    let asked = (allows && side.authentication.mode == "required")
        .then_some("Cilium's mutual authentication")
        .or_else(|| (allows && side.requires).then_some("its requirements for the peer"));
    let rule = |ports: Vec<Ports>, doubt: Option<&'static str>, field: String| Rule {
        field,
        action,
        ports,
        peers: Peers::Cilium(side),
        doubt: doubt.or(asked),
    };
    // An empty rule isolates its pods and allows nothing; an ICMP rule has no ports.
    if side.ports.is_empty() {
        return match !names_peers(side) || side.icmps {
            true => Vec::new(),
            false => vec![rule(Vec::new(), None, field)],
        };
    }
    let each = side.ports.iter().enumerate();
    each.map(|(index, ports)| {
        let named = ports.ports.iter().map(port).collect();
        rule(named, request_rules(ports).filter(|_| allows), format!("{field}.toPorts[{index}]"))
    })
    .collect()
}

/// The requirements for requests on a port, which the port alone does not decide.
fn request_rules(ports: &CiliumPorts) -> Option<&'static str> {
    let rules = &ports.rules;
    if rules.http || rules.kafka || rules.l7 || rules.l7proto {
        return Some("its requirements for requests (rules)");
    }
    if !rules.dns.is_empty() && !rules.dns.iter().any(|name| name.match_pattern == "*") {
        return Some("the names for which it allows DNS requests (rules.dns)");
    }
    let intercepted = ports.ends_tls || ports.begins_tls || ports.server_names || ports.listener;
    intercepted.then_some("the handling by Cilium's own proxy")
}

fn port(named: &CiliumPort) -> Ports {
    let protocol = Some(named.protocol.as_str()).filter(|protocol| !matches!(*protocol, "" | "ANY"));
    let number = match &named.port {
        None => None,
        Some(TargetPort::Number(number)) => Some(TargetPort::Number(*number)),
        Some(TargetPort::Name(text)) => {
            Some(text.parse().map_or_else(|_| TargetPort::Name(text.clone()), TargetPort::Number))
        }
    };
    let ports = Ports::new(protocol, number.as_ref(), named.end_port);
    match ports.which {
        Which::Range(0, _) => Ports { which: Which::All, ..ports },
        Which::All | Which::Range(..) | Which::Named(_) => ports,
    }
}

fn names_peers(side: &CiliumSide) -> bool {
    side.endpoints.is_some()
        || side.entities.is_some()
        || side.cidr.is_some()
        || side.cidr_set.is_some()
        || side.nodes.is_some()
        || side.services
        || side.groups
        || side.names
}

/// Whether a rule applies to all peers.
pub(super) fn is_for_all(side: &CiliumSide) -> bool {
    !names_peers(side) || side.entities.iter().flatten().any(|entity| entity == "all")
}

/// Whether a rule matches a peer. `namespace` is that of the policy, empty for a cluster-wide policy.
pub(super) fn is_about(side: &CiliumSide, namespace: &str, peer: Peer<'_>, known: &Known<'_>) -> Match {
    if is_for_all(side) {
        return Match::Yes;
    }
    if peer == Peer::Anyone {
        return Match::Perhaps(super::WHOM);
    }
    let outside = |said: bool| match (said, in_network(peer)) {
        (true, None) => Match::Perhaps(OUTSIDE),
        (true, Some(_)) | (false, _) => Match::No,
    };
    let services = match side.services {
        true => Match::Perhaps("the endpoints of Services (toServices)"),
        false => Match::No,
    };
    let blocks = side.cidr_set.iter().flatten().map(|block| is_in(block, peer));
    let plain =
        side.cidr.iter().flatten().map(|cidr| is_in(&CiliumBlock { cidr: cidr.clone(), except: Vec::new() }, peer));
    let endpoints = side.endpoints.iter().flatten().map(|selector| is_endpoint(selector, namespace, peer, known));
    let entities = side.entities.iter().flatten().map(|entity| is_entity(entity, peer));
    let others = [services, outside(side.groups), outside(side.names), outside(side.nodes.is_some())];
    Match::any(endpoints.chain(entities).chain(blocks).chain(plain).chain(others))
}

/// Blocks never match endpoints; a setting of Cilium decides whether they match nodes.
fn is_in(block: &CiliumBlock, peer: Peer<'_>) -> Match {
    let holds = |address: IpAddr| {
        let within = |cidr: &str| {
            cidr.parse::<Network>().is_ok_and(|network| network.contains(address))
                || cidr.parse::<IpAddr>().is_ok_and(|one| one == address)
        };
        // Groups of blocks are not read.
        block.cidr.is_empty() || within(&block.cidr) && !block.except.iter().any(|cidr| within(cidr))
    };
    match peer {
        Peer::Pod(pod) if !pod.spec.host_network => Match::No,
        Peer::Pod(pod) if pod.status.pod_ip.is_some_and(|address| !holds(address)) => Match::No,
        Peer::Address(address) if !holds(address) => Match::No,
        Peer::Pod(_) | Peer::Address(_) | Peer::Host | Peer::Anyone => {
            Match::Perhaps("whether the address counts as outside of the cluster")
        }
    }
}

fn is_entity(entity: &str, peer: Peer<'_>) -> Match {
    let hosts = matches!(entity, "host" | "remote-node" | "kube-apiserver");
    match (entity, peer) {
        ("all", _) => Match::Yes,
        ("none", _) => Match::No,
        ("kube-apiserver", Peer::Host) => Match::Yes,
        ("cluster", Peer::Pod(_)) => Match::Yes,
        ("cluster" | "world" | "world-ipv4" | "world-ipv6", Peer::Host | Peer::Address(_)) => Match::Perhaps(OUTSIDE),
        (_, Peer::Pod(pod)) if pod.spec.host_network => match hosts {
            true => Match::Perhaps(HOSTS),
            false => Match::No,
        },
        ("unmanaged", Peer::Pod(_)) => Match::Perhaps("whether Cilium manages the pod"),
        (_, Peer::Pod(_)) => Match::No,
        (_, Peer::Host | Peer::Address(_)) if hosts => Match::Perhaps(HOSTS),
        (_, Peer::Host | Peer::Address(_)) => Match::No,
        (_, Peer::Anyone) => Match::Perhaps(super::WHOM),
    }
}

fn is_endpoint(selector: &LabelSelector, namespace: &str, peer: Peer<'_>, known: &Known<'_>) -> Match {
    let mut keys = selector
        .match_labels
        .keys()
        .map(Word::as_str)
        .chain(selector.match_expressions.iter().map(|one| one.key.as_str()));
    let Some(pod) = in_network(peer) else {
        // For example `reserved:host`.
        return match keys.any(|key| key.starts_with("reserved:")) {
            true => Match::Perhaps(HOSTS),
            false => Match::No,
        };
    };
    let asks = |prefix: &str| {
        let all = selector
            .match_labels
            .keys()
            .map(Word::as_str)
            .chain(selector.match_expressions.iter().map(|one| one.key.as_str()));
        all.into_iter().any(|key| bare(key).is_some_and(|key| key.starts_with(prefix)))
    };
    // Without a namespace term, a policy of a namespace selects its own namespace.
    let here = if namespace.is_empty() || asks(NAMESPACE) || pod.metadata.namespace == namespace {
        Match::Yes
    } else if asks(OF_NAMESPACE) {
        Match::Perhaps("whether namespace labels can select other namespaces, which depends on the release")
    } else {
        Match::No
    };
    here.and(|| selects(selector, |key| label(pod, key, known)))
}

/// Whether a policy selects a pod. A namespaced policy selects only pods of its namespace.
pub(super) fn holds_for(selector: &LabelSelector, pod: &Pod, known: &Known<'_>) -> Match {
    selects(selector, |key| label(pod, key, known))
}

/// A label key without its source; `None` if the source is not Kubernetes.
fn bare(key: &str) -> Option<&str> {
    match key.split_once(':') {
        None => Some(key),
        Some(("k8s" | "any", key)) => Some(key),
        Some(_) => None,
    }
}

/// A label of a pod's endpoint.
fn label<'p>(pod: &'p Pod, key: &str, known: &'p Known<'_>) -> Label<'p> {
    let Some(key) = bare(key) else {
        return match key.starts_with("reserved:") {
            true => Label::Absent,
            false => Label::Unknown("a label that is not of Kubernetes"),
        };
    };
    if let Some(key) = key.strip_prefix(OF_NAMESPACE) {
        return known.of_namespace(&pod.metadata.namespace, key);
    }
    match key {
        NAMESPACE => Label::Is(&pod.metadata.namespace),
        ACCOUNT => Label::Is(pod.spec.account()),
        CLUSTER => Label::Unknown("Cilium's name of the cluster"),
        key if LEFT_OUT.iter().any(|prefix| key.starts_with(prefix)) => {
            Label::Unknown("a label that Cilium ignores by default")
        }
        key => kubernetes::label(pod, key),
    }
}
