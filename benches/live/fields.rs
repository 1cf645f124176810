//! `managedFields` as API servers keep them: for each writer of an object, the tree of the fields that it
//! set. They are half of a pod's JSON, and no request can omit them.

use serde_json::{Map, Value, json};

/// A writer's name, its subresource, and the parts of the object that it owns.
pub(crate) type Writer = (&'static str, &'static str, &'static [&'static str]);

/// Adds the managed fields of several writers to an object.
pub(crate) fn manage(object: &mut Value, writers: &[Writer]) {
    let entries: Vec<Value> = writers
        .iter()
        .map(|(manager, subresource, parts)| {
            let owned: Map<String, Value> =
                parts.iter().filter_map(|part| Some((format!("f:{part}"), tree(&object[*part])?))).collect();
            let mut entry = json!({
                "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": owned,
                "manager": manager, "operation": "Update", "time": "2026-01-20T01:50:52Z",
            });
            if !subresource.is_empty() {
                entry["subresource"] = json!(subresource);
            }
            entry
        })
        .collect();
    object["metadata"]["managedFields"] = Value::Array(entries);
}

/// The managed fields of a value; `None` if the value is null.
fn tree(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(map) => {
            // Fields that the server sets have no owner.
            let own = |key: &str| matches!(key, "name" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp");
            let metadata = map.contains_key("resourceVersion");
            let fields = map.iter().filter(|(key, _)| !(metadata && own(key)));
            Some(Value::Object(fields.map(|(key, value)| (format!("f:{key}"), inner(value))).collect()))
        }
        other => Some(inner(other)),
    }
}

fn inner(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (format!("f:{key}"), inner(value))).collect())
        }
        Value::Array(items) => {
            let keyed: Option<Map<String, Value>> = items.iter().map(element).collect();
            match keyed {
                Some(mut keyed) if !keyed.is_empty() => {
                    keyed.insert(".".to_owned(), json!({}));
                    Value::Object(keyed)
                }
                _ => json!({}),
            }
        }
        _ => json!({}),
    }
}

/// An element of a list that is merged by key; `None` in lists that are replaced whole.
fn element(item: &Value) -> Option<(String, Value)> {
    let map = item.as_object()?;
    let keys: &[&str] = if map.contains_key("mountPath") {
        &["mountPath"]
    } else if map.contains_key("containerPort") {
        &["containerPort", "protocol"]
    } else {
        let named = ["uid", "name", "ip", "type"].iter().position(|key| map.contains_key(*key))?;
        &["uid", "name", "ip", "type"][named..=named]
    };
    let key: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), map[*key].clone())).collect();
    let mut fields = match inner(item) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.insert(".".to_owned(), json!({}));
    Some((format!("k:{}", Value::Object(key)), Value::Object(fields)))
}
