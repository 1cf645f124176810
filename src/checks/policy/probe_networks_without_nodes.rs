//! `probe-networks-without-nodes`: the policy controller allows no probes from the kubelets' addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::installed;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::networks::Network;
use crate::model::policy::{Controller, Quirks};

/// Maximum number of quoted nodes.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>();
    let deployments = ctx.complete_list::<Deployment>()?;
    let pods = ctx.complete_list::<Pod>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let version = installed(deployments, None, namespace).map(|(version, _)| version);
    let quirks = Quirks::from_version(version.as_ref(), ctx.knowledge);
    let controller = Controller::find(deployments, namespace, quirks)
        .map_err(|trouble| Unjudged::blocked("control-plane-not-ready", trouble.to_string()))?;
    let networks: Vec<Network> =
        controller.probe_networks.iter().filter_map(|network| network.to_string().parse().ok()).collect();
    let mut on: BTreeMap<&str, Vec<IpAddr>> = BTreeMap::new();
    let mut meshed: BTreeMap<&str, &Pod> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.spec.host_network && !pod.is_finished()) {
        let node = pod.node_name.as_str();
        on.entry(node).or_default().extend(pod.status.pod_ip);
        if pod.status.pod_ip.is_some() && pod.metadata.label(CONTROL_PLANE_NS) == Some(namespace) {
            meshed.entry(node).or_insert(pod);
        }
    }
    let shut: Vec<(&Node, Vec<IpAddr>)> = nodes?
        .iter()
        .filter_map(|node| {
            let name = node.metadata.name.as_str();
            let pod = meshed.get(name)?;
            let family = pod.status.pod_ip?.is_ipv4();
            let addresses: Vec<IpAddr> =
                node.internal_addresses().filter(|address| address.is_ipv4() == family).collect();
            let holds = |address: &IpAddr| networks.iter().any(|network| network.contains(*address));
            // With a bridge, the kubelet probes from an address of the pods' own network.
            let of_pods = on.get(name).is_some_and(|pods| pods.iter().any(holds));
            let by_cidr = node.pod_networks().filter_map(|written| written.parse::<Network>().ok());
            let mut by_cidr =
                by_cidr.filter(|own| networks.iter().any(|network| network.covers(own) || own.covers(network)));
            let outside = !addresses.is_empty() && !addresses.iter().any(holds);
            (outside && !of_pods && by_cidr.next().is_none()).then_some((node, addresses))
        })
        .collect();
    let Some((first, _)) = shut.first() else { return Ok(Vec::new().into()) };
    let evidence = shut.iter().take(QUOTED).map(|(node, addresses)| {
        let said: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        let object = format!("Node {}", node.metadata.name);
        Evidence::field(object, "status.addresses[InternalIP]", said.join(", "))
    });
    let written: Vec<String> = networks.iter().map(ToString::to_string).collect();
    let written = if written.is_empty() { "none".to_owned() } else { written.join(", ") };
    let subject = |node: &Node| Subject::node(&node.metadata.name);
    let finding = ctx.finding(
        subject(first),
        "the kubelet probes from an address outside of the policy controller's probe networks. On ports \
         whose policy does not allow every client, probes of this node's pods are denied and the pods do \
         not become ready",
    );
    let finding = shut.iter().skip(1).fold(finding, |finding, (node, _)| finding.subject(subject(node)));
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Allow probes from every address, which is the default, or list the networks of all nodes",
        Options::none()
            .set("policyController.probeNetworks[0]", "0.0.0.0/0")
            .set("policyController.probeNetworks[1]", "::/0"),
    );
    Ok(finding
        .likely()
        .evidence(Evidence::field(
            format!("Deployment {namespace}/linkerd-destination"),
            "spec.template.spec.containers[policy].args: --probe-networks",
            written,
        ))
        .evidences(evidence)
        .remedy(remedy)
        .into())
}
