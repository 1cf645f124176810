//! Shared parts of the checks of network policies: the policies of every kind, unknown results, and the
//! remedy.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::policy::defined;
use crate::checks::prelude::*;
use crate::command::Call;
use crate::network_policy::{DecidedBy, Direction, Doubt, Objects, Policies, Policy, UNKNOWN_NAMESPACE, WHOM};
use crate::objects::{
    AdminNetworkPolicy, BaselineAdminNetworkPolicy, CalicoGlobalNetworkPolicy, CalicoNetworkPolicy, CalicoTier,
    CiliumClusterwideNetworkPolicy, CiliumNetworkPolicy, ClusterNetworkPolicy, Listed, NetworkPolicy,
};

/// The policies of every kind. Network plugins have none if their kinds are not defined. If theirs were
/// unavailable, that is noted, and those of Kubernetes still count.
///
/// # Errors
/// Those of Kubernetes were unavailable.
pub(super) fn policies<'a>(ctx: &Context<'a>) -> Result<Policies<'a>, Unjudged> {
    let kubernetes = ctx.partial_list::<NetworkPolicy>();
    let objects = Objects {
        cilium: plugins::<CiliumNetworkPolicy>(ctx),
        cilium_clusterwide: plugins::<CiliumClusterwideNetworkPolicy>(ctx),
        calico: plugins::<CalicoNetworkPolicy>(ctx),
        calico_global: plugins::<CalicoGlobalNetworkPolicy>(ctx),
        tiers: plugins::<CalicoTier>(ctx),
        admin: plugins::<AdminNetworkPolicy>(ctx),
        baseline: plugins::<BaselineAdminNetworkPolicy>(ctx),
        cluster_network: plugins::<ClusterNetworkPolicy>(ctx),
        namespaces: ctx.optional_list::<Namespace>(),
        kubernetes: kubernetes?,
    };
    Ok(Policies::new(objects))
}

fn plugins<'a, K: Listed>(ctx: &Context<'a>) -> &'a [K::Object] {
    ctx.or_note(defined::<K>(ctx)).unwrap_or_default()
}

/// Notes that the result for a connection is unknown, and the reason.
pub(super) fn cannot_say(ctx: &Context<'_>, doubts: &[Doubt<'_>]) {
    for doubt in doubts {
        // Unavailable labels are noted as such.
        if doubt.why == UNKNOWN_NAMESPACE && ctx.or_note(ctx.partial_list::<Namespace>()).is_none() {
            continue;
        }
        let (kind, meta) = (doubt.policy.kind(), doubt.policy.meta());
        let message = format!("{}: {}", doubt.field, doubt.why);
        let part = Subject::object(kind, &meta.namespace, &meta.name).to_string();
        ctx.gap(ctx.missing(Item::List(kind), Why::NotJudged { message }, part));
    }
}

/// Whether only the peers of the policies are unknown.
pub(super) fn asks_only_whom(doubts: &[Doubt<'_>]) -> bool {
    doubts.iter().any(|doubt| doubt.why == WHOM)
}

/// Whether a policy existed in its present form before a pod.
pub(super) fn is_older(policy: Policy<'_>, pod: &Pod) -> bool {
    if !policy.meta().is_unchanged() {
        return false;
    }
    match (policy.meta().creation_timestamp.get(), pod.metadata.creation_timestamp.get()) {
        (Some(policy), Some(pod)) => policy < pod,
        (None, _) | (_, None) => false,
    }
}

/// Identifies a set of policies: kind, namespace and name of each, with the deciding field.
pub(super) type Set<'a> = Vec<(Kind, &'a str, &'a str, String)>;

/// See [`Set`].
pub(super) fn set<'a>(by: &[DecidedBy<'a>]) -> Set<'a> {
    let of = |decides: &DecidedBy<'a>| {
        let (kind, namespace, name) = decides.policy.key();
        (kind, namespace, name, decides.field.clone())
    };
    by.iter().map(of).collect()
}

/// A finding about all deciding policies. Whether the network enforces them is not known.
pub(super) fn about(ctx: &Context<'_>, by: &[DecidedBy<'_>], message: impl Into<String>) -> Finding {
    let mut finding = ctx.finding(Subject::thing("NetworkPolicies"), message).likely();
    finding.subjects.clear();
    for decides in by {
        let subject = subject(decides.policy);
        if !finding.subjects.contains(&subject) {
            finding.subjects.push(subject);
        }
    }
    match parameter(by) {
        Some(parameter) => finding.parameter(parameter),
        None => finding,
    }
}

/// A policy as a subject.
pub(super) fn subject(policy: Policy<'_>) -> Subject {
    let meta = policy.meta();
    Subject::object(policy.kind(), &meta.namespace, &meta.name)
}

/// The deciding field, as evidence.
pub(super) fn evidence(decides: &DecidedBy<'_>) -> Evidence {
    let said = if decides.denies { format!("denies it: {}", decides.said) } else { decides.said.clone() };
    Evidence::field(subject(decides.policy), &decides.field, said)
}

/// The policies as text: `NetworkPolicies`, or those of network plugins too.
pub(super) fn kind_names<'p, 'a: 'p>(all: impl IntoIterator<Item = &'p DecidedBy<'a>>) -> &'static str {
    let of_plugin = all.into_iter().any(|decides| decides.policy.kind() != Kind::NetworkPolicy);
    if of_plugin { "network policies" } else { "NetworkPolicies" }
}

/// Distinguishes policies with one name and several kinds in the fingerprint of a finding.
fn parameter<'p, 'a: 'p>(all: impl IntoIterator<Item = &'p DecidedBy<'a>>) -> Option<String> {
    let kinds: BTreeSet<String> = all
        .into_iter()
        .map(|decides| decides.policy.kind())
        .filter(|kind| *kind != Kind::NetworkPolicy)
        .map(Kind::resource)
        .collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join(","))
}

/// The peers to allow, as sources or destinations.
#[derive(Debug, Clone, Copy)]
pub(super) enum PeerSelector<'a> {
    /// The pods of a namespace.
    Namespace(&'a str),
    /// The pods of every namespace.
    Pods,
    /// Any peer.
    Anybody,
}

/// The remedy: allow more in the blocking policy, and change its source too.
pub(super) fn remedy(
    decides: &DecidedBy<'_>,
    direction: Direction,
    openings: &[(PeerSelector<'_>, Vec<(&'static str, u16)>)],
    words: impl Into<String>,
) -> Remedy {
    let remedy = match (decides.policy, decides.denies) {
        (Policy::Cilium(_), true) => Remedy::new().note(format!(
            "Narrow {} of {}, by its ports or its peers: no other policy can allow what a rule denies",
            decides.field,
            subject(decides.policy)
        )),
        _ => Remedy::new().command(words, completed(decides, direction, openings)),
    };
    elsewhere(remedy)
}

/// A change does not last if another tool writes the policy.
pub(super) fn elsewhere(remedy: Remedy) -> Remedy {
    remedy.note("Also make the change at the source of the policy: a chart or an operator reverts it")
}

/// A patch of a policy.
pub(super) fn patch(policy: Policy<'_>, operations: Vec<Value>) -> Call {
    let (kind, meta) = (policy.kind(), policy.meta());
    let call = kubectl().namespace(&meta.namespace);
    let call = match kind {
        Kind::NetworkPolicy => call.words("patch networkpolicy"),
        kind => call.words("patch").arg(kind.resource()),
    };
    call.operand(&meta.name).words("--type=json -p").arg(Value::from(operations).to_string())
}

fn completed(
    decides: &DecidedBy<'_>,
    direction: Direction,
    openings: &[(PeerSelector<'_>, Vec<(&'static str, u16)>)],
) -> Call {
    let rules: Vec<Value> = openings
        .iter()
        .flat_map(|(whom, ports)| match decides.policy {
            Policy::Kubernetes(_) => vec![of_kubernetes(direction, *whom, ports)],
            Policy::Cilium(_) => vec![of_cilium(direction, *whom, ports)],
            Policy::Calico(_) => of_calico(direction, *whom, ports),
            Policy::Admin(kind, _) => vec![of_administrator(kind, direction, *whom, ports)],
        })
        .collect();
    let path = pointer(&decides.field);
    let operations = if decides.denies {
        // Before the rule that denies it. The patch inserted first ends up last.
        rules.iter().rev().map(|rule| json!({"op": "add", "path": path, "value": rule})).collect()
    } else if has_rules(decides, direction) {
        let path = format!("{path}/-");
        rules.iter().map(|rule| json!({"op": "add", "path": path, "value": rule})).collect()
    } else {
        // No list exists yet to add to.
        vec![json!({"op": "add", "path": path, "value": rules})]
    };
    patch(decides.policy, operations)
}

/// A field as JSON Patch writes it: `spec.ingress[0].toPorts[1]` is `/spec/ingress/0/toPorts/1`.
pub(super) fn pointer(field: &str) -> String {
    format!("/{}", field.replace(']', "").replace(['[', '.'], "/"))
}

fn has_rules(decides: &DecidedBy<'_>, direction: Direction) -> bool {
    match (decides.policy, direction) {
        (Policy::Kubernetes(policy), Direction::Ingress) => !policy.spec.ingress.is_empty(),
        (Policy::Kubernetes(policy), Direction::Egress) => !policy.spec.egress.is_empty(),
        (Policy::Calico(policy), Direction::Ingress) => !policy.spec.ingress.is_empty(),
        (Policy::Calico(policy), Direction::Egress) => !policy.spec.egress.is_empty(),
        (Policy::Admin(_, policy), Direction::Ingress) => !policy.spec.ingress.is_empty(),
        (Policy::Admin(_, policy), Direction::Egress) => !policy.spec.egress.is_empty(),
        (Policy::Cilium(policy), direction) => policy.rules().any(|(field, rule)| {
            let list = match direction {
                Direction::Ingress => &rule.ingress,
                Direction::Egress => &rule.egress,
            };
            decides.field == format!("{field}.{}", direction.field()) && !list.is_empty()
        }),
    }
}

fn of_kubernetes(direction: Direction, whom: PeerSelector<'_>, ports: &[(&str, u16)]) -> Value {
    let ports: Vec<Value> = ports.iter().map(|(protocol, port)| json!({"protocol": protocol, "port": port})).collect();
    let side = match direction {
        Direction::Egress => "to",
        Direction::Ingress => "from",
    };
    let selected = match whom {
        PeerSelector::Anybody => return json!({ "ports": ports }),
        PeerSelector::Pods => json!({}),
        PeerSelector::Namespace(name) => json!({"matchLabels": {"kubernetes.io/metadata.name": name}}),
    };
    json!({side: [{"namespaceSelector": selected}], "ports": ports})
}

fn of_cilium(direction: Direction, whom: PeerSelector<'_>, ports: &[(&str, u16)]) -> Value {
    let ports: Vec<Value> =
        ports.iter().map(|(protocol, port)| json!({"protocol": protocol, "port": port.to_string()})).collect();
    let ports = json!([{ "ports": ports }]);
    let side = match direction {
        Direction::Egress => "to",
        Direction::Ingress => "from",
    };
    match whom {
        PeerSelector::Anybody => json!({ "toPorts": ports }),
        PeerSelector::Pods => json!({format!("{side}Entities"): ["cluster"], "toPorts": ports}),
        PeerSelector::Namespace(name) => {
            let labels = json!([{"matchLabels": {"k8s:io.kubernetes.pod.namespace": name}}]);
            json!({format!("{side}Endpoints"): labels, "toPorts": ports})
        }
    }
}

fn of_administrator(kind: Kind, direction: Direction, whom: PeerSelector<'_>, ports: &[(&'static str, u16)]) -> Value {
    let peer = match (whom, direction) {
        (PeerSelector::Namespace(name), _) => {
            json!({"namespaces": {"matchLabels": {"kubernetes.io/metadata.name": name}}})
        }
        (PeerSelector::Anybody, Direction::Egress) => json!({"networks": ["0.0.0.0/0", "::/0"]}),
        // Other sources than pods cannot be named.
        (PeerSelector::Pods, _) | (PeerSelector::Anybody, Direction::Ingress) => json!({"namespaces": {}}),
    };
    let (action, field) = match kind {
        Kind::ClusterNetworkPolicy => ("Accept", "protocols"),
        _ => ("Allow", "ports"),
    };
    let ports: Vec<Value> = ports.iter().map(|(protocol, port)| port_of_administrator(kind, protocol, *port)).collect();
    let side = match direction {
        Direction::Egress => "to",
        Direction::Ingress => "from",
    };
    json!({"action": action, side: [peer], field: ports})
}

/// A port in a rule of a policy of this kind.
pub(super) fn port_of_administrator(kind: Kind, protocol: &str, port: u16) -> Value {
    match kind {
        Kind::ClusterNetworkPolicy => {
            json!({protocol.to_ascii_lowercase(): {"destinationPort": {"number": port}}})
        }
        _ => json!({"portNumber": {"protocol": protocol, "port": port}}),
    }
}

/// One rule for each transport.
fn of_calico(direction: Direction, whom: PeerSelector<'_>, ports: &[(&str, u16)]) -> Vec<Value> {
    let transports: BTreeSet<&str> = ports.iter().map(|(protocol, _)| *protocol).collect();
    let selector = match whom {
        PeerSelector::Anybody => None,
        PeerSelector::Pods => Some("all()".to_owned()),
        PeerSelector::Namespace(name) => Some(format!("kubernetes.io/metadata.name == '{name}'")),
    };
    let rule = |transport: &str| {
        let numbers: Vec<u16> =
            ports.iter().filter(|(protocol, _)| *protocol == transport).map(|(_, port)| *port).collect();
        let mut rule = json!({"action": "Allow", "protocol": transport, "destination": {"ports": numbers}});
        if let Some(selector) = &selector {
            let end = match direction {
                Direction::Egress => "destination",
                Direction::Ingress => "source",
            };
            rule[end]["namespaceSelector"] = json!(selector);
        }
        rule
    };
    transports.into_iter().map(rule).collect()
}
