//! A small cluster that commands change: objects by kind, namespace and name, and a folder for each node.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use meshdoctor::item::Kind;
use meshdoctor::kubectl::{Action, Edit, Target};
use meshdoctor::scene::Scene;
use meshdoctor::source::memory::Memory;
use serde_json::{Map, Value, json};

/// Namespace (empty for cluster-scoped objects) and name.
pub type Key = (String, String);

/// All objects.
pub type Objects = BTreeMap<(Kind, Key), Value>;

/// What `kubectl rollout restart` writes into a template.
const RESTARTED: &str = "kubectl.kubernetes.io/restartedAt";

/// The annotation with the manifest that kubectl applied last.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Results of reading a Secret, which cards write as annotations in place of its data.
const READ: [&str; 2] = ["meshdoctor.io/key-matches", "meshdoctor.io/stored-values"];

/// A cluster with its nodes and the operator's folder.
pub struct World {
    /// The objects as they are now.
    pub objects: Objects,
    /// The objects before the first command.
    begin: Objects,
    /// Release of the operator's linkerd CLI.
    pub cli: String,
    /// Release that a step installed.
    pub installed_cli: Option<String>,
    /// The operator's folder.
    pub folder: PathBuf,
    /// Nodes by name, each with the files of its snapshot.
    pub nodes: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    /// Time of the case, and the same in seconds since 1970.
    pub at: String,
    pub seconds: i64,
    /// DaemonSets and other workloads whose pods were created again, in order.
    pub restarted: Vec<(Kind, Key)>,
    /// The same since the first command.
    pub started: Vec<(Kind, Key)>,
    /// Pods that the operator created again.
    pub by_hand: Vec<Value>,
    /// Certificates whose keys the operator has.
    pub keys: super::authorities::Keys,
    /// The arguments of each call of meshdoctor.
    pub reruns: Vec<Vec<String>>,
    /// Changes of chart values in Git that are not synced.
    pub git: Vec<meshdoctor::finding::ChartSettings>,
    /// Pods that their workload ended without a successor.
    pub ended: BTreeSet<Key>,
}

/// Namespace and name of an object.
pub fn key(kind: Kind, object: &Value) -> Key {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    match (kind.info().namespaced, text("namespace")) {
        (false, _) => (String::new(), text("name")),
        (true, none) if none.is_empty() => ("default".to_owned(), text("name")),
        (true, namespace) => (namespace, text("name")),
    }
}

/// The objects of a source in memory.
pub fn objects(memory: &Memory) -> Objects {
    let all = memory.objects.iter().flat_map(|(kind, all)| all.iter().map(|held| (*kind, held)));
    let read = |(kind, held): (Kind, &meshdoctor::source::memory::StoredObject)| {
        let object: Value = serde_json::from_slice(&held.json).unwrap();
        ((kind, (held.namespace.clone(), held.name.clone())), object)
    };
    all.map(read).collect()
}

impl World {
    pub fn new(scene: &Scene, folder: &Path) -> World {
        let objects = objects(&scene.memory);
        let nodes = scene.memory.nodes.iter().map(|files| (files.node.clone(), files.files.clone())).collect();
        std::fs::write(folder.join("ca.key"), "the key of the trust anchor\n").unwrap();
        let cli = scene.memory.cli_version.clone().unwrap_or_default();
        let begin = objects.clone();
        let at = scene.memory.captured_at.unwrap();
        World {
            at: at.to_string(),
            seconds: at.as_second(),
            objects,
            begin,
            cli,
            installed_cli: None,
            folder: folder.to_owned(),
            nodes,
            restarted: Vec::new(),
            started: Vec::new(),
            by_hand: Vec::new(),
            keys: super::authorities::Keys::default(),
            reruns: Vec::new(),
            git: Vec::new(),
            ended: BTreeSet::new(),
        }
    }

    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(kind, (namespace.to_owned(), name.to_owned())))
    }

    /// An object before the first command.
    pub fn before(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.begin.get(&(kind, (namespace.to_owned(), name.to_owned())))
    }

    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |((of, _), _)| *of == kind).map(|(_, object)| object)
    }

    /// The day of the case.
    pub fn day(&self) -> String {
        self.at[..10].to_owned()
    }

    /// The pods before the first command.
    pub fn begin_pods(&self) -> impl Iterator<Item = &Value> {
        self.begin.iter().filter(|((kind, _), _)| *kind == Kind::Pod).map(|(_, pod)| pod)
    }

    /// The deleted pods.
    pub fn gone_pods(&self) -> Vec<Value> {
        let gone = |of: &(Kind, Key)| of.0 == Kind::Pod && !self.objects.contains_key(of);
        self.begin.iter().filter(|(of, _)| gone(of)).map(|(_, pod)| pod.clone()).collect()
    }

    /// The pods before the first command that were created again since.
    pub fn is_new(&self, pod: &Value) -> bool {
        let Some((namespace, name)) = pod["metadata"]["namespace"].as_str().zip(pod["metadata"]["name"].as_str())
        else {
            return false;
        };
        let gone = !self.objects.contains_key(&(Kind::Pod, (namespace.to_owned(), name.to_owned())));
        gone || self.started.iter().any(|(_, (of, workload))| {
            of == namespace && name.strip_prefix(workload.as_str()).is_some_and(|rest| rest.starts_with('-'))
        })
    }

    /// The garbage collector deletes the Jobs of a deleted CronJob.
    pub fn collect_jobs(&mut self, (kind, (namespace, name)): &(Kind, Key)) {
        if *kind != Kind::CronJob {
            return;
        }
        self.objects.retain(|(of, (home, _)), object| {
            let owner = &object["metadata"]["ownerReferences"][0];
            *of != Kind::Job || home != namespace || owner["kind"] != "CronJob" || owner["name"] != name.as_str()
        });
    }

    /// The clock of a node is correct: its kubelet reports by it from now on.
    pub fn synchronized(&mut self, node: &str) {
        let at = self.at.clone();
        if let Some(object) = self.objects.get_mut(&(Kind::Node, (String::new(), node.to_owned()))) {
            for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
                if condition.get("lastHeartbeatTime").is_some() {
                    condition["lastHeartbeatTime"] = json!(at);
                }
            }
        }
        let lease = (Kind::Lease, ("kube-node-lease".to_owned(), node.to_owned()));
        if let Some(lease) = self.objects.get_mut(&lease) {
            lease["spec"]["renewTime"] = json!(at);
        }
    }

    /// Stores an object.
    pub fn put(&mut self, kind: Kind, mut object: Value) {
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.remove(APPLIED);
        }
        if kind == Kind::ExternalWorkload && object["apiVersion"] == "workload.linkerd.io/v1beta1" {
            // The schema of v1beta1 does not have the older name.
            object["spec"].as_object_mut().map(|spec| spec.remove("meshTls"));
        }
        let key = (kind, key(kind, &object));
        let before = self.objects.get(&key);
        if kind == Kind::Secret {
            stored_secret(before, &mut object);
        }
        if before.is_some_and(|before| template(before) != template(&object)) {
            self.restarted.push(key.clone());
            self.started.push(key.clone());
        }
        self.objects.insert(key, object);
    }

    /// Applies a manifest, as `kubectl apply` merges it.
    pub fn apply(&mut self, object: &Value) {
        let Some(kind) = kind_of(object) else { return };
        let key = (kind, key(kind, object));
        match self.objects.get(&key) {
            None => self.put(kind, object.clone()),
            Some(before) => {
                let mut after = before.clone();
                super::strategic::apply(&mut after, object);
                self.put(kind, after);
            }
        }
    }

    /// Workloads that had no replica and have some now.
    pub fn scaled_up(&self) -> Vec<(Kind, Value)> {
        let is_stopped = |workload: &Value| workload["spec"]["replicas"] == 0;
        let workloads = self.objects.iter().filter(|(of, object)| {
            let before = self.begin.get(*of);
            is_workload(of.0) && before.is_some_and(is_stopped) && !is_stopped(object)
        });
        workloads.map(|((kind, _), object)| (*kind, object.clone())).collect()
    }

    /// The effects of all commands so far on the objects of the beginning.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        let has_ended = |(kind, key): &(Kind, Key)| *kind == Kind::Pod && self.ended.contains(key);
        for (of, before) in self.begin.iter().filter(|(of, _)| !has_ended(of)) {
            let (kind, (namespace, name)) = of;
            let target = Target { kind: *kind, namespace: namespace.clone(), names: vec![name.clone()] };
            match self.objects.get(of) {
                None => actions.push(Action::Delete { target, must_exist: true }),
                Some(after) if after == before => {}
                Some(after)
                    if is_workload(*kind) && before["spec"]["replicas"] == 0 && after["spec"]["replicas"] != 0 =>
                {
                    actions.push(Action::Restart(target));
                }
                Some(after) if without_restart(after) == *before => actions.push(Action::Restart(target)),
                Some(after) => {
                    let edit = Edit::Merge(difference(before, after));
                    actions.push(Action::Edit { target: target.clone(), edit });
                    if after.pointer(&format!("/spec/template/metadata/annotations/{}", escaped())).is_some() {
                        actions.push(Action::Restart(target));
                    }
                }
            }
        }
        let created = self.objects.iter().filter(|(of, _)| !self.begin.contains_key(*of));
        actions.extend(created.map(|((kind, _), object)| Action::Create(*kind, object.clone())));
        // Objects first, then pods, which are created from the changed objects.
        actions.sort_by_key(|action| match action {
            Action::Delete { target, .. } if target.kind == Kind::Pod => 2,
            Action::Restart(_) => 1,
            _ => 0,
        });
        actions
    }
}

fn is_workload(kind: Kind) -> bool {
    matches!(kind, Kind::Deployment | Kind::StatefulSet)
}

fn escaped() -> String {
    RESTARTED.replace('/', "~1")
}

/// An object of Linkerd as the API server returns it: with the manifest of its installation. Webhook configurations may
/// have been changed since, so their manifest is unknown.
pub fn with_applied(kind: Kind, mut object: Value) -> Value {
    let is_ours = ["linkerd.io/control-plane-ns", "linkerd.io/extension", "linkerd.io/cni-resource"]
        .iter()
        .any(|label| object["metadata"]["labels"].get(*label).is_some());
    let is_kept = matches!(kind, Kind::Deployment | Kind::DaemonSet | Kind::ConfigMap | Kind::Secret);
    if is_ours && is_kept {
        let mut manifest = object.clone();
        manifest.as_object_mut().unwrap().remove("status");
        if !object["metadata"]["annotations"].is_object() {
            object["metadata"]["annotations"] = json!({});
        }
        object["metadata"]["annotations"][APPLIED] = json!(manifest.to_string());
    }
    object
}

/// The kind of a manifest.
pub fn kind_of(object: &Value) -> Option<Kind> {
    Kind::of_manifest(object["apiVersion"].as_str()?, object["kind"].as_str()?)
}

fn template(object: &Value) -> &Value {
    &object["spec"]["template"]
}

/// The object without the mark of a restart.
fn without_restart(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(metadata) = object.pointer_mut("/spec/template/metadata").and_then(Value::as_object_mut) else {
        return object;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(RESTARTED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    if metadata.is_empty()
        && let Some(template) = object.pointer_mut("/spec/template").and_then(Value::as_object_mut)
    {
        template.remove("metadata");
    }
    object
}

/// The JSON merge patch from one value to another.
fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return after.clone() };
    let mut patch = Map::new();
    for (field, old) in before {
        match after.get(field) {
            None => _ = patch.insert(field.clone(), Value::Null),
            Some(new) if new == old => {}
            Some(new) => _ = patch.insert(field.clone(), difference(old, new)),
        }
    }
    for (field, new) in after.iter().filter(|(field, _)| !before.contains_key(*field)) {
        patch.insert(field.clone(), new.clone());
    }
    Value::Object(patch)
}

/// `stringData` is stored in `data`; the results of reading earlier data are void.
fn stored_secret(before: Option<&Value>, secret: &mut Value) {
    use base64::Engine as _;
    if let Some(Value::Object(texts)) = secret.as_object_mut().and_then(|secret| secret.remove("stringData")) {
        for (name, text) in texts {
            let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or_default());
            secret["data"][name] = json!(encoded);
        }
    }
    if before.is_some_and(|before| before["data"] == secret["data"]) {
        return;
    }
    if let Some(annotations) = secret["metadata"]["annotations"].as_object_mut() {
        READ.iter().for_each(|name| _ = annotations.remove(*name));
    }
}
