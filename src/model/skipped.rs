//! The ports that the rules of a pod leave aside: what comes to them, or goes out to them, does not pass its proxy.

use super::policy::{Ports, listed_ports};
use crate::finding::Evidence;
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

/// A direction, by the annotation and by the argument of linkerd-init.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    annotation: &'static str,
    argument: &'static str,
    /// Ports that linkerd-init leaves aside for every pod, and on which the proxy decides itself.
    own: &'static [u16],
}

/// What comes to a pod.
pub const IN: Way = Way {
    annotation: "config.linkerd.io/skip-inbound-ports",
    argument: "--inbound-ports-to-ignore",
    own: &[4190, 4191],
};
/// What a pod sends.
pub const OUT: Way = Way {
    annotation: "config.linkerd.io/skip-outbound-ports",
    argument: "--outbound-ports-to-ignore",
    own: &[],
};

/// What is left aside, and what says so.
pub struct Skipped<'a> {
    pod: &'a Pod,
    ports: Ports,
    way: Way,
    /// The list as it is written.
    list: &'a str,
    /// Whether the pod's own annotation says it.
    pub annotated: bool,
}

impl Skipped<'_> {
    /// Whether a port is one of an application's that is left aside.
    pub fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !self.way.own.contains(&port)
    }

    /// Where it stands.
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

/// What a pod's rules leave aside in a direction: by its annotation, which linkerd-cni and the injector read, or by the arguments of
/// its linkerd-init, in which the chart's lists are.
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
