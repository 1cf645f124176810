//! The backends of routes' rules, and the Services to which the routes apply.

use super::survey::defined;
use crate::checks::{Context, Unjudged};
use crate::objects::{
    BackendRef, GRPCRoute, HTTPRoute, Kind, LinkerdHTTPRoute, POLICY_CONTROLLER, ParentRef, Route,
};

/// Namespace and name of a Service.
pub(super) type Key<'a> = (&'a str, &'a str);

/// The HTTPRoutes and GRPCRoutes of the checked namespaces that are attached to a Service.
pub(super) fn routes<'a>(ctx: &Context<'a>) -> Result<Vec<(Kind, &'a Route)>, Unjudged> {
    let lists = [
        (Kind::HTTPRoute, defined::<HTTPRoute>(ctx)?),
        (Kind::LinkerdHTTPRoute, defined::<LinkerdHTTPRoute>(ctx)?),
        (Kind::GRPCRoute, defined::<GRPCRoute>(ctx)?),
    ];
    let all = lists.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
    let here =
        all.filter(|(_, route)| ctx.judges(&route.metadata.namespace) && parents(route).next().is_some());
    Ok(here.collect())
}

/// The Services that a route is attached to, except those for which the policy controller does not accept
/// it.
pub(super) fn parents(route: &Route) -> impl Iterator<Item = Key<'_>> {
    attached(route).map(|parent| service_of(route, parent))
}

/// Namespace and name of the Service that a reference of a route names.
pub(super) fn service_of<'a>(route: &'a Route, parent: &'a ParentRef) -> Key<'a> {
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
pub(super) fn served_by<'a>(backend: &'a BackendRef, parent: Key<'a>) -> Key<'a> {
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
