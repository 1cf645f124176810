//! The output schemas of tools: the schemas of docs/schema for the documents that a tool answers with. An answer may
//! leave out fields and shorten lists, so nothing is required.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::answer::TOO_LARGE;

/// A kind of document, by the name of its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    Report,
    /// The part of a report about missing evidence.
    Coverage,
    Check,
    Explanation,
    Reach,
    Policy,
    Outbound,
    Injection,
    Fix,
    /// The plan of a repair as lines of text.
    FixText,
    Rotation,
    Diff,
    List,
    Defects,
}

impl DocumentKind {
    /// Its name, and the text of its schema.
    fn schema(self) -> (&'static str, &'static str) {
        match self {
            DocumentKind::Report | DocumentKind::Coverage => {
                ("report", include_str!("../../../docs/schema/report.v1.json"))
            }
            DocumentKind::Check => ("check", include_str!("../../../docs/schema/check.v1.json")),
            DocumentKind::Explanation => ("explanation", include_str!("../../../docs/schema/explanation.v1.json")),
            DocumentKind::Reach => ("reach", include_str!("../../../docs/schema/reach.v1.json")),
            DocumentKind::Policy => ("policy", include_str!("../../../docs/schema/policy.v1.json")),
            DocumentKind::Outbound => ("outbound", include_str!("../../../docs/schema/outbound.v1.json")),
            DocumentKind::Injection => ("injection", include_str!("../../../docs/schema/injection.v1.json")),
            DocumentKind::Fix => ("fix", include_str!("../../../docs/schema/fix.v1.json")),
            DocumentKind::FixText => ("fix-text", FIX_TEXT),
            DocumentKind::Rotation => ("rotation", include_str!("../../../docs/schema/rotation.v1.json")),
            DocumentKind::Diff => ("diff", include_str!("../../../docs/schema/diff.v1.json")),
            DocumentKind::List => ("list", include_str!("../../../docs/schema/list.v1.json")),
            DocumentKind::Defects => ("defects", include_str!("../../../docs/schema/defects.v1.json")),
        }
    }
}

/// The schema of a plan as lines of text, which no command prints.
const FIX_TEXT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "format": {"enum": ["script", "patch", "values"]},
    "lines": {"type": "array", "items": {"type": "string"}}
  }
}"#;

/// The fields of a report that other answers leave out: the outcome of each check, which the verdict counts.
pub(super) const WITHOUT: [&str; 3] = ["checks", "coverage", "redaction"];

/// The fields of a report that an answer with the upgrade plan leaves out.
pub(super) const WITHOUT_OF_PLAN: [&str; 4] = ["findings", WITHOUT[0], WITHOUT[1], WITHOUT[2]];

/// The fields of a report in an answer about coverage.
pub(super) const COVERAGE: [&str; 4] = ["schema", "subject", "verdict", "coverage"];

/// Adds the schemas of a tool's documents to the schema of its answer; without any, the answer continues that of
/// another tool.
///
/// # Errors
/// A schema is not JSON.
pub(super) fn typed(mut answer: JsonObject, documents: &[DocumentKind]) -> Result<JsonObject, String> {
    let mut definitions = answer.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut forms = Vec::new();
    for document in documents {
        let (name, text) = document.schema();
        let mut schema: Map<String, Value> = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            match document {
                DocumentKind::Coverage => fields.retain(|field, _| COVERAGE.contains(&field.as_str())),
                DocumentKind::Report => fields.retain(|field, _| !WITHOUT.contains(&field.as_str())),
                _ => {}
            }
        }
        let own = schema.remove("$defs").unwrap_or_default();
        let mut form = partial(Value::Object(schema), name);
        referenced(&form, name, &own, &mut definitions);
        lists(&mut form);
        forms.push(form);
    }
    if forms.is_empty() {
        return Ok(answer);
    }
    let about = answer["properties"]["document"]["description"].clone();
    answer["properties"]["document"] = json!({"description": about, "type": "object", "anyOf": forms});
    answer.insert("$defs".to_owned(), Value::Object(definitions));
    Ok(answer)
}

/// Adds the definitions that a schema refers to, and those that they refer to.
fn referenced(schema: &Value, name: &str, all: &Value, into: &mut Map<String, Value>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| referenced(item, name, all, into)),
        Value::Object(map) => {
            let to = map.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/$defs/"));
            let own = to.filter(|to| !into.contains_key(*to)).and_then(|to| to.strip_prefix(&format!("{name}.")));
            if let Some(own) = own {
                let definition = partial(all[own].clone(), name);
                into.insert(format!("{name}.{own}"), definition.clone());
                referenced(&definition, name, all, into);
            }
            map.values().for_each(|value| referenced(value, name, all, into));
        }
        _ => {}
    }
}

/// A schema of a part of what another one describes, without texts. Its definitions have the prefix `name`.
fn partial(schema: Value, name: &str) -> Value {
    // Fields that exclude each other are only stated by `not` and `required`.
    const LEFT_OUT: [&str; 9] =
        ["required", "not", "description", "title", "$schema", "$id", "minItems", "minProperties", "dependentRequired"];
    let Value::Object(map) = schema else { return schema };
    let each = map.into_iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str())).map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("$ref", Value::String(to)) => json!(to.replace("#/$defs/", &format!("#/$defs/{name}."))),
            // The names of fields are not keywords.
            ("properties", Value::Object(fields)) => {
                let fields = fields.into_iter().map(|(field, value)| (field, partial(value, name)));
                Value::Object(fields.collect())
            }
            (_, Value::Array(items)) => items.into_iter().map(|item| partial(item, name)).collect(),
            (_, value) => partial(value, name),
        };
        // Without required fields, several forms may fit.
        (if key == "oneOf" { "anyOf".to_owned() } else { key }, value)
    });
    Value::Object(each.collect())
}

/// Lets the elements of a document's lists be replaced by a text if they are too large.
fn lists(form: &mut Value) {
    for alternative in form.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        lists(alternative);
    }
    let fields = form.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(Map::values_mut) {
        if let Some(items) = field.get_mut("items") {
            *items = json!({"anyOf": [items.take(), {"const": TOO_LARGE}]});
        }
    }
}
