//! `route-on-tls-port`: a route for requests is attached to a port whose clients use TLS of their own. Proxies see
//! connections instead of requests there.

use super::backend_policy::behind;
use super::backends::{attached, service_of};
use super::server_http_on_tls_port::{describe, is_https, probed};
use super::survey::{Survey, about, existing, field, removal, set, survey, test};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::objects::{EgressNetwork, Kind, ParentRef, Route, Service, ServicePort};

/// The port of HTTPS.
const HTTPS: i64 = 443;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.complete_list::<Service>()?;
    let lists = [
        (Kind::HTTPRoute, survey.objects.http_routes),
        (Kind::LinkerdHTTPRoute, survey.objects.linkerd_http_routes),
        (Kind::GRPCRoute, survey.objects.grpc_routes),
    ];
    let all = lists.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
    let mut findings = Vec::new();
    for (kind, route) in all.filter(|(_, route)| ctx.judges(&route.metadata.namespace)) {
        let on_services = attached(route).filter_map(|parent| {
            let service = services.iter().find(|one| one.metadata.key() == service_of(route, parent))?;
            on_service(ctx, survey, (kind, route), (service, port_of(service, parent)?))
        });
        findings.extend(on_services);
        findings.extend(outside(route).filter_map(|parent| on_network(ctx, (kind, route), parent)));
    }
    Ok(findings.into())
}

/// The references of a route to port 443 of EgressNetworks.
fn outside(route: &Route) -> impl Iterator<Item = &ParentRef> {
    let is_outside = |parent: &&ParentRef| parent.is_a("policy.linkerd.io", "EgressNetwork");
    route.spec.parent_refs.iter().filter(is_outside).filter(|parent| parent.port == Some(HTTPS))
}

/// The port that a reference names; without one, the only port of the Service.
fn port_of<'a>(service: &'a Service, parent: &ParentRef) -> Option<&'a ServicePort> {
    match parent.port {
        Some(number) => service.spec.tcp_ports().find(|port| i64::from(port.port) == number),
        None => service.spec.only_tcp_port(),
    }
}

/// The effect of a route on TLS connections. A GRPCRoute makes proxies expect HTTP/2 without detection.
fn effect(kind: Kind) -> &'static str {
    match kind {
        Kind::GRPCRoute => "because of the GRPCRoute they expect HTTP/2, and close TLS connections",
        _ => "matches, backends, timeouts and retries of the route have no effect",
    }
}

/// A finding about a route of a Service port. An HTTPS probe proves TLS; a name only suggests it, unless a probe of the
/// port is unencrypted.
fn on_service(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    (kind, route): (Kind, &Route),
    (service, port): (&Service, &ServicePort),
) -> Option<Finding> {
    let mut by_probe = None;
    for (pod, _, number) in behind(survey, service, port) {
        for (_, is_https) in probed(pod).filter(|(port, _)| *port == number) {
            if !is_https {
                return None;
            }
            by_probe = by_probe.or(Some((pod, number)));
        }
    }
    if by_probe.is_none() && !is_https(port) {
        return None;
    }
    let (name, number) = (service.metadata.name.as_str(), port.port);
    let effect = effect(kind);
    let message = match by_probe {
        Some(_) => {
            format!("Port {number} of Service {name} serves TLS, in which proxies see no requests: {effect}")
        }
        None => format!(
            "Port {number} of Service {name} is called HTTPS. If clients use TLS of their own, proxies see no \
             requests: {effect}"
        ),
    };
    let seen = match by_probe {
        Some((pod, number)) => Evidence::field(
            Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name),
            "spec.containers[].probes",
            format!("httpGet over HTTPS, port {number}"),
        ),
        None => field(Kind::Service, &service.metadata, "spec.ports", describe(port)),
    };
    let remedy = Remedy::new()
        .note(
            "Serve plain HTTP on the port, and let clients call it without TLS: their proxies encrypt the connections \
             with mTLS, and apply the route",
        )
        .note("Or replace the route by a TLSRoute, which selects backends by the server name of connections");
    let severity = if by_probe.is_some() { Severity::Warning } else { Severity::Info };
    let parameter = format!("{}/{name}:{number}", service.metadata.namespace);
    let finding = about(ctx, kind, &route.metadata, message)
        .severity(severity)
        .parameter(parameter)
        .evidence(field(kind, &route.metadata, "spec.parentRefs[]", format!("Service {name}, port {number}")))
        .evidence(seen)
        .remedy(remedy);
    Some(finding.likely_if(by_probe.is_none()))
}

/// A finding about a route of port 443 outside of the cluster.
fn on_network(ctx: &Context<'_>, (kind, route): (Kind, &Route), parent: &ParentRef) -> Option<Finding> {
    let home = parent.namespace.as_deref().unwrap_or(&route.metadata.namespace);
    let network =
        existing::<EgressNetwork>(ctx).iter().find(|network| network.metadata.key() == (home, parent.name.as_str()))?;
    let name = network.metadata.name.as_str();
    let denies = network.spec.traffic_policy == "Deny";
    let effect = match (kind, denies) {
        (Kind::GRPCRoute, _) => effect(kind).to_owned(),
        (_, true) => format!("this route allows no https:// call, and EgressNetwork {name} denies the rest"),
        (_, false) => "the route has no effect on https:// calls".to_owned(),
    };
    let message = format!("Port 443 mostly carries TLS, in which proxies see no requests: {effect}");
    let at = route.spec.parent_refs.iter().position(|one| std::ptr::eq(one, parent))?;
    let path = format!("/spec/parentRefs/{at}");
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            "Remove the parent with port 443 from the route, which takes precedence over a TLSRoute",
            set(kind, &route.metadata, [test(format!("{path}/name"), name), removal(path)]),
        )
        .note(format!(
            "Then attach a TLSRoute with its hostnames to port 443 of EgressNetwork {name}: proxies read the \
                 server name of TLS connections"
        ));
    let finding = about(ctx, kind, &route.metadata, message)
        .severity(if denies || kind == Kind::GRPCRoute { Severity::Warning } else { Severity::Info })
        .parameter(format!("{home}/{name}"))
        .likely()
        .evidence(field(kind, &route.metadata, "spec.parentRefs[]", format!("EgressNetwork {name}, port 443")))
        .evidence(field(
            Kind::EgressNetwork,
            &network.metadata,
            "spec.trafficPolicy",
            network.spec.traffic_policy.as_str(),
        ))
        .remedy(remedy);
    Some(finding)
}
