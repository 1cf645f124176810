//! Completes clusters written by hand: adds the fields that a server requires, and never changes existing
//! ones.

use std::collections::BTreeMap;

use super::objects::UNKNOWN_KEY;
use serde_json::{Value, json};

use super::api::text;
use super::objects::ObjectSet;

impl ObjectSet {
    /// The same cluster, with everything that a server does not do without.
    pub fn completed(mut self) -> ObjectSet {
        let templates = templates(&self.objects);
        for object in &mut self.objects {
            complete(object, &templates);
        }
        self
    }
}

/// The pod templates of workloads, by kind, namespace and name, for the objects that they own.
type Templates = BTreeMap<(String, String, String), Value>;

fn templates(objects: &[Value]) -> Templates {
    let key = |object: &Value| {
        let metadata = &object["metadata"];
        (text(object, "kind").to_owned(), text(metadata, "namespace").to_owned(), text(metadata, "name").to_owned())
    };
    let with = objects.iter().filter(|object| object["spec"]["template"].is_object());
    with.map(|object| (key(object), object["spec"]["template"].clone())).collect()
}

fn complete(object: &mut Value, templates: &Templates) {
    match text(object, "kind") {
        "Deployment" | "DaemonSet" | "StatefulSet" => workload(object, "Always"),
        "ReplicaSet" => {
            if let Some(template) = owner_template(object, templates) {
                fill(&mut object["spec"], "template", template);
            }
            let labels = object["metadata"]["labels"].clone();
            fill(&mut object["spec"], "template", json!({}));
            merge(&mut object["spec"]["template"], "metadata", "labels", &labels);
            workload(object, "Always");
        }
        // The server generates the selector of a Job.
        "Job" => {
            pod_template(&mut object["spec"]["template"], "Never");
            ended(&mut object["status"]);
        }
        "CronJob" => {
            fill(&mut object["spec"], "schedule", json!("0 0 * * *"));
            pod_template(&mut object["spec"]["jobTemplate"]["spec"]["template"], "Never");
        }
        "Pod" => pod(&mut object["spec"], "Always"),
        "Service" => fill(&mut object["spec"], "ports", json!([{ "port": 80 }])),
        "Secret" if object["type"] == "kubernetes.io/tls" => {
            fill(&mut object["data"], "tls.crt", json!(""));
            fill(&mut object["data"], "tls.key", json!(UNKNOWN_KEY));
        }
        // A demo has no keys.
        "Secret" if object["data"].get("crt.pem").is_some() => fill(&mut object["data"], "key.pem", json!(UNKNOWN_KEY)),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
                fill(webhook, "sideEffects", json!("None"));
                fill(webhook, "admissionReviewVersions", json!(["v1"]));
            }
        }
        _ => {}
    }
}

fn owner_template(object: &Value, templates: &Templates) -> Option<Value> {
    let owner = object["metadata"]["ownerReferences"].as_array()?.first()?;
    let namespace = text(&object["metadata"], "namespace").to_owned();
    templates.get(&(text(owner, "kind").to_owned(), namespace, text(owner, "name").to_owned())).cloned()
}

fn workload(object: &mut Value, restart: &str) {
    fill(&mut object["spec"], "template", json!({}));
    let name = object["metadata"]["name"].clone();
    let template = &mut object["spec"]["template"];
    pod_template(template, restart);
    fill(&mut template["metadata"], "labels", json!({ "name": name }));
    let labels = template["metadata"]["labels"].clone();
    fill(&mut object["spec"], "selector", json!({ "matchLabels": labels }));
}

fn pod_template(template: &mut Value, restart: &str) {
    if template["metadata"].is_null() {
        template["metadata"] = json!({});
    }
    pod(&mut template["spec"], restart);
}

fn pod(spec: &mut Value, restart: &str) {
    fill(spec, "restartPolicy", json!(restart));
    fill(spec, "containers", json!([{ "name": "app" }]));
    for list in ["containers", "initContainers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            fill(container, "image", json!("registry.example.com/unnamed:1"));
        }
    }
}

/// Adds the condition that precedes the end of a Job since 1.31.
fn ended(status: &mut Value) {
    let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) else { return };
    for (end, reason) in [("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")] {
        let of = |kind: &str| conditions.iter().position(|condition| condition["type"] == kind);
        if let (Some(place), None) = (of(end), of(reason)) {
            let mut condition = conditions[place].clone();
            condition["type"] = json!(reason);
            conditions.insert(place, condition);
        }
    }
}

/// Sets a missing field.
fn fill(object: &mut Value, field: &str, value: Value) {
    if object[field].is_null() {
        object[field] = value;
    }
}

/// Adds the entries of `more` to the map `object.outer.inner`.
fn merge(object: &mut Value, outer: &str, inner: &str, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        fill(&mut object[outer][inner], key, value.clone());
    }
}
