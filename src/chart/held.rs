//! Where values stand that an object of another tool holds: as a map, as lines of text in it, or one by one.

use std::collections::BTreeMap;

use crate::yaml::node::{Spot, spot};

/// Where values stand that an object holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The file of the object.
    pub file: String,
    /// What evidence writes before the path of a value: `spec.values.`, `spec.source.helm.values: `.
    pub above: String,
    /// Where each of them stands.
    pub spots: Spots,
}

/// How the place of a value is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spots {
    /// In the text, below this path, which ends in a dot; or in the text itself, whose lines are those of the file.
    Below(String),
    /// One by one, by their paths.
    Each(BTreeMap<String, Spot>),
    /// Here, all of them: as they are written there are no lines to tell.
    Here(Spot),
}

impl Held {
    /// A value's path as evidence writes it.
    pub(super) fn field(&self, place: &str) -> String {
        match place.starts_with('[') {
            true => format!("{}{place}", self.above.trim_end_matches('.')),
            false => format!("{}{place}", self.above),
        }
    }

    /// Where a value stands, by what evidence writes, and its path in the values.
    pub(super) fn find(&self, text: &str, field: &str) -> Option<(String, Spot)> {
        let bare =
            || field.strip_prefix(self.above.trim_end_matches('.')).filter(|rest| rest.starts_with('['));
        let path = field.strip_prefix(&self.above).or_else(bare)?;
        let at = match &self.spots {
            Spots::Below(above) => spot(text, &format!("{above}{path}"))?,
            Spots::Each(each) => *each.get(path)?,
            Spots::Here(at) => *at,
        };
        Some((path.to_owned(), at))
    }
}
