//! Changes of chart values where they are set: in a values file, or in the object of another tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The changes of chart values that a step makes in files.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueChange {
    pub edits: Vec<ValueEdit>,
}

/// The edit of one value in one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueEdit {
    pub place: ValuesPlace,
    /// The keys of the value, from the outermost.
    pub keys: Vec<String>,
    pub action: ValueAction,
}

/// A place of chart values in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValuesPlace {
    /// The object that contains the values, or the values file.
    pub object: String,
    pub file: String,
    /// The line of the value, or of the document that contains it, from 1.
    pub line: usize,
    /// The steps to the values in the document; empty if it is a values file.
    pub path: Vec<String>,
    pub form: ValuesForm,
}

/// The form of chart values in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValuesForm {
    /// A map.
    Map,
    /// A text that is YAML.
    Text,
    /// Single values by their paths, as for `helm --set`: a list of names and values, or a map.
    Single,
}

/// The change of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueAction {
    Remove,
    Set(NewValue),
    /// Moves the value to other keys, with another value if one is given.
    Rename(Vec<String>, Option<NewValue>),
}

/// A new value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NewValue {
    Bool(bool),
    Whole(i64),
    Text(String),
}

impl ValueChange {
    /// The change with these edits; `None` without any.
    pub fn new(edits: Vec<ValueEdit>) -> Option<ValueChange> {
        (!edits.is_empty()).then_some(ValueChange { edits })
    }

    /// Adds the edits of another change, each once.
    pub fn extend(&mut self, other: &ValueChange) {
        for edit in &other.edits {
            if !self.edits.contains(edit) {
                self.edits.push(edit.clone());
            }
        }
    }
}

impl NewValue {
    pub fn to_json(&self) -> Value {
        match self {
            NewValue::Bool(value) => Value::Bool(*value),
            NewValue::Whole(number) => Value::from(*number),
            NewValue::Text(text) => Value::String(text.clone()),
        }
    }
}
