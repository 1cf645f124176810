//! Where the meshed proxies of Envoy Gateway send requests: to the endpoints of a Service, by default, or to its
//! address, so that their Linkerd proxy selects the endpoint.

use super::gateways::{of_route, pods_of};
use super::survey::{Survey, defined, put, set};
use crate::checks::prelude::*;
use crate::objects::{BackendTrafficPolicy, EnvoyProxy, Route};

/// The beginning of the controller name of Envoy Gateway.
const CONTROLLER: &str = "gateway.envoyproxy.io/";
/// The label of the Gateway's name on the pods.
const OWNER: &str = "gateway.envoyproxy.io/owning-gateway-name";

/// Where requests go.
pub(super) enum Routing {
    /// To endpoints, with the settings that show it.
    Endpoints(Vec<Evidence>),
    /// To the addresses of Services.
    Services,
    /// Objects that show it differ, or are unavailable, which is noted.
    Unknown,
}

impl Routing {
    /// Reads the settings of all Gateways of Envoy Gateway.
    pub(super) fn read(ctx: &Context<'_>) -> Routing {
        let proxies = ctx.or_note(defined::<EnvoyProxy>(ctx));
        let policies = ctx.or_note(defined::<BackendTrafficPolicy>(ctx));
        let (Some(proxies), Some(policies)) = (proxies, policies) else { return Routing::Unknown };
        let overridden = policies.iter().any(|one| one.spec.is_to_service());
        let to_services = proxies.iter().filter(|one| one.spec.is_to_service()).count();
        match to_services {
            0 if !overridden => Routing::Endpoints(match proxies {
                [] => vec![Evidence::other("EnvoyProxy", "none; the default is routingType: Endpoint")],
                proxies => proxies.iter().take(2).map(evidence).collect(),
            }),
            all if all == proxies.len() && all > 0 => Routing::Services,
            _ => Routing::Unknown,
        }
    }
}

fn evidence(proxy: &EnvoyProxy) -> Evidence {
    let said = proxy.spec.routing_type.as_deref().unwrap_or("not set; the default is Endpoint");
    let (namespace, name) = proxy.metadata.key();
    Evidence::field(Subject::object(Kind::EnvoyProxy, namespace, name), "spec.routingType", said)
}

/// Whether the Gateways of a route, which have these pods, are those of Envoy Gateway.
pub(super) fn is_of_envoy(route: &Route, pods: &[&Pod]) -> bool {
    pods.iter().any(|pod| pod.metadata.label(OWNER).is_some())
        || route.status.parents.iter().any(|parent| parent.controller_name.starts_with(CONTROLLER))
}

/// The pods of a route's Gateways, if Envoy Gateway runs them and all are meshed.
pub(super) fn meshed_pods<'a>(ctx: &Context<'_>, survey: &Survey<'_>, pods: &'a [Pod], route: &Route) -> Vec<&'a Pod> {
    let found: Vec<_> = of_route(route).flat_map(|gateway| pods_of(ctx, survey, pods, gateway)).collect();
    let is_meshed = found.iter().all(|(_, identity)| identity.is_some());
    let found: Vec<&Pod> = found.into_iter().map(|(pod, _)| pod).collect();
    if is_meshed && is_of_envoy(route, &found) { found } else { Vec::new() }
}

/// The steps that make Envoy Gateway send requests to Services.
pub(super) fn to_services(ctx: &Context<'_>) -> Remedy {
    let why = "so that requests go to the Service, and its proxy selects the pod";
    match defined::<EnvoyProxy>(ctx) {
        Ok([proxy]) => Remedy::new().run(
            StepKind::Command,
            format!("Set routingType: Service in the EnvoyProxy, {why} (also in its source manifest)"),
            set(Kind::EnvoyProxy, &proxy.metadata, [put("/spec/routingType", "Service")]),
        ),
        _ => Remedy::new()
            .note(format!("Set routingType: Service in the EnvoyProxy of the Gateway or its GatewayClass, {why}")),
    }
}
