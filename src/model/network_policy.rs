//! Whether a cluster's NetworkPolicies let a connection through, by the rules of Kubernetes: a pod that no policy of a direction
//! selects is open in that direction, one that some select is open for what any of them lets through. Policies of network
//! plugins are not looked at, nor whether the network enforces any. Pure; what it means for a mesh is for checks to say.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::networks::Network;
use crate::objects::{
    NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicyRule, Pod, TargetPort,
};

/// Which way a connection goes, seen from the pod that a policy holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the pod.
    Ingress,
    /// From the pod.
    Egress,
}

impl Direction {
    /// The rules of a policy for it.
    pub fn rules(self, policy: &NetworkPolicy) -> &[NetworkPolicyRule] {
        match self {
            Direction::Ingress => &policy.spec.ingress,
            Direction::Egress => &policy.spec.egress,
        }
    }

    /// As policies write it: the field of the rules.
    pub fn field(self) -> &'static str {
        match self {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
        }
    }

    fn concerns(self, policy: &NetworkPolicy) -> bool {
        match self {
            Direction::Ingress => policy.spec.is_about_ingress(),
            Direction::Egress => policy.spec.is_about_egress(),
        }
    }
}

/// The end of a connection that is not the pod.
#[derive(Debug, Clone, Copy)]
pub enum Peer<'a> {
    /// A pod, with the labels of its namespace where they are known.
    Pod(&'a Pod, Option<&'a BTreeMap<String, String>>),
    /// Something with an address, and no pod of the pod network.
    Address(IpAddr),
    /// A host whose address is not known, such as an API server: no selector takes it, and any block may hold it.
    Host,
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

/// What the policies say of a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Passage<'a> {
    /// No policy of the direction selects the pod.
    Open,
    /// This one lets it through, perhaps beside others.
    Through(&'a NetworkPolicy),
    /// These select the pod, and none lets it through.
    Shut(Vec<&'a NetworkPolicy>),
    /// No policy surely lets it through, and whether one does depends on labels of a namespace that are not known.
    Unknown,
}

/// NetworkPolicies by namespace.
#[derive(Debug, Clone, Default)]
pub struct Policies<'a>(HashMap<&'a str, Vec<&'a NetworkPolicy>>);

impl<'a> Policies<'a> {
    /// Of these.
    pub fn of(policies: &'a [NetworkPolicy]) -> Policies<'a> {
        let mut by_namespace: HashMap<&str, Vec<&NetworkPolicy>> = HashMap::new();
        for policy in policies {
            by_namespace.entry(policy.metadata.namespace.as_str()).or_default().push(policy);
        }
        for list in by_namespace.values_mut() {
            list.sort_by_key(|policy| policy.metadata.name.as_str());
        }
        Policies(by_namespace)
    }

    /// Those that select a pod in a direction, by name. Pods in the network of their node are held by none.
    pub fn holding(&self, direction: Direction, pod: &Pod) -> Vec<&'a NetworkPolicy> {
        let here = self.0.get(pod.metadata.namespace.as_str()).filter(|_| !pod.spec.host_network);
        let selects = |policy: &&NetworkPolicy| {
            direction.concerns(policy) && policy.spec.pod_selector.matches(&pod.metadata.labels)
        };
        here.into_iter().flatten().copied().filter(selects).collect()
    }

    /// Whether they let a connection through on the side of one pod.
    pub fn passage(&self, direction: Direction, pod: &Pod, port: Port<'_>, peer: Peer<'_>) -> Passage<'a> {
        let holding = self.holding(direction, pod);
        if holding.is_empty() {
            return Passage::Open;
        }
        let mut unknown = false;
        for policy in &holding {
            for rule in direction.rules(policy).iter().filter(|rule| covers_port(rule, port)) {
                match covers_peer(rule, &policy.metadata.namespace, peer) {
                    Some(true) => return Passage::Through(policy),
                    Some(false) => {}
                    None => unknown = true,
                }
            }
        }
        if unknown { Passage::Unknown } else { Passage::Shut(holding) }
    }
}

/// Whether a rule is about a port.
pub fn covers_port(rule: &NetworkPolicyRule, port: Port<'_>) -> bool {
    rule.ports.is_empty() || rule.ports.iter().any(|named| is_port(named, port))
}

fn is_port(named: &NetworkPolicyPort, port: Port<'_>) -> bool {
    let protocol = if named.protocol.is_empty() { "TCP" } else { named.protocol.as_str() };
    protocol == port.protocol
        && match &named.port {
            None => true,
            Some(TargetPort::Number(first)) => {
                (*first..=named.end_port.unwrap_or(*first)).contains(&port.number)
            }
            Some(TargetPort::Name(name)) => port.of.is_some_and(|pod| {
                let known = pod.spec.all_containers().flat_map(|container| &container.ports);
                known.into_iter().any(|known| known.name == *name && known.container_port == port.number)
            }),
        }
}

/// Whether a rule of a policy in `namespace` is about a peer; `None` where that is not known.
pub fn covers_peer(rule: &NetworkPolicyRule, namespace: &str, peer: Peer<'_>) -> Option<bool> {
    if rule.peers.is_empty() {
        return Some(true);
    }
    // One that surely holds is enough; one that may hold leaves it open.
    let mut unknown = false;
    for named in &rule.peers {
        match is_peer(named, namespace, peer) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(false)
}

fn is_peer(named: &NetworkPolicyPeer, namespace: &str, peer: Peer<'_>) -> Option<bool> {
    if let Some(block) = &named.ip_block {
        let holds = |address: IpAddr| {
            let within =
                |cidr: &String| cidr.parse::<Network>().is_ok_and(|network| network.contains(address));
            within(&block.cidr) && !block.except.iter().any(within)
        };
        return Some(match peer {
            Peer::Host => true,
            Peer::Address(address) => holds(address),
            // Most networks leave pods out of blocks, some do not: who wrote their range meant them.
            Peer::Pod(pod, _) => pod.status.pod_ip.is_some_and(holds),
        });
    }
    let Peer::Pod(pod, labels) = peer else { return Some(false) };
    // What shares the address of its node is no pod to a network.
    if pod.spec.host_network {
        return Some(false);
    }
    if !named.pod_selector.as_ref().is_none_or(|selector| selector.matches(&pod.metadata.labels)) {
        return Some(false);
    }
    match &named.namespace_selector {
        None => Some(pod.metadata.namespace == namespace && named.pod_selector.is_some()),
        Some(selector) if selector.match_labels.is_empty() && selector.match_expressions.is_empty() => {
            Some(true)
        }
        Some(selector) => labels.map(|labels| selector.matches(labels)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of<T: serde::de::DeserializeOwned>(json: Value) -> T {
        serde_json::from_value(json).expect("an object")
    }

    fn policy(spec: Value) -> NetworkPolicy {
        of(json!({"metadata": {"name": "p", "namespace": "shop"}, "spec": spec}))
    }

    fn pod(namespace: &str, app: &str, ip: &str) -> Pod {
        of(json!({
            "metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
            "spec": {"containers": [{"name": "c", "ports": [{"name": "pg", "containerPort": 5432}]}]},
            "status": {"podIP": ip},
        }))
    }

    /// `T`hrough, `O`pen, `S`hut, `U`nknown.
    fn letter(passage: &Passage<'_>) -> char {
        match passage {
            Passage::Open => 'O',
            Passage::Through(_) => 'T',
            Passage::Shut(_) => 'S',
            Passage::Unknown => 'U',
        }
    }

    #[test]
    fn a_pod_is_open_until_a_policy_of_the_direction_selects_it() {
        let db = pod("shop", "db", "10.244.0.9");
        let port = Port { protocol: "TCP", number: 5432, of: Some(&db) };
        for (spec, ingress, egress) in [
            (json!({"podSelector": {}}), 'S', 'O'),
            (json!({"podSelector": {}, "policyTypes": ["Egress"]}), 'O', 'S'),
            (json!({"podSelector": {}, "egress": [{}]}), 'S', 'T'),
            (json!({"podSelector": {"matchLabels": {"app": "web"}}}), 'O', 'O'),
            (json!({"podSelector": {}, "ingress": [{}]}), 'T', 'O'),
            (json!({"podSelector": {}, "ingress": [{"ports": [{"port": "pg"}]}]}), 'T', 'O'),
            (json!({"podSelector": {}, "ingress": [{"ports": [{"port": 5000, "endPort": 6000}]}]}), 'T', 'O'),
            (
                json!({"podSelector": {}, "ingress": [{"ports": [{"port": 5432, "protocol": "UDP"}]}]}),
                'S',
                'O',
            ),
            (json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}), 'S', 'O'),
        ] {
            let policies = [policy(spec.clone())];
            let policies = Policies::of(&policies);
            for (direction, expected) in [(Direction::Ingress, ingress), (Direction::Egress, egress)] {
                let passage = policies.passage(direction, &db, port, Peer::Host);
                assert_eq!(letter(&passage), expected, "{spec} {direction:?}");
            }
        }
    }

    #[test]
    fn peers_are_pods_namespaces_and_blocks() {
        let db = pod("shop", "db", "10.244.0.9");
        let port = Port { protocol: "TCP", number: 5432, of: Some(&db) };
        let near = pod("shop", "web", "10.244.0.7");
        let far = pod("tools", "web", "10.244.1.7");
        let team = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
        let outside = "192.0.2.7".parse().expect("an address");
        let peers = [
            Peer::Pod(&near, Some(&team)),
            Peer::Pod(&far, Some(&team)),
            Peer::Pod(&far, None),
            Peer::Address(outside),
            Peer::Host,
        ];
        for (from, expected) in [
            (json!([]), "TTTTT"),
            (json!([{"podSelector": {}}]), "TSSSS"),
            (json!([{"podSelector": {"matchLabels": {"app": "api"}}}]), "SSSSS"),
            (json!([{"namespaceSelector": {}}]), "TTTSS"),
            (json!([{"namespaceSelector": {"matchLabels": {"team": "a"}}}]), "TTUSS"),
            (json!([{"namespaceSelector": {"matchLabels": {"team": "b"}}}]), "SSUSS"),
            (json!([{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "api"}}}]), "SSSSS"),
            (json!([{"ipBlock": {"cidr": "0.0.0.0/0"}}]), "TTTTT"),
            (json!([{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]), "SSSTT"),
            (json!([{"ipBlock": {"cidr": "10.244.0.0/24"}}, {"podSelector": {}}]), "TSSST"),
        ] {
            let policies = [policy(json!({"podSelector": {}, "ingress": [{"from": from}]}))];
            let policies = Policies::of(&policies);
            let said: String = peers
                .iter()
                .map(|peer| letter(&policies.passage(Direction::Ingress, &db, port, *peer)))
                .collect();
            assert_eq!(said, expected, "{from}");
        }
    }

    #[test]
    fn rules_of_two_policies_are_added_up_and_hosts_are_held_by_none() {
        let policies = [
            policy(json!({"podSelector": {}})),
            policy(json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]})),
        ];
        let policies = Policies::of(&policies);
        let mut web = pod("shop", "web", "10.244.0.7");
        let port = |number| Port { protocol: "TCP", number, of: None };
        let said =
            |pod: &Pod, number| letter(&policies.passage(Direction::Ingress, pod, port(number), Peer::Host));
        assert_eq!((said(&web, 80), said(&web, 81)), ('T', 'S'));
        web.spec.host_network = true;
        assert_eq!(said(&web, 81), 'O');
    }
}
