//! All policy of a cluster, read once, with queries by port.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::answer::{Authorization, AuthorizedBy, Inbound, Protocol, RateLimit, TakenBy, Who};
use super::authentication::{self, IdentityMatch, NetworkMatch};
use super::by_target::{IndexedServerAuthorizations, RateLimits, RoutesOfServers, Targets, by_target};
use super::controller::Controller;
use super::default::DefaultPolicy;
use super::ineffective::Void;
use super::matches::Matches;
use super::parse::Port;
use super::read::{
    Authentications, ObjectReader, Required, read_rate_limit, read_server, read_server_authorization, readable,
};
use super::routes::{InboundRoute, RouteKind};
use super::workload::{OPAQUE, Workload};
use crate::objects::by_label::ByLabel;
use crate::objects::{
    AuthorizationPolicy, HTTPLocalRateLimitPolicy, Kind, LabelSelector, MeshTLSAuthentication, NetworkAuthentication,
    Route, Server, ServerAuthorization, Texts,
};

/// The objects of inbound policy.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "each is the list of its kind")]
pub struct Objects<'a> {
    pub servers: &'a [Server],
    pub server_authorizations: &'a [ServerAuthorization],
    pub authorization_policies: &'a [AuthorizationPolicy],
    pub mesh_tls_authentications: &'a [MeshTLSAuthentication],
    pub network_authentications: &'a [NetworkAuthentication],
    pub rate_limits: &'a [HTTPLocalRateLimitPolicy],
    pub http_routes: &'a [Route],
    pub linkerd_http_routes: &'a [Route],
    pub grpc_routes: &'a [Route],
}

/// An object without effect, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ignored<'a> {
    pub kind: Kind,
    /// Its namespace and name.
    pub key: (&'a str, &'a str),
    /// Why, as half a sentence.
    pub why: String,
    /// Whether it cannot be read at all, which in some releases leaves all of its kind unread.
    pub unreadable: bool,
}

/// A Server that could be read.
#[derive(Debug, Clone)]
pub struct ReadServer<'a> {
    /// The object.
    pub server: &'a Server,
    /// The protocol of its port.
    pub protocol: Protocol,
    /// Its access policy, if it has a known one.
    pub access: Option<DefaultPolicy>,
    pub(super) port: Port<'a>,
}

/// All inbound policy of a cluster.
#[derive(Debug)]
pub struct Index<'a> {
    /// The controller's settings.
    pub controller: Controller,
    servers: HashMap<&'a str, Vec<ReadServer<'a>>>,
    server_authorizations: HashMap<&'a str, IndexedServerAuthorizations<'a>>,
    policies: HashMap<&'a str, Vec<(&'a AuthorizationPolicy, Required)>>,
    targets: HashMap<&'a str, Targets>,
    selected: HashMap<&'a str, ByLabel<'a>>,
    selected_external: HashMap<&'a str, ByLabel<'a>>,
    rate_limits: RateLimits<'a>,
    routes: HashMap<&'a str, RoutesOfServers<'a>>,
    ignored: Vec<Ignored<'a>>,
    void: Void,
    matches: Matches,
}

impl<'a> Index<'a> {
    /// Reads everything.
    pub fn new(controller: Controller, objects: Objects<'a>) -> Index<'a> {
        let (mut ignored, mut void) = (Vec::new(), Void::new(controller.quirks.broken_voids_kind, controller.started));
        let mut reader = ObjectReader { ignored: &mut ignored, void: &mut void };
        let mut servers = reader.each(Kind::Server, objects.servers, |o| &o.metadata, |o| read_server(o).map(Ok));
        for servers in servers.values_mut() {
            servers.sort_by_key(|read| (read.server.metadata.creation_timestamp, &read.server.metadata.name));
        }
        let server_authorizations = reader.each(
            Kind::ServerAuthorization,
            objects.server_authorizations,
            |o| &o.metadata,
            |o| read_server_authorization(o, &controller),
        );
        let mesh_tls = reader.each(
            Kind::MeshTLSAuthentication,
            objects.mesh_tls_authentications,
            |o| &o.metadata,
            |o| Ok(authentication::identities(o, &controller)?.map(|matches| (o, matches))),
        );
        let networks = reader.network_authentications(objects.network_authentications);
        let required = Authentications::new(&mesh_tls, &networks, &controller);
        let policies = reader.each(
            Kind::AuthorizationPolicy,
            objects.authorization_policies,
            |o| &o.metadata,
            |o| Ok(readable(o).map(|()| (o, required.required_by(o)))),
        );
        let rate_limits =
            reader.each(Kind::HTTPLocalRateLimitPolicy, objects.rate_limits, |o| &o.metadata, read_rate_limit);
        let routes = reader.routes([
            (RouteKind::Http, objects.http_routes),
            (RouteKind::LinkerdHttp, objects.linkerd_http_routes),
            (RouteKind::Grpc, objects.grpc_routes),
        ]);
        ignored.sort();
        let server_authorizations = server_authorizations
            .into_iter()
            .map(|(namespace, list)| (namespace, IndexedServerAuthorizations::new(list)))
            .collect();
        let rate_limits = by_target(rate_limits);
        let routes = routes.into_iter().map(|(namespace, list)| (namespace, RoutesOfServers::new(list))).collect();
        let targets = policies.iter().map(|(namespace, list)| (*namespace, Targets::new(list))).collect();
        let selected = by_label(&servers, |server| server.spec.pod_selector.as_ref());
        let selected_external = by_label(&servers, |server| server.spec.external_workload_selector.as_ref());
        Index {
            controller,
            servers,
            server_authorizations,
            policies,
            targets,
            selected,
            selected_external,
            rate_limits,
            routes,
            ignored,
            void,
            matches: Matches::default(),
        }
    }

    /// Objects without effect for a reason of their own, independent of their references.
    pub fn ignored(&self) -> &[Ignored<'a>] {
        &self.ignored
    }

    /// Kinds that are entirely unread because one object could not be read.
    pub fn void(&self) -> &[Kind] {
        self.void.kinds()
    }

    /// Kinds that will be entirely unread from the next start of the controller on.
    pub fn void_later(&self) -> impl Iterator<Item = Kind> {
        self.void.later()
    }

    /// The readable Servers of a namespace, in order of precedence.
    pub fn servers(&self, namespace: &str) -> &[ReadServer<'a>] {
        self.servers.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// The readable policies of a namespace, each with the reason if it has no effect.
    pub fn policies(&self, namespace: &str) -> impl Iterator<Item = (&'a AuthorizationPolicy, Option<&str>)> {
        let here = self.policies.get(namespace).into_iter().flatten();
        here.map(|(policy, required)| (*policy, required.as_ref().err().map(String::as_str)))
    }

    /// The Servers that select a workload at a port. In releases that decide by age, the first takes precedence.
    pub fn selecting<'i>(&'i self, workload: &'i Workload<'a>, port: u16) -> impl Iterator<Item = &'i ReadServer<'a>> {
        self.selecting_at_any_port(workload).filter(move |read| read.ports(workload).contains(&port))
    }

    /// The Servers that select a workload at any port.
    pub fn selecting_at_any_port<'i>(
        &'i self,
        workload: &Workload<'a>,
    ) -> impl Iterator<Item = &'i ReadServer<'a>> + use<'i, 'a> {
        let here = self.servers(&workload.meta.namespace);
        let meta = workload.meta;
        let class = (workload.external, meta.namespace.clone(), meta.labels.clone());
        let places = self.matches.get_or_insert(class, || {
            let candidates = self.perhaps_selecting(workload).into_iter();
            candidates.filter(|place| here.get(*place).is_some_and(|read| read.selects(workload))).collect()
        });
        (0..places.len()).filter_map(move |at| here.get(*places.get(at)?))
    }

    /// The Servers of a namespace whose selector may match pods with these labels.
    pub fn perhaps_selecting_pods<'i>(
        &'i self,
        namespace: &str,
        labels: &Texts,
    ) -> impl Iterator<Item = &'i ReadServer<'a>> + use<'i, 'a> {
        let here = self.servers(namespace);
        let places = self.selected.get(namespace).map_or_else(Vec::new, |index| index.candidates(labels));
        places.into_iter().filter_map(|place| here.get(place))
    }

    /// The places of the Servers whose selector may match a workload, by one of its labels.
    fn perhaps_selecting(&self, workload: &Workload<'a>) -> Vec<usize> {
        let index = if workload.external { &self.selected_external } else { &self.selected };
        let here = index.get(workload.meta.namespace.as_str());
        here.map_or_else(Vec::new, |index| index.candidates(&workload.meta.labels))
    }

    /// The ports of a workload that Servers select.
    pub fn taken_ports(&self, workload: &Workload<'a>) -> Vec<u16> {
        self.selecting_by_port(workload).into_keys().collect()
    }

    /// The ports of a workload that Servers select, each with these Servers, as in [`Index::selecting`].
    pub fn selecting_by_port<'i>(&'i self, workload: &Workload<'a>) -> BTreeMap<u16, Vec<&'i ReadServer<'a>>> {
        let mut by_port: BTreeMap<u16, Vec<&ReadServer<'a>>> = BTreeMap::new();
        for read in self.selecting_at_any_port(workload) {
            let ports: BTreeSet<u16> = read.ports(workload).into_iter().collect();
            ports.into_iter().for_each(|port| by_port.entry(port).or_default().push(read));
        }
        by_port
    }

    /// The policies of all ports that Servers select.
    pub fn inbound_taken(&self, workload: &Workload<'a>) -> impl Iterator<Item = (u16, Inbound<'a>)> {
        self.selecting_by_port(workload)
            .into_iter()
            .filter_map(|(port, servers)| Some((port, self.of_server(workload, port, servers.first()?))))
    }

    /// The policy of a port.
    pub fn inbound(&self, workload: &Workload<'a>, port: u16) -> Inbound<'a> {
        let taking = self.selecting(workload, port).next();
        match taking {
            Some(read) => self.of_server(workload, port, read),
            None => self.by_default(workload, port),
        }
    }

    /// Whether the proxies of clients carry connections to a port as opaque, whatever they contain: the workload's own
    /// list of opaque ports has it, or the default list if it has none. A Server that declares HTTP changes nothing.
    pub fn is_opaque_to_clients(&self, workload: &Workload<'a>, port: u16) -> bool {
        match workload.meta.annotation(OPAQUE) {
            Some(_) => workload.opaque.contains(port),
            None => self.controller.opaque_ports.contains(&port),
        }
    }

    /// The policy of a port as if no Server selected it.
    pub fn by_default(&self, workload: &Workload<'a>, port: u16) -> Inbound<'a> {
        let said = workload.default_policy.unwrap_or(self.controller.default_policy);
        let policy = if workload.requires_identity.contains(port) { said.authenticated() } else { said };
        let opaque = workload.opaque.contains(port);
        Inbound {
            taken_by: TakenBy::Default(policy),
            identity_required: policy.is_authenticated() && workload.requires_identity.contains(port),
            protocol: if opaque { Protocol::Opaque } else { Protocol::Detect },
            authorizations: self.default_authorization(policy).into_iter().collect(),
            routes: if opaque { Vec::new() } else { self.default_routes(workload, port) },
            rate_limit: None,
        }
    }

    fn default_authorization(&self, policy: DefaultPolicy) -> Option<Authorization<'a>> {
        let everybody = IdentityMatch::Suffix(Vec::new());
        let who = if policy.is_authenticated() { Who::Identities(vec![everybody]) } else { Who::Anybody };
        let cluster = || self.controller.cluster_networks.iter().copied().map(NetworkMatch::all).collect();
        let networks = if policy.is_cluster_only() { cluster() } else { NetworkMatch::everywhere() };
        (policy != DefaultPolicy::Deny).then_some(Authorization { by: AuthorizedBy::Default(policy), networks, who })
    }

    /// The routes that apply if no route is attached: one for all requests, and one for the kubelet's probes.
    fn default_routes(&self, workload: &Workload<'a>, port: u16) -> Vec<InboundRoute<'a>> {
        let mut routes = vec![InboundRoute { route: None, authorizations: Vec::new(), probe_paths: Vec::new() }];
        let paths: Vec<String> = workload.probed_paths(port).map(str::to_owned).collect();
        let from = &self.controller.probe_networks;
        if !paths.is_empty() && !from.is_empty() {
            let networks = from.iter().copied().map(NetworkMatch::all).collect();
            let probe = Authorization { by: AuthorizedBy::Probe, networks, who: Who::Anybody };
            routes.push(InboundRoute { route: None, authorizations: vec![probe], probe_paths: paths });
        }
        routes
    }

    fn of_server(&self, workload: &Workload<'a>, port: u16, read: &ReadServer<'a>) -> Inbound<'a> {
        let server = read.server;
        let (namespace, name) = (server.metadata.namespace.as_str(), server.metadata.name.as_str());
        let mut authorizations: Vec<Authorization<'a>> = self
            .server_authorizations
            .get(namespace)
            .into_iter()
            .flat_map(|of_servers| of_servers.for_server(server))
            .map(|(authorization, who, networks)| Authorization {
                by: AuthorizedBy::Server(authorization),
                // Without networks, those of the cluster apply.
                networks: match networks.as_slice() {
                    [] => self.controller.cluster_networks.iter().copied().map(NetworkMatch::all).collect(),
                    networks => networks.to_vec(),
                },
                who: who.clone(),
            })
            .collect();
        authorizations.extend(self.authorized((namespace, name), |policy| {
            let target = &policy.spec.target_ref;
            target.is_a("", "Namespace") || target.is_a("policy.linkerd.io", "Server") && target.name == name
        }));
        authorizations.extend(read.access.and_then(|access| self.default_authorization(access)));
        authorizations.sort_by(|a, b| a.by.name().cmp(b.by.name()));
        let routes = match read.protocol {
            Protocol::Detect | Protocol::Http1 | Protocol::Http2 => {
                let routes = self.routes_of(namespace, name, RouteKind::is_http);
                if routes.is_empty() { self.default_routes(workload, port) } else { routes }
            }
            Protocol::Grpc => {
                let routes = self.routes_of(namespace, name, |kind| kind == RouteKind::Grpc);
                let default = InboundRoute { route: None, authorizations: Vec::new(), probe_paths: Vec::new() };
                if routes.is_empty() { vec![default] } else { routes }
            }
            Protocol::Opaque | Protocol::Tls => Vec::new(),
        };
        let takes_limits = matches!(read.protocol, Protocol::Detect | Protocol::Http1 | Protocol::Http2);
        let rate_limit = self.rate_limit(namespace, name).filter(|_| takes_limits);
        Inbound {
            taken_by: TakenBy::Server(server),
            identity_required: false,
            protocol: read.protocol,
            authorizations,
            routes,
            rate_limit,
        }
    }

    fn routes_of(&self, namespace: &str, server: &str, kind: impl Fn(RouteKind) -> bool) -> Vec<InboundRoute<'a>> {
        let here = self.routes.get(namespace).into_iter().flat_map(|routes| routes.for_server(server));
        let attached = here.filter(|read| kind(read.kind));
        attached
            .map(|read| InboundRoute {
                route: Some((read.kind, read.route)),
                authorizations: self.authorized((namespace, &read.route.metadata.name), |policy| {
                    let target = &policy.spec.target_ref;
                    target.is_a(read.kind.group(), read.kind.kind().info().kind)
                        && target.name.eq_ignore_ascii_case(&read.route.metadata.name)
                }),
                probe_paths: Vec::new(),
            })
            .collect()
    }

    /// The contents of the selected policies, ordered by name.
    fn authorized(
        &self,
        (namespace, name): (&str, &str),
        meant: impl Fn(&AuthorizationPolicy) -> bool,
    ) -> Vec<Authorization<'a>> {
        let all = self.policies.get(namespace).map_or(&[][..], Vec::as_slice);
        let places = self.targets.get(namespace).map_or_else(Vec::new, |targets| targets.by_name(name));
        let here = places.into_iter().filter_map(|place| all.get(place)).filter(|(policy, _)| meant(policy));
        let mut found: Vec<Authorization<'a>> = here
            .filter_map(|(policy, required)| {
                let (who, networks) = required.as_ref().ok()?;
                let by = AuthorizedBy::Policy(policy);
                Some(Authorization { by, networks: networks.clone(), who: who.clone() })
            })
            .collect();
        found.sort_by(|a, b| a.by.name().cmp(b.by.name()));
        found
    }

    fn rate_limit(&self, namespace: &str, server: &str) -> Option<RateLimit<'a>> {
        let here = self.rate_limits.get(&(namespace, server)).into_iter().flatten();
        let accepted = |limit: &&&HTTPLocalRateLimitPolicy| {
            limit.status.conditions.iter().any(|c| c.kind == "Accepted" && c.status == "True")
        };
        let by = here.filter(accepted).min_by_key(|limit| (limit.metadata.creation_timestamp, &limit.metadata.name))?;
        let identity = |namespace: Option<&str>, name: &str| {
            self.controller.identity(namespace.unwrap_or(&by.metadata.namespace), name)
        };
        let overrides = by.spec.overrides.iter().map(|over| {
            let clients = over.client_refs.iter().map(|client| identity(client.namespace.as_deref(), &client.name));
            (u32::try_from(over.requests_per_second).unwrap_or_default(), clients.collect())
        });
        Some(RateLimit { by, overrides: overrides.collect() })
    }
}

/// By namespace, the indexes of Servers by the labels that they select.
fn by_label<'a>(
    servers: &HashMap<&'a str, Vec<ReadServer<'a>>>,
    selector: impl Fn(&'a Server) -> Option<&'a LabelSelector>,
) -> HashMap<&'a str, ByLabel<'a>> {
    let of_namespace = |list: &Vec<ReadServer<'a>>| ByLabel::new(list.iter().map(|read| selector(read.server)));
    servers.iter().map(|(namespace, list)| (*namespace, of_namespace(list))).collect()
}

impl<'a> ReadServer<'a> {
    /// Whether it selects a workload, at any port.
    pub fn selects(&self, workload: &Workload<'_>) -> bool {
        let spec = &self.server.spec;
        let selector = if workload.external { &spec.external_workload_selector } else { &spec.pod_selector };
        selector.as_ref().is_some_and(|selector| selector.matches_in_policy(&workload.meta.labels))
    }

    /// The ports of a workload that it selects.
    pub fn ports(&self, workload: &Workload<'_>) -> Vec<u16> {
        match self.port {
            Port::Number(port) => vec![port],
            Port::Name(name) => workload.ports_named(name).collect(),
        }
    }

    /// Its port as written.
    pub fn port(&self) -> String {
        match self.port {
            Port::Number(port) => port.to_string(),
            Port::Name(name) => name.to_owned(),
        }
    }
}
