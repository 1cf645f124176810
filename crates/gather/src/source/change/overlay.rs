//! Overlays an object of the set on the existing one: fields of the set replace existing ones, and identity, status and
//! fields filled in by controllers stay.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::item::Kind;

/// Metadata that the API server keeps.
const IDENTITY: [&str; 5] = ["uid", "creationTimestamp", "resourceVersion", "generation", "managedFields"];

/// An object of the set in place of the existing one, if any.
pub(super) fn over(kind: Kind, before: Option<&Value>, new: &Value, at: Timestamp) -> Value {
    let mut after = new.clone();
    let Some(metadata) = after["metadata"].as_object_mut() else { return after };
    for field in IDENTITY {
        metadata.remove(field);
        if let Some(value) = before.and_then(|before| before["metadata"].get(field)) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    if before.is_none() {
        metadata.insert("creationTimestamp".to_owned(), json!(at.to_string()));
    }
    match before.and_then(|before| before.get("status")) {
        Some(status) => after["status"] = status.clone(),
        None => {
            if let Some(map) = after.as_object_mut() {
                map.remove("status");
            }
        }
    }
    match kind {
        Kind::Namespace => namespace(before, &mut after),
        Kind::Service => keep_defaults(before, &mut after, "spec", &["clusterIP", "clusterIPs", "ipFamilies"]),
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => webhooks(before, &mut after),
        Kind::Deployment | Kind::StatefulSet => replicas(before, &mut after),
        Kind::CustomResourceDefinition => definition(&mut after),
        Kind::Secret => secret(&mut after),
        Kind::APIService if before.is_none() => {
            after["status"] = json!({"conditions": [{"type": "Available", "status": "True"}]});
        }
        _ => {}
    }
    after
}

/// An object after a change of some of its fields.
pub(super) fn in_place(kind: Kind, before: &Value, new: &Value) -> Value {
    let mut after = new.clone();
    if matches!(kind, Kind::Deployment | Kind::StatefulSet) {
        replicas(Some(before), &mut after);
    }
    after
}

/// A namespace has its name as a label. Labels and annotations that the set does not name stay, as with kubectl apply.
fn namespace(before: Option<&Value>, after: &mut Value) {
    for field in ["labels", "annotations"] {
        let mut all = before.and_then(|b| b["metadata"][field].as_object().cloned()).unwrap_or_default();
        if field == "labels" {
            all.insert("kubernetes.io/metadata.name".to_owned(), after["metadata"]["name"].clone());
        }
        all.extend(after["metadata"][field].as_object().cloned().unwrap_or_default());
        after["metadata"][field] = Value::Object(all);
    }
    if after.get("status").is_none() {
        after["status"] = json!({"phase": "Active"});
    }
}

/// Defaults of the API server, for fields that the set omits.
fn keep_defaults(before: Option<&Value>, after: &mut Value, within: &str, fields: &[&str]) {
    let Some(before) = before else { return };
    if !after[within].is_object() {
        return;
    }
    for field in fields {
        if after[within].get(field).is_none()
            && let Some(value) = before[within].get(field)
        {
            after[within][field] = value.clone();
        }
    }
}

/// CA bundles that cert-manager and similar tools inject into webhook configurations.
fn webhooks(before: Option<&Value>, after: &mut Value) {
    let known = before.and_then(|before| before["webhooks"].as_array()).cloned().unwrap_or_default();
    for webhook in after["webhooks"].as_array_mut().into_iter().flatten() {
        let bundle = webhook["clientConfig"]["caBundle"].as_str().unwrap_or_default();
        if !bundle.is_empty() {
            continue;
        }
        let same = known.iter().find(|other| other["name"] == webhook["name"]);
        if let Some(bundle) = same.and_then(|other| other["clientConfig"].get("caBundle")) {
            webhook["clientConfig"]["caBundle"] = bundle.clone();
        }
    }
}

/// Replica counts as requested by the set, if the current ones match the current object; new workloads become ready.
fn replicas(before: Option<&Value>, after: &mut Value) {
    let wanted = |object: &Value| object["spec"]["replicas"].as_u64().unwrap_or(1);
    // If the set omits the number, something else may set it, such as an autoscaler.
    if let Some(before) = before {
        keep_defaults(Some(before), after, "spec", &["replicas"]);
    }
    let now = wanted(after);
    let held = before.is_none_or(|before| before["status"]["readyReplicas"].as_u64().unwrap_or(0) == wanted(before));
    if !held {
        return;
    }
    if !after["status"].is_object() {
        after["status"] = Value::Object(Map::new());
    }
    for field in ["replicas", "readyReplicas", "availableReplicas", "updatedReplicas"] {
        after["status"][field] = json!(now);
    }
}

/// A new DaemonSet runs on every node.
pub(super) fn scheduled(daemon_set: &mut Value, nodes: usize) {
    if daemon_set.get("status").is_some_and(|status| status.get("desiredNumberScheduled").is_some()) {
        return;
    }
    let fields = ["currentNumberScheduled", "desiredNumberScheduled", "numberReady", "numberAvailable"];
    daemon_set["status"] = fields.into_iter().map(|field| (field.to_owned(), json!(nodes))).collect();
}

/// The current storage version is added to the stored versions.
fn definition(after: &mut Value) {
    let versions = after["spec"]["versions"].as_array().into_iter().flatten();
    let storage = versions.filter(|version| version["storage"] == json!(true)).map(|version| version["name"].clone());
    let storage: Vec<Value> = storage.collect();
    let mut stored = after["status"]["storedVersions"].as_array().cloned().unwrap_or_default();
    stored.extend(storage.into_iter().filter(|version| !stored.contains(version)).collect::<Vec<_>>());
    if !after["status"].is_object() {
        after["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
    }
    after["status"]["storedVersions"] = Value::Array(stored);
}

/// `stringData` is stored encoded in `data`.
fn secret(after: &mut Value) {
    use base64::Engine;
    let Some(Value::Object(clear)) = after.as_object_mut().and_then(|map| map.remove("stringData")) else {
        return;
    };
    if !after["data"].is_object() {
        after["data"] = Value::Object(Map::new());
    }
    for (name, text) in clear {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or_default());
        after["data"][name] = json!(encoded);
    }
}
