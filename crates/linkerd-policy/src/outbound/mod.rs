//! Linkerd's outbound policy as its controller evaluates it: the policy of a client's call to a Service
//! port or an outside address. Covers the routes that apply and their order, backends, the defaults without
//! a match; timeouts, retries and circuit breaking; EgressNetworks and their denials.

mod egress;
mod route;
mod settings;

use std::collections::HashMap;
use std::net::SocketAddr;

use super::authentication::NetworkMatch;
use super::controller::Controller;
use super::ineffective::Void;
use super::parse::{self, Broken};
use super::routes::RouteKind;
use super::workload::OPAQUE;
use crate::objects::{EgressNetwork, Kind, Meta, Route, Service};
use route::{Called, Read, World};

pub use route::{Backend, Destination, OutboundRoute, OutboundRule};
pub use settings::{Accrual, GrpcStatus, Penalty, Retry, RetryOn, SuccessRate, Timeouts};
pub(super) use settings::{accrual, retry, timeouts};

/// The objects that outbound policy is read from.
#[derive(Debug, Clone, Default)]
pub struct OutboundObjects<'a> {
    pub services: &'a [Service],
    /// EgressNetworks.
    pub egress_networks: &'a [EgressNetwork],
    /// Routes of all kinds.
    pub routes: Vec<(RouteKind, &'a [Route])>,
}

/// The outbound policy of a cluster.
pub struct OutboundIndex<'a> {
    controller: Controller,
    services: HashMap<(&'a str, &'a str), &'a Service>,
    /// The readable EgressNetworks with their networks; `None` means everything outside of the cluster's
    /// networks.
    egress_networks: Vec<(&'a EgressNetwork, Option<Vec<NetworkMatch>>)>,
    routes: Vec<Read<'a>>,
    void: Void,
    passed_over: Vec<(RouteKind, &'a Route, String)>,
    broken_networks: Vec<(&'a EgressNetwork, String)>,
    world: World<'a>,
}

/// The destination of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Parent<'a> {
    /// A Service; a missing one is treated as one without settings.
    Service { namespace: String, name: String },
    /// An address of an EgressNetwork.
    Egress {
        /// The object.
        network: &'a EgressNetwork,
        address: SocketAddr,
    },
    /// An outside address without an EgressNetwork.
    Outside(SocketAddr),
}

/// How a proxy treats a client's traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// Detects HTTP of either version, else opaque.
    Detect,
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    Grpc,
    /// TLS of the application, by its server name.
    Tls,
    /// Not parsed.
    Opaque,
    /// Rejected: the Service has no such port.
    Refused,
}

/// The policy of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outbound<'a> {
    /// The destination.
    pub parent: Parent<'a>,
    pub port: u16,
    /// The protocol.
    pub spoken: Spoken,
    /// The routes that apply, in order.
    pub routes: Vec<OutboundRoute<'a>>,
    /// Accepted routes without effect, because routes of another kind or an older route take precedence.
    pub beside: Vec<(RouteKind, &'a Route)>,
    /// Timeouts for requests without a route's own.
    pub timeouts: Timeouts,
    /// Retries for requests without a route's own.
    pub retry: Option<Retry>,
    /// The circuit breaking of endpoints.
    pub accrual: Option<Accrual>,
    /// Whether the proxy honors the endpoints' Retry-After.
    pub honours_retry_after: bool,
    /// The reduced load of failing endpoints.
    pub penalty: Option<Penalty>,
    /// Invalid annotations of the destination, which have no effect.
    pub unread: Vec<String>,
}

impl Outbound<'_> {
    /// The timeouts of requests that no rule matches; none if the proxy does not see requests.
    pub fn own_timeouts(&self) -> Timeouts {
        match self.spoken {
            Spoken::Detect | Spoken::Http1 | Spoken::Http2 | Spoken::Grpc => self.timeouts,
            Spoken::Tls | Spoken::Opaque | Spoken::Refused => Timeouts::default(),
        }
    }

    /// The timeouts of requests that a rule matches: its own, else those of the called object.
    pub fn timeouts_of(&self, rule: &OutboundRule<'_>) -> Timeouts {
        if rule.timeouts == Timeouts::default() { self.own_timeouts() } else { rule.timeouts }
    }

    /// Whether requests that no route matches are denied.
    pub fn forbids_rest(&self) -> bool {
        matches!(&self.parent, Parent::Egress { network, .. } if network.spec.traffic_policy == "Deny")
    }
}

impl<'a> OutboundIndex<'a> {
    /// Reads all objects.
    pub fn new(controller: Controller, objects: &OutboundObjects<'a>) -> OutboundIndex<'a> {
        let services: HashMap<(&str, &str), &Service> =
            objects.services.iter().map(|service| (service.metadata.key(), service)).collect();
        let (mut routes, mut passed_over) = (Vec::new(), Vec::new());
        let mut void = Void::new(controller.quirks.broken_voids_kind, controller.started);
        let quirks = controller.quirks;
        let known = |kind: RouteKind| match kind {
            RouteKind::Grpc => quirks.grpc_calls,
            RouteKind::Tls | RouteKind::Tcp => quirks.egress,
            RouteKind::Http | RouteKind::LinkerdHttp => true,
        };
        for (kind, list) in objects.routes.iter().filter(|(kind, _)| known(*kind)) {
            let (before, mut is_void) = (routes.len(), false);
            for route in *list {
                match route::read(*kind, route, quirks.limit_annotations) {
                    Ok(Ok(read)) => routes.push(read),
                    Ok(Err(why)) => passed_over.push((*kind, route, why)),
                    Err(Broken(why)) => {
                        is_void |= void.broken(kind.kind(), &route.metadata);
                        passed_over.push((*kind, route, why));
                    }
                }
            }
            if is_void {
                let unread = format!("this release reads no {} if one of them cannot be read", kind.kind());
                passed_over.extend(routes.drain(before..).map(|read| (read.kind, read.route, unread.clone())));
            }
        }
        let networks = if quirks.egress { objects.egress_networks } else { &[] };
        let (mut egress_networks, mut broken_networks, mut no_networks) = (Vec::new(), Vec::new(), false);
        for network in networks {
            match NetworkMatch::of_egress(network) {
                Ok(read) => egress_networks.push((network, read)),
                Err(Broken(why)) => {
                    no_networks |= void.broken(Kind::EgressNetwork, &network.metadata);
                    broken_networks.push((network, why));
                }
            }
        }
        if no_networks {
            egress_networks.clear();
        }
        routes.sort_by_key(|read: &Read<'_>| {
            let meta = &read.route.metadata;
            (meta.creation_timestamp.is_none(), meta.creation_timestamp, meta.name.clone())
        });
        let world = World {
            services: services.clone(),
            egress: egress_networks.iter().map(|(network, _)| network.metadata.key()).collect(),
            gateway_timeouts: quirks.gateway_timeouts,
        };
        OutboundIndex { controller, services, egress_networks, routes, void, passed_over, broken_networks, world }
    }

    /// The controller's settings.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// EgressNetworks that the controller cannot read, with the reason as a clause.
    pub fn broken_networks(&self) -> &[(&'a EgressNetwork, String)] {
        &self.broken_networks
    }

    /// Routes that the controller cannot read, with the reason as a clause.
    pub fn passed_over(&self) -> &[(RouteKind, &'a Route, String)] {
        &self.passed_over
    }

    /// Kinds that are not read at all, because one object cannot be read.
    pub fn void(&self) -> &[Kind] {
        self.void.kinds()
    }

    /// Kinds that will not be read at all from the next start of the controller on.
    pub fn void_later(&self) -> impl Iterator<Item = Kind> {
        self.void.later()
    }

    /// The policy of a call to a Service by name.
    pub fn of_service(&self, (namespace, name): (&str, &str), port: u16, from: &str) -> Outbound<'a> {
        let service = self.services.get(&(namespace, name)).copied();
        let called = Called { kind: "Service", namespace, name, port };
        let parent = Parent::Service { namespace: namespace.to_owned(), name: name.to_owned() };
        let reads = |_: &&Service| self.controller.quirks.app_protocol;
        let app_protocol = service.filter(reads).and_then(|service| {
            // A port can be listed twice, for TCP and UDP: the last entry counts.
            let of_port = service.spec.ports.iter().rev().filter(|known| known.port == port);
            let mut said = of_port.map(|known| known.app_protocol.to_ascii_lowercase());
            said.find(|said| !said.is_empty())
        });
        let opaque = service.is_some_and(|service| self.is_opaque(&service.metadata, port));
        let spoken = match app_protocol.as_deref() {
            Some("http") => Spoken::Http1,
            Some("kubernetes.io/h2c") => Spoken::Http2,
            Some(_) => Spoken::Opaque,
            None if opaque => Spoken::Opaque,
            None => Spoken::Detect,
        };
        self.answer(parent, called, spoken, service.map(|service| &service.metadata), from)
    }

    /// The policy of a call to an address; `None` if the controller has none.
    pub fn of_address(&self, address: SocketAddr, from: &str) -> Option<Outbound<'a>> {
        let port = address.port();
        // Some releases also index Services without ports; the API server allows that only for headless
        // ones.
        let at = |service: &&&Service| service.spec.has_address(address.ip());
        if let Some(service) = self.services.values().find(at) {
            let mut answer = self.of_service(service.metadata.key(), port, from);
            let declared = service.spec.ports.iter().any(|known| known.port == port);
            if self.controller.quirks.refuses_undeclared_ports && !declared {
                answer.spoken = Spoken::Refused;
                answer.routes.clear();
            }
            return Some(answer);
        }
        if let Some(network) = self.network_of(address.ip(), from) {
            let called = Called {
                kind: "EgressNetwork",
                namespace: &network.metadata.namespace,
                name: &network.metadata.name,
                port,
            };
            let spoken = if self.is_opaque(&network.metadata, port) { Spoken::Opaque } else { Spoken::Detect };
            let parent = Parent::Egress { network, address };
            return Some(self.answer(parent, called, spoken, Some(&network.metadata), from));
        }
        let inside = self.controller.cluster_networks.iter().any(|net| net.contains(&address.ip()));
        (!inside && self.controller.quirks.egress).then(|| Outbound {
            parent: Parent::Outside(address),
            port,
            spoken: Spoken::Detect,
            routes: Vec::new(),
            beside: Vec::new(),
            timeouts: Timeouts::default(),
            retry: None,
            accrual: None,
            honours_retry_after: false,
            penalty: None,
            unread: Vec::new(),
        })
    }

    fn is_opaque(&self, meta: &Meta, port: u16) -> bool {
        match meta.annotation(OPAQUE) {
            None => self.controller.opaque_ports.contains(&port),
            Some(list) => {
                let ranges = parse::ports(list).unwrap_or_default();
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&port))
            }
        }
    }

    fn answer(
        &self,
        parent: Parent<'a>,
        called: Called<'_>,
        spoken: Spoken,
        meta: Option<&Meta>,
        from: &str,
    ) -> Outbound<'a> {
        // Routes in the client's namespace apply only to its clients, routes in the destination's namespace
        // to all.
        let holds = |read: &&Read<'a>| {
            let namespace = read.route.metadata.namespace.as_str();
            (namespace == called.namespace || namespace == from) && read.is_of(called)
        };
        let attached: Vec<&Read<'a>> = self.routes.iter().filter(holds).collect();
        let has = |kinds: &[RouteKind]| attached.iter().any(|read| kinds.contains(&read.kind));
        const HTTP: &[RouteKind] = &[RouteKind::Http, RouteKind::LinkerdHttp];
        let (spoken, kinds): (Spoken, &[RouteKind]) = match spoken {
            Spoken::Http2 | Spoken::Detect if has(&[RouteKind::Grpc]) => (Spoken::Grpc, &[RouteKind::Grpc]),
            Spoken::Detect if has(HTTP) => (Spoken::Detect, HTTP),
            Spoken::Detect if has(&[RouteKind::Tls]) => (Spoken::Tls, &[RouteKind::Tls]),
            Spoken::Detect if has(&[RouteKind::Tcp]) => (Spoken::Opaque, &[RouteKind::Tcp]),
            Spoken::Opaque if self.controller.quirks.app_protocol => (Spoken::Opaque, &[RouteKind::Tcp]),
            Spoken::Opaque => (Spoken::Opaque, &[]),
            other => (other, HTTP),
        };
        let (counting, beside): (Vec<&Read<'a>>, Vec<&Read<'a>>) =
            attached.into_iter().partition(|read| kinds.contains(&read.kind));
        // Only one TCPRoute applies.
        let most = if kinds == [RouteKind::Tcp] { 1 } else { counting.len() };
        let (counting, younger) = counting.split_at(most.min(counting.len()));
        let beside: Vec<&Read<'a>> = beside.into_iter().chain(younger.iter().copied()).collect();
        let routes: Vec<OutboundRoute<'a>> = counting.iter().map(|read| read.applied_to(called, &self.world)).collect();
        let mut unread = Vec::new();
        let mut keep = |why: Option<String>| unread.extend(why);
        let nothing = Meta::default();
        let meta = meta.unwrap_or(&nothing);
        let modern = self.controller.quirks.unified_accrual;
        let limits = if self.controller.quirks.limit_annotations { meta } else { &nothing };
        let timeouts = settings::timeouts(limits).unwrap_or_else(|why| {
            keep(Some(why));
            Timeouts::default()
        });
        let kind = if spoken == Spoken::Grpc { RouteKind::Grpc } else { RouteKind::Http };
        let retry = settings::retry(limits, kind).unwrap_or_else(|why| {
            keep(Some(why));
            None
        });
        let accrual = settings::accrual(meta, modern).unwrap_or_else(|why| {
            keep(Some(why));
            None
        });
        // Forwarded connections have no balancer, so no penalty.
        let penalty = match called.kind {
            "Service" if modern => settings::penalty(meta).unwrap_or_else(|why| {
                keep(Some(why));
                None
            }),
            _ => None,
        };
        let honours_retry_after = modern && settings::honours_retry_after(meta).unwrap_or_default();
        Outbound {
            parent,
            port: called.port,
            spoken,
            routes,
            beside: beside.into_iter().map(|read| (read.kind, read.route)).collect(),
            timeouts,
            retry,
            accrual,
            honours_retry_after,
            penalty,
            unread,
        }
    }

    /// Routes that name the destination and have no status of Linkerd's controller yet.
    pub fn unjudged(&self, (namespace, name): (&str, &str)) -> impl Iterator<Item = (RouteKind, &'a Route)> {
        let names = move |read: &&Read<'a>| {
            let here = &read.route.metadata.namespace;
            !read.is_judged()
                && read.route.spec.parent_refs.iter().any(|parent| {
                    parent.is_a("", "Service")
                        && parent.name == name
                        && parent.namespace.as_deref().unwrap_or(here) == namespace
                })
        };
        self.routes.iter().filter(names).map(|read| (read.kind, read.route))
    }
}

impl Parent<'_> {
    /// Kind, namespace and name; `None` for outside addresses.
    pub fn object(&self) -> Option<(Kind, &str, &str)> {
        match self {
            Parent::Service { namespace, name } => Some((Kind::Service, namespace, name)),
            Parent::Egress { network, .. } => {
                Some((Kind::EgressNetwork, &network.metadata.namespace, &network.metadata.name))
            }
            Parent::Outside(_) => None,
        }
    }
}
