//! The documents of a file of manifests.

use std::ops::Range;

use serde_json::Value;

use crate::yaml;

/// The documents of a file, without the byte order mark before the first.
pub(super) fn documents(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let (mut start, mut at) = (mark, 0);
    for line in text.split_inclusive('\n') {
        let end = at;
        at += line.len();
        if yaml::is_separator(line) {
            parts.push(start..end);
            start = at;
        }
    }
    parts.push(start..text.len());
    parts
}

/// The index of the document that contains a line, from 1. Edits keep it.
pub(super) fn number_of_document(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line).filter(|line| yaml::is_separator(line)).count()
}

/// The document with an object: the object itself, or a List that contains it.
pub(super) struct FoundDocument {
    pub(super) range: Range<usize>,
    /// The value of the document.
    pub(super) value: Value,
    /// The position of the object in a List.
    item: Option<usize>,
}

impl FoundDocument {
    /// The object.
    pub(super) fn object(&self) -> &Value {
        self.item.map_or(&self.value, |at| &self.value["items"][at])
    }

    /// The document with another object in its place.
    pub(super) fn with(&self, object: Value) -> Value {
        match self.item {
            None => object,
            Some(at) => {
                let mut whole = self.value.clone();
                whole["items"][at] = object;
                whole
            }
        }
    }
}

/// The document at an index, if it has this object. A renderer may give the object another namespace.
pub(super) fn document(
    text: &str,
    kind: &str,
    (namespace, name): (&str, &str),
    number: usize,
) -> Option<FoundDocument> {
    let range = documents(text).into_iter().nth(number)?;
    let value: Value = yaml::parse_applied(&text[range.clone()]).ok()?;
    let is_named = |object: &Value| object["kind"] == kind && object["metadata"]["name"] == name;
    if is_named(&value) {
        return Some(FoundDocument { range, value, item: None });
    }
    let items = value["items"].as_array()?;
    let named = || items.iter().enumerate().filter(|(_, item)| is_named(item));
    let is_here = |item: &Value| item["metadata"]["namespace"].as_str().is_none_or(|home| home == namespace);
    let mut own = named().filter(|(_, item)| is_here(item)).chain(named()).map(|(at, _)| at);
    let at = own.next()?;
    Some(FoundDocument { range, value, item: Some(at) })
}
