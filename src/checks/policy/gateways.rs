//! Gateways of the Gateway API with pods of their own, and the Services of their routes.

use super::ingress::{identity, running};
use super::survey::Survey;
use crate::checks::prelude::*;
use crate::model::endpoints::selects;
use crate::objects::{ParentRef, Route, ServicePort};

const GROUP: &str = "gateway.networking.k8s.io";
/// The labels by which implementations mark a Gateway's pods: the Gateway's name and, if the pods may be in
/// another namespace, its namespace.
const MARKS: [(&str, Option<&str>); 2] = [
    ("gateway.networking.k8s.io/gateway-name", None),
    ("gateway.envoyproxy.io/owning-gateway-name", Some("gateway.envoyproxy.io/owning-gateway-namespace")),
];

/// The HTTPRoutes and GRPCRoutes of the Gateway API in the checked namespaces.
pub(super) fn routes<'a>(ctx: &Context<'_>, survey: &Survey<'a>) -> impl Iterator<Item = (Kind, &'a Route)> {
    let lists = [(Kind::HTTPRoute, survey.objects.http_routes), (Kind::GRPCRoute, survey.objects.grpc_routes)];
    let all = lists.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
    all.filter(|(_, route)| ctx.judges(&route.metadata.namespace))
}

/// The Gateways that a route is attached to: namespace and name.
pub(super) fn of_route(route: &Route) -> impl Iterator<Item = (&str, &str)> {
    let gateways = route.spec.parent_refs.iter().filter(|parent| is_gateway(parent));
    gateways.map(|parent| (parent.namespace.as_deref().unwrap_or(&route.metadata.namespace), parent.name.as_str()))
}

/// A parent without group and kind is a Gateway.
fn is_gateway(parent: &ParentRef) -> bool {
    parent.group.as_deref().unwrap_or(GROUP) == GROUP && parent.kind.as_deref().unwrap_or("Gateway") == "Gateway"
}

/// The running pods of a Gateway, each with its mesh identity.
pub(super) fn pods_of<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    pods: &'a [Pod],
    (namespace, name): (&str, &str),
) -> Vec<(&'a Pod, Option<String>)> {
    let home = ctx.namespaces().control_plane.as_str();
    let marked = |pod: &&Pod| {
        let meta = &pod.metadata;
        MARKS.iter().any(|(mark, place)| {
            let at = place.map_or(Some(meta.namespace.as_str()), |place| meta.label(place));
            meta.label(mark) == Some(name) && at == Some(namespace)
        })
    };
    running(pods).filter(marked).map(|pod| (pod, identity(survey, home, pod))).collect()
}

/// The running pods of a Service, each with its mesh identity.
pub(super) fn pods_behind<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    pods: &'a [Pod],
    service: &Service,
) -> Vec<(&'a Pod, Option<String>)> {
    let home = ctx.namespaces().control_plane.as_str();
    let is_selected = |pod: &&Pod| selects(service, &pod.metadata);
    running(pods).filter(is_selected).map(|pod| (pod, identity(survey, home, pod))).collect()
}

/// The Services to which a route sends requests, with the port. Services without a selector are left out.
pub(super) fn services_of<'a>(
    services: &'a [Service],
    route: &'a Route,
) -> impl Iterator<Item = (&'a Service, &'a ServicePort)> {
    let backends = route.spec.rules.iter().flat_map(|rule| &rule.backend_refs);
    backends.filter(|backend| backend.is_a("", "Service")).filter_map(|backend| {
        let namespace = backend.namespace.as_deref().unwrap_or(&route.metadata.namespace);
        let service = services
            .iter()
            .find(|service| service.metadata.key() == (namespace, backend.name.as_str()))
            .filter(|service| !service.spec.selector.is_empty())?;
        let port = service.spec.ports.iter().find(|port| Some(i64::from(port.port)) == backend.port)?;
        Some((service, port))
    })
}
