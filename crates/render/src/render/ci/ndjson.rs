//! The report as lines of JSON, for log pipelines: the run, each finding, each check, each gap, and the
//! result last, so that a missing result shows a truncated stream. Every line has a `type`; its fields are
//! those of the JSON form.

use serde_json::{Value, json};

use super::super::document::{Document, Failure};
use super::super::text::escape_json;
use crate::report::Report;

/// The schema tag of the lines.
pub const SCHEMA: &str = "meshdoctor.lines/1";

pub fn report(report: &Report) -> String {
    lines(&Document::from(report))
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    lines(&Document::from(failure))
}

fn lines(document: &Document) -> String {
    let mut lines = vec![json!({
        "type": "run",
        "schema": SCHEMA,
        "tool": document.tool,
        "run": document.run,
        "origin": document.origin,
        "subject": document.subject,
    })];
    lines.extend(document.findings.iter().map(|finding| typed("finding", json!(finding))));
    lines.extend(document.checks.iter().map(|check| typed("check", json!(check))));
    lines.extend(document.coverage.gaps.iter().map(|gap| typed("gap", json!(gap))));
    lines.extend(document.errors.iter().map(|error| typed("error", json!(error))));
    lines.push(typed("result", json!(document.verdict)));
    lines.into_iter().map(|line| escape_json(line.to_string()) + "\n").collect()
}

fn typed(kind: &str, mut value: Value) -> Value {
    value["type"] = json!(kind);
    value
}
