//! Policies of cluster administrators (`policy.networking.k8s.io`) in the neutral form, and their evaluation:
//! https://network-policy-api.sigs.k8s.io/. Policies of the admin tier come first, in the order of their
//! priority; the first matching rule decides. Then NetworkPolicies decide for the pods that they select, and
//! then the baseline tier.

use std::net::IpAddr;

use super::added::decides;
use super::form::{
    Action, AppliedPolicy, Match, Peers, Place, Policy, Ports, Rule, Subject, Which, in_network, selects,
};
use super::{DecidedBy, Direction, Doubt, Known, Peer, Verdict};
use crate::networks::Network;
use crate::objects::{
    AdminPeer, AdminPods, AdminPolicy, AdminPort, AdminProtocol, AdminRule, Kind, NamespacedPods, Pod, TargetPort,
};

/// The tier that comes before NetworkPolicies, and the one that comes after them.
pub(super) const ADMIN: &str = "Admin";
pub(super) const BASELINE: &str = "Baseline";

const LATER: &str = "a field of a later version of the API";
const NODES: &str = "nodes that it selects by their labels";
const DOMAINS: &str = "domain names";
const ADDRESS: &str = "its address";
const SAME: &str = "another policy of the same priority";
const OF_PLUGIN: &str = "the order of these policies and those of the network plugin";
/// The blocks that contain every address.
const EVERYWHERE: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// The rules of a policy in a direction; `None` if it has none.
pub(super) fn read(kind: Kind, policy: &AdminPolicy, direction: Direction) -> Option<AppliedPolicy<'_>> {
    let spec = &policy.spec;
    let rules = match direction {
        Direction::Ingress => &spec.ingress,
        Direction::Egress => &spec.egress,
    };
    if rules.is_empty() {
        return None;
    }
    let tier = match kind {
        Kind::AdminNetworkPolicy => ADMIN,
        Kind::BaselineAdminNetworkPolicy => BASELINE,
        _ if spec.tier == BASELINE => BASELINE,
        _ => ADMIN,
    };
    let is_known = kind != Kind::ClusterNetworkPolicy || matches!(spec.tier.as_str(), ADMIN | BASELINE);
    let field = format!("spec.{}", direction.field());
    let rules = rules.iter().enumerate();
    let rules = rules.map(|(index, rule)| read_rule(rule, format!("{field}[{index}]")));
    Some(AppliedPolicy {
        policy: Policy::Admin(kind, policy),
        subject: Subject::Admin(&spec.subject),
        shuts: false,
        rules: rules.collect(),
        place: Place {
            tier: is_known.then_some(0.0),
            tier_name: tier.to_owned(),
            passes_on: true,
            order: f64::from(spec.priority),
            name: policy.metadata.name.clone(),
        },
        field,
    })
}

fn read_rule(rule: &AdminRule, field: String) -> Rule<'_> {
    let (action, is_known) = match rule.action.as_str() {
        "Allow" | "Accept" => (Action::Allow, true),
        "Pass" => (Action::Pass, true),
        "Deny" => (Action::Deny, true),
        _ => (Action::Deny, false),
    };
    let read: Option<Vec<Ports>> = rule.ports.iter().map(ports).chain(rule.protocols.iter().map(protocol)).collect();
    let doubt = (!is_known || read.is_none()).then_some(LATER);
    Rule { field, action, ports: read.unwrap_or_default(), peers: Peers::Admin(rule), doubt }
}

fn ports(port: &AdminPort) -> Option<Ports> {
    let or_tcp = |protocol: &str| if protocol.is_empty() { "TCP".to_owned() } else { protocol.to_owned() };
    if let Some(one) = &port.port_number {
        return Some(Ports { protocol: Some(or_tcp(&one.protocol)), which: Which::Range(one.port, one.port) });
    }
    if let Some(range) = &port.port_range {
        let which = Which::Range(range.start, range.end);
        return Some(Ports { protocol: Some(or_tcp(&range.protocol)), which });
    }
    let name = TargetPort::Name(port.named_port.clone()?);
    Some(Ports::new(None, Some(&name), None))
}

fn protocol(named: &AdminProtocol) -> Option<Ports> {
    let each = [("TCP", &named.tcp), ("UDP", &named.udp), ("SCTP", &named.sctp)];
    if let Some((protocol, transport)) = each.into_iter().find_map(|(name, one)| Some((name, one.as_ref()?))) {
        let which = match &transport.destination_port {
            None => Which::All,
            Some(port) => match &port.range {
                Some(range) => Which::Range(range.start, range.end),
                None => Which::Range(port.number, port.number),
            },
        };
        return Some(Ports { protocol: Some(protocol.to_owned()), which });
    }
    let name = Some(&named.destination_named_port).filter(|name| !name.is_empty())?;
    Some(Ports::new(None, Some(&TargetPort::Name(name.clone())), None))
}

/// Whether a policy selects a pod.
pub(super) fn holds_for(subject: &AdminPods, pod: &Pod, known: &Known<'_>) -> Match {
    match (&subject.namespaces, &subject.pods) {
        (Some(selector), _) => is_in(selector, pod, known),
        (None, Some(pods)) => are_pods(pods, pod, known),
        (None, None) => Match::Perhaps(LATER),
    }
}

fn is_in(selector: &crate::objects::LabelSelector, pod: &Pod, known: &Known<'_>) -> Match {
    selects(selector, |key| known.of_namespace(&pod.metadata.namespace, key))
}

fn are_pods(pods: &NamespacedPods, pod: &Pod, known: &Known<'_>) -> Match {
    Match::from(pods.pod_selector.matches(&pod.metadata.labels)).and(|| is_in(&pods.namespace_selector, pod, known))
}

/// Whether a rule matches a peer.
pub(super) fn is_about(rule: &AdminRule, peer: Peer<'_>, known: &Known<'_>) -> Match {
    match peer {
        Peer::Anyone => Match::Perhaps(super::WHOM),
        _ => Match::any(rule.peers.iter().map(|named| is_peer(named, peer, known))),
    }
}

fn is_peer(named: &AdminPeer, peer: Peer<'_>, known: &Known<'_>) -> Match {
    let pod = in_network(peer);
    if let Some(selector) = &named.namespaces {
        return pod.map_or(Match::No, |pod| is_in(selector, pod, known));
    }
    if let Some(pods) = &named.pods {
        return pod.map_or(Match::No, |pod| are_pods(pods, pod, known));
    }
    if named.nodes.is_some() {
        return if pod.is_some() { Match::No } else { Match::Perhaps(NODES) };
    }
    if !named.networks.is_empty() {
        return within(&named.networks, peer);
    }
    match named.domain_names {
        true if pod.is_some() => Match::No,
        true => Match::Perhaps(DOMAINS),
        false => Match::Perhaps(LATER),
    }
}

fn within(networks: &[String], peer: Peer<'_>) -> Match {
    let holds = |address: IpAddr| {
        networks.iter().any(|one| one.parse::<Network>().is_ok_and(|network| network.contains(address)))
    };
    let address = match peer {
        Peer::Pod(pod) => pod.status.pod_ip,
        Peer::Address(address) => Some(address),
        Peer::Host | Peer::Anyone => None,
    };
    match address {
        Some(address) => holds(address).into(),
        None if EVERYWHERE.iter().all(|all| networks.iter().any(|one| one == all)) => Match::Yes,
        None => Match::Perhaps(ADDRESS),
    }
}

/// The decision of one tier.
struct Decision<'a> {
    /// The first rule that surely matches.
    by: Option<(Action, DecidedBy<'a>)>,
    /// Rules before it that may match.
    perhaps: Vec<(Action, Doubt<'a>)>,
}

/// Evaluates the policies of both tiers around those between them. `between` evaluates these; `fits` decides
/// whether a rule matches the connection.
pub(super) fn passage<'a>(
    direction: Direction,
    holding: &[(&AppliedPolicy<'a>, Match)],
    fits: impl Fn(&AppliedPolicy<'a>, &Rule<'a>) -> Match,
    between: impl FnOnce() -> Verdict<'a>,
) -> Verdict<'a> {
    let of_plugin = holding.iter().any(|(held, _)| matches!(held.policy, Policy::Cilium(_) | Policy::Calico(_)));
    let tier = |name: &str| decision(direction, holding, name, &fits);
    let admin = tier(ADMIN);
    let baseline = || {
        let Decision { by, perhaps } = tier(BASELINE);
        let by = by.filter(|(action, _)| *action != Action::Pass);
        decided(by, perhaps, || Verdict::Open)
    };
    let is_about = admin.by.is_some() || !admin.perhaps.is_empty();
    let rest = || match between() {
        Verdict::Open => baseline(),
        other => other,
    };
    let by = admin.by.filter(|(action, _)| *action != Action::Pass);
    if of_plugin && is_about {
        return undecided(by, admin.perhaps, rest);
    }
    decided(by, admin.perhaps, rest)
}

/// Rules of a network plugin may come before or after: the result is only known if both agree.
fn undecided<'a>(
    by: Option<(Action, DecidedBy<'a>)>,
    mut perhaps: Vec<(Action, Doubt<'a>)>,
    rest: impl FnOnce() -> Verdict<'a>,
) -> Verdict<'a> {
    perhaps.extend(by.map(|(action, decides)| {
        let doubt = Doubt { policy: decides.policy, field: decides.field, why: OF_PLUGIN };
        (action, doubt)
    }));
    decided(None, perhaps, rest)
}

/// The result of a decision, or of the rest without one; unknown if an earlier rule may change it.
fn decided<'a>(
    by: Option<(Action, DecidedBy<'a>)>,
    perhaps: Vec<(Action, Doubt<'a>)>,
    rest: impl FnOnce() -> Verdict<'a>,
) -> Verdict<'a> {
    let (passage, same, passes_on) = match by {
        Some((Action::Deny, decides)) => (Verdict::Shut(vec![decides]), Action::Deny, false),
        Some((_, decides)) => (Verdict::Through(decides), Action::Allow, false),
        None => {
            let passage = rest();
            let same = if matches!(passage, Verdict::Shut(_)) { Action::Deny } else { Action::Allow };
            (passage, same, true)
        }
    };
    // A rule that passes the connection on changes nothing if the rest decides anyway.
    let changes = |action: Action| action != same && !(passes_on && action == Action::Pass);
    let mut doubts: Vec<Doubt<'a>> =
        perhaps.into_iter().filter(|(action, _)| changes(*action)).map(|(_, doubt)| doubt).collect();
    match passage {
        Verdict::Unknown(others) => {
            doubts.extend(others);
            Verdict::Unknown(doubts)
        }
        passage if doubts.is_empty() => passage,
        _ => Verdict::Unknown(doubts),
    }
}

/// The first matching rule of a tier. Of several policies with one priority, any may decide.
fn decision<'a>(
    direction: Direction,
    holding: &[(&AppliedPolicy<'a>, Match)],
    tier: &str,
    fits: impl Fn(&AppliedPolicy<'a>, &Rule<'a>) -> Match,
) -> Decision<'a> {
    let is_here = |held: &AppliedPolicy<'a>| matches!(held.policy, Policy::Admin(..)) && held.place.tier_name == tier;
    let mut own: Vec<(&AppliedPolicy<'a>, Match)> = holding.iter().filter(|(held, _)| is_here(held)).copied().collect();
    own.sort_by(|(a, _), (b, _)| a.place.compare(&b.place));
    let mut perhaps = Vec::new();
    for level in own.chunk_by(|(a, _), (b, _)| a.place.order.total_cmp(&b.place.order).is_eq()) {
        let mut decided: Vec<(Action, DecidedBy<'a>)> = Vec::new();
        for &(held, holds) in level {
            let holds = if held.place.tier.is_none() { holds.and(|| Match::Perhaps(LATER)) } else { holds };
            for rule in &held.rules {
                match holds.and(|| fits(held, rule)) {
                    Match::No => {}
                    Match::Perhaps(why) => perhaps.push((rule.action, held.doubt(&rule.field, why))),
                    Match::Yes => {
                        let denies = rule.action == Action::Deny;
                        decided.push((rule.action, decides(held, direction, &rule.field, denies)));
                        break;
                    }
                }
            }
        }
        let Some((action, _)) = decided.first() else { continue };
        let action = *action;
        let others = decided.iter().skip(1).filter(|(other, _)| *other != action);
        perhaps.extend(
            others.map(|(other, by)| (*other, Doubt { policy: by.policy, field: by.field.clone(), why: SAME })),
        );
        return Decision { by: decided.into_iter().next(), perhaps };
    }
    Decision { by: None, perhaps }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Objects, Policies, Port};
    use super::*;
    use crate::objects::{Namespace, NetworkPolicy};

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).expect("an object")
    }

    fn pod(namespace: &str, app: &str) -> Pod {
        read(json!({"metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
            "spec": {"containers": [{"name": "a", "ports": [{"name": "http", "containerPort": 8080}]}]},
            "status": {"podIP": "10.0.0.9"}}))
    }

    /// The parts of a cluster.
    #[derive(Default)]
    struct ClusterParts {
        admin: Vec<Value>,
        baseline: Vec<Value>,
        cluster: Vec<Value>,
        kubernetes: Vec<Value>,
    }

    /// The result for a connection from `peer` to port 8080 of pod shop/web, in one word, with the deciding field.
    fn verdict(given: ClusterParts, peer: Peer<'_>) -> String {
        let list = |all: Vec<Value>| -> Vec<AdminPolicy> {
            let named =
                |(at, spec): (usize, Value)| read(json!({"metadata": {"name": format!("p{at}")}, "spec": spec}));
            all.into_iter().enumerate().map(named).collect()
        };
        let (admin, baseline, cluster) = (list(given.admin), list(given.baseline), list(given.cluster));
        let policy = |spec: Value| read(json!({"metadata": {"name": "np", "namespace": "shop"}, "spec": spec}));
        let kubernetes: Vec<NetworkPolicy> = given.kubernetes.into_iter().map(policy).collect();
        let namespaces: Vec<Namespace> = ["shop", "front", "other"]
            .map(|name| read(json!({"metadata": {"name": name, "labels": {"team": name}}})))
            .into();
        let objects = Objects {
            admin: &admin,
            baseline: &baseline,
            cluster_network: &cluster,
            kubernetes: &kubernetes,
            namespaces: &namespaces,
            ..Objects::default()
        };
        let web = pod("shop", "web");
        let port = Port { protocol: "TCP", number: 8080, of: Some(&web) };
        let policies = Policies::new(objects);
        match policies.passage(Direction::Ingress, &web, port, peer) {
            Verdict::Open => "open".to_owned(),
            Verdict::Through(by) => format!("through {:?} {}", by.policy.kind(), by.field),
            Verdict::Shut(by) => format!("shut {:?} {}", by[0].policy.kind(), by[0].field),
            Verdict::Unknown(doubts) => format!("unknown {}", doubts[0].why),
        }
    }

    fn rule(action: &str, from: Value) -> Value {
        json!({"action": action, "from": [from]})
    }

    fn of_team(team: &str) -> Value {
        json!({"namespaces": {"matchLabels": {"team": team}}})
    }

    fn policy(priority: i32, rules: Vec<Value>) -> Value {
        json!({"priority": priority, "subject": of_team("shop"), "ingress": rules})
    }

    fn shutting() -> Vec<Value> {
        vec![json!({"podSelector": {}, "policyTypes": ["Ingress"]})]
    }

    #[test]
    fn lowest_priority_and_first_rule_decide() {
        let front = pod("front", "web");
        let deny = policy(20, vec![rule("Deny", json!({"namespaces": {}}))]);
        let allow = policy(10, vec![rule("Allow", of_team("front")), rule("Deny", json!({"namespaces": {}}))]);
        let both = || ClusterParts {
            admin: vec![deny.clone(), allow.clone()],
            kubernetes: shutting(),
            ..ClusterParts::default()
        };
        assert_eq!(verdict(both(), Peer::Pod(&front)), "through AdminNetworkPolicy spec.ingress[0]");
        let other = pod("other", "web");
        assert_eq!(verdict(both(), Peer::Pod(&other)), "shut AdminNetworkPolicy spec.ingress[1]");
        let only = ClusterParts { admin: vec![deny], ..ClusterParts::default() };
        assert_eq!(verdict(only, Peer::Pod(&front)), "shut AdminNetworkPolicy spec.ingress[0]");
    }

    #[test]
    fn pass_leaves_the_decision_to_network_policies_and_then_to_the_baseline() {
        let front = pod("front", "web");
        let admin = vec![
            policy(1, vec![rule("Pass", of_team("front"))]),
            policy(2, vec![rule("Deny", json!({"namespaces": {}}))]),
        ];
        let baseline = || vec![policy(0, vec![rule("Deny", json!({"namespaces": {}}))])];
        let given = |kubernetes, baseline| ClusterParts {
            admin: admin.clone(),
            kubernetes,
            baseline,
            ..ClusterParts::default()
        };
        assert_eq!(verdict(given(vec![], vec![]), Peer::Pod(&front)), "open");
        assert_eq!(verdict(given(shutting(), vec![]), Peer::Pod(&front)), "shut NetworkPolicy spec.ingress");
        let of_baseline = "shut BaselineAdminNetworkPolicy spec.ingress[0]";
        assert_eq!(verdict(given(vec![], baseline()), Peer::Pod(&front)), of_baseline);
        // A NetworkPolicy that selects the pod is final.
        let open = vec![json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{}]})];
        assert_eq!(verdict(given(open, baseline()), Peer::Pod(&front)), "through NetworkPolicy spec.ingress[0]");
    }

    #[test]
    fn ports_and_subjects_restrict_a_rule() {
        let front = pod("front", "web");
        let with = |ports: Value| {
            let rule = json!({"action": "Deny", "from": [{"namespaces": {}}], "ports": ports});
            verdict(ClusterParts { admin: vec![policy(1, vec![rule])], ..ClusterParts::default() }, Peer::Pod(&front))
        };
        let shut = "shut AdminNetworkPolicy spec.ingress[0]";
        assert_eq!(with(json!([{"portNumber": {"protocol": "TCP", "port": 8080}}])), shut);
        assert_eq!(with(json!([{"portNumber": {"protocol": "UDP", "port": 8080}}])), "open");
        assert_eq!(with(json!([{"portRange": {"protocol": "TCP", "start": 8000, "end": 9000}}])), shut);
        assert_eq!(with(json!([{"portRange": {"protocol": "TCP", "start": 1, "end": 80}}])), "open");
        assert_eq!(with(json!([{"namedPort": "http"}])), shut);
        assert_eq!(with(json!([{"namedPort": "admin"}])), "open");
        assert_eq!(with(json!([{}])), format!("unknown {LATER}"));
        let of_pods = |app: &str| {
            let pods = json!({"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": app}}});
            let spec =
                json!({"priority": 1, "subject": {"pods": pods}, "ingress": [rule("Deny", json!({"namespaces": {}}))]});
            verdict(ClusterParts { admin: vec![spec], ..ClusterParts::default() }, Peer::Pod(&front))
        };
        assert_eq!((of_pods("web").as_str(), of_pods("db").as_str()), (shut, "open"));
    }

    #[test]
    fn cluster_network_policies_have_tiers_and_protocols() {
        let front = pod("front", "web");
        let spec = |tier: &str, action: &str, protocols: Value| {
            let rule = json!({"action": action, "from": [{"namespaces": {}}], "protocols": protocols});
            json!({"tier": tier, "priority": 1, "subject": of_team("shop"), "ingress": [rule]})
        };
        let ask = |cluster: Vec<Value>, kubernetes| {
            verdict(ClusterParts { cluster, kubernetes, ..ClusterParts::default() }, Peer::Pod(&front))
        };
        let tcp = json!([{"tcp": {"destinationPort": {"number": 8080}}}]);
        let (through, shut) =
            ("through ClusterNetworkPolicy spec.ingress[0]", "shut ClusterNetworkPolicy spec.ingress[0]");
        assert_eq!(ask(vec![spec("Admin", "Accept", tcp.clone())], shutting()), through);
        let closed = "shut NetworkPolicy spec.ingress";
        assert_eq!(ask(vec![spec("Baseline", "Accept", tcp.clone())], shutting()), closed);
        assert_eq!(ask(vec![spec("Baseline", "Deny", tcp)], vec![]), shut);
        let range = json!([{"tcp": {"destinationPort": {"range": {"start": 1, "end": 80}}}}]);
        assert_eq!(ask(vec![spec("Admin", "Deny", range)], vec![]), "open");
        let udp = json!([{"udp": {}}]);
        assert_eq!(ask(vec![spec("Admin", "Deny", udp)], vec![]), "open");
        assert_eq!(ask(vec![spec("Admin", "Deny", json!([{"destinationNamedPort": "http"}]))], vec![]), shut);
        assert_eq!(ask(vec![spec("Later", "Deny", json!([]))], vec![]), format!("unknown {LATER}"));
    }

    #[test]
    fn equal_priorities_unknown_peers_and_fields_are_unknown() {
        let front = pod("front", "web");
        let deny = policy(1, vec![rule("Deny", json!({"namespaces": {}}))]);
        let allow = policy(1, vec![rule("Allow", json!({"namespaces": {}}))]);
        let given = |admin: Vec<Value>| ClusterParts { admin, ..ClusterParts::default() };
        assert_eq!(verdict(given(vec![deny.clone(), allow]), Peer::Pod(&front)), format!("unknown {SAME}"));
        let same = "shut AdminNetworkPolicy spec.ingress[0]";
        assert_eq!(verdict(given(vec![deny.clone(), deny.clone()]), Peer::Pod(&front)), same);
        let later = policy(1, vec![rule("Deny", json!({"somethingNew": {}}))]);
        assert_eq!(verdict(given(vec![later]), Peer::Pod(&front)), format!("unknown {LATER}"));
        assert_eq!(verdict(given(vec![deny.clone()]), Peer::Anyone), format!("unknown {}", super::super::WHOM));
        // Addresses of pods are not outside the cluster.
        assert_eq!(verdict(given(vec![deny]), Peer::Address("203.0.113.9".parse().unwrap())), "open");
    }

    #[test]
    fn networks_contain_pods_and_nodes_are_unknown() {
        let peer = |named: Value, to: Peer<'_>| {
            let rule = json!({"action": "Deny", "to": [named]});
            let spec = json!({"priority": 1, "subject": {"namespaces": {}}, "egress": [rule]});
            let admin: Vec<AdminPolicy> = vec![read(json!({"metadata": {"name": "p"}, "spec": spec}))];
            let policies = Policies::new(Objects { admin: &admin, ..Objects::default() });
            let web = pod("shop", "web");
            let port = Port { protocol: "TCP", number: 443, of: None };
            match policies.passage(Direction::Egress, &web, port, to) {
                Verdict::Shut(_) => "shut".to_owned(),
                Verdict::Open => "open".to_owned(),
                Verdict::Unknown(doubts) => doubts[0].why.to_owned(),
                Verdict::Through(_) => "through".to_owned(),
            }
        };
        let other = pod("other", "db");
        let outside = Peer::Address("203.0.113.9".parse().unwrap());
        assert_eq!(peer(json!({"networks": ["10.0.0.0/8"]}), Peer::Pod(&other)), "shut");
        assert_eq!(peer(json!({"networks": ["10.0.0.0/8"]}), outside), "open");
        assert_eq!(peer(json!({"networks": ["0.0.0.0/0", "::/0"]}), Peer::Host), "shut");
        assert_eq!(peer(json!({"networks": ["10.0.0.0/8"]}), Peer::Host), ADDRESS);
        assert_eq!(peer(json!({"nodes": {}}), Peer::Host), NODES);
        assert_eq!(peer(json!({"nodes": {}}), Peer::Pod(&other)), "open");
        assert_eq!(peer(json!({"domainNames": ["example.org"]}), outside), DOMAINS);
    }
}
