//! The pods after a change: pods of unchanged workloads stay, and pods of workloads with a changed template are created
//! from it and injected. A recreated pod keeps its node and its status, so that unrelated problems do not seem fixed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::admit::{Admitting, read};
use super::overlay::over;
use super::{Change, ObjectKey, key};
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::model::injected::MadeBy;
use crate::objects::{Job, PodTemplate, Workload};
use crate::source::Source;

/// Kinds that create pods and are judged by their template.
const MAKERS: [Kind; 4] = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::Job];

/// Number of pods to create for a new workload; more would give the same findings.
const MOST: u64 = 3;

/// A workload by kind, namespace and name.
type Maker = (Kind, ObjectKey);

/// Effect of the set on workloads.
#[derive(Default)]
struct Makers {
    /// Workloads that recreate their pods, after the change.
    again: BTreeMap<Maker, Value>,
    /// Deleted workloads.
    gone: BTreeSet<Maker>,
}

impl<S: Source> Change<'_, S> {
    /// The pods after the change.
    pub(super) async fn pods(&self) -> (Vec<Value>, Fetched) {
        let (before, ended) = self.base_list(Kind::Pod).await;
        let makers = self.makers().await;
        let namespaces_gone = self.namespaces_gone(Kind::Pod).await;
        let bare: BTreeMap<&ObjectKey, &Value> = self.set.of_kind(Kind::Pod).collect();
        let is_unchanged = makers.again.is_empty() && makers.gone.is_empty() && self.set.recreated.is_empty();
        if is_unchanged && bare.is_empty() && namespaces_gone.is_empty() {
            return (before, ended);
        }
        let above = self.replica_sets().await;
        let current = self.current_makers().await;
        let admitting = self.admitting().await;
        let mut known = BTreeSet::new();
        let mut with_pods = BTreeSet::new();
        let mut after = Vec::with_capacity(before.len());
        for pod in before {
            let own = key(&pod, Kind::Pod);
            let maker = maker_of(&pod, &above);
            if namespaces_gone.contains(&own.0) || maker.as_ref().is_some_and(|maker| makers.gone.contains(maker)) {
                continue;
            }
            if let Some(new) = bare.get(&own) {
                let is_exact = self.set.exact.contains(&(Kind::Pod, own.clone()));
                after.push(match is_exact {
                    true => (**new).clone(),
                    false => admitting.admitted(over(Kind::Pod, Some(&pod), new, self.at), None),
                });
                known.insert(own);
                continue;
            }
            let is_recreated = self.set.recreated.contains(&own);
            let of = |maker: &Maker| {
                let recreated = || current.get(maker).filter(|_| is_recreated);
                makers.again.get(maker).or_else(recreated)
            };
            match maker.and_then(|maker| of(&maker).map(|workload| (maker, workload))) {
                None if is_recreated => {}
                None => after.push(pod),
                // A finished pod is not recreated.
                Some(_) if is_finished(&pod) => {}
                Some((maker, workload)) => {
                    after.push(self.made(&admitting, &maker, workload, Some(&pod), 0));
                    with_pods.insert(maker);
                }
            }
        }
        let nodes = self.nodes().await;
        for (maker, workload) in makers.again.iter().filter(|(maker, _)| !with_pods.contains(*maker)) {
            let wanted = match maker.0 {
                Kind::DaemonSet => nodes.len().max(1) as u64,
                _ => workload["spec"]["replicas"].as_u64().unwrap_or(1).min(MOST),
            };
            for at in 0..wanted {
                let mut pod = self.made(&admitting, maker, workload, None, at);
                if let (Kind::DaemonSet, Some(node)) = (maker.0, nodes.get(usize::try_from(at).unwrap_or_default())) {
                    pod["spec"]["nodeName"] = json!(node);
                }
                after.push(pod);
            }
        }
        let new = bare.iter().filter(|(key, _)| !known.contains(**key));
        after.extend(new.map(|(_, new)| {
            let pod = over(Kind::Pod, None, new, self.at);
            running(admitting.admitted(pod, None), self.at.to_string())
        }));
        let ended = match self.ended(Kind::Pod, ended, !after.is_empty()) {
            // Some existing pods belong to workloads of the set.
            Fetched::Missing { reason: Why::NotCaptured } if !after.is_empty() => {
                Fetched::Partial { reasons: vec![Why::PerhapsMore] }
            }
            ended => ended,
        };
        (after, ended)
    }

    /// Effect of the set on each workload.
    async fn makers(&self) -> Makers {
        let mut makers = Makers::default();
        for kind in MAKERS {
            let in_set: Vec<(&ObjectKey, &Value)> = self.set.of_kind(kind).collect();
            if in_set.is_empty() && !self.deletes() {
                continue;
            }
            let (before, _) = self.base_list(kind).await;
            let before: BTreeMap<ObjectKey, Value> =
                before.into_iter().map(|object| (key(&object, kind), object)).collect();
            for (name, new) in in_set {
                let old = before.get(name);
                let is_restarted = self.set.restarted.contains(&(kind, name.clone()));
                let is_changed = old.is_none_or(|old| template(kind, old) != template(kind, new));
                if is_restarted || is_changed {
                    let laid = self.over(kind, (name, old), new);
                    makers.again.insert((kind, name.clone()), laid);
                }
            }
            let gone =
                before.iter().filter(|(name, object)| self.set.get(kind, name).is_none() && self.prunes(kind, object));
            makers.gone.extend(gone.map(|(name, _)| (kind, name.clone())));
        }
        makers
    }

    /// All workloads, if pods are deleted that they create again.
    async fn current_makers(&self) -> BTreeMap<Maker, Value> {
        let mut current = BTreeMap::new();
        if self.set.recreated.is_empty() {
            return current;
        }
        for kind in MAKERS {
            let workloads = self.overlaid(kind).await.0.into_iter();
            current.extend(workloads.map(|workload| ((kind, key(&workload, kind)), workload)));
        }
        current
    }

    /// Whether the workload that creates a pod is known; a pod without an owner has none.
    pub(super) async fn knows_maker(&self, pod: &Value) -> bool {
        if controller(pod).is_none() {
            return true;
        }
        let above = self.replica_sets().await;
        let Some((kind, name)) = maker_of(pod, &above) else { return false };
        self.overlaid(kind).await.0.iter().any(|workload| key(workload, kind) == name)
    }

    /// The Deployment of each ReplicaSet.
    async fn replica_sets(&self) -> BTreeMap<ObjectKey, String> {
        let (sets, _) = self.base_list(Kind::ReplicaSet).await;
        let above = |set: &Value| {
            let (kind, name) = controller(set)?;
            (kind == "Deployment").then_some((key(set, Kind::ReplicaSet), name))
        };
        sets.iter().filter_map(above).collect()
    }

    async fn nodes(&self) -> Vec<String> {
        let (nodes, _) = self.base_list(Kind::Node).await;
        nodes.iter().map(|node| key(node, Kind::Node).1).collect()
    }

    /// A pod of a workload: an existing one, recreated, or a new one.
    fn made(&self, admitting: &Admitting<'_>, maker: &Maker, workload: &Value, onto: Option<&Value>, at: u64) -> Value {
        let (kind, (namespace, name)) = maker;
        let template = &workload["spec"]["template"];
        let info = kind.info();
        let api_version =
            if info.group.is_empty() { info.version.to_owned() } else { format!("{}/{}", info.group, info.version) };
        let moment = self.at.to_string();
        let mut metadata = json!({
            "name": format!("{name}-new-{at}"),
            "namespace": namespace,
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
            "creationTimestamp": moment,
            "ownerReferences": [{"apiVersion": api_version, "kind": info.kind, "name": name, "controller": true}],
        });
        if *kind == Kind::Deployment {
            // A Deployment creates pods through a ReplicaSet that does not exist yet.
            if !metadata["labels"].is_object() {
                metadata["labels"] = json!({});
            }
            metadata["labels"]["pod-template-hash"] = json!("new");
            let owner = &mut metadata["ownerReferences"][0];
            owner["kind"] = json!("ReplicaSet");
            owner["name"] = json!(format!("{name}-new"));
        }
        let mut spec = template["spec"].clone();
        let mut status = Value::Null;
        if let Some(before) = onto {
            for field in ["name", "uid", "ownerReferences"] {
                metadata[field] = before["metadata"][field].clone();
            }
            if let Some(hash) = before["metadata"]["labels"].get("pod-template-hash") {
                metadata["labels"]["pod-template-hash"] = hash.clone();
            }
            spec["nodeName"] = before["spec"]["nodeName"].clone();
            status = before["status"].clone();
        }
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status});
        let made_by = MadeBy { kind: &info.kind.to_ascii_lowercase(), name };
        running(admitting.admitted(pod, Some(made_by)), moment)
    }
}

/// Adds a running status for new parts of a pod. The kubelet's status for other parts stays.
fn running(mut pod: Value, moment: String) -> Value {
    let fresh = pod["status"].get("phase").is_none();
    if !fresh && pod["status"]["phase"] != json!("Running") {
        // A pod that waits today may wait forever: the change may not help.
        return pod;
    }
    let names = |containers: &Value, native: bool| -> Vec<(String, bool)> {
        let all = containers.as_array().into_iter().flatten();
        all.filter_map(|c| Some((c["name"].as_str()?.to_owned(), !native || c["restartPolicy"] == json!("Always"))))
            .collect()
    };
    let lists = [
        ("initContainerStatuses", names(&pod["spec"]["initContainers"], true)),
        ("containerStatuses", names(&pod["spec"]["containers"], false)),
    ];
    if !pod["status"].is_object() {
        pod["status"] = json!({});
    }
    let status = &mut pod["status"];
    for (field, names) in lists {
        let known = status[field].as_array().cloned().unwrap_or_default();
        let statuses = names.into_iter().map(|(name, goes_on)| {
            let same = known.iter().find(|status| status["name"] == json!(name));
            same.map(|status| started(status, &moment)).unwrap_or_else(|| {
                let state = match goes_on {
                    true => json!({"running": {"startedAt": moment}}),
                    false => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
                };
                json!({"name": name, "ready": true, "restartCount": 0, "state": state})
            })
        });
        let statuses: Vec<Value> = statuses.collect();
        status[field] = Value::Array(statuses);
    }
    if fresh {
        status["phase"] = json!("Running");
        status["startTime"] = json!(moment);
        status["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    }
    pod
}

/// The status of a container in a new pod: one that runs and is ready started with the pod.
fn started(status: &Value, moment: &str) -> Value {
    let mut status = status.clone();
    if status["ready"] == json!(true) && status["state"]["running"].is_object() {
        status["state"]["running"]["startedAt"] = json!(moment);
    }
    status
}

fn is_finished(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
}

/// Kind and name of the controlling owner.
fn controller(object: &Value) -> Option<(String, String)> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == json!(true)).or_else(|| owners.first())?;
    Some((owner["kind"].as_str()?.to_owned(), owner["name"].as_str()?.to_owned()))
}

/// The workload of a pod.
fn maker_of(pod: &Value, replica_sets: &BTreeMap<ObjectKey, String>) -> Option<Maker> {
    let (namespace, _) = key(pod, Kind::Pod);
    let (kind, name) = controller(pod)?;
    let kind = match kind.as_str() {
        "ReplicaSet" => {
            let deployment = replica_sets.get(&(namespace.clone(), name.clone())).cloned();
            // If the ReplicaSets are missing, identify them by the pod's hash label.
            let hash = pod["metadata"]["labels"]["pod-template-hash"].as_str();
            let name = deployment.or_else(|| Some(name.strip_suffix(hash?)?.strip_suffix('-')?.to_owned()))?;
            return Some((Kind::Deployment, (namespace, name)));
        }
        "StatefulSet" => Kind::StatefulSet,
        "DaemonSet" => Kind::DaemonSet,
        "Job" => Kind::Job,
        _ => return None,
    };
    Some((kind, (namespace, name)))
}

/// A workload's template in the form that checks read: equal templates create equal pods.
fn template(kind: Kind, workload: &Value) -> Option<PodTemplate> {
    let mut template = match kind {
        Kind::Job => read::<Job>(kind, workload.clone())?.spec.template,
        _ => read::<Workload>(kind, workload.clone())?.spec.template,
    };
    let spec = &mut template.spec;
    // Defaults of the API server.
    if spec.service_account_name.is_empty() {
        spec.service_account_name = "default".into();
    }
    spec.termination_grace_period_seconds.get_or_insert(30);
    if spec.restart_policy.is_empty() {
        spec.restart_policy = "Always".into();
    }
    Some(template)
}
