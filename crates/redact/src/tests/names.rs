//! Names of every kind are kept, and secrets in every field are not: the fields are those of the table.

use serde_json::{Map, Value, json};

use super::{kind_rule, mk_jwt, mk_private_key};
use crate::knowledge::{Field, Fields, Knowledge, META, Sort};
use crate::{Rule, object};
use meshdoctor_objects::Kind;

const SHA: &str = "3f786850e387550fdab836ed7e6dc881de23001b";
/// Names of objects that begin with or contain the prefix of a token, or a hash.
const NAMES: [&str; 7] = [
    "pypi-server-prod",
    "xapp-frontend",
    "my-sk-checkout-service-production",
    "gldt-runner",
    "hvs.example-host",
    "pr-3f786850e387550fdab836ed7e6dc881de23001b",
    "etl-load-orders-0123456789abcdef0123456789abcdef",
];

/// An object with a text in each field for which there is one.
fn filled(fields: &Fields, text: &dyn Fn(Sort) -> Option<Value>) -> Value {
    let of_field = |(name, field): &(String, Field)| Some((name.clone(), value(field, text)?));
    Value::Object(fields.0.iter().filter_map(of_field).collect::<Map<_, _>>())
}

fn value(field: &Field, text: &dyn Fn(Sort) -> Option<Value>) -> Option<Value> {
    match field {
        Field::Holds(sort) => text(*sort),
        Field::Each(each) => Some(json!({"any": value(each, text)?})),
        Field::Fields(fields) => Some(filled(fields, text)),
        Field::Part(part) => {
            let parts = &Knowledge::embedded().redaction().parts.0;
            let (_, field) = parts.iter().find(|(name, _)| name == part).expect("a part");
            value(field, text)
        }
    }
}

/// An object of a kind, with its metadata.
fn mk_filled(kind: Kind, text: &dyn Fn(Sort) -> Option<Value>) -> Value {
    let fields = Knowledge::embedded().redaction().fields(kind.info().passes).expect("fields of a kind");
    let mut object = filled(&fields, text);
    object["metadata"] = value(&Field::Part(META.to_owned()), text).expect("metadata");
    object["kind"] = kind.info().kind.into();
    object
}

/// The texts of an object that differ from another one, by their path.
fn changed(before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    match before {
        Value::Object(map) => {
            for (key, value) in map {
                changed(value, after.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"), found);
            }
        }
        _ if before != after => found.push(format!("{path}: {before} -> {after}")),
        _ => {}
    }
}

#[test]
fn names_and_labels_of_every_kind_are_kept() {
    for name in NAMES {
        let text = |sort: Sort| match sort {
            Sort::Object => Some(json!(name)),
            Sort::Label => Some(json!(SHA)),
            Sort::Labels => Some(json!({"app": name, "git-sha": SHA, name: "x"})),
            Sort::Image => Some(json!(format!("registry.example/{name}:{SHA}"))),
            Sort::Selectors => Some(json!(format!("app == '{name}' && sha in {{\"{SHA}\"}}"))),
            Sort::Address => Some(json!(format!("{name}.svc.cluster.local"))),
            Sort::Annotations => Some(json!({"meta.helm.sh/release-name": name})),
            _ => None,
        };
        for kind in Kind::ALL.iter().copied() {
            let before = mk_filled(kind, &text);
            let mut after = before.clone();
            object(kind.info().kind, kind_rule(kind), &mut after);
            let mut found = Vec::new();
            changed(&before, &after, "", &mut found);
            assert!(found.is_empty(), "{kind}: {found:#?}");
        }
    }
}

#[test]
fn secrets_in_any_field_are_removed() {
    let github = ["ghp_", "aB3dE6gH9jK2mN5pQ8rS4tU7vW0xY1zA2bC3"].concat();
    for secret in [mk_jwt(), mk_private_key(), github, "AKIAIOSFODNN7EXAMPLE".to_owned()] {
        let text = |sort: Sort| match sort {
            Sort::Labels | Sort::Annotations => Some(json!({"app": secret, "linkerd.io/x": secret})),
            Sort::Selectors => Some(json!(format!("app == '{secret}'"))),
            _ => Some(json!(secret)),
        };
        for kind in Kind::ALL.iter().copied() {
            let mut value = mk_filled(kind, &text);
            object(kind.info().kind, kind_rule(kind), &mut value);
            let shown = value.to_string();
            let body = secret.lines().nth(1).unwrap_or(&secret);
            assert!(!shown.contains(body), "{kind}: {shown}");
        }
    }
}

/// A field with a name like these holds a name of an object by the rules of the API.
#[test]
fn fields_of_names_have_the_rule_of_names() {
    fn look(fields: &Fields, path: &str, found: &mut Vec<String>) {
        for (name, field) in &fields.0 {
            let path = format!("{path}.{name}");
            let is_name = matches!(name.as_str(), "name" | "namespace" | "generateName" | "serviceAccount")
                || name.ends_with("Name");
            match field {
                Field::Holds(Sort::Text) if is_name => found.push(path),
                Field::Fields(fields) => look(fields, &path, found),
                _ => {}
            }
        }
    }
    let table = Knowledge::embedded().redaction();
    let mut found = Vec::new();
    look(&table.parts, "parts", &mut found);
    for kind in Kind::ALL.iter().copied() {
        look(&table.fields(kind.info().passes).expect("fields"), kind.info().kind, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Different tokens in a label stay different, so that no selector matches another object.
#[test]
fn selector_and_label_have_the_same_marker() {
    let mut pod = json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"build": "AKIAIOSFODNN7EXAMPLE"}}});
    let mut service = json!({"kind": "Service", "spec": {"selector": {"build": "AKIAIOSFODNN7EXAMPLE"}}});
    let mut other = json!({"kind": "Service", "spec": {"selector": {"build": "AKIAIOSFODNN7EXAMPLF"}}});
    super::sanitize(&mut pod);
    super::sanitize(&mut service);
    super::sanitize(&mut other);
    assert_eq!(pod["metadata"]["labels"]["build"], service["spec"]["selector"]["build"]);
    assert_ne!(service, other);
    assert!(!format!("{pod}{service}").contains("AKIA"));
    assert!(matches!(kind_rule(Kind::Service), Rule::Fields(_)));
}
