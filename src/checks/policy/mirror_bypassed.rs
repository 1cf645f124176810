//! `mirror-bypassed`: an ingress controller or a Gateway connects to the gateway of another cluster, which the
//! endpoints of a mirror Service are, without mutual TLS: it has no proxy, or bypasses the Service, which alone
//! names the gateway's identity. Or the Service has no endpoints, because destination resolves it in other clusters.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::envoy_gateway::{Routing, is_of_envoy, to_services};
use super::gateways::{of_route, pods_of, routes};
use super::ingress::{Caller, Classes, callers};
use super::ingress_bypasses_routes::{is_ordinary, mode};
use super::ingress_entry::{Entry, entries};
use super::ingress_upstream::Upstream;
use super::survey::{Survey, survey};
use crate::checks::multicluster::links::{MIRRORED, is_found_over_there};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::objects::Route;
use crate::objects::service::{LOCAL_DISCOVERY, REMOTE_DISCOVERY};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.complete_list::<Service>()?;
    let mirrors: Vec<&Service> =
        services.iter().filter(|service| is_behind_gateway(service) || is_resolved_by_destination(service)).collect();
    if mirrors.is_empty() {
        return Err(Unjudged::not_applicable("no Service mirrors one of another cluster"));
    }
    let pods = ctx.complete_list::<Pod>()?;
    let mut findings = of_routes(ctx, survey, pods, &mirrors);
    match entries(ctx) {
        Ok(entries) => findings.extend(of_entries(ctx, survey, pods, &mirrors, entries)),
        Err(missing) if findings.is_empty() => return Err(missing.into()),
        Err(missing) => ctx.gap(missing),
    }
    Ok(findings.into())
}

/// Whether a Service is a mirror whose endpoints are the gateway of another cluster.
fn is_behind_gateway(service: &Service) -> bool {
    service.metadata.label(MIRRORED) == Some("true") && !is_found_over_there(service) && !service.is_federated()
}

/// Whether a Service has no endpoints, because only destination resolves it: one that is federated, or a mirror whose
/// endpoints are in the other cluster.
fn is_resolved_by_destination(service: &Service) -> bool {
    service.spec.selector.is_empty()
        && (service.is_federated() || service.metadata.label(MIRRORED) == Some("true") && is_found_over_there(service))
}

fn of_entries<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    pods: &'a [Pod],
    mirrors: &[&'a Service],
    entries: Vec<Entry<'a>>,
) -> Vec<Finding> {
    let callers = callers(ctx, survey, pods);
    let classes = Classes::new(ctx);
    let mut found = BTreeMap::new();
    for entry in entries {
        let Some(service) = mirrors.iter().find(|mirror| mirror.metadata.key() == entry.to()) else {
            continue;
        };
        let mut serving = callers.iter().filter(|one| entry.is_served(&classes, one));
        // A proxy in ingress mode does not help a controller that finds no endpoints.
        let is_candidate = |caller: &&Caller<'_>| {
            caller.identity.is_none() || is_ordinary(caller) || is_resolved_by_destination(service)
        };
        let Some(caller) = serving.find(is_candidate) else { continue };
        let upstream = Upstream::new(ctx, &classes, (&entry, caller), &service.metadata);
        let finding = match (caller.identity.is_none(), upstream) {
            (true, _) => {
                let rest = through_service(&entry, caller, service);
                without_proxy(ctx, entry.subject(), "ingress controller", &[caller.pod], service, rest)
            }
            (false, Upstream::Pods(because)) => of_entry(ctx, caller, &entry, service, because),
            (false, Upstream::Unknown(missing)) => {
                ctx.gap(missing);
                continue;
            }
            (false, Upstream::Service | Upstream::ServiceByDefault(_)) => continue,
        };
        found.entry((entry.subject(), entry.to())).or_insert(finding);
    }
    found.into_values().collect()
}

fn of_entry(
    ctx: &Context<'_>,
    caller: &Caller<'_>,
    entry: &Entry<'_>,
    mirror: &Service,
    because: Vec<Evidence>,
) -> Finding {
    let service = mirror.metadata.name.as_str();
    let is_empty = is_resolved_by_destination(mirror);
    let message = match is_empty {
        true => format!(
            "The ingress controller looks for endpoints of Service {service}, which has none: its members are in other \
             clusters or other Services, and only proxies find them. All requests to it fail"
        ),
        false => format!(
            "The ingress controller connects to the endpoints of mirror Service {service}, the gateway of another \
             cluster, without the gateway's identity. The gateway refuses these requests"
        ),
    };
    // A template of the controller's own may set the same for all of them.
    ctx.finding(entry.subject(), message)
        .severity(if is_empty { Severity::Error } else { Severity::Warning })
        .parameter(service)
        .likely()
        .evidences(because)
        .evidence(mark_of(mirror))
        .evidence(mode(caller))
        .remedy(through_service(entry, caller, mirror))
}

/// The steps that make a controller use the address of a Service.
fn through_service(entry: &Entry<'_>, caller: &Caller<'_>, mirror: &Service) -> Remedy {
    let mut remedy = entry.use_service(caller, &mirror.metadata, None);
    // In ingress mode too, a controller refuses requests for a Service in which it finds no endpoints.
    if is_resolved_by_destination(mirror) {
        remedy.steps.truncate(1);
        if remedy.steps.iter().all(|step| step.kind == StepKind::Note) {
            let act = "Use an ingress controller that can send requests to the address of a Service";
            return Remedy::new().note(act);
        }
    }
    remedy
}

/// A finding about requests of pods without a proxy to a mirror, which all fail. `rest`: the steps after the pods
/// are meshed.
fn without_proxy(
    ctx: &Context<'_>,
    subject: Subject,
    what: &str,
    pods: &[&Pod],
    mirror: &Service,
    rest: Remedy,
) -> Finding {
    let service = mirror.metadata.name.as_str();
    let message = match is_resolved_by_destination(mirror) {
        true => format!(
            "The {what} has no proxy, but Service {service} has no endpoints: its members are in other clusters or \
             other Services, and only proxies find them. All requests to it fail"
        ),
        false => format!(
            "The {what} has no proxy, but mirror Service {service} leads to the gateway of another cluster, which \
             accepts only mutual TLS. All requests to it fail"
        ),
    };
    let mut owners: Vec<_> = pods.iter().map(|pod| ctx.owners().owner(pod)).collect();
    owners.dedup();
    let act = format!("Mesh the {what}: set {INJECT}: enabled");
    let mut remedy = owners.iter().fold(Remedy::new(), |remedy, owner| rewrite::meshed(ctx, remedy, &act, owner, pods));
    remedy.steps.extend(rest.steps);
    let bare = pods.iter().take(1).map(|pod| {
        let object = Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name);
        Evidence::field(object, "spec.containers", "no linkerd-proxy")
    });
    ctx.finding(subject, message)
        .severity(Severity::Error)
        .parameter(service)
        .evidences(bare)
        .evidence(mark_of(mirror))
        .remedy(remedy)
}

/// The routes to mirrors of Gateways without a proxy, and those of meshed Envoy Gateways.
fn of_routes(ctx: &Context<'_>, survey: &Survey<'_>, pods: &[Pod], mirrors: &[&Service]) -> Vec<Finding> {
    let routing = LazyCell::new(|| Routing::read(ctx));
    let mut findings = Vec::new();
    for (kind, route) in routes(ctx, survey) {
        let Some(service) = mirrors.iter().find(|mirror| is_backend(route, mirror)) else { continue };
        let callers: Vec<_> = of_route(route).flat_map(|gateway| pods_of(ctx, survey, pods, gateway)).collect();
        let of_pods: Vec<&Pod> = callers.iter().map(|(pod, _)| *pod).collect();
        let is_envoys = is_of_envoy(route, &of_pods);
        let bare: Vec<&Pod> = callers.iter().filter(|(_, identity)| identity.is_none()).map(|(pod, _)| *pod).collect();
        if !bare.is_empty() && bare.len() == callers.len() {
            let subject = Subject::object(kind, &route.metadata.namespace, &route.metadata.name);
            let finding = without_proxy(ctx, subject, "Gateway", &bare, service, Remedy::new());
            findings.push(if is_generated(&bare) { finding.remedy(of_envoy_gateway()) } else { finding });
        } else if is_envoys && !callers.is_empty() {
            findings.extend(of_gateway_route(ctx, (kind, route), service, &routing));
        }
    }
    findings
}

/// Whether Envoy Gateway generates the Deployment of these pods, so that it reverts changes of it.
fn is_generated(pods: &[&Pod]) -> bool {
    pods.iter().any(|pod| pod.metadata.label("app.kubernetes.io/managed-by") == Some("envoy-gateway"))
}

/// The steps for pods that Envoy Gateway generates.
fn of_envoy_gateway() -> Remedy {
    Remedy::new()
        .step(
            StepKind::Annotation,
            format!(
                "Mesh the Gateway: set {INJECT}: enabled in \
                 spec.provider.kubernetes.envoyDeployment.pod.annotations of \
                 its EnvoyProxy, from which Envoy Gateway generates the Deployment"
            ),
        )
        .note(
            "Set routingType: Service in the same EnvoyProxy, so that requests go to the Service and not to its \
             endpoints",
        )
}

fn is_backend(route: &Route, mirror: &Service) -> bool {
    let backends = route.spec.rules.iter().flat_map(|rule| &rule.backend_refs);
    backends.filter(|backend| backend.is_a("", "Service")).any(|backend| {
        let namespace = backend.namespace.as_deref().unwrap_or(&route.metadata.namespace);
        mirror.metadata.key() == (namespace, backend.name.as_str())
    })
}

/// A finding about a route of a meshed Envoy Gateway; `None` if it sends requests to Services.
fn of_gateway_route(
    ctx: &Context<'_>,
    (kind, route): (Kind, &Route),
    mirror: &Service,
    routing: &Routing,
) -> Option<Finding> {
    let is_empty = is_resolved_by_destination(mirror);
    let (by_default, severity) = match routing {
        Routing::Services => return None,
        Routing::Endpoints(_) if is_empty => ("", Severity::Error),
        Routing::Endpoints(_) => ("", Severity::Warning),
        Routing::Unknown => ("By default, ", Severity::Info),
    };
    let service = mirror.metadata.name.as_str();
    let (namespace, name) = route.metadata.key();
    let message = match is_empty {
        true => format!(
            "{by_default}Envoy Gateway looks for endpoints of Service {service}, which has none: its members are in \
             other clusters or other Services, and only proxies find them. Such requests fail"
        ),
        false => format!(
            "{by_default}Envoy Gateway connects to the endpoints of mirror Service {service}, the gateway of another \
             cluster, without the gateway's identity. The gateway refuses such requests"
        ),
    };
    let object = Subject::object(kind, namespace, name);
    let finding = ctx
        .finding(object.clone(), message)
        .severity(severity)
        .parameter(service)
        .likely()
        .evidence(Evidence::field(object, "spec.rules[].backendRefs", service))
        .evidence(mark_of(mirror))
        .remedy(to_services(ctx));
    match routing {
        Routing::Endpoints(settings) => Some(finding.evidences(settings.iter().cloned())),
        Routing::Services | Routing::Unknown => Some(finding),
    }
}

/// The mark by which a Service is recognized.
fn mark_of(mirror: &Service) -> Evidence {
    let meta = &mirror.metadata;
    let annotation = [REMOTE_DISCOVERY, LOCAL_DISCOVERY].into_iter().find_map(|key| {
        let value = meta.annotation(key).filter(|value| !value.trim().is_empty())?;
        Some((format!("metadata.annotations[{key}]"), value))
    });
    let (path, value) = annotation
        .unwrap_or_else(|| (format!("metadata.labels[{MIRRORED}]"), meta.label(MIRRORED).unwrap_or_default()));
    Evidence::field(meta.described("Service"), path, value)
}
