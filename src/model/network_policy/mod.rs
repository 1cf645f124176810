//! Whether a cluster's network policies let a connection through, for a pod, a peer and a port: yes, no, or it cannot be said. Those
//! of Kubernetes, Cilium and Calico are read into one form; whether the network enforces any is not looked at. Pure; what it
//! means for a mesh is for checks to say.
//!
//! A pod that no policy of a direction holds for is open in that direction. Policies of Kubernetes and of Cilium add up: what one
//! lets through passes, unless a rule of Cilium's denies it. Calico goes through its policies and those of Kubernetes in order.

mod added;
mod calico;
mod cilium;
pub mod control_plane;
mod expression;
mod form;
mod kubernetes;
mod ordered;
mod peers;

use std::collections::HashMap;
use std::net::IpAddr;

use expression::Expression;
pub use form::{Action, Fits, Held, Policy, Ports, Rule, Which};
use form::{Label, Peers, Subject};
pub use peers::RulesByPeer;

use super::by_label::ByLabel;
use crate::objects::{CalicoPolicy, CalicoTier, CiliumPolicy, Namespace, NetworkPolicy, Pod, Texts};

/// Which way a connection goes, seen from the pod that a policy holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the pod.
    Ingress,
    /// From the pod.
    Egress,
}

impl Direction {
    /// As policies write it: the field of the rules.
    pub fn field(self) -> &'static str {
        match self {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
        }
    }
}

/// The end of a connection that is not the pod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peer<'a> {
    /// A pod.
    Pod(&'a Pod),
    /// Something with an address, and no pod of the pod network.
    Address(IpAddr),
    /// An API server, whose address is not known: no selector takes it, and any block may hold it.
    Host,
    /// Somebody of whom nothing is known.
    Anyone,
}

/// Where a connection goes: a port by its transport, and the pod that it belongs to, which knows it by name.
#[derive(Debug, Clone, Copy)]
pub struct Port<'a> {
    /// `TCP` or `UDP`.
    pub protocol: &'static str,
    /// Its number.
    pub number: u16,
    /// The pod, where the connection goes to one.
    pub of: Option<&'a Pod>,
}

/// What decides: a policy, and the field in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decides<'a> {
    /// The policy.
    pub policy: Policy<'a>,
    /// The field: `spec.egress`, `spec.ingressDeny[0]`.
    pub field: String,
    /// Whether a rule denies the connection; otherwise none of its rules lets it through.
    pub denies: bool,
    /// What its rules name, in a line.
    pub said: String,
}

/// What keeps it from being said.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt<'a> {
    /// The policy.
    pub policy: Policy<'a>,
    /// The field.
    pub field: String,
    /// What of it is not known.
    pub why: &'static str,
}

/// What the policies say of a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Passage<'a> {
    /// No policy of the direction holds for the pod.
    Open,
    /// This one lets it through, perhaps beside others.
    Through(Decides<'a>),
    /// These hold for the pod and none lets it through; or this one denies it.
    Shut(Vec<Decides<'a>>),
    /// It cannot be said, for these reasons.
    Unknown(Vec<Doubt<'a>>),
}

/// What policies are read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Objects<'a> {
    /// NetworkPolicies of Kubernetes.
    pub kubernetes: &'a [NetworkPolicy],
    /// CiliumNetworkPolicies.
    pub cilium: &'a [CiliumPolicy],
    /// CiliumClusterwideNetworkPolicies.
    pub cilium_clusterwide: &'a [CiliumPolicy],
    /// Calico's NetworkPolicies.
    pub calico: &'a [CalicoPolicy],
    /// GlobalNetworkPolicies.
    pub calico_global: &'a [CalicoPolicy],
    /// Calico's Tiers.
    pub tiers: &'a [CalicoTier],
    /// Namespaces, for their labels.
    pub namespaces: &'a [Namespace],
}

/// What is known beside policies: the labels of namespaces; and Calico's expressions, read once.
#[derive(Debug, Clone, Default)]
pub struct Known<'a> {
    namespaces: HashMap<&'a str, &'a Texts>,
    /// `None` where one is not understood.
    expressions: HashMap<&'a str, Option<Expression>>,
}

impl Known<'_> {
    /// A label of a namespace.
    fn of_namespace<'k>(&'k self, namespace: &'k str, key: &str) -> Label<'k> {
        match self.namespaces.get(namespace) {
            Some(labels) => labels.get(key).map_or(Label::Absent, |value| Label::Is(value)),
            // The API server sees to that one.
            None if key == "kubernetes.io/metadata.name" => Label::Is(namespace),
            None => Label::Unknown(UNKNOWN_NAMESPACE),
        }
    }
}

/// Why something cannot be said of somebody of whom nothing is known.
pub const WHOM: &str = "whom it means";
/// Why something cannot be said of a port that only its pod knows by name, where the pod is not known.
pub const NAMED: &str = "a port by its name";
/// Why something cannot be said where the labels of a namespace are not known.
pub const UNKNOWN_NAMESPACE: &str = "labels of a namespace that are not known";

/// Policies of every kind, in the neutral form.
#[derive(Debug, Clone, Default)]
pub struct Policies<'a> {
    by_namespace: HashMap<&'a str, Vec<(Direction, Held<'a>)>>,
    /// By namespace, where in its list the policies are that may hold for a pod.
    by_label: HashMap<&'a str, ByLabel<'a>>,
    of_cluster: Vec<(Direction, Held<'a>)>,
    known: Known<'a>,
    /// Whether there are policies of Cilium, and of Calico.
    plugins: (bool, bool),
}

impl<'a> Policies<'a> {
    /// Of these.
    pub fn of(objects: Objects<'a>) -> Policies<'a> {
        let mut policies = Policies::default();
        for direction in [Direction::Ingress, Direction::Egress] {
            let kubernetes =
                objects.kubernetes.iter().filter_map(|policy| kubernetes::read(policy, direction));
            let cilium = objects.cilium.iter().chain(objects.cilium_clusterwide);
            let cilium: Vec<Held<'a>> = cilium.flat_map(|policy| cilium::read(policy, direction)).collect();
            let calico = objects.calico.iter().chain(objects.calico_global);
            let calico: Vec<Held<'a>> =
                calico.filter_map(|policy| calico::read(policy, direction, objects.tiers)).collect();
            policies.plugins.0 |= !cilium.is_empty();
            policies.plugins.1 |= !calico.is_empty();
            for held in kubernetes.chain(cilium).chain(calico) {
                let list = match held.policy.meta().namespace.as_str() {
                    "" => &mut policies.of_cluster,
                    namespace => policies.by_namespace.entry(namespace).or_default(),
                };
                list.push((direction, held));
            }
        }
        for list in policies.by_namespace.values_mut().chain([&mut policies.of_cluster]) {
            list.sort_by(|(_, a), (_, b)| a.policy.key().cmp(&b.policy.key()));
        }
        let lists = policies.by_namespace.iter();
        let selector = |(_, held): &(Direction, Held<'a>)| match held.subject {
            Subject::Kubernetes(selector) => Some(selector),
            Subject::Cilium(_) | Subject::Calico(_) => None,
        };
        policies.by_label =
            lists.map(|(namespace, list)| (*namespace, ByLabel::new(list.iter().map(selector)))).collect();
        let texts = objects.calico.iter().chain(objects.calico_global).flat_map(calico::expressions);
        policies.known.expressions = texts.map(|text| (text, Expression::parse(text))).collect();
        let labels = objects.namespaces.iter();
        policies.known.namespaces =
            labels.map(|one| (one.metadata.name.as_str(), &*one.metadata.labels)).collect();
        policies
    }

    /// Whether all of them are policies of Kubernetes: whom these mean does not depend on the pod that they hold for.
    pub fn are_of_kubernetes(&self) -> bool {
        self.plugins == (false, false)
    }

    /// All of a direction.
    pub fn all(&self, direction: Direction) -> impl Iterator<Item = &Held<'a>> {
        let lists = self.by_namespace.values().flatten().chain(&self.of_cluster);
        lists.filter(move |(of, _)| *of == direction).map(|(_, held)| held)
    }

    /// Those that hold for a pod in a direction, or may: by kind and name. Pods in the network of their node are held by none.
    pub fn holding(&self, direction: Direction, pod: &Pod) -> Vec<(&Held<'a>, Fits)> {
        if pod.spec.host_network {
            return Vec::new();
        }
        let namespace = pod.metadata.namespace.as_str();
        let list = self.by_namespace.get(namespace).map_or(&[][..], Vec::as_slice);
        let here = self
            .by_label
            .get(namespace)
            .map_or_else(Vec::new, |index| index.candidates(&pod.metadata.labels));
        let all = here
            .into_iter()
            .filter_map(|at| list.get(at))
            .chain(&self.of_cluster)
            .filter(|(of, _)| *of == direction);
        let holds = |(_, held): &'_ (Direction, Held<'a>)| match held.subject {
            Subject::Kubernetes(selector) => selector.matches(&pod.metadata.labels).into(),
            Subject::Cilium(selector) => cilium::holds_for(selector, pod, &self.known),
            Subject::Calico(policy) => calico::holds_for(policy, pod, &self.known),
        };
        all.map(|one| (&one.1, holds(one))).filter(|(_, holds)| *holds != Fits::No).collect()
    }

    /// Whether they let a connection through on the side of one pod.
    pub fn passage(&self, direction: Direction, pod: &Pod, port: Port<'_>, peer: Peer<'_>) -> Passage<'a> {
        self.passage_of(&self.holding(direction, pod), direction, pod, port, peer)
    }

    /// The same, by the policies that hold for the pod, where several connections are asked for.
    pub fn passage_of(
        &self,
        holding: &[(&Held<'a>, Fits)],
        direction: Direction,
        pod: &Pod,
        port: Port<'_>,
        peer: Peer<'_>,
    ) -> Passage<'a> {
        let fits = |held: &Held<'a>, rule: &Rule<'a>| self.fits(held, rule, direction, pod, port, peer);
        let of = |calico: bool| {
            let mut some = holding.to_vec();
            some.retain(|(held, _)| match held.policy {
                Policy::Kubernetes(_) => true,
                Policy::Cilium(_) => !calico,
                Policy::Calico(_) => calico,
            });
            some
        };
        let added = || added::passage(direction, &of(false), fits);
        let ordered = || ordered::passage(direction, of(true), fits);
        match self.plugins {
            (_, false) => added(),
            (false, true) => ordered(),
            (true, true) => either(added(), ordered()),
        }
    }

    /// Whether a rule is about a connection.
    fn fits(
        &self,
        held: &Held<'a>,
        rule: &Rule<'a>,
        direction: Direction,
        pod: &Pod,
        port: Port<'_>,
        peer: Peer<'_>,
    ) -> Fits {
        let doubt = rule.doubt.map_or(Fits::Yes, Fits::Perhaps);
        rule.holds_port(port).and(|| doubt).and(|| self.means(held, rule, direction, pod, peer))
    }

    /// Whether a rule is about a peer, at whatever port.
    pub fn means(
        &self,
        held: &Held<'a>,
        rule: &Rule<'a>,
        direction: Direction,
        pod: &Pod,
        peer: Peer<'_>,
    ) -> Fits {
        let namespace = held.policy.meta().namespace.as_str();
        match rule.peers {
            Peers::Kubernetes(rule) => kubernetes::is_about(rule, namespace, peer, &self.known),
            Peers::Cilium(side) => cilium::is_about(side, namespace, peer, &self.known),
            Peers::Calico(rule) => calico::is_about(rule, direction, namespace, pod, peer, &self.known),
        }
    }
}

/// The service account of a pod.
fn account(pod: &Pod) -> &str {
    match pod.spec.service_account_name.as_str() {
        "" => "default",
        name => name,
    }
}

/// Where there are policies of Cilium and of Calico, only one of them enforces its own, and which is not known.
fn either<'a>(cilium: Passage<'a>, calico: Passage<'a>) -> Passage<'a> {
    const WHY: &str = "whether Cilium or Calico enforces policies here";
    let doubt = |decides: Decides<'a>| Doubt { policy: decides.policy, field: decides.field, why: WHY };
    let reasons = |passage| match passage {
        Passage::Open => Vec::new(),
        Passage::Through(decides) => vec![doubt(decides)],
        Passage::Shut(all) => all.into_iter().map(doubt).collect(),
        Passage::Unknown(doubts) => doubts,
    };
    match (cilium, calico) {
        (Passage::Open, through @ (Passage::Open | Passage::Through(_))) => through,
        (through @ Passage::Through(_), Passage::Open | Passage::Through(_)) => through,
        (Passage::Shut(all), Passage::Shut(_)) => Passage::Shut(all),
        (one, other) => {
            let mut all = reasons(one);
            all.extend(reasons(other));
            Passage::Unknown(all)
        }
    }
}

#[cfg(test)]
mod tests;
