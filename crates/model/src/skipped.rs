//! The ports that a pod's iptables rules skip, so that their traffic bypasses the proxy.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::node::{NodeSnapshot, RuntimeKind};
use super::policy::{Ports, listed_ports};
use crate::finding::{Evidence, Place};
use crate::networks::Network;
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

/// A direction, with its annotation and its argument of linkerd-init.
#[derive(Debug, Clone, Copy)]
pub struct SkipDirection {
    /// The annotation that lists the ports.
    pub annotation: &'static str,
    argument: &'static str,
    /// Ports that linkerd-init skips for every pod and that the proxy handles itself.
    own: &'static [u16],
}

/// Inbound connections.
pub const IN: SkipDirection = SkipDirection {
    annotation: "config.linkerd.io/skip-inbound-ports",
    argument: "--inbound-ports-to-ignore",
    own: &[4190, 4191],
};
/// Outbound connections.
pub const OUT: SkipDirection = SkipDirection {
    annotation: "config.linkerd.io/skip-outbound-ports",
    argument: "--outbound-ports-to-ignore",
    own: &[],
};

/// Inbound connections from these ranges, whatever the port.
const SUBNETS: SkipDirection =
    SkipDirection { annotation: "config.linkerd.io/skip-subnets", argument: "--subnets-to-ignore", own: &[] };

/// A list of skipped ports and its source.
pub struct Skipped<'a> {
    pod: &'a Pod,
    ports: Ports,
    way: SkipDirection,
    /// The list as written.
    list: &'a str,
    /// Whether it comes from the pod's own annotation.
    pub annotated: bool,
}

impl Skipped<'_> {
    /// Whether it contains an application port.
    pub fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !self.way.own.contains(&port)
    }

    /// The list as written.
    pub fn list(&self) -> &str {
        self.list
    }

    /// The source of the list as evidence.
    pub fn by(&self) -> Evidence {
        source(self.pod, self.way, self.list, self.annotated)
    }
}

/// The source of a list as evidence.
fn source(pod: &Pod, way: SkipDirection, list: &str, annotated: bool) -> Evidence {
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    match annotated {
        true => Evidence::field(object, format!("metadata.annotations[{}]", way.annotation), list),
        false => {
            let said = format!("{} {list}", way.argument);
            Evidence::field(object, format!("spec.initContainers[{INIT_CONTAINER}].args"), said)
        }
    }
}

/// The ranges of client addresses whose connections to a pod bypass its proxy.
pub struct SkippedSubnets {
    /// The lists that may apply, with their sources: one, or those of nodes that differ.
    lists: Vec<(String, Evidence)>,
}

impl SkippedSubnets {
    /// Whether they contain a client's address; `None` if it is unknown, if a range cannot be read, or if nodes differ.
    pub fn contain(&self, address: Option<IpAddr>) -> Option<bool> {
        let mut answers = self.lists.iter().map(|(list, _)| contains(list, address));
        let first = answers.next()??;
        answers.all(|answer| answer == Some(first)).then_some(first)
    }

    /// The ranges, as written.
    pub fn list(&self) -> String {
        let mut lists: Vec<&str> = Vec::new();
        for (list, _) in &self.lists {
            if !list.is_empty() && !lists.contains(&list.as_str()) {
                lists.push(list);
            }
        }
        lists.join(" or ")
    }

    /// Whether the pod's own list is unknown, and nodes have different ones.
    pub fn differ(&self) -> bool {
        self.lists.len() > 1
    }

    /// The sources of the lists as evidence.
    pub fn by(&self) -> Vec<Evidence> {
        self.lists.iter().map(|(_, by)| by.clone()).collect()
    }
}

/// Whether a list of ranges contains an address; `None` if it is unknown, or if a range cannot be read.
fn contains(list: &str, address: Option<IpAddr>) -> Option<bool> {
    let ranges = list.split(',').map(str::trim).filter(|range| !range.is_empty());
    let networks: Vec<Option<Network>> = ranges.map(|range| range.parse().ok()).collect();
    if networks.is_empty() {
        return Some(false);
    }
    let address = address?;
    match networks.iter().flatten().any(|network| network.contains(address)) {
        true => Some(true),
        false => networks.iter().all(Option::is_some).then_some(false),
    }
}

/// The ranges that linkerd-cni skips for all pods of a node, by node, from the files of nodes.
#[derive(Debug, Default)]
pub struct NodeSubnets(BTreeMap<String, (String, Evidence)>);

impl NodeSubnets {
    /// Reads the entry of linkerd-cni that each node runs. Nodes on which this is unknown are left out.
    pub fn new(snapshots: &[NodeSnapshot]) -> NodeSubnets {
        let of_node = |snapshot: &NodeSnapshot| {
            let chain = snapshot.chain(RuntimeKind::Unknown);
            let running = chain.entries.first()?;
            let list = running.entry.subnets_to_ignore.value().cloned().unwrap_or_default().join(",");
            let place = Place::File {
                node: snapshot.node.clone(),
                file: running.file.path(),
                path: Some(running.entry.path_of("linkerd.subnets-to-ignore")),
                line: None,
                column: None,
            };
            let said = if list.is_empty() { "empty".to_owned() } else { list.clone() };
            Some((snapshot.node.clone(), (list, Evidence { place, said })))
        };
        NodeSubnets(snapshots.iter().filter_map(of_node).collect())
    }

    /// The lists that may apply to the pods of a node: its own; if that is unknown, the different ones of other nodes.
    fn for_node(&self, node: &str) -> Vec<(String, Evidence)> {
        if let Some(own) = self.0.get(node) {
            return vec![own.clone()];
        }
        let mut lists: Vec<(String, Evidence)> = Vec::new();
        for other in self.0.values() {
            if lists.iter().all(|(list, _)| *list != other.0) {
                lists.push(other.clone());
            }
        }
        lists
    }
}

/// The skipped ranges of a pod's port: from the annotation or the arguments of linkerd-init; without both, from the
/// configuration of linkerd-cni on its node. The proxy's own ports are not redirected, so they are not skipped either.
pub fn skipped_subnets(pod: &Pod, port: u16, nodes: &NodeSubnets) -> Option<SkippedSubnets> {
    if IN.own.contains(&port) {
        return None;
    }
    if let Some((list, annotated)) = listed(pod, SUBNETS) {
        let by = source(pod, SUBNETS, list, annotated);
        return Some(SkippedSubnets { lists: vec![(list.to_owned(), by)] });
    }
    let by_cni = pod.spec.container(INIT_CONTAINER).is_none() && !pod.spec.host_network;
    let lists = if by_cni { nodes.for_node(&pod.node_name) } else { Vec::new() };
    lists.iter().any(|(list, _)| !list.is_empty()).then_some(SkippedSubnets { lists })
}

/// The skipped ports of a pod in a direction: from its annotation, which linkerd-cni and the injector read,
/// or from the arguments of linkerd-init, which contain the chart's lists.
pub fn skipped(pod: &Pod, way: SkipDirection) -> Option<Skipped<'_>> {
    let (list, annotated) = listed(pod, way)?;
    Some(Skipped { pod, ports: listed_ports(list), way, list, annotated })
}

/// A list, and whether it is the annotation's.
fn listed(pod: &Pod, way: SkipDirection) -> Option<(&str, bool)> {
    let annotation = pod.metadata.annotation(way.annotation).filter(|list| !list.trim().is_empty());
    let list = annotation.or_else(|| {
        let mut args = pod.spec.container(INIT_CONTAINER)?.args.iter();
        let said = args.find_map(|arg| {
            arg.strip_prefix(way.argument).filter(|rest| rest.is_empty() || rest.starts_with('='))
        })?;
        said.strip_prefix('=').or_else(|| args.next().map(String::as_str))
    })?;
    (!list.trim().is_empty()).then_some((list, annotation.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_address_decides_about_skipped_subnets() {
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "api", "namespace": "shop",
                "annotations": {"config.linkerd.io/skip-subnets": "10.0.0.0/8, fd00::/8"}},
            "spec": {"containers": []},
        }))
        .expect("a pod");
        let nodes = NodeSubnets::default();
        let skipped = skipped_subnets(&pod, 80, &nodes).expect("ranges");
        let contains = |address: &str| skipped.contain(address.parse().ok());
        assert_eq!(contains("10.1.2.3"), Some(true));
        assert_eq!(contains("fd00::1"), Some(true));
        assert_eq!(contains("192.168.0.1"), Some(false));
        assert_eq!(contains("unknown"), None);
        assert!(skipped_subnets(&pod, 4191, &nodes).is_none());
    }

    #[test]
    fn subnets_of_a_node_apply_to_its_pods() {
        let by = |list: &str| (list.to_owned(), Evidence::other("a node", list));
        let nodes = |all: &[(&str, &str)]| {
            NodeSubnets(all.iter().map(|(node, list)| ((*node).to_owned(), by(list))).collect())
        };
        let pod = |node: &str, init: &str| -> Pod {
            let containers = if init.is_empty() { vec![] } else { vec![serde_json::json!({"name": init})] };
            serde_json::from_value(serde_json::json!({
                "metadata": {"name": "api", "namespace": "shop"},
                "spec": {"nodeName": node, "containers": [], "initContainers": containers},
            }))
            .expect("a pod")
        };
        let of = |pod: &Pod, nodes: &NodeSubnets, address: &str| {
            skipped_subnets(pod, 80, nodes).map(|skipped| skipped.contain(address.parse().ok()))
        };
        let differ = nodes(&[("a", "10.0.0.0/8"), ("b", "")]);
        assert_eq!(of(&pod("a", ""), &differ, "10.1.2.3"), Some(Some(true)));
        assert_eq!(of(&pod("b", ""), &differ, "10.1.2.3"), None);
        // A node without files may be like any of them.
        assert_eq!(of(&pod("c", ""), &differ, "10.1.2.3"), Some(None));
        assert_eq!(of(&pod("c", ""), &differ, "192.168.0.1"), Some(Some(false)));
        let equal = nodes(&[("a", "10.0.0.0/8"), ("b", "10.0.0.0/8")]);
        assert_eq!(of(&pod("c", ""), &equal, "10.1.2.3"), Some(Some(true)));
        // linkerd-init has its own list.
        assert_eq!(of(&pod("a", INIT_CONTAINER), &differ, "10.1.2.3"), None);
        assert_eq!(of(&pod("a", ""), &NodeSubnets::default(), "10.1.2.3"), None);
    }
}
