//! `policy-ignored`: accepted policy objects that the policy controller ignores.

use super::gateways;
use super::survey::{
    Survey, about, about_authentication, about_chosen, about_parents, about_server, about_targets, each, existing,
    field, mend_or_delete, noun, on, support_after, with_noun,
};
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::model::policy::{Ignored, OutboundIndex, OutboundObjects, Protocol, RouteKind};
use crate::objects::{ParentRef, Route, TCPRoute, TLSRoute};

/// The annotation for a route's request timeout, in every release that supports it.
const TIMEOUT: &str = "timeout.linkerd.io/request";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = each(ctx)?;
    let ignored = survey.index.ignored().iter();
    let by_itself = ignored.filter(|one| !one.unreadable && is_read(ctx, survey, one.kind));
    let mut findings: Vec<Finding> = by_itself
        .map(|one| {
            let (namespace, name) = one.key;
            let meta = Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() };
            let why = with_noun(one.kind, &one.why);
            let noun = noun(one.kind);
            let remedy = match serves_a_gateway(survey, one) {
                true => Remedy::new().note(
                    "Keep the route for its Gateway, and write a separate route for the Service or Server \
                     without this part",
                ),
                false => mend_or_delete(one.kind, &meta, repair(&meta, &one.why)),
            };
            let message =
                format!("The policy controller ignores {noun}, so it has no effect in the mesh. Reason: {why}");
            let finding = about(ctx, one.kind, &meta, message)
                .evidence(field(one.kind, &meta, "spec", one.why.clone()))
                .tie(about_authentication(one.kind, &meta))
                .remedy(remedy);
            about_servers(survey, one.kind, &meta).into_iter().fold(finding, Finding::tie)
        })
        .collect();
    for (kind, routes) in [
        (Kind::HTTPRoute, survey.objects.http_routes),
        (Kind::LinkerdHTTPRoute, survey.objects.linkerd_http_routes),
        (Kind::GRPCRoute, survey.objects.grpc_routes),
    ]
    .into_iter()
    .filter(|(kind, _)| is_read(ctx, survey, *kind))
    {
        findings.extend(routes.iter().flat_map(|route| unused(ctx, survey, kind, route)));
    }
    findings.extend(limits(ctx, survey));
    findings.extend(for_calls(ctx, survey));
    if !survey.index.controller.quirks.gateway_timeouts {
        findings.extend(survey.objects.http_routes.iter().filter_map(|route| timeouts(ctx, route)));
    }
    Ok(findings.into())
}

/// Whether the installed release reads a kind; `route-not-accepted` reports routes of the others.
fn is_read(ctx: &Context<'_>, survey: &Survey<'_>, kind: Kind) -> bool {
    support_after(ctx, kind, survey.version.as_ref()).is_none()
}

/// The ties to the Servers whose clients an ignored object is meant to authorize.
fn about_servers(survey: &Survey<'_>, kind: Kind, meta: &Meta) -> Vec<Tie> {
    let objects = &survey.objects;
    match kind {
        Kind::AuthorizationPolicy => {
            let mut all = objects.authorization_policies.iter();
            let policy = all.find(|policy| policy.metadata.key() == meta.key());
            let target = policy.map(|policy| &policy.spec.target_ref);
            target.map(|target| about_targets(objects, &meta.namespace, target)).unwrap_or_default()
        }
        Kind::ServerAuthorization => {
            let mut all = objects.server_authorizations.iter();
            let policy = all.find(|policy| policy.metadata.key() == meta.key());
            policy.map(|policy| about_chosen(objects, policy)).unwrap_or_default()
        }
        // The Server may authorize clients only through the route.
        kind if authorizes(survey, kind, meta) => about_parents(objects, kind, &meta.namespace, &meta.name),
        _ => Vec::new(),
    }
}

/// Reasons of the policy controller, by a part of their text, each with its repair.
const REPAIRS: [(&str, &str); 13] = [
    ("is in another namespace", "Create the route in the namespace of the Server, and delete this one"),
    ("names a port", "Remove the port from parentRefs"),
    ("names a sectionName", "Remove sectionName from parentRefs"),
    ("is not an authentication", "Require a MeshTLSAuthentication, a NetworkAuthentication or a ServiceAccount"),
    ("clients can show one", "Keep one of them, and write another policy for the other"),
    ("rate limits apply only to Servers", "Name a Server as the target"),
    ("which policies cannot have", "Target a Server, an HTTPRoute, a GRPCRoute or the Namespace"),
    ("only ServiceAccounts", "Name the ServiceAccounts of the clients"),
    ("names no ", "List the clients, or * for all meshed clients"),
    ("regular expression", "Correct the regular expression"),
    ("RegularExpression", "Match the methods by their exact names"),
    ("ilter ", "Remove the filter"),
    ("must have one", "Keep one rule, and write another route for each other rule"),
];

/// The repair for a reason of the policy controller.
fn repair(meta: &Meta, why: &str) -> String {
    if let Some((key, _)) = why.split_once(": ").filter(|(key, _)| meta.annotation(key).is_some()) {
        return format!("Correct or remove the annotation {key}");
    }
    let known = REPAIRS.iter().find(|(part, _)| why.contains(part));
    known.map_or("Correct this field", |(_, act)| *act).to_owned()
}

/// Whether the route is also used by a Gateway.
fn serves_a_gateway(survey: &Survey<'_>, one: &Ignored<'_>) -> bool {
    survey.route_of(one).is_some_and(|route| gateways::of_route(route).next().is_some())
}

/// Whether a route applies to calls of a Service or an EgressNetwork.
fn routes_calls(route: &Route) -> bool {
    let routed = |parent: &ParentRef| parent.is_a("", "Service") || parent.is_a("policy.linkerd.io", "EgressNetwork");
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
        ctx.judges(&route.metadata.namespace)
            && routes_calls(route)
            && !known(kind.kind(), &route.metadata)
            && is_read(ctx, survey, kind.kind())
    });
    let findings = passed_over.map(|(kind, route, why)| {
        let (kind, meta) = (kind.kind(), &route.metadata);
        let said = why.split_once(": ").filter(|(key, _)| meta.annotation(key).is_some());
        let evidence = match said {
            Some((key, why)) => field(kind, meta, &format!("metadata.annotations[{key}]"), why),
            None => field(kind, meta, "spec", why.as_str()),
        };
        let message = format!(
            "The policy controller ignores the route, although its status is accepted. Reason: {}",
            with_noun(kind, why)
        );
        about(ctx, kind, meta, message).parameter("calls").evidence(evidence).remedy(mend_or_delete(
            kind,
            meta,
            repair(meta, why),
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
    let message = "The timeouts in the route's rules have no effect, so requests have no time limit. This release \
        reads timeouts only from Linkerd's own HTTPRoutes (policy.linkerd.io)";
    Some(
        about(ctx, Kind::HTTPRoute, meta, message)
            .parameter("timeouts")
            .evidences(
                limits.iter().map(|(at, limit)| {
                    field(Kind::HTTPRoute, meta, &format!("spec.rules[{at}].timeouts.request"), *limit)
                }),
            )
            .remedy(
                Remedy::new()
                    .run(
                        StepKind::Annotation,
                        "Set the timeout with the route's annotation, which applies to all of its rules \
                         (since 2.16)",
                        on("annotate", Kind::HTTPRoute, meta).arg(format!("{TIMEOUT}={first}")),
                    )
                    .run(
                        StepKind::Upgrade,
                        "Or upgrade to edge-25.11.3 or later (2.20), which reads the field. This command prints the \
                         plan",
                        meshdoctor().words("check --to 2.20 -o plan"),
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
    let taken = parents.filter_map(|parent| servers.iter().find(|read| read.server.metadata.name == parent.name));
    let wrong = taken.filter(|read| match read.protocol {
        Protocol::Grpc => !of_grpc,
        Protocol::Detect | Protocol::Http1 | Protocol::Http2 => of_grpc,
        Protocol::Opaque | Protocol::Tls => true,
    });
    wrong
        .map(|read| {
            let server = &read.server.metadata;
            let said = read.server.spec.proxy_protocol.clone().unwrap_or_else(|| "unknown".to_owned());
            let wanted = if of_grpc { "gRPC" } else { "HTTP/1, HTTP/2 or unknown" };
            let finding = about(
                ctx,
                kind,
                meta,
                format!(
                    "The route has no effect on Server {}: {kind}s apply only to Servers with proxyProtocol {wanted}",
                    server.name
                ),
            )
            .evidence(field(Kind::Server, server, "spec.proxyProtocol", said))
            .parameter(server.name.as_str());
            let finding = match authorizes(survey, kind, meta) {
                // The Server may authorize clients only through the route.
                true => finding.tie(about_server(&server.namespace, &server.name)),
                false => finding,
            };
            finding.remedy(match read.protocol {
                Protocol::Grpc => serve_grpc_as_http(server),
                _ => Remedy::new()
                    .command(
                        format!(
                            "If the port of Server {} speaks {}, set its proxyProtocol accordingly",
                            server.name,
                            if of_grpc { "gRPC" } else { "HTTP/1 or HTTP/2" }
                        ),
                        on("edit", Kind::Server, server),
                    )
                    .step(StepKind::Note, "Otherwise use a route of the matching kind"),
            })
        })
        .collect()
}

/// Whether a policy authorizes clients of a route.
fn authorizes(survey: &Survey<'_>, kind: Kind, route: &Meta) -> bool {
    survey.index.policies(&route.namespace).any(|(policy, _)| {
        let target = &policy.spec.target_ref;
        target.name == route.name && target.kind == kind.info().kind
    })
}

/// The steps for HTTPRoutes on a Server that declares gRPC.
fn serve_grpc_as_http(server: &Meta) -> Remedy {
    Remedy::new()
        .command(
            format!("Declare HTTP/2 in Server {}, over which gRPC runs: HTTPRoutes then apply", server.name),
            on("patch", Kind::Server, server).words("--type=merge -p").arg(r#"{"spec":{"proxyProtocol":"HTTP/2"}}"#),
        )
        .note("Or replace the HTTPRoute by a GRPCRoute, and let its policies name that as their target")
}

/// Rate limits on Servers of a protocol without requests.
fn limits(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for limit in survey.objects.rate_limits {
        let meta = &limit.metadata;
        let servers = survey.index.servers(&meta.namespace);
        let Some(read) = servers.iter().find(|read| read.server.metadata.name == limit.spec.target_ref.name) else {
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
                format!(
                    "The rate limit has no effect: requests are counted only on HTTP Servers, and Server {} is {said}",
                    read.server.metadata.name
                ),
            )
            .evidence(field(Kind::Server, &read.server.metadata, "spec.proxyProtocol", said))
            .remedy(
                Remedy::new()
                    .command(
                        "If the port speaks HTTP, set the Server's proxyProtocol to HTTP/1, HTTP/2 or unknown",
                        on("edit", Kind::Server, &read.server.metadata),
                    )
                    .command(
                        format!("Otherwise delete the rate limit {}", meta.name),
                        on("delete", Kind::HTTPLocalRateLimitPolicy, meta),
                    ),
            ),
        );
    }
    findings
}
