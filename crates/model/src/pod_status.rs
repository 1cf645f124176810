//! A pod's status in one word, as `kubectl get pods` and `linkerd check` show it: the state of the first
//! unhealthy init container or container, else the phase. Also why a pod's proxy is unhealthy.

use jiff::Timestamp;

use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::ContainerStatus;

/// The word: `Running`, `Completed`, `Init:0/2`, `CrashLoopBackOff`.
pub fn label(pod: &Pod) -> String {
    if let Some(initializing) = initializing(pod) {
        return initializing;
    }
    let mut word = if pod.status.reason.is_empty() { &pod.status.phase } else { &pod.status.reason }.to_string();
    let mut running = false;
    // The first container takes precedence, so it is read last.
    for status in pod.status.container_statuses.iter().rev() {
        match (status.state.waiting(), status.state.terminated()) {
            (Some(waiting), _) if !waiting.reason.is_empty() => word.clone_from(&waiting.reason),
            (_, Some(ended)) if !ended.reason.is_empty() => word = String::from(&ended.reason),
            (_, Some(ended)) => word = format!("ExitCode:{}", ended.exit_code),
            _ => running |= status.ready && status.state.running().is_some(),
        }
    }
    if word == "Completed" && running { "Running".to_owned() } else { word }
}

/// The word for the first init container that neither succeeded nor is a running sidecar.
fn initializing(pod: &Pod) -> Option<String> {
    let sidecar = |status: &ContainerStatus| {
        let restarts = pod.spec.init_containers.iter().find(|container| container.name == status.name);
        let restarts = restarts.and_then(|container| container.restart_policy.as_deref()) == Some("Always");
        restarts && status.state.running().is_some() && status.ready
    };
    let statuses = &pod.status.init_container_statuses;
    let (at, status) = statuses.iter().enumerate().find(|(_, status)| {
        let ended_well = status.state.terminated().is_some_and(|ended| ended.exit_code == 0);
        !ended_well && !sidecar(status)
    })?;
    Some(match (status.state.terminated(), status.state.waiting()) {
        (Some(ended), _) if ended.reason.is_empty() => format!("Init:ExitCode:{}", ended.exit_code),
        (Some(ended), _) => format!("Init:{}", ended.reason),
        (None, Some(waiting)) if !matches!(waiting.reason.as_str(), "" | "PodInitializing") => {
            format!("Init:{}", waiting.reason)
        }
        (None, _) => format!("Init:{at}/{}", pod.spec.init_containers.len()),
    })
}

/// Why a pod and its proxy are unhealthy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnhealthyReason {
    /// The pod does not run; its status word.
    Pod(String),
    /// The pod runs, but its proxy is not ready.
    Proxy,
}

/// The problem of a pod that should run a proxy; `None` if it is healthy or has ended.
pub fn unhealthy(pod: &Pod) -> Option<UnhealthyReason> {
    let word = label(pod);
    match word.as_str() {
        "Completed" | "NodeShutdown" | "Shutdown" | "Terminated" => None,
        "Running" | "Evicted" => {
            let ready = pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready);
            // An evicted pod has no containers that could be ready.
            (!ready && word == "Running").then_some(UnhealthyReason::Proxy)
        }
        _ => Some(UnhealthyReason::Pod(word)),
    }
}

/// Whether `linkerd check` treats the pod's proxy as unhealthy. Unlike [`unhealthy`], this includes evicted
/// pods.
pub fn counts_as_unwell(pod: &Pod) -> bool {
    let ready = || pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready);
    unhealthy(pod).is_some() || (label(pod) == "Evicted" && !ready())
}

/// Whether a container of a pod has failed, so that the pod does not become ready by waiting.
pub fn has_failed(pod: &Pod) -> bool {
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    pod.status.phase == "Failed" || statuses.into_iter().any(container_has_failed)
}

/// Whether a container has failed, as opposed to not started yet.
pub fn container_has_failed(status: &ContainerStatus) -> bool {
    let waits = status
        .state
        .waiting()
        .is_some_and(|waiting| !matches!(waiting.reason.as_str(), "PodInitializing" | "ContainerCreating" | ""));
    waits || status.state.terminated().is_some_and(|ended| ended.exit_code != 0)
}

/// When a pod that was ready stopped being ready: its condition changed after a container that still runs had
/// started. `None` if it is ready, was never ready, or a container restarted since.
pub fn lost_readiness(pod: &Pod, container: Option<&str>) -> Option<Timestamp> {
    let ready = pod.condition("Ready").filter(|ready| ready.status == "False")?;
    let changed = ready.last_transition_time.get()?;
    let its = |status: &&ContainerStatus| container.is_none_or(|name| status.name == name);
    let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let started = statuses.filter(its).filter_map(|status| status.state.running()?.started_at.get()).min()?;
    (changed > started).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(json: serde_json::Value) -> Pod {
        serde_json::from_value(json).expect("a pod")
    }

    #[test]
    fn lost_readiness_differs_from_a_start() {
        let of = |changed: &str, started: &str| {
            let status = serde_json::json!({"name": "identity", "state": {"running": {"startedAt": started}}});
            let ready = serde_json::json!({"type": "Ready", "status": "False", "lastTransitionTime": changed});
            let status = serde_json::json!({"conditions": [ready], "containerStatuses": [status]});
            lost_readiness(&pod(serde_json::json!({"status": status})), None).map(|at| at.to_string())
        };
        let (before, after) = ("2026-01-15T11:59:00Z", "2026-01-15T11:59:07Z");
        assert_eq!(of(after, before), Some(after.to_owned()));
        assert_eq!(of(before, after), None, "the container restarted");
        assert_eq!(of(before, before), None, "the pod started");
    }

    #[test]
    fn status_word_matches_kubectl() {
        let proxy = serde_json::json!({"name": "linkerd-proxy", "ready": true, "state": {"running": {}}});
        let app = |state: serde_json::Value| serde_json::json!({"name": "app", "ready": false, "state": state});
        for (status, expected, trouble) in [
            (serde_json::json!({"phase": "Running", "containerStatuses": [proxy]}), "Running", None),
            (
                serde_json::json!({"phase": "Running", "containerStatuses": [app(serde_json::json!({"running": {}}))]}),
                "Running",
                Some(UnhealthyReason::Proxy),
            ),
            (
                serde_json::json!({"phase": "Running", "containerStatuses":
                    [proxy, app(serde_json::json!({"waiting": {"reason": "CrashLoopBackOff"}}))]}),
                "CrashLoopBackOff",
                Some(UnhealthyReason::Pod("CrashLoopBackOff".to_owned())),
            ),
            (
                serde_json::json!({"phase": "Running", "containerStatuses":
                    [app(serde_json::json!({"terminated": {"reason": "Completed"}})), proxy]}),
                "Running",
                None,
            ),
            (serde_json::json!({"phase": "Failed", "reason": "Evicted"}), "Evicted", None),
            (serde_json::json!({"phase": "Pending"}), "Pending", Some(UnhealthyReason::Pod("Pending".to_owned()))),
        ] {
            let pod = pod(serde_json::json!({"status": status}));
            assert_eq!((label(&pod).as_str(), unhealthy(&pod)), (expected, trouble), "{status}");
        }
    }

    #[test]
    fn only_a_stopped_sidecar_counts_as_initializing() {
        let with = |ready: bool| {
            pod(serde_json::json!({
                "spec": {"initContainers": [{"name": "linkerd-proxy", "restartPolicy": "Always"}, {"name": "b"}]},
                "status": {"phase": "Running", "initContainerStatuses": [
                    {"name": "linkerd-proxy", "ready": ready, "state": {"running": {}}},
                    {"name": "b", "ready": true, "state": {"terminated": {"exitCode": 0}}}
                ]}
            }))
        };
        assert_eq!(label(&with(true)), "Running");
        assert_eq!(label(&with(false)), "Init:0/2");
        assert_eq!(unhealthy(&with(true)), None);
    }
}
