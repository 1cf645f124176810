//! `policy-ignored`: accepted policy objects that the policy controller ignores.

use super::gateways;
use super::survey::{Survey, about, each, existing, field, mend_or_delete, on};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::model::policy::{Ignored, OutboundIndex, OutboundObjects, Protocol, RouteKind};
use crate::objects::{Kind, Meta, ParentRef, Route, TCPRoute, TLSRoute};

/// The annotation for a route's request timeout, in every release that supports it.
const TIMEOUT: &str = "timeout.linkerd.io/request";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = each(ctx)?;
    let by_itself = survey.index.ignored().iter().filter(|one| !one.unreadable);
    let mut findings: Vec<Finding> = by_itself
        .map(|one| {
            let (namespace, name) = one.key;
            let meta = Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() };
            let remedy = match serves_a_gateway(survey, one) {
                true => Remedy::new()
                    .run(StepKind::Command, "Read the object", on("get", one.kind, &meta).words("-o yaml"))
                    .step(
                        StepKind::Note,
                        "Keep the route for its Gateway, and write a separate one for the Service or Server \
                         in a form that the policy controller supports",
                    ),
                false => mend_or_delete(
                    one.kind,
                    &meta,
                    "Rewrite it in a form that the policy controller supports, and apply it again",
                ),
            };
            about(ctx, one.kind, &meta, "the policy controller ignores it, so it has no effect in the mesh")
                .evidence(field(one.kind, &meta, "spec", one.why.clone()))
                .remedy(remedy)
        })
        .collect();
    for (kind, routes) in [
        (Kind::HTTPRoute, survey.objects.http_routes),
        (Kind::LinkerdHTTPRoute, survey.objects.linkerd_http_routes),
        (Kind::GRPCRoute, survey.objects.grpc_routes),
    ] {
        findings.extend(routes.iter().flat_map(|route| unused(ctx, survey, kind, route)));
    }
    findings.extend(limits(ctx, survey));
    findings.extend(for_calls(ctx, survey));
    if !survey.index.controller.quirks.gateway_timeouts {
        findings.extend(survey.objects.http_routes.iter().filter_map(|route| timeouts(ctx, route)));
    }
    Ok(findings.into())
}

/// Whether the route is also used by a Gateway.
fn serves_a_gateway(survey: &Survey<'_>, one: &Ignored<'_>) -> bool {
    survey.route_of(one).is_some_and(|route| gateways::of_route(route).next().is_some())
}

/// Whether a route applies to calls of a Service or an EgressNetwork.
fn routes_calls(route: &Route) -> bool {
    let routed =
        |parent: &ParentRef| parent.is_a("", "Service") || parent.is_a("policy.linkerd.io", "EgressNetwork");
    route.spec.parent_refs.iter().any(routed)
}

/// Routes that the controller ignores for calls: invalid annotations, or more rules than supported.
fn for_calls(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    let objects = OutboundObjects {
        routes: vec![
            (RouteKind::Http, survey.objects.http_routes),
            (RouteKind::LinkerdHttp, survey.objects.linkerd_http_routes),
            (RouteKind::Grpc, survey.objects.grpc_routes),
            (RouteKind::Tls, existing::<TLSRoute>(ctx)),
            (RouteKind::Tcp, existing::<TCPRoute>(ctx)),
        ],
        ..OutboundObjects::default()
    };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let known = |kind: Kind, meta: &Meta| {
        let mut ignored = survey.index.ignored().iter();
        index.void().contains(&kind) || ignored.any(|one| one.kind == kind && one.key == meta.key())
    };
    let passed_over = index.passed_over().iter().filter(|(kind, route, _)| {
        ctx.judges(&route.metadata.namespace) && routes_calls(route) && !known(kind.kind(), &route.metadata)
    });
    let findings = passed_over.map(|(kind, route, why)| {
        let (kind, meta) = (kind.kind(), &route.metadata);
        let said = why.split_once(": ").filter(|(key, _)| meta.annotation(key).is_some());
        let evidence = match said {
            Some((key, why)) => field(kind, meta, &format!("metadata.annotations[{key}]"), why),
            None => field(kind, meta, "spec", why.as_str()),
        };
        let message =
            "its status is accepted, but the policy controller ignores it: requests continue as if it did \
             not exist";
        about(ctx, kind, meta, message).parameter("calls").evidence(evidence).remedy(mend_or_delete(
            kind,
            meta,
            "Rewrite it in a form that the policy controller supports, and apply it again",
        ))
    });
    findings.collect()
}

/// Rule timeouts that this release reads only from Linkerd's own HTTPRoutes.
fn timeouts(ctx: &Context<'_>, route: &Route) -> Option<Finding> {
    let meta = &route.metadata;
    if !ctx.judges(&meta.namespace) || meta.annotation(TIMEOUT).is_some() {
        return None;
    }
    if !routes_calls(route) {
        return None;
    }
    let limits = route.spec.rules.iter().enumerate();
    let limits: Vec<(usize, &str)> =
        limits.filter_map(|(at, rule)| Some((at, rule.timeouts.as_ref()?.request.as_deref()?))).collect();
    let (_, first) = limits.first()?;
    let message = "the timeouts of its rules have no effect: this release reads them only from Linkerd's \
        own HTTPRoutes (policy.linkerd.io), so requests have no time limit";
    Some(
        about(ctx, Kind::HTTPRoute, meta, message)
            .parameter("timeouts")
            .evidences(limits.iter().map(|(at, limit)| {
                field(Kind::HTTPRoute, meta, &format!("spec.rules[{at}].timeouts.request"), *limit)
            }))
            .remedy(
                Remedy::new()
                    .run(
                        StepKind::Annotation,
                        "Set the timeout by the route's annotation, which applies to all of its rules \
                         (since 2.16)",
                        on("annotate", Kind::HTTPRoute, meta).arg(format!("{TIMEOUT}={first}")),
                    )
                    .step(
                        StepKind::Note,
                        "Or upgrade to edge-25.11.3 or later (2.20), which reads the field",
                    ),
            ),
    )
}

/// Routes on Servers of another protocol: accepted, but never used.
fn unused(ctx: &Context<'_>, survey: &Survey<'_>, kind: Kind, route: &Route) -> Vec<Finding> {
    let meta = &route.metadata;
    let of_grpc = kind == Kind::GRPCRoute;
    let parents = route.spec.parent_refs.iter().filter(|parent| parent.is_a("policy.linkerd.io", "Server"));
    let servers = survey.index.servers(&meta.namespace);
    let taken =
        parents.filter_map(|parent| servers.iter().find(|read| read.server.metadata.name == parent.name));
    let wrong = taken.filter(|read| match read.protocol {
        Protocol::Grpc => !of_grpc,
        Protocol::Detect | Protocol::Http1 | Protocol::Http2 => of_grpc,
        Protocol::Opaque | Protocol::Tls => true,
    });
    wrong
        .map(|read| {
            let server = &read.server.metadata;
            let said = read.server.spec.proxy_protocol.clone().unwrap_or_else(|| "unknown".to_owned());
            let wanted = if of_grpc { "gRPC" } else { "HTTP/1 or HTTP/2" };
            about(
                ctx,
                kind,
                meta,
                format!(
                    "it is accepted but never used: routes of its kind apply only to Servers of \
                    proxyProtocol {wanted}"
                ),
            )
            .evidence(field(Kind::Server, server, "spec.proxyProtocol", said))
            .parameter(server.name.as_str())
            .remedy(
                Remedy::new()
                    .run(
                        StepKind::Command,
                        "Check the Server's \
                        protocol",
                        on("get", Kind::Server, server).words("-o yaml"),
                    )
                    .step(
                        StepKind::Note,
                        "Set the proxyProtocol of the Server to the protocol of its port, or use a route of \
                         the matching kind",
                    ),
            )
        })
        .collect()
}

/// Rate limits on Servers of a protocol without requests.
fn limits(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for limit in survey.objects.rate_limits {
        let meta = &limit.metadata;
        let servers = survey.index.servers(&meta.namespace);
        let Some(read) = servers.iter().find(|read| read.server.metadata.name == limit.spec.target_ref.name)
        else {
            continue;
        };
        let said = match read.protocol {
            Protocol::Grpc => "gRPC",
            Protocol::Opaque => "opaque",
            Protocol::Tls => "TLS",
            Protocol::Detect | Protocol::Http1 | Protocol::Http2 => continue,
        };
        findings.push(
            about(
                ctx,
                Kind::HTTPLocalRateLimitPolicy,
                meta,
                "it is accepted but limits nothing: requests are counted only on HTTP Servers",
            )
            .evidence(field(Kind::Server, &read.server.metadata, "spec.proxyProtocol", said))
            .remedy(mend_or_delete(
                Kind::HTTPLocalRateLimitPolicy,
                meta,
                "If the port speaks HTTP, set the Server's proxyProtocol to HTTP/1 or HTTP/2",
            )),
        );
    }
    findings
}
