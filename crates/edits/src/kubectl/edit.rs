//! Changes of an object, as the API server makes them.

use serde_json::{Map, Value, json};

use super::Edit;

impl Edit {
    /// The object after the change.
    ///
    /// # Errors
    /// The API server or kubectl would refuse the change, with the reason.
    pub fn apply(&self, object: &Value) -> Result<Value, String> {
        let mut after = object.clone();
        match self {
            Edit::Metadata { field, changes, overwrite } => metadata(&mut after, field, changes, *overwrite)?,
            Edit::Merge(patch) => merge(&mut after, patch),
            Edit::Strategic(patch) => strategic(&mut after, patch)?,
            Edit::Json(operations) => {
                operations.iter().try_for_each(|operation| json_patch(&mut after, operation))?;
            }
            Edit::Env(changes) => env(&mut after, changes)?,
        }
        Ok(after)
    }
}

fn metadata(
    object: &mut Value,
    field: &str,
    changes: &[(String, Option<String>)],
    overwrite: bool,
) -> Result<(), String> {
    if !object["metadata"][field].is_object() {
        object["metadata"][field] = Value::Object(Map::new());
    }
    let Some(entries) = object["metadata"][field].as_object_mut() else { return Ok(()) };
    for (key, value) in changes {
        match value {
            None => {
                entries.remove(key);
            }
            Some(value) => {
                let other = entries.get(key).filter(|known| known.as_str() != Some(value));
                if other.is_some() && !overwrite {
                    return Err(format!("kubectl refuses to replace {key} without --overwrite"));
                }
                entries.insert(key.clone(), json!(value));
            }
        }
    }
    if entries.is_empty()
        && let Some(metadata) = object["metadata"].as_object_mut()
    {
        metadata.remove(field);
    }
    Ok(())
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(fields) = target else { return };
    for (key, change) in changes {
        match change {
            Value::Null => {
                fields.remove(key);
            }
            change => merge(fields.entry(key.clone()).or_insert(Value::Null), change),
        }
    }
}

/// The key by which a list of built-in kinds is merged; `None` if a patch replaces the list.
fn merge_key(list: &str) -> Option<&'static str> {
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
        _ => None,
    }
}

fn strategic(target: &mut Value, patch: &Value) -> Result<(), String> {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(fields) = target else { return Ok(()) };
    for (key, change) in changes {
        if key.starts_with('$') {
            return Err(format!("the directive {key} of strategic patches is not interpreted"));
        }
        match (change, merge_key(key)) {
            (Value::Null, _) => {
                fields.remove(key);
            }
            (Value::Array(items), Some(by)) => {
                let list = fields.entry(key.clone()).or_insert_with(|| json!([]));
                let Value::Array(list) = list else { return Err(format!("{key} is not a list")) };
                for item in items {
                    match list.iter_mut().find(|known| known[by] == item[by]) {
                        Some(known) => strategic(known, item)?,
                        None => list.push(item.clone()),
                    }
                }
            }
            (Value::Array(_), None) if key == "ports" => {
                return Err("a strategic patch of ports is not interpreted".to_owned());
            }
            (change, _) => strategic(fields.entry(key.clone()).or_insert(Value::Null), change)?,
        }
    }
    Ok(())
}

/// One operation of RFC 6902.
fn json_patch(object: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |key: &str| operation[key].as_str().unwrap_or_default();
    let (verb, path) = (text("op"), text("path"));
    if verb == "test" {
        let holds = object.pointer(path).unwrap_or(&Value::Null) == &operation["value"];
        return if holds { Ok(()) } else { Err(format!("{path} has another value")) };
    }
    let (parent, key) = path.rsplit_once('/').ok_or_else(|| format!("{path:?} is not a path"))?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let missing = || format!("{path} does not exist");
    let value = &operation["value"];
    match (object.pointer_mut(parent).ok_or_else(missing)?, verb) {
        (Value::Object(fields), "add") => {
            fields.insert(key, value.clone());
        }
        (Value::Object(fields), "replace") => *fields.get_mut(&key).ok_or_else(missing)? = value.clone(),
        (Value::Object(fields), "remove") => {
            fields.remove(&key).ok_or_else(missing)?;
        }
        (Value::Array(items), "add") if key == "-" => items.push(value.clone()),
        (Value::Array(items), verb) => {
            let at = key.parse::<usize>().ok().filter(|at| *at < items.len() + usize::from(verb == "add"));
            let at = at.ok_or_else(missing)?;
            match verb {
                "add" => items.insert(at, value.clone()),
                "replace" => items[at] = value.clone(),
                "remove" => {
                    items.remove(at);
                }
                verb => return Err(format!("{verb} is not interpreted")),
            }
        }
        (_, verb) => return Err(format!("{verb} of {path} is not interpreted")),
    }
    Ok(())
}

fn env(object: &mut Value, changes: &[(String, Option<String>)]) -> Result<(), String> {
    let containers = object.pointer_mut("/spec/template/spec/containers").and_then(Value::as_array_mut);
    for container in containers.ok_or("it has no containers")? {
        let mut list = container["env"].as_array().cloned().unwrap_or_default();
        for (name, value) in changes {
            let at = list.iter().position(|known| known["name"] == json!(name));
            match (value, at) {
                (Some(value), Some(at)) => list[at] = json!({"name": name, "value": value}),
                (Some(value), None) => list.push(json!({"name": name, "value": value})),
                (None, Some(at)) => {
                    list.remove(at);
                }
                (None, None) => {}
            }
        }
        container["env"] = Value::Array(list);
    }
    Ok(())
}
