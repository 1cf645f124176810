//! The backends of routes' rules, and the Services to which the routes apply.

use super::survey::{defined, existing};
use crate::checks::prelude::*;
use crate::model::control_plane::installed;
use crate::model::policy::Quirks;
use crate::objects::{
    BackendRef, GRPCRoute, HTTPRoute, LinkerdHTTPRoute, POLICY_CONTROLLER, ParentRef, Route, TCPRoute, TLSRoute,
};

/// Namespace and name of a Service.
pub(super) type ServiceKey<'a> = (&'a str, &'a str);

/// The routes of the checked namespaces that are attached to a Service, of the kinds that the installed
/// release applies to Services. Reads `deployments.apps`.
pub(super) fn routes<'a>(ctx: &Context<'a>) -> Result<Vec<(Kind, &'a Route)>, Unjudged> {
    let deployments = ctx.partial_list::<Deployment>()?;
    let version = installed(deployments, None, &ctx.namespaces().control_plane).map(|(version, _)| version);
    let streams = Quirks::from_version(version.as_ref(), ctx.knowledge).egress;
    let lists = [
        (Kind::HTTPRoute, defined::<HTTPRoute>(ctx)?),
        (Kind::LinkerdHTTPRoute, defined::<LinkerdHTTPRoute>(ctx)?),
        (Kind::GRPCRoute, defined::<GRPCRoute>(ctx)?),
        (Kind::TLSRoute, if streams { existing::<TLSRoute>(ctx) } else { &[] }),
        (Kind::TCPRoute, if streams { existing::<TCPRoute>(ctx) } else { &[] }),
    ];
    let all = lists.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
    // The policy controller skips such a route with any other number of rules.
    let all = all.filter(|(kind, route)| !is_of_streams(*kind) || route.spec.rules.len() == 1);
    let here = all.filter(|(_, route)| ctx.judges(&route.metadata.namespace) && parents(route).next().is_some());
    Ok(here.collect())
}

/// Whether a kind of routes applies to connections instead of requests.
pub(super) fn is_of_streams(kind: Kind) -> bool {
    matches!(kind, Kind::TLSRoute | Kind::TCPRoute)
}

/// The word for the traffic of a kind of routes: `Requests`.
pub(super) fn traffic(kind: Kind) -> &'static str {
    if is_of_streams(kind) { "Connections" } else { "Requests" }
}

/// The Services that a route is attached to, except those for which the policy controller does not accept
/// it.
pub(super) fn parents(route: &Route) -> impl Iterator<Item = ServiceKey<'_>> {
    attached(route).map(|parent| service_of(route, parent))
}

/// Namespace and name of the Service that a reference of a route names.
pub(super) fn service_of<'a>(route: &'a Route, parent: &'a ParentRef) -> ServiceKey<'a> {
    (parent.namespace.as_deref().unwrap_or(route.metadata.namespace.as_str()), parent.name.as_str())
}

/// The references of a route to Services, except those that the policy controller does not accept.
pub(super) fn attached(route: &Route) -> impl Iterator<Item = &ParentRef> {
    let own = route.metadata.namespace.as_str();
    let services = route.spec.parent_refs.iter().filter(|parent| parent.is_a("", "Service"));
    let refused = move |parent: &ParentRef| {
        let mut said = route.status.parents.iter().filter(|status| {
            let of = &status.parent_ref;
            status.controller_name == POLICY_CONTROLLER
                && of.is_a("", "Service")
                && (of.name == parent.name && of.port == parent.port)
                && of.namespace.as_deref().unwrap_or(own) == parent.namespace.as_deref().unwrap_or(own)
        });
        said.any(|status| status.conditions.iter().any(|one| one.kind == "Accepted" && one.status == "False"))
    };
    services.filter(move |parent| !refused(parent))
}

/// The Service to which the policy controller resolves a backend of a route attached to `parent`: without a
/// namespace, it is looked up in the parent's namespace.
pub(super) fn served_by<'a>(backend: &'a BackendRef, parent: ServiceKey<'a>) -> ServiceKey<'a> {
    (backend.namespace.as_deref().unwrap_or(parent.0), backend.name.as_str())
}

/// The Services among the backends of a rule that get a share of the requests.
pub(super) fn sent(backends: &[BackendRef]) -> impl Iterator<Item = &BackendRef> {
    backends.iter().filter(|backend| backend.is_a("", "Service") && weight(backend) > 0)
}

/// The backend's weight relative to the others.
pub(super) fn weight(backend: &BackendRef) -> i64 {
    backend.weight.unwrap_or(1)
}
