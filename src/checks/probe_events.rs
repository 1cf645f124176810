//! Events of the kubelet about failed probes: probes without an answer in time, and containers that the kubelet
//! restarts because their liveness probe failed.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::upgrade::{self, CONTROL_PLANE, Options};
use crate::checks::prelude::*;
use crate::objects::Event;
use crate::version::{Distribution, K8sVersion};

/// Maximum age of the last failure.
const RECENT: SignedDuration = SignedDuration::from_mins(15);
/// Time during which probes of a starting container may fail.
pub(super) const STARTING: SignedDuration = SignedDuration::from_mins(5);
/// Reason of the kubelet's events about a failed probe.
const FAILED: &str = "Unhealthy";
/// Reason of its events about a container that it ends.
const ENDED: &str = "Killing";
/// Minimum number of failures.
const ENOUGH: u32 = 3;
/// Endings of the kubelet's messages about a request without an answer in time, of any Go release.
const TIMEOUTS: [&str; 3] = ["Client.Timeout exceeded", "context deadline exceeded", "i/o timeout"];
/// Beginnings of the names of operating systems that bring firewalld.
const WITH_FIREWALLD: [&str; 6] = ["Red Hat", "Rocky", "AlmaLinux", "CentOS", "Oracle Linux", "Fedora"];
/// The timeout in seconds that steps set: the default is 1.
const LONGER: &str = "5";

/// Events about failed probes, by namespace and name of their pod.
pub(super) struct ProbeEvents<'a>(HashMap<(&'a str, &'a str), Vec<&'a Event>>);

impl<'a> ProbeEvents<'a> {
    pub(super) fn new(events: &'a [Event]) -> ProbeEvents<'a> {
        let mut by_pod: HashMap<(&str, &str), Vec<&Event>> = HashMap::new();
        let is_of_probe = |event: &&Event| matches!(event.reason.as_str(), FAILED | ENDED);
        for event in events.iter().filter(is_of_probe).filter(|event| event.about.kind == "Pod") {
            by_pod.entry((&event.about.namespace, &event.about.name)).or_default().push(event);
        }
        ProbeEvents(by_pod)
    }

    fn of_pod<'e>(&'e self, pod: &'e Pod) -> &'e [&'a Event] {
        self.0.get(&pod.metadata.key()).map_or(&[], Vec::as_slice)
    }

    /// The events of failed probes of a pod.
    pub(super) fn failed<'e>(&'e self, pod: &'e Pod) -> impl Iterator<Item = &'a Event> + use<'a, 'e> {
        self.of_pod(pod).iter().copied().filter(|event| event.reason == FAILED)
    }

    /// The events about a container of a pod, without those of an earlier pod of this name.
    fn about<'e>(&'e self, pod: &'e Pod, container: &'e str) -> impl Iterator<Item = &'a Event> + use<'a, 'e> {
        let created = pod.metadata.creation_timestamp.get();
        let is_later =
            move |event: &&Event| created.is_none_or(|created| event.last.get().is_none_or(|last| last >= created));
        let of_container = move |event: &&Event| event.about.container() == Some(container);
        self.of_pod(pod).iter().copied().filter(of_container).filter(is_later)
    }

    /// The last event with which the kubelet ended a container because its liveness probe failed. It ends containers
    /// of deleted pods with another message.
    pub(super) fn killed(&self, pod: &Pod, container: &str) -> Option<&'a Event> {
        self.about(pod, container)
            .filter(|event| event.reason == ENDED && event.message.contains(" failed liveness probe"))
            .max_by_key(|event| event.last)
    }

    /// The events of probes of a container that get no answer in time: often, lately, and not only while it started.
    pub(super) fn unanswered(&self, ctx: &Context<'_>, pod: &Pod, container: &str) -> Vec<&'a Event> {
        let is_timeout =
            |event: &&Event| event.reason == FAILED && TIMEOUTS.iter().any(|ending| event.message.contains(ending));
        let events: Vec<&Event> = self.about(pod, container).filter(is_timeout).collect();
        let Some((first, last)) = span(&events) else { return Vec::new() };
        let began = pod.status.start_time.get().map_or(first, |started| first.max(started + STARTING));
        if is_lasting(ctx, (began, last), count(&events)) { events } else { Vec::new() }
    }
}

/// Whether probes failed often, until lately, and for longer than a container needs to start.
pub(super) fn is_lasting(ctx: &Context<'_>, (first, last): (Timestamp, Timestamp), times: u32) -> bool {
    ctx.now().duration_since(last) <= RECENT && last.duration_since(first) > STARTING && times >= ENOUGH
}

/// The first and the last occurrence of events.
pub(super) fn span(events: &[&Event]) -> Option<(Timestamp, Timestamp)> {
    let last = events.iter().filter_map(|event| event.last.get()).max()?;
    let first = events.iter().filter_map(|event| event.first.get().or(event.last.get())).min()?;
    Some((first, last))
}

/// The number of occurrences of events.
pub(super) fn count(events: &[&Event]) -> u32 {
    events.iter().fold(0, |sum, event| sum.saturating_add(event.count))
}

/// The steps for probes without an answer in time, up to the longer timeout; `values` are the chart's values of the
/// probes, without the timeout.
pub(super) fn give_time(ctx: &Context<'_>, remedy: Remedy, pod: &Pod, values: &[&str]) -> Remedy {
    let node = pod.node_name.as_str();
    let remedy = match node.is_empty() {
        true => remedy,
        false => remedy.command(
            "Check the node: its conditions, and how much of its CPU is in use",
            kubectl().words("describe node").operand(node),
        ),
    };
    let remedy = remedy.note(firewall(ctx, node));
    let paths: Vec<String> = values.iter().map(|value| format!("{value}.timeoutSeconds")).collect();
    let paths: Vec<&String> = paths.iter().filter(|path| upgrade::takes(ctx, CONTROL_PLANE.0, path)).collect();
    if paths.is_empty() {
        return remedy;
    }
    let options = paths.iter().fold(Options::none(), |options, path| options.set(path, LONGER));
    let act = "If the node stays busy, give the probes more time";
    upgrade::with_values(ctx, remedy, act, options)
}

/// The instruction about the firewall of a node's host.
fn firewall(ctx: &Context<'_>, node: &str) -> String {
    let object = ctx.for_steps::<Node>().iter().find(|one| one.metadata.name == node);
    let info = object.map(|node| &node.status.node_info);
    let distribution = info.and_then(|info| info.kubelet_version.parse::<K8sVersion>().ok()?.distribution());
    let has_firewalld = info.is_some_and(|info| WITH_FIREWALLD.iter().any(|system| info.os_image.starts_with(system)));
    match distribution {
        Some(named @ (Distribution::Rke2 | Distribution::K3s)) if has_firewalld => format!(
            "If firewalld runs on the host of node {node}, disable it: {named} recommends that, since its rules drop \
             connections to pods"
        ),
        Some(_) | None => "If other pods of the node are affected too, check whether the firewall of its host drops \
                           connections of the kubelet to pods"
            .to_owned(),
    }
}
