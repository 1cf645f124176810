//! `profile-shadows-route`: a ServiceProfile with routes disables the routes and annotations of its Service.

use std::collections::{BTreeSet, HashMap};

use super::backends::ServiceKey;
use super::survey::{about, defined, field, on, survey};
use crate::checks::prelude::*;
use crate::checks::restart::listed;
use crate::objects::{Route, ServiceProfile};

/// Annotations of a Service that only apply without a profile with routes.
const OF_SERVICE: [&str; 4] =
    ["balancer.linkerd.io/", "retry.linkerd.io/", "timeout.linkerd.io/", "balancer.alpha.linkerd.io/"];

/// A proxy chooses between profile and routes once for each target, and keeps the choice while it has
/// connections to it.
const CLIENTS: &str = "Restart the meshed clients of the Service: a proxy with open connections keeps using \
     the profile. This lists the meshed pods and their owners";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services: HashMap<ServiceKey<'_>, &Service> =
        ctx.complete_list::<Service>()?.iter().map(|service| (service.metadata.key(), service)).collect();
    let by_service = by_service([
        (Kind::HTTPRoute, survey.objects.http_routes),
        (Kind::LinkerdHTTPRoute, survey.objects.linkerd_http_routes),
        (Kind::GRPCRoute, survey.objects.grpc_routes),
    ]);
    let domain = &survey.index.controller.cluster_domain;
    let mut findings: Vec<Finding> = Vec::new();
    for profile in defined::<ServiceProfile>(ctx)? {
        let meta = &profile.metadata;
        let routed = !profile.spec.routes.is_empty() || !profile.spec.dst_overrides.is_empty();
        let Some((namespace, service)) = of_service(&meta.name, domain).filter(|_| routed) else { continue };
        let shadowed = by_service.get(&(namespace, service)).into_iter().flatten();
        let mut evidence: Vec<Evidence> = shadowed
            .map(|(kind, route)| field(*kind, &route.metadata, "spec.parentRefs", format!("Service {service}")))
            .collect();
        let object = services.get(&(namespace, service)).copied();
        let annotations =
            object.into_iter().flat_map(|known| known.metadata.annotations.iter().map(move |pair| (known, pair)));
        evidence.extend(
            annotations.filter(|(_, (key, _))| OF_SERVICE.iter().any(|prefix| key.starts_with(prefix))).map(
                |(known, (key, value))| {
                    field(Kind::Service, &known.metadata, &format!("metadata.annotations[{key}]"), value.as_str())
                },
            ),
        );
        if evidence.is_empty() || !ctx.judges(namespace) {
            continue;
        }
        let counted =
            [("spec.routes", profile.spec.routes.len()), ("spec.dstOverrides", profile.spec.dst_overrides.len())];
        findings.push(
            about(
                ctx,
                Kind::ServiceProfile,
                meta,
                format!(
                    "the ServiceProfile overrides the HTTPRoutes, GRPCRoutes, timeouts, retries and circuit \
                     breaking of Service {namespace}/{service}: they have no effect"
                ),
            )
            .evidences(
                counted
                    .into_iter()
                    .filter(|(_, count)| *count > 0)
                    .map(|(path, count)| field(Kind::ServiceProfile, meta, path, count.to_string())),
            )
            .evidences(evidence)
            .remedy(
                Remedy::new()
                    .note(
                        "Move the timeouts, retries and splits of the profile to routes or \
                                           annotations",
                    )
                    .command("Then delete the profile", on("delete", Kind::ServiceProfile, meta))
                    .command(CLIENTS, listed(ctx, None)),
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

/// The routes of each Service that is one of their parents.
fn by_service<'a>(lists: [(Kind, &'a [Route]); 3]) -> HashMap<ServiceKey<'a>, Vec<(Kind, &'a Route)>> {
    let mut found: HashMap<ServiceKey<'a>, Vec<(Kind, &Route)>> = HashMap::new();
    for (kind, route) in lists.into_iter().flat_map(|(kind, routes)| routes.iter().map(move |one| (kind, one))) {
        let own = route.metadata.namespace.as_str();
        let services = route.spec.parent_refs.iter().filter(|parent| parent.is_a("", "Service"));
        let keys: BTreeSet<ServiceKey<'a>> =
            services.map(|parent| (parent.namespace.as_deref().unwrap_or(own), parent.name.as_str())).collect();
        keys.into_iter().for_each(|key| found.entry(key).or_default().push((kind, route)));
    }
    found
}
