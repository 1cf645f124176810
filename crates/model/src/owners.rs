//! From a pod to its top-level owner: the Deployment rather than the ReplicaSet, the CronJob rather than
//! its Job. Uses only metadata; lists of ReplicaSets and Jobs are optional and make the result more
//! reliable.

use std::collections::HashMap;
use std::fmt;

use crate::finding::Subject;
use crate::objects::{Job, Meta, Pod, Workload};

/// The top-level owner of a pod: a Deployment, StatefulSet, DaemonSet, CronJob, Job, Rollout, or the pod
/// itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// `Deployment shop/web`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl Owner {
    /// The owner as a finding's subject; `pods` are the affected pods.
    pub fn subject(&self, mut pods: Vec<String>) -> Subject {
        // A pod without an owner is its own subject.
        if self.kind == "Pod" {
            pods.clear();
        }
        pods.sort();
        Subject::Object { kind: self.kind.clone(), namespace: self.namespace.clone(), name: self.name.clone(), pods }
    }

    /// The place of settings for its pods: `the pod template of Deployment shop/web`.
    pub fn template(&self) -> String {
        match self.kind.as_str() {
            "Pod" => format!("the manifest of {self}"),
            "Node" => format!("the manifest of the static pod on node {}", self.name),
            _ => format!("the pod template of {self}"),
        }
    }

    /// The argument for `kubectl rollout restart`: `deployment/web`; `None` if it cannot restart the owner.
    pub fn restartable(&self) -> Option<String> {
        match self.kind.as_str() {
            "Deployment" | "StatefulSet" | "DaemonSet" => {
                Some(format!("{}/{}", self.kind.to_ascii_lowercase(), self.name))
            }
            _ => None,
        }
    }
}

/// Kinds of controllers that create a deleted pod again, whatever its work: of Kubernetes, Argo Rollouts, OpenKruise
/// and OpenShift.
const RECREATE: [&str; 8] = [
    "ReplicaSet",
    "ReplicationController",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Rollout",
    "CloneSet",
    "DeploymentConfig",
];

impl Owner {
    /// Whether it is known to create deleted pods again. Others, such as a Workflow, may end as failed.
    pub fn recreates_pods(&self) -> bool {
        RECREATE.contains(&self.kind.as_str())
    }
}

/// Index of ReplicaSets and Jobs by owner.
#[derive(Debug, Default)]
pub struct Owners<'a> {
    replica_sets: HashMap<(&'a str, &'a str), &'a Meta>,
    jobs: HashMap<(&'a str, &'a str), &'a Meta>,
}

impl<'a> Owners<'a> {
    /// Builds the index. Pass empty lists for kinds that were not collected.
    pub fn new(replica_sets: &'a [Workload], jobs: &'a [Job]) -> Owners<'a> {
        let key = |meta: &'a Meta| ((meta.namespace.as_str(), meta.name.as_str()), meta);
        Owners {
            replica_sets: replica_sets.iter().map(|set| key(&set.metadata)).collect(),
            jobs: jobs.iter().map(|job| key(&job.metadata)).collect(),
        }
    }

    /// The top-level owner of a pod.
    pub fn owner(&self, pod: &Pod) -> Owner {
        let meta = &pod.metadata;
        let owner = |kind: &str, name: &str| Owner {
            kind: kind.to_owned(),
            namespace: meta.namespace.to_string(),
            name: name.to_owned(),
        };
        let Some(direct) = meta.controller() else { return owner("Pod", &meta.name) };
        let key = (meta.namespace.as_str(), direct.name.as_str());
        match direct.kind.as_str() {
            "ReplicaSet" => match self.replica_sets.get(&key) {
                Some(set) => set
                    .controller()
                    .map_or_else(|| owner("ReplicaSet", &direct.name), |above| owner(&above.kind, &above.name)),
                None => above_replica_set(meta, &direct.name)
                    .map_or_else(|| owner("ReplicaSet", &direct.name), |(kind, name)| owner(kind, name)),
            },
            "Job" => match self.jobs.get(&key).and_then(|job| job.controller()) {
                Some(above) => owner(&above.kind, &above.name),
                None => owner("Job", &direct.name),
            },
            kind => owner(kind, &direct.name),
        }
    }
}

/// The workload of a pod without other objects: its controller, or the Deployment or Rollout above a ReplicaSet by the
/// naming of its pods.
pub fn workload_of(pod: &Meta) -> Option<(&str, &str)> {
    let direct = pod.controller()?;
    match direct.kind.as_str() {
        "ReplicaSet" => above_replica_set(pod, &direct.name).or(Some(("ReplicaSet", &direct.name))),
        kind => Some((kind, &direct.name)),
    }
}

/// The owner of a ReplicaSet that was not collected: the name ends with the hash that Deployments and
/// Rollouts add, and the pod has it as a label.
fn above_replica_set<'n>(pod: &Meta, replica_set: &'n str) -> Option<(&'static str, &'n str)> {
    [("rollouts-pod-template-hash", "Rollout"), ("pod-template-hash", "Deployment")].into_iter().find_map(
        |(label, kind)| {
            let name = replica_set.strip_suffix(pod.label(label)?)?.strip_suffix('-')?;
            (!name.is_empty()).then_some((kind, name))
        },
    )
}

/// An id of the template that a pod was created from: the ReplicaSet and its hash, or the revision of a
/// StatefulSet or DaemonSet.
pub fn generation(pod: &Pod) -> String {
    let meta = &pod.metadata;
    let direct = meta.controller().map_or("", |owner| owner.name.as_str());
    let hash = meta.label("pod-template-hash").or_else(|| meta.label("controller-revision-hash"));
    format!("{direct}\0{}", hash.unwrap_or_default())
}

/// Whether it is a static pod: the kubelet creates it from a file, and the API server only mirrors it, so
/// webhooks cannot change it.
pub fn is_static(pod: &Pod) -> bool {
    pod.metadata.controller().is_some_and(|owner| owner.kind == "Node")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(owner: Option<(&str, &str)>, labels: &[(&str, &str)]) -> Pod {
        let owners: Vec<_> = owner
            .map(|(kind, name)| serde_json::json!({"kind": kind, "name": name, "controller": true}))
            .into_iter()
            .collect();
        let labels: serde_json::Map<String, serde_json::Value> =
            labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).into())).collect();
        serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "shop", "name": "p", "labels": labels, "ownerReferences": owners}
        }))
        .expect("a pod")
    }

    fn owner_and_pod(owners: &Owners<'_>, pod: &Pod) -> (String, String) {
        let owner = owners.owner(pod);
        (owner.kind, owner.name)
    }

    #[test]
    fn pods_are_named_by_their_top_owner() {
        let set: Workload = serde_json::from_value(serde_json::json!({"metadata": {
            "namespace": "shop", "name": "web-abc",
            "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]
        }}))
        .expect("a ReplicaSet");
        let job: Job = serde_json::from_value(serde_json::json!({"metadata": {
            "namespace": "shop", "name": "nightly-28",
            "ownerReferences": [{"kind": "CronJob", "name": "nightly", "controller": true}]
        }}))
        .expect("a Job");
        let (sets, jobs) = ([set], [job]);
        let owners = Owners::new(&sets, &jobs);
        let said = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        assert_eq!(owner_and_pod(&owners, &pod(Some(("ReplicaSet", "web-abc")), &[])), said("Deployment", "web"));
        assert_eq!(owner_and_pod(&owners, &pod(Some(("Job", "nightly-28")), &[])), said("CronJob", "nightly"));
        assert_eq!(owner_and_pod(&owners, &pod(Some(("Job", "once")), &[])), said("Job", "once"));
        assert_eq!(owner_and_pod(&owners, &pod(Some(("StatefulSet", "db")), &[])), said("StatefulSet", "db"));
        assert_eq!(owner_and_pod(&owners, &pod(None, &[])), said("Pod", "p"));
    }

    #[test]
    fn hash_leads_to_the_owner_of_an_unknown_replica_set() {
        let none = Owners::default();
        let said = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let by_hash = pod(Some(("ReplicaSet", "web-v2-5d9f")), &[("pod-template-hash", "5d9f")]);
        assert_eq!(owner_and_pod(&none, &by_hash), said("Deployment", "web-v2"));
        let rollout = pod(Some(("ReplicaSet", "web-5d9f")), &[("rollouts-pod-template-hash", "5d9f")]);
        assert_eq!(owner_and_pod(&none, &rollout), said("Rollout", "web"));
        assert_eq!(owner_and_pod(&none, &pod(Some(("ReplicaSet", "web-5d9f")), &[])), said("ReplicaSet", "web-5d9f"));
    }
}
