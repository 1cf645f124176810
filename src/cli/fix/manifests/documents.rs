//! The documents of a file of manifests.

use std::ops::Range;

use crate::yaml;

/// The documents of a file.
pub(super) fn documents(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
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

/// The document at an index, and its value, if it is this object. A renderer may give the object another namespace.
pub(super) fn document(
    text: &str,
    kind: &str,
    name: &str,
    number: usize,
) -> Option<(Range<usize>, serde_json::Value)> {
    let range = documents(text).into_iter().nth(number)?;
    let value: serde_json::Value = yaml::parse(&text[range.clone()]).ok()?;
    (value["kind"] == kind && value["metadata"]["name"] == name).then_some((range, value))
}
