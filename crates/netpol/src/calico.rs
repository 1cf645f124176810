//! Calico policies in the neutral form:
//! https://docs.tigera.io/calico/latest/reference/resources/networkpolicy. Policies are in tiers and have
//! an order; the first matching rule decides. Kubernetes policies are among them, in the tier `default`.

use std::net::IpAddr;

use super::form::{Action, AppliedPolicy, Label, Match, Peers, Place, Policy, Ports, Rule, Subject, Which, in_network};
use super::{Direction, Known, Peer, kubernetes};
use crate::networks::Network;
use crate::objects::{CalicoEntity, CalicoPolicy, CalicoRule, CalicoTier, Pod, TargetPort};

/// The tier of policies without one, and of Kubernetes policies.
const DEFAULT: &str = "default";
/// The order of that tier.
const DEFAULT_ORDER: f64 = 1_000_000.0;
/// Labels that Calico adds to pods, their namespaces and their service accounts.
const NAMESPACE: &str = "projectcalico.org/namespace";
const ACCOUNT: &str = "projectcalico.org/serviceaccount";
const ORCHESTRATOR: &str = "projectcalico.org/orchestrator";
const NAME: &str = "projectcalico.org/name";

const NOT_UNDERSTOOD: &str = "an expression that is not understood";
const NO_POD: &str = "whether a NetworkSet or a HostEndpoint matches it";
/// The block that contains every address.
const EVERYWHERE: &str = "0.0.0.0/0";
const ADDRESS: &str = "its address";

/// The default place in the default tier.
pub(super) fn default_place() -> Place {
    Place {
        tier: Some(DEFAULT_ORDER),
        tier_name: DEFAULT.to_owned(),
        passes_on: false,
        order: f64::INFINITY,
        name: String::new(),
    }
}

/// The rules of a policy in a direction; `None` if it has none, or only applies to hosts.
pub(super) fn read<'a>(
    policy: &'a CalicoPolicy,
    direction: Direction,
    tiers: &[CalicoTier],
) -> Option<AppliedPolicy<'a>> {
    let spec = &policy.spec;
    let (about, rules) = match direction {
        Direction::Ingress => (spec.is_about_ingress(), &spec.ingress),
        Direction::Egress => (spec.is_about_egress(), &spec.egress),
    };
    if !about || spec.do_not_track || spec.pre_dnat {
        return None;
    }
    let field = format!("spec.{}", direction.field());
    let rules = rules.iter().enumerate();
    let rules = rules.filter_map(|(index, rule)| read_rule(rule, format!("{field}[{index}]")));
    Some(AppliedPolicy {
        policy: Policy::Calico(policy),
        subject: Subject::Calico(policy),
        shuts: true,
        rules: rules.collect(),
        place: place(policy, tiers),
        field,
    })
}

fn place(policy: &CalicoPolicy, tiers: &[CalicoTier]) -> Place {
    let name = policy.spec.tier();
    let tier = tiers.iter().find(|tier| tier.metadata.name == name);
    let place = match tier {
        None if name == DEFAULT => default_place().tier,
        None => None,
        Some(tier) => Some(tier.spec.order.unwrap_or(f64::INFINITY)),
    };
    Place {
        tier: place,
        tier_name: name.to_owned(),
        passes_on: tier.is_some_and(|tier| tier.spec.default_action == "Pass"),
        order: policy.spec.order.unwrap_or(f64::INFINITY),
        name: policy.metadata.name.clone(),
    }
}

/// A rule with a decision: `Log` has none.
fn read_rule(rule: &CalicoRule, field: String) -> Option<Rule<'_>> {
    let action = match rule.action.as_str() {
        "Allow" => Action::Allow,
        "Deny" => Action::Deny,
        "Pass" => Action::Pass,
        _ => return None,
    };
    let doubt = if rule.http {
        Some("its requirements for requests (http)")
    } else if !rule.source.ports.is_empty() || !rule.source.not_ports.is_empty() {
        Some("its source port")
    } else if rule.ip_version.is_some() {
        Some("the IP version of the connection")
    } else if rule.not_protocol.is_some() || !rule.destination.not_ports.is_empty() {
        Some("its exclusions (notPorts, notProtocol)")
    } else {
        None
    };
    let protocol = rule.protocol.as_ref().map(protocol);
    let mut ports: Vec<Ports> = rule.destination.ports.iter().map(|port| read_port(protocol.clone(), port)).collect();
    if let (true, Some(protocol)) = (ports.is_empty(), protocol) {
        ports.push(Ports { protocol: Some(protocol), which: Which::All });
    }
    Some(Rule { field, action, ports, peers: Peers::Calico(rule), doubt })
}

fn protocol(named: &TargetPort) -> String {
    match named {
        TargetPort::Number(6) => "TCP".to_owned(),
        TargetPort::Number(17) => "UDP".to_owned(),
        TargetPort::Number(number) => number.to_string(),
        TargetPort::Name(name) => match name.as_str() {
            "6" => "TCP".to_owned(),
            "17" => "UDP".to_owned(),
            name => name.to_owned(),
        },
    }
}

fn read_port(protocol: Option<String>, port: &TargetPort) -> Ports {
    let which = match port {
        TargetPort::Number(number) => Which::Range(*number, *number),
        TargetPort::Name(text) => {
            let range = text.split_once(':').unwrap_or((text, text));
            match (range.0.parse(), range.1.parse()) {
                (Ok(first), Ok(last)) => Which::Range(first, last),
                _ => Which::Named(text.clone()),
            }
        }
    };
    Ports { protocol, which }
}

/// Whether a rule applies to all peers.
pub(super) fn is_for_all(rule: &CalicoRule) -> bool {
    says_nothing(&rule.source) && says_nothing(&rule.destination)
}

fn says_nothing(entity: &CalicoEntity) -> bool {
    let CalicoEntity { nets, not_nets, selector, not_selector, namespace_selector, .. } = entity;
    nets.is_empty()
        && not_nets.is_empty()
        && [selector, not_selector, namespace_selector].iter().all(|text| text.is_empty())
        && entity.service_accounts.is_none()
        && !entity.services
}

/// Whether a policy selects a pod.
pub(super) fn holds_for(policy: &CalicoPolicy, pod: &Pod, known: &Known<'_>) -> Match {
    let spec = &policy.spec;
    if !policy.metadata.namespace.is_empty() && policy.metadata.namespace != pod.metadata.namespace {
        return Match::No;
    }
    let of_pod = fits(known, &spec.selector, |key| label(pod, key));
    of_pod
        .and(|| fits(known, &spec.namespace_selector, |key| of_namespace(pod, key, known)))
        .and(|| fits(known, &spec.service_account_selector, |key| of_account(pod, key)))
}

/// Whether a rule matches a connection between a selected pod and a peer.
pub(super) fn is_about(
    rule: &CalicoRule,
    direction: Direction,
    namespace: &str,
    pod: &Pod,
    peer: Peer<'_>,
    known: &Known<'_>,
) -> Match {
    let (source, destination) = match direction {
        Direction::Ingress => (peer, Peer::Pod(pod)),
        Direction::Egress => (Peer::Pod(pod), peer),
    };
    is_entity(&rule.source, namespace, source, known)
        .and(|| is_entity(&rule.destination, namespace, destination, known))
}

fn is_entity(entity: &CalicoEntity, namespace: &str, end: Peer<'_>, known: &Known<'_>) -> Match {
    if says_nothing(entity) {
        return Match::Yes;
    }
    if end == Peer::Anyone {
        return Match::Perhaps(super::WHOM);
    }
    let within = |nets: &[String]| {
        let address = match end {
            Peer::Pod(pod) => pod.status.pod_ip,
            Peer::Address(address) => Some(address),
            Peer::Host if nets.iter().any(|net| net == EVERYWHERE) => return Match::Yes,
            Peer::Host | Peer::Anyone => None,
        };
        match address {
            Some(address) => nets.iter().any(|net| holds(net, address)).into(),
            None => Match::Perhaps(ADDRESS),
        }
    };
    let nets = if entity.nets.is_empty() { Match::Yes } else { within(&entity.nets) };
    let not_nets = if entity.not_nets.is_empty() { Match::Yes } else { within(&entity.not_nets).opposite() };
    let services = match entity.services {
        true => Match::Perhaps("the endpoints of a Service (services)"),
        false => Match::Yes,
    };
    nets.and(|| not_nets).and(|| services).and(|| is_selected(entity, namespace, end, known))
}

/// Whether its expressions match an endpoint. With any expression, a policy of a namespace selects its own
/// namespace unless it names others.
fn is_selected(entity: &CalicoEntity, namespace: &str, end: Peer<'_>, known: &Known<'_>) -> Match {
    let CalicoEntity { selector, not_selector, namespace_selector, .. } = entity;
    let texts = [selector, not_selector, namespace_selector];
    if texts.iter().all(|text| text.is_empty()) && entity.service_accounts.is_none() {
        return Match::Yes;
    }
    let Some(pod) = in_network(end) else { return Match::Perhaps(NO_POD) };
    let here = match (namespace_selector.as_str(), namespace) {
        ("", "") => Match::Yes,
        ("", namespace) => (pod.metadata.namespace == namespace).into(),
        (text, _) => fits(known, text, |key| of_namespace(pod, key, known)),
    };
    let not = match not_selector.as_str() {
        "" => Match::Yes,
        text => fits(known, text, |key| label(pod, key)).opposite(),
    };
    let account = match &entity.service_accounts {
        None => Match::Yes,
        Some(accounts) => {
            let named = accounts.names.is_empty() || accounts.names.iter().any(|name| name == pod.spec.account());
            Match::from(named).and(|| fits(known, &accounts.selector, |key| of_account(pod, key)))
        }
    };
    here.and(|| fits(known, selector, |key| label(pod, key))).and(|| not).and(|| account)
}

fn holds(net: &str, address: IpAddr) -> bool {
    net.parse::<Network>().is_ok_and(|network| network.contains(address))
        || net.parse::<IpAddr>().is_ok_and(|one| one == address)
}

/// The selector expressions of a policy.
pub(super) fn expressions(policy: &CalicoPolicy) -> impl Iterator<Item = &str> {
    let spec = &policy.spec;
    let ends = spec.ingress.iter().chain(&spec.egress).flat_map(|rule| [&rule.source, &rule.destination]);
    let of_ends = ends.flat_map(|end| {
        let accounts = end.service_accounts.as_ref().map(|accounts| &accounts.selector);
        [&end.selector, &end.not_selector, &end.namespace_selector].into_iter().chain(accounts)
    });
    let own = [&spec.selector, &spec.namespace_selector, &spec.service_account_selector];
    own.into_iter().chain(of_ends).map(String::as_str)
}

fn fits<'l>(known: &Known<'_>, text: &str, label: impl Fn(&str) -> Label<'l>) -> Match {
    if text.is_empty() {
        return Match::Yes;
    }
    match known.expressions.get(text) {
        Some(Some(expression)) => expression.fits(&label),
        Some(None) | None => Match::Perhaps(NOT_UNDERSTOOD),
    }
}

fn label<'p>(pod: &'p Pod, key: &str) -> Label<'p> {
    match key {
        NAMESPACE => Label::Is(&pod.metadata.namespace),
        ACCOUNT => Label::Is(pod.spec.account()),
        ORCHESTRATOR => Label::Is("k8s"),
        key => kubernetes::label(pod, key),
    }
}

fn of_namespace<'p>(pod: &'p Pod, key: &str, known: &'p Known<'_>) -> Label<'p> {
    match key {
        NAME => Label::Is(&pod.metadata.namespace),
        key => known.of_namespace(&pod.metadata.namespace, key),
    }
}

fn of_account<'p>(pod: &'p Pod, key: &str) -> Label<'p> {
    match key {
        NAME => Label::Is(pod.spec.account()),
        _ => Label::Unknown("labels of a service account"),
    }
}
