//! Kubernetes objects in files: manifests, `kubectl get` output, whole clusters as folders.
//!
//! Reading and ordering only; writing them to a server is done elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value;

use super::api::text;

/// A cluster as it lies in a folder.
#[derive(Debug, Default)]
pub struct ObjectSet {
    /// Every object of every file, in the order in which a server can take them.
    pub objects: Vec<Value>,
    /// The server's version from `kubectl version -o json` in the folder, such as `v1.31.5-eks-abcdef0`.
    pub version: Option<String>,
}

/// A private key of an unknown algorithm, as an entry of a Secret, so that it is unknown whether it belongs
/// to a certificate. It replaces the blank keys of recordings, because an empty entry on a server is a broken
/// key.
pub const UNKNOWN_KEY: &str = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1BMENBUUF3QlFZREtnTUVCQUVBCi0tLS0tRU5EIFBS\
     SVZBVEUgS0VZLS0tLS0K";

/// Replaces a blanked private key of a Secret by one of an unknown algorithm.
fn unblank_key(object: &mut Value) {
    if object["kind"] != "Secret" {
        return;
    }
    for name in ["tls.key", "key.pem"] {
        if let Some(key) = object.get_mut("data").and_then(|data| data.get_mut(name)).filter(|key| **key == "") {
            *key = UNKNOWN_KEY.into();
        }
    }
}

impl ObjectSet {
    /// These objects.
    pub fn new(mut objects: Vec<Value>) -> ObjectSet {
        objects.iter_mut().for_each(unblank_key);
        objects.sort_by_key(rank);
        ObjectSet { objects, version: None }
    }

    /// Reads a file, or every YAML and JSON file under a folder, except for `nodes` (snapshots of nodes).
    pub fn read(path: &Path) -> ObjectSet {
        let mut set = ObjectSet::default();
        for file in files(path) {
            for document in documents(&file) {
                set.take(document);
            }
        }
        set.objects.iter_mut().for_each(unblank_key);
        set.objects.sort_by_key(rank);
        set
    }

    fn take(&mut self, document: Value) {
        if let Some(version) = document["serverVersion"]["gitVersion"].as_str() {
            self.version = Some(version.to_owned());
        } else if document["items"].is_array() && text(&document, "kind").ends_with("List") {
            let Value::Object(mut list) = document else { return };
            if let Some(Value::Array(items)) = list.remove("items") {
                self.objects.extend(items.into_iter().filter(is_object));
            }
        } else if is_object(&document) {
            self.objects.push(document);
        }
    }
}

/// The documents of a file; a panic names what cannot be read.
pub fn documents(file: &Path) -> Vec<Value> {
    let content = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if file.extension().is_some_and(|extension| extension == "json") {
        let value = serde_json::from_str(&content);
        return vec![value.unwrap_or_else(|error| panic!("{}: {error}", file.display()))];
    }
    serde_yaml::Deserializer::from_str(&content)
        .map(|document| Value::deserialize(document).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
        .collect()
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let extension = entry.extension().and_then(|extension| extension.to_str());
        if entry.is_dir() && entry.file_name().is_some_and(|name| name != "nodes") {
            found.extend(files(&entry));
        } else if entry.is_file() && matches!(extension, Some("yaml" | "yml" | "json")) {
            found.push(entry);
        }
    }
    found
}

fn is_object(document: &Value) -> bool {
    document["apiVersion"].is_string() && document["kind"].is_string() && document["metadata"].is_object()
}

/// The order in which objects are applied: dependencies first, webhooks last, because they would be called
/// (without an endpoint) for every later object.
pub fn rank(object: &Value) -> usize {
    const ORDER: [&str; 27] = [
        "CustomResourceDefinition",
        "Namespace",
        "PriorityClass",
        "Node",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Secret",
        "LimitRange",
        "ResourceQuota",
        "PodDisruptionBudget",
        "Service",
        "ControllerRevision",
        "CronJob",
        "Job",
        "DaemonSet",
        "StatefulSet",
        "Deployment",
        "ReplicaSet",
        "Pod",
        "Endpoints",
        "EndpointSlice",
        "Lease",
        "Event",
    ];
    let kind = text(object, "kind");
    let last = ["APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
    match (ORDER.iter().position(|one| *one == kind), last.iter().position(|one| *one == kind)) {
        (Some(place), _) => place,
        (None, None) => ORDER.len(),
        (None, Some(place)) => ORDER.len() + 1 + place,
    }
}
