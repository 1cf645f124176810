//! Finds the rules of Kubernetes policies that may apply to a pod as a peer, so that not every pod is
//! compared with every rule. Identical rules count once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::form::{AppliedPolicy, Match, Peers, Rule};
use super::{Direction, Peer, Policies};
use crate::objects::by_label::ByLabel;
use crate::objects::{LabelSelector, NetworkPolicyRule, Pod};

/// The distinct rules of a direction, by the labels and the namespace of the pods that they select as peers.
pub struct RulesByPeer<'p, 'a> {
    policies: &'p Policies<'a>,
    direction: Direction,
    rules: Vec<(&'p AppliedPolicy<'a>, &'p Rule<'a>)>,
    /// The index of each rule, by its namespace if relevant, and its content.
    places: HashMap<(&'a str, &'a NetworkPolicyRule), usize>,
    /// Peers that can only be pods of one namespace.
    of_namespace: HashMap<&'a str, Selectors<'a>>,
    of_cluster: Selectors<'a>,
}

/// Selectors of peers, with the index of each rule.
#[derive(Default)]
struct Selectors<'a> {
    index: ByLabel<'a>,
    rules: Vec<usize>,
}

impl<'a> Selectors<'a> {
    fn new(list: &[(Option<&'a LabelSelector>, usize)]) -> Selectors<'a> {
        Selectors {
            index: ByLabel::new(list.iter().map(|(selector, _)| *selector)),
            rules: list.iter().map(|(_, rule)| *rule).collect(),
        }
    }

    fn candidates(&self, pod: &Pod) -> impl Iterator<Item = usize> {
        let places = self.index.candidates(&pod.metadata.labels).into_iter();
        places.filter_map(|place| self.rules.get(place).copied())
    }
}

impl<'p, 'a> RulesByPeer<'p, 'a> {
    /// Indexes the rules of all Kubernetes policies in a direction.
    pub fn new(policies: &'p Policies<'a>, direction: Direction) -> RulesByPeer<'p, 'a> {
        let (mut rules, mut places) = (Vec::new(), HashMap::new());
        let mut of_namespace: HashMap<&'a str, Vec<_>> = HashMap::new();
        let mut of_cluster = Vec::new();
        let all = policies.all(direction).flat_map(|held| held.rules.iter().map(move |rule| (held, rule)));
        for (held, rule) in all {
            let Some(key) = key(held, rule) else { continue };
            let Entry::Vacant(place) = places.entry(key) else { continue };
            let number = *place.insert(rules.len());
            rules.push((held, rule));
            let (_, content) = key;
            if content.peers.is_empty() {
                of_cluster.push((None, number));
            }
            for peer in &content.peers {
                match (&peer.ip_block, &peer.namespace_selector) {
                    (Some(_), _) => of_cluster.push((None, number)),
                    (None, Some(_)) => of_cluster.push((peer.pod_selector.as_ref(), number)),
                    (None, None) => {
                        let namespace = held.policy.meta().namespace.as_str();
                        of_namespace.entry(namespace).or_default().push((peer.pod_selector.as_ref(), number));
                    }
                }
            }
        }
        let of_namespace =
            of_namespace.into_iter().map(|(namespace, list)| (namespace, Selectors::new(&list))).collect();
        let of_cluster = Selectors::new(&of_cluster);
        RulesByPeer { policies, direction, rules, places, of_namespace, of_cluster }
    }

    /// The index of the rule that is identical to this one.
    pub fn place(&self, held: &AppliedPolicy<'a>, rule: &Rule<'a>) -> Option<usize> {
        self.places.get(&key(held, rule)?).copied()
    }

    /// The rules that apply to a pod or may apply, at any port: index, rule and match.
    pub fn about(&self, pod: &Pod) -> Vec<(usize, &'p Rule<'a>, Match)> {
        let here = self.of_namespace.get(pod.metadata.namespace.as_str());
        let here = here.into_iter().flat_map(|selectors| selectors.candidates(pod));
        let mut places: Vec<usize> = here.chain(self.of_cluster.candidates(pod)).collect();
        places.sort_unstable();
        places.dedup();
        let rules = places.into_iter().filter_map(|place| Some((place, self.rules.get(place)?)));
        let matched = rules.map(|(place, (held, rule))| {
            (place, *rule, self.policies.means(held, rule, self.direction, pod, Peer::Pod(pod)))
        });
        matched.filter(|(_, _, fits)| *fits != Match::No).collect()
    }
}

/// The identity of a rule. Its namespace is only relevant if it selects pods there.
fn key<'a>(held: &AppliedPolicy<'a>, rule: &Rule<'a>) -> Option<(&'a str, &'a NetworkPolicyRule)> {
    let Peers::Kubernetes(content) = rule.peers else { return None };
    let is_of_namespace = content.peers.iter().any(|peer| peer.ip_block.is_none() && peer.namespace_selector.is_none());
    let namespace = if is_of_namespace { held.policy.meta().namespace.as_str() } else { "" };
    Some((namespace, content))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Objects;
    use super::*;
    use crate::objects::{Namespace, NetworkPolicy};

    fn objects<T: serde::de::DeserializeOwned>(list: Value) -> Vec<T> {
        serde_json::from_value(list).unwrap()
    }

    #[test]
    fn rules_about_a_pod_are_those_that_match_it() {
        let peers = [
            json!([]),
            json!([{"podSelector": {}}]),
            json!([{"podSelector": {"matchLabels": {"app": "web", "tier": "a"}}}]),
            json!([{"podSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}]),
            json!([{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "db"}}}]),
            json!([{"namespaceSelector": {"matchLabels": {"team": "b"}}}]),
            json!([{"ipBlock": {"cidr": "10.0.0.0/24"}}, {"podSelector": {"matchLabels": {"app": "db"}}}]),
        ];
        let policy = |(at, namespace): (usize, &str)| {
            let rules: Vec<Value> = peers.iter().map(|to| json!({"to": to})).collect();
            json!({"metadata": {"name": format!("p-{at}"), "namespace": namespace},
                "spec": {"policyTypes": ["Egress"], "egress": rules}})
        };
        let kubernetes: Vec<NetworkPolicy> =
            objects(["shop", "shop", "db"].into_iter().enumerate().map(policy).collect());
        let namespaces: Vec<Namespace> = objects(json!([{"metadata": {"name": "db", "labels": {"team": "b"}}}]));
        let given = Objects { kubernetes: &kubernetes, namespaces: &namespaces, ..Objects::default() };
        let policies = Policies::new(given);
        let index = RulesByPeer::new(&policies, Direction::Egress);
        // The second policy of a namespace adds none, and three rules are the same in every namespace.
        assert_eq!(index.rules.len(), 2 * peers.len() - 3);
        let pods: Vec<Pod> = objects(json!([
            {"metadata": {"name": "a", "namespace": "shop", "labels": {"app": "web", "tier": "a"}}},
            {"metadata": {"name": "b", "namespace": "db", "labels": {"app": "db"}},
                "status": {"podIP": "10.0.0.7"}},
            {"metadata": {"name": "c", "namespace": "elsewhere", "labels": {"tier": "a"}}},
            {"metadata": {"name": "d", "namespace": "shop"}, "spec": {"hostNetwork": true}},
        ]));
        for pod in &pods {
            let about: HashMap<usize, Match> =
                index.about(pod).into_iter().map(|(place, _, fits)| (place, fits)).collect();
            for held in policies.all(Direction::Egress) {
                for rule in &held.rules {
                    let means = policies.means(held, rule, Direction::Egress, pod, Peer::Pod(pod));
                    let place = index.place(held, rule).unwrap();
                    let found = about.get(&place).copied().unwrap_or(Match::No);
                    assert_eq!(found, means, "{} {}", pod.metadata.name, rule.field);
                }
            }
        }
    }
}
