//! Whether a namespace admits pods that mount host files: by its PodSecurity labels, and by a server-side dry run,
//! which runs all admission without creating anything.

use http::StatusCode;

use super::super::api_client::ErrorStatus;
use super::PlanError;

/// Label with the enforced PodSecurity level.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

/// Evaluates the labels of a namespace. Without the label, the cluster's default applies, which only the dry run
/// reveals.
///
/// # Errors
/// The namespace rejects `hostPath`.
pub(super) fn by_labels(namespace: &serde_json::Value) -> Result<(), PlanError> {
    let metadata = &namespace["metadata"];
    match metadata["labels"][ENFORCE].as_str() {
        None | Some("privileged") => Ok(()),
        // The server treats unknown values as the strictest level.
        Some(level) => Err(PlanError::PodSecurity {
            namespace: metadata["name"].as_str().unwrap_or_default().to_owned(),
            level: super::super::quote::quote(level, 40),
        }),
    }
}

/// Evaluates the rejection of a dry run. `Ok` contains the reason why it is inconclusive.
///
/// # Errors
/// The pod would also be rejected.
pub(super) fn by_dry_run(namespace: &str, refusal: &ErrorStatus) -> Result<String, PlanError> {
    let message = &refusal.message;
    let namespace = namespace.to_owned();
    if message.contains("does not support dry run") {
        return Ok(message.clone());
    }
    if refusal.status == StatusCode::FORBIDDEN {
        if let Some(level) = violated(message) {
            return Err(PlanError::PodSecurity { namespace, level });
        }
        if message.contains("cannot create resource") || message.is_empty() {
            return Err(PlanError::denied("create", "pods", &namespace, message));
        }
    }
    Err(PlanError::Refused { namespace, message: refusal.words() })
}

/// The level in a message of the PodSecurity admission: `violates PodSecurity "restricted:latest"`.
fn violated(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("violates PodSecurity \"")?;
    let level = rest.split(['"', ':']).next()?;
    Some(level.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(status: u16, message: &str) -> ErrorStatus {
        ErrorStatus {
            status: StatusCode::from_u16(status).unwrap(),
            message: message.to_owned(),
            object: None,
            location: None,
        }
    }

    #[test]
    fn labels_admit_or_reject() {
        let judged = |labels| by_labels(&json!({ "metadata": { "name": "tools", "labels": labels } }));
        assert_eq!(judged(json!(null)), Ok(()));
        assert_eq!(judged(json!({ "pod-security.kubernetes.io/warn": "restricted" })), Ok(()));
        assert_eq!(judged(json!({ ENFORCE: "privileged" })), Ok(()));
        for level in ["baseline", "restricted", "unheard-of"] {
            let error = judged(json!({ ENFORCE: level })).unwrap_err();
            assert_eq!(error, PlanError::PodSecurity { namespace: "tools".to_owned(), level: level.to_owned() });
            assert!(error.to_string().contains(level), "{error}");
        }
    }

    #[test]
    fn dry_run_distinguishes_rbac_and_policies() {
        let judged = |status, message: &str| by_dry_run("tools", &refusal(status, message));
        let message =
            "pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)";
        let level = "baseline".to_owned();
        assert_eq!(judged(403, message), Err(PlanError::PodSecurity { namespace: "tools".to_owned(), level }));
        let message = "pods is forbidden: User \"eve\" cannot create resource \"pods\" in API group \"\" in the namespace \"tools\"";
        assert!(matches!(judged(403, message), Err(PlanError::Denied { verb: "create", .. })));
        let message = "admission webhook \"policy.example\" denied the request: hostPath is not allowed";
        assert!(matches!(judged(403, message), Err(PlanError::Refused { .. })));
        let message = "admission webhook \"x\" does not support dry run";
        assert_eq!(judged(400, message), Ok(message.to_owned()));
        assert!(matches!(judged(422, "invalid"), Err(PlanError::Refused { .. })));
    }
}
