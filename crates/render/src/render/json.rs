//! The report as one JSON document, schema `meshdoctor.report/1`; see [`super::document`]. There is one valid document
//! in every outcome, whether or not the run came to a report.

use super::document::Document;
pub use super::document::Failure;
use super::text::escape_json;
use crate::report::Report;

pub fn report(report: &Report) -> String {
    write(&Document::from(report))
}

/// A run that never came to a report, with its exit status and what went wrong.
pub fn failure(failure: &Failure) -> String {
    write(&Document::from(failure))
}

/// A document of another command.
pub fn document(document: &serde_json::Value) -> String {
    write(document)
}

/// Any of our structs as JSON text, two blanks an indent, a line break at the end.
pub(super) fn write<T: serde::Serialize>(value: &T) -> String {
    let text = serde_json::to_string_pretty(value).expect("our structs have string keys and no failing serializers");
    escape_json(text) + "\n"
}
