//! `pod-network-overlaps`: addresses of nodes or Services are in the pod network of a node.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use crate::checks::prelude::*;
use crate::model::networks::Network;

/// Maximum number of objects quoted in evidence.
const QUOTED: usize = 5;

/// The pod network of a node, if its pods use it.
struct InUse<'a> {
    node: &'a Node,
    network: Network,
    written: &'a str,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>();
    let services = ctx.partial_list::<Service>();
    let pods = ctx.partial_list::<Pod>()?;
    let nodes = nodes?;
    let used = in_use(nodes, pods);
    if used.is_empty() {
        ctx.complete_list::<Node>()?;
        ctx.complete_list::<Pod>()?;
        return Err(Unjudged::not_applicable("no pod has an address in the spec.podCIDR of its node"));
    }
    let holding = |address: IpAddr| used.iter().find(|used| used.network.contains(address));
    let mut findings = Vec::new();
    let of_nodes: Vec<_> = nodes
        .iter()
        .filter_map(|node| {
            // Some clouds list the address of the pod bridge after the node's own address.
            let address = node.internal_addresses().next()?;
            Some((node, address, holding(address)?))
        })
        .collect();
    if !of_nodes.is_empty() {
        findings.push(nodes_inside(ctx, &of_nodes));
    }
    let services = ctx.or_note(services).unwrap_or_default();
    let of_services: Vec<_> = services
        .iter()
        .filter_map(|service| {
            let address = (*service.spec.cluster_ip)?;
            Some((service, address, holding(address)?))
        })
        .collect();
    if !of_services.is_empty() {
        findings.push(services_inside(ctx, &of_services, pods));
    }
    Ok(findings.into())
}

/// The pod networks of nodes that their pods use. Many network plugins assign other addresses and leave the
/// field unchanged.
fn in_use<'a>(nodes: &'a [Node], pods: &[Pod]) -> Vec<InUse<'a>> {
    let mut by_node: HashMap<&str, Vec<IpAddr>> = HashMap::new();
    for pod in pods.iter().filter(|pod| !pod.spec.host_network && !pod.is_finished()) {
        by_node.entry(pod.node_name.as_str()).or_default().extend(pod.addresses());
    }
    let of_node = |node: &'a Node| {
        let addresses = by_node.get(node.metadata.name.as_str());
        node.pod_networks().filter_map(move |written| {
            let network: Network = written.parse().ok()?;
            let used = addresses?.iter().any(|address| network.contains(*address));
            used.then_some(InUse { node, network, written })
        })
    };
    nodes.iter().flat_map(of_node).collect()
}

fn network_of(used: &InUse<'_>) -> Evidence {
    Evidence::field(format!("Node {}", used.node.metadata.name), "spec.podCIDR", used.written)
}

fn nodes_inside(ctx: &Context<'_>, inside: &[(&Node, IpAddr, &InUse<'_>)]) -> Finding {
    let mut evidence = Vec::new();
    for (node, address, used) in inside.iter().take(QUOTED) {
        let object = format!("Node {}", node.metadata.name);
        evidence.push(Evidence::field(object, "status.addresses[InternalIP]", address.to_string()));
        evidence.push(network_of(used));
    }
    let subject = |node: &Node| Subject::node(&node.metadata.name);
    let (first, ..) = inside[0];
    let finding = ctx.finding(
        subject(first),
        "the address of a node is in the pod network of a node: traffic from pods to that node, including \
        its API server or DNS, may be sent to another node and time out",
    );
    let finding = inside.iter().skip(1).fold(finding, |finding, (node, ..)| finding.subject(subject(node)));
    finding.parameter("nodes").evidences(evidence).remedy(rebuild())
}

fn services_inside(ctx: &Context<'_>, inside: &[(&Service, IpAddr, &InUse<'_>)], pods: &[Pod]) -> Finding {
    let mut evidence = Vec::new();
    for (service, address, used) in inside.iter().take(QUOTED) {
        evidence.push(Evidence::field(service.metadata.described("Service"), "spec.clusterIP", address.to_string()));
        evidence.push(network_of(used));
    }
    let more = inside.len().saturating_sub(QUOTED);
    if more > 0 {
        evidence.push(Evidence::other("Services", format!("{more} more")));
    }
    let addresses: HashSet<IpAddr> = inside.iter().map(|(_, address, _)| *address).collect();
    let taken = pods.iter().find(|pod| {
        let address = pod.status.pod_ip.filter(|_| !pod.spec.host_network && !pod.is_finished());
        address.is_some_and(|address| addresses.contains(&address))
    });
    evidence.extend(taken.map(|pod| {
        let object = pod.described();
        let said = pod.status.pod_ip.map(|address| address.to_string()).unwrap_or_default();
        Evidence::field(object, "status.podIP", said)
    }));
    let message = match taken {
        Some(_) => {
            "a pod has the address of a Service, because the networks of pods and Services overlap: traffic \
            to the pod goes to the Service, or the reverse"
        }
        None => {
            "Services have addresses in the pod network of a node: the first pod that gets such an address \
            is unreachable, and proxies treat it as the Service"
        }
    };
    let finding = ctx
        .finding(Subject::thing("the cluster's networks"), message)
        .parameter("services")
        .evidences(evidence)
        .remedy(rebuild());
    if taken.is_some() { finding } else { finding.severity(Severity::Warning) }
}

fn rebuild() -> Remedy {
    let wide = "-o custom-columns=NODE:.metadata.name,ADDRESS:.status.addresses[0].address,PODS:.spec.podCIDR";
    Remedy::new()
        .command(
            "Compare the networks of nodes, pods and Services: they must not overlap",
            kubectl().words("get nodes").words(wide),
        )
        .note(
            "Rebuild the cluster with separate networks, since those of pods and Services cannot be changed \
            later (kubeadm: podSubnet and serviceSubnet; k3s: --cluster-cidr and --service-cidr)",
        )
}
