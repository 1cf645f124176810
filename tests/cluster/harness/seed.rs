//! Puts a cluster on a server exactly as it was found: specs, statuses, owners, uids and times.
//!
//! Each object is applied through the API, so the server refuses impossible ones; each status is written as
//! by its owner. Only server-set fields are restored directly (see `etcd`). Meant for clusters without other
//! writers (`Options::still`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Cluster;
use super::api::text;
use super::objects::ObjectSet;

/// The fields of `metadata` that a client may not send when it creates an object.
const NOT_SENT: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

impl Cluster {
    /// Writes every object of the set; a panic names the first one that the server does not take.
    pub fn seed(&self, set: &ObjectSet) {
        self.create_namespaces(&set.objects);
        let objects: Vec<_> = set.objects.iter().filter(|object| !of_the_server(object)).cloned().collect();
        for object in &objects {
            self.api.create(&to_send(object));
        }
        self.etcd.keep_metadata(&objects);
    }

    /// Dumps without namespaces still have objects in some.
    fn create_namespaces(&self, objects: &[Value]) {
        let named: BTreeSet<_> = objects.iter().map(|object| text(&object["metadata"], "namespace")).collect();
        for name in named.into_iter().filter(|name| !name.is_empty()) {
            self.api.create(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }));
        }
    }
}

/// The Service of the API server itself and its addresses, which every server writes, and corrects, on its own.
pub fn of_the_server(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let kind = matches!(text(object, "kind"), "Service" | "Endpoints" | "EndpointSlice");
    kind && text(metadata, "namespace") == "default" && text(metadata, "name") == "kubernetes"
}

fn to_send(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in NOT_SENT {
            metadata.remove(field);
        }
    }
    if object["kind"] == "CustomResourceDefinition" {
        admit_anything(&mut object);
    }
    object
}

/// Definitions are often recorded without their schemas, which a server insists on.
fn admit_anything(definition: &mut Value) {
    for version in definition["spec"]["versions"].as_array_mut().into_iter().flatten() {
        if version["schema"].is_null() {
            version["schema"] = json!({
                "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            });
        }
    }
}
