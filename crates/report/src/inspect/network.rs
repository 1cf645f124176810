//! Step of a walk: whether NetworkPolicies allow egress of the client to the server's pod, and ingress there.
//!
//! Between two proxies, a connection uses the proxy's own port if the chart's values state this, and
//! otherwise that port or the called port, by release and protocol. If the policies give the same result for
//! both, it is the result; otherwise the result is unknown.

use super::steps::{Outcome, Part, Walk};
use crate::finding::{Evidence, Subject};
use crate::model::skipped::{CniSkips, IN, skipped};
use crate::model::transport::INBOUND;
use crate::network_policy::control_plane::{dns_pods, to_dns};
use crate::network_policy::{DecidedBy, Direction, Doubt, Objects, Peer, Policies, Policy, Port, Verdict};
use crate::objects::Pod;

/// The port of DNS.
const DNS: u16 = 53;

/// The inputs of the step.
pub(super) struct NetworkInputs<'a> {
    policies: Policies<'a>,
    /// Whether proxies always connect to each other's own port.
    by_proxy: bool,
    /// Kinds of network policies with objects that are not evaluated, as text.
    unread: Vec<String>,
}

impl<'a> NetworkInputs<'a> {
    pub(super) fn new(objects: Objects<'a>, by_proxy: bool) -> NetworkInputs<'a> {
        NetworkInputs { policies: Policies::new(objects), by_proxy, unread: Vec::new() }
    }

    /// With kinds of network policies that have objects which are not evaluated.
    pub(super) fn set_unread(&mut self, unread: Vec<String>) {
        self.unread = unread;
    }

    pub(super) fn policies(&self) -> &Policies<'a> {
        &self.policies
    }

    /// Evaluates the step. Returns `false` if the call is blocked.
    pub(super) fn walk(&self, walk: &mut Walk, client: &Pod, meshed: bool, server: &Pod, port: u16) -> bool {
        if client.metadata.key() == server.metadata.key() {
            return true;
        }
        // Connections to a port that the server's annotation skips bypass the client's proxy.
        let skips = skipped(server, IN, &CniSkips::default())
            .is_some_and(|skipped| skipped.is_annotated() && skipped.holds(port));
        let between = meshed && server.spec.proxy().is_some() && port != INBOUND && !skips;
        let ports: &[u16] = match between {
            true if self.by_proxy => &[INBOUND],
            true => &[port, INBOUND],
            false => &[port],
        };
        for (direction, pod, peer) in
            [(Direction::Egress, client, peer(server)), (Direction::Ingress, server, peer(client))]
        {
            if direction == Direction::Ingress && is_of_its_node(client, server) {
                let says = format!(
                    "the call comes from the node of pod {}, which NetworkPolicies allow",
                    server.metadata.name
                );
                walk.step(Part::Network, Outcome::Passes, says);
                continue;
            }
            let to = |number| Port { protocol: "TCP", number, of: Some(server) };
            let said: Vec<(u16, Verdict<'a>)> =
                ports.iter().map(|&number| (number, self.policies.passage(direction, pod, to(number), peer))).collect();
            if !record(walk, direction, pod, &said) {
                return false;
            }
        }
        if !self.unread.is_empty() {
            let says = format!(
                "policies of kinds that are not evaluated may deny the call or allow it before others: {}",
                self.unread.join(", ")
            );
            walk.step(Part::Network, Outcome::NotJudged, says)
                .fix("read these policies: kubectl get -o yaml prints them");
        }
        true
    }

    /// Evaluates whether the client can look up names: egress to the cluster's DNS. `pods` are all pods.
    pub(super) fn lookups(&self, walk: &mut Walk, client: &Pod, pods: &[Pod]) {
        // Lookups begin with UDP; TCP is only used for long answers.
        let Some(Verdict::Shut(by)) = to_dns(&self.policies, client, &dns_pods(pods)) else { return };
        let says = format!(
            "network policies block pod {} from the cluster's DNS (UDP port {DNS}): unless it uses another \
             DNS server or an address, it does not find this name",
            client.metadata.name
        );
        let step = walk.step(Part::Network, Outcome::NotJudged, says);
        by.iter().for_each(|decides| _ = step.evidence(evidence(decides)));
        step.fix(format!("allow UDP and TCP port {DNS} of the DNS pods in one of these policies"));
    }
}

/// Whether a client runs in the host network of the server's node; Kubernetes always allows such connections.
fn is_of_its_node(client: &Pod, server: &Pod) -> bool {
    client.spec.host_network
        && !server.spec.host_network
        && !client.node_name.is_empty()
        && client.node_name == server.node_name
}

fn peer(pod: &Pod) -> Peer<'_> {
    match pod.status.pod_ip.filter(|_| pod.spec.host_network) {
        Some(address) => Peer::Address(address),
        None => Peer::Pod(pod),
    }
}

/// Records the result of one direction's policies. Returns whether the call may continue.
fn record(walk: &mut Walk, direction: Direction, pod: &Pod, said: &[(u16, Verdict<'_>)]) -> bool {
    let way = match direction {
        Direction::Egress => "traffic from",
        Direction::Ingress => "traffic to",
    };
    let name = &pod.metadata.name;
    let shut = said.iter().filter_map(|(port, passage)| match passage {
        Verdict::Shut(by) => Some((*port, by)),
        Verdict::Open | Verdict::Through(_) | Verdict::Unknown(_) => None,
    });
    let (blocked, by): (Vec<u16>, Vec<_>) = shut.unzip();
    if let Some(by) = by.first() {
        let whole = blocked.len() == said.len();
        let (outcome, doubt) = match whole {
            true => (Outcome::Stops, String::new()),
            false => {
                (Outcome::NotJudged, "; whether the proxies use that port depends on release and protocol".to_owned())
            }
        };
        let at = ports(&blocked);
        let says = match by.iter().find(|decides| decides.denies) {
            Some(decides) => {
                let policy = title(decides.policy);
                format!("{policy} applies to {way} pod {name}, and denies the call at port {at}{doubt}")
            }
            None => {
                let policies = titles(&policies(by));
                format!("{policies} applies to {way} pod {name}, and does not allow port {at}{doubt}")
            }
        };
        let step = walk.step(Part::Network, outcome, says);
        by.iter().for_each(|decides| _ = step.evidence(evidence(decides)));
        if whole {
            step.fix(opening(by, &blocked));
        }
        return !whole;
    }
    let unknown = said.iter().find_map(|(_, passage)| match passage {
        Verdict::Unknown(doubts) => Some(doubts),
        Verdict::Open | Verdict::Through(_) | Verdict::Shut(_) => None,
    });
    if let Some(doubts) = unknown {
        let policies: Vec<Policy<'_>> = doubts.iter().map(|doubt| doubt.policy).collect();
        let first = doubts.first().map_or("what is not known", |doubt| doubt.why);
        let step = walk.step(
            Part::Network,
            Outcome::NotJudged,
            format!("{} applies to {way} pod {name}, and depends on {first}", titles(&policies)),
        );
        for Doubt { policy, field, why } in doubts {
            step.evidence(Evidence::field(subject(*policy), field, *why));
        }
        return true;
    }
    let through = said.iter().find_map(|(_, passage)| match passage {
        Verdict::Through(decides) => Some(decides),
        Verdict::Open | Verdict::Shut(_) | Verdict::Unknown(_) => None,
    });
    match through {
        None => {
            walk.step(Part::Network, Outcome::Passes, format!("no network policy applies to {way} pod {name}"));
        }
        Some(decides) => {
            let says = format!("{} applies to {way} pod {name}, and allows the call", title(decides.policy));
            walk.step(Part::Network, Outcome::Passes, says).evidence(Evidence::field(
                subject(decides.policy),
                &decides.field,
                "allows it",
            ));
        }
    }
    true
}

fn ports(ports: &[u16]) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" and ")
}

fn policies<'a>(by: &[DecidedBy<'a>]) -> Vec<Policy<'a>> {
    by.iter().map(|decides| decides.policy).collect()
}

/// The change of policies that allows a call at ports which they block.
fn opening(by: &[DecidedBy<'_>], blocked: &[u16]) -> String {
    let ports = ports(blocked);
    match by.iter().find(|decides| decides.denies) {
        Some(decides) => format!("Narrow {}, so that it excludes port {ports}", decides.field),
        None => {
            let at = titles(&policies(by));
            let one = if at.contains(", ") { "one of " } else { "" };
            format!("Add a rule that allows port {ports} to {one}{at}")
        }
    }
}

/// The field that blocks a connection.
pub(super) fn evidence(decides: &DecidedBy<'_>) -> Evidence {
    let said = if decides.denies { "denies it" } else { "does not allow it" };
    Evidence::field(subject(decides.policy), &decides.field, said)
}

fn subject(policy: Policy<'_>) -> Subject {
    let meta = policy.meta();
    Subject::object(policy.kind(), &meta.namespace, &meta.name)
}

/// A policy by kind and name: `NetworkPolicy web`, `Calico's NetworkPolicy default.web`.
fn title(policy: Policy<'_>) -> String {
    let whose = if matches!(policy, Policy::Calico(_)) { "Calico's " } else { "" };
    format!("{whose}{} {}", policy.kind(), policy.meta().name)
}

/// Policies of one kind share the kind's name.
fn titles(policies: &[Policy<'_>]) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut before = None;
    for policy in policies {
        let one = match before {
            Some(kind) if kind == policy.kind() => policy.meta().name.clone(),
            _ => title(*policy),
        };
        before = Some(policy.kind());
        if !said.contains(&one) {
            said.push(one);
        }
    }
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::objects::{CalicoPolicy, CiliumPolicy, Namespace, NetworkPolicy};

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).expect("an object")
    }

    fn pod(namespace: &str, name: &str, meshed: bool) -> Pod {
        let proxy = json!({"name": "linkerd-proxy", "image": "proxy:1"});
        let containers =
            if meshed { json!([{"name": "app", "image": "a"}, proxy]) } else { json!([{"name": "app", "image": "a"}]) };
        read(json!({"metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
            "spec": {"containers": containers}, "status": {"podIP": "10.1.0.1"}}))
    }

    fn policy(namespace: &str, spec: Value) -> NetworkPolicy {
        read(json!({"metadata": {"name": "np", "namespace": namespace}, "spec": spec}))
    }

    fn walked(
        kubernetes: &[NetworkPolicy],
        client: &Pod,
        meshed: bool,
        server: &Pod,
    ) -> (bool, Vec<(Outcome, String)>) {
        walked_by(Objects { kubernetes, ..Objects::default() }, client, meshed, server)
    }

    fn walked_by(objects: Objects<'_>, client: &Pod, meshed: bool, server: &Pod) -> (bool, Vec<(Outcome, String)>) {
        let namespaces: Vec<Namespace> = vec![read(json!({"metadata": {"name": "web", "labels": {"team": "front"}}}))];
        let mut walk = Walk::new(String::new(), String::new());
        let objects = Objects { namespaces: &namespaces, ..objects };
        let on = NetworkInputs::new(objects, false).walk(&mut walk, client, meshed, server, 8080);
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
        // The labels of that namespace are unknown.
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
            policy("shop", json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": ports}]}))
        };
        let (on, steps) = walked(&[only(json!([{"port": 8080}]))], &web, true, &api);
        assert!(on && steps[1].0 == Outcome::NotJudged && steps[1].1.contains("4143"), "{steps:?}");
        let (on, steps) = walked(&[only(json!([{"port": 8080}, {"port": 4143}]))], &web, true, &api);
        assert!(on && steps[1].0 == Outcome::Passes, "{steps:?}");
        let (on, _) = walked(&[only(json!([{"port": 9090}]))], &web, true, &api);
        assert!(!on);
    }

    #[test]
    fn policies_of_plugins_are_walked_as_well() {
        let (web, api) = (pod("web", "web", true), pod("shop", "api", true));
        let cilium = |spec: Value| -> Vec<CiliumPolicy> {
            vec![read(json!({"metadata": {"name": "cnp", "namespace": "shop"}, "spec": spec}))]
        };
        let walked = |cilium: &[CiliumPolicy], calico: &[CalicoPolicy]| {
            walked_by(Objects { cilium, calico, ..Objects::default() }, &web, true, &api)
        };
        let from = json!([{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "web"}}]);
        let (on, steps) = walked(&cilium(json!({"endpointSelector": {}, "ingress": [{"fromEndpoints": from}]})), &[]);
        assert!(on && steps[1].0 == Outcome::Passes && steps[1].1.contains("CiliumNetworkPolicy cnp"), "{steps:?}");
        let (on, steps) =
            walked(&cilium(json!({"endpointSelector": {}, "ingressDeny": [{"fromEndpoints": from}]})), &[]);
        assert!(!on && steps[1].1.contains("denies"), "{steps:?}");
        let ports = json!([{"ports": [{"port": "0"}], "rules": {"http": [{}]}}]);
        let (on, steps) = walked(&cilium(json!({"endpointSelector": {}, "ingress": [{"toPorts": ports}]})), &[]);
        assert!(on && steps[1].0 == Outcome::NotJudged && steps[1].1.contains("requests"), "{steps:?}");

        let calico: CalicoPolicy = read(json!({"metadata": {"name": "default.p", "namespace": "shop"},
            "spec": {"ingress": [{"action": "Allow", "protocol": "TCP", "destination": {"ports": [9090]}}]}}));
        let (on, steps) = walked(&[], &[calico]);
        assert!(!on && steps[1].1.contains("Calico's NetworkPolicy default.p"), "{steps:?}");
    }
}
