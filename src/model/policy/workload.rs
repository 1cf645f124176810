//! What the policy controller reads of a pod or an ExternalWorkload: labels, ports by name, probes, and three annotations. Those
//! of the namespace it never reads.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use super::controller::Quirks;
use super::default::DefaultPolicy;
use super::parse;
use crate::objects::{Container, ExternalWorkload, Meta, Pod, ProbePort};

/// The label of injected pods; that it is there is enough, whatever it says.
pub(super) const MESHED: &str = "linkerd.io/control-plane-ns";
const DEFAULT_POLICY: &str = "config.linkerd.io/default-inbound-policy";
const OPAQUE: &str = "config.linkerd.io/opaque-ports";
const REQUIRE_IDENTITY: &str = "config.linkerd.io/proxy-require-identity-inbound-ports";

/// Ports as an annotation lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ports(Vec<(u16, u16)>);

impl Ports {
    /// Those of an annotation; none where one part of it is no port.
    fn of(meta: &Meta, annotation: &str) -> Ports {
        meta.annotation(annotation).map(listed_ports).unwrap_or_default()
    }

    /// Whether a port is among them.
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&port))
    }
}

/// A pod or an ExternalWorkload, as the policy controller sees it.
#[derive(Debug, Clone)]
pub struct Workload<'a> {
    /// Name, namespace, labels.
    pub meta: &'a Meta,
    /// Whether it is outside of the cluster.
    pub external: bool,
    /// What replicas have in common.
    settings: Arc<Settings<'a>>,
}

/// What the policy controller reads of a pod or an ExternalWorkload beside its name and its labels.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Names of ports, sorted; several containers may use one name.
    pub ports: Box<[(&'a str, u16)]>,
    /// Ports and the paths that the kubelet asks of them, sorted.
    pub probes: Box<[(u16, String)]>,
    /// Ports that are not looked into.
    pub opaque: Ports,
    /// Ports that meshed clients alone may use, where no Server takes them.
    pub requires_identity: Ports,
    /// What its own annotation says, where that is one of the known words.
    pub default_policy: Option<DefaultPolicy>,
}

/// The ports that the value of an annotation lists; none where one part of it is no port.
pub fn listed_ports(value: &str) -> Ports {
    Ports(parse::ports(value).unwrap_or_default())
}

/// What the kubelet asks of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probed {
    /// `GET` of a path, as the kubelet writes it, and whether the probe leaves out the slash at its start: the controller takes such a
    /// path as it is, so that what it lets in is never asked for.
    Http(String, bool),
    /// The health of a service over gRPC, of which the controller knows nothing.
    Grpc,
}

/// What the kubelet asks of a pod, by port.
pub fn probes_of(pod: &Pod) -> BTreeSet<(u16, Probed)> {
    let over_http = |container| {
        probe_ports(container).map(|(port, path)| {
            let path = path.split(['?', '#']).next().unwrap_or_default();
            let bare = !path.starts_with('/');
            let slash = if bare { "/" } else { "" };
            (port, Probed::Http(format!("{slash}{path}"), bare))
        })
    };
    let over_grpc =
        |container: &Container| container.grpc_probes().map(|port| (port, Probed::Grpc)).collect::<Vec<_>>();
    pod.spec.all_containers().flat_map(|container| over_http(container).chain(over_grpc(container))).collect()
}

impl<'a> Deref for Workload<'a> {
    type Target = Settings<'a>;

    fn deref(&self) -> &Settings<'a> {
        &self.settings
    }
}

impl<'a> Workload<'a> {
    /// A pod; `None` where the controller does not know it, because it is not injected.
    pub fn of_pod(pod: &'a Pod, quirks: Quirks) -> Option<Workload<'a>> {
        pod.metadata.label(MESHED)?;
        let settings = Arc::new(Settings::of_pod(pod, quirks));
        Some(Workload { meta: &pod.metadata, external: false, settings })
    }

    /// The pods that the controller knows, which are those that are injected, each with what it sees. Neighbours are often
    /// replicas, whose containers and annotations are kept in one place: those are read once.
    pub fn of_pods(pods: impl Iterator<Item = &'a Pod>, quirks: Quirks) -> Vec<(&'a Pod, Workload<'a>)> {
        let mut all: Vec<(&'a Pod, Workload<'a>)> =
            Vec::with_capacity(pods.size_hint().1.unwrap_or_default());
        for pod in pods.filter(|pod| pod.metadata.label(MESHED).is_some()) {
            let known = all.last().filter(|(before, _)| {
                pod.metadata.annotations.is_same(&before.metadata.annotations)
                    && pod.spec.containers.is_same(&before.spec.containers)
                    && pod.spec.init_containers.is_same(&before.spec.init_containers)
            });
            let settings = match known {
                Some((_, before)) => Arc::clone(&before.settings),
                None => Arc::new(Settings::of_pod(pod, quirks)),
            };
            all.push((pod, Workload { meta: &pod.metadata, external: false, settings }));
        }
        all
    }

    /// An ExternalWorkload.
    pub fn of_external(workload: &'a ExternalWorkload) -> Workload<'a> {
        let tcp = workload.spec.ports.iter().filter(|port| is_tcp(port.protocol.as_deref()));
        let named: BTreeSet<(&str, u16)> =
            tcp.filter_map(|port| Some((port.name.as_deref()?, port.port))).collect();
        let settings = Settings { ports: named.into_iter().collect(), ..Settings::of(&workload.metadata) };
        Workload { meta: &workload.metadata, external: true, settings: Arc::new(settings) }
    }
}

impl<'a> Settings<'a> {
    /// The ports of a name.
    pub fn ports_named(&self, name: &str) -> impl Iterator<Item = u16> {
        self.ports.iter().filter(move |(known, _)| *known == name).map(|(_, port)| *port)
    }

    /// The names of a port.
    pub fn names_of(&self, port: u16) -> impl Iterator<Item = &'a str> {
        self.ports.iter().filter(move |(_, known)| *known == port).map(|(name, _)| *name)
    }

    /// The paths that the kubelet asks of a port.
    pub fn probed_paths(&self, port: u16) -> impl Iterator<Item = &str> {
        self.probes.iter().filter(move |(known, _)| *known == port).map(|(_, path)| path.as_str())
    }

    fn of_pod(pod: &'a Pod, quirks: Quirks) -> Settings<'a> {
        let init = &pod.spec.init_containers;
        let named = pod.spec.containers.iter().chain(init.iter().filter(|_| quirks.init_container_ports));
        let ports: BTreeSet<(&str, u16)> = named.flat_map(tcp_ports).collect();
        let probed = pod.spec.containers.iter().chain(init.iter());
        let probes: BTreeSet<(u16, String)> = probed.flat_map(http_probes).collect();
        Settings {
            ports: ports.into_iter().collect(),
            probes: probes.into_iter().collect(),
            ..Settings::of(&pod.metadata)
        }
    }

    /// What its annotations say.
    fn of(meta: &Meta) -> Settings<'a> {
        Settings {
            ports: Box::default(),
            probes: Box::default(),
            opaque: Ports::of(meta, OPAQUE),
            requires_identity: Ports::of(meta, REQUIRE_IDENTITY),
            default_policy: meta.annotation(DEFAULT_POLICY).and_then(|word| word.parse().ok()),
        }
    }
}

fn is_tcp(protocol: Option<&str>) -> bool {
    protocol.is_none_or(|protocol| protocol.is_empty() || protocol.eq_ignore_ascii_case("TCP"))
}

/// The ports that a container names.
fn tcp_ports(container: &Container) -> impl Iterator<Item = (&str, u16)> {
    let named = container.ports.iter().filter(|port| is_tcp(Some(&port.protocol)) && !port.name.is_empty());
    named.filter(|port| port.container_port > 0).map(|port| (port.name.as_str(), port.container_port))
}

/// The port and the path of each HTTP probe of a container.
fn http_probes(container: &Container) -> impl Iterator<Item = (u16, String)> {
    probe_ports(container)
        .filter_map(|(port, path)| path.parse::<http::Uri>().ok().map(|uri| (port, uri.path().to_owned())))
}

/// The ports and paths of probes over HTTP, as they are written.
fn probe_ports(container: &Container) -> impl Iterator<Item = (u16, &str)> {
    container.http_probes().filter_map(|probe| {
        let port = match probe.port.as_ref()? {
            ProbePort::Number(number) => u16::try_from(*number).ok().filter(|port| *port > 0)?,
            ProbePort::Name(name) => tcp_ports(container)
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, port)| port)?,
        };
        Some((port, probe.path.as_deref().unwrap_or("/")))
    })
}
