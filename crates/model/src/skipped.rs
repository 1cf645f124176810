//! The ports that a pod's iptables rules skip, so that their traffic bypasses the proxy.

use super::policy::{Ports, listed_ports};
use crate::finding::Evidence;
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

/// A direction, with its annotation and its argument of linkerd-init.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    annotation: &'static str,
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
        let object = format!("Pod {}/{}", self.pod.metadata.namespace, self.pod.metadata.name);
        match self.annotated {
            true => {
                let path = format!("metadata.annotations[{}]", self.way.annotation);
                Evidence::field(object, path, self.list)
            }
            false => {
                let said = format!("{} {}", self.way.argument, self.list);
                Evidence::field(object, format!("spec.initContainers[{INIT_CONTAINER}].args"), said)
            }
        }
    }
}

/// The skipped ports of a pod in a direction: from its annotation, which linkerd-cni and the injector read,
/// or from the arguments of linkerd-init, which contain the chart's lists.
pub fn skipped(pod: &Pod, way: Way) -> Option<Skipped<'_>> {
    let annotation = pod.metadata.annotation(way.annotation).filter(|list| !list.trim().is_empty());
    let list = annotation.or_else(|| {
        let mut args = pod.spec.container(INIT_CONTAINER)?.args.iter();
        let said = args.find_map(|arg| {
            arg.strip_prefix(way.argument).filter(|rest| rest.is_empty() || rest.starts_with('='))
        })?;
        said.strip_prefix('=').or_else(|| args.next().map(String::as_str))
    })?;
    Some(Skipped { pod, ports: listed_ports(list), way, list, annotated: annotation.is_some() })
}
