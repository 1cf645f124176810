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

impl Way {
    /// The annotation that lists the ports.
    pub fn annotation(self) -> &'static str {
        self.annotation
    }
}

impl Skipped<'_> {
    /// The annotation's list without a port, `None` if nothing is left; the outer `None` if the list is not the
    /// annotation's, or if a range holds the port.
    pub fn without(&self, port: u16) -> Option<Option<String>> {
        let parts: Vec<&str> = self.list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let is_in_range = |part: &&str| part.contains('-') && listed_ports(part).contains(port);
        if !self.annotated || parts.iter().any(is_in_range) {
            return None;
        }
        let left: Vec<&str> = parts.into_iter().filter(|part| part.parse::<u16>() != Ok(port)).collect();
        Some((!left.is_empty()).then(|| left.join(",")))
    }

    /// Whether it contains an application port.
    pub fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !self.way.own.contains(&port)
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
