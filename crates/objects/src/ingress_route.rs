//! IngressRoutes of Traefik: paths from outside the cluster to Services.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::route::Present;
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressRoute {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: IngressRouteSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[serde(rename_all = "camelCase")]
pub struct IngressRouteSpec {
    #[serde(deserialize_with = "nullable")]
    pub routes: Vec<TraefikRule>,
    /// The IngressRoutes that it belongs to; their presence is recorded.
    #[serde(deserialize_with = "nullable")]
    pub parent_refs: Vec<Present>,
}

/// A rule and its backends.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TraefikRule {
    /// Middlewares, which may set headers or refuse clients.
    #[serde(deserialize_with = "nullable")]
    pub middlewares: Vec<MiddlewareRef>,
    #[serde(deserialize_with = "nullable")]
    pub services: Vec<TraefikService>,
}

/// A backend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TraefikService {
    /// As [`TraefikRule::middlewares`].
    #[serde(deserialize_with = "nullable")]
    pub middlewares: Vec<MiddlewareRef>,
    /// `TraefikService` for an object of that kind; else a Service.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// By default that of the IngressRoute.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    /// A port of the Service, by number or name.
    pub port: Option<TargetPort>,
    /// Whether Traefik sends requests to the address of the Service, instead of its pods; `None` if its provider's
    /// default applies.
    #[serde(rename = "nativeLB")]
    pub native_lb: Option<bool>,
}

/// A reference to a Middleware, by default of the same namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MiddlewareRef {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

impl MiddlewareRef {
    /// The namespace and name of the Middleware, for a reference in a namespace.
    pub fn key<'a>(&'a self, of: &'a str) -> (&'a str, &'a str) {
        (if self.namespace.is_empty() { of } else { &self.namespace }, &self.name)
    }
}

/// A Middleware of Traefik, as far as it judges the addresses of clients
/// (<https://doc.traefik.io/traefik/middlewares/http/ipallowlist/>).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Middleware {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: MiddlewareSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MiddlewareSpec {
    /// Clients that are admitted.
    pub ip_allow_list: Option<AdmittedClients>,
    /// The same, before Traefik 3.
    pub ip_white_list: Option<AdmittedClients>,
    /// Other Middlewares.
    #[serde(deserialize_with = "nullable")]
    pub chain: MiddlewareChain,
}

/// Middlewares in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MiddlewareChain {
    #[serde(deserialize_with = "nullable")]
    pub middlewares: Vec<MiddlewareRef>,
}

/// The addresses of admitted clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmittedClients {
    /// Ranges or addresses.
    #[serde(deserialize_with = "nullable")]
    pub source_range: Vec<String>,
    /// Takes the address from a header; its presence is recorded.
    pub ip_strategy: Option<Present>,
}

impl IngressRoute {
    /// The Middlewares that its rules name.
    pub fn middlewares(&self) -> impl Iterator<Item = &MiddlewareRef> {
        let rules = self.spec.routes.iter();
        rules.flat_map(|rule| rule.services.iter().flat_map(|one| &one.middlewares).chain(&rule.middlewares))
    }

    /// The Services that it sends requests to, with their places in the rules.
    pub fn services(&self) -> impl Iterator<Item = ((usize, usize), &TraefikService)> {
        let rules = self.spec.routes.iter().enumerate();
        let all = rules.flat_map(|(rule, of)| of.services.iter().enumerate().map(move |(at, one)| ((rule, at), one)));
        all.filter(|(_, one)| one.kind != "TraefikService")
    }
}

impl Listed for IngressRoute {
    type Object = IngressRoute;
    const KIND: Kind = Kind::IngressRoute;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {routes: {middlewares: {name: object, namespace: object}, services: {kind: word, \
                 middlewares: {name: object, namespace: object}, name: object, namespace: object, port: object}}}}",
        ..KindInfo::namespaced("traefik.io", "v1alpha1", "IngressRoute", "ingressroutes")
    };
}

impl Listed for Middleware {
    type Object = Middleware;
    const KIND: Kind = Kind::Middleware;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {ipAllowList: {sourceRange: word}, ipWhiteList: {sourceRange: word}, \
                 chain: {middlewares: {name: object, namespace: object}}}}",
        ..KindInfo::namespaced("traefik.io", "v1alpha1", "Middleware", "middlewares")
    };
}

object!(IngressRoute);
object!(Middleware);
