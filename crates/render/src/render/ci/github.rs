//! The report as workflow commands of GitHub Actions: first the result, then by level an annotation for each finding,
//! at its line if it is in a manifest, and one for missing requested evidence. Nothing else is printed, and no
//! text of a cluster can start a command: values stay on one line and are escaped.

use std::fmt::Write;

use super::super::coverage;
use super::super::document::Failure;
use super::super::finding::explained_as;
use super::super::table::{Folding, result_line};
use super::super::text::{clean, count, some_of, without_hashes};
use super::unchecked::{NAMED, Unchecked, checks, nobody_provided, place, unreadable};
use super::{causes, does_not_count, finding_line, path, spots};
use crate::checks::Outcome;
use crate::command::own;
use crate::exit;
use crate::finding::{Finding, Severity, Step, Subject};
use crate::report::Report;

pub fn report(report: &Report) -> String {
    let mut text = String::new();
    // First, because GitHub shows only the first ten of a level.
    let verdict = if report.verdict.status == exit::FINE { "notice" } else { "error" };
    command(&mut text, verdict, &[("title", "meshdoctor".to_owned())], &result_line(report));
    let mut annotations = findings(report);
    annotations.extend(not_checked(report));
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let title = ("title", format!("{} crashed", check.id));
            annotations.push(Annotation { level: Level::Error, properties: vec![title], message: message.clone() });
        }
    }
    for error in &report.errors {
        let title = ("title", "meshdoctor".to_owned());
        annotations.push(Annotation { level: Level::Error, properties: vec![title], message: error.clone() });
    }
    // Stable: within a level, in the order of the report.
    annotations.sort_by_key(|annotation| annotation.level);
    for Annotation { level, properties, message } in &annotations {
        command(&mut text, level.word(), properties, message);
    }
    text
}

/// A workflow command, except for the result.
struct Annotation {
    level: Level,
    properties: Vec<(&'static str, String)>,
    message: String,
}

/// Ordered as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
        }
    }
}

/// An annotation for each location of each finding.
fn findings(report: &Report) -> Vec<Annotation> {
    let folding = Folding::from_findings(&report.findings);
    let mut annotations = Vec::new();
    for (at, finding) in report.findings.iter().enumerate() {
        let causes = causes(report, &folding, at);
        let title = title(finding, &causes);
        for spot in spots(finding) {
            let first = finding.remedy.steps.first().filter(|_| causes.is_empty() && finding.severity > Severity::Info);
            let first = first.map(first_step).unwrap_or_default();
            let message = format!("{}{first}", finding_line(finding, &spot.subjects, &[]));
            let level = level(finding, &spot.subjects, !causes.is_empty());
            if spot.written.is_empty() {
                let properties = vec![("title", title.clone())];
                annotations.push(Annotation { level, properties, message: message.clone() });
            }
            for written in spot.written {
                let properties = vec![
                    ("file", path(report, &written.file)),
                    ("line", written.line.to_string()),
                    ("col", written.column.max(1).to_string()),
                    ("title", title.clone()),
                ];
                // The line is that of the rendered file, which the change does not contain.
                let source = written.source.as_ref().map(|source| format!(" (from {})", clean(source)));
                let message = format!("{message}{}", source.unwrap_or_default());
                annotations.push(Annotation { level, properties, message });
            }
        }
    }
    annotations
}

/// Maximum number of lines of the command of a first step.
const COMMAND: usize = 4;

/// The first step of a finding, with its command unless that is long.
fn first_step(step: &Step) -> String {
    let command: Vec<String> = step.command.iter().flat_map(|command| command.rendered()).collect();
    let lines = command.iter().filter(|_| command.len() <= COMMAND).map(|line| format!("\n  {}", clean(line)));
    format!("\nFirst step: {}{}", clean(&step.text), lines.collect::<String>())
}

/// Annotations for missing evidence, in few lines: GitHub shows only ten.
fn not_checked(report: &Report) -> Vec<Annotation> {
    let unchecked = Unchecked::from_report(report);
    let mut annotations = Vec::new();
    if !unchecked.failing.is_empty() {
        let gaps: Vec<_> = unchecked.failing.iter().flatten().copied().collect();
        let checks = checks(&gaps);
        let message = match gaps.as_slice() {
            [gap] => format!("{}: {}", some_of(&checks, NAMED), super::not_checked(gap)),
            gaps => format!(
                "{} {}; {} lists them, and how to provide them",
                count(checks.len(), "check lacks", "checks lack"),
                coverage::named(gaps),
                own("check --coverage"),
            ),
        };
        // The result is the error.
        let level = if report.verdict.status == exit::NOT_CHECKED { Level::Warning } else { Level::Notice };
        let properties = vec![("title", "not checked: evidence is missing".to_owned())];
        annotations.push(Annotation { level, properties, message });
    }
    for (message, gaps) in unchecked.unreadable {
        let place = place(report, message);
        let mut properties: Vec<(&str, String)> =
            place.into_iter().flat_map(|(file, line)| [("file", file), ("line", line.to_string())]).collect();
        properties.push(("title", "could not be read".to_owned()));
        annotations.push(Annotation { level: Level::Error, properties, message: unreadable(message, &gaps) });
    }
    if let Some(message) = nobody_provided(&unchecked.accepted) {
        let properties = vec![("title", "not checked".to_owned())];
        annotations.push(Annotation { level: Level::Notice, properties, message });
    }
    annotations
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
fn title(finding: &Finding, causes: &[String]) -> String {
    match causes {
        [] => explained_as(finding),
        causes => format!("{} (because of {})", explained_as(finding), some_of(causes, NAMED)),
    }
}

/// A symptom is a notice: the repair of its cause repairs it.
fn level(finding: &Finding, subjects: &[&Subject], is_symptom: bool) -> Level {
    match finding.severity {
        _ if is_symptom || finding.when.ends() || does_not_count(finding, subjects) => Level::Notice,
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Notice,
    }
}

fn command(text: &mut String, level: &str, properties: &[(&str, String)], message: &str) {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    _ = writeln!(text, "::{level} {}::{}", properties.join(","), data(message));
}

/// Escapes a message; only these characters are special.
fn data(text: &str) -> String {
    let line = |line: &str| without_hashes(&clean(line), "\\u{23}").replace('%', "%25");
    text.split('\n').map(line).collect::<Vec<_>>().join("%0A")
}

/// Escapes a property, in which two more are special.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
