//! The edits of a repair plan as patches, in the form of a kustomization's `patches`.

use serde_json::{Map, Value, json};

use super::proof_text;
use crate::kubectl::{Action, Edit, Target, actions};
use crate::render::text::{clean, wrap};
use crate::repair::{JudgedPlan, Proof};
use crate::report::{PlanStep, Report};

/// Width of comments, in columns.
const WIDTH: usize = 100;

/// The patches; steps without one are comments.
pub fn patches(report: &Report, plan: &JudgedPlan) -> String {
    let mut text = String::new();
    let mut patches = String::new();
    comment(&mut text, "Patches of meshdoctor, for the patches of a kustomization. Steps without a patch:");
    let mut others = 0;
    for (number, (step, proof)) in (1..).zip(report.repair.steps.iter().zip(&plan.proofs)) {
        let is_sure = proof.is_offered() && *proof != Proof::Conditional;
        let of_step = if is_sure { of_step(step) } else { Err(String::new()) };
        match of_step {
            Ok(of_step) => {
                let mut about = String::new();
                comment(&mut about, &format!("Step {number}: {}", step.step.text));
                comment(&mut about, &proof_text(number, proof));
                patches.push_str(&about);
                patches.extend(of_step.iter().map(entry));
            }
            Err(why) => {
                others += 1;
                let why = match proof {
                    Proof::NotSimulated(_) | Proof::Manual | Proof::Conditional | Proof::Reads => {
                        proof_text(number, proof)
                    }
                    proof if !proof.is_offered() => proof_text(number, proof),
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

/// A patch of one object.
struct Patch {
    target: Value,
    body: Value,
}

/// The patches of a step; otherwise why it has none.
fn of_step(step: &PlanStep) -> Result<Vec<Patch>, String> {
    let command = step.step.command.as_ref().ok_or("it has no command")?;
    let actions = actions(&command.to_string()).map_err(|why| why.to_string())?;
    let mut patches = Vec::new();
    for action in actions.iter().filter(|action| **action != Action::Observe) {
        match action {
            Action::Edit { target, edit } if !target.names.is_empty() => {
                for name in &target.names {
                    let body = body(target, name, edit).ok_or("its change depends on the object")?;
                    patches.push(Patch { target: selector(target, name), body });
                }
            }
            Action::Edit { .. } => return Err("it changes all objects of a kind".to_owned()),
            Action::Restart(_) => return Err("it restarts workloads".to_owned()),
            Action::Delete { .. } => return Err("it deletes objects".to_owned()),
            Action::Create(..) => return Err("it creates an object".to_owned()),
            Action::Observe => {}
        }
    }
    if patches.is_empty() { Err("it changes nothing".to_owned()) } else { Ok(patches) }
}

fn selector(target: &Target, name: &str) -> Value {
    let info = target.kind.info();
    let mut selector = Map::new();
    if !info.group.is_empty() {
        selector.insert("group".to_owned(), json!(info.group));
    }
    selector.insert("kind".to_owned(), json!(info.kind));
    selector.insert("name".to_owned(), json!(name));
    if !target.namespace.is_empty() {
        selector.insert("namespace".to_owned(), json!(target.namespace));
    }
    Value::Object(selector)
}

/// A JSON patch as a list, or a merge patch as an object.
fn body(target: &Target, name: &str, edit: &Edit) -> Option<Value> {
    let fields = match edit {
        Edit::Json(operations) => return Some(Value::Array(operations.clone())),
        Edit::Merge(patch) | Edit::Strategic(patch) => patch.clone(),
        Edit::Metadata { field, changes, .. } => {
            let changes: Map<String, Value> =
                changes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({"metadata": {*field: changes}})
        }
        Edit::Env(_) => return None,
    };
    let mut body = json!({"apiVersion": target.kind.api_version(), "kind": target.kind.info().kind});
    let map = body.as_object_mut()?;
    map.extend(fields.as_object()?.clone());
    body["metadata"]["name"] = json!(name);
    Some(body)
}

/// A list item. JSON is also YAML, so names need no quoting of their own.
fn entry(patch: &Patch) -> String {
    let body = serde_json::to_string_pretty(&patch.body).unwrap_or_default();
    let body: String = body.lines().map(|line| format!("      {line}\n")).collect();
    format!("  - target: {}\n    patch: |-\n{body}", patch.target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Kind;

    #[test]
    fn removed_annotations_are_null() {
        let target =
            Target { kind: Kind::Service, namespace: "shop".to_owned(), names: vec!["web".to_owned()] };
        let changes = vec![("a".to_owned(), None), ("b".to_owned(), Some("1".to_owned()))];
        let edit = Edit::Metadata { field: "annotations", changes, overwrite: true };
        let patch = Patch { target: selector(&target, "web"), body: body(&target, "web", &edit).unwrap() };
        let text = format!("patches:\n{}", entry(&patch));
        let read: Value = crate::yaml::parse(&text).unwrap();
        let inner: Value = serde_json::from_str(read["patches"][0]["patch"].as_str().unwrap()).unwrap();
        assert_eq!(inner["metadata"], json!({"name": "web", "annotations": {"a": null, "b": "1"}}));
        assert_eq!(
            read["patches"][0]["target"],
            json!({"kind": "Service", "name": "web", "namespace": "shop"})
        );
    }
}
