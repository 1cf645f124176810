//! `network-policy-blocks-control-plane`: NetworkPolicies keep proxies from identity, destination, the policy controller or DNS.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject, Tie};
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::network_policy::{Direction, Passage, Peer, Policies, Port, covers_port};
use crate::model::owners::Owner;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Namespace, NetworkPolicy, Pod, TargetPort};

/// What proxies need of the control plane: component of the pod, port, and the name that people know it by.
const SERVERS: [(&str, u16, &str); 3] =
    [("identity", 8080, "identity"), ("destination", 8086, "destination"), ("destination", 8090, "policy")];
/// How many pods are quoted.
const QUOTED: usize = 3;

/// What a set of policies shuts, and for whom.
#[derive(Default)]
struct Shut<'a> {
    policies: Vec<&'a NetworkPolicy>,
    /// Ports by what listens on them.
    ports: BTreeSet<(u16, &'static str)>,
    owners: BTreeMap<Owner, Vec<&'a Pod>>,
}

/// Direction, and the policies by namespace and name.
type At<'a> = (Direction, Vec<(&'a str, &'a str)>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = ctx.seen::<NetworkPolicy>();
    let namespaces = ctx.seen::<Namespace>();
    let pods = ctx.seen::<Pod>()?;
    let policies = Policies::of(policies?);
    let labels: BTreeMap<&str, &BTreeMap<String, String>> = namespaces?
        .iter()
        .map(|namespace| (namespace.metadata.name.as_str(), &*namespace.metadata.labels))
        .collect();
    let home = ctx.namespaces().control_plane.as_str();
    let servers: Vec<&Pod> = pods
        .iter()
        .filter(|pod| pod.metadata.namespace == home && !pod.is_finished())
        .filter(|pod| SERVERS.iter().any(|(component, ..)| pod.metadata.label(COMPONENT) == Some(component)))
        .collect();
    if servers.is_empty() {
        return Err(Unjudged::not_applicable("there are no pods of identity and destination to reach"));
    }
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    let counts = |pod: &&Pod| {
        ctx.judges(&pod.metadata.namespace)
            && pod.metadata.label(CONTROL_PLANE_NS) == Some(home)
            && pod.spec.proxy().is_some()
            && !pod.is_finished()
            && pod.metadata.deletion_timestamp.is_none()
    };
    for pod in pods.iter().filter(counts) {
        workloads.entry(owners.of(pod)).or_default().push(pod);
    }
    let mut shut: BTreeMap<At<'_>, Shut<'_>> = BTreeMap::new();
    for (owner, clients) in &workloads {
        // Replicas are the same to a policy.
        let Some(client) = clients.first() else { continue };
        for (direction, ports, by) in blocked(&policies, client, &servers, &labels) {
            // A proxy that started under these policies and is ready shows that the network lets it through.
            if clients.iter().any(|pod| is_ready(pod) && by.iter().all(|policy| is_older(policy, pod))) {
                continue;
            }
            let names =
                by.iter().map(|policy| (policy.metadata.namespace.as_str(), policy.metadata.name.as_str()));
            let entry = shut.entry((direction, names.collect())).or_default();
            entry.policies = by;
            entry.ports.extend(ports);
            entry.owners.insert(owner.clone(), clients.clone());
        }
    }
    Ok(shut.iter().map(|((direction, _), shut)| finding(ctx, *direction, shut)).collect::<Vec<_>>().into())
}

/// What a set of policies shuts for one pod.
type Blocked<'a> = (Direction, BTreeSet<(u16, &'static str)>, Vec<&'a NetworkPolicy>);

/// What the policies keep a pod from: each direction with the ports and the policies that shut them.
fn blocked<'a>(
    policies: &Policies<'a>,
    client: &Pod,
    servers: &[&Pod],
    labels: &BTreeMap<&str, &BTreeMap<String, String>>,
) -> Vec<Blocked<'a>> {
    let own = client.metadata.label(COMPONENT);
    let of = |pod: &Pod| labels.get(pod.metadata.namespace.as_str()).copied();
    let mut found: Vec<Blocked<'a>> = Vec::new();
    let mut add = |direction: Direction, port: (u16, &'static str), by: Vec<&'a NetworkPolicy>| match found
        .iter_mut()
        .find(|(known, _, policies)| *known == direction && *policies == by)
    {
        Some((_, ports, _)) => {
            ports.insert(port);
        }
        None => found.push((direction, BTreeSet::from([port]), by)),
    };
    for (component, number, name) in SERVERS {
        // What runs in the same pod is spoken to without any network.
        if own == Some(component) {
            continue;
        }
        let serving: Vec<&&Pod> =
            servers.iter().filter(|pod| pod.metadata.label(COMPONENT) == Some(component)).collect();
        let mut ways = [Direction::Egress, Direction::Ingress].map(|direction| {
            let passages = serving.iter().map(|server| {
                let port = Port { protocol: "TCP", number, of: Some(server) };
                match direction {
                    Direction::Egress => {
                        policies.passage(direction, client, port, Peer::Pod(server, of(server)))
                    }
                    Direction::Ingress => {
                        policies.passage(direction, server, port, Peer::Pod(client, of(client)))
                    }
                }
            });
            (direction, passages.collect::<Vec<_>>())
        });
        for (direction, passages) in &mut ways {
            let all_shut = passages.iter().all(|passage| matches!(passage, Passage::Shut(_)));
            if let (true, Some(Passage::Shut(by))) = (all_shut, passages.pop()) {
                add(*direction, (number, name), by);
            }
        }
    }
    let holding = policies.holding(Direction::Egress, client);
    if !holding.is_empty() && !holding.iter().any(|policy| lets_ask_dns(policy)) {
        add(Direction::Egress, (53, "DNS"), holding);
    }
    found
}

/// Whether a policy lets anybody be asked for names: who that is differs from cluster to cluster.
fn lets_ask_dns(policy: &NetworkPolicy) -> bool {
    let asks = |number| Port { protocol: "UDP", number, of: None };
    policy.spec.egress.iter().any(|rule| {
        let named = |port: &crate::objects::NetworkPolicyPort| {
            port.protocol == "UDP" && matches!(port.port, Some(TargetPort::Name(_)))
        };
        // Behind its Service, OpenShift's listens on the other one.
        [53, 5353].into_iter().any(|number| covers_port(rule, asks(number))) || rule.ports.iter().any(named)
    })
}

fn is_ready(pod: &Pod) -> bool {
    pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready)
}

fn is_older(policy: &NetworkPolicy, pod: &Pod) -> bool {
    match (policy.metadata.creation_timestamp, pod.metadata.creation_timestamp) {
        (Some(policy), Some(pod)) => policy < pod,
        (None, _) | (_, None) => false,
    }
}

fn finding(ctx: &Context<'_>, direction: Direction, shut: &Shut<'_>) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let pods: Vec<&Pod> = shut.owners.values().flatten().copied().collect();
    let waiting = pods.iter().filter(|pod| !is_ready(pod)).count();
    let listed: Vec<String> = shut.ports.iter().map(|(port, name)| format!("{name} ({port})")).collect();
    let listed = listed.join(", ");
    let then = match waiting {
        0 => {
            "proxies that are ready now keep running until their certificate expires, and new ones don't become ready"
        }
        _ => "proxies that start get no certificate or no configuration, and don't become ready",
    };
    let message = match direction {
        Direction::Egress => {
            format!(
                "NetworkPolicies don't let pods with a proxy out to {listed} of the control plane: {then}"
            )
        }
        Direction::Ingress => {
            format!("NetworkPolicies don't let pods with a proxy in to {listed} of the control plane: {then}")
        }
    };
    let message = if shut.ports.iter().all(|(port, _)| *port == 53) {
        format!(
            "NetworkPolicies don't let pods with a proxy ask DNS, by which they find the control plane: {then}"
        )
    } else {
        message.replace(", DNS (53)", " and DNS").replace("DNS (53), ", "DNS, ")
    };
    let mut policies = shut.policies.iter();
    let Some(first) = policies.next() else {
        return ctx.finding(Subject::thing("NetworkPolicies"), message);
    };
    let of = |policy: &NetworkPolicy| {
        Subject::object("NetworkPolicy", &policy.metadata.namespace, &policy.metadata.name)
    };
    let mut finding = ctx.finding(of(first), message).likely();
    for policy in policies {
        finding = finding.subject(of(policy));
    }
    for policy in &shut.policies {
        finding = finding.evidence(Evidence::field(
            format!("NetworkPolicy {}/{}", policy.metadata.namespace, policy.metadata.name),
            format!("spec.{}", direction.field()),
            said(direction, policy),
        ));
    }
    for (owner, pods) in &shut.owners {
        finding = finding.tie(Tie::Workload(owner.kind.clone(), owner.namespace.clone(), owner.name.clone()));
        for pod in pods {
            finding = finding.tie(Tie::Pod(pod.metadata.namespace.clone(), pod.metadata.name.clone()));
        }
    }
    let names: Vec<String> = pods
        .iter()
        .take(QUOTED)
        .map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name))
        .collect();
    let more = pods.len().saturating_sub(QUOTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let finding = finding
        .evidence(Evidence::other(
            "Pods with a proxy",
            format!("{}{more}; {waiting} of {} with a proxy that is not ready", names.join(", "), pods.len()),
        ))
        .parameter(direction.field())
        .remedy(remedy(home, direction, first, &shut.ports));
    if waiting == 0 { finding.severity(Severity::Warning) } else { finding }
}

/// What the rules of a policy name, in a line.
fn said(direction: Direction, policy: &NetworkPolicy) -> String {
    let rules = direction.rules(policy);
    if rules.is_empty() {
        return "no rule: nothing is let through".to_owned();
    }
    let rule = |rule: &crate::objects::NetworkPolicyRule| {
        let port = |port: &crate::objects::NetworkPolicyPort| {
            let protocol = if port.protocol.is_empty() { "TCP" } else { port.protocol.as_str() };
            match (&port.port, port.end_port) {
                (None, _) => protocol.to_owned(),
                (Some(TargetPort::Number(first)), Some(last)) => format!("{protocol} {first}-{last}"),
                (Some(TargetPort::Number(number)), None) => format!("{protocol} {number}"),
                (Some(TargetPort::Name(name)), _) => format!("{protocol} {name}"),
            }
        };
        let ports: Vec<String> = rule.ports.iter().map(port).collect();
        let ports = if ports.is_empty() { "all ports".to_owned() } else { ports.join(", ") };
        let peers = if rule.peers.is_empty() { "" } else { ", to or from selected peers" };
        let peers = match direction {
            Direction::Ingress => peers.replace("to or from", "from"),
            Direction::Egress => peers.replace("to or from", "to"),
        };
        format!("{ports}{peers}")
    };
    rules.iter().map(rule).collect::<Vec<_>>().join("; ")
}

fn remedy(
    home: &str,
    direction: Direction,
    policy: &NetworkPolicy,
    ports: &BTreeSet<(u16, &'static str)>,
) -> Remedy {
    let tcp: Vec<serde_json::Value> = ports
        .iter()
        .filter(|(port, _)| *port != 53)
        .map(|(port, _)| serde_json::json!({"protocol": "TCP", "port": port}))
        .collect();
    let mut rules = Vec::new();
    if !tcp.is_empty() {
        let selected = match direction {
            Direction::Egress => serde_json::json!({"matchLabels": {"kubernetes.io/metadata.name": home}}),
            Direction::Ingress => serde_json::json!({}),
        };
        let side = match direction {
            Direction::Egress => "to",
            Direction::Ingress => "from",
        };
        rules.push(serde_json::json!({side: [{"namespaceSelector": selected}], "ports": tcp}));
    }
    if ports.iter().any(|(port, _)| *port == 53) {
        let both = serde_json::json!([{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]);
        rules.push(serde_json::json!({ "ports": both }));
    }
    let field = direction.field();
    let patch: Vec<serde_json::Value> = match direction.rules(policy) {
        // There is no list yet to which one could be added.
        [] => vec![serde_json::json!({"op": "add", "path": format!("/spec/{field}"), "value": rules})],
        _ => rules
            .iter()
            .map(|rule| serde_json::json!({"op": "add", "path": format!("/spec/{field}/-"), "value": rule}))
            .collect(),
    };
    let add = kubectl()
        .namespace(&policy.metadata.namespace)
        .words("patch networkpolicy")
        .operand(&policy.metadata.name)
        .words("--type=json -p")
        .arg(serde_json::Value::from(patch).to_string());
    let words = match direction {
        Direction::Egress => {
            "Let the pods out to the control plane and DNS: what any policy lets through passes"
        }
        Direction::Ingress => {
            "Let the proxies of all namespaces in to the control plane: who they are, their certificates say"
        }
    };
    Remedy::new().run(StepKind::Command, words, add).step(
        StepKind::Note,
        "Make the change where the policy comes from, too: a chart or an operator puts it back",
    )
}
