//! Why a pod is not ready: the first cause, in the order in which a pod starts.

use crate::finding::Evidence;
use crate::model::events;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::{ContainerState, ContainerStatus};
use crate::objects::{Event, Pod};

/// The reason why a pod is not ready.
pub(in crate::checks) struct Failing {
    /// The failing container, if a container fails.
    pub container: Option<String>,
    /// Whether the container ran before, so that its previous run has a log.
    pub crashed: bool,
    /// Whether the container runs now.
    pub running: bool,
    /// Whether it does not run because its last run was killed for its memory.
    pub out_of_memory: bool,
    pub evidence: Evidence,
}

/// The first reason why a pod is not ready; `None` if it is ready or its status has no reason.
pub(in crate::checks) fn failing(pod: &Pod, events: &[Event]) -> Option<Failing> {
    let object = pod.described();
    if let Some(said) = pod.scheduling_failure() {
        let evidence = Evidence::field(object, "status.conditions[PodScheduled]", said);
        return Some(Failing { container: None, crashed: false, running: false, out_of_memory: false, evidence });
    }
    if pod.is_finished() {
        let evidence = Evidence::field(object, "status.reason", format!("{} {}", pod.status.phase, pod.status.reason));
        return Some(Failing { container: None, crashed: false, running: false, out_of_memory: false, evidence });
    }
    let init = pod.status.init_container_statuses.iter().find(|status| !passed(status));
    if let Some(status) = init.filter(|status| !is_idle(&status.state)) {
        return Some(of_container(&object, "initContainerStatuses", status));
    }
    // Containers of a pod wait for each other, and the proxy waits for all of them. A failing container
    // takes precedence over one that is only not ready, and any container over the proxy.
    let mut unready: Vec<&ContainerStatus> =
        pod.status.container_statuses.iter().filter(|status| !status.ready).collect();
    unready.sort_by_key(|status| {
        (is_idle(&status.state), status.state.running().is_some(), status.name == PROXY_CONTAINER)
    });
    if let Some(status) = unready.first().filter(|status| !is_idle(&status.state)) {
        return Some(of_container(&object, "containerStatuses", status));
    }
    // No container has started: the kubelet reports the reason only in events.
    let event = events.iter().filter(|event| is_about(event, pod) && event.kind == "Warning").max_by_key(|e| e.last);
    let evidence = match event {
        Some(event) => events::quoted(&object, event),
        None => Evidence::field(object, "status", waiting_said(pod)?),
    };
    Some(Failing { container: None, crashed: false, running: false, out_of_memory: false, evidence })
}

fn is_about(event: &Event, pod: &Pod) -> bool {
    let about = &event.about;
    about.kind == "Pod" && about.name == pod.metadata.name && about.namespace == pod.metadata.namespace
}

/// Whether an init container allows the next one to start: it succeeded, or is a running sidecar.
fn passed(status: &ContainerStatus) -> bool {
    match (status.state.terminated(), status.state.running()) {
        (Some(ended), _) => ended.exit_code == 0,
        (None, Some(_)) => status.ready,
        (None, None) => false,
    }
}

/// Whether a container only waits for others.
fn is_idle(state: &ContainerState) -> bool {
    match (state.waiting(), state.running(), state.terminated()) {
        (Some(waiting), _, _) => {
            matches!(waiting.reason.as_str(), "PodInitializing" | "ContainerCreating" | "")
        }
        (None, None, None) => true,
        (None, _, _) => false,
    }
}

fn of_container(object: &str, list: &str, status: &ContainerStatus) -> Failing {
    let ended = status.state.terminated().or(status.last_state().terminated());
    let mut said = match (status.state.waiting(), status.state.terminated()) {
        (Some(waiting), _) if waiting.message.is_empty() => waiting.reason.clone(),
        (Some(waiting), _) => format!("{}: {}", waiting.reason, waiting.message),
        (None, Some(_)) => "terminated".to_owned(),
        (None, None) => "running, but its readiness probe fails".to_owned(),
    };
    if let Some(ended) = ended {
        said.push_str(&format!("; ended with exit code {} ({})", ended.exit_code, ended.reason));
        if !ended.message.is_empty() {
            said.push_str(&format!(": {}", decisive_line(&ended.message)));
        }
    }
    if status.restart_count > 0 {
        said.push_str(&format!("; restarted {} times", status.restart_count));
    }
    Failing {
        container: Some(status.name.to_string()),
        crashed: status.last_state().terminated().is_some(),
        running: status.state.running().is_some(),
        out_of_memory: status.state.running().is_none() && ended.is_some_and(|ended| ended.reason == "OOMKilled"),
        evidence: Evidence::field(object, format!("status.{list}[{}]", status.name), said),
    }
}

/// The beginning of the note that Rust prints behind the reason of a panic.
pub(in crate::checks) const NOTE: &str = "note: run with `RUST_BACKTRACE";

/// The line with the reason, since a termination message can be long: the last one that is not blank. Programs that
/// reject an argument print the reason before their usage, and Rust prints a note behind the reason of a panic.
fn decisive_line(message: &str) -> &str {
    let lines: Vec<&str> =
        message.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(NOTE)).collect();
    let usage =
        lines.iter().position(|line| ["Usage of ", "Usage:", "USAGE:"].iter().any(|start| line.starts_with(start)));
    let reasons = match usage {
        Some(usage) if usage > 0 => &lines[..usage],
        Some(_) | None => &lines[..],
    };
    let error = reasons.iter().find(|line| usage.is_some() && line.starts_with("error: "));
    error.or(reasons.last()).copied().unwrap_or_default()
}

/// The reason in the pod's own status, if no container has one.
fn waiting_said(pod: &Pod) -> Option<String> {
    let ready = pod.condition("Ready");
    if ready.is_some_and(|condition| condition.status == "True") {
        return None;
    }
    let reason = ready.map_or("", |condition| condition.reason.as_str());
    Some(format!("{}, not ready {reason}", pod.status.phase).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::decisive_line;

    #[test]
    fn reason_is_before_the_usage_of_a_program() {
        let go = "flag provided but not defined: -a-flag\nUsage of identity:\n  -addr string\n    \taddress\n";
        assert_eq!(decisive_line(go), "flag provided but not defined: -a-flag");
        let clap = "error: unexpected argument '--a' found\n\n  tip: a similar one exists\n\nUsage: policy [OPTIONS]\n";
        assert_eq!(decisive_line(clap), "error: unexpected argument '--a' found");
        assert_eq!(decisive_line("one\n\ntwo\n\n"), "two");
        assert_eq!(decisive_line("Usage: policy\n"), "Usage: policy");
        assert_eq!(decisive_line(""), "");
    }
}
