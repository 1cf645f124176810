//! The ports that a pod's iptables rules skip, so that their traffic bypasses the proxy.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::node::{LinkerdEntry, NodeSnapshot, RuntimeKind};
use super::policy::{Ports, listed_ports};
use crate::finding::{Evidence, Place};
use crate::networks::Network;
use crate::objects::container::INIT_CONTAINER;
use crate::objects::{ConfigMap, Pod};

/// A list of skipped traffic: ports of a direction, or ranges of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipDirection {
    /// Ports of inbound connections.
    Inbound,
    /// Ports of outbound connections.
    Outbound,
    /// Ranges whose inbound connections are skipped, whatever the port.
    Subnets,
}

/// Inbound connections.
pub const IN: SkipDirection = SkipDirection::Inbound;
/// Outbound connections.
pub const OUT: SkipDirection = SkipDirection::Outbound;
/// Inbound connections from these ranges.
const SUBNETS: SkipDirection = SkipDirection::Subnets;

impl SkipDirection {
    /// The annotation with the list.
    pub const fn annotation(self) -> &'static str {
        match self {
            SkipDirection::Inbound => "config.linkerd.io/skip-inbound-ports",
            SkipDirection::Outbound => "config.linkerd.io/skip-outbound-ports",
            SkipDirection::Subnets => "config.linkerd.io/skip-subnets",
        }
    }

    /// The argument of linkerd-init.
    fn argument(self) -> &'static str {
        match self {
            SkipDirection::Inbound => "--inbound-ports-to-ignore",
            SkipDirection::Outbound => "--outbound-ports-to-ignore",
            SkipDirection::Subnets => "--subnets-to-ignore",
        }
    }

    /// The field of linkerd-cni's configuration.
    fn field(self) -> &'static str {
        match self {
            SkipDirection::Inbound => "linkerd.inbound-ports-to-ignore",
            SkipDirection::Outbound => "linkerd.outbound-ports-to-ignore",
            SkipDirection::Subnets => "linkerd.subnets-to-ignore",
        }
    }

    /// Ports that linkerd-init skips for every pod and that the proxy handles itself.
    fn own(self) -> &'static [u16] {
        match self {
            SkipDirection::Inbound => &[4190, 4191],
            SkipDirection::Outbound | SkipDirection::Subnets => &[],
        }
    }

    /// The list in a configuration of linkerd-cni.
    fn configured(self, entry: &LinkerdEntry) -> String {
        let list = match self {
            SkipDirection::Inbound => &entry.inbound_ports_to_ignore,
            SkipDirection::Outbound => &entry.outbound_ports_to_ignore,
            SkipDirection::Subnets => &entry.subnets_to_ignore,
        };
        list.value().cloned().unwrap_or_default().join(",")
    }
}

/// The kind of the source of a list of skipped ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSource {
    /// The pod's own annotation.
    Annotation,
    /// The arguments of linkerd-init, which contain the chart's list.
    LinkerdInit,
    /// The configuration of linkerd-cni, which applies to all pods of its nodes.
    Cni,
}

/// The source of a list of skipped ports.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Annotation(&'a Pod),
    Arguments(&'a Pod),
    Cni(&'a Evidence),
}

/// A list of skipped ports and its source.
pub struct Skipped<'a> {
    source: Source<'a>,
    ports: Ports,
    way: SkipDirection,
    /// The list as written.
    list: &'a str,
}

impl Skipped<'_> {
    /// Whether it contains an application port.
    pub fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !self.way.own().contains(&port)
    }

    /// The list as written.
    pub fn list(&self) -> &str {
        self.list
    }

    /// Whether it comes from the pod's own annotation.
    pub fn is_annotated(&self) -> bool {
        matches!(self.source, Source::Annotation(_))
    }

    /// The kind of its source.
    pub fn source(&self) -> ListSource {
        match self.source {
            Source::Annotation(_) => ListSource::Annotation,
            Source::Arguments(_) => ListSource::LinkerdInit,
            Source::Cni(_) => ListSource::Cni,
        }
    }

    /// The source of the list as evidence.
    pub fn by(&self) -> Evidence {
        match self.source {
            Source::Annotation(pod) => source(pod, self.way, self.list, true),
            Source::Arguments(pod) => source(pod, self.way, self.list, false),
            Source::Cni(by) => by.clone(),
        }
    }
}

/// The source of a list as evidence.
fn source(pod: &Pod, way: SkipDirection, list: &str, annotated: bool) -> Evidence {
    let object = pod.described();
    match annotated {
        true => Evidence::field(object, format!("metadata.annotations[{}]", way.annotation()), list),
        false => {
            let said = format!("{} {list}", way.argument());
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

/// The lists of one configuration of linkerd-cni, with their sources.
#[derive(Debug, Clone)]
struct CniLists {
    inbound: (String, Evidence),
    outbound: (String, Evidence),
    subnets: (String, Evidence),
}

impl CniLists {
    fn new(entry: &LinkerdEntry, place: impl Fn(&str) -> Place) -> CniLists {
        let list = |way: SkipDirection| {
            let list = way.configured(entry);
            let said = if list.is_empty() { "empty".to_owned() } else { list.clone() };
            (list, Evidence { place: place(way.field()), said })
        };
        CniLists { inbound: list(IN), outbound: list(OUT), subnets: list(SUBNETS) }
    }

    fn list(&self, way: SkipDirection) -> &(String, Evidence) {
        match way {
            SkipDirection::Inbound => &self.inbound,
            SkipDirection::Outbound => &self.outbound,
            SkipDirection::Subnets => &self.subnets,
        }
    }
}

/// The ports and ranges that linkerd-cni skips for all pods of a node: by node from the files of nodes, and from the
/// ConfigMap that its installer writes to all nodes.
#[derive(Debug, Default)]
pub struct CniSkips {
    nodes: BTreeMap<String, CniLists>,
    template: Option<CniLists>,
}

impl CniSkips {
    /// Reads the entry of linkerd-cni that each node runs, and the template in `config`. Nodes on which the entry is
    /// unknown are left out.
    pub fn new(snapshots: &[NodeSnapshot], config: Option<&ConfigMap>) -> CniSkips {
        let of_node = |snapshot: &NodeSnapshot| {
            let chain = snapshot.chain(RuntimeKind::Unknown);
            let running = chain.entries.first()?;
            let place = |field: &str| Place::File {
                node: snapshot.node.clone(),
                file: running.file.path(),
                path: Some(running.entry.path_of(field)),
                line: None,
                column: None,
            };
            Some((snapshot.node.clone(), CniLists::new(running.entry, place)))
        };
        let template = config.and_then(|config| {
            let entry = LinkerdEntry::of_text(config.data.get("cni_network_config")?)?;
            let object = config.metadata.described("ConfigMap");
            let place =
                |field: &str| Evidence::field(object.as_str(), format!("data.cni_network_config: {field}"), "").place;
            Some(CniLists::new(&entry, place))
        });
        CniSkips { nodes: snapshots.iter().filter_map(of_node).collect(), template }
    }

    /// The lists that may apply to the pods of a node: its own; if that is unknown, the different ones of other nodes
    /// and of the template.
    fn for_node(&self, node: &str, way: SkipDirection) -> Vec<&(String, Evidence)> {
        if let Some(own) = self.nodes.get(node) {
            return vec![own.list(way)];
        }
        let mut lists: Vec<&(String, Evidence)> = Vec::new();
        for other in self.nodes.values().chain(&self.template).map(|lists| lists.list(way)) {
            if lists.iter().all(|(list, _)| *list != other.0) {
                lists.push(other);
            }
        }
        lists
    }

    /// The only list that may apply to a pod whose rules linkerd-cni writes.
    fn only(&self, pod: &Pod, way: SkipDirection) -> Option<&(String, Evidence)> {
        match self.for_node(&pod.node_name, way)[..] {
            [only] if is_redirected_by_cni(pod) => Some(only),
            _ => None,
        }
    }
}

/// Whether linkerd-cni, if installed, writes a pod's rules.
pub fn is_redirected_by_cni(pod: &Pod) -> bool {
    pod.spec.proxy().is_some() && pod.spec.container(INIT_CONTAINER).is_none() && !pod.spec.host_network
}

/// The skipped ranges of a pod's port: from the annotation or the arguments of linkerd-init; without both, from the
/// configuration of linkerd-cni on its node. The proxy's own ports are not redirected, so they are not skipped either.
pub fn skipped_subnets(pod: &Pod, port: u16, cni: &CniSkips) -> Option<SkippedSubnets> {
    if IN.own().contains(&port) {
        return None;
    }
    if let Some((list, annotated)) = listed(pod, SUBNETS) {
        let by = source(pod, SUBNETS, list, annotated);
        return Some(SkippedSubnets { lists: vec![(list.to_owned(), by)] });
    }
    let lists = if is_redirected_by_cni(pod) { cni.for_node(&pod.node_name, SUBNETS) } else { Vec::new() };
    let lists: Vec<(String, Evidence)> = lists.into_iter().cloned().collect();
    lists.iter().any(|(list, _)| !list.is_empty()).then_some(SkippedSubnets { lists })
}

/// The skipped ports of a pod in a direction: from its annotation, which linkerd-cni and the injector read,
/// from the arguments of linkerd-init, which contain the chart's lists, or from the configuration of linkerd-cni.
pub fn skipped<'a>(pod: &'a Pod, way: SkipDirection, cni: &'a CniSkips) -> Option<Skipped<'a>> {
    let (list, source) = match listed(pod, way) {
        Some((list, true)) => (list, Source::Annotation(pod)),
        Some((list, false)) => (list, Source::Arguments(pod)),
        None => {
            let (list, by) = cni.only(pod, way).filter(|(list, _)| !list.is_empty())?;
            (list.as_str(), Source::Cni(by))
        }
    };
    Some(Skipped { source, ports: listed_ports(list), way, list })
}

/// Whether connections to a port pass a pod's proxy by, as its annotation or the arguments of linkerd-init show.
pub fn passes_by(pod: &Pod, way: SkipDirection, port: u16) -> bool {
    skipped(pod, way, &CniSkips::default()).is_some_and(|skipped| skipped.holds(port))
}

/// A list, and whether it is the annotation's.
fn listed(pod: &Pod, way: SkipDirection) -> Option<(&str, bool)> {
    let annotation = pod.metadata.annotation(way.annotation()).filter(|list| !list.trim().is_empty());
    let list = annotation.or_else(|| {
        let mut args = pod.spec.container(INIT_CONTAINER)?.args.iter();
        let said = args
            .find_map(|arg| arg.strip_prefix(way.argument()).filter(|rest| rest.is_empty() || rest.starts_with('=')))?;
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
        let nodes = CniSkips::default();
        let skipped = skipped_subnets(&pod, 80, &nodes).expect("ranges");
        let contains = |address: &str| skipped.contain(address.parse().ok());
        assert_eq!(contains("10.1.2.3"), Some(true));
        assert_eq!(contains("fd00::1"), Some(true));
        assert_eq!(contains("192.168.0.1"), Some(false));
        assert_eq!(contains("unknown"), None);
        assert!(skipped_subnets(&pod, 4191, &nodes).is_none());
    }

    /// The skips of linkerd-cni on nodes, and those of its template.
    fn cni(nodes: &[(&str, CniLists)], template: Option<CniLists>) -> CniSkips {
        CniSkips { nodes: nodes.iter().map(|(node, lists)| ((*node).to_owned(), lists.clone())).collect(), template }
    }

    fn lists(inbound: &str, outbound: &str, subnets: &str) -> CniLists {
        let list = |list: &str| (list.to_owned(), Evidence::other("a node", list));
        CniLists { inbound: list(inbound), outbound: list(outbound), subnets: list(subnets) }
    }

    fn pod(node: &str, init: &str, annotations: serde_json::Value) -> Pod {
        let containers = if init.is_empty() { vec![] } else { vec![serde_json::json!({"name": init})] };
        serde_json::from_value(serde_json::json!({
            "metadata": {"name": "api", "namespace": "shop", "annotations": annotations},
            "spec": {"nodeName": node, "containers": [{"name": "linkerd-proxy"}], "initContainers": containers},
        }))
        .expect("a pod")
    }

    #[test]
    fn subnets_of_a_node_apply_to_its_pods() {
        let by = |list: &str| lists("", "", list);
        let plain = serde_json::json!({});
        let of = |node: &str, init: &str, cni: &CniSkips, address: &str| {
            skipped_subnets(&pod(node, init, plain.clone()), 80, cni)
                .map(|skipped| skipped.contain(address.parse().ok()))
        };
        let differ = cni(&[("a", by("10.0.0.0/8")), ("b", by(""))], None);
        assert_eq!(of("a", "", &differ, "10.1.2.3"), Some(Some(true)));
        assert_eq!(of("b", "", &differ, "10.1.2.3"), None);
        // A node without files may be like any of them.
        assert_eq!(of("c", "", &differ, "10.1.2.3"), Some(None));
        assert_eq!(of("c", "", &differ, "192.168.0.1"), Some(Some(false)));
        let equal = cni(&[("a", by("10.0.0.0/8")), ("b", by("10.0.0.0/8"))], None);
        assert_eq!(of("c", "", &equal, "10.1.2.3"), Some(Some(true)));
        // The installer writes the template to all nodes, unless a node shows that it has not.
        let template = || Some(by("10.0.0.0/8"));
        assert_eq!(of("c", "", &cni(&[], template()), "10.1.2.3"), Some(Some(true)));
        assert_eq!(of("c", "", &cni(&[("a", by(""))], template()), "10.1.2.3"), Some(None));
        // linkerd-init has its own list.
        assert_eq!(of("a", INIT_CONTAINER, &differ, "10.1.2.3"), None);
        assert_eq!(of("a", "", &CniSkips::default(), "10.1.2.3"), None);
    }

    #[test]
    fn ports_of_linkerd_cni_apply_to_pods_without_annotation_and_init_container() {
        let template = cni(&[], Some(lists("4190,4191,8080", "25,3306", "")));
        let plain = serde_json::json!({});
        let skips = |pod: &Pod, way, port| skipped(pod, way, &template).is_some_and(|list| list.holds(port));
        let by_cni = pod("a", "", plain.clone());
        assert!(skips(&by_cni, IN, 8080) && skips(&by_cni, OUT, 3306));
        assert!(!skips(&by_cni, IN, 4191) && !skips(&by_cni, OUT, 8080));
        assert!(!skips(&pod("a", INIT_CONTAINER, plain), IN, 8080));
        let annotated = pod("a", "", serde_json::json!({"config.linkerd.io/skip-inbound-ports": "9000"}));
        assert!(skips(&annotated, IN, 9000) && !skips(&annotated, IN, 8080));
        // Nodes that differ, and the node of the pod is not known.
        let differ = cni(&[("a", lists("8080", "", "")), ("b", lists("", "", ""))], None);
        assert!(skipped(&pod("c", "", serde_json::json!({})), IN, &differ).is_none());
    }
}
