//! The edits of a repair plan as patches, in the form of a kustomization's `patches`.

use serde_json::{Map, Value, json};

use super::{configured, proof_text};
use crate::render::patch::{Patch, of_command};
use crate::render::text::{clean, wrap};
use crate::repair::{JudgedPlan, Proof};
use crate::report::{PlanStep, Report};

/// Width of comments, in columns.
const WIDTH: usize = 100;

/// The patches; steps without one are comments.
pub fn patches(report: &Report, plan: &JudgedPlan) -> String {
    let mut text = String::new();
    let mut patches = String::new();
    configured(report).iter().for_each(|settings| comment(&mut text, &format!("Configuration: {settings}.")));
    comment(&mut text, "Patches of meshdoctor, for the patches of a kustomization. Steps without a patch:");
    let mut others = 0;
    for (number, (step, proof)) in (1..).zip(report.repair.steps.iter().zip(&plan.proofs)) {
        let is_sure = proof.is_offered() && *proof != Proof::Conditional;
        let of_step = if is_sure { of_step(step) } else { Err(String::new()) };
        match of_step {
            Ok(of_step) => {
                let mut about = String::new();
                comment(&mut about, &format!("Step {number}: {}", step.step.text));
                comment(&mut about, &proof_text(proof));
                patches.push_str(&about);
                patches.extend(of_step.iter().map(entry));
            }
            Err(why) => {
                others += 1;
                let why = match proof {
                    Proof::NotSimulated(_) | Proof::Manual | Proof::Conditional | Proof::Reads => proof_text(proof),
                    proof if !proof.is_offered() => proof_text(proof),
                    _ => why,
                };
                comment(&mut text, &format!("  step {number}, {why}: {}", step.step.text));
            }
        }
    }
    if others == 0 {
        comment(&mut text, "  none");
    }
    match patches.is_empty() {
        true => text.push_str("patches: []\n"),
        false => {
            text.push_str("patches:\n");
            text.push_str(&patches);
        }
    }
    text
}

fn comment(text: &mut String, words: &str) {
    let indent = if words.starts_with("  ") { "  " } else { "" };
    for line in wrap(clean(words).trim_start(), WIDTH - 4) {
        text.push_str(&format!("# {indent}{line}\n"));
    }
}

/// The patches of a step; otherwise why it has none.
fn of_step(step: &PlanStep) -> Result<Vec<Patch>, String> {
    let command = step.step.command.as_ref().ok_or("it has no command")?;
    of_command(&command.to_string())
}

fn selector(patch: &Patch) -> Value {
    let info = patch.object.kind.info();
    let mut selector = Map::new();
    if !info.group.is_empty() {
        selector.insert("group".to_owned(), json!(info.group));
    }
    selector.insert("kind".to_owned(), json!(info.kind));
    selector.insert("name".to_owned(), json!(patch.name()));
    if !patch.object.namespace.is_empty() {
        selector.insert("namespace".to_owned(), json!(patch.object.namespace));
    }
    Value::Object(selector)
}

/// A JSON patch as a list, or a merge patch as an object.
fn body(patch: &Patch) -> Value {
    let Some(fields) = patch.patch.as_object() else { return patch.patch.clone() };
    let kind = patch.object.kind;
    let mut body = json!({"apiVersion": kind.api_version(), "kind": kind.info().kind});
    if let Some(map) = body.as_object_mut() {
        map.extend(fields.clone());
    }
    body["metadata"]["name"] = json!(patch.name());
    body
}

/// A list item. JSON is also YAML, so names need no quoting of their own.
fn entry(patch: &Patch) -> String {
    let body = serde_json::to_string_pretty(&body(patch)).unwrap_or_default();
    let body: String = body.lines().map(|line| format!("      {line}\n")).collect();
    format!("  - target: {}\n    patch: |-\n{body}", selector(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_annotations_are_null() {
        let patches = of_command("kubectl -n shop annotate service web a- b=1 --overwrite").unwrap();
        let [patch] = patches.as_slice() else { panic!("{patches:?}") };
        let text = format!("patches:\n{}", entry(patch));
        let read: Value = crate::yaml::parse(&text).unwrap();
        let inner: Value = serde_json::from_str(read["patches"][0]["patch"].as_str().unwrap()).unwrap();
        assert_eq!(inner["metadata"], json!({"name": "web", "annotations": {"a": null, "b": "1"}}));
        assert_eq!(read["patches"][0]["target"], json!({"kind": "Service", "name": "web", "namespace": "shop"}));
    }
}
