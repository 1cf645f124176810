//! The report in the forms of `linkerd check`: its JSON document, for programs that parse it already, and its table.
//! The rows carry our verdict; which there are is decided in [`crate::rows`].

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::json;
use super::look::Look;
use super::text::{clean, clean_lines};
use crate::finding::Severity;
use crate::report::Report;
use crate::rows::{self, Category, RowResult, RowVerdict};

/// The document of `linkerd check -o json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// No row is an error.
    pub success: bool,
    /// The categories, in the order of the command.
    pub categories: Vec<DocumentCategory>,
}

/// A category of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentCategory {
    /// Its name.
    #[serde(rename = "categoryName")]
    pub name: String,
    /// Its rows.
    pub checks: Vec<DocumentRow>,
}

/// A row of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Its words.
    pub description: String,
    /// Where it is explained, for rows that do not succeed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// What is wrong. Readers take a row with a text here as failed, whatever its result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// The verdict.
    pub result: RowResult,
}

impl Document {
    /// A document of rows; no success where one is an error, nor where something is that has no row (`sound` is false).
    pub fn of(categories: &[Category], sound: bool) -> Document {
        Document {
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
            error: said(&row.error),
            result: row.result,
        }
    }
}

/// The description with the list below it, as the command prints both.
fn described(row: &RowVerdict) -> String {
    let listed = row.listed.iter().map(|name| format!("\n\t* {}", clean(name)));
    std::iter::once(row.description.clone()).chain(listed).collect()
}

/// Cleaned line by line: a row's error has several.
fn said(error: &str) -> String {
    clean_lines(error).collect::<Vec<_>>().join("\n")
}

/// The JSON document. It is no success where a finding is an error, be there a row for it or not: who reads nothing but
/// that word shall not take a broken mesh for a sound one.
pub fn report(report: &Report) -> String {
    json(&report.rows, is_sound(report))
}

pub(super) fn is_sound(report: &Report) -> bool {
    report.verdict.findings.error == 0
}

/// Any rows as that document.
pub fn json(categories: &[Category], sound: bool) -> String {
    json::write(&Document::of(categories, sound))
}

/// The errors without a row, in a line; empty if there are none.
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
    (!names.is_empty())
        .then(|| format!("linkerd check has no row for: {} (see them with -o table)", names.join(", ")))
}

/// The document of a run without a report: the row that states so is one that the real command fails too.
pub fn failure(message: &str, reached: bool) -> String {
    json(&failed(message, reached), false)
}

/// The rows of a run that came to no report; `reached` when there was a client and the cluster did not answer it.
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

/// The table.
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
    text
}

/// Any rows as that table.
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
