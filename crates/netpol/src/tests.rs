//! Evaluation of policies of each kind, by the rules of their documentation.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn object<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("an object")
}

fn pod(namespace: &str, app: &str, ip: &str) -> Pod {
    object(json!({
        "metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
        "spec": {"serviceAccountName": app, "containers": [{"name": "c", "ports": [{"name": "pg", "containerPort": 5432}]}]},
        "status": {"podIP": ip},
    }))
}

/// `T`hrough, `O`pen, `S`hut, `U`nknown.
fn letter(passage: &Verdict<'_>) -> char {
    match passage {
        Verdict::Open => 'O',
        Verdict::Through(_) => 'T',
        Verdict::Shut(_) => 'S',
        Verdict::Unknown(_) => 'U',
    }
}

/// Policies of every kind, separated by group.
#[derive(Default)]
struct World {
    kubernetes: Vec<NetworkPolicy>,
    cilium: Vec<CiliumPolicy>,
    calico: Vec<CalicoPolicy>,
    tiers: Vec<CalicoTier>,
    namespaces: Vec<Namespace>,
}

impl World {
    fn new() -> World {
        let namespaces = [("shop", "a"), ("tools", "a"), ("db", "b")];
        let namespaces =
            namespaces.map(|(name, team)| object(json!({"metadata": {"name": name, "labels": {"team": team}}})));
        World { namespaces: namespaces.into(), ..World::default() }
    }

    fn kubernetes(mut self, spec: Value) -> World {
        self.kubernetes.push(object(json!({"metadata": {"name": "p", "namespace": "shop"}, "spec": spec})));
        self
    }

    fn cilium(mut self, namespace: &str, spec: Value) -> World {
        self.cilium.push(object(json!({"metadata": {"name": "p", "namespace": namespace}, "spec": spec})));
        self
    }

    fn calico(mut self, namespace: &str, name: &str, spec: Value) -> World {
        self.calico.push(object(json!({"metadata": {"name": name, "namespace": namespace}, "spec": spec})));
        self
    }

    fn tier(mut self, name: &str, order: u32, action: &str) -> World {
        let spec = json!({"order": order, "defaultAction": action});
        self.tiers.push(object(json!({"metadata": {"name": name}, "spec": spec})));
        self
    }

    fn symbol(&self, direction: Direction, pod: &Pod, port: u16, to: &Pod, peer: Peer<'_>) -> char {
        let policies = Policies::new(Objects {
            kubernetes: &self.kubernetes,
            cilium: &self.cilium,
            calico: &self.calico,
            tiers: &self.tiers,
            namespaces: &self.namespaces,
            ..Objects::default()
        });
        let port = Port { protocol: "TCP", number: port, of: Some(to) };
        letter(&policies.passage(direction, pod, port, peer))
    }

    /// Results for ingress to `shop/db` at 5432 from: a pod of its namespace, a pod of `tools`, a pod of an
    /// unknown namespace, a host-network pod, an address, an API server, anyone.
    fn table(&self) -> String {
        let db = pod("shop", "db", "10.244.0.9");
        let (near, far) = (pod("shop", "web", "10.244.0.7"), pod("tools", "web", "10.244.1.7"));
        let nowhere = pod("nowhere", "web", "10.244.2.7");
        let mut host = pod("tools", "web", "192.0.2.1");
        host.spec.edit().host_network = true;
        let peers = [
            Peer::Pod(&near),
            Peer::Pod(&far),
            Peer::Pod(&nowhere),
            Peer::Pod(&host),
            Peer::Address("192.0.2.7".parse().expect("an address")),
            Peer::Host,
            Peer::Anyone,
        ];
        peers.iter().map(|peer| self.symbol(Direction::Ingress, &db, 5432, &db, *peer)).collect()
    }
}

#[test]
fn pod_is_open_until_a_policy_selects_it() {
    let db = pod("shop", "db", "10.244.0.9");
    for (spec, ingress, egress) in [
        (json!({"podSelector": {}}), 'S', 'O'),
        (json!({"podSelector": {}, "policyTypes": ["Egress"]}), 'O', 'S'),
        (json!({"podSelector": {}, "egress": [{}]}), 'S', 'T'),
        (json!({"podSelector": {"matchLabels": {"app": "web"}}}), 'O', 'O'),
        (json!({"podSelector": {}, "ingress": [{}]}), 'T', 'O'),
        (json!({"podSelector": {}, "ingress": [{"ports": [{"port": "pg"}]}]}), 'T', 'O'),
        (json!({"podSelector": {}, "ingress": [{"ports": [{"port": 5000, "endPort": 6000}]}]}), 'T', 'O'),
        (json!({"podSelector": {}, "ingress": [{"ports": [{"port": 5432, "protocol": "UDP"}]}]}), 'S', 'O'),
        (json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}), 'S', 'O'),
    ] {
        let world = World::new().kubernetes(spec.clone());
        for (direction, expected) in [(Direction::Ingress, ingress), (Direction::Egress, egress)] {
            assert_eq!(world.symbol(direction, &db, 5432, &db, Peer::Host), expected, "{spec} {direction:?}");
        }
    }
}

#[test]
fn kubernetes_peers_are_pods_namespaces_and_blocks() {
    for (from, expected) in [
        (json!([]), "TTTTTTT"),
        (json!([{"podSelector": {}}]), "TSSSSSU"),
        (json!([{"podSelector": {"matchLabels": {"app": "api"}}}]), "SSSSSSU"),
        (json!([{"namespaceSelector": {}}]), "TTTSSSU"),
        (json!([{"namespaceSelector": {"matchLabels": {"team": "a"}}}]), "TTUSSSU"),
        (json!([{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "nowhere"}}}]), "SSTSSSU"),
        (json!([{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "api"}}}]), "SSSSSSU"),
        (json!([{"ipBlock": {"cidr": "0.0.0.0/0"}}]), "TTTTTTU"),
        (json!([{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]), "SSSTTTU"),
        (json!([{"ipBlock": {"cidr": "10.244.0.0/24"}}, {"podSelector": {}}]), "TSSSSTU"),
    ] {
        let world = World::new().kubernetes(json!({"podSelector": {}, "ingress": [{"from": from}]}));
        assert_eq!(world.table(), expected, "{from}");
    }
}

#[test]
fn two_policies_are_additive_and_never_block_hosts() {
    let world = World::new()
        .kubernetes(json!({"podSelector": {}}))
        .kubernetes(json!({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}));
    let mut web = pod("shop", "web", "10.244.0.7");
    let said = |pod: &Pod, number| world.symbol(Direction::Ingress, pod, number, pod, Peer::Host);
    assert_eq!((said(&web, 80), said(&web, 81)), ('T', 'S'));
    web.spec.edit().host_network = true;
    assert_eq!(said(&web, 81), 'O');
}

#[test]
fn cilium_peers_are_endpoints_entities_and_blocks() {
    let of_team = json!({"matchLabels": {"k8s:io.cilium.k8s.namespace.labels.team": "a"}});
    for (namespace, side, expected) in [
        // An empty rule isolates and allows nothing.
        ("shop", json!({}), "SSSSSSS"),
        ("shop", json!({"fromEndpoints": []}), "SSSSSSU"),
        ("shop", json!({"fromEndpoints": [{}]}), "TSSSSSU"),
        ("", json!({"fromEndpoints": [{}]}), "TTTSSSU"),
        ("shop", json!({"fromEndpoints": [{"matchLabels": {"app": "web"}}]}), "TSSSSSU"),
        ("shop", json!({"fromEndpoints": [{"matchLabels": {"k8s:app": "api"}}]}), "SSSSSSU"),
        (
            "shop",
            json!({"fromEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "tools", "any:app": "web"}}]}),
            "STSSSSU",
        ),
        (
            "shop",
            json!({"fromEndpoints": [{"matchExpressions": [{"key": "io.kubernetes.pod.namespace", "operator": "Exists"}]}]}),
            "TTTSSSU",
        ),
        ("", json!({"fromEndpoints": [of_team]}), "TTUSSSU"),
        ("shop", json!({"fromEndpoints": [of_team]}), "TUUSSSU"),
        ("shop", json!({"fromEndpoints": [{"matchLabels": {"reserved:host": ""}}]}), "SSSUUUU"),
        ("shop", json!({"fromEntities": ["all"]}), "TTTTTTT"),
        ("shop", json!({"fromEntities": ["cluster"]}), "TTTTUUU"),
        ("shop", json!({"fromEntities": ["world"]}), "SSSSUUU"),
        ("shop", json!({"fromEntities": ["remote-node"]}), "SSSUUUU"),
        ("shop", json!({"fromEntities": ["kube-apiserver"]}), "SSSUUTU"),
        ("shop", json!({"fromCIDR": ["0.0.0.0/0"]}), "SSSUUUU"),
        ("shop", json!({"fromCIDRSet": [{"cidr": "192.0.2.0/24", "except": ["192.0.2.7/32"]}]}), "SSSUSUU"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "5432", "protocol": "TCP"}]}]}), "TTTTTTT"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "pg"}]}]}), "TTTTTTT"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "5000", "endPort": 6000}]}]}), "TTTTTTT"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "0", "protocol": "ANY"}]}]}), "TTTTTTT"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "5432", "protocol": "UDP"}]}]}), "SSSSSSS"),
        ("shop", json!({"toPorts": [{"ports": [{"port": "5432"}], "rules": {"l7proto": "x", "l7": [{}]}}]}), "UUUUUUU"),
        ("shop", json!({"icmps": [{"fields": [{"type": 8}]}]}), "SSSSSSS"),
        ("shop", json!({"fromEntities": ["all"], "authentication": {"mode": "required"}}), "UUUUUUU"),
    ] {
        let world = World::new().cilium(namespace, json!({"endpointSelector": {}, "ingress": [side.clone()]}));
        assert_eq!(world.table(), expected, "{namespace} {side}");
    }
}

#[test]
fn cilium_deny_overrides_kubernetes_and_allows_add_up() {
    let all = json!({"endpointSelector": {}, "ingress": [{"fromEntities": ["all"]}]});
    let web = json!([{"fromEndpoints": [{"matchLabels": {"app": "web"}}]}]);
    let denied =
        World::new().cilium("shop", all.clone()).cilium("shop", json!({"endpointSelector": {}, "ingressDeny": web}));
    assert_eq!(denied.table(), "STTTTTU");
    let denied = World::new()
        .cilium("shop", json!({"endpointSelector": {}, "ingressDeny": [{"toPorts": [{"ports": [{"port": "5432"}]}]}]}));
    assert_eq!(denied.table(), "SSSSSSS");
    // A rule that does not isolate: only denied traffic is denied.
    let denied = World::new()
        .cilium("shop", json!({"endpointSelector": {}, "ingressDeny": web, "enableDefaultDeny": {"ingress": false}}));
    assert_eq!(denied.table(), "SOOOOOU");

    let shut = json!({"podSelector": {}});
    assert_eq!(World::new().kubernetes(shut.clone()).cilium("shop", all.clone()).table(), "TTTTTTT");
    let node = json!({"nodeSelector": {}, "ingress": [{}]});
    assert_eq!(World::new().cilium("", node).table(), "OOOOOOO");
    let empty = json!({"endpointSelector": {}, "ingress": []});
    assert_eq!(World::new().cilium("shop", empty).table(), "OOOOOOO");
    let other = json!({"endpointSelector": {"matchLabels": {"app": "web"}}, "ingress": [{}]});
    assert_eq!(World::new().cilium("shop", other).table(), "OOOOOOO");
    let cluster = json!({"endpointSelector": {"matchLabels": {"io.cilium.k8s.policy.cluster": "c"}}, "ingress": [{}]});
    assert_eq!(World::new().cilium("shop", cluster).table(), "UUUUUUU");
}

#[test]
fn host_names_are_outside_and_dns_rules_limit_names() {
    let (web, db) = (pod("shop", "web", "10.244.0.7"), pod("shop", "db", "10.244.0.9"));
    let world = |side: Value| World::new().cilium("shop", json!({"endpointSelector": {}, "egress": [side]}));
    let names = world(json!({"toFQDNs": [{"matchName": "example.com"}]}));
    assert_eq!(names.symbol(Direction::Egress, &web, 5432, &db, Peer::Pod(&db)), 'S');
    let outside = Peer::Address("192.0.2.7".parse().expect("an address"));
    assert_eq!(names.symbol(Direction::Egress, &web, 5432, &db, outside), 'U');
    let services = world(json!({"toServices": [{"k8sService": {"serviceName": "db"}}]}));
    assert_eq!(services.symbol(Direction::Egress, &web, 5432, &db, Peer::Pod(&db)), 'U');
    for (pattern, expected) in [("*", 'T'), ("*.example.com", 'U')] {
        let port =
            json!({"ports": [{"port": "5432", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": pattern}]}});
        let dns = world(json!({"toEndpoints": [{}], "toPorts": [port]}));
        assert_eq!(dns.symbol(Direction::Egress, &web, 5432, &db, Peer::Pod(&db)), expected, "{pattern}");
    }
}

#[test]
fn calico_rules_match_both_ends() {
    for (namespace, rule, expected) in [
        ("shop", json!({"action": "Allow"}), "TTTTTTT"),
        ("shop", json!({"action": "Log"}), "SSSSSSS"),
        ("shop", json!({"action": "Deny"}), "SSSSSSS"),
        ("shop", json!({"action": "Pass"}), "TTTTTTT"),
        ("shop", json!({"action": "Allow", "protocol": "TCP", "destination": {"ports": [5432]}}), "TTTTTTT"),
        ("shop", json!({"action": "Allow", "protocol": 6, "destination": {"ports": ["pg"]}}), "TTTTTTT"),
        ("shop", json!({"action": "Allow", "protocol": "TCP", "destination": {"ports": ["5000:6000"]}}), "TTTTTTT"),
        ("shop", json!({"action": "Allow", "protocol": "TCP", "destination": {"ports": [80]}}), "SSSSSSS"),
        ("shop", json!({"action": "Allow", "protocol": "UDP"}), "SSSSSSS"),
        ("shop", json!({"action": "Allow", "source": {"selector": "app == 'web'"}}), "TSSUUUU"),
        ("", json!({"action": "Allow", "source": {"selector": "app == 'web'"}}), "TTTUUUU"),
        ("shop", json!({"action": "Allow", "source": {"namespaceSelector": "team == 'a'"}}), "TTUUUUU"),
        (
            "shop",
            json!({"action": "Allow", "source": {"namespaceSelector": "projectcalico.org/name in {'tools', 'nowhere'}"}}),
            "STTUUUU",
        ),
        ("shop", json!({"action": "Allow", "source": {"namespaceSelector": "global()"}}), "SSSUUUU"),
        ("shop", json!({"action": "Allow", "source": {"notSelector": "app == 'web'"}}), "SSSUUUU"),
        ("shop", json!({"action": "Allow", "source": {"nets": ["10.244.0.0/24", "192.0.2.7"]}}), "TSSSTUU"),
        ("shop", json!({"action": "Allow", "source": {"notNets": ["10.0.0.0/8"]}}), "SSSTTUU"),
        ("shop", json!({"action": "Allow", "source": {"serviceAccounts": {"names": ["web"]}}}), "TSSUUUU"),
        ("shop", json!({"action": "Allow", "source": {"services": {"name": "web"}}}), "UUUUUUU"),
        ("shop", json!({"action": "Allow", "source": {"selector": "app like 'web'"}}), "USSUUUU"),
        ("shop", json!({"action": "Allow", "destination": {"selector": "app == 'web'"}}), "SSSSSSS"),
        ("shop", json!({"action": "Allow", "http": {"methods": ["GET"]}}), "UUUUUUU"),
    ] {
        let world = World::new().calico(namespace, "p", json!({"types": ["Ingress"], "ingress": [rule.clone()]}));
        assert_eq!(world.table(), expected, "{namespace} {rule}");
    }
}

#[test]
fn calico_order_and_tier_include_kubernetes_policies() {
    let allow = || json!([{"action": "Allow"}]);
    let deny = || json!([{"action": "Deny", "protocol": "TCP", "destination": {"ports": [5432]}}]);
    let with = |order: Option<u32>, tier: &str, ingress: Value| json!({"order": order, "tier": tier, "types": ["Ingress"], "ingress": ingress});
    let first = |letters: String| letters.chars().next().expect("a letter");
    let world = |a: Option<u32>, b: Option<u32>| {
        let world = World::new().calico("", "a", with(a, "", allow()));
        first(world.calico("shop", "b", with(b, "default", deny())).table())
    };
    assert_eq!(world(Some(1), Some(2)), 'T');
    assert_eq!(world(Some(2), Some(1)), 'S');
    assert_eq!(world(None, Some(1)), 'S');
    assert_eq!(world(None, None), 'T', "by name");

    // Kubernetes policies allow at order 1000, and pass unmatched traffic to later policies.
    let open = json!({"podSelector": {}, "ingress": [{}]});
    let behind = World::new().kubernetes(open.clone()).calico("", "a", with(Some(2000), "", deny()));
    assert_eq!(first(behind.table()), 'T');
    let before = World::new().kubernetes(open).calico("", "a", with(Some(10), "", deny()));
    assert_eq!(first(before.table()), 'S');
    let shut = json!({"podSelector": {}});
    let behind = World::new().kubernetes(shut.clone()).calico("", "a", with(Some(2000), "", allow()));
    assert_eq!(first(behind.table()), 'T');

    let pass = || json!([{"action": "Pass"}]);
    let tiers = || World::new().tier("security", 1, "Deny").tier("soft", 2, "Pass");
    let passed = tiers().calico("", "a", with(None, "security", pass()));
    assert_eq!(first(passed.table()), 'T');
    let passed = tiers().calico("", "a", with(None, "security", pass())).kubernetes(shut.clone());
    assert_eq!(first(passed.table()), 'S');
    let denied = tiers().calico("", "a", with(None, "security", json!([{"action": "Log"}])));
    assert_eq!(first(denied.kubernetes(json!({"podSelector": {}, "ingress": [{}]})).table()), 'S');
    let left = tiers().calico("", "a", with(None, "soft", json!([])));
    assert_eq!(first(left.table()), 'O');
    let lost = World::new().calico("", "a", with(None, "security", allow()));
    assert_eq!(first(lost.table()), 'U');

    // A possible earlier match counts if it decides otherwise.
    let maybe = |action: &str| json!([{"action": action, "source": {"selector": "x like 'y'"}}, {"action": "Allow"}]);
    let said = |action| first(World::new().calico("", "a", with(None, "", maybe(action))).table());
    assert_eq!((said("Allow"), said("Deny"), said("Pass")), ('T', 'U', 'U'));
    let hosts = json!({"preDNAT": true, "applyOnForward": true, "types": ["Ingress"]});
    assert_eq!(first(World::new().calico("", "a", hosts).table()), 'O');
    let accounts = json!({"serviceAccountSelector": "team == 'a'", "types": ["Ingress"]});
    assert_eq!(first(World::new().calico("", "a", accounts).table()), 'U');
    let namespaces = json!({"namespaceSelector": "team == 'b'", "types": ["Ingress"]});
    assert_eq!(first(World::new().calico("", "a", namespaces).table()), 'O');
}

#[test]
fn with_two_plugins_only_common_results_count() {
    let open = json!({"endpointSelector": {}, "ingress": [{"fromEntities": ["all"]}]});
    let said = |action: &str| {
        let rules = json!({"types": ["Ingress"], "ingress": [{"action": action}]});
        World::new().cilium("shop", open.clone()).calico("shop", "a", rules).table()
    };
    assert_eq!(said("Allow"), "TTTTTTT");
    assert_eq!(said("Deny"), "UUUUUUU");
}
