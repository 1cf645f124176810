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
    /// Middlewares, which may set headers; their presence is recorded.
    #[serde(deserialize_with = "nullable")]
    pub middlewares: Vec<Present>,
    #[serde(deserialize_with = "nullable")]
    pub services: Vec<TraefikService>,
}

/// A backend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TraefikService {
    /// As [`TraefikRule::middlewares`].
    #[serde(deserialize_with = "nullable")]
    pub middlewares: Vec<Present>,
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

impl IngressRoute {
    /// The Services that it sends requests to, with their places in the rules.
    pub fn services(&self) -> impl Iterator<Item = ((usize, usize), &TraefikService)> {
        let rules = self.spec.routes.iter().enumerate();
        let all = rules
            .flat_map(|(rule, of)| of.services.iter().enumerate().map(move |(at, one)| ((rule, at), one)));
        all.filter(|(_, one)| one.kind != "TraefikService")
    }
}

impl Listed for IngressRoute {
    type Object = IngressRoute;
    const KIND: Kind = Kind::IngressRoute;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {routes: {services: {kind: word, name: object, namespace: object, port: object}}}}",
        ..KindInfo::namespaced("traefik.io", "v1alpha1", "IngressRoute", "ingressroutes")
    };
}

object!(IngressRoute);
