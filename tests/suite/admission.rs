//! The answers of a real validating webhook and a real API server to recorded objects, compared with the model of validating
//! admission. The recordings are outside of the repository (`MESHDOCTOR_POLICY_RECORDINGS`, by default next to it).

use std::collections::BTreeSet;
use std::path::Path;

use meshdoctor::item::Kind;
use meshdoctor::knowledge::{AdmissionRule as Rule, Knowledge, Schema};
use meshdoctor::model::validation::{RejectedBy, Rejection, Validation};
use meshdoctor::objects::rule;
use meshdoctor::redact;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::policies::recordings;

/// Parts of the webhook's messages, and the rule that they belong to.
const MESSAGES: [(&str, Rule); 22] = [
    ("only a single", Rule::Authentications),
    ("may not be set together", Rule::Authentications),
    ("unsupported authentication kind", Rule::Authentications),
    ("cannot target another namespace", Rule::TargetNamespace),
    ("targetRef kind: HTTPRoute.gateway", Rule::TargetHttpRoute),
    ("targetRef kind: Service.core", Rule::RateLimitTarget),
    ("without specifying a port", Rule::EgressPort),
    (" is invalid: ", Rule::Identity),
    ("is cluster-scoped", Rule::IdentityReference),
    ("invalid identity target kind", Rule::IdentityReference),
    ("does not include exception", Rule::Network),
    ("completely negated", Rule::Network),
    ("untagged enum Cidr", Rule::Network),
    ("at least one network", Rule::NetworksEmpty),
    ("invalid retry condition", Rule::RetryAnnotation),
    ("paths must be absolute", Rule::RouteMatch),
    ("regex parse error", Rule::RouteMatch),
    ("'accessPolicy' field", Rule::ServerAccessPolicy),
    ("enum Selector", Rule::ServerUnreadable),
    ("enum Port", Rule::ServerUnreadable),
    ("must be greater than 0", Rule::RateLimitNumber),
    ("unauthenticated", Rule::Client),
];

/// Parts of the API server's messages, and the beginning of the reason that the schema gives.
const SCHEMA_MESSAGES: [(&str, &str); 5] = [
    ("must validate one and only one schema", "it must have exactly one of"),
    ("should match", "does not match"),
    ("should have at least 1 items", "it must have at least 1 item"),
    ("Required value", "it is required"),
    ("Unsupported value", "is not one of"),
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn objects(folder: &Path) -> Vec<Value> {
    let path = folder.join("objects.yaml");
    if !path.is_file() {
        return Vec::new();
    }
    let text = read(&path);
    let each = serde_yaml::Deserializer::from_str(&text);
    each.map(|one| Value::deserialize(one).unwrap()).filter(|one| !one.is_null()).collect()
}

/// Kind, namespace and name, as in the recorded answers.
fn key(object: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = if object["metadata"].is_object() { &object["metadata"] } else { object };
    (text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"]))
}

/// The answers to an object: several objects of a set may have the same name, one after the other.
fn answers<'a>(list: &'a Value, object: &Value) -> Vec<&'a Value> {
    let group = |one: &Value| one["apiVersion"].as_str().unwrap_or_default().split('/').next().unwrap().to_owned();
    let is_about =
        |one: &&Value| key(one) == key(object) && (one["apiVersion"].is_null() || group(one) == group(object));
    list.as_array().into_iter().flatten().filter(is_about).collect()
}

fn describe(rejections: &[Rejection]) -> String {
    rejections.iter().map(|one| format!("{}: {}", one.path, one.reason)).collect::<Vec<_>>().join("; ")
}

#[test]
fn webhook_answers_match_recorded_ones() {
    let (mut wrong, mut compared, mut denied) = (Vec::new(), 0, 0);
    for folder in recordings() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let truth: Value = serde_json::from_str(&read(&folder.join("truth.json"))).unwrap();
        let version = if truth["linkerd"] == "2.18" { "edge-25.4.4" } else { "edge-26.8.3" }.parse().unwrap();
        let validation = Validation::new(Some(&version), Knowledge::embedded());
        let mut seen = BTreeSet::new();
        for object in objects(&folder) {
            let at = object["apiVersion"].as_str().unwrap();
            let Some(kind) = Kind::of_manifest(at, object["kind"].as_str().unwrap()) else { continue };
            let all = answers(&truth["admission"], &object);
            // Of several objects with one name, each answer is to the object in the same place.
            let place = seen.iter().filter(|(other, _)| *other == key(&object)).count();
            seen.insert((key(&object), place));
            let Some(recorded) = all.get(place) else { continue };
            compared += 1;
            let answer = validation.webhook(kind, &object);
            let message = recorded["message"].as_str().unwrap_or_default();
            let fits = match (&answer, recorded["allowed"] == true) {
                (None, true) => true,
                (Some(answer), false) => {
                    denied += 1;
                    let rules: Vec<Rule> =
                        MESSAGES.iter().filter(|(part, _)| message.contains(part)).map(|(_, rule)| *rule).collect();
                    answer.by == RejectedBy::PolicyValidator
                        && answer.rule.is_some_and(|rule| rules.first() == Some(&rule))
                }
                _ => false,
            };
            if !fits {
                let ours = describe(answer.as_slice());
                wrong.push(format!("{name} {:?}\n  ours   {ours}\n  theirs {message}", key(&object)));
            }
        }
    }
    assert!(recordings().is_empty() || (compared > 200 && denied > 20), "{compared} compared, {denied} denied");
    assert!(wrong.is_empty(), "{} of {compared} answers differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn schema_answers_match_recorded_ones() {
    let (mut wrong, mut compared, mut rejected) = (Vec::new(), 0, 0);
    for folder in recordings() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let truth: Value = serde_json::from_str(&read(&folder.join("truth.json"))).unwrap();
        let version = if truth["linkerd"] == "2.18" { "edge-25.4.4" } else { "edge-26.8.3" }.parse().unwrap();
        let validation = Validation::new(Some(&version), Knowledge::embedded());
        let all = objects(&folder);
        for object in &all {
            let at = object["apiVersion"].as_str().unwrap();
            let Some(kind) = Kind::of_manifest(at, object["kind"].as_str().unwrap()) else { continue };
            let found = validation.schema(kind, object);
            let twins = all.iter().filter(|other| key(other) == key(object)).count();
            let recorded = answers(&truth["api_rejected"], object);
            compared += 1;
            let message = recorded.first().and_then(|one| one["message"].as_str()).unwrap_or_default();
            let wanted = SCHEMA_MESSAGES.iter().filter(|(part, _)| message.contains(part));
            let fits = match (found.is_empty(), recorded.is_empty()) {
                (true, true) => true,
                // Another object of the name was rejected.
                (true, false) => twins > recorded.len(),
                (false, false) => {
                    rejected += 1;
                    wanted.into_iter().all(|(_, reason)| {
                        found.iter().any(|one| one.reason.contains(reason) || reason.starts_with("it is required"))
                    })
                }
                (false, true) => false,
            };
            if !fits {
                wrong.push(format!("{name} {:?}\n  ours   {}\n  theirs {message}", key(object), describe(&found)));
            }
        }
    }
    assert!(recordings().is_empty() || (compared > 200 && rejected > 10), "{compared} compared, {rejected} rejected");
    assert!(wrong.is_empty(), "{} of {compared} answers differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn resources_of_the_rules_are_known_kinds() {
    for resource in Knowledge::embedded().admission().resources() {
        assert!(resource.parse::<Kind>().is_ok_and(|kind| kind.resource() == resource), "{resource}");
    }
}

/// Every field that a CRD of a release has must be known, so that no valid object is reported.
#[test]
fn schemas_know_every_field_of_the_definitions() {
    let Some(folder) = crate::installs::manifests() else { return };
    let Ok(releases) = std::fs::read_dir(&folder) else { return };
    let (mut unknown, mut compared) = (Vec::new(), 0);
    for release in releases.flatten().map(|entry| entry.path()) {
        let Ok(text) = std::fs::read_to_string(release.join("crds.yaml")) else { continue };
        let documents = text.split("\n---\n").filter_map(|text| serde_yaml::from_str::<Value>(text).ok());
        for definition in documents.filter(|one| one["kind"] == "CustomResourceDefinition") {
            let resource = definition["metadata"]["name"].as_str().unwrap();
            for version in definition["spec"]["versions"].as_array().unwrap() {
                let name = version["name"].as_str().unwrap();
                let Some(known) = Knowledge::embedded().admission().schema(resource, name) else { continue };
                compared += 1;
                let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
                let place = format!("{} {resource} {name} spec", release.display());
                differences(&known.spec, spec, &place, &mut unknown);
            }
        }
    }
    assert!(compared > 50, "{compared} compared");
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

fn differences(known: &Schema, written: &Value, place: &str, unknown: &mut Vec<String>) {
    if let Some(items) = &known.items {
        return differences(items, &written["items"], &format!("{place}[]"), unknown);
    }
    for (name, field) in written["properties"].as_object().into_iter().flatten() {
        match known.fields.get(name) {
            Some(of_field) => differences(of_field, field, &format!("{place}.{name}"), unknown),
            None if known.fields.is_empty() => {}
            None => unknown.push(format!("{place}.{name}")),
        }
    }
}

/// A value of a schema, with the permitted texts at a position in their lists.
fn example(schema: &Schema, at: usize) -> Value {
    match (&schema.items, schema.texts.len()) {
        (Some(items), _) => json!([example(items, at)]),
        (None, 0) => schema.fields.iter().map(|(name, field)| (name.clone(), example(field, at))).collect(),
        (None, count) => json!(schema.texts[at % count]),
    }
}

fn texts<'a>(value: &'a Value, place: &str, found: &mut Vec<(String, &'a str)>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| texts(value, &format!("{place}.{name}"), found)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, place, found)),
        Value::String(text) => found.push((place.to_owned(), text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A redacted value of an enumeration would look like an invalid one.
#[test]
fn permitted_values_of_fields_are_never_redacted() {
    let rules = Knowledge::embedded().admission();
    let (mut lost, mut compared) = (BTreeSet::new(), 0);
    for resource in rules.resources() {
        let kind: Kind = resource.parse().unwrap();
        for version in rules.versions(resource) {
            let schema = rules.schema(resource, version).unwrap();
            for at in 0..8 {
                let mut object = json!({"spec": example(&schema.spec, at)});
                redact::object(kind.info().kind, rule(kind), &mut object);
                let mut found = Vec::new();
                texts(&object["spec"], "spec", &mut found);
                compared += found.len();
                lost.extend(
                    found
                        .into_iter()
                        .filter(|(_, text)| redact::is_marked(text))
                        .map(|(place, _)| format!("{resource} {place}")),
                );
            }
        }
    }
    assert!(compared > 500, "{compared}");
    assert_eq!(lost, BTreeSet::new());
}
