//! The neutral form of a policy, into which every kind is read: the pods that it holds for, whether it shuts them for what nothing
//! lets through, and its rules. Whether something fits has three answers; what is not known is one of them.

use std::cmp::Ordering;

use super::{Direction, Doubt, Peer, Port};
use crate::objects::{
    CalicoPolicy, CalicoRule, CiliumPolicy, CiliumSide, Kind, LabelSelector, Meta, NetworkPolicy,
    NetworkPolicyRule, Pod, TargetPort,
};

/// Whether something fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It cannot be said, and why.
    Perhaps(&'static str),
}

impl Fits {
    /// Both.
    pub fn and(self, other: impl FnOnce() -> Fits) -> Fits {
        match self {
            Fits::No => Fits::No,
            Fits::Yes => other(),
            Fits::Perhaps(why) => match other() {
                Fits::No => Fits::No,
                Fits::Yes | Fits::Perhaps(_) => Fits::Perhaps(why),
            },
        }
    }

    /// One of them at least; nothing fits none.
    pub fn any(all: impl IntoIterator<Item = Fits>) -> Fits {
        let mut said = Fits::No;
        for one in all {
            match one {
                Fits::Yes => return Fits::Yes,
                Fits::Perhaps(_) if said == Fits::No => said = one,
                Fits::No | Fits::Perhaps(_) => {}
            }
        }
        said
    }

    /// The opposite.
    pub fn opposite(self) -> Fits {
        match self {
            Fits::Yes => Fits::No,
            Fits::No => Fits::Yes,
            Fits::Perhaps(why) => Fits::Perhaps(why),
        }
    }
}

impl From<bool> for Fits {
    fn from(said: bool) -> Fits {
        if said { Fits::Yes } else { Fits::No }
    }
}

/// A policy as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Policy<'a> {
    /// Of Kubernetes.
    Kubernetes(&'a NetworkPolicy),
    /// Of Cilium.
    Cilium(&'a CiliumPolicy),
    /// Of Calico.
    Calico(&'a CalicoPolicy),
}

impl<'a> Policy<'a> {
    /// Its kind.
    pub fn kind(self) -> Kind {
        let of_cluster = self.meta().namespace.is_empty();
        match self {
            Policy::Kubernetes(_) => Kind::NetworkPolicy,
            Policy::Cilium(_) if of_cluster => Kind::CiliumClusterwideNetworkPolicy,
            Policy::Cilium(_) => Kind::CiliumNetworkPolicy,
            Policy::Calico(_) if of_cluster => Kind::CalicoGlobalNetworkPolicy,
            Policy::Calico(_) => Kind::CalicoNetworkPolicy,
        }
    }

    /// Its name, and namespace where it has one.
    pub fn meta(self) -> &'a Meta {
        match self {
            Policy::Kubernetes(policy) => &policy.metadata,
            Policy::Cilium(policy) => &policy.metadata,
            Policy::Calico(policy) => &policy.metadata,
        }
    }

    /// What tells it from every other, in order.
    pub fn key(self) -> (Kind, &'a str, &'a str) {
        let (namespace, name) = self.meta().key();
        (self.kind(), namespace, name)
    }
}

/// What becomes of a connection that a rule fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is let through.
    Allow,
    /// It is not.
    Deny,
    /// The next tier decides.
    Pass,
}

/// Ports that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports {
    /// `TCP` or `UDP`; any where nothing is said.
    pub protocol: Option<String>,
    /// Which.
    pub which: Which,
}

/// Which ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// All of the transport.
    All,
    /// From the first to the last.
    Range(u16, u16),
    /// Those that a container has by this name.
    Named(String),
}

impl Ports {
    /// Whether a port is one of them.
    pub fn hold(&self, port: Port<'_>) -> Fits {
        if self.protocol.as_ref().is_some_and(|protocol| !protocol.eq_ignore_ascii_case(port.protocol)) {
            return Fits::No;
        }
        match &self.which {
            Which::All => Fits::Yes,
            Which::Range(first, last) => (*first..=*last).contains(&port.number).into(),
            Which::Named(name) => match port.of {
                Some(pod) => {
                    let known = pod.spec.all_containers().flat_map(|container| &container.ports);
                    let mut known = known.into_iter();
                    known.any(|known| known.name == *name && known.container_port == port.number).into()
                }
                None => Fits::Perhaps(super::NAMED),
            },
        }
    }

    /// As a report names them: `6379`, `1-1024`, `redis`, `all`.
    pub fn in_words(&self) -> String {
        match &self.which {
            Which::All => "all".to_owned(),
            Which::Range(first, last) if first == last => first.to_string(),
            Which::Range(first, last) => format!("{first}-{last}"),
            Which::Named(name) => name.clone(),
        }
    }

    /// Of a port by number or name, and the last of a range.
    pub fn of(protocol: Option<&str>, port: Option<&TargetPort>, last: Option<u16>) -> Ports {
        let which = match port {
            None => Which::All,
            Some(TargetPort::Number(first)) => Which::Range(*first, last.unwrap_or(*first)),
            Some(TargetPort::Name(name)) => Which::Named(name.clone()),
        };
        Ports { protocol: protocol.map(str::to_owned), which }
    }
}

/// Whom a rule is about, as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peers<'a> {
    /// By Kubernetes' rules.
    Kubernetes(&'a NetworkPolicyRule),
    /// By Cilium's.
    Cilium(&'a CiliumSide),
    /// By Calico's, which are about the pod itself as well.
    Calico(&'a CalicoRule),
}

/// A rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule<'a> {
    /// Where it stands: `spec.ingress[0]`.
    pub field: String,
    /// What becomes of what fits it.
    pub action: Action,
    /// Its ports; all where there are none.
    pub ports: Vec<Ports>,
    /// Whom it is about.
    pub peers: Peers<'a>,
    /// What it asks beside peers and ports that cannot be judged.
    pub doubt: Option<&'static str>,
}

impl Rule<'_> {
    /// Whether it is about a port.
    pub fn holds_port(&self, port: Port<'_>) -> Fits {
        match self.ports.as_slice() {
            [] => Fits::Yes,
            ports => Fits::any(ports.iter().map(|named| named.hold(port))),
        }
    }

    /// Whether it is about everybody.
    pub fn is_for_all(&self) -> bool {
        match self.peers {
            Peers::Kubernetes(rule) => rule.peers.is_empty(),
            Peers::Cilium(side) => super::cilium::is_for_all(side),
            Peers::Calico(rule) => super::calico::is_for_all(rule),
        }
    }
}

/// The pods that a policy holds for, as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Subject<'a> {
    /// By labels, in its namespace.
    Kubernetes(&'a LabelSelector),
    /// By labels of Cilium's endpoints.
    Cilium(&'a LabelSelector),
    /// By Calico's expressions.
    Calico(&'a CalicoPolicy),
}

/// Its place among policies that have an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The place of its tier; `None` where the tier is not known.
    pub tier: Option<f64>,
    /// The name of the tier.
    pub tier_name: String,
    /// Whether what its tier is about and no rule of it fits is left to the next.
    pub passes_on: bool,
    /// Its place in the tier.
    pub order: f64,
    /// Its name, which decides between equal ones.
    pub name: String,
}

impl Place {
    /// Which of two comes first.
    pub fn compare(&self, other: &Place) -> Ordering {
        let tier = |place: &Place| place.tier.unwrap_or(f64::INFINITY);
        tier(self)
            .total_cmp(&tier(other))
            .then_with(|| self.tier_name.cmp(&other.tier_name))
            .then_with(|| self.order.total_cmp(&other.order))
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// A policy, or a part of it with pods of its own, as far as one direction goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Held<'a> {
    /// The policy.
    pub policy: Policy<'a>,
    /// Where its rules stand: `spec.ingress`.
    pub field: String,
    /// Its pods.
    pub subject: Subject<'a>,
    /// Whether it shuts them for what nothing lets through.
    pub shuts: bool,
    /// Its rules, in order.
    pub rules: Vec<Rule<'a>>,
    /// Its place, where policies have an order.
    pub place: Place,
}

impl<'a> Held<'a> {
    /// What of a field of it cannot be said.
    pub fn doubt(&self, field: &str, why: &'static str) -> Doubt<'a> {
        Doubt { policy: self.policy, field: field.to_owned(), why }
    }

    /// What its rules name, in a line.
    pub fn in_words(&self, direction: Direction) -> String {
        if self.rules.is_empty() {
            return "no rule: nothing is let through".to_owned();
        }
        let rule = |rule: &Rule<'_>| {
            let port = |ports: &Ports| {
                let protocol = ports.protocol.as_deref().unwrap_or("every transport");
                match ports.which {
                    Which::All => protocol.to_owned(),
                    Which::Range(..) | Which::Named(_) => format!("{protocol} {}", ports.in_words()),
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

/// A label that a selector asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'a> {
    /// Its value.
    Is(&'a str),
    /// There is none.
    Absent,
    /// It is not known, and why.
    Unknown(&'static str),
}

/// Whether labels fit a selector, where not all of them are known.
pub fn selects<'l>(selector: &LabelSelector, label: impl Fn(&str) -> Label<'l>) -> Fits {
    let has = |key: &str, values: &dyn Fn(&str) -> bool, absent: Fits| match label(key) {
        Label::Is(value) => values(value).into(),
        Label::Absent => absent,
        Label::Unknown(why) => Fits::Perhaps(why),
    };
    let labels = selector.match_labels.iter().map(|(key, value)| has(key, &|is| is == value, Fits::No));
    let expressions = selector.match_expressions.iter().map(|one| {
        let listed = |is: &str| one.lists(is);
        match one.operator.as_str() {
            "In" => has(&one.key, &listed, Fits::No),
            "NotIn" => has(&one.key, &|is| !listed(is), Fits::Yes),
            "Exists" => has(&one.key, &|_| true, Fits::No),
            "DoesNotExist" => has(&one.key, &|_| false, Fits::Yes),
            _ => Fits::No,
        }
    });
    labels.chain(expressions).fold(Fits::Yes, |all, one| all.and(|| one))
}

/// A pod that is a peer of the pod network; `None` for everything else.
pub fn in_network<'a>(peer: Peer<'a>) -> Option<&'a Pod> {
    match peer {
        // What shares the address of its node is no pod to a network.
        Peer::Pod(pod) if !pod.spec.host_network => Some(pod),
        Peer::Pod(_) | Peer::Address(_) | Peer::Host | Peer::Anyone => None,
    }
}
