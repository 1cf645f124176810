//! `control-plane-service-missing`: a Service of the control plane is missing, has no endpoint although
//! pods are ready, or leads elsewhere.

use jiff::SignedDuration;

use crate::checks::prelude::*;
use crate::checks::serving::{component_missing, silent_injector};
use crate::checks::upgrade;
use crate::knowledge::{ControlPlaneService, FoundBy};
use crate::model::installed::COMPONENT;
use crate::objects::{EndpointSlice, ServicePort};

/// Time after which a ready pod must have an endpoint. Allows for lists that were read at different moments.
const SETTLED: SignedDuration = SignedDuration::from_mins(2);

/// Maximum number of named pods.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let slices = ctx.or_note(ctx.complete_list::<EndpointSlice>());
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
    let services = ctx.complete_list::<Service>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let there = |name: &str| {
        services.iter().find(|service| service.metadata.namespace == home && service.metadata.name == name)
    };
    let wanted = ctx.knowledge.control_plane().services();
    // `injector-unavailable` reports a Service of the injector that is missing or has no endpoint.
    let of_injector = |service: &ControlPlaneService| service.found_by == FoundBy::ApiServerForPods;
    if wanted.iter().all(|service| of_injector(service) || there(&service.name).is_none()) {
        return Err(Unjudged::not_applicable("no Service of the control plane is listed"));
    }
    let mut findings = Vec::new();
    for wanted in wanted {
        let Some(service) = there(&wanted.name) else {
            if !of_injector(wanted) {
                findings.push(missing(ctx, wanted));
            }
            continue;
        };
        if service.spec.kind == "ExternalName" {
            findings.push(external(ctx, wanted));
            continue;
        }
        let ready = ready(ctx, pods, &wanted.component);
        let foreign = foreign(pods, service, &wanted.component);
        if !foreign.is_empty() {
            findings.push(shared(ctx, wanted, service, &foreign));
        } else if let Some(port) = dead_port(service, &ready) {
            findings.push(undeclared(ctx, wanted, port, &ready));
        } else if slices.is_some_and(|slices| !leads(slices, service)) && !ready.is_empty() && !of_injector(wanted) {
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

/// The running pods of other components that a Service selects.
fn foreign<'a>(pods: &'a [Pod], service: &Service, component: &str) -> Vec<&'a Pod> {
    let selector = &service.spec.selector;
    let selects = |pod: &&Pod| {
        pod.metadata.namespace == service.metadata.namespace
            && selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value.as_str()))
    };
    let is_other = |pod: &&Pod| pod.metadata.label(COMPONENT) != Some(component);
    let all = pods.iter().filter(|_| !selector.is_empty()).filter(selects).filter(is_other);
    all.filter(|pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none()).collect()
}

fn shared(ctx: &Context<'_>, wanted: &ControlPlaneService, service: &Service, foreign: &[&Pod]) -> Finding {
    let names: Vec<&str> = foreign.iter().map(|pod| pod.metadata.name.as_str()).take(NAMED).collect();
    let evidence = vec![
        Evidence::field(
            format!("Service {}/{}", service.metadata.namespace, wanted.name),
            "spec.selector",
            selector(service),
        ),
        Evidence::other(format!("Selected pods of other components than {}", wanted.component), names.join(", ")),
    ];
    finding(ctx, wanted, &led_astray(wanted, "selects pods of another component"), evidence).parameter("selector")
}

/// `KEY=VALUE, KEY=VALUE`.
fn selector(service: &Service) -> String {
    let all = service.spec.selector.iter().map(|(key, value)| format!("{key}={value}"));
    all.collect::<Vec<String>>().join(", ")
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

/// A port whose target no container of a ready pod declares. Every container of the charts declares its ports, so a pod
/// without any is an incomplete copy.
fn dead_port<'a>(service: &'a Service, ready: &[&Pod]) -> Option<&'a ServicePort> {
    let declares = |pod: &Pod, number: u16| {
        pod.spec.all_containers().flat_map(|one| &one.ports).any(|port| port.container_port == number)
    };
    let complete: Vec<&&Pod> =
        ready.iter().filter(|pod| pod.spec.all_containers().any(|one| !one.ports.is_empty())).collect();
    let is_dead =
        |port: &&ServicePort| complete.iter().all(|pod| port.leads_to(pod).is_none_or(|number| !declares(pod, number)));
    if complete.is_empty() { None } else { service.spec.tcp_ports().find(is_dead) }
}

fn undeclared(ctx: &Context<'_>, wanted: &ControlPlaneService, port: &ServicePort, ready: &[&Pod]) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let problem = "leads to a port that no container of its pods declares";
    let mut declared: Vec<u16> = ready
        .iter()
        .flat_map(|pod| pod.spec.all_containers())
        .flat_map(|one| &one.ports)
        .map(|port| port.container_port)
        .collect();
    declared.sort_unstable();
    declared.dedup();
    let declared: Vec<String> = declared.iter().map(u16::to_string).collect();
    let evidence = vec![
        Evidence::field(
            format!("Service {home}/{}", wanted.name),
            format!("spec.ports[port={}].targetPort", port.port),
            port.target(),
        ),
        Evidence::other(format!("Declared ports of {}", wanted.component), declared.join(", ")),
    ];
    finding(ctx, wanted, &led_astray(wanted, problem), evidence).parameter("target")
}

fn external(ctx: &Context<'_>, wanted: &ControlPlaneService) -> Finding {
    let object = format!("Service {}/{}", ctx.namespaces().control_plane, wanted.name);
    let evidence = vec![Evidence::field(object, "spec.type", "ExternalName")];
    finding(ctx, wanted, &led_astray(wanted, "is an alias of another name"), evidence).parameter("external")
}

/// The message about a Service that exists and does not lead to its component.
fn led_astray(wanted: &ControlPlaneService, problem: &str) -> String {
    match wanted.found_by {
        FoundBy::Proxies => format!(
            "a Service that proxies use to reach the control plane {problem}: new proxies get no certificate or no \
             configuration, and their pods do not become ready"
        ),
        FoundBy::ApiServer => format!(
            "the Service of a validating webhook {problem}. Invalid objects are accepted unchecked; with \
             failurePolicy Fail, all objects of its kinds are rejected"
        ),
        FoundBy::ApiServerForPods => format!(
            "the Service of the injector's webhook {problem}. New pods start unmeshed; with failurePolicy Fail, none \
             is created"
        ),
    }
}

fn missing(ctx: &Context<'_>, wanted: &ControlPlaneService) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let message = match wanted.found_by {
        FoundBy::Proxies => {
            "a Service that proxies use to reach the control plane is missing: new proxies get no \
            certificate or no configuration, and their pods do not become ready"
        }
        FoundBy::ApiServer | FoundBy::ApiServerForPods => {
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
        FoundBy::ApiServer | FoundBy::ApiServerForPods => {
            "the Service of a validating webhook has no ready endpoint, although its pods are ready. Invalid \
            objects are accepted unchecked; with failurePolicy Fail, all objects of its kinds are rejected"
        }
    };
    let object = format!("Service {home}/{}", wanted.name);
    let names: Vec<&str> = ready.iter().map(|pod| pod.metadata.name.as_str()).collect();
    let evidence = vec![
        Evidence::field(&object, "EndpointSlices", "no ready endpoint"),
        Evidence::field(&object, "spec.selector", selector(service)),
        Evidence::other(format!("Ready pods of {}", wanted.component), names.join(", ")),
    ];
    finding(ctx, wanted, message, evidence)
}

fn finding(ctx: &Context<'_>, wanted: &ControlPlaneService, message: &str, evidence: Vec<Evidence>) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let remedy = upgrade::reapply(ctx, Remedy::new(), "Reapply the control plane");
    let remedy = remedy
        .command("Then check that each Service has endpoints", kubectl().namespace(home).words("get endpointslices"));
    let finding =
        ctx.finding(Subject::object("Service", home, &wanted.name), message).evidences(evidence).remedy(remedy);
    match wanted.found_by {
        FoundBy::Proxies => finding.tie(component_missing(&wanted.component)),
        FoundBy::ApiServer => finding,
        FoundBy::ApiServerForPods => finding.tie(silent_injector()),
    }
}
