//! `retry-without-condition`: a route or Service sets how often to retry, but not which responses.

use std::collections::BTreeMap;

use super::backends::{ServiceKey, attached, routes, service_of};
use super::survey::{about, field, on};
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::knowledge::policy_duration;

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
    let mut findings = Vec::new();
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
    let act = format!("Repeat {condition} of the Service on the route. Change the source manifest too");
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

/// The annotations that set retries.
fn written(kind: Kind, meta: &Meta) -> impl Iterator<Item = Evidence> + '_ {
    [LIMIT, TIMEOUT].into_iter().filter_map(move |key| {
        Some(field(kind, meta, &format!("metadata.annotations[{key}]"), meta.annotation(key)?))
    })
}
