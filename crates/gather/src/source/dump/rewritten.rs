//! Objects of manifests that are filed in another form: those of other kinds that create pods from a template, as
//! Deployments, and those with annotations or labels that are not strings, with strings.

use serde_json::{Value, json};

use super::aside::{self, Unfit};
use super::filing::Filing;
use super::read_header::{Peek, REWRITTEN, Unquoted, kind_of};
use crate::chart::gitops::is_read;
use crate::item::Kind;

impl Filing<'_> {
    /// The form in which an object of manifests is filed, if it differs from the one in the file.
    pub(super) fn rewritten(&mut self, peek: &Peek<'_>, json: &[u8]) -> Option<(Vec<u8>, u64)> {
        let is_of_manifests = self.builder.places.is_some();
        let object = match kind_of(peek) {
            None | Some(Kind::ReplicaSet) if is_of_manifests && peek.rewritten.of_kind.is_none() => {
                as_deployment(peek, json)
            }
            Some(kind) if peek.rewritten.unquoted.is_empty() => with_strings(peek, json, kind),
            _ => None,
        }?;
        self.convert(&object)
    }
}

/// A Deployment with the pod template of an object of another kind: an Argo Rollout, a CloneSet, a Knative Service.
fn as_deployment(peek: &Peek<'_>, json: &[u8]) -> Option<Value> {
    memchr::memmem::find(json, b"\"containers\"")?;
    let object: Value = serde_json::from_slice(json).ok()?;
    let template = object.pointer("/spec/template")?;
    template["spec"]["containers"].as_array().filter(|containers| !containers.is_empty())?;
    let is_owned = object["metadata"]["ownerReferences"].as_array().is_some_and(|owners| !owners.is_empty());
    if is_owned {
        return None;
    }
    let spec = json!({ "template": template, "replicas": object["spec"]["replicas"].as_u64() });
    let mut rewritten = peek.rewritten.clone();
    rewritten.of_kind = peek.kind.as_deref().map(str::to_owned);
    Some(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": object["metadata"],
        "spec": spec,
        REWRITTEN: rewritten,
    }))
}

/// An object whose annotations and labels are strings, if some of them are not in the file and nothing else is wrong.
fn with_strings(peek: &Peek<'_>, json: &[u8], kind: Kind) -> Option<Value> {
    if !has_unquoted(json) || matches!(aside::unfit(json, kind), Some(Unfit::SetAside(_))) {
        return None;
    }
    let mut object: Value = serde_json::from_slice(json).ok()?;
    let mut unquoted = Vec::new();
    quote(&mut object, "", &mut unquoted);
    if unquoted.is_empty() || aside::unfit(object.to_string().as_bytes(), kind).is_some() {
        return None;
    }
    let mut rewritten = peek.rewritten.clone();
    rewritten.unquoted = unquoted;
    object[REWRITTEN] = serde_json::to_value(rewritten).ok()?;
    Some(object)
}

/// Whether a map of annotations or labels may have a value that is not a string. Reads only these maps, since the
/// objects of a dump are many.
fn has_unquoted(json: &[u8]) -> bool {
    [&b"\"annotations\""[..], b"\"labels\""].iter().any(|name| {
        memchr::memmem::find_iter(json, name).any(|at| holds_unquoted(&json[at + name.len()..]).unwrap_or(false))
    })
}

/// Whether the map after a name has such a value; `None` if no map follows.
fn holds_unquoted(json: &[u8]) -> Option<bool> {
    let mut rest = after(after(json, b':')?, b'{')?;
    loop {
        if after(rest, b'}').is_some() {
            return Some(false);
        }
        rest = after(after_string(rest)?, b':')?;
        rest = match after_string(rest) {
            Some(rest) => rest,
            None => return Some(!rest.trim_ascii_start().starts_with(b"null")),
        };
        match after(rest, b',') {
            Some(next) => rest = next,
            None => return Some(false),
        }
    }
}

fn after(json: &[u8], sign: u8) -> Option<&[u8]> {
    json.trim_ascii_start().strip_prefix(&[sign])
}

fn after_string(json: &[u8]) -> Option<&[u8]> {
    let mut rest = after(json, b'"')?;
    loop {
        let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let is_end = rest[at] == b'"';
        rest = rest.get(at + if is_end { 1 } else { 2 }..)?;
        if is_end {
            return Some(rest);
        }
    }
}

/// Replaces numbers, booleans and lists in annotations and labels by strings, and notes each.
fn quote(value: &mut Value, path: &str, unquoted: &mut Vec<Unquoted>) {
    match value {
        Value::Object(map) => {
            for (key, field) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if matches!(key.as_str(), "annotations" | "labels") && path.ends_with(&format!("metadata.{key}")) {
                    quote_values(field, &path, unquoted);
                } else {
                    quote(field, &path, unquoted);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                quote(item, &format!("{path}[{at}]"), unquoted);
            }
        }
        _ => {}
    }
}

fn quote_values(map: &mut Value, path: &str, unquoted: &mut Vec<Unquoted>) {
    for (key, value) in map.as_object_mut().into_iter().flatten() {
        let (sort, text) = match value {
            Value::Number(_) => ("a number", Some(value.to_string())),
            Value::Bool(_) => ("a boolean", Some(value.to_string())),
            // Linkerd's lists are texts with commas.
            Value::Array(items) if key.contains("linkerd.io/") => ("a list", listed(items)),
            _ => continue,
        };
        if let Some(text) = text {
            let path = format!("{path}[{key}]");
            unquoted.push(Unquoted { path, sort: sort.into(), text: text.clone() });
            *value = Value::String(text);
        }
    }
}

/// The items of a list of texts and numbers, with commas; `None` if it has others or none.
fn listed(items: &[Value]) -> Option<String> {
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let items: Option<Vec<String>> = items.iter().map(text).collect();
    items.filter(|items| !items.is_empty()).map(|items| items.join(","))
}

/// Whether an object of a kind that no check reads contains a pod spec, or annotations or labels of Linkerd. Objects
/// of deployment tools are read elsewhere.
pub(super) fn is_of_mesh(peek: &Peek<'_>, json: &[u8]) -> bool {
    let mentions = |word: &[u8]| memchr::memmem::find(json, word).is_some();
    let is_tool = peek.kind.as_deref().is_some_and(is_read);
    if is_tool || !(mentions(b"linkerd.io/") || mentions(b"\"containers\"")) {
        return false;
    }
    serde_json::from_slice::<Value>(json).is_ok_and(|object| is_within(&object))
}

fn is_within(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, field)| match (key.as_str(), field) {
            ("containers", Value::Array(items)) => items.iter().any(|item| item["image"].is_string()),
            ("annotations" | "labels", Value::Object(keys)) => keys.keys().any(|key| key.contains("linkerd.io/")),
            _ => is_within(field),
        }),
        Value::Array(items) => items.iter().any(is_within),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unquoted_values_are_found_without_parsing() {
        for (object, is_found) in [
            (json!({"metadata": {"annotations": {"a": "1", "b\"\\": 60}}}), true),
            (json!({"spec": {"template": {"metadata": {"labels": {"a": true}}}}}), true),
            (json!({"metadata": {"annotations": {"a": "1", "b": "\": 2"}, "labels": {}}, "x": 1}), false),
            (json!({"metadata": {"annotations": null, "labels": {"annotations": "x"}}}), false),
        ] {
            assert_eq!(has_unquoted(object.to_string().as_bytes()), is_found, "{object}");
            assert_eq!(has_unquoted(format!("{object:#}").as_bytes()), is_found, "{object:#}");
        }
    }

    #[test]
    fn numbers_in_annotations_and_labels_become_strings() {
        let mut object = json!({
            "metadata": {"annotations": {"a": 60, "b": "c", "linkerd.io/x": [1, "2-3"], "y": [1]}},
            "spec": {"replicas": 2, "template": {"metadata": {"labels": {"d": true}}}},
        });
        let mut unquoted = Vec::new();
        quote(&mut object, "", &mut unquoted);
        let noted: Vec<String> = unquoted.iter().map(|one| format!("{}={}", one.path, one.text)).collect();
        let list = "metadata.annotations[linkerd.io/x]=1,2-3";
        assert_eq!(noted, ["metadata.annotations[a]=60", list, "spec.template.metadata.labels[d]=true"]);
        assert_eq!(object["metadata"]["annotations"]["a"], "60");
        assert_eq!(object["spec"]["replicas"], 2);
    }
}
