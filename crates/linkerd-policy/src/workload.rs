//! The inputs of the policy controller from a pod or ExternalWorkload: labels, named ports, probes, and
//! three annotations. It never reads the namespace's annotations.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use super::controller::Quirks;
use super::default::DefaultPolicy;
use super::parse;
use crate::objects::container::HttpGet;
use crate::objects::{Container, ExternalWorkload, Meta, Pod, ProbePort};

/// The label of injected pods; any value counts.
pub(super) const MESHED: &str = "linkerd.io/control-plane-ns";
const DEFAULT_POLICY: &str = "config.linkerd.io/default-inbound-policy";
/// The annotation of opaque ports.
pub(crate) const OPAQUE: &str = "config.linkerd.io/opaque-ports";
/// The annotation of ports that only meshed clients may use.
pub const REQUIRE_IDENTITY: &str = "config.linkerd.io/proxy-require-identity-inbound-ports";

/// The ports of an annotation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ports(Vec<(u16, u16)>);

impl Ports {
    /// Parses an annotation; empty if one part is invalid.
    fn from_annotation(meta: &Meta, annotation: &str) -> Ports {
        meta.annotation(annotation).map(listed_ports).unwrap_or_default()
    }

    /// Whether a port is among them.
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&port))
    }
}

/// A pod or an ExternalWorkload, as the policy controller models it.
#[derive(Debug, Clone)]
pub struct Workload<'a> {
    /// Name, namespace, labels.
    pub meta: &'a Meta,
    /// Whether it is outside of the cluster.
    pub external: bool,
    /// The settings that replicas share.
    settings: Arc<Settings<'a>>,
}

/// The policy controller's inputs from a pod or an ExternalWorkload, other than name and labels.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Named ports, sorted; several containers may use the same name.
    pub ports: Box<[(&'a str, u16)]>,
    /// Ports and probed paths, sorted.
    pub probes: Box<[(u16, String)]>,
    /// Opaque ports.
    pub opaque: Ports,
    /// Ports that only meshed clients may use, unless a Server selects them.
    pub requires_identity: Ports,
    /// The default policy of its own annotation, if valid.
    pub default_policy: Option<DefaultPolicy>,
}

/// The ports of an annotation's value; empty if one part is invalid.
pub fn listed_ports(value: &str) -> Ports {
    Ports(parse::ports(value).unwrap_or_default())
}

/// A kubelet probe of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probed {
    /// `GET` of a path, and whether the probe's path lacks the leading slash. The kubelet adds it, but the
    /// controller does not, so the path that it allows is never requested.
    Http(String, bool),
    /// `GET` of a path over TLS. The proxy does not see the path, so no rule for HTTP applies.
    Https(String),
    /// The health of a service over gRPC, which the controller does not support.
    Grpc,
}

/// The port and the request of a container's HTTP probe; `None` if it names a port that the container lacks.
pub fn http_probe(container: &Container, probe: &HttpGet) -> Option<(u16, Probed)> {
    let path = path_of(probe).split(['?', '#']).next().unwrap_or_default();
    let bare = !path.starts_with('/');
    let slash = if bare { "/" } else { "" };
    let path = format!("{slash}{path}");
    let probed = if probe.is_https() { Probed::Https(path) } else { Probed::Http(path, bare) };
    Some((probe_port(container, probe)?, probed))
}

/// The kubelet probes of a pod, by port.
pub fn probes_of(pod: &Pod) -> BTreeSet<(u16, Probed)> {
    let over_http = |container: &Container| {
        container.http_probes().filter_map(|probe| http_probe(container, probe)).collect::<Vec<_>>()
    };
    let over_grpc =
        |container: &Container| container.grpc_probes().map(|port| (port, Probed::Grpc)).collect::<Vec<_>>();
    pod.spec.all_containers().flat_map(|container| [over_http(container), over_grpc(container)].concat()).collect()
}

impl<'a> Deref for Workload<'a> {
    type Target = Settings<'a>;

    fn deref(&self) -> &Settings<'a> {
        &self.settings
    }
}

impl<'a> Workload<'a> {
    /// A pod; `None` if it is not injected, because the controller then ignores it.
    pub fn of_pod(pod: &'a Pod, quirks: Quirks) -> Option<Workload<'a>> {
        pod.metadata.label(MESHED)?;
        let settings = Arc::new(Settings::of_pod(pod, quirks));
        Some(Workload { meta: &pod.metadata, external: false, settings })
    }

    /// The injected pods, each with the controller's view. Consecutive replicas with equal containers and
    /// annotations are read once.
    pub fn of_pods(pods: impl Iterator<Item = &'a Pod>, quirks: Quirks) -> Vec<(&'a Pod, Workload<'a>)> {
        let mut all: Vec<(&'a Pod, Workload<'a>)> = Vec::with_capacity(pods.size_hint().1.unwrap_or_default());
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

    /// Whether the controller models both alike, so that they have the same policies. Replicas that were read one after
    /// the other are.
    pub fn is_replica_of(&self, other: &Workload<'a>) -> bool {
        self.external == other.external
            && self.meta.namespace == other.meta.namespace
            && self.meta.labels == other.meta.labels
            && Arc::ptr_eq(&self.settings, &other.settings)
    }

    /// An ExternalWorkload.
    pub fn of_external(workload: &'a ExternalWorkload) -> Workload<'a> {
        let tcp = workload.spec.ports.iter().filter(|port| is_tcp(port.protocol.as_deref()));
        let named: BTreeSet<(&str, u16)> = tcp.filter_map(|port| Some((port.name.as_deref()?, port.port))).collect();
        let settings = Settings { ports: named.into_iter().collect(), ..Settings::from_metadata(&workload.metadata) };
        Workload { meta: &workload.metadata, external: true, settings: Arc::new(settings) }
    }
}

impl<'a> Settings<'a> {
    /// The ports with a name.
    pub fn ports_named(&self, name: &str) -> impl Iterator<Item = u16> {
        self.ports.iter().filter(move |(known, _)| *known == name).map(|(_, port)| *port)
    }

    /// The names of a port.
    pub fn names_of(&self, port: u16) -> impl Iterator<Item = &'a str> {
        self.ports.iter().filter(move |(_, known)| *known == port).map(|(name, _)| *name)
    }

    /// The probed paths of a port.
    pub fn probed_paths(&self, port: u16) -> impl Iterator<Item = &str> {
        self.probes.iter().filter(move |(known, _)| *known == port).map(|(_, path)| path.as_str())
    }

    fn of_pod(pod: &'a Pod, quirks: Quirks) -> Settings<'a> {
        let init = &pod.spec.init_containers;
        let named = pod.spec.containers.iter().chain(init.iter().filter(|_| quirks.init_container_ports));
        let ports: BTreeSet<(&str, u16)> = named.flat_map(tcp_ports).collect();
        let probed = pod.spec.containers.iter().chain(init.iter());
        let probes: BTreeSet<(u16, String)> = probed.flat_map(|container| http_probes(container, quirks)).collect();
        Settings {
            ports: ports.into_iter().collect(),
            probes: probes.into_iter().collect(),
            ..Settings::from_metadata(&pod.metadata)
        }
    }

    /// Reads its annotations.
    fn from_metadata(meta: &Meta) -> Settings<'a> {
        Settings {
            ports: Box::default(),
            probes: Box::default(),
            opaque: Ports::from_annotation(meta, OPAQUE),
            requires_identity: Ports::from_annotation(meta, REQUIRE_IDENTITY),
            default_policy: meta.annotation(DEFAULT_POLICY).and_then(|word| word.parse().ok()),
        }
    }
}

fn is_tcp(protocol: Option<&str>) -> bool {
    protocol.is_none_or(|protocol| protocol.is_empty() || protocol.eq_ignore_ascii_case("TCP"))
}

/// The named ports of a container.
fn tcp_ports(container: &Container) -> impl Iterator<Item = (&str, u16)> {
    let named = container.ports.iter().filter(|port| is_tcp(Some(&port.protocol)) && !port.name.is_empty());
    named.filter(|port| port.container_port > 0).map(|port| (port.name.as_str(), port.container_port))
}

/// The port and the path of each HTTP probe of a container.
fn http_probes(container: &Container, quirks: Quirks) -> impl Iterator<Item = (u16, String)> {
    probe_ports(container).filter_map(move |(port, path)| {
        if !quirks.probe_uris {
            return Some((port, path.to_owned()));
        }
        path.parse::<http::Uri>().ok().map(|uri| (port, uri.path().to_owned()))
    })
}

/// The ports and paths of HTTP probes, as written.
fn probe_ports(container: &Container) -> impl Iterator<Item = (u16, &str)> {
    container.http_probes().filter_map(|probe| Some((probe_port(container, probe)?, path_of(probe))))
}

fn path_of(probe: &HttpGet) -> &str {
    probe.path.as_deref().unwrap_or("/")
}

/// The port of an HTTP probe of a container; `None` if it is invalid or has an unknown name.
pub fn probe_port(container: &Container, probe: &HttpGet) -> Option<u16> {
    match probe.port.as_ref()? {
        ProbePort::Number(number) => u16::try_from(*number).ok().filter(|port| *port > 0),
        ProbePort::Name(name) => {
            tcp_ports(container).find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, port)| port)
        }
    }
}
