//! `retry-without-condition`: a route or Service sets how often to retry, but not which responses, or a Service sets it
//! for routes that it does not have.

use std::collections::BTreeMap;

use serde_json::json;

use super::authorize::applied;
use super::backends::{ServiceKey, attached, routes, service_of};
use super::survey::{about, field, on};
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::knowledge::policy_duration;
use crate::objects::{Route, ServicePort};

const LIMIT: &str = "retry.linkerd.io/limit";
const TIMEOUT: &str = "retry.linkerd.io/timeout";
const HTTP: &str = "retry.linkerd.io/http";
const GRPC: &str = "retry.linkerd.io/grpc";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let routes = routes(ctx)?;
    let (version, _) = of_control_plane(ctx)?;
    let limit = ctx.knowledge.annotations().get(LIMIT);
    if !limit.is_some_and(|row| row.status_in(&version, ctx.knowledge).is_likely_effective()) {
        return Ok(Verdict::fine());
    }
    let by_key: BTreeMap<ServiceKey<'_>, &Service> =
        services.iter().map(|service| (service.metadata.key(), service)).collect();
    let mut findings: Vec<Finding> = services
        .iter()
        .filter(|service| ctx.judges(&service.metadata.namespace))
        .filter_map(|service| of_other_kind(ctx, service, &routes))
        .collect();
    for (kind, route) in routes {
        let meta = &route.metadata;
        let Some(condition) = condition_of(kind).filter(|own| is_incomplete(meta, &[own])) else { continue };
        let parents = attached(route).filter_map(|parent| by_key.get(&service_of(route, parent)));
        match parents.map(|service| &service.metadata).find(|parent| parent.annotation(condition).is_some()) {
            Some(parent) => findings.push(replacing(ctx, (kind, meta), parent, condition)),
            None if attached(route).next().is_some() => findings.extend(alone(ctx, (kind, meta), condition)),
            None => {}
        }
    }
    let own = services.iter().map(|service| &service.metadata).filter(|meta| ctx.judges(&meta.namespace));
    let incomplete = own.filter(|meta| is_incomplete(meta, &[HTTP, GRPC]));
    findings.extend(incomplete.filter_map(|meta| alone(ctx, (Kind::Service, meta), HTTP)));
    Ok(findings.into())
}

/// The annotation with the responses that a kind of route retries.
fn condition_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::HTTPRoute | Kind::LinkerdHTTPRoute => Some(HTTP),
        Kind::GRPCRoute => Some(GRPC),
        _ => None,
    }
}

/// Whether retries are set without any of these conditions.
fn is_incomplete(meta: &Meta, conditions: &[&str]) -> bool {
    let has_condition = conditions.iter().any(|key| meta.annotation(key).is_some());
    (limit(meta) || has_timeout(meta)) && !has_condition
}

/// Whether a limit other than 0 is set.
fn limit(meta: &Meta) -> bool {
    meta.annotation(LIMIT).and_then(|text| text.parse::<u16>().ok()).is_some_and(|limit| limit > 0)
}

/// Whether a timeout other than 0 is set.
fn has_timeout(meta: &Meta) -> bool {
    meta.annotation(TIMEOUT).and_then(policy_duration).is_some_and(|timeout| !timeout.is_zero())
}

/// The finding about a route whose settings replace the condition of its Service.
fn replacing(ctx: &Context<'_>, (kind, meta): (Kind, &Meta), parent: &Meta, condition: &str) -> Finding {
    let value = parent.annotation(condition).unwrap_or_default();
    let message = format!(
        "No response is retried: the retry annotations of the route replace all of Service {}/{}, and the route has \
         no {condition}",
        parent.namespace, parent.name
    );
    let set = on("annotate --overwrite", kind, meta).operand(format!("{condition}={value}"));
    let act = format!("Repeat {condition} of the Service on the route (also in its source manifest)");
    about(ctx, kind, meta, message)
        .parameter("replaced")
        .evidences(written(kind, meta))
        .evidence(field(Kind::Service, parent, &format!("metadata.annotations[{condition}]"), value))
        .remedy(Remedy::new().run(StepKind::Annotation, act, set))
}

/// The finding about retries that have neither a condition nor a timeout.
fn alone(ctx: &Context<'_>, (kind, meta): (Kind, &Meta), condition: &str) -> Option<Finding> {
    if has_timeout(meta) {
        return None;
    }
    let message = format!(
        "No response is retried: {LIMIT} is set without {condition}. The proxy retries only requests that it could \
         not send"
    );
    let such_as = if condition == GRPC { "unavailable" } else { "5xx" };
    let act = format!("Set {condition} to the responses to retry, such as {such_as}, or remove {LIMIT}");
    let finding = about(ctx, kind, meta, message)
        .severity(Severity::Info)
        .parameter("alone")
        .evidences(written(kind, meta))
        .remedy(Remedy::new().step(StepKind::Annotation, act));
    Some(finding)
}

/// The finding about a Service whose retries are for routes of another kind: the policy controller uses the annotation
/// for gRPC only with GRPCRoutes, and the one for HTTP only without (`policy-controller/grpc/src/outbound.rs`).
fn of_other_kind(ctx: &Context<'_>, service: &Service, routes: &[(Kind, &Route)]) -> Option<Finding> {
    let meta = &service.metadata;
    let (grpc, http) = (meta.annotation(GRPC), meta.annotation(HTTP));
    let own = routes.iter().filter(|(kind, _)| *kind == Kind::GRPCRoute).flat_map(|(_, route)| {
        attached(route).filter(|parent| service_of(route, parent) == meta.key()).map(|parent| parent.port)
    });
    let own: Vec<Option<i64>> = own.collect();
    let mut ports = service.spec.ports.iter().filter(|port| port.is_tcp());
    let is_routed = |port: u16| own.iter().any(|of| of.is_none_or(|of| of == i64::from(port)));
    let (key, value, message, remedy) = match (grpc, http) {
        (Some(value), None) if own.is_empty() && ports.next().is_some() => {
            let message = format!("Calls are not retried: {GRPC} applies only to GRPCRoutes, and the Service has none");
            (GRPC, value, message, routed(service))
        }
        (None, Some(value)) if !own.is_empty() && ports.all(|port| is_routed(port.port)) => {
            let message = format!("Calls are not retried: {HTTP} does not apply to ports with a GRPCRoute");
            let set = on("annotate", Kind::Service, meta).operand(format!("{GRPC}=unavailable"));
            let act = format!("Set {GRPC} to the gRPC statuses to retry. Change the source manifest too");
            (HTTP, value, message, Remedy::new().run(StepKind::Annotation, act, set))
        }
        _ => return None,
    };
    let finding = about(ctx, Kind::Service, meta, message)
        .parameter("other-kind")
        .evidence(field(Kind::Service, meta, &format!("metadata.annotations[{key}]"), value))
        .evidence(Evidence::other("GRPCRoutes of the Service", if own.is_empty() { "none" } else { "exist" }))
        .remedy(remedy);
    Some(finding)
}

/// The step that adds a GRPCRoute for the port that speaks gRPC. On a port with HTTP, it would hide the HTTPRoutes.
fn routed(service: &Service) -> Remedy {
    let meta = &service.metadata;
    let speaks_grpc = |port: &&ServicePort| {
        port.name.starts_with("grpc") || ["grpc", "kubernetes.io/h2c"].contains(&port.app_protocol.as_str())
    };
    let all: Vec<&ServicePort> = service.spec.ports.iter().filter(|port| port.is_tcp()).collect();
    let named: Vec<&ServicePort> = all.iter().copied().filter(speaks_grpc).collect();
    let [port] = (if all.len() == 1 { all } else { named })[..] else {
        return Remedy::new().note(
            "Attach a GRPCRoute to each port that speaks gRPC, with one rule whose backend is the Service itself. It \
             needs no matches",
        );
    };
    let backend = json!({"name": meta.name, "port": port.port});
    let parent = json!({"group": "", "kind": "Service", "name": meta.name, "port": port.port});
    let route = json!({
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GRPCRoute",
        "metadata": {"name": meta.name, "namespace": meta.namespace},
        "spec": {"parentRefs": [parent], "rules": [{"backendRefs": [backend]}]},
    });
    let act = format!("Add a GRPCRoute for port {}. Add it to the source manifests too", port.port);
    Remedy::new().run(StepKind::Annotation, act, applied(route.to_string()))
}

/// The annotations that set retries.
fn written(kind: Kind, meta: &Meta) -> impl Iterator<Item = Evidence> + '_ {
    [LIMIT, TIMEOUT]
        .into_iter()
        .filter_map(move |key| Some(field(kind, meta, &format!("metadata.annotations[{key}]"), meta.annotation(key)?)))
}
