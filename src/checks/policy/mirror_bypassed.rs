//! `mirror-bypassed`: an ingress controller or a Gateway connects to the endpoints of a mirror Service, which
//! are the gateway of another cluster, without the identity that only the Service names.

use std::collections::BTreeMap;

use super::gateways::{of_route, pods_of};
use super::ingress::{Caller, Classes, callers};
use super::ingress_bypasses_routes::{is_ordinary, lacking_upstream, mode, to_service, use_service};
use super::survey::{Survey, survey};
use crate::checks::multicluster::links::{MIRRORED, is_found_over_there};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::objects::{Ingress, Kind, Pod, Route, Service};

/// The beginning of the controller name of Envoy Gateway, which connects to endpoints by default.
const ENVOY: &str = "gateway.envoyproxy.io/";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.complete_list::<Service>()?;
    let mirrors: Vec<&Service> = services.iter().filter(|service| is_behind_gateway(service)).collect();
    if mirrors.is_empty() {
        return Err(Unjudged::not_applicable("no Service mirrors one behind the gateway of another cluster"));
    }
    let pods = ctx.complete_list::<Pod>()?;
    let mut findings = of_routes(ctx, survey, pods, &mirrors);
    match ctx.complete_list::<Ingress>() {
        Ok(ingresses) => findings.extend(of_ingresses(ctx, survey, pods, &mirrors, ingresses)),
        Err(missing) if findings.is_empty() => return Err(missing.into()),
        Err(missing) => ctx.gap(missing),
    }
    Ok(findings.into())
}

/// Whether a Service is a mirror whose endpoints are the gateway of another cluster.
fn is_behind_gateway(service: &Service) -> bool {
    service.metadata.label(MIRRORED) == Some("true")
        && !is_found_over_there(service)
        && !service.is_federated()
}

fn of_ingresses<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    pods: &'a [Pod],
    mirrors: &[&'a Service],
    ingresses: &'a [Ingress],
) -> Vec<Finding> {
    let callers = callers(ctx, survey, pods);
    let classes = Classes::new(ctx);
    let mut found = BTreeMap::new();
    for ingress in ingresses.iter().filter(|ingress| ctx.judges(&ingress.metadata.namespace)) {
        let mut serving = callers.iter().filter(|caller| is_ordinary(caller));
        let Some(caller) = serving.find(|one| classes.serves(one.of, ingress)) else { continue };
        let (namespace, name) = ingress.metadata.key();
        for (_, to) in ingress.paths() {
            let key = (namespace, to.name.as_str());
            let Some(service) = mirrors.iter().find(|mirror| mirror.metadata.key() == key) else { continue };
            if !to_service(caller, &ingress.metadata, &service.metadata) {
                let finding = || of_ingress(ctx, caller, (namespace, name), service);
                found.entry((namespace, name, to.name.as_str())).or_insert_with(finding);
            }
        }
    }
    found.into_values().collect()
}

fn of_ingress(ctx: &Context<'_>, caller: &Caller<'_>, ingress: (&str, &str), mirror: &Service) -> Finding {
    let service = mirror.metadata.name.as_str();
    let message = format!(
        "The ingress controller connects to the endpoints of mirror Service {service}, the gateway of another \
         cluster, without the gateway's identity. The gateway refuses these requests"
    );
    // The controller's own configuration may set the same for all Ingresses.
    ctx.finding(Subject::object(Kind::Ingress, ingress.0, ingress.1), message)
        .severity(Severity::Warning)
        .parameter(service)
        .likely()
        .evidence(lacking_upstream(caller, ingress, service))
        .evidence(label_of(mirror))
        .evidence(mode(caller))
        .remedy(use_service(caller, ingress, service))
}

/// The routes of Envoy Gateway to mirrors, if the pods of the Gateway have a proxy.
fn of_routes(ctx: &Context<'_>, survey: &Survey<'_>, pods: &[Pod], mirrors: &[&Service]) -> Vec<Finding> {
    let http = survey.objects.http_routes.iter().map(|route| (Kind::HTTPRoute, route));
    let grpc = survey.objects.grpc_routes.iter().map(|route| (Kind::GRPCRoute, route));
    let mut findings = Vec::new();
    for (kind, route) in http.chain(grpc).filter(|(_, route)| ctx.judges(&route.metadata.namespace)) {
        let is_served = route.status.parents.iter().any(|parent| parent.controller_name.starts_with(ENVOY));
        let Some(service) = mirrors.iter().find(|mirror| is_backend(route, mirror)).filter(|_| is_served)
        else {
            continue;
        };
        let is_meshed =
            |gateway| pods_of(ctx, survey, pods, gateway).iter().any(|(_, identity)| identity.is_some());
        if of_route(route).any(is_meshed) {
            findings.push(of_gateway_route(ctx, (kind, route), service));
        }
    }
    findings
}

fn is_backend(route: &Route, mirror: &Service) -> bool {
    let backends = route.spec.rules.iter().flat_map(|rule| &rule.backend_refs);
    backends.filter(|backend| backend.is_a("", "Service")).any(|backend| {
        let namespace = backend.namespace.as_deref().unwrap_or(&route.metadata.namespace);
        mirror.metadata.key() == (namespace, backend.name.as_str())
    })
}

fn of_gateway_route(ctx: &Context<'_>, (kind, route): (Kind, &Route), mirror: &Service) -> Finding {
    let service = mirror.metadata.name.as_str();
    let (namespace, name) = route.metadata.key();
    let message = format!(
        "By default, Envoy Gateway connects to the endpoints of mirror Service {service}, the gateway of another \
         cluster, without the gateway's identity. The gateway refuses such requests"
    );
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Set routingType: Service in the EnvoyProxy of the Gateway or its GatewayClass, so that requests go to the \
         Service, unless it is set already",
    );
    // The EnvoyProxy is not read.
    ctx.finding(Subject::object(kind, namespace, name), message)
        .severity(Severity::Info)
        .parameter(service)
        .likely()
        .evidence(Evidence::field(format!("{kind} {namespace}/{name}"), "spec.rules[].backendRefs", service))
        .evidence(label_of(mirror))
        .remedy(remedy)
}

fn label_of(mirror: &Service) -> Evidence {
    let (namespace, name) = mirror.metadata.key();
    Evidence::field(
        format!("Service {namespace}/{name}"),
        format!("metadata.labels[{MIRRORED}]"),
        mirror.metadata.label(MIRRORED).unwrap_or_default(),
    )
}
