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
pub(super) struct Skipped {
    ports: Ports,
    /// Where it stands.
    pub(super) by: Evidence,
    /// Whether the pod's own annotation says it.
    pub(super) annotated: bool,
}

impl Skipped {
    /// Whether a port is one of an application's that is left aside.
    pub(super) fn holds(&self, port: u16) -> bool {
        self.ports.contains(port) && !OWN.contains(&port)
    }
}

/// What a pod's rules leave aside in a direction: by its annotation, which linkerd-cni and the injector read, or by the arguments of
/// its linkerd-init, in which the chart's lists are.
pub(super) fn skipped(pod: &Pod, way: Way) -> Option<Skipped> {
    let object = || format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    if let Some(list) = pod.metadata.annotation(way.annotation).filter(|list| !list.trim().is_empty()) {
        let path = format!("metadata.annotations[{}]", way.annotation);
        return Some(Skipped {
            ports: listed_ports(list),
            by: Evidence::field(object(), path, list),
            annotated: true,
        });
    }
    let args = &pod.spec.container(INIT_CONTAINER)?.args;
    let next = args.iter().position(|arg| arg == way.argument).and_then(|at| args.get(at + 1));
    let list = next?;
    let path = format!("spec.initContainers[{INIT_CONTAINER}].args");
    let said = format!("{} {list}", way.argument);
    Some(Skipped { ports: listed_ports(list), by: Evidence::field(object(), path, said), annotated: false })
}
