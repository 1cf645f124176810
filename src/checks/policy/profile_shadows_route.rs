//! `profile-shadows-route`: a ServiceProfile with routes switches off the routes and annotations of its Service.

use super::survey::{about, defined, field, on, survey};
use crate::checks::restart::listed;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::objects::{Kind, Route, Service, ServiceProfile};

/// Annotations of a Service that only count where no profile with routes does.
const OF_SERVICE: [&str; 4] =
    ["balancer.linkerd.io/", "retry.linkerd.io/", "timeout.linkerd.io/", "balancer.alpha.linkerd.io/"];

/// A proxy chooses between profile and routes once for each target, and keeps the choice while it has connections to it.
const CLIENTS: &str = "Restart the meshed clients of the Service: a proxy that has connections to it keeps to the profile. This lists the \
                       meshed pods and their owners";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.every::<Service>()?;
    let domain = &survey.index.controller.cluster_domain;
    let mut findings: Vec<Finding> = Vec::new();
    for profile in defined::<ServiceProfile>(ctx)? {
        let meta = &profile.metadata;
        let routed = !profile.spec.routes.is_empty() || !profile.spec.dst_overrides.is_empty();
        let Some((namespace, service)) = of_service(&meta.name, domain).filter(|_| routed) else { continue };
        let routes = [
            (Kind::HTTPRoute, survey.objects.http_routes),
            (Kind::LinkerdHTTPRoute, survey.objects.linkerd_http_routes),
            (Kind::GRPCRoute, survey.objects.grpc_routes),
        ];
        let shadowed =
            routes.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
        let mut evidence: Vec<Evidence> = shadowed
            .filter(|(_, route)| is_of(route, namespace, service))
            .map(|(kind, route)| {
                field(kind, &route.metadata, "spec.parentRefs", format!("Service {service}"))
            })
            .collect();
        let object = services.iter().find(|known| known.metadata.key() == (namespace, service));
        let annotations = object
            .into_iter()
            .flat_map(|known| known.metadata.annotations.iter().map(move |pair| (known, pair)));
        evidence.extend(
            annotations.filter(|(_, (key, _))| OF_SERVICE.iter().any(|prefix| key.starts_with(prefix))).map(
                |(known, (key, value))| {
                    field(
                        Kind::Service,
                        &known.metadata,
                        &format!("metadata.annotations[{key}]"),
                        value.as_str(),
                    )
                },
            ),
        );
        if evidence.is_empty() || !ctx.judges(namespace) {
            continue;
        }
        let counted = [
            ("spec.routes", profile.spec.routes.len()),
            ("spec.dstOverrides", profile.spec.dst_overrides.len()),
        ];
        findings.push(
            about(
                ctx,
                Kind::ServiceProfile,
                meta,
                format!(
                    "proxies take the routes of this profile for Service {namespace}/{service}, and then nothing of its HTTPRoutes, \
                     GRPCRoutes, timeouts, retries and circuit breaking counts"
                ),
            )
            .evidences(counted.into_iter().filter(|(_, count)| *count > 0).map(|(path, count)| {
                field(Kind::ServiceProfile, meta, path, count.to_string())
            }))
            .evidences(evidence)
            .remedy(
                Remedy::new()
                    .step(StepKind::Note, "Write what the profile does as routes or annotations: timeouts, retries, splits")
                    .run(StepKind::Command, "Then delete the profile", on("delete", Kind::ServiceProfile, meta))
                    .run(StepKind::Command, CLIENTS, listed(ctx, None)),
            ),
        );
    }
    Ok(findings.into())
}

/// The Service that a profile is named after.
pub(super) fn of_service<'n>(name: &'n str, domain: &str) -> Option<(&'n str, &'n str)> {
    let rest = name.strip_suffix(domain)?.strip_suffix(".svc.")?;
    let (service, namespace) = rest.split_once('.')?;
    (!namespace.contains('.')).then_some((namespace, service))
}

fn is_of(route: &Route, namespace: &str, service: &str) -> bool {
    let of_route = route.metadata.namespace.as_str();
    route.spec.parent_refs.iter().any(|parent| {
        parent.is_a("", "Service")
            && parent.name == service
            && parent.namespace.as_deref().unwrap_or(of_route) == namespace
    })
}
