//! `control-plane-service-missing`: a Service of the control plane is missing, or has no endpoint although
//! pods are ready.

use jiff::SignedDuration;

use crate::checks::serving::component_missing;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::knowledge::{ControlPlaneService, FoundBy};
use crate::model::installed::COMPONENT;
use crate::objects::{EndpointSlice, Pod, Service};

/// Time after which a ready pod must have an endpoint. Allows for lists that were read at different moments.
const SETTLED: SignedDuration = SignedDuration::from_mins(2);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let slices = ctx.noted(ctx.every::<EndpointSlice>());
    let pods = ctx.noted(ctx.seen::<Pod>()).unwrap_or_default();
    let services = ctx.every::<Service>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let there = |name: &str| {
        services.iter().find(|service| service.metadata.namespace == home && service.metadata.name == name)
    };
    let wanted = ctx.knowledge.control_plane().services();
    if wanted.iter().all(|service| there(&service.name).is_none()) {
        return Err(Unjudged::not_applicable("no Service of the control plane is listed"));
    }
    let mut findings = Vec::new();
    for wanted in wanted {
        let Some(service) = there(&wanted.name) else {
            findings.push(missing(ctx, wanted));
            continue;
        };
        let ready = ready(ctx, pods, &wanted.component);
        if slices.is_some_and(|slices| !leads(slices, service)) && !ready.is_empty() {
            findings.push(empty(ctx, wanted, service, &ready));
        }
    }
    Ok(findings.into())
}

/// The pods of a component that have been ready for long enough.
fn ready<'a>(ctx: &Context<'_>, pods: &'a [Pod], component: &str) -> Vec<&'a Pod> {
    let home = ctx.namespaces().control_plane.as_str();
    let settled = |pod: &&Pod| {
        pod.condition("Ready").filter(|condition| condition.status == "True").is_some_and(|condition| {
            condition.last_transition_time.get().is_none_or(|since| ctx.now().duration_since(since) > SETTLED)
        })
    };
    pods.iter()
        .filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT) == Some(component))
        .filter(|pod| pod.metadata.deletion_timestamp.is_none() && !pod.is_finished())
        .filter(settled)
        .collect()
}

/// Whether a Service has a ready endpoint. A missing condition counts as ready, as the API defines.
fn leads(slices: &[EndpointSlice], service: &Service) -> bool {
    let meta = &service.metadata;
    slices
        .iter()
        .filter(|slice| slice.metadata.namespace == meta.namespace)
        .filter(|slice| slice.service() == Some(meta.name.as_str()))
        .flat_map(|slice| &slice.endpoints)
        .any(|endpoint| endpoint.conditions.ready != Some(false))
}

fn missing(ctx: &Context<'_>, wanted: &ControlPlaneService) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let message = match wanted.found_by {
        FoundBy::Proxies => {
            "a Service that proxies use to reach the control plane is missing: new proxies get no \
            certificate or no configuration, and their pods do not become ready"
        }
        FoundBy::ApiServer => {
            "the Service of a validating webhook is missing, so the API server cannot call it. Invalid \
            objects are accepted unchecked; with failurePolicy Fail, all objects of its kinds are rejected"
        }
    };
    let evidence = Evidence::other(format!("Service {home}/{}", wanted.name), "does not exist");
    finding(ctx, wanted, message, vec![evidence])
}

fn empty(ctx: &Context<'_>, wanted: &ControlPlaneService, service: &Service, ready: &[&Pod]) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let message = match wanted.found_by {
        FoundBy::Proxies => {
            "a Service that proxies use to reach the control plane has no ready endpoint, although its pods \
            are ready: new proxies get no certificate or no configuration, and their pods do not become ready"
        }
        FoundBy::ApiServer => {
            "the Service of a validating webhook has no ready endpoint, although its pods are ready. Invalid \
            objects are accepted unchecked; with failurePolicy Fail, all objects of its kinds are rejected"
        }
    };
    let object = format!("Service {home}/{}", wanted.name);
    let selector: Vec<String> =
        service.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let names: Vec<&str> = ready.iter().map(|pod| pod.metadata.name.as_str()).collect();
    let evidence = vec![
        Evidence::field(&object, "EndpointSlices", "no ready endpoint"),
        Evidence::field(&object, "spec.selector", selector.join(", ")),
        Evidence::other(format!("Ready pods of {}", wanted.component), names.join(", ")),
    ];
    finding(ctx, wanted, message, evidence)
}

fn finding(
    ctx: &Context<'_>,
    wanted: &ControlPlaneService,
    message: &str,
    evidence: Vec<Evidence>,
) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::Command,
        "Apply the manifests of the control plane again",
        Options::none(),
    );
    let remedy = remedy.run(
        StepKind::Command,
        "Then check that each Service has endpoints",
        kubectl().namespace(home).words("get endpointslices"),
    );
    let finding = ctx
        .finding(Subject::object("Service", home, &wanted.name), message)
        .evidences(evidence)
        .remedy(remedy);
    match wanted.found_by {
        FoundBy::Proxies => finding.tie(component_missing(&wanted.component)),
        FoundBy::ApiServer => finding,
    }
}
