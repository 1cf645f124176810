//! `network-policy-blocks-proxy`: NetworkPolicies let connections through by the ports of the application alone, and those between
//! proxies go to the port of the proxy.

use std::collections::BTreeMap;

use super::opaque::{self, Opaque};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Scope;
use crate::model::installed::COMPONENT;
use crate::model::network_policy::{Direction, Passage, Peer, Policies, Port, covers_peer, covers_port};
use crate::model::owners::Owner;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{
    ConfigMap, Namespace, NetworkPolicy, NetworkPolicyPort, NetworkPolicyRule, Pod, TargetPort,
};

/// Where the proxy listens unless it is told otherwise.
const INBOUND: u16 = 4143;
/// The ports of the proxy itself, which say nothing of the application's.
const OWN: [u16; 3] = [4143, 4190, 4191];
/// The variable that says where it listens.
const LISTENS: &str = "LINKERD2_PROXY_INBOUND_LISTEN_ADDR";
/// How many pods are quoted.
const QUOTED: usize = 3;
/// Where the mode is set in which proxies connect.
const MODE: &str = "proxy.outboundTransportMode";

/// How the proxies of a mesh come to each other.
struct Transport {
    /// Always by the port of the proxy; otherwise only where a port is opaque.
    header: bool,
    /// The ports that are opaque unless something else is said.
    opaque: Opaque,
}

/// A policy that is to be completed, and for whom.
struct Shut<'a> {
    policy: &'a NetworkPolicy,
    /// Which of its rules.
    rule: usize,
    pods: Vec<&'a Pod>,
    /// Of those that it keeps from getting out, to whom.
    to: Vec<&'a Pod>,
}

/// Direction, namespace and name of a policy, port of the proxy.
type At<'a> = (Direction, &'a str, &'a str, u16);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = ctx.seen::<NetworkPolicy>();
    let pods = ctx.seen::<Pod>();
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let values = config.and_then(ConfigMap::chart_values);
    let text = |path| values.as_ref().and_then(|values| values.text(path));
    let transport = Transport {
        header: text(MODE) == Some("transport-header"),
        opaque: text("proxy.opaquePorts")
            .map(|list| Opaque::parse(list, &BTreeMap::new()))
            .unwrap_or_default(),
    };
    let policies = Policies::of(policies?);
    // The proxies of the control plane are spoken to at its own ports.
    let counts = |pod: &&Pod| {
        !pod.is_finished() && pod.spec.proxy().is_some() && pod.metadata.label(COMPONENT).is_none()
    };
    let pods: Vec<&Pod> = pods?.iter().filter(counts).collect();
    let mut shut = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        incoming(&policies, &transport, pod, &mut shut);
    }
    outgoing(ctx, &policies, &transport, &pods, &mut shut);
    let findings = shut
        .iter()
        .map(|((direction, _, _, port), shut)| finding(ctx, *direction, *port, shut, transport.header));
    Ok(findings.collect::<Vec<_>>().into())
}

/// Policies that let clients in by ports of the application, and by none of them to the proxy.
fn incoming<'a>(
    policies: &Policies<'a>,
    transport: &Transport,
    pod: &'a Pod,
    shut: &mut BTreeMap<At<'a>, Shut<'a>>,
) {
    let port = inbound_port(pod);
    let holding = policies.holding(Direction::Ingress, pod);
    let proxy = Port { protocol: "TCP", number: port, of: Some(pod) };
    if holding.iter().any(|policy| policy.spec.ingress.iter().any(|rule| covers_port(rule, proxy))) {
        return;
    }
    // Who lets in nothing at all means it.
    for policy in holding {
        let asked = |rule: &NetworkPolicyRule| rule.ports.iter().any(|named| transport.uses(named, pod));
        let Some(rule) = policy.spec.ingress.iter().position(asked) else { continue };
        let at = at(Direction::Ingress, policy, port);
        let new = || Shut { policy, rule, pods: Vec::new(), to: Vec::new() };
        shut.entry(at).or_insert_with(new).pods.push(pod);
    }
}

/// Policies that let clients out to ports of an application with a proxy, and not to its proxy.
fn outgoing<'a>(
    ctx: &Context<'a>,
    policies: &Policies<'a>,
    transport: &Transport,
    pods: &[&'a Pod],
    shut: &mut BTreeMap<At<'a>, Shut<'a>>,
) {
    // Replicas are the same to a policy.
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, &Pod> = BTreeMap::new();
    for pod in pods {
        workloads.entry(owners.of(pod)).or_insert(pod);
    }
    let labels: BTreeMap<&str, &BTreeMap<String, String>> = ctx
        .hints::<Namespace>()
        .iter()
        .map(|namespace| (namespace.metadata.name.as_str(), &*namespace.metadata.labels))
        .collect();
    for client in workloads.values().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        for policy in policies.holding(Direction::Egress, client) {
            let limited =
                policy.spec.egress.iter().enumerate().filter(|(_, rule)| rule.ports.iter().any(is_tcp));
            for (index, rule) in limited {
                for server in workloads.values() {
                    let peer = Peer::Pod(server, labels.get(server.metadata.namespace.as_str()).copied());
                    let port = Port { protocol: "TCP", number: inbound_port(server), of: Some(server) };
                    if std::ptr::eq(*server, *client) || !transport.speaks(rule, server) {
                        continue;
                    }
                    match covers_peer(rule, &policy.metadata.namespace, peer) {
                        Some(true) => {}
                        Some(false) => continue,
                        // Whom the rule means hangs on labels of namespaces: where those could not be had, that is said.
                        None => {
                            ctx.noted(ctx.seen::<Namespace>());
                            continue;
                        }
                    }
                    let passage = || policies.passage(Direction::Egress, client, port, peer);
                    if !matches!(passage(), Passage::Shut(_)) {
                        continue;
                    }
                    let at = at(Direction::Egress, policy, port.number);
                    let new = || Shut { policy, rule: index, pods: Vec::new(), to: Vec::new() };
                    let entry = shut.entry(at).or_insert_with(new);
                    for (list, pod) in [(&mut entry.pods, *client), (&mut entry.to, *server)] {
                        if !list.iter().any(|known| std::ptr::eq(*known, pod)) {
                            list.push(pod);
                        }
                    }
                }
            }
        }
    }
}

fn at(direction: Direction, policy: &NetworkPolicy, port: u16) -> At<'_> {
    (direction, policy.metadata.namespace.as_str(), policy.metadata.name.as_str(), port)
}

impl Transport {
    /// Whether a port that a rule names is one of the application at which clients with a proxy come to the proxy instead.
    fn uses(&self, named: &NetworkPolicyPort, pod: &Pod) -> bool {
        if !is_tcp(named) {
            return false;
        }
        let numbers: Vec<u16> = match &named.port {
            None => Vec::new(),
            Some(TargetPort::Number(first)) if named.end_port.is_none() => vec![*first],
            // Of a range only what the pod is known to listen on.
            Some(TargetPort::Number(_) | TargetPort::Name(_)) => {
                let rule = NetworkPolicyRule { ports: vec![named.clone()], ..NetworkPolicyRule::default() };
                let covered = |number: &u16| {
                    covers_port(&rule, Port { protocol: "TCP", number: *number, of: Some(pod) })
                };
                declared(pod).filter(covered).collect()
            }
        };
        match (&named.port, numbers.as_slice()) {
            // A name that no container has is one of the application all the same.
            (Some(TargetPort::Name(_)), []) => self.header,
            (_, numbers) => numbers
                .iter()
                .any(|number| !OWN.contains(number) && (self.header || self.is_opaque(pod, *number))),
        }
    }

    /// Whether a rule lets clients out to a port of the application of a pod at which they come to its proxy instead.
    fn speaks(&self, rule: &NetworkPolicyRule, server: &Pod) -> bool {
        let mut declared = declared(server).peekable();
        if declared.peek().is_none() {
            // It names no port; a rule that names the pod means it.
            return self.header
                && !rule.peers.is_empty()
                && rule.ports.iter().any(|named| self.uses(named, server));
        }
        declared.any(|number| {
            let port = Port { protocol: "TCP", number, of: Some(server) };
            covers_port(rule, port) && (self.header || self.is_opaque(server, number))
        })
    }

    fn is_opaque(&self, pod: &Pod, port: u16) -> bool {
        opaque::of_pod(pod).as_ref().unwrap_or(&self.opaque).marks(port)
    }
}

/// The port at which a pod's proxy takes what clients send.
fn inbound_port(pod: &Pod) -> u16 {
    let env = pod.spec.proxy().into_iter().flat_map(|proxy| &proxy.env);
    let listens = env.into_iter().find(|variable| variable.name == LISTENS);
    let address = listens.and_then(|variable| variable.value.as_ref());
    address.and_then(|address| address.rsplit_once(':')?.1.parse().ok()).unwrap_or(INBOUND)
}

/// The ports that the containers of the application name.
fn declared(pod: &Pod) -> impl Iterator<Item = u16> {
    let containers = pod.spec.all_containers().filter(|container| container.name != PROXY_CONTAINER);
    containers.flat_map(|container| &container.ports).map(|port| port.container_port)
}

fn is_tcp(port: &NetworkPolicyPort) -> bool {
    matches!(port.protocol.as_str(), "" | "TCP")
}

fn finding(ctx: &Context<'_>, direction: Direction, port: u16, shut: &Shut<'_>, header: bool) -> Finding {
    let policy = shut.policy;
    let (namespace, name) = (policy.metadata.namespace.as_str(), policy.metadata.name.as_str());
    let named = |port: &NetworkPolicyPort| match (&port.port, port.end_port) {
        (None, _) => "all".to_owned(),
        (Some(TargetPort::Number(first)), Some(last)) => format!("{first}-{last}"),
        (Some(TargetPort::Number(number)), None) => number.to_string(),
        (Some(TargetPort::Name(name)), _) => name.clone(),
    };
    let ports: Vec<String> = direction.rules(policy).iter().flat_map(|rule| &rule.ports).map(named).collect();
    let path = format!("/spec/{}/{}/ports/-", direction.field(), shut.rule);
    let patch = serde_json::json!([{"op": "add", "path": path, "value": {"protocol": "TCP", "port": port}}]);
    let add = kubectl()
        .namespace(namespace)
        .words("patch networkpolicy")
        .operand(name)
        .words("--type=json -p")
        .arg(patch.to_string());
    let (message, words) = match direction {
        Direction::Ingress => (
            format!(
                "it lets clients in by ports of the application alone; meshed clients come to port {port} of the proxy and get no \
                 answer"
            ),
            "Let the same clients in by the port of the proxy; it carries all ports of the application, so who may use which \
             of them is for Linkerd's authorization policies to say",
        ),
        Direction::Egress => (
            format!(
                "it lets pods out to ports of an application alone; their proxies connect to port {port} of its proxy and get no \
                 answer"
            ),
            "Let them out to the port of the proxy of the same pods; it carries all ports of the application",
        ),
    };
    let remedy = Remedy::new().run(StepKind::Command, words, add).step(
        StepKind::Note,
        "Make the change where the policy comes from, too: a chart or an operator puts it back",
    );
    let said = format!("{}; it holds for {}", ports.join(", "), some(&shut.pods, false));
    let said = match shut.to.as_slice() {
        [] => said,
        to => format!("{said}; on the way to {}", some(to, true)),
    };
    let mode = if header { "transport-header" } else { "not transport-header: opaque ports alone" };
    let finding = ctx
        .finding(Subject::object("NetworkPolicy", namespace, name), message)
        .evidence(Evidence::field(
            format!("NetworkPolicy {namespace}/{name}"),
            format!("spec.{}[].ports", direction.field()),
            said,
        ))
        .evidence(Evidence::field(
            format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
            format!("data.values: {MODE}"),
            mode,
        ))
        .remedy(remedy);
    let finding = match direction {
        Direction::Ingress => finding,
        Direction::Egress => finding.parameter("egress"),
    };
    // Whether the network enforces policies, and whether any client is meshed, is not known.
    finding.likely()
}

fn some(pods: &[&Pod], with_namespace: bool) -> String {
    let name = |pod: &&Pod| match with_namespace {
        true => format!("{}/{}", pod.metadata.namespace, pod.metadata.name),
        false => pod.metadata.name.clone(),
    };
    let named: Vec<String> = pods.iter().take(QUOTED).map(name).collect();
    let more = pods.len().saturating_sub(QUOTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}
