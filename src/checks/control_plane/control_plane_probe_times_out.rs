//! `control-plane-probe-times-out`: the kubelet gets no answer in time from probes of the control plane.

use std::collections::BTreeMap;

use crate::checks::control_plane::control_plane_restarting::last_end;
use crate::checks::prelude::*;
use crate::checks::probe_events::{ProbeEvents, count, give_time, span};
use crate::checks::words::some;
use crate::model::control_plane::components;
use crate::model::events;
use crate::model::installed::COMPONENT;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{ContainerStatus, Event};

/// Maximum number of quoted events per pod.
const QUOTED: usize = 4;
/// Maximum number of containers that a message names.
const NAMED: usize = 5;
/// Exit codes of containers that the kubelet ends: after SIGTERM, or by SIGKILL.
const BY_SIGNAL: [i32; 3] = [0, 137, 143];
/// Seconds per hour.
const HOUR: i64 = 3600;

/// A container whose probes get no answer in time.
struct Silent<'a> {
    name: &'a str,
    /// Failed probes.
    unanswered: Vec<&'a Event>,
    /// The kubelet ended it because of its liveness probe.
    killed: Option<&'a Event>,
    status: Option<&'a ContainerStatus>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let probes = ProbeEvents::new(ctx.partial_list::<Event>()?);
    let home = ctx.namespaces().control_plane.as_str();
    let own =
        |pod: &&Pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished();
    let names: BTreeMap<&str, &str> = components(deployments, home)
        .into_iter()
        .map(|component| (component.name, component.deployment.metadata.name.as_str()))
        .collect();
    let mut findings = Vec::new();
    for pod in pods.iter().filter(own) {
        let silent: Vec<Silent<'_>> = silent(ctx, pod, &probes);
        if !silent.is_empty() {
            let name = &pod.metadata.name;
            let subject = match names.get(pod.metadata.label(COMPONENT).unwrap_or_default()) {
                Some(owner) => Subject::Object {
                    kind: "Deployment".to_owned(),
                    namespace: home.to_owned(),
                    name: (*owner).to_owned(),
                    pods: vec![name.clone()],
                },
                None => Subject::object("Pod", home, name),
            };
            let finding = finding(ctx, subject, pod, &silent);
            let component = pod.metadata.label(COMPONENT);
            let mut replicas = pods.iter().filter(own).filter(|other| other.metadata.label(COMPONENT) == component);
            findings.push(match replicas.any(has_failed_itself) {
                true => finding.symptoms(BTreeMap::new()),
                false => finding,
            });
        }
    }
    Ok(findings.into())
}

/// The containers of a pod whose probes get no answer in time.
fn silent<'a>(ctx: &Context<'_>, pod: &'a Pod, probes: &ProbeEvents<'a>) -> Vec<Silent<'a>> {
    let of_container = |name: &'a str| {
        let unanswered = probes.unanswered(ctx, pod, name);
        let status = pod.container_status(name);
        (!unanswered.is_empty()).then(|| Silent { name, unanswered, killed: probes.killed(pod, name), status })
    };
    pod.spec.all_containers().filter_map(|container| of_container(&container.name)).collect()
}

/// Whether a container of a pod ended without a request of the kubelet, so that probes do not explain its restarts.
fn has_failed_itself(pod: &Pod) -> bool {
    let mut statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    statuses.any(|status| {
        let ended = status.last_state().terminated();
        ended.is_some_and(|ended| ended.reason == "OOMKilled" || !BY_SIGNAL.contains(&ended.exit_code))
    })
}

/// The chart's values of the probes of a container, without the timeout.
fn values_of(container: &str) -> Option<[&'static str; 2]> {
    match container {
        "destination" => Some(["destinationController.livenessProbe", "destinationController.readinessProbe"]),
        "sp-validator" => Some(["spValidator.livenessProbe", "spValidator.readinessProbe"]),
        "policy" => Some(["policyController.livenessProbe", "policyController.readinessProbe"]),
        "identity" => Some(["identity.livenessProbe", "identity.readinessProbe"]),
        "proxy-injector" => Some(["proxyInjector.livenessProbe", "proxyInjector.readinessProbe"]),
        PROXY_CONTAINER => Some(["proxy.livenessProbe", "proxy.readinessProbe"]),
        _ => None,
    }
}

fn finding(ctx: &Context<'_>, subject: Subject, pod: &Pod, silent: &[Silent<'_>]) -> Finding {
    let names: Vec<&str> = silent.iter().map(|one| one.name).collect();
    let restarted: Vec<&Silent<'_>> = silent.iter().filter(|one| one.killed.is_some()).collect();
    let events: Vec<&Event> = silent.iter().flat_map(|one| one.unanswered.iter().copied()).collect();
    let times = count(&events);
    // Failures per hour, over at least one hour.
    let seconds = span(&events).map_or(HOUR, |(first, last)| last.duration_since(first).as_secs().max(HOUR));
    let hourly = i64::from(times).saturating_mul(HOUR) / seconds;
    let message = match restarted.is_empty() {
        true => format!(
            "The kubelet's probes of {} get no answer in time ({times} times). If that continues, the pod is not \
             ready, or the kubelet restarts it",
            some(&names, NAMED)
        ),
        false => format!(
            "The kubelet's probes of {} get no answer in time, so the kubelet restarts containers. Proxies fail fast \
             during each gap",
            some(&names, NAMED)
        ),
    };
    let object = pod.described();
    let quoted = restarted.iter().filter_map(|one| one.killed).chain(events.iter().copied()).take(QUOTED);
    let ended = restarted.iter().filter_map(|one| one.status);
    let ended = ended.filter(|status| status.last_state().terminated().is_some());
    let values: Vec<&str> = silent.iter().filter_map(|one| values_of(one.name)).flatten().collect();
    let is_frequent = hourly >= ctx.param("failures");
    let finding = ctx
        .finding(subject, message)
        .parameter(if restarted.is_empty() { "unanswered" } else { "restarted" })
        .likely()
        .evidences(quoted.map(|event| events::quoted(&object, event)))
        .evidences(ended.map(|status| last_end(pod, status)))
        .remedy(give_time(ctx, Remedy::new(), pod, &values));
    match restarted.is_empty() && !is_frequent {
        true => finding.severity(Severity::Info),
        false => finding,
    }
}
