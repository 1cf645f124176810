//! The neutral form of policies of every kind: the selected pods, whether the policy isolates them, and its
//! rules. A match has three results: yes, no, and unknown.

use std::cmp::Ordering;

use super::{Direction, Doubt, Peer, Port};
use crate::objects::{
    AdminPods, AdminPolicy, AdminRule, CalicoPolicy, CalicoRule, CiliumPolicy, CiliumSide, Kind, LabelSelector, Meta,
    NetworkPolicy, NetworkPolicyRule, Pod, TargetPort,
};

/// The result of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Unknown, and why.
    Perhaps(&'static str),
}

impl Match {
    /// Whether both match.
    pub fn and(self, other: impl FnOnce() -> Match) -> Match {
        match self {
            Match::No => Match::No,
            Match::Yes => other(),
            Match::Perhaps(why) => match other() {
                Match::No => Match::No,
                Match::Yes | Match::Perhaps(_) => Match::Perhaps(why),
            },
        }
    }

    /// Whether at least one matches; `No` for none.
    pub fn any(all: impl IntoIterator<Item = Match>) -> Match {
        let mut said = Match::No;
        for one in all {
            match one {
                Match::Yes => return Match::Yes,
                Match::Perhaps(_) if said == Match::No => said = one,
                Match::No | Match::Perhaps(_) => {}
            }
        }
        said
    }

    pub fn opposite(self) -> Match {
        match self {
            Match::Yes => Match::No,
            Match::No => Match::Yes,
            Match::Perhaps(why) => Match::Perhaps(why),
        }
    }
}

impl From<bool> for Match {
    fn from(said: bool) -> Match {
        if said { Match::Yes } else { Match::No }
    }
}

/// A policy of any kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Policy<'a> {
    Kubernetes(&'a NetworkPolicy),
    Cilium(&'a CiliumPolicy),
    Calico(&'a CalicoPolicy),
    /// Of a cluster administrator, with its kind.
    Admin(Kind, &'a AdminPolicy),
}

impl<'a> Policy<'a> {
    pub fn kind(self) -> Kind {
        let of_cluster = self.meta().namespace.is_empty();
        match self {
            Policy::Kubernetes(_) => Kind::NetworkPolicy,
            Policy::Cilium(_) if of_cluster => Kind::CiliumClusterwideNetworkPolicy,
            Policy::Cilium(_) => Kind::CiliumNetworkPolicy,
            Policy::Calico(_) if of_cluster => Kind::CalicoGlobalNetworkPolicy,
            Policy::Calico(_) => Kind::CalicoNetworkPolicy,
            Policy::Admin(kind, _) => kind,
        }
    }

    /// Its name, and its namespace if it has one.
    pub fn meta(self) -> &'a Meta {
        match self {
            Policy::Kubernetes(policy) => &policy.metadata,
            Policy::Cilium(policy) => &policy.metadata,
            Policy::Calico(policy) => &policy.metadata,
            Policy::Admin(_, policy) => &policy.metadata,
        }
    }

    /// A unique, ordered key.
    pub fn key(self) -> (Kind, &'a str, &'a str) {
        let (namespace, name) = self.meta().key();
        (self.kind(), namespace, name)
    }
}

/// The action of a rule for a matching connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The connection is allowed.
    Allow,
    /// The connection is denied.
    Deny,
    /// The next tier decides.
    Pass,
}

/// The ports of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports {
    /// `TCP` or `UDP`; any if not set.
    pub protocol: Option<String>,
    /// The ports.
    pub which: Which,
}

/// A set of ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// All ports of the protocol.
    All,
    /// From the first to the last.
    Range(u16, u16),
    /// The container ports with this name.
    Named(String),
}

impl Ports {
    /// Whether a port is among them.
    pub fn hold(&self, port: Port<'_>) -> Match {
        if self.protocol.as_ref().is_some_and(|protocol| !protocol.eq_ignore_ascii_case(port.protocol)) {
            return Match::No;
        }
        match &self.which {
            Which::All => Match::Yes,
            Which::Range(first, last) => (*first..=*last).contains(&port.number).into(),
            Which::Named(name) => match port.of {
                Some(pod) => {
                    let known = pod.spec.all_containers().flat_map(|container| &container.ports);
                    let mut known = known.into_iter();
                    known.any(|known| known.name == *name && known.container_port == port.number).into()
                }
                None => Match::Perhaps(super::NAMED),
            },
        }
    }

    /// The text in reports: `6379`, `1-1024`, `redis`, `all`.
    pub fn describe(&self) -> String {
        match &self.which {
            Which::All => "all".to_owned(),
            Which::Range(first, last) if first == last => first.to_string(),
            Which::Range(first, last) => format!("{first}-{last}"),
            Which::Named(name) => name.clone(),
        }
    }

    /// From a port number or name, and the end of a range.
    pub fn new(protocol: Option<&str>, port: Option<&TargetPort>, last: Option<u16>) -> Ports {
        let which = match port {
            None => Which::All,
            Some(TargetPort::Number(first)) => Which::Range(*first, last.unwrap_or(*first)),
            Some(TargetPort::Name(name)) => Which::Named(name.clone()),
        };
        Ports { protocol: protocol.map(str::to_owned), which }
    }
}

/// The peers of a rule, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peers<'a> {
    /// In the form of Kubernetes.
    Kubernetes(&'a NetworkPolicyRule),
    /// In the form of Cilium.
    Cilium(&'a CiliumSide),
    /// In the form of Calico, which can also restrict the pod itself.
    Calico(&'a CalicoRule),
    /// In the form of policies of cluster administrators.
    Admin(&'a AdminRule),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rule<'a> {
    /// Its path: `spec.ingress[0]`.
    pub field: String,
    /// The action for matching connections.
    pub action: Action,
    /// Its ports; all if empty.
    pub ports: Vec<Ports>,
    pub peers: Peers<'a>,
    /// A further requirement that cannot be evaluated.
    pub doubt: Option<&'static str>,
}

impl Rule<'_> {
    /// Whether it applies to a port.
    pub fn holds_port(&self, port: Port<'_>) -> Match {
        match self.ports.as_slice() {
            [] => Match::Yes,
            ports => Match::any(ports.iter().map(|named| named.hold(port))),
        }
    }

    /// Whether it applies to all peers.
    pub fn is_for_all(&self) -> bool {
        match self.peers {
            Peers::Kubernetes(rule) => rule.peers.is_empty(),
            Peers::Cilium(side) => super::cilium::is_for_all(side),
            Peers::Calico(rule) => super::calico::is_for_all(rule),
            Peers::Admin(_) => false,
        }
    }
}

/// The pods that a policy selects, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Subject<'a> {
    /// By labels, in its namespace.
    Kubernetes(&'a LabelSelector),
    /// By labels of Cilium's endpoints.
    Cilium(&'a LabelSelector),
    /// By Calico's expressions.
    Calico(&'a CalicoPolicy),
    /// By labels, in several namespaces.
    Admin(&'a AdminPods),
}

/// The place of a policy in the order.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The order of its tier; `None` if the tier is unknown.
    pub tier: Option<f64>,
    /// The name of the tier.
    pub tier_name: String,
    /// Whether the tier passes unmatched traffic to the next one.
    pub passes_on: bool,
    /// Its order in the tier.
    pub order: f64,
    /// Its name, which decides between policies of the same order.
    pub name: String,
}

impl Place {
    /// Which of two places comes first.
    pub fn compare(&self, other: &Place) -> Ordering {
        let tier = |place: &Place| place.tier.unwrap_or(f64::INFINITY);
        tier(self)
            .total_cmp(&tier(other))
            .then_with(|| self.tier_name.cmp(&other.tier_name))
            .then_with(|| self.order.total_cmp(&other.order))
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// A policy, or a part of it with its own selected pods, for one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedPolicy<'a> {
    pub policy: Policy<'a>,
    /// The path of its rules: `spec.ingress`.
    pub field: String,
    /// The selected pods.
    pub subject: Subject<'a>,
    /// Whether it isolates them, so that only allowed traffic passes.
    pub shuts: bool,
    /// Its rules, in order.
    pub rules: Vec<Rule<'a>>,
    /// Its place, if policies have an order.
    pub place: Place,
}

impl<'a> AppliedPolicy<'a> {
    /// An unknown result because of a field.
    pub fn doubt(&self, field: &str, why: &'static str) -> Doubt<'a> {
        Doubt { policy: self.policy, field: field.to_owned(), why }
    }

    /// A one-line summary of its rules.
    pub fn describe(&self, direction: Direction) -> String {
        if self.rules.is_empty() {
            return "no rule: nothing is allowed".to_owned();
        }
        let rule = |rule: &Rule<'_>| {
            let port = |ports: &Ports| {
                let protocol = ports.protocol.as_deref().unwrap_or("every transport");
                match ports.which {
                    Which::All => protocol.to_owned(),
                    Which::Range(..) | Which::Named(_) => format!("{protocol} {}", ports.describe()),
                }
            };
            let ports: Vec<String> = rule.ports.iter().map(port).collect();
            let ports = if ports.is_empty() { "all ports".to_owned() } else { ports.join(", ") };
            let peers = match (rule.is_for_all(), direction) {
                (true, _) => "",
                (false, Direction::Ingress) => ", from selected peers",
                (false, Direction::Egress) => ", to selected peers",
            };
            let action = match rule.action {
                Action::Allow => "",
                Action::Deny => "deny ",
                Action::Pass => "pass ",
            };
            format!("{action}{ports}{peers}")
        };
        self.rules.iter().map(rule).collect::<Vec<_>>().join("; ")
    }
}

/// The value of a label that a selector requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'a> {
    /// Its value.
    Is(&'a str),
    /// The label is missing.
    Absent,
    /// Unknown, and why.
    Unknown(&'static str),
}

/// Whether labels match a selector, if some of the labels are unknown.
pub fn selects<'l>(selector: &LabelSelector, label: impl Fn(&str) -> Label<'l>) -> Match {
    let has = |key: &str, values: &dyn Fn(&str) -> bool, absent: Match| match label(key) {
        Label::Is(value) => values(value).into(),
        Label::Absent => absent,
        Label::Unknown(why) => Match::Perhaps(why),
    };
    let labels = selector.match_labels.iter().map(|(key, value)| has(key, &|is| is == value, Match::No));
    let expressions = selector.match_expressions.iter().map(|one| {
        let listed = |is: &str| one.lists(is);
        match one.operator.as_str() {
            "In" => has(&one.key, &listed, Match::No),
            "NotIn" => has(&one.key, &|is| !listed(is), Match::Yes),
            "Exists" => has(&one.key, &|_| true, Match::No),
            "DoesNotExist" => has(&one.key, &|_| false, Match::Yes),
            _ => Match::No,
        }
    });
    labels.chain(expressions).fold(Match::Yes, |all, one| all.and(|| one))
}

/// A peer that is a pod of the pod network; `None` for everything else.
pub fn in_network<'a>(peer: Peer<'a>) -> Option<&'a Pod> {
    match peer {
        // To a network, a host-network pod is its node.
        Peer::Pod(pod) if !pod.spec.host_network => Some(pod),
        Peer::Pod(_) | Peer::Address(_) | Peer::Host | Peer::Anyone => None,
    }
}
