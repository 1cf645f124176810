//! The commands that change annotations and labels.

use serde_json::{Map, Value};

use super::KeyChange;
use crate::checks::prelude::*;
use crate::command::{Call, program};
use crate::model::annotated::Annotated;

/// The command that changes annotations below a path of the object.
pub(super) fn patch(object: &Annotated<'_>, path: &[&str], changes: &[KeyChange<'_>]) -> Command {
    let annotations: Map<String, Value> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
    let inner = Value::Object(Map::from_iter([("annotations".to_owned(), Value::Object(annotations))]));
    let whole =
        path.iter().rev().fold(inner, |inner, part| Value::Object(Map::from_iter([((*part).to_owned(), inner)])));
    with_object(kubectl(), "patch", object).words("--type merge").option("-p", whole.to_string()).into()
}

/// Whether a kind is of Kubernetes itself: its short name is never ambiguous.
pub(super) fn is_of_kubernetes(kind: Kind) -> bool {
    ["", "apps", "batch"].contains(&kind.info().group)
}

/// A verb with the object.
fn with_object(call: Call, verb: &'static str, object: &Annotated<'_>) -> Call {
    // Two API groups have an HTTPRoute.
    let kind = match is_of_kubernetes(object.kind) {
        true => object.kind.info().kind.to_ascii_lowercase(),
        false => object.kind.resource(),
    };
    call.namespace(&object.meta.namespace).words(verb).arg(kind).operand(&object.meta.name)
}

pub(super) fn set(verb: &'static str, object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Command {
    let changed = changes.iter().map(|(key, value)| match value {
        Some(value) => format!("{key}={value}"),
        None => format!("{key}-"),
    });
    with_object(kubectl(), verb, object).operands(changed).into()
}

/// The labels that the Job controller adds to pod templates.
const CONTROLLER_LABELS: &str = concat!(
    r#""controller-uid", "job-name", "#,
    r#""batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name""#,
);

/// Recreates a Job with other annotations, without the selector and labels from the Job controller.
pub(super) fn job(object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Command {
    let text = |text: &str| Value::from(text).to_string();
    let gone: Vec<String> = changes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| text(key)).collect();
    let set: Map<String, Value> =
        changes.iter().filter_map(|(key, value)| Some(((*key).to_owned(), Value::from((*value)?)))).collect();
    let removed = if gone.is_empty() { String::new() } else { format!("del(.[{}]) | ", gone.join(", ")) };
    let rewritten = format!(
        "del(.status, .spec.selector, .spec.template.metadata.labels[{CONTROLLER_LABELS}]) \
         | .spec.template.metadata.annotations |= ({removed}. + {})",
        Value::Object(set)
    );
    with_object(kubectl(), "get", object)
        .words("-o json")
        .pipe(program("jq").arg(rewritten))
        .pipe(kubectl().namespace(&object.meta.namespace).words("replace --force -f -"))
        .into()
}
