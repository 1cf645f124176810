//! `network-policy-blocks-proxy`: NetworkPolicies allow connections only on ports of the application, but
//! proxies connect to the port of the proxy.

mod outgoing;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::transport::{Mode, OWN, Transport, declared, inbound_port};
use crate::checks::network_policies::{self, asks_only_whom, cannot_say, elsewhere, patch, pointer};
use crate::checks::prelude::*;
use crate::checks::words::{and_more, some, workload_of};
use crate::model::installed::COMPONENT;
use crate::model::skipped::{OUT, passes_by};
use crate::model::transport::MODE;
use crate::network_policy::{
    Action, AppliedPolicy, DecidedBy, Direction, Match, Peer, Peers, Policies, Policy, Port, Ports, Rule, Verdict,
    WHOM, Which,
};
use crate::objects::NetworkPolicyRule;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// A policy that blocks proxy traffic, and the pods that it selects.
#[derive(Clone)]
struct BlockingPolicy<'a> {
    policy: Policy<'a>,
    /// The ports in its allow rules, as text; for egress, in the rules about the pods that clients cannot reach.
    named: Vec<String>,
    /// The field of the rule to extend, or of the rule that denies the port of the proxy.
    field: String,
    denies: bool,
    /// Whether that rule restricts requests in addition to ports.
    asks: bool,
    /// The other rules to extend.
    more: BTreeSet<(String, bool)>,
    /// Whether the port of the proxy is open to some of the clients.
    partly: bool,
    /// Whether no pod matches the peers of its rules now.
    unused: bool,
    pods: Pods<'a>,
    /// For egress: the pods that they cannot reach.
    to: Quoted<'a>,
}

impl<'a> BlockingPolicy<'a> {
    /// Adds the rules of the same policy that another pod or peer shows.
    fn add_rules(&mut self, other: &BlockingPolicy<'a>) {
        self.partly &= other.partly;
        self.unused &= other.unused;
        let first = std::iter::once((other.field.clone(), other.asks));
        let own = self.field.clone();
        self.more.extend(first.chain(other.more.iter().cloned()).filter(|(field, _)| *field != own));
    }

    /// Adds the ports of allow rules, each once.
    fn add_ports(&mut self, named: Vec<String>) {
        for port in named {
            if !self.named.contains(&port) {
                self.named.push(port);
            }
        }
    }
}

/// The first of many pods, and their number.
#[derive(Clone, Default)]
struct Quoted<'a> {
    first: Vec<&'a Pod>,
    count: usize,
}

/// Pods as clients of each other.
struct Clients<'p, 'a> {
    /// The meshed pods.
    pods: &'p [&'a Pod],
    /// The running pods without a proxy.
    plain: &'p [&'a Pod],
    /// The clients of rules that do not open the port of the proxy.
    matched: HashMap<MatchedKey, Matched<'a>>,
    /// Whether any client is blocked, for the same rules and ports. The peers of Kubernetes policies do not depend on
    /// the selected pod.
    known: HashMap<BlockedKey, bool>,
}

/// The address of a rule, and the namespace and name of the selected pod if its peers depend on it.
type MatchedKey = (usize, Option<(String, String)>);

/// The pods that a rule allows.
#[derive(Clone)]
struct Matched<'a> {
    /// The first two meshed pods that connect to the port of the proxy: a pod is no client of itself.
    meshed: Vec<&'a Pod>,
    /// Whether it allows pods without a proxy, or addresses outside of the pod network.
    others: bool,
}

/// The clients of a rule, without the selected pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientsOfRule {
    /// At least one is meshed, or all clients are allowed.
    Meshed,
    /// None is meshed: pods without a proxy, or addresses.
    Plain,
    /// Only the pod itself.
    Itself,
    /// No pod matches now.
    None,
}

/// The address of a rule, and those of all rules of the policies, each with whether it opens the port of the proxy.
type BlockedKey = (usize, Vec<(usize, bool)>);

/// Pods by their place in a list.
type Pods<'a> = BTreeMap<usize, &'a Pod>;

/// Direction, policy, field, port of the proxy.
type At<'a> = (Direction, (Kind, &'a str, &'a str), bool, u16);
type All<'a> = BTreeMap<At<'a>, BlockingPolicy<'a>>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = network_policies::policies(ctx);
    let pods = ctx.partial_list::<Pod>();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let transport = Transport::from_config(ctx, config);
    let policies = policies?;
    // Meshed clients reach the control plane's proxies at its own ports.
    let counts =
        |pod: &&Pod| !pod.is_finished() && pod.spec.proxy().is_some() && pod.metadata.label(COMPONENT).is_none();
    let all = pods?;
    let pods: Vec<&Pod> = all.iter().filter(counts).collect();
    let plain: Vec<&Pod> = all.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_none()).collect();
    let mut shut = BTreeMap::new();
    let mut clients = Clients { pods: &pods, plain: &plain, matched: HashMap::new(), known: HashMap::new() };
    for (place, pod) in pods.iter().enumerate().filter(|(_, pod)| ctx.judges(&pod.metadata.namespace)) {
        incoming(ctx, (&policies, &transport), (place, pod), &mut clients, &mut shut);
    }
    outgoing::outgoing(ctx, &policies, &transport, &pods, &mut shut);
    let findings =
        shut.iter().map(|((direction, _, _, port), shut)| finding(ctx, *direction, *port, shut, transport.mode));
    Ok(findings.collect())
}

/// Policies that allow clients on ports of the application, but not on the port of the proxy.
fn incoming<'a>(
    ctx: &Context<'_>,
    (policies, transport): (&Policies<'a>, &Transport),
    (place, pod): (usize, &'a Pod),
    clients: &mut Clients<'_, 'a>,
    shut: &mut All<'a>,
) {
    let number = inbound_port(pod);
    let said = |number| {
        let port = Port { protocol: "TCP", number, of: Some(pod) };
        policies.passage(Direction::Ingress, pod, port, Peer::Anyone)
    };
    let holding = policies.holding(Direction::Ingress, pod);
    // A policy without any ingress rule denies on purpose.
    let asked =
        |rule: &&Rule<'_>| rule.action == Action::Allow && rule.ports.iter().any(|named| transport.uses(named, pod));
    match said(number) {
        Verdict::Open | Verdict::Through(_) => {}
        // A rule allows some clients. Other rules may allow more clients on ports of the application.
        Verdict::Unknown(doubts) if asks_only_whom(&doubts) => {
            if doubts.iter().all(|doubt| doubt.why == WHOM) {
                for found in partly(policies, &holding, (pod, number), asked, clients) {
                    add(shut, number, found, (place, pod));
                }
            }
        }
        Verdict::Unknown(doubts) => {
            if holding.iter().any(|(held, _)| held.rules.iter().any(|rule| asked(&rule))) {
                cannot_say(ctx, &doubts);
            }
        }
        Verdict::Shut(by) => {
            let denies = by.iter().find(|decides| decides.denies);
            // With ordered policies, a rule before the denying rule still allows the traffic.
            let counts = |held: &AppliedPolicy<'_>, rule: &Rule<'_>| {
                denies.is_none_or(|denies| before(held, rule, denies, &holding))
            };
            let rules = holding.iter().flat_map(|(held, _)| {
                let rules = held.rules.iter().filter(|rule| asked(rule) && counts(held, rule));
                rules.map(|rule| (*held, rule))
            });
            let found: Vec<_> =
                rules.map(|(held, rule)| (of_rule(held, rule), clients.of_rule(policies, (held, rule), pod))).collect();
            match (found.is_empty(), denies) {
                (false, _) => {
                    let is_used = found.iter().any(|(_, clients)| *clients == ClientsOfRule::Meshed);
                    let is_unused = found.iter().any(|(_, clients)| *clients == ClientsOfRule::None);
                    // Clients without a proxy connect to the port of the application.
                    let found = found.into_iter().filter(|(_, clients)| *clients != ClientsOfRule::Plain);
                    for (found, _) in found.filter(|_| is_used || is_unused) {
                        let found = BlockingPolicy { unused: !is_used, ..found };
                        add(shut, number, found, (place, pod));
                    }
                }
                (true, Some(denies)) if let_in(transport, pod, &holding, said) => {
                    let found = new(denies.policy, &denies.field, None, true);
                    add(shut, number, found, (place, pod));
                }
                (true, _) => {}
            }
        }
    }
}

impl<'a> Clients<'_, 'a> {
    /// The clients that a rule allows to connect to a pod.
    fn of_rule(
        &mut self,
        policies: &Policies<'a>,
        (held, rule): (&AppliedPolicy<'a>, &Rule<'a>),
        pod: &'a Pod,
    ) -> ClientsOfRule {
        if rule.is_for_all() {
            return ClientsOfRule::Meshed;
        }
        let (namespace, name) = pod.metadata.key();
        let is_of_destination = matches!(rule.peers, Peers::Calico(_));
        let own = is_of_destination.then(|| (namespace.to_owned(), name.to_owned()));
        let (meshed, plain) = (self.pods, self.plain);
        let matched = self.matched.entry((std::ptr::from_ref(rule).addr(), own)).or_insert_with(|| {
            let allows = |peer: Peer<'_>| policies.means(held, rule, Direction::Ingress, pod, peer) != Match::No;
            // Without their addresses, a block of addresses may contain the pods.
            let are_unknown = meshed.iter().all(|client| client.status.pod_ip.is_none());
            let is_block = are_unknown && allows(Peer::Host);
            let connects = |client: &&&Pod| !skips_all(rule, client) && (is_block || allows(Peer::Pod(client)));
            let skips = |client: &&Pod| skips_all(rule, client) && allows(Peer::Pod(client));
            let is_of_addresses = match rule.peers {
                Peers::Calico(rule) => !rule.source.nets.is_empty(),
                Peers::Kubernetes(_) | Peers::Cilium(_) | Peers::Admin(_) => allows(Peer::Host),
            };
            Matched {
                meshed: meshed.iter().filter(connects).take(2).copied().collect(),
                others: is_of_addresses
                    || plain.iter().any(|client| allows(Peer::Pod(client)))
                    || meshed.iter().any(skips),
            }
        });
        let is_itself = |client: &&Pod| client.metadata.key() == pod.metadata.key();
        if matched.meshed.iter().any(|client| !is_itself(client)) {
            ClientsOfRule::Meshed
        } else if matched.others {
            ClientsOfRule::Plain
        } else if matched.meshed.is_empty() {
            ClientsOfRule::None
        } else {
            ClientsOfRule::Itself
        }
    }
}

/// Whether the proxy of a client skips all ports of a rule, so that the client connects to the application.
fn skips_all(rule: &Rule<'_>, client: &Pod) -> bool {
    let skips = |named: &Ports| match named.which {
        Which::Range(first, last) => first == last && passes_by(client, OUT, first),
        Which::All | Which::Named(_) => false,
    };
    !rule.ports.is_empty() && rule.ports.iter().all(skips)
}

/// The rules that allow clients on ports of the application, if no rule opens the port of the proxy to these clients.
/// Only the peers of Kubernetes policies are compared.
fn partly<'a>(
    policies: &Policies<'a>,
    holding: &[(&AppliedPolicy<'a>, Match)],
    (pod, number): (&'a Pod, u16),
    asked: impl Fn(&&Rule<'_>) -> bool,
    clients: &mut Clients<'_, 'a>,
) -> Vec<BlockingPolicy<'a>> {
    let port = Port { protocol: "TCP", number, of: Some(pod) };
    let all = || holding.iter().flat_map(|(held, _)| held.rules.iter().map(move |rule| (*held, rule)));
    let applies = holding.iter().all(|(_, fits)| *fits == Match::Yes);
    if !applies || all().any(|(_, rule)| content(rule).is_none()) {
        return Vec::new();
    }
    let opening = all().filter(|(_, rule)| rule.holds_port(port) != Match::No);
    let opened: Vec<_> = opening.filter_map(|(_, rule)| content(rule)).flat_map(|rule| &rule.peers).collect();
    let is_open_to_all =
        |rule: &Rule<'a>| content(rule).is_some_and(|rule| rule.peers.iter().all(|peer| opened.contains(&peer)));
    let opens: Vec<(usize, bool)> =
        all().map(|(_, rule)| (std::ptr::from_ref(rule).addr(), rule.holds_port(port) != Match::No)).collect();
    let is_blocked = |held: &AppliedPolicy<'a>, rule: &Rule<'a>, client: &'a Pod| {
        let peer = Peer::Pod(client);
        // No pod is a client of itself.
        client.metadata.key() != pod.metadata.key()
            && !skips_all(rule, client)
            && policies.means(held, rule, Direction::Ingress, pod, peer) == Match::Yes
            && matches!(policies.passage_of(holding, Direction::Ingress, pod, port, peer), Verdict::Shut(_))
    };
    all()
        .filter(|(_, rule)| asked(rule) && rule.holds_port(port) == Match::No)
        // Clients without a proxy connect to the port of the application.
        .filter(|(held, rule)| {
            (rule.is_for_all() || !is_open_to_all(rule)) && {
                let pods = clients.pods;
                let key = (std::ptr::from_ref(*rule).addr(), opens.clone());
                *clients.known.entry(key).or_insert_with(|| pods.iter().any(|client| is_blocked(held, rule, client)))
            }
        })
        .map(|(held, rule)| BlockingPolicy {
            named: rule.ports.iter().map(Ports::describe).collect(),
            partly: true,
            ..of_rule(held, rule)
        })
        .collect()
}

/// The rule of a Kubernetes policy.
fn content<'a>(rule: &Rule<'a>) -> Option<&'a NetworkPolicyRule> {
    match rule.peers {
        Peers::Kubernetes(rule) => Some(rule),
        Peers::Cilium(_) | Peers::Calico(_) | Peers::Admin(_) => None,
    }
}

/// Whether a rule precedes the denying rule in Calico's order. With Cilium, deny rules always win.
fn before(
    held: &AppliedPolicy<'_>,
    rule: &Rule<'_>,
    denies: &DecidedBy<'_>,
    holding: &[(&AppliedPolicy<'_>, Match)],
) -> bool {
    let Policy::Calico(_) = denies.policy else { return false };
    let Some((denying, _)) = holding.iter().find(|(held, _)| held.policy == denies.policy) else {
        return false;
    };
    if held.policy != denying.policy {
        return held.place.compare(&denying.place).is_lt();
    }
    let at = |field: &str| held.rules.iter().position(|rule| rule.field == field);
    at(&rule.field) < at(&denies.field)
}

/// Whether clients are allowed on a port of the application for which meshed clients connect to the proxy
/// instead.
fn let_in<'a>(
    transport: &Transport,
    pod: &Pod,
    holding: &[(&AppliedPolicy<'_>, Match)],
    said: impl Fn(u16) -> Verdict<'a>,
) -> bool {
    let rules = holding.iter().flat_map(|(held, _)| &held.rules).filter(|rule| rule.action == Action::Allow);
    let named = rules.flat_map(|rule| &rule.ports).filter_map(|ports| match ports.which {
        Which::Range(first, last) if first == last => Some(first),
        Which::All | Which::Range(..) | Which::Named(_) => None,
    });
    declared(pod).chain(named).filter(|number| !OWN.contains(number)).any(|number| {
        (transport.is_header() || transport.is_opaque(pod, number))
            && matches!(said(number), Verdict::Open | Verdict::Through(_) | Verdict::Unknown(_))
    })
}

fn new<'a>(policy: Policy<'a>, field: &str, held: Option<&AppliedPolicy<'a>>, denies: bool) -> BlockingPolicy<'a> {
    let rules = held.into_iter().flat_map(|held| &held.rules);
    let rules = rules.filter(|rule| rule.action == Action::Allow);
    let named = rules.flat_map(|rule| &rule.ports).map(Ports::describe).collect();
    let field = field.to_owned();
    BlockingPolicy {
        policy,
        named,
        field,
        denies,
        asks: false,
        more: BTreeSet::new(),
        partly: false,
        unused: false,
        pods: Pods::new(),
        to: Quoted::default(),
    }
}

fn of_rule<'a>(held: &AppliedPolicy<'a>, rule: &Rule<'a>) -> BlockingPolicy<'a> {
    BlockingPolicy { asks: rule.doubt.is_some(), ..new(held.policy, &rule.field, Some(held), false) }
}

/// Adds a pod, by its index, that a policy closes to clients.
fn add<'a>(shut: &mut All<'a>, port: u16, found: BlockingPolicy<'a>, (place, pod): (usize, &'a Pod)) {
    let at = (Direction::Ingress, found.policy.key(), found.denies, port);
    match shut.get_mut(&at) {
        Some(known) => {
            known.add_rules(&found);
            known.add_ports(found.named);
            known.pods.insert(place, pod);
        }
        None => {
            shut.entry(at).or_insert(found).pods.insert(place, pod);
        }
    }
}

fn finding(ctx: &Context<'_>, direction: Direction, port: u16, shut: &BlockingPolicy<'_>, mode: Mode) -> Finding {
    let mut named = shut.named.clone();
    let mut seen = BTreeSet::new();
    named.retain(|port| seen.insert(port.clone()));
    let subject = network_policies::subject(shut.policy);
    let finding = ctx
        .finding(subject, message(direction, port, shut, &named))
        .evidence(rule_evidence(direction, port, shut, &named))
        .evidence(Evidence::field(
            format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
            format!("data.values: {MODE}"),
            mode.describe(),
        ))
        .remedy(remedy(direction, port, shut));
    let finding = match direction {
        Direction::Ingress => finding,
        Direction::Egress => finding.parameter("egress"),
    };
    let finding = if shut.denies { finding.parameter("denied") } else { finding };
    // Some clients get through, or none exists now.
    let finding = if shut.partly || shut.unused { finding.severity(Severity::Warning) } else { finding };
    let finding = match shut.policy.kind() {
        Kind::NetworkPolicy => finding,
        kind => finding.parameter(kind.resource()),
    };
    let pods = shut.pods.values().map(|pod| pod.metadata.key());
    let finding =
        pods.fold(finding, |finding, (namespace, name)| finding.tie(Tie::Pod(namespace.to_owned(), name.to_owned())));
    // Whether the network enforces policies, and whether any client is meshed, is unknown.
    finding.likely()
}

/// The message about a policy; `named`: the ports in its rules.
fn message(direction: Direction, port: u16, shut: &BlockingPolicy<'_>, named: &[String]) -> String {
    let policy = format!("{} {}", shut.policy.kind(), shut.policy.meta().name);
    let clients = some(shut.pods.values().map(|pod| workload_of(&pod.metadata)).collect::<BTreeSet<_>>(), QUOTED);
    let servers = if shut.to.count == 0 { "other pods".to_owned() } else { shut.to.text() };
    let ports = match named {
        [port] if port != "all" => format!("port {port}"),
        [first @ .., last] if (1..QUOTED).contains(&first.len()) && !named.iter().any(|port| port == "all") => {
            format!("ports {} and {last}", first.join(", "))
        }
        _ => "ports of the application".to_owned(),
    };
    match (direction, shut.denies) {
        (Direction::Ingress, false) if shut.partly => format!(
            "{policy} allows more clients on {ports} than on port {port} of the proxy. Meshed clients connect to the \
             proxy, and some of them get no answer"
        ),
        (Direction::Ingress, false) if shut.unused => format!(
            "{policy} allows clients only on {ports}, and no pod is one of them now. Meshed clients will connect \
             to port {port} of the proxy and get no answer"
        ),
        (Direction::Ingress, false) => format!(
            "{policy} allows clients only on {ports}. Meshed clients connect to port {port} of the proxy and get no \
             answer"
        ),
        (Direction::Egress, false) => format!(
            "{policy} allows {clients} to reach {servers} only on {ports}. It blocks port {port}, on which \
             proxies connect to meshed pods"
        ),
        (Direction::Ingress, true) => format!(
            "{policy} denies port {port} of the proxy, but allows clients on ports of the application. \
             Meshed clients connect to the proxy and get no answer"
        ),
        (Direction::Egress, true) => format!(
            "{policy} denies {clients} port {port} of proxies, but allows ports of the application. Proxies \
             connect only on port {port} and get no answer"
        ),
    }
}

/// The ports in the rules of a policy, and the pods that it applies to.
fn rule_evidence(direction: Direction, port: u16, shut: &BlockingPolicy<'_>, named: &[String]) -> Evidence {
    let (field, said) = match (shut.denies, shut.policy, direction) {
        (true, ..) => (shut.field.clone(), format!("denies port {port}")),
        (false, Policy::Kubernetes(_), _) if shut.partly => (format!("{}.ports", shut.field), named.join(", ")),
        (false, Policy::Kubernetes(_), direction) => (format!("spec.{}[].ports", direction.field()), named.join(", ")),
        (false, ..) => (shut.field.clone(), named.join(", ")),
    };
    let said = format!("{said}; it applies to {}", some(shut.pods.values().map(|pod| &pod.metadata.name), QUOTED));
    let to = match shut.to.count {
        0 => String::new(),
        _ => format!("; to {}", shut.to.text()),
    };
    Evidence::field(network_policies::subject(shut.policy), field, format!("{said}{to}"))
}

fn remedy(direction: Direction, port: u16, shut: &BlockingPolicy<'_>) -> Remedy {
    let words = match direction {
        Direction::Ingress if shut.denies => format!(
            "Allow port {port} of the proxy before that. This port carries all application traffic: restrict ports \
             with AuthorizationPolicies"
        ),
        Direction::Egress if shut.denies => format!("Allow egress to port {port} of proxies before that"),
        Direction::Ingress => format!(
            "Allow the same clients on port {port} of the proxy. This port carries all application traffic: restrict \
             ports with AuthorizationPolicies"
        ),
        Direction::Egress => format!(
            "Allow egress to port {port} of the proxy of the same pods. This port carries all application traffic"
        ),
    };
    if shut.denies {
        let decides = DecidedBy { policy: shut.policy, field: shut.field.clone(), denies: true, said: String::new() };
        let openings = [(network_policies::PeerSelector::Pods, vec![("TCP", port)])];
        return network_policies::remedy(&decides, direction, &openings, words);
    }
    let first = std::iter::once((&shut.field, shut.asks));
    let rules = first.chain(shut.more.iter().map(|(field, asks)| (field, *asks)));
    let add = patch(shut.policy, rules.map(|(field, asks)| opened(shut.policy, field, asks, port)).collect());
    elsewhere(Remedy::new().command(words, add))
}

/// The operation of a patch that adds the port of the proxy to a rule.
fn opened(policy: Policy<'_>, field: &str, asks: bool, port: u16) -> serde_json::Value {
    let path = pointer(field);
    let (path, value) = match policy {
        Policy::Kubernetes(_) => (format!("{path}/ports/-"), serde_json::json!({"protocol": "TCP", "port": port})),
        // Request rules of the other ports must not apply to the port of the proxy.
        Policy::Cilium(_) if asks => {
            let list = path.rsplit_once('/').map_or(path.as_str(), |(list, _)| list);
            let ports = [serde_json::json!({"port": port.to_string(), "protocol": "TCP"})];
            (format!("{list}/-"), serde_json::json!({ "ports": ports }))
        }
        Policy::Cilium(_) => {
            (format!("{path}/ports/-"), serde_json::json!({"port": port.to_string(), "protocol": "TCP"}))
        }
        Policy::Calico(_) => (format!("{path}/destination/ports/-"), serde_json::json!(port)),
        Policy::Admin(kind, _) => {
            let list = if kind == Kind::ClusterNetworkPolicy { "protocols" } else { "ports" };
            (format!("{path}/{list}/-"), network_policies::port_of_administrator(kind, "TCP", port))
        }
    };
    serde_json::json!({"op": "add", "path": path, "value": value})
}

impl Quoted<'_> {
    fn text(&self) -> String {
        let first: Vec<String> = self.first.iter().map(|pod| workload_of(&pod.metadata)).collect();
        format!("{}{}", first.join(", "), and_more(self.count.saturating_sub(first.len())))
    }
}
