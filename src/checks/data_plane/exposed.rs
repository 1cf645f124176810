//! How clients' proxies and the proxies of the pods behind a Service treat its ports. Shared by several
//! checks; produces no findings itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::opaque::{self, Opaque};
use super::selected::Selected;
use crate::checks::prelude::*;
use crate::model::control_plane::tag_version;
use crate::model::skipped::IN;
use crate::objects::{Server, ServerPort, ServicePort};
use crate::version::Contains;

/// The annotation that excludes inbound ports from the proxy.
const SKIPPED: &str = IN.annotation();

/// How a client's proxy treats connections to a port of a Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Treated {
    /// Waits for the client's first bytes to detect the protocol.
    Detected,
    /// Treats it as HTTP, because of its appProtocol.
    Http,
    /// Forwards the bytes unchanged, for this reason.
    Opaque(Because),
}

/// The reason why a port is opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    /// The Service's own list.
    List,
    /// The mesh's default list.
    Default,
    /// An appProtocol other than the supported ones of HTTP.
    AppProtocol,
}

/// How ports are treated in a cluster.
pub(super) struct Mesh<'a> {
    /// Ports that are opaque by default.
    pub(super) default: Opaque,
    /// The list of default ports as written.
    pub(super) default_text: String,
    servers: &'a [Server],
    reads_app_protocol: bool,
    by_label: &'a Selected<'a>,
}

/// One pod per workload behind a Service, and its port.
pub(super) type Behind<'a> = (Owner, &'a Pod, u16);

impl<'a> Mesh<'a> {
    /// Reads the mesh's settings from the cluster.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<Mesh<'a>, Unjudged> {
        let pods = ctx.partial_list::<Pod>();
        let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
        pods?;
        let values = config.and_then(ConfigMap::chart_values);
        let set = values.as_ref().and_then(|values| values.text("proxy.opaquePorts"));
        let default_text = match set {
            Some(list) => list.to_owned(),
            // The chart's default.
            None => {
                let ports = ctx.knowledge.protocols().default_opaque.iter();
                ports.map(ToString::to_string).collect::<Vec<_>>().join(",")
            }
        };
        let home = ctx.namespaces().control_plane.as_str();
        let named = |deployment: &&crate::objects::Workload| {
            deployment.metadata.namespace == home && deployment.metadata.name == "linkerd-destination"
        };
        let deployment = ctx.optional_list::<Deployment>().iter().find(named);
        let policy = deployment.and_then(|deployment| deployment.spec.template.spec.container("policy"));
        let version = policy.and_then(tag_version);
        let known = ctx.knowledge.policy_controller();
        let reads_app_protocol = version.is_some_and(|v| known.app_protocol.is_in(&v, ctx.knowledge) == Contains::Yes);
        Ok(Mesh {
            default: Opaque::parse(&default_text, &BTreeMap::new()),
            default_text,
            servers: ctx.optional_list::<Server>(),
            reads_app_protocol,
            by_label: ctx.selected(),
        })
    }

    /// Returns how a client's proxy treats a port.
    pub(super) fn treats(&self, service: &Service, port: &ServicePort) -> Treated {
        let said = port.app_protocol.to_ascii_lowercase();
        if self.reads_app_protocol && !said.is_empty() {
            return match said.as_str() {
                "http" | "kubernetes.io/h2c" => Treated::Http,
                _ => Treated::Opaque(Because::AppProtocol),
            };
        }
        match opaque::of_service(service) {
            Some(list) if list.marks(port.port) => Treated::Opaque(Because::List),
            Some(_) => Treated::Detected,
            None if self.default.marks(port.port) => Treated::Opaque(Because::Default),
            None => Treated::Detected,
        }
    }

    /// Whether the installed release reads appProtocol.
    pub(super) fn reads_app_protocol(&self) -> bool {
        self.reads_app_protocol
    }

    /// Whether a Service selects more than one pod that runs.
    pub(super) fn selects_several(&self, service: &'a Service) -> bool {
        !service.spec.selector.is_empty() && self.by_label.by(service).filter(|pod| !pod.is_finished()).nth(1).is_some()
    }

    /// Returns one pod of each workload behind a port.
    pub(super) fn behind(&self, ctx: &Context<'a>, service: &'a Service, port: &ServicePort) -> Vec<Behind<'a>> {
        if service.spec.selector.is_empty() {
            return Vec::new();
        }
        let owners = ctx.owners();
        let mut seen = BTreeSet::new();
        let mut controllers = HashSet::new();
        let pods = self.by_label.by(service).filter_map(|pod| {
            let controller = pod.metadata.controller().map(|one| (one.kind.as_str(), one.name.as_str()));
            if controller.is_some_and(|one| controllers.contains(&one)) {
                return None;
            }
            let number = port.leads_to(pod)?;
            controllers.extend(controller);
            let owner = owners.owner(pod);
            seen.insert(owner.clone()).then_some((owner, pod, number))
        });
        pods.collect()
    }

    /// Whether a pod's proxy does not detect the protocol of a port: a Server sets the protocol, or the
    /// port skips the proxy.
    pub(super) fn is_told(&self, pod: &Pod, port: u16) -> bool {
        let skipped = pod.metadata.annotation(SKIPPED).map(|list| Opaque::parse(list, &BTreeMap::new()));
        skipped.is_some_and(|list| list.marks(port))
            || self.servers.iter().any(|server| {
                let told = server.spec.proxy_protocol.as_deref().is_some_and(|set| set != "unknown");
                told && server.metadata.namespace == pod.metadata.namespace
                    && server.spec.pod_selector.as_ref().is_some_and(|selector| selector.matches(&pod.metadata.labels))
                    && match &server.spec.port {
                        Some(ServerPort::Number(number)) => *number == i64::from(port),
                        Some(ServerPort::Name(name)) => pod
                            .spec
                            .all_containers()
                            .flat_map(|container| &container.ports)
                            .any(|known| known.name == *name && known.container_port == port),
                        None => false,
                    }
            })
    }
}
