//! The manifest of the pod that reads one node, for display and creation. It has the minimum permissions to read files
//! of mode 0600; `docs/node-evidence.md` explains them.

use jiff::Timestamp;
use serde_json::{Value, json};

/// The one container.
pub(super) const CONTAINER: &str = "node-snapshot";
/// Time limit of a pod, in seconds, enforced by the kubelet.
pub const DEADLINE_SECONDS: u64 = 180;
/// Label with the id of the run.
pub(super) const RUN_LABEL: &str = "meshdoctor.io/run";
/// Annotation with the creation time, by the local clock.
const CREATED_ANNOTATION: &str = "meshdoctor.io/created-at";
/// Label selector for all pods of meshdoctor.
pub(super) const OURS: &str = "app.kubernetes.io/managed-by=meshdoctor,app.kubernetes.io/component=node-snapshot";
/// Mount point of the node's root.
const HOST: &str = "/host";

/// The common settings of one run's pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The id of the run: eight hexadecimal digits.
    pub(super) run: String,
    pub(super) namespace: String,
    pub(super) image: String,
    pub(super) created: Timestamp,
}

impl Pattern {
    /// Selector of this run's pods.
    pub(super) fn selector(&self) -> String {
        format!("{OURS},{RUN_LABEL}={}", self.run)
    }

    /// Name of the pod with this number. Names are unique, so that a repeated request is harmless.
    pub(super) fn name(&self, number: usize) -> String {
        format!("meshdoctor-{}-{number}", self.run)
    }

    /// The pod with this number, for a node.
    pub(super) fn pod(&self, number: usize, node: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": self.name(number),
                "namespace": self.namespace,
                "labels": {
                    "app.kubernetes.io/name": "meshdoctor",
                    "app.kubernetes.io/managed-by": "meshdoctor",
                    "app.kubernetes.io/component": "node-snapshot",
                    RUN_LABEL: self.run,
                },
                "annotations": {
                    CREATED_ANNOTATION: self.created.to_string(),
                    "linkerd.io/inject": "disabled",
                },
            },
            "spec": {
                // Bypasses the scheduler, so that neither its state nor a cordon matters.
                "nodeName": node,
                "tolerations": [{ "operator": "Exists" }],
                // The host network works even if the CNI is broken.
                "hostNetwork": true,
                "dnsPolicy": "Default",
                "restartPolicy": "Never",
                "activeDeadlineSeconds": DEADLINE_SECONDS,
                "terminationGracePeriodSeconds": 1,
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "securityContext": {
                    "seccompProfile": { "type": "RuntimeDefault" },
                    // With SELinux enforcing, no other type may read host files.
                    "seLinuxOptions": { "type": "spc_t" },
                },
                "containers": [{
                    "name": CONTAINER,
                    "image": self.image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["meshdoctor", "node-snapshot", "--root", HOST, "--node", node, "--to-log"],
                    "securityContext": {
                        "runAsUser": 0,
                        "runAsNonRoot": false,
                        "privileged": false,
                        "allowPrivilegeEscalation": false,
                        "readOnlyRootFilesystem": true,
                        "capabilities": { "drop": ["ALL"] },
                    },
                    "resources": {
                        "requests": { "cpu": "10m", "memory": "64Mi" },
                        "limits": { "cpu": "1", "memory": "256Mi" },
                    },
                    "volumeMounts": [{
                        "name": "host",
                        "mountPath": HOST,
                        "readOnly": true,
                        "recursiveReadOnly": "IfPossible",
                    }],
                }],
                "volumes": [{ "name": "host", "hostPath": { "path": "/", "type": "" } }],
            },
        })
    }
}

/// A unique id for a run.
pub(super) fn run_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    // The keys of a new hasher are random; the id need not be unguessable.
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{:08x}", chance as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Value {
        let pattern = Pattern {
            run: run_id(),
            namespace: "kube-system".to_owned(),
            image: "registry.example/meshdoctor:1".to_owned(),
            created: Timestamp::UNIX_EPOCH,
        };
        pattern.pod(7, "ip-10-0-1-12")
    }

    #[test]
    fn pod_starts_without_cni() {
        let spec = &pod()["spec"];
        assert_eq!(spec["hostNetwork"], true);
        assert_eq!(spec["nodeName"], "ip-10-0-1-12");
        assert_eq!(spec["tolerations"], json!([{ "operator": "Exists" }]));
        assert_eq!(pod()["metadata"]["annotations"]["linkerd.io/inject"], "disabled");
    }

    #[test]
    fn pod_may_only_read() {
        let spec = pod()["spec"].clone();
        assert_eq!(spec["automountServiceAccountToken"], false);
        for absent in ["serviceAccountName", "hostPID", "hostIPC", "initContainers"] {
            assert!(spec[absent].is_null(), "{absent}");
        }
        let [container] = &spec["containers"].as_array().unwrap()[..] else { panic!("one container") };
        let security = &container["securityContext"];
        assert_eq!(security["runAsUser"], 0);
        assert_eq!(security["capabilities"], json!({ "drop": ["ALL"] }));
        for refused in ["privileged", "allowPrivilegeEscalation"] {
            assert_eq!(security[refused], false, "{refused}");
        }
        assert_eq!(security["readOnlyRootFilesystem"], true);
        let mounts = container["volumeMounts"].as_array().unwrap();
        assert!(mounts.iter().all(|mount| mount["readOnly"] == true) && mounts.len() == 1);
        for limit in ["cpu", "memory"] {
            assert!(container["resources"]["limits"][limit].is_string(), "{limit}");
        }
    }

    #[test]
    fn pod_ends_and_has_labels() {
        let pod = pod();
        assert_eq!(pod["spec"]["restartPolicy"], "Never");
        assert_eq!(pod["spec"]["activeDeadlineSeconds"], DEADLINE_SECONDS);
        let labels = &pod["metadata"]["labels"];
        for label in OURS.split(',') {
            let (key, value) = label.split_once('=').unwrap();
            assert_eq!(labels[key], value);
        }
        let run = labels[RUN_LABEL].as_str().unwrap();
        assert_eq!(run.len(), 8);
        assert_eq!(pod["metadata"]["name"], format!("meshdoctor-{run}-7"));
        assert_ne!(run_id(), run_id());
    }
}
