//! Converts objects to the controller's view: unreadable objects, ignored objects with the reason, and the
//! content of the others.

use std::collections::{HashMap, HashSet};

use super::answer::{Protocol, Who};
use super::authentication::{self, IdentityMatch, NetworkMatch};
use super::controller::Controller;
use super::index::{Ignored, ReadServer};
use super::ineffective::Void;
use super::parse::{self, Broken};
use super::routes::{self, ReadRoute, RouteKind};
use crate::names::with_article;
use crate::objects::{
    AuthorizationPolicy, HTTPLocalRateLimitPolicy, Kind, MeshTLSAuthentication, MeshTls, Meta, NetworkAuthentication,
    Route, Server, ServerAuthorization, TargetRef,
};

/// The clients that a policy authorizes, or the reason that it has no effect.
pub(super) type Required = Result<(Who, Vec<NetworkMatch>), String>;

/// A ServerAuthorization with the clients and networks that it authorizes; without networks, those of the cluster.
pub(super) type ReadServerAuthorization<'a> = (&'a ServerAuthorization, Who, Vec<NetworkMatch>);

/// Reads all objects of a kind. Objects that `read` rejects have no effect; one that it cannot read may leave
/// all unread.
pub(super) struct ObjectReader<'a, 'i> {
    pub(super) ignored: &'i mut Vec<Ignored<'a>>,
    pub(super) void: &'i mut Void,
}

impl<'a> ObjectReader<'a, '_> {
    /// All objects of a kind, by namespace.
    pub(super) fn each<O, T>(
        &mut self,
        kind: Kind,
        objects: &'a [O],
        meta: impl Fn(&'a O) -> &'a Meta,
        read: impl Fn(&'a O) -> Result<Result<T, String>, Broken>,
    ) -> HashMap<&'a str, Vec<T>> {
        let mut found: HashMap<&'a str, Vec<T>> = HashMap::new();
        let mut is_void = false;
        for object in objects {
            let meta = meta(object);
            let (why, unreadable) = match read(object) {
                Ok(Ok(good)) => {
                    found.entry(&meta.namespace).or_default().push(good);
                    continue;
                }
                Ok(Err(why)) => (why, false),
                Err(Broken(why)) => (why, true),
            };
            is_void |= unreadable && self.void.broken(kind, meta);
            self.ignored.push(Ignored { kind, key: meta.key(), why, unreadable });
        }
        if is_void { HashMap::new() } else { found }
    }

    /// NetworkAuthentications with their networks.
    pub(super) fn network_authentications(
        &mut self,
        objects: &'a [NetworkAuthentication],
    ) -> ByNamespace<'a, NetworkAuthentication, Vec<NetworkMatch>> {
        let unread = after_empty(objects);
        let read = |object: &'a NetworkAuthentication| {
            let read = authentication::networks(object)?.map(|matches| (object, matches));
            Ok(match &unread {
                Some(((namespace, name), after)) if after.contains(&object.metadata.key()) => Err(format!(
                    "NetworkAuthentication {namespace}/{name}, which is listed before it, names no network, and the \
                     controller reads no further when it starts"
                )),
                _ => read,
            })
        };
        self.each(Kind::NetworkAuthentication, objects, |object| &object.metadata, read)
    }

    /// Routes of several kinds, in the controller's order.
    pub(super) fn routes(&mut self, kinds: [(RouteKind, &'a [Route]); 3]) -> HashMap<&'a str, Vec<ReadRoute<'a>>> {
        let mut routes: HashMap<&str, Vec<ReadRoute<'_>>> = HashMap::new();
        for (kind, list) in kinds {
            let read = self.each(kind.kind(), list, |object| &object.metadata, |one| routes::read(kind, one));
            read.into_iter().for_each(|(namespace, read)| routes.entry(namespace).or_default().extend(read));
        }
        for routes in routes.values_mut() {
            routes.sort_by_key(|read| {
                let meta = &read.route.metadata;
                (meta.creation_timestamp, &meta.name, read.kind.group())
            });
        }
        routes
    }
}

pub(super) fn read_server(server: &Server) -> Result<ReadServer<'_>, Broken> {
    let spec = &server.spec;
    if spec.pod_selector.is_some() == spec.external_workload_selector.is_some() {
        return Err(Broken::new(
            "it must select either pods or ExternalWorkloads (podSelector, externalWorkloadSelector)",
        ));
    }
    let protocol = protocol(spec.proxy_protocol.as_deref())?;
    spec.pod_selector.iter().chain(&spec.external_workload_selector).try_for_each(parse::selector)?;
    let access = spec.access_policy.as_deref().and_then(|word| word.parse().ok());
    Ok(ReadServer { server, protocol, access, port: parse::port(server)? })
}

/// The protocol of a Server; detected by default.
pub(super) fn protocol(word: Option<&str>) -> Result<Protocol, Broken> {
    Ok(match word {
        None | Some("unknown") => Protocol::Detect,
        Some("HTTP/1") => Protocol::Http1,
        Some("HTTP/2") => Protocol::Http2,
        Some("gRPC") => Protocol::Grpc,
        Some("opaque") => Protocol::Opaque,
        Some("TLS") => Protocol::Tls,
        Some(other) => {
            let known = "unknown, HTTP/1, HTTP/2, gRPC, opaque or TLS";
            return Err(Broken::new(format!("protocol {other:?} (proxyProtocol) is not known; use {known}")));
        }
    })
}

pub(super) fn read_server_authorization<'a>(
    object: &'a ServerAuthorization,
    controller: &Controller,
) -> Result<Result<ReadServerAuthorization<'a>, String>, Broken> {
    let client = &object.spec.client;
    object.spec.server.selector.iter().try_for_each(parse::selector)?;
    let networks = client.networks.iter().map(NetworkMatch::from_network).collect::<Result<Vec<_>, _>>()?;
    let who = match &client.mesh_tls {
        _ if client.unauthenticated => Who::Anybody,
        Some(MeshTls { unauthenticated_tls: true, .. }) => Who::Meshed,
        Some(mesh_tls) => {
            let accounts = mesh_tls.service_accounts.iter().map(|account| {
                let namespace = account.namespace.as_deref().unwrap_or(&object.metadata.namespace);
                IdentityMatch::Exact(controller.identity(namespace, &account.name))
            });
            let named = mesh_tls.identities.iter().map(|text| IdentityMatch::parse(text));
            let identities: Vec<IdentityMatch> = named.chain(accounts).collect();
            if identities.is_empty() {
                return Ok(Err("it names no client".to_owned()));
            }
            Who::Identities(identities)
        }
        None => return Ok(Err("it sets neither unauthenticated nor meshTLS".to_owned())),
    };
    Ok(Ok((object, who, networks)))
}

/// Whether a ServerAuthorization applies to a Server: by name, else by labels.
pub(super) fn is_meant(authorization: &ServerAuthorization, server: &Server) -> bool {
    let choice = &authorization.spec.server;
    match (&choice.name, &choice.selector) {
        (Some(name), _) => *name == server.metadata.name,
        (None, Some(selector)) => selector.matches_in_policy(&server.metadata.labels),
        (None, None) => true,
    }
}

pub(super) fn read_rate_limit(
    object: &HTTPLocalRateLimitPolicy,
) -> Result<Result<&HTTPLocalRateLimitPolicy, String>, Broken> {
    let spec = &object.spec;
    let limits = spec.total.iter().chain(&spec.identity).map(|limit| limit.requests_per_second);
    let mut numbers = limits.chain(spec.overrides.iter().map(|over| over.requests_per_second));
    if let Some(number) = numbers.find(|number| u32::try_from(*number).is_err()) {
        return Err(Broken::new(format!("the limit {number} (requestsPerSecond) is not within 0 and {}", u32::MAX)));
    }
    if !spec.target_ref.is_a("policy.linkerd.io", "Server") {
        return Ok(Err(format!(
            "its target is {}, and rate limits apply only to Servers",
            with_article(&spec.target_ref.kind)
        )));
    }
    let mut clients = spec.overrides.iter().flat_map(|over| &over.client_refs);
    Ok(match clients.find(|client| !client.is_a("", "ServiceAccount")) {
        Some(client) => {
            Err(format!("it refers to {} as a client, and only ServiceAccounts count", with_article(&client.kind)))
        }
        None => Ok(object),
    })
}

/// The namespace and the name of an object.
pub(crate) type ObjectKey<'a> = (&'a str, &'a str);

/// The NetworkAuthentication that names no network, and those that are listed after it: the controller reads
/// them in the order in which the API server lists them at startup and stops at the first without networks,
/// so policies cannot use the rest.
fn after_empty(objects: &[NetworkAuthentication]) -> Option<(ObjectKey<'_>, HashSet<ObjectKey<'_>>)> {
    let empty = objects.iter().filter(|object| object.spec.networks.is_empty());
    let at = empty.map(|object| object.metadata.key()).min()?;
    Some((at, objects.iter().map(|object| object.metadata.key()).filter(|key| *key > at).collect()))
}

/// Whether the kinds that a policy refers to are supported.
pub(super) fn readable(policy: &AuthorizationPolicy) -> Result<(), String> {
    const LINKERD: &str = "policy.linkerd.io";
    const GATEWAY: &str = "gateway.networking.k8s.io";
    let target = &policy.spec.target_ref;
    let targets = [
        (LINKERD, "Server"),
        ("", "Namespace"),
        (LINKERD, "HTTPRoute"),
        (GATEWAY, "HTTPRoute"),
        (GATEWAY, "GRPCRoute"),
    ];
    if !targets.iter().any(|(group, kind)| target.is_a(group, kind)) {
        return Err(format!(
            "its target is {}, which policies cannot have",
            with_article(&qualified(&target.kind, &target.group))
        ));
    }
    let known = [(LINKERD, "MeshTLSAuthentication"), (LINKERD, "NetworkAuthentication"), ("", "ServiceAccount")];
    let required = &policy.spec.required_authentication_refs;
    match required.iter().find(|reference| !known.iter().any(|(group, kind)| reference.is_a(group, kind))) {
        Some(other) => Err(format!(
            "it requires {}, which is not an authentication",
            with_article(&qualified(&other.kind, &other.group))
        )),
        None => one_of_each(required),
    }
}

/// Whether a policy requires at most one identity and at most one network: the webhook denies any other, and
/// the controller does not read it.
fn one_of_each(required: &[TargetRef]) -> Result<(), String> {
    let is_network = |reference: &&TargetRef| reference.is_a("policy.linkerd.io", "NetworkAuthentication");
    let (networks, identities): (Vec<_>, Vec<_>) = required.iter().partition(is_network);
    for (references, what) in [(identities, "identities"), (networks, "NetworkAuthentications")] {
        if references.len() > 1 {
            return Err(format!("it requires two {what}, and clients can show one"));
        }
    }
    Ok(())
}

/// A kind with its group: `Pod`, `Deployment.apps`.
pub fn qualified(kind: &str, group: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

/// Objects of a kind by namespace, each with its content.
type ByNamespace<'a, O, T> = HashMap<&'a str, Vec<(&'a O, T)>>;

/// Authentications by namespace and name.
pub(super) struct Authentications<'a, 'i> {
    mesh_tls: HashMap<ObjectKey<'a>, &'i [IdentityMatch]>,
    networks: HashMap<ObjectKey<'a>, &'i [NetworkMatch]>,
    controller: &'i Controller,
}

impl<'a, 'i> Authentications<'a, 'i> {
    pub(super) fn new(
        mesh_tls: &'i ByNamespace<'a, MeshTLSAuthentication, Vec<IdentityMatch>>,
        networks: &'i ByNamespace<'a, NetworkAuthentication, Vec<NetworkMatch>>,
        controller: &'i Controller,
    ) -> Authentications<'a, 'i> {
        let mut found = Authentications { mesh_tls: HashMap::new(), networks: HashMap::new(), controller };
        for (object, matches) in mesh_tls.values().flatten() {
            found.mesh_tls.entry(object.metadata.key()).or_insert(matches);
        }
        for (object, matches) in networks.values().flatten() {
            found.networks.entry(object.metadata.key()).or_insert(matches);
        }
        found
    }

    /// The authentications that a policy requires.
    pub(super) fn required_by(&self, policy: &AuthorizationPolicy) -> Required {
        let (mut identities, mut networks) = (None, None);
        for reference in &policy.spec.required_authentication_refs {
            let namespace = reference.namespace.as_deref().unwrap_or(&policy.metadata.namespace);
            let name = reference.name.as_str();
            if reference.is_a("policy.linkerd.io", "NetworkAuthentication") {
                let Some(matches) = self.networks.get(&(namespace, name)) else {
                    return Err(format!(
                        "it requires NetworkAuthentication {namespace}/{name}, which is missing or has no effect"
                    ));
                };
                networks = Some(matches.to_vec());
                continue;
            }
            let matches = if reference.is_a("", "ServiceAccount") {
                vec![IdentityMatch::Exact(self.controller.identity(namespace, name))]
            } else {
                let Some(matches) = self.mesh_tls.get(&(namespace, name)) else {
                    return Err(format!(
                        "it requires MeshTLSAuthentication {namespace}/{name}, which is missing or has no effect"
                    ));
                };
                matches.to_vec()
            };
            identities = Some(matches);
        }
        let who = identities.map_or(Who::Anybody, Who::Identities);
        Ok((who, networks.unwrap_or_else(NetworkMatch::everywhere)))
    }
}
