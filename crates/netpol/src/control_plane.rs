//! Whether network policies allow a proxy's connections to a component of the control plane, and to DNS.

use std::net::IpAddr;

use super::{Direction, Doubt, NAMED, Peer, Policies, Port, Verdict, WHOM};
use crate::objects::{EndpointSlice, Pod};

/// The best of several results: one that is open is enough.
pub fn best<'a>(passages: impl IntoIterator<Item = Verdict<'a>>) -> Option<Verdict<'a>> {
    let rank = |passage: &Verdict<'_>| match passage {
        Verdict::Open | Verdict::Through(_) => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Shut(_) => 2,
    };
    passages.into_iter().min_by_key(rank)
}

/// The namespace of the cluster's DNS pods.
const DNS_NAMESPACE: &str = "kube-system";
/// The label of these pods, and of those of a cache on each node.
const DNS_LABEL: &str = "k8s-app";

/// The decision about lookups: egress to the pods of the cluster's DNS, or to an address outside of the pod network.
pub fn to_dns<'a>(policies: &Policies<'a>, client: &Pod, dns: &[&Pod]) -> Option<Verdict<'a>> {
    // Without known pods the peers of a rule are not evaluated: DNS servers differ from cluster to cluster.
    let peers: Vec<(Option<&Pod>, Peer<'_>)> = match dns {
        [] => vec![(None, Peer::Anyone)],
        pods => pods.iter().map(|pod| (Some(*pod), Peer::Pod(pod))).chain([(None, Peer::Host)]).collect(),
    };
    // OpenShift's DNS listens on 5353 behind its Service.
    let passages = peers.into_iter().flat_map(|(of, peer)| [53, 5353].map(|number| (of, peer, number)));
    let is_left_open = |doubt: &Doubt<'_>| doubt.why == WHOM || doubt.why == NAMED;
    best(passages.map(|(of, peer, number)| {
        let port = Port { protocol: "UDP", number, of };
        match policies.passage(Direction::Egress, client, port, peer) {
            Verdict::Unknown(doubts) if doubts.iter().any(is_left_open) => Verdict::Open,
            passage => passage,
        }
    }))
}

/// The result for queries of `client` at the pods that serve DNS: the ingress of the best of these pods. `None`
/// without such pods.
pub fn into_dns<'a>(policies: &Policies<'a>, client: &Pod, dns: &[&Pod]) -> Option<Verdict<'a>> {
    // OpenShift's DNS listens on 5353 behind its Service.
    let ports = dns.iter().flat_map(|pod| [53, 5353].map(|number| (*pod, number)));
    best(ports.map(|(pod, number)| {
        let port = Port { protocol: "UDP", number, of: Some(pod) };
        policies.passage(Direction::Ingress, pod, port, Peer::Pod(client))
    }))
}

/// The pods of the cluster's DNS; none if pods may use a cache on their node instead.
pub fn dns_pods(pods: &[Pod]) -> Vec<&Pod> {
    let labelled = |label: &'static str| {
        pods.iter().filter(move |pod| {
            pod.metadata.namespace == DNS_NAMESPACE
                && pod.metadata.label(DNS_LABEL) == Some(label)
                && !pod.is_finished()
        })
    };
    if labelled("node-local-dns").next().is_some() { Vec::new() } else { labelled("kube-dns").collect() }
}

/// The result for connections of `client` to a port of the pods that serve it: egress of the client, and
/// ingress of the best of these pods. `None` if there are no such pods.
pub fn to_component<'a>(
    policies: &Policies<'a>,
    client: &Pod,
    serving: &[&Pod],
    number: u16,
) -> Vec<(Direction, Verdict<'a>)> {
    let port = |server| Port { protocol: "TCP", number, of: Some(server) };
    let out = serving.iter().map(|server| policies.passage(Direction::Egress, client, port(server), Peer::Pod(server)));
    let to = serving.iter().map(|server| policies.passage(Direction::Ingress, server, port(server), Peer::Pod(client)));
    let each = [(Direction::Egress, best(out)), (Direction::Ingress, best(to))];
    each.into_iter().filter_map(|(direction, passage)| Some((direction, passage?))).collect()
}

/// The API server: the addresses and ports behind the Service `kubernetes`, if they are known.
#[derive(Debug, Clone, Default)]
pub struct ApiServer {
    endpoints: Vec<(IpAddr, u16)>,
}

/// The ports of API servers whose endpoints are unknown.
const API_PORTS: [u16; 4] = [443, 6443, 8443, 16443];

impl ApiServer {
    /// Reads its endpoints from EndpointSlices.
    pub fn new(slices: &[EndpointSlice]) -> ApiServer {
        let own = slices
            .iter()
            .filter(|slice| slice.metadata.namespace == "default" && slice.service() == Some("kubernetes"));
        let each = own.flat_map(|slice| {
            let ports = slice.ports.iter().flatten().filter_map(|port| port.port);
            let addresses = slice.endpoints.iter().filter_map(|endpoint| endpoint.address());
            addresses.flat_map(move |address| ports.clone().map(move |port| (address, port)))
        });
        ApiServer { endpoints: each.collect() }
    }

    /// Its ports, with that of its Service.
    pub fn ports(&self) -> Vec<u16> {
        let mut ports: Vec<u16> = match self.endpoints.as_slice() {
            [] => API_PORTS.to_vec(),
            known => known.iter().map(|(_, port)| *port).chain([443]).collect(),
        };
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// The decision about connections of a pod to it: egress to an address outside of the pod network. Some networks
    /// evaluate the address and port of its Service, others those of its endpoints.
    pub fn passage<'a>(&self, policies: &Policies<'a>, client: &Pod) -> Option<Verdict<'a>> {
        let to = |number, peer| {
            policies.passage(Direction::Egress, client, Port { protocol: "TCP", number, of: None }, peer)
        };
        let passage = best(self.ports().into_iter().map(|number| to(number, Peer::Host)))?;
        let Verdict::Unknown(_) = &passage else { return Some(passage) };
        // A block of addresses decides, and the address may be known.
        let known = best(self.endpoints.iter().map(|(address, port)| to(*port, Peer::Address(*address))));
        match known {
            Some(open @ (Verdict::Open | Verdict::Through(_))) => Some(open),
            _ => Some(passage),
        }
    }
}
