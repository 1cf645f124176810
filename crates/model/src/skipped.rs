//! The ports that a pod's iptables rules skip, so that their traffic bypasses the proxy.

use std::net::IpAddr;

use super::policy::{Ports, listed_ports};
use crate::finding::Evidence;
use crate::networks::Network;
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

/// A direction, with its annotation and its argument of linkerd-init.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// The annotation that lists the ports.
    pub annotation: &'static str,
    argument: &'static str,
    /// Ports that linkerd-init skips for every pod and that the proxy handles itself.
    own: &'static [u16],
}

/// Inbound connections.
pub const IN: Way = Way {
    annotation: "config.linkerd.io/skip-inbound-ports",
    argument: "--inbound-ports-to-ignore",
    own: &[4190, 4191],
};
/// Outbound connections.
pub const OUT: Way = Way {
    annotation: "config.linkerd.io/skip-outbound-ports",
    argument: "--outbound-ports-to-ignore",
    own: &[],
};

/// Inbound connections from these ranges, whatever the port.
const SUBNETS: Way =
    Way { annotation: "config.linkerd.io/skip-subnets", argument: "--subnets-to-ignore", own: &[] };

/// A list of skipped ports and its source.
pub struct Skipped<'a> {
    pod: &'a Pod,
    ports: Ports,
    way: Way,
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
fn source(pod: &Pod, way: Way, list: &str, annotated: bool) -> Evidence {
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
pub struct SkippedSubnets<'a> {
    pod: &'a Pod,
    /// The list as written.
    pub list: &'a str,
    annotated: bool,
}

impl SkippedSubnets<'_> {
    /// Whether they contain a client's address; `None` if it is unknown, or if a range cannot be read.
    pub fn contain(&self, address: Option<IpAddr>) -> Option<bool> {
        let ranges = self.list.split(',').map(str::trim).filter(|range| !range.is_empty());
        let networks: Vec<Option<Network>> = ranges.map(|range| range.parse().ok()).collect();
        let address = address?;
        match networks.iter().flatten().any(|network| network.contains(address)) {
            true => Some(true),
            false => networks.iter().all(Option::is_some).then_some(false),
        }
    }

    /// The source of the list as evidence.
    pub fn by(&self) -> Evidence {
        source(self.pod, SUBNETS, self.list, self.annotated)
    }
}

/// The skipped ranges of a pod's port, from the annotation or the arguments of linkerd-init. The proxy's own ports
/// are not redirected, so they are not skipped either.
pub fn skipped_subnets(pod: &Pod, port: u16) -> Option<SkippedSubnets<'_>> {
    if IN.own.contains(&port) {
        return None;
    }
    let (list, annotated) = listed(pod, SUBNETS)?;
    Some(SkippedSubnets { pod, list, annotated })
}

/// The skipped ports of a pod in a direction: from its annotation, which linkerd-cni and the injector read,
/// or from the arguments of linkerd-init, which contain the chart's lists.
pub fn skipped(pod: &Pod, way: Way) -> Option<Skipped<'_>> {
    let (list, annotated) = listed(pod, way)?;
    Some(Skipped { pod, ports: listed_ports(list), way, list, annotated })
}

/// A list, and whether it is the annotation's.
fn listed(pod: &Pod, way: Way) -> Option<(&str, bool)> {
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
        let skipped = skipped_subnets(&pod, 80).expect("ranges");
        let contains = |address: &str| skipped.contain(address.parse().ok());
        assert_eq!(contains("10.1.2.3"), Some(true));
        assert_eq!(contains("fd00::1"), Some(true));
        assert_eq!(contains("192.168.0.1"), Some(false));
        assert_eq!(contains("unknown"), None);
        assert!(skipped_subnets(&pod, 4191).is_none());
    }
}
