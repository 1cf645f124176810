//! Predicts the statuses that the policy controller writes for routes, EgressNetworks and rate limits from
//! the objects alone: for manifests that were not applied, and before a controller ran. Each answer names
//! the kinds that it depends on, so that the caller can distinguish missing objects from objects that were
//! not provided. Recorded statuses of real controllers are the tests.

mod answer;
mod release;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ipnet::IpNet;

pub use answer::{BackendFault, Parent, ParentAnswer, Refused};
pub use release::Writes;

use super::authentication::NetworkMatch;
use super::ineffective::Void;
use super::read::{read_rate_limit, read_server};
use super::routes::{self, RouteKind};
use crate::objects::{BackendRef, EgressNetwork, HTTPLocalRateLimitPolicy, Kind, ParentRef, Route, Server, Service};
use crate::read::ObjectKey;

/// The objects from which statuses are predicted.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "each is the list of its kind")]
pub struct StatusObjects<'a> {
    pub servers: &'a [Server],
    pub services: &'a [Service],
    pub egress_networks: &'a [EgressNetwork],
    pub rate_limits: &'a [HTTPLocalRateLimitPolicy],
    pub http_routes: &'a [Route],
    pub linkerd_http_routes: &'a [Route],
    pub grpc_routes: &'a [Route],
    pub tls_routes: &'a [Route],
    pub tcp_routes: &'a [Route],
}

impl<'a> StatusObjects<'a> {
    /// The routes of each kind.
    pub fn routes(&self) -> [(RouteKind, &'a [Route]); 5] {
        [
            (RouteKind::Http, self.http_routes),
            (RouteKind::LinkerdHttp, self.linkerd_http_routes),
            (RouteKind::Grpc, self.grpc_routes),
            (RouteKind::Tls, self.tls_routes),
            (RouteKind::Tcp, self.tcp_routes),
        ]
    }
}

/// Predicts statuses as the controller of a release writes them.
#[derive(Debug)]
pub struct Statuses<'a> {
    writes: Writes,
    objects: StatusObjects<'a>,
    /// Servers, and whether the controller can read them.
    servers: HashMap<ObjectKey<'a>, bool>,
    services: HashMap<ObjectKey<'a>, &'a Service>,
    /// EgressNetworks with their rejection; unreadable ones are included.
    networks: HashMap<ObjectKey<'a>, Option<Refused<'a>>>,
    /// Kinds that are not read at all, because one object cannot be read.
    void: Void,
    /// The routes of each parent, by the precedence of their kinds.
    attached: HashMap<Parent<'a>, BTreeMap<u8, (RouteKind, ObjectKey<'a>)>>,
    limits: HashMap<ObjectKey<'a>, &'a HTTPLocalRateLimitPolicy>,
}

impl<'a> Statuses<'a> {
    /// Reads all objects. If the cluster's networks are unknown, no EgressNetwork overlaps them.
    pub fn new(writes: Writes, cluster: &[IpNet], objects: StatusObjects<'a>) -> Statuses<'a> {
        let mut void = Void::new(writes.broken_voids_kind, None);
        let mut broken: Vec<Kind> = Vec::new();
        for (kind, routes) in objects.routes() {
            broken.extend(routes.iter().any(|route| routes::read(kind, route).is_err()).then(|| kind.kind()));
        }
        let others = [
            (Kind::Server, objects.servers.iter().any(|it| read_server(it).is_err())),
            (Kind::EgressNetwork, objects.egress_networks.iter().any(|it| NetworkMatch::of_egress(it).is_err())),
            (Kind::HTTPLocalRateLimitPolicy, objects.rate_limits.iter().any(|it| read_rate_limit(it).is_err())),
        ];
        broken.extend(others.into_iter().filter_map(|(kind, broken)| broken.then_some(kind)));
        for kind in broken {
            void.broken_at_start(kind);
        }
        let is_void = |kind: Kind| void.holds(kind);
        let mut networks = HashMap::new();
        for network in objects.egress_networks.iter().filter(|_| writes.egress) {
            let said = match overlap(network, cluster) {
                Ok(said) if !is_void(Kind::EgressNetwork) => said,
                _ => Some(Refused::UnreadableParent),
            };
            networks.insert(network.metadata.key(), said);
        }
        let mut attached: HashMap<Parent<'a>, BTreeMap<u8, (RouteKind, ObjectKey<'a>)>> = HashMap::new();
        for (kind, routes) in objects.routes() {
            for route in routes.iter().filter(|route| !is_void(kind.kind()) && writes.reads(kind, route)) {
                let key = route.metadata.key();
                for (parent, _) in writes.parents(kind, route) {
                    let first = attached.entry(parent).or_default().entry(order(kind)).or_insert((kind, key));
                    *first = (*first).min((kind, key));
                }
            }
        }
        let mut limits: HashMap<ObjectKey<'a>, &HTTPLocalRateLimitPolicy> = HashMap::new();
        let limits_read = |limit: &&HTTPLocalRateLimitPolicy| {
            !is_void(Kind::HTTPLocalRateLimitPolicy) && read_rate_limit(limit).is_ok()
        };
        for limit in objects.rate_limits.iter().filter(limits_read) {
            let Some(server) = server_of(limit) else { continue };
            let first = limits.entry(server).or_insert(limit);
            // Rate limits without a time come last.
            let place = |limit: &'a HTTPLocalRateLimitPolicy| {
                let time = limit.metadata.creation_timestamp.get();
                (time.is_none(), time, limit.metadata.name.as_str())
            };
            if place(limit) < place(first) {
                *first = limit;
            }
        }
        Statuses {
            writes,
            objects,
            servers: objects
                .servers
                .iter()
                .map(|it| (it.metadata.key(), !is_void(Kind::Server) && read_server(it).is_ok()))
                .collect(),
            services: objects.services.iter().map(|service| (service.metadata.key(), service)).collect(),
            networks,
            attached,
            limits,
            void,
        }
    }

    /// The objects that it was read from.
    pub fn objects(&self) -> &StatusObjects<'a> {
        &self.objects
    }

    /// The result of a route at each parent that Linkerd handles, in the order of its parentRefs. Empty if
    /// the controller cannot read the route, or writes no status for its kind.
    pub fn of_route(&self, kind: RouteKind, route: &'a Route) -> Vec<ParentAnswer<'a>> {
        if self.void.holds(kind.kind()) || !self.writes.reads(kind, route) {
            return Vec::new();
        }
        let answer = |(parent, reference): (Parent<'a>, &'a ParentRef)| ParentAnswer {
            parent,
            reference,
            refused: self.refused(kind, parent),
            faults: (parent.kind != Kind::Server).then(|| self.faults(route, parent)),
        };
        self.writes.parents(kind, route).map(answer).collect()
    }

    /// The result of an EgressNetwork; `None` if the controller cannot read it, or writes no status for
    /// EgressNetworks.
    pub fn of_egress_network(&self, network: &EgressNetwork) -> Option<Result<(), Refused<'a>>> {
        match self.networks.get(&network.metadata.key())? {
            Some(Refused::UnreadableParent) => None,
            said => Some(said.clone().map_or(Ok(()), Err)),
        }
    }

    /// The result of a rate limit; `None` if its target is not a Server, or the controller writes no status
    /// for rate limits.
    pub fn of_rate_limit(&self, limit: &'a HTTPLocalRateLimitPolicy) -> Option<Result<(), Refused<'a>>> {
        if self.void.holds(Kind::HTTPLocalRateLimitPolicy) || read_rate_limit(limit).is_err() {
            return None;
        }
        let server = server_of(limit).filter(|_| self.writes.rate_limits)?;
        Some(match self.servers.get(&server) {
            None => Err(Refused::NoTarget),
            Some(false) => Err(Refused::UnreadableTarget),
            Some(true) => match self.limits.get(&server) {
                Some(first) if first.metadata.name != limit.metadata.name => Err(Refused::Later(first)),
                _ => Ok(()),
            },
        })
    }

    fn refused(&self, kind: RouteKind, parent: Parent<'a>) -> Option<Refused<'a>> {
        let key = (parent.namespace, parent.name);
        let trouble = match parent.kind {
            Kind::Server => match self.servers.get(&key) {
                Some(true) => None,
                Some(false) => Some(Refused::UnreadableParent),
                None => Some(Refused::NoParent(parent)),
            },
            Kind::Service => match self.services.get(&key) {
                Some(service) if service.spec.cluster_ip.headless || service.spec.kind == "ExternalName" => {
                    Some(Refused::Headless)
                }
                Some(_) => None,
                None => Some(Refused::NoParent(parent)),
            },
            _ => match self.networks.get(&key) {
                Some(None) => None,
                Some(Some(Refused::UnreadableParent)) => Some(Refused::UnreadableParent),
                Some(Some(_)) => Some(Refused::NetworkRefused),
                None => Some(Refused::NoParent(parent)),
            },
        };
        trouble.or_else(|| {
            let named = self.attached.get(&parent).filter(|_| self.writes.conflicts)?;
            let (_, (kind, (namespace, name))) = named.range(..order(kind)).next()?;
            Some(Refused::Conflict { kind: *kind, namespace, name })
        })
    }

    /// The faults of a route's backends; the controller reports the first.
    fn faults(&self, route: &'a Route, parent: Parent<'a>) -> Vec<BackendFault<'a>> {
        let mut seen = BTreeSet::new();
        let named = route.spec.rules.iter().flat_map(|rule| &rule.backend_refs);
        let faults = named.filter_map(|backend| {
            let namespace = backend.namespace.as_deref().unwrap_or(&route.metadata.namespace);
            self.fault(backend, namespace, parent)
        });
        faults.filter(|fault| seen.insert(fault.place())).collect()
    }

    fn fault(&self, backend: &'a BackendRef, namespace: &'a str, parent: Parent<'a>) -> Option<BackendFault<'a>> {
        let key = (namespace, backend.name.as_str());
        if backend.is_a("", "Service") {
            let missing = BackendFault::Missing { kind: Kind::Service, namespace, name: &backend.name };
            return (!self.services.contains_key(&key)).then_some(missing);
        }
        if !self.writes.egress || !backend.is_a("policy.linkerd.io", "EgressNetwork") {
            return Some(BackendFault::OtherKind(backend));
        }
        let is_unread = matches!(self.networks.get(&key), None | Some(Some(Refused::UnreadableParent)));
        if is_unread {
            return Some(BackendFault::Missing { kind: Kind::EgressNetwork, namespace, name: &backend.name });
        }
        let of_parent = parent.kind == Kind::EgressNetwork && (parent.namespace, parent.name) == key;
        (!of_parent).then_some(BackendFault::NotTheParent(backend))
    }
}

/// The precedence of kinds at a parent.
fn order(kind: RouteKind) -> u8 {
    match kind {
        RouteKind::Grpc => 0,
        RouteKind::Http | RouteKind::LinkerdHttp => 1,
        RouteKind::Tls => 2,
        RouteKind::Tcp => 3,
    }
}

fn server_of(limit: &HTTPLocalRateLimitPolicy) -> Option<ObjectKey<'_>> {
    let target = &limit.spec.target_ref;
    target.is_a("policy.linkerd.io", "Server").then_some((limit.metadata.namespace.as_str(), target.name.as_str()))
}

/// Whether an EgressNetwork overlaps the cluster's networks, except those that it excludes as a whole.
/// Without networks, it means everything outside of them.
fn overlap(network: &EgressNetwork, cluster: &[IpNet]) -> Result<Option<Refused<'static>>, ()> {
    let networks = NetworkMatch::of_egress(network).map_err(drop)?.unwrap_or_default();
    let pairs = networks.iter().flat_map(|network| cluster.iter().map(move |other| (network, other)));
    let mut common = pairs.filter(|(network, other)| {
        let meet = other.contains(&network.net) || network.net.contains(*other);
        meet && !network.except.iter().any(|except| except.contains(*other))
    });
    Ok(common.next().map(|(network, other)| Refused::Overlap { network: network.net, cluster: *other }))
}

impl Writes {
    /// Whether the controller can read a route and writes a status for it.
    fn reads(&self, kind: RouteKind, route: &Route) -> bool {
        let written = match kind {
            RouteKind::Http | RouteKind::LinkerdHttp => true,
            RouteKind::Grpc => self.grpc_routes,
            RouteKind::Tls | RouteKind::Tcp => self.egress,
        };
        written && routes::read(kind, route).is_ok()
    }

    /// The parents of a route that Linkerd handles.
    fn parents<'a>(self, kind: RouteKind, route: &'a Route) -> impl Iterator<Item = (Parent<'a>, &'a ParentRef)> {
        route.spec.parent_refs.iter().filter_map(move |reference| {
            let is_a = |group: &str, wanted: &str| match &reference.group {
                Some(_) => reference.is_a(group, wanted),
                // The API server's default.
                None => {
                    kind.group() == group
                        && reference.kind.as_deref().is_some_and(|said| said.eq_ignore_ascii_case(wanted))
                }
            };
            let of = if is_a("policy.linkerd.io", "Server") {
                Kind::Server
            } else if is_a("", "Service") {
                Kind::Service
            } else if self.egress && is_a("policy.linkerd.io", "EgressNetwork") {
                Kind::EgressNetwork
            } else {
                return None;
            };
            let port = match reference.port.filter(|_| of != Kind::Server).map(u16::try_from) {
                None => None,
                Some(Ok(port)) => Some(port),
                Some(Err(_)) => return None,
            };
            let namespace = reference.namespace.as_deref().unwrap_or(&route.metadata.namespace);
            Some((Parent { kind: of, namespace, name: &reference.name, port }, reference))
        })
    }
}
