//! Positions of values in an object of another tool: as a map, as text lines, or individually.

use std::collections::BTreeMap;

use crate::finding::ValuesForm;
use crate::yaml::node::{Spot, spot, steps};

/// Positions of values in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuePositions {
    /// The file of the object.
    pub file: String,
    /// A line of its document, from 1.
    pub line: u64,
    /// Prefix of the value's path in evidence: `spec.values.`, `spec.source.helm.values: `.
    pub above: String,
    /// Position of each value.
    pub spots: Spots,
}

/// Method to find a value's position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spots {
    /// In the text, below this path, which ends in a dot; or in the text itself, whose lines are those of the file.
    Below(String),
    /// Individually, by path.
    Each(BTreeMap<String, Spot>),
    /// One position for all: individual lines are unknown.
    Here(Spot),
}

impl ValuePositions {
    /// The steps to the values in the document, and their form.
    pub(super) fn form(&self) -> Option<(Vec<String>, ValuesForm)> {
        let (path, form) = match (self.above.strip_suffix(": "), &self.spots) {
            (Some(path), Spots::Each(_)) => (path, ValuesForm::Single),
            (Some(path), Spots::Below(_) | Spots::Here(_)) => (path, ValuesForm::Text),
            (None, _) => (self.above.strip_suffix('.')?, ValuesForm::Map),
        };
        Some((steps(path)?, form))
    }

    /// Path of a value, as in evidence.
    pub(super) fn field(&self, place: &str) -> String {
        match place.starts_with('[') {
            true => format!("{}{place}", self.above.trim_end_matches('.')),
            false => format!("{}{place}", self.above),
        }
    }

    /// Position of a value by its path in evidence, and its path in the values.
    pub(super) fn find(&self, text: &str, field: &str) -> Option<(String, Spot)> {
        let bare = || field.strip_prefix(self.above.trim_end_matches('.')).filter(|rest| rest.starts_with('['));
        let path = field.strip_prefix(&self.above).or_else(bare)?;
        let at = match &self.spots {
            Spots::Below(above) => spot(text, &format!("{above}{path}"))?,
            Spots::Each(each) => *each.get(path)?,
            Spots::Here(at) => *at,
        };
        Some((path.to_owned(), at))
    }
}
