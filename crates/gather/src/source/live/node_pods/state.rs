//! The state of a pod, from the kubelet's status.

use serde_json::Value;

use super::super::quote::quote;
use super::manifest::CONTAINER;

/// State of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodePodState {
    /// Not started by a kubelet.
    Unseen,
    /// In progress, with the current step.
    Waiting(String),
    /// The container ended, with the reason unless it succeeded. Its log exists.
    Ended(Option<String>),
    /// Failed, with the reason.
    Failed(String),
}

/// Waiting reasons that do not resolve.
const HOPELESS: [&str; 9] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];

/// The state of this pod.
pub(super) fn from_pod(pod: &Value) -> NodePodState {
    let status = &pod["status"];
    let containers = status["containerStatuses"].as_array();
    let container = containers.and_then(|all| all.iter().find(|one| one["name"] == CONTAINER));
    let state = container.map(|container| &container["state"]).unwrap_or(&Value::Null);
    let phase = status["phase"].as_str().unwrap_or_default();
    if state["terminated"].is_object() {
        return NodePodState::Ended(ended(&state["terminated"]));
    }
    let waiting = state["waiting"]["reason"].as_str().unwrap_or_default();
    if HOPELESS.contains(&waiting) {
        return NodePodState::Failed(with(waiting, &state["waiting"]["message"]));
    }
    match phase {
        "Succeeded" => NodePodState::Ended(None),
        "Failed" => {
            let reason = status["reason"].as_str().unwrap_or("the pod failed");
            NodePodState::Failed(with(reason, &status["message"]))
        }
        _ if !pod["metadata"]["deletionTimestamp"].is_null() => {
            NodePodState::Failed("its pod was deleted by another client".to_owned())
        }
        _ if status["startTime"].is_null() && container.is_none() => NodePodState::Unseen,
        _ if state["running"].is_object() => NodePodState::Waiting("its pod is running".to_owned()),
        _ if waiting.is_empty() => NodePodState::Waiting("its pod is pending".to_owned()),
        _ => NodePodState::Waiting(with(waiting, &state["waiting"]["message"])),
    }
}

/// Whether nothing in the pod runs any more.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(from_pod(pod), NodePodState::Ended(_)) || pod["status"]["phase"] == "Failed"
}

/// Time of its end, if known.
pub(super) fn ended_at(pod: &Value) -> Option<jiff::Timestamp> {
    let containers = pod["status"]["containerStatuses"].as_array()?;
    let ends = containers.iter().filter_map(|one| one["state"]["terminated"]["finishedAt"].as_str());
    ends.filter_map(|end| end.parse().ok()).max()
}

fn ended(terminated: &Value) -> Option<String> {
    let reason = terminated["reason"].as_str().unwrap_or_default();
    match terminated["exitCode"].as_i64() {
        Some(0) => None,
        Some(code) => Some(with(&format!("{reason}, exit status {code}"), &terminated["message"])),
        None => Some(with(reason, &terminated["message"])),
    }
}

fn with(reason: &str, message: &Value) -> String {
    match message.as_str().unwrap_or_default() {
        "" => quote(reason, 60),
        message => format!("{}: {}", quote(reason, 60), quote(message, 300)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn in_state(state: Value) -> NodePodState {
        let status = json!({ "phase": "Pending", "startTime": "2026-01-15T12:00:00Z",
            "containerStatuses": [{ "name": "proxy", "state": { "running": {} } }, { "name": CONTAINER, "state": state }] });
        from_pod(&json!({ "status": status }))
    }

    #[test]
    fn kubelet_status_maps_to_state() {
        assert_eq!(from_pod(&json!({ "status": { "phase": "Pending" } })), NodePodState::Unseen);
        assert_eq!(
            from_pod(&json!({ "status": { "phase": "Pending", "startTime": "x" } })),
            NodePodState::Waiting("its pod is pending".to_owned())
        );
        let pull = json!({ "waiting": { "reason": "ErrImagePull", "message": "pull access denied" } });
        assert_eq!(in_state(pull), NodePodState::Waiting("ErrImagePull: pull access denied".to_owned()));
        let back_off =
            json!({ "waiting": { "reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\"" } });
        assert_eq!(
            in_state(back_off),
            NodePodState::Failed("ImagePullBackOff: Back-off pulling image \"x\"".to_owned())
        );
        assert_eq!(
            in_state(json!({ "terminated": { "exitCode": 0, "reason": "Completed" } })),
            NodePodState::Ended(None)
        );
        let start = json!({ "terminated": { "exitCode": 128, "reason": "StartError", "message": "exec: \"meshdoctor\": not found" } });
        let said = "StartError, exit status 128: exec: \"meshdoctor\": not found";
        assert_eq!(in_state(start), NodePodState::Ended(Some(said.to_owned())));
        let evicted = json!({ "status": { "phase": "Failed", "reason": "Evicted", "message": "disk pressure" } });
        assert_eq!(from_pod(&evicted), NodePodState::Failed("Evicted: disk pressure".to_owned()));
        let deleted = json!({ "metadata": { "deletionTimestamp": "x" }, "status": { "phase": "Running" } });
        assert!(matches!(from_pod(&deleted), NodePodState::Failed(_)));
    }

    #[test]
    fn injected_container_does_not_delay_the_end() {
        // An injected sidecar keeps the pod running, but the container has ended.
        assert_eq!(in_state(json!({ "terminated": { "exitCode": 0 } })), NodePodState::Ended(None));
    }
}
