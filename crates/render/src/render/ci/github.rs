//! The report as workflow commands of GitHub Actions: first the result, then an annotation for each finding,
//! at its line if it is in a manifest, and one for missing requested evidence. Nothing else is printed, and no
//! text of a cluster can start a command: values stay on one line and are escaped.

use std::fmt::Write;

use super::super::document::Failure;
use super::super::table::{Folding, result_line};
use super::super::text::{clean, some_of, without_hashes};
use super::unchecked::{NAMED, Unchecked, alike, checks, nobody_provided, place, unreadable};
use super::{causes, does_not_count, finding_line, path, spots};
use crate::checks::Outcome;
use crate::exit;
use crate::finding::{Finding, Severity, Subject};
use crate::report::Report;

pub fn report(report: &Report) -> String {
    let mut text = String::new();
    // First, because GitHub shows only the first ten of a level.
    let verdict = if report.verdict.status == exit::FINE { "notice" } else { "error" };
    command(&mut text, verdict, &[("title", "meshdoctor".to_owned())], &result_line(report));
    let folding = Folding::from_findings(&report.findings);
    for (at, finding) in report.findings.iter().enumerate() {
        let title = title(finding, &causes(report, &folding, at));
        for spot in spots(finding) {
            let message = finding_line(finding, &spot.subjects, &[]);
            if spot.written.is_empty() {
                command(&mut text, level(finding, &spot.subjects), &[("title", title.clone())], &message);
            }
            for written in spot.written {
                let properties = [
                    ("file", path(report, &written.file)),
                    ("line", written.line.to_string()),
                    ("col", written.column.max(1).to_string()),
                    ("title", title.clone()),
                ];
                // The line is that of the rendered file, which the change does not contain.
                let source = written.source.as_ref().map(|source| format!(" (from {})", clean(source)));
                let message = format!("{message}{}", source.unwrap_or_default());
                command(&mut text, level(finding, &spot.subjects), &properties, &message);
            }
        }
    }
    let unchecked = Unchecked::from_report(report);
    // One annotation: the result above is the error, and GitHub shows only ten.
    if !unchecked.failing.is_empty() {
        let gaps: Vec<_> = unchecked.failing.iter().flatten().copied().collect();
        let title = format!("not checked: {}", some_of(&checks(&gaps), NAMED));
        let lines: Vec<String> = unchecked.failing.iter().map(|gaps| alike(gaps)).collect();
        command(&mut text, "warning", &[("title", title)], &lines.join("; "));
    }
    for (message, gaps) in unchecked.unreadable {
        let place = place(report, message);
        let mut properties: Vec<(&str, String)> =
            place.into_iter().flat_map(|(file, line)| [("file", file), ("line", line.to_string())]).collect();
        properties.push(("title", "could not be read".to_owned()));
        command(&mut text, "error", &properties, &unreadable(message, &gaps));
    }
    if let Some(words) = nobody_provided(&unchecked.accepted) {
        command(&mut text, "notice", &[("title", "not checked".to_owned())], &words);
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            command(&mut text, "error", &[("title", format!("{} crashed", check.id))], message);
        }
    }
    for error in &report.errors {
        command(&mut text, "error", &[("title", "meshdoctor".to_owned())], error);
    }
    text
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let mut text = String::new();
    for error in &failure.errors {
        let title = format!("meshdoctor produced no report, exit {}", failure.status);
        command(&mut text, "error", &[("title", title)], error);
    }
    text
}

/// The check; for a symptom, with the causes to fix.
fn title(finding: &Finding, causes: &[&str]) -> String {
    match causes {
        [] => finding.check.to_owned(),
        causes => format!("{} (because of {})", finding.check, some_of(causes, NAMED)),
    }
}

fn level(finding: &Finding, subjects: &[&Subject]) -> &'static str {
    match finding.severity {
        _ if finding.when.ends() || does_not_count(finding, subjects) => "notice",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    }
}

fn command(text: &mut String, level: &str, properties: &[(&str, String)], message: &str) {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    _ = writeln!(text, "::{level} {}::{}", properties.join(","), data(message));
}

/// Escapes a message; only these characters are special.
fn data(text: &str) -> String {
    without_hashes(&clean(text), "\\u{23}").replace('%', "%25")
}

/// Escapes a property, in which two more are special.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
