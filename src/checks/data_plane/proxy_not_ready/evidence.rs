//! Evidence of the states of pods and proxies.

use std::collections::HashMap;

use jiff::Timestamp;

use super::stage::{RestartCause, Stage, killed, lost_at, obstacle, of_proxy};
use crate::annotations::VPA_UPDATES;
use crate::checks::control_plane::failing::NOTE;
use crate::checks::prelude::*;
use crate::checks::probe_events::ProbeEvents;
use crate::model::events;
use crate::model::pod_status::{label, unhealthy};
use crate::model::vertical_autoscaler;
use crate::objects::Event;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::{ContainerStatus, Terminated};

/// Maximum number of quoted characters of a container's last output.
const WORDS: usize = 240;
/// The label of a node with the architecture of its processor.
const ARCHITECTURE: &str = "kubernetes.io/arch";

/// The memory limit of an OOM-killed proxy.
pub(super) fn memory_limit(pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    let limit = pod.spec.proxy()?.memory_limit()?;
    let path = format!("spec.containers[{PROXY_CONTAINER}].resources.limits.memory");
    Some(Evidence::field(pod.described(), path, limit))
}

/// The allocator of an OOM-killed proxy, if it keeps memory after a peak: the proxy brings its own one for amd64 only.
pub(super) fn allocator(ctx: &Context<'_>, pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    let node = ctx.optional_list::<Node>().iter().find(|node| node.metadata.name == *pod.node_name)?;
    let architecture = node.metadata.label(ARCHITECTURE).filter(|name| *name == "arm64")?;
    Some(Evidence::field(
        format!("Node {}", node.metadata.name),
        format!("metadata.labels[{ARCHITECTURE}]"),
        format!(
            "{architecture}: the proxy uses glibc's allocator there (jemalloc only on amd64), which keeps memory after \
             a peak"
        ),
    ))
}

/// What a VerticalPodAutoscaler changed in a pod whose proxy was OOM-killed.
pub(super) fn resize(pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    vertical_autoscaler::of_proxy_memory(pod)?;
    let object = pod.described();
    let said = pod.metadata.annotation(VPA_UPDATES).unwrap_or_default();
    Some(Evidence::field(object, format!("metadata.annotations[{VPA_UPDATES}]"), said))
}

/// The kubelet's events about the probes of a proxy, if the finding is about them.
pub(super) fn probed(ctx: &Context<'_>, stage: Stage, pod: &Pod, probes: &ProbeEvents<'_>) -> Vec<Evidence> {
    if !matches!(stage, Stage::Unanswered | Stage::Restarting(RestartCause::Unanswered | RestartCause::Unhealthy)) {
        return Vec::new();
    }
    let unanswered = probes.unanswered(ctx, pod, PROXY_CONTAINER);
    let events = probes.killed(pod, PROXY_CONTAINER).into_iter().chain(unanswered);
    let object = pod.described();
    events.map(|event| events::quoted(&object, event)).collect()
}

/// The last warning event about each pod, by namespace and name.
pub(super) type Warnings<'a> = HashMap<(&'a str, &'a str), &'a Event>;

pub(super) fn last_warnings<'a>(ctx: &Context<'a>) -> Warnings<'a> {
    let mut last: Warnings<'a> = HashMap::new();
    let events = ctx.optional_list::<Event>().iter();
    for event in events.filter(|event| event.kind == "Warning" && event.about.kind == "Pod") {
        let key = (event.about.namespace.as_str(), event.about.name.as_str());
        let held = last.entry(key).or_insert(event);
        if event.last > held.last {
            *held = event;
        }
    }
    last
}

/// Evidence of a pod's state.
pub(super) fn pod_evidence(pod: &Pod, warnings: &Warnings<'_>) -> Evidence {
    let object = pod.described();
    if let Some(ended) = of_proxy(pod).filter(|status| status.ready).and_then(killed)
        && unhealthy(pod).is_none()
    {
        let path = format!("lastState of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    if let Some(status) = of_proxy(pod).filter(|status| status.ready && !pod.is_finished())
        && let Some(ended) = status.last_state().terminated()
        && unhealthy(pod).is_none()
    {
        let path = format!("lastState of container {PROXY_CONTAINER}");
        let said = format!("{}; restarted {} times", last_words(ended), status.restart_count);
        return Evidence::field(object, path, said);
    }
    let ended = of_proxy(pod).and_then(|status| status.state.terminated());
    if let Some(ended) = ended.filter(|ended| pod.is_finished() && ended.exit_code != 0) {
        let path = format!("status of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    if pod.spec.proxy().is_none() && !pod.spec.containers.is_empty() && !pod.is_finished() {
        let names: Vec<&str> = pod.spec.containers.iter().map(|one| one.name.as_str()).collect();
        return Evidence::field(object, "spec.containers", names.join(", "));
    }
    if pod.is_finished() || of_proxy(pod).is_some_and(|status| status.ready) {
        return Evidence::field(object, "status", label(pod));
    }
    if let Some((list, status)) = obstacle(pod) {
        return Evidence::field(object, format!("status.{list}[{}]", status.name), state(status, None));
    }
    if let Some(said) = pod.scheduling_failure() {
        return Evidence::field(object, "status.conditions[PodScheduled]", said);
    }
    let key = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
    let started = pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.state.running().is_some());
    // If no container has started, only events show the kubelet's reason.
    if let Some(event) = warnings.get(&key).filter(|_| !started) {
        return events::quoted(object, event);
    }
    match pod.container_status(PROXY_CONTAINER) {
        Some(status) => {
            Evidence::field(object, format!("status of container {PROXY_CONTAINER}"), state(status, lost_at(pod)))
        }
        None => {
            Evidence::field(object, "status.phase", format!("{}, no status of {PROXY_CONTAINER}", pod.status.phase))
        }
    }
}

/// Formats a container's state in one line. `lost`: when its pod stopped being ready.
fn state(status: &ContainerStatus, lost: Option<Timestamp>) -> String {
    let mut said = match (status.state.waiting(), status.state.running(), status.state.terminated()) {
        (Some(waiting), _, _) if waiting.message.is_empty() => waiting.reason.clone(),
        (Some(waiting), _, _) => format!("{}: {}", waiting.reason, waiting.message),
        (None, Some(running), _) => match running.started_at.get() {
            Some(since) => {
                format!("running since {since}, not ready{}", lost.map(|at| format!(" since {at}")).unwrap_or_default())
            }
            None => "running, not ready".to_owned(),
        },
        (None, None, Some(ended)) => last_words(ended),
        (None, None, None) => "not ready".to_owned(),
    };
    if let Some(before) = status.last_state().terminated() {
        said.push_str(&format!("; before that {}", last_words(before)));
    }
    if status.restart_count > 0 {
        said.push_str(&format!("; restarted {} times", status.restart_count));
    }
    said
}

/// Formats how a container ended, with the end of its output, which the runtime keeps as the message if the
/// container failed.
fn last_words(ended: &Terminated) -> String {
    let at = ended.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
    let reason = if ended.reason.is_empty() { String::new() } else { format!(" ({})", ended.reason) };
    let words = ended.message.trim();
    let words = words.split(&format!("\n{NOTE}")).next().unwrap_or(words).trim_end();
    let from = words.char_indices().rev().nth(WORDS - 1).map_or(0, |(at, _)| at);
    let cut = if from == 0 { "" } else { "…" };
    let words = if words.is_empty() { String::new() } else { format!(": {cut}{}", &words[from..]) };
    format!("exited with code {}{reason}{at}{words}", ended.exit_code)
}
