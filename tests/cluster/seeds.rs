//! A recorded cluster, put on a server, is that cluster again: nothing the checks read has changed on the way.

use std::path::Path;

use serde_json::Value;

use crate::harness::linkerd::recordings;
use crate::harness::objects::ObjectSet;
use crate::harness::seed::of_the_server;
use crate::harness::{Cluster, Options};

#[test]
fn recorded_clusters_come_back_as_they_were() {
    let Some(recordings) = recordings() else { return };
    // A DaemonSet with its history; an aggregated API and custom resources; containers that crash.
    for state in ["healthy-2.18-cni", "healthy-2.18-viz", "policy-container-crashing"] {
        let set = ObjectSet::read(&recordings.join(state).join("cluster.json"));
        assert!(set.objects.iter().any(|object| object["kind"] == "Pod"), "{state} has no pods");
        let Some(cluster) = Cluster::start(Options::still()) else { return };
        cluster.seed(&set);
        let mut changes = Vec::new();
        for object in set.objects.iter().filter(|object| !of_the_server(object)) {
            let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
            let stored = cluster.api.get(&cluster.api.path(object));
            differences(&name, &without_bookkeeping(object), &without_bookkeeping(&stored), &mut changes);
        }
        assert!(changes.is_empty(), "{state}:\n{}", changes.join("\n"));
    }
}

/// The base cluster of the cases is written by hand. A server accepts every field of it and stores it
/// unchanged.
#[test]
fn the_base_of_the_cases_could_be_a_cluster() {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("checks/bases/healthy.yaml");
    let set = ObjectSet::read(&base);
    let Some(cluster) = Cluster::start(Options::still()) else { return };
    cluster.seed(&ObjectSet::read(&base).completed());
    let mut changes = Vec::new();
    for object in &set.objects {
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        let stored = cluster.api.get(&cluster.api.path(object));
        differences(&name, object, &written(object, &stored), &mut changes);
    }
    assert!(changes.is_empty(), "{}", changes.join("\n"));
}

/// The stored value without fields that the writer did not set.
fn written(sketch: &Value, stored: &Value) -> Value {
    match (sketch, stored) {
        (Value::Object(sketch), Value::Object(stored)) => sketch
            .iter()
            .filter_map(|(key, value)| Some((key.clone(), written(value, stored.get(key)?))))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            left.iter().zip(right).map(|(left, right)| written(left, right)).collect()
        }
        _ => stored.clone(),
    }
}

/// Removes metadata of single writes, the server's own findings about aggregated APIs, and the schemas, which
/// recordings lack.
fn without_bookkeeping(object: &Value) -> Value {
    let mut object = object.clone();
    if object["kind"] == "APIService" {
        object["status"] = Value::Null;
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
    }
    for version in object["spec"]["versions"].as_array_mut().into_iter().flatten() {
        if let Some(version) = version.as_object_mut() {
            version.remove("schema");
        }
    }
    object
}

/// Names every place where two values differ.
fn differences(place: &str, recorded: &Value, stored: &Value, changes: &mut Vec<String>) {
    match (recorded, stored) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for key in keys {
                differences(&format!("{place} .{key}"), &recorded[key], &stored[key], changes);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{place} [{index}]"), left, right, changes);
            }
        }
        _ if recorded != stored => changes.push(format!("{place}: recorded {recorded}, stored {stored}")),
        _ => {}
    }
}
