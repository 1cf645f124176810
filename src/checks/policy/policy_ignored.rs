//! `policy-ignored`: objects of policy that are accepted, and that the policy controller passes over.

use super::survey::{Survey, about, field, mend_or_delete, on, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::model::policy::Protocol;
use crate::objects::{Kind, Meta, Route};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let by_itself = survey.index.ignored().iter().filter(|one| !one.unreadable);
    let mut findings: Vec<Finding> = by_itself
        .map(|one| {
            let (namespace, name) = one.key;
            let meta = Meta { namespace: namespace.to_owned(), name: name.to_owned(), ..Meta::default() };
            about(ctx, one.kind, &meta, "the policy controller passes it over: it counts for nothing")
                .evidence(field(one.kind, &meta, "spec", one.why.clone()))
                .remedy(mend_or_delete(
                    one.kind,
                    &meta,
                    "Write it as the policy controller can take it, and apply it again",
                ))
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
    Ok(findings.into())
}

/// Routes on Servers that speak something else: accepted, and never used.
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
                format!("it is accepted and never used: routes of its kind count only on Servers of proxyProtocol {wanted}"),
            )
            .evidence(field(Kind::Server, server, "spec.proxyProtocol", said))
            .parameter(server.name.as_str())
            .remedy(
                Remedy::new()
                    .run(StepKind::Command, "See what the Server takes", on("get", Kind::Server, server).words("-o yaml"))
                    .step(
                        StepKind::Note,
                        "Set the proxyProtocol of the Server to what is spoken on its port, or take a route of the kind that \
                         fits it",
                    ),
            )
        })
        .collect()
}

/// Rate limits on Servers on which nothing counts requests.
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
                "it is accepted and limits nothing: requests are counted only on Servers of HTTP",
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
