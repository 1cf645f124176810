//! Strategic merge patches, as the API server applies them.

use serde_json::{Map, Value, json};

/// The fields that distinguish the items of a list; `None` for lists that are replaced.
fn merge_key(list: &str, item: &Value) -> Option<&'static str> {
    match list {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "env"
        | "webhooks"
        | "imagePullSecrets" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        "hostAliases" => Some("ip"),
        "ownerReferences" => Some("uid"),
        "ports" if item.get("containerPort").is_some() => Some("containerPort"),
        "ports" => Some("port"),
        "secrets" => Some("name"),
        _ => None,
    }
}

/// Applies a patch.
pub fn apply(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if changes.get("$patch") == Some(&json!("replace")) {
        *target = without_directives(patch);
        return;
    }
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(fields) = target else { return };
    if let Some(Value::Array(kept)) = changes.get("$retainKeys") {
        fields.retain(|name, _| kept.iter().any(|known| known == name));
    }
    for (name, change) in changes.iter().filter(|(name, _)| !name.starts_with('$')) {
        match change {
            Value::Null => _ = fields.remove(name),
            Value::Array(items) => {
                let known = fields.entry(name.clone()).or_insert_with(|| json!([]));
                list(name, known, items);
            }
            change => apply(fields.entry(name.clone()).or_insert(Value::Null), change),
        }
    }
}

fn list(name: &str, known: &mut Value, items: &[Value]) {
    let by = items.first().and_then(|item| merge_key(name, item));
    let (Some(by), true) = (by, known.is_array()) else {
        *known = Value::Array(items.iter().map(without_directives).collect());
        return;
    };
    let Value::Array(known) = known else { return };
    for item in items {
        let at = known.iter().position(|known| known[by] == item[by]);
        match (at, item.get("$patch") == Some(&json!("delete"))) {
            (Some(at), true) => _ = known.remove(at),
            (None, true) => {}
            (Some(at), false) => apply(&mut known[at], item),
            (None, false) => known.push(without_directives(item)),
        }
    }
}

fn without_directives(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| !name.starts_with('$') && !value.is_null());
            let kept: Map<String, Value> =
                kept.map(|(name, value)| (name.clone(), without_directives(value))).collect();
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_directives).collect()),
        other => other.clone(),
    }
}
