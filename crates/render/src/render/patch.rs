//! The patches of steps whose commands edit objects.

use serde_json::{Map, Value, json};

use crate::kubectl::{Action, Edit, Target, actions};

/// The patch of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    pub object: Target,
    /// The format of the patch, as `kubectl patch --type` names it.
    pub format: &'static str,
    pub patch: Value,
}

impl Patch {
    /// The name of the object.
    pub fn name(&self) -> &str {
        self.object.names.first().map_or("", String::as_str)
    }
}

/// The patches of a command, one per object; otherwise why it has none.
///
/// # Errors
/// The reason, as the rest of a sentence: `it restarts workloads`.
pub fn of_command(command: &str) -> Result<Vec<Patch>, String> {
    let actions = actions(command).map_err(|why| why.to_string())?;
    let mut patches = Vec::new();
    for action in actions.iter().filter(|action| **action != Action::Observe) {
        match action {
            Action::Edit { target, edit } if !target.names.is_empty() => {
                let (format, patch) = of_edit(edit).ok_or("its change depends on the object")?;
                patches.extend(target.names.iter().map(|name| Patch {
                    object: Target { names: vec![name.clone()], ..target.clone() },
                    format,
                    patch: patch.clone(),
                }));
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

/// The format and the patch; `None` if the change depends on the object.
fn of_edit(edit: &Edit) -> Option<(&'static str, Value)> {
    match edit {
        Edit::Json(operations) => Some(("json", Value::Array(operations.clone()))),
        Edit::Merge(patch) => Some(("merge", patch.clone())),
        Edit::Strategic(patch) => Some(("strategic", patch.clone())),
        Edit::Metadata { field, changes, .. } => {
            let changes: Map<String, Value> = changes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            Some(("merge", json!({"metadata": {*field: changes}})))
        }
        Edit::Env(_) => None,
    }
}
