//! Evaluates whether a cluster's network policies allow a connection, for a pod, a peer and a port: yes, no,
//! or unknown. Policies of Kubernetes, Cilium and Calico are converted to one form; whether the network
//! enforces them is not evaluated. Pure; the checks evaluate the effect on a mesh.
//!
//! A pod that no policy of a direction selects is open in that direction. Policies of Kubernetes and of
//! Cilium are additive: a connection that one of them allows passes, unless a Cilium rule denies it. Calico
//! evaluates its policies and those of Kubernetes in order. Policies of cluster administrators come before
//! and after all of these.

mod added;
mod admin;
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
pub use form::{Action, AppliedPolicy, Match, Peers, Policy, Ports, Rule, Which};
use form::{Label, Subject};
pub use peers::RulesByPeer;

use meshdoctor_core::networks;
use meshdoctor_objects as objects;
use objects::by_label::ByLabel;
use objects::{AdminPolicy, CalicoPolicy, CalicoTier, CiliumPolicy, Kind, Namespace, NetworkPolicy, Pod, Texts};

/// Direction of a connection, from the view of the pod that a policy selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the pod.
    Ingress,
    /// From the pod.
    Egress,
}

impl Direction {
    /// The field of the rules in a policy.
    pub fn field(self) -> &'static str {
        match self {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
        }
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peer<'a> {
    Pod(&'a Pod),
    /// An address outside the pod network.
    Address(IpAddr),
    /// An API server with an unknown address: no selector matches it, and any block may contain it.
    Host,
    /// An unknown peer.
    Anyone,
}

/// The destination of a connection: a port with its protocol, and the pod that it belongs to, which defines
/// port names.
#[derive(Debug, Clone, Copy)]
pub struct Port<'a> {
    /// `TCP` or `UDP`.
    pub protocol: &'static str,
    pub number: u16,
    /// The pod, if the destination is one.
    pub of: Option<&'a Pod>,
}

/// The deciding policy and field.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedBy<'a> {
    pub policy: Policy<'a>,
    /// The field: `spec.egress`, `spec.ingressDeny[0]`.
    pub field: String,
    /// Whether a rule denies the connection; otherwise none of its rules allows it.
    pub denies: bool,
    /// The ports or peers in its rules, on one line.
    pub said: String,
}

/// The reason for an unknown result.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt<'a> {
    pub policy: Policy<'a>,
    pub field: String,
    /// The unknown part.
    pub why: &'static str,
}

/// The result of the policies for a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<'a> {
    /// No policy of the direction selects the pod.
    Open,
    /// This policy allows it, possibly among others.
    Through(DecidedBy<'a>),
    /// These policies select the pod and none allows it; or this one denies it.
    Shut(Vec<DecidedBy<'a>>),
    /// Unknown, for these reasons.
    Unknown(Vec<Doubt<'a>>),
}

/// The objects that policies are read from.
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
    /// AdminNetworkPolicies.
    pub admin: &'a [AdminPolicy],
    /// BaselineAdminNetworkPolicies.
    pub baseline: &'a [AdminPolicy],
    /// ClusterNetworkPolicies.
    pub cluster_network: &'a [AdminPolicy],
    /// Namespaces, for their labels.
    pub namespaces: &'a [Namespace],
}

/// Other inputs of the evaluation: the labels of namespaces, and Calico's parsed expressions.
#[derive(Debug, Clone, Default)]
pub struct Known<'a> {
    namespaces: HashMap<&'a str, &'a Texts>,
    /// `None` if it cannot be parsed.
    expressions: HashMap<&'a str, Option<Expression>>,
}

impl Known<'_> {
    /// A label of a namespace.
    fn of_namespace<'k>(&'k self, namespace: &'k str, key: &str) -> Label<'k> {
        match self.namespaces.get(namespace) {
            Some(labels) => labels.get(key).map_or(Label::Absent, |value| Label::Is(value)),
            // The API server guarantees that one.
            None if key == "kubernetes.io/metadata.name" => Label::Is(namespace),
            None => Label::Unknown(UNKNOWN_NAMESPACE),
        }
    }
}

/// Reason: the peer is unknown.
pub const WHOM: &str = "whom it means";
/// Reason: only the pod defines the port's name, and the pod is unknown.
pub const NAMED: &str = "a port by its name";
/// Reason: the labels of a namespace are unknown.
pub const UNKNOWN_NAMESPACE: &str = "labels of a namespace that are not known";

/// Policies of every kind, in the neutral form.
#[derive(Debug, Clone, Default)]
pub struct Policies<'a> {
    by_namespace: HashMap<&'a str, Vec<(Direction, AppliedPolicy<'a>)>>,
    /// By namespace, the indexes of the policies that may select a pod.
    by_label: HashMap<&'a str, ByLabel<'a>>,
    of_cluster: Vec<(Direction, AppliedPolicy<'a>)>,
    known: Known<'a>,
    /// Whether Cilium policies exist, and whether Calico policies exist.
    plugins: (bool, bool),
    /// Whether policies of cluster administrators exist.
    has_admin: bool,
}

impl<'a> Policies<'a> {
    /// Reads the policies of these objects.
    pub fn new(objects: Objects<'a>) -> Policies<'a> {
        let mut policies = Policies::default();
        for direction in [Direction::Ingress, Direction::Egress] {
            let kubernetes = objects.kubernetes.iter().filter_map(|policy| kubernetes::read(policy, direction));
            let cilium = objects.cilium.iter().chain(objects.cilium_clusterwide);
            let cilium: Vec<AppliedPolicy<'a>> = cilium.flat_map(|policy| cilium::read(policy, direction)).collect();
            let calico = objects.calico.iter().chain(objects.calico_global);
            let calico: Vec<AppliedPolicy<'a>> =
                calico.filter_map(|policy| calico::read(policy, direction, objects.tiers)).collect();
            let admin = of_administrators(objects);
            let admin: Vec<AppliedPolicy<'a>> =
                admin.filter_map(|(kind, policy)| admin::read(kind, policy, direction)).collect();
            policies.has_admin |= !admin.is_empty();
            policies.plugins.0 |= !cilium.is_empty();
            policies.plugins.1 |= !calico.is_empty();
            for held in kubernetes.chain(cilium).chain(calico).chain(admin) {
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
        let selector = |(_, held): &(Direction, AppliedPolicy<'a>)| match held.subject {
            Subject::Kubernetes(selector) => Some(selector),
            Subject::Cilium(_) | Subject::Calico(_) | Subject::Admin(_) => None,
        };
        policies.by_label =
            lists.map(|(namespace, list)| (*namespace, ByLabel::new(list.iter().map(selector)))).collect();
        let texts = objects.calico.iter().chain(objects.calico_global).flat_map(calico::expressions);
        policies.known.expressions = texts.map(|text| (text, Expression::parse(text))).collect();
        let labels = objects.namespaces.iter();
        policies.known.namespaces = labels.map(|one| (one.metadata.name.as_str(), &*one.metadata.labels)).collect();
        policies
    }

    /// Whether all policies are Kubernetes policies, whose peers do not depend on the selected pod.
    pub fn are_of_kubernetes(&self) -> bool {
        self.plugins == (false, false) && !self.has_admin
    }

    /// All policies of a direction.
    pub fn all(&self, direction: Direction) -> impl Iterator<Item = &AppliedPolicy<'a>> {
        let lists = self.by_namespace.values().flatten().chain(&self.of_cluster);
        lists.filter(move |(of, _)| *of == direction).map(|(_, held)| held)
    }

    /// The policies that select a pod in a direction, or may select it, by kind and name. No policy selects
    /// pods in the host network.
    pub fn holding(&self, direction: Direction, pod: &Pod) -> Vec<(&AppliedPolicy<'a>, Match)> {
        if pod.spec.host_network {
            return Vec::new();
        }
        let namespace = pod.metadata.namespace.as_str();
        let list = self.by_namespace.get(namespace).map_or(&[][..], Vec::as_slice);
        let here = self.by_label.get(namespace).map_or_else(Vec::new, |index| index.candidates(&pod.metadata.labels));
        let all =
            here.into_iter().filter_map(|at| list.get(at)).chain(&self.of_cluster).filter(|(of, _)| *of == direction);
        let holds = |(_, held): &'_ (Direction, AppliedPolicy<'a>)| match held.subject {
            Subject::Kubernetes(selector) => selector.matches(&pod.metadata.labels).into(),
            Subject::Cilium(selector) => cilium::holds_for(selector, pod, &self.known),
            Subject::Calico(policy) => calico::holds_for(policy, pod, &self.known),
            Subject::Admin(pods) => admin::holds_for(pods, pod, &self.known),
        };
        all.map(|one| (&one.1, holds(one))).filter(|(_, holds)| *holds != Match::No).collect()
    }

    /// Evaluates a connection on the side of one pod.
    pub fn passage(&self, direction: Direction, pod: &Pod, port: Port<'_>, peer: Peer<'_>) -> Verdict<'a> {
        self.passage_of(&self.holding(direction, pod), direction, pod, port, peer)
    }

    /// The same with the policies that select the pod, for several connections of one pod.
    pub fn passage_of(
        &self,
        holding: &[(&AppliedPolicy<'a>, Match)],
        direction: Direction,
        pod: &Pod,
        port: Port<'_>,
        peer: Peer<'_>,
    ) -> Verdict<'a> {
        let fits = |held: &AppliedPolicy<'a>, rule: &Rule<'a>| self.fits(held, rule, direction, pod, port, peer);
        let of = |calico: bool| {
            let mut some = holding.to_vec();
            some.retain(|(held, _)| match held.policy {
                Policy::Kubernetes(_) => true,
                Policy::Cilium(_) => !calico,
                Policy::Calico(_) => calico,
                Policy::Admin(..) => false,
            });
            some
        };
        let added = || added::passage(direction, &of(false), fits);
        let ordered = || ordered::passage(direction, of(true), fits);
        let between = || match self.plugins {
            (_, false) => added(),
            (false, true) => ordered(),
            (true, true) => either(added(), ordered()),
        };
        if self.has_admin { admin::passage(direction, holding, fits, between) } else { between() }
    }

    /// Whether a rule matches a connection.
    fn fits(
        &self,
        held: &AppliedPolicy<'a>,
        rule: &Rule<'a>,
        direction: Direction,
        pod: &Pod,
        port: Port<'_>,
        peer: Peer<'_>,
    ) -> Match {
        let doubt = rule.doubt.map_or(Match::Yes, Match::Perhaps);
        rule.holds_port(port).and(|| doubt).and(|| self.means(held, rule, direction, pod, peer))
    }

    /// Whether a rule matches a peer, at any port.
    pub fn means(
        &self,
        held: &AppliedPolicy<'a>,
        rule: &Rule<'a>,
        direction: Direction,
        pod: &Pod,
        peer: Peer<'_>,
    ) -> Match {
        let namespace = held.policy.meta().namespace.as_str();
        match rule.peers {
            Peers::Kubernetes(rule) => kubernetes::is_about(rule, namespace, peer, &self.known),
            Peers::Cilium(side) => cilium::is_about(side, namespace, peer, &self.known),
            Peers::Calico(rule) => calico::is_about(rule, direction, namespace, pod, peer, &self.known),
            Peers::Admin(rule) => admin::is_about(rule, peer, &self.known),
        }
    }
}

/// The policies of cluster administrators, with their kinds.
fn of_administrators(objects: Objects<'_>) -> impl Iterator<Item = (Kind, &AdminPolicy)> {
    let each = [
        (Kind::AdminNetworkPolicy, objects.admin),
        (Kind::BaselineAdminNetworkPolicy, objects.baseline),
        (Kind::ClusterNetworkPolicy, objects.cluster_network),
    ];
    each.into_iter().flat_map(|(kind, list)| list.iter().map(move |policy| (kind, policy)))
}

/// With policies of both Cilium and Calico, only one of them enforces its own, and it is unknown which.
fn either<'a>(cilium: Verdict<'a>, calico: Verdict<'a>) -> Verdict<'a> {
    const WHY: &str = "whether Cilium or Calico enforces policies here";
    let doubt = |decides: DecidedBy<'a>| Doubt { policy: decides.policy, field: decides.field, why: WHY };
    let reasons = |passage| match passage {
        Verdict::Open => Vec::new(),
        Verdict::Through(decides) => vec![doubt(decides)],
        Verdict::Shut(all) => all.into_iter().map(doubt).collect(),
        Verdict::Unknown(doubts) => doubts,
    };
    match (cilium, calico) {
        (Verdict::Open, through @ (Verdict::Open | Verdict::Through(_))) => through,
        (through @ Verdict::Through(_), Verdict::Open | Verdict::Through(_)) => through,
        (Verdict::Shut(all), Verdict::Shut(_)) => Verdict::Shut(all),
        (one, other) => {
            let mut all = reasons(one);
            all.extend(reasons(other));
            Verdict::Unknown(all)
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct NetpolReadme;
