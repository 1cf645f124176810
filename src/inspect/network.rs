//! The part of a walk that NetworkPolicies decide: whether they let the client out to the server's pod, and into it.
//!
//! Between two proxies a connection goes to the port that is called or to the proxy's own, by release and protocol. Where the
//! policies say the same of both, that is what happens; where they differ, it is left open.

use std::collections::BTreeMap;

use super::walk::{Outcome, Walk};
use crate::finding::{Evidence, Subject};
use crate::model::network_policy::{Direction, Passage, Peer, Policies, Port};
use crate::objects::{Kind, Namespace, NetworkPolicy, Pod};

/// The port on which a proxy takes connections of other proxies.
const INBOUND: u16 = 4143;

/// What is read of the network.
pub(super) struct Network<'a> {
    policies: Policies<'a>,
    namespaces: BTreeMap<&'a str, &'a BTreeMap<String, String>>,
}

impl<'a> Network<'a> {
    pub(super) fn new(policies: &'a [NetworkPolicy], namespaces: &'a [Namespace]) -> Network<'a> {
        let labels = namespaces.iter().map(|one| (one.metadata.name.as_str(), &*one.metadata.labels));
        Network { policies: Policies::of(policies), namespaces: labels.collect() }
    }

    /// Whether the call goes on; `false` where it is shut out.
    pub(super) fn walk(&self, walk: &mut Walk, client: &Pod, meshed: bool, server: &Pod, port: u16) -> bool {
        if client.metadata.key() == server.metadata.key() {
            return true;
        }
        let both = meshed && server.spec.proxy().is_some() && port != INBOUND;
        let ports: &[u16] = if both { &[port, INBOUND] } else { &[port] };
        for (direction, pod, peer) in
            [(Direction::Egress, client, self.peer(server)), (Direction::Ingress, server, self.peer(client))]
        {
            let to = |number| Port { protocol: "TCP", number, of: Some(server) };
            let said: Vec<(u16, Passage<'a>)> = ports
                .iter()
                .map(|&number| (number, self.policies.passage(direction, pod, to(number), peer)))
                .collect();
            if !say(walk, direction, pod, &said) {
                return false;
            }
        }
        true
    }

    fn peer<'p>(&self, pod: &'p Pod) -> Peer<'p>
    where
        'a: 'p,
    {
        match pod.status.pod_ip.filter(|_| pod.spec.host_network) {
            Some(address) => Peer::Address(address),
            None => Peer::Pod(pod, self.namespaces.get(pod.metadata.namespace.as_str()).copied()),
        }
    }
}

/// Notes what the policies of one direction say; whether the call may go on.
fn say(walk: &mut Walk, direction: Direction, pod: &Pod, said: &[(u16, Passage<'_>)]) -> bool {
    let way = match direction {
        Direction::Egress => "what leaves",
        Direction::Ingress => "what comes to",
    };
    let name = &pod.metadata.name;
    let shut: Vec<(u16, &Vec<&NetworkPolicy>)> = said
        .iter()
        .filter_map(|(port, passage)| match passage {
            Passage::Shut(policies) => Some((*port, policies)),
            Passage::Open | Passage::Through(_) | Passage::Unknown => None,
        })
        .collect();
    let ports = |each: &mut dyn Iterator<Item = u16>| {
        each.map(|port| port.to_string()).collect::<Vec<_>>().join(" and ")
    };
    if let Some((_, policies)) = shut.first() {
        let names: Vec<&str> = policies.iter().map(|policy| policy.metadata.name.as_str()).collect();
        let whole = shut.len() == said.len();
        let (outcome, doubt) = match whole {
            true => (Outcome::Stops, String::new()),
            false => (
                Outcome::NotJudged,
                "; whether the proxies use that port goes by release and protocol".to_owned(),
            ),
        };
        let step = walk.step(
            "network",
            outcome,
            format!(
                "NetworkPolicy {} is about {way} pod {name}, and none lets the call through at port {}{doubt}",
                names.join(", "),
                ports(&mut shut.iter().map(|(port, _)| *port)),
            ),
        );
        for policy in policies.iter() {
            let meta = &policy.metadata;
            let object = Subject::object(Kind::NetworkPolicy, &meta.namespace, &meta.name);
            step.evidence(Evidence::field(
                object,
                format!("spec.{}", direction.field()),
                "lets nothing of this through",
            ));
        }
        if whole {
            let what = ports(&mut said.iter().map(|(port, _)| *port));
            step.fix(format!("let it through at port {what}: add a rule to one of these NetworkPolicies"));
        }
        return !whole;
    }
    if said.iter().any(|(_, passage)| *passage == Passage::Unknown) {
        walk.step(
            "network",
            Outcome::NotJudged,
            format!(
                "a NetworkPolicy about {way} pod {name} goes by labels of a namespace that are not known"
            ),
        );
        return true;
    }
    let through = said.iter().find_map(|(_, passage)| match passage {
        Passage::Through(policy) => Some(&policy.metadata),
        Passage::Open | Passage::Shut(_) | Passage::Unknown => None,
    });
    match through {
        None => {
            walk.step("network", Outcome::Passes, format!("no NetworkPolicy is about {way} pod {name}"));
        }
        Some(meta) => {
            let object = Subject::object(Kind::NetworkPolicy, &meta.namespace, &meta.name);
            walk.step(
                "network",
                Outcome::Passes,
                format!("NetworkPolicy {} is about {way} pod {name}, and lets the call through", meta.name),
            )
            .evidence(Evidence::field(
                object,
                format!("spec.{}", direction.field()),
                "lets it through",
            ));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).expect("an object")
    }

    fn pod(namespace: &str, name: &str, meshed: bool) -> Pod {
        let proxy = json!({"name": "linkerd-proxy", "image": "proxy:1"});
        let containers = if meshed {
            json!([{"name": "app", "image": "a"}, proxy])
        } else {
            json!([{"name": "app", "image": "a"}])
        };
        read(json!({"metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
            "spec": {"containers": containers}, "status": {"podIP": "10.1.0.1"}}))
    }

    fn policy(namespace: &str, spec: Value) -> NetworkPolicy {
        read(json!({"metadata": {"name": "np", "namespace": namespace}, "spec": spec}))
    }

    fn walked(
        policies: &[NetworkPolicy],
        client: &Pod,
        meshed: bool,
        server: &Pod,
    ) -> (bool, Vec<(Outcome, String)>) {
        let namespaces: Vec<Namespace> =
            vec![read(json!({"metadata": {"name": "web", "labels": {"team": "front"}}}))];
        let mut walk = Walk { from: String::new(), to: String::new(), steps: Vec::new() };
        let on = Network::new(policies, &namespaces).walk(&mut walk, client, meshed, server, 8080);
        (on, walk.steps.into_iter().map(|step| (step.outcome, step.says)).collect())
    }

    #[test]
    fn a_policy_lets_in_whom_it_names_and_shuts_out_the_others() {
        let (web, api) = (pod("web", "web", false), pod("shop", "api", false));
        assert!(walked(&[], &web, false, &api).1.iter().all(|(outcome, _)| *outcome == Outcome::Passes));

        let front = policy(
            "shop",
            json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [
            {"from": [{"namespaceSelector": {"matchLabels": {"team": "front"}}}], "ports": [{"port": 8080}]}]}),
        );
        let (on, steps) = walked(std::slice::from_ref(&front), &web, false, &api);
        assert!(on && steps.iter().all(|(outcome, _)| *outcome == Outcome::Passes), "{steps:?}");
        assert!(steps[1].1.contains("np"), "{steps:?}");

        let other = pod("other", "x", false);
        let (on, steps) = walked(std::slice::from_ref(&front), &other, false, &api);
        // The labels of that namespace are not known.
        assert!(on && steps[1].0 == Outcome::NotJudged, "{steps:?}");

        let deny = policy("shop", json!({"podSelector": {}, "policyTypes": ["Ingress"]}));
        let (on, steps) = walked(&[deny], &web, false, &api);
        assert!(!on && steps[1].0 == Outcome::Stops, "{steps:?}");
        let out = policy("web", json!({"podSelector": {}, "policyTypes": ["Egress"]}));
        let (on, steps) = walked(&[out], &web, false, &api);
        assert!(!on && steps.len() == 1 && steps[0].0 == Outcome::Stops, "{steps:?}");
    }

    #[test]
    fn between_proxies_the_port_of_the_proxy_counts_as_well() {
        let (web, api) = (pod("web", "web", true), pod("shop", "api", true));
        let only = |ports: Value| {
            policy(
                "shop",
                json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": ports}]}),
            )
        };
        let (on, steps) = walked(&[only(json!([{"port": 8080}]))], &web, true, &api);
        assert!(on && steps[1].0 == Outcome::NotJudged && steps[1].1.contains("4143"), "{steps:?}");
        let (on, steps) = walked(&[only(json!([{"port": 8080}, {"port": 4143}]))], &web, true, &api);
        assert!(on && steps[1].0 == Outcome::Passes, "{steps:?}");
        let (on, _) = walked(&[only(json!([{"port": 9090}]))], &web, true, &api);
        assert!(!on);
    }
}
