//! The ports that the rules of a pod leave aside: what comes to them, or goes out to them, does not pass its proxy.

use crate::finding::Evidence;
use crate::model::policy::{Ports, listed_ports};
use crate::objects::Pod;
use crate::objects::container::INIT_CONTAINER;

/// A direction, by the annotation and by the argument of linkerd-init.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    annotation: &'static str,
    argument: &'static str,
}

/// What comes to a pod.
pub(super) const IN: Way =
    Way { annotation: "config.linkerd.io/skip-inbound-ports", argument: "--inbound-ports-to-ignore" };
/// What a pod sends.
pub(super) const OUT: Way =
    Way { annotation: "config.linkerd.io/skip-outbound-ports", argument: "--outbound-ports-to-ignore" };

/// The ports by which the proxy is asked itself: linkerd-init leaves them aside for every pod, and the proxy decides on them.
const OWN: [u16; 2] = [4190, 4191];

/// What is left aside, and what says so.
pub(super) struct Skipped<'a> {
    pod: &'a Pod,
    ports: Ports,
    way: Way,
    /// The list as it is written.
    list: &'a str,
    /// Whether the pod's own annotation says it.
    pub(super) annotated: bool,
}

impl Skipped<'_> {
    /// Whether a port is one of an application's that is left aside.
    pub(super) fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !OWN.contains(&port)
    }

    /// Where it stands.
    pub(super) fn by(&self) -> Evidence {
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
pub(super) fn skipped(pod: &Pod, way: Way) -> Option<Skipped<'_>> {
    let annotation = pod.metadata.annotation(way.annotation).filter(|list| !list.trim().is_empty());
    let list = annotation.or_else(|| {
        let args = &pod.spec.container(INIT_CONTAINER)?.args;
        let at = args.iter().position(|arg| arg == way.argument)?;
        args.get(at + 1).map(String::as_str)
    })?;
    Some(Skipped { pod, ports: listed_ports(list), way, list, annotated: annotation.is_some() })
}
