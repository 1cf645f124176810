//! The report in the forms of `linkerd check`: its JSON document, for programs that parse it already, and its table.
//! The rows have our results; [`crate::rows`] decides which rows exist.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::json;
use super::look::Look;
use super::text::{clean, clean_lines};
use crate::finding::Severity;
use crate::report::{ConfigUse, Report};
use crate::rows::{self, Category, RowResult, RowVerdict};

/// The document of `linkerd check -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkerdDocument {
    /// No row is an error.
    pub success: bool,
    /// The categories, in the order of the command.
    pub categories: Vec<DocumentCategory>,
}

/// A category of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentCategory {
    #[serde(rename = "categoryName")]
    pub name: String,
    /// Its rows.
    pub checks: Vec<DocumentRow>,
}

/// A row of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Its text.
    pub description: String,
    /// Address of the explanation, for rows that do not succeed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// The problem. Readers treat a row with a text here as failed, whatever its result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    pub result: RowResult,
}

impl LinkerdDocument {
    /// A document of rows. Without success if a row is an error, or if an error has no row (`sound` is
    /// false).
    pub fn new(categories: &[Category], sound: bool) -> LinkerdDocument {
        LinkerdDocument {
            success: sound && rows::success(categories),
            categories: categories
                .iter()
                .map(|category| DocumentCategory {
                    name: category.name.clone(),
                    checks: category.rows.iter().map(DocumentRow::from).collect(),
                })
                .collect(),
        }
    }
}

impl From<&RowVerdict> for DocumentRow {
    fn from(row: &RowVerdict) -> DocumentRow {
        DocumentRow {
            description: described(row),
            hint: row.hint.clone().unwrap_or_default(),
            error: clean_error(&row.error),
            result: row.result,
        }
    }
}

/// The description with the list below it, as the command prints them.
fn described(row: &RowVerdict) -> String {
    let listed = row.listed.iter().map(|name| format!("\n\t* {}", clean(name)));
    std::iter::once(row.description.clone()).chain(listed).collect()
}

/// Cleans a row's error, which has several lines, line by line.
fn clean_error(error: &str) -> String {
    clean_lines(error).collect::<Vec<_>>().join("\n")
}

/// The JSON document. Without success if a finding is an error, with a row or without: a reader of that field
/// alone must not treat a broken mesh as healthy.
pub fn report(report: &Report) -> String {
    json(&report.rows, is_sound(report))
}

pub(super) fn is_sound(report: &Report) -> bool {
    report.verdict.findings.error == 0
}

/// Any rows as such a document.
pub fn json(categories: &[Category], sound: bool) -> String {
    json::write(&LinkerdDocument::new(categories, sound))
}

/// The errors without a row, on one line; `None` if all have one.
pub fn beside(report: &Report) -> Option<String> {
    let told: BTreeSet<&str> =
        report.rows.iter().flat_map(|category| &category.rows).flat_map(|row| &row.checks).copied().collect();
    let untold: BTreeSet<&str> = report
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error && !told.contains(finding.check))
        .map(|finding| finding.check)
        .collect();
    let names: Vec<&str> = untold.into_iter().collect();
    (!names.is_empty()).then(|| format!("linkerd check has no row for: {} (see them with -o table)", names.join(", ")))
}

/// The document of a run without a report, with the row that fails in the real command too.
pub fn failure(message: &str, reached: bool) -> String {
    json(&failed(message, reached), false)
}

/// The rows of a run without a report; `reached` if a client existed but the cluster did not answer.
fn failed(message: &str, reached: bool) -> Vec<Category> {
    let row = |description: &str, error: &str| RowVerdict {
        description: description.to_owned(),
        hint: None,
        checks: Vec::new(),
        listed: Vec::new(),
        error: error.to_owned(),
        result: if error.is_empty() { RowResult::Success } else { RowResult::Error },
    };
    let client = "can initialize the client";
    let rows = match reached {
        true => vec![row(client, ""), row("can query the Kubernetes API", message)],
        false => vec![row(client, message)],
    };
    vec![Category { name: "kubernetes-api".to_owned(), rows }]
}

pub fn table(report: &Report, look: Look) -> String {
    let mut text = rows_table(&report.rows, is_sound(report), look);
    if let Some(beside) = beside(report) {
        _ = writeln!(text, "{beside}");
    }
    if is_sound(report) && !rows::success(&report.rows) {
        let mark = mark(RowResult::Error, look);
        _ = writeln!(text, "{mark} is the result of linkerd check: meshdoctor rates these findings lower");
        _ = writeln!(text, "The exit status follows --fail-on, not the rows");
    }
    if report.origin.kind == "manifests" {
        _ = writeln!(text, "Rows about a running cluster are left out: manifests do not show them");
    }
    if let Some(settings) = report.run.config.as_ref().and_then(ConfigUse::gate_settings) {
        _ = writeln!(text, "Configuration file: {}", clean(&settings));
    }
    text
}

/// Any rows as such a table.
fn rows_table(categories: &[Category], sound: bool, look: Look) -> String {
    let mut text = String::new();
    for category in categories {
        _ = writeln!(text, "{}\n{}", category.name, "-".repeat(category.name.len()));
        for row in &category.rows {
            _ = writeln!(text, "{} {}", mark(row.result, look), clean(&row.description));
            for name in &row.listed {
                _ = writeln!(text, "\t* {}", clean(name));
            }
            for line in row.error.lines() {
                _ = writeln!(text, "    {}", clean(line));
            }
            if let Some(hint) = &row.hint {
                _ = writeln!(text, "    see {hint} for hints");
            }
        }
        text.push('\n');
    }
    let whole = if sound && rows::success(categories) { RowResult::Success } else { RowResult::Error };
    _ = writeln!(text, "Status check results are {}", mark(whole, look));
    text
}

fn mark(result: RowResult, look: Look) -> String {
    match result {
        RowResult::Success => look.good("√"),
        RowResult::Warning => look.doubtful("‼"),
        RowResult::Error => look.bad("×"),
    }
}
