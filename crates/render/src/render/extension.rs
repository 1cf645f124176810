//! The report as rows of `linkerd check`: the document that the Linkerd CLI expects of its extensions on
//! standard output, and prints as its own rows. The categories are those of the checks; each problem is a
//! row, and all passed checks of a category are one row, so that the output stays readable next to the CLI's
//! own fifty rows.
//!
//! A row with a text in `error` fails, whatever its `result`, so passed rows have none.

use std::collections::BTreeMap;

use super::finding::{Form, Printer};
use super::linkerd;
use super::look::Look;
use super::table::Folding;
use super::text::{clean, clean_lines, count, shortened};
use super::{coverage, subject};
use crate::check_outcome::CheckOutcome;
use crate::checks::Outcome;
use crate::command::{Command, meshdoctor};
use crate::exit;
use crate::finding::{Confidence, Finding, Severity};
use crate::page;
use crate::report::Report;
use crate::rows::{Category, RowResult, RowVerdict};

/// The CLI prints later lines of an error unchanged, so they are indented like the first one.
const INDENT: &str = "\n    ";

/// The line width; the CLI does not wrap.
const WIDTH: usize = 120;

/// The rows of a report, as text.
pub fn report(report: &Report) -> String {
    linkerd::json(&rows(report), linkerd::is_sound(report))
}

/// The rows of a report.
pub fn rows(report: &Report) -> Vec<Category> {
    let mut categories: Vec<(&str, Vec<&CheckOutcome>)> = Vec::new();
    for check in &report.checks {
        match categories.iter_mut().find(|(name, _)| *name == check.category) {
            Some((_, checks)) => checks.push(check),
            None => categories.push((&check.category, vec![check])),
        }
    }
    let mut found = findings(report);
    let of_checks = categories.into_iter().filter_map(|(name, checks)| {
        let mut rows: Vec<RowVerdict> = passed(&checks).into_iter().collect();
        rows.extend(found.remove(name).into_iter().flatten());
        (!rows.is_empty()).then(|| Category { name: format!("meshdoctor-{name}"), rows })
    });
    let mut categories: Vec<Category> = of_checks.collect();
    categories.push(Category { name: "meshdoctor-coverage".to_owned(), rows: not_judged(report) });
    categories
}

/// A run without a report, as text: the error and the next step.
pub fn failure(message: &str, next: Option<&str>) -> String {
    let mut lines: Vec<String> = clean_lines(message).map(Into::into).collect();
    lines.extend(next.map(|next| clean(next).into_owned()));
    let row = RowVerdict {
        description: "meshdoctor can look at the cluster".to_owned(),
        hint: Some(page::document_url("cli.md")),
        error: lines.join(INDENT),
        result: RowResult::Error,
        checks: vec![],
        listed: vec![],
    };
    linkerd::json(&[Category { name: "meshdoctor".to_owned(), rows: vec![row] }], false)
}

fn fine(description: String) -> RowVerdict {
    RowVerdict {
        description,
        hint: None,
        error: String::new(),
        result: RowResult::Success,
        checks: vec![],
        listed: vec![],
    }
}

/// The passed checks of a category, as one row; `None` if no check passed.
fn passed(checks: &[&CheckOutcome]) -> Option<RowVerdict> {
    let passed = checks.iter().filter(|check| check.outcome == Outcome::Pass).count();
    (passed > 0).then(|| fine(format!("{} found no problems", count(passed, "check", "checks"))))
}

/// A row for each finding of warning or above, by category. Infos need no action; symptoms are in the row of
/// their cause, if it has one.
fn findings(report: &Report) -> BTreeMap<&str, Vec<RowVerdict>> {
    let look = Look::plain(WIDTH);
    let printer = Printer::new(look, Form::Report { now: report.at.0 });
    let folding = Folding::from_findings(&report.findings);
    let mut rows: BTreeMap<&str, Vec<RowVerdict>> = BTreeMap::new();
    for (at, finding) in report.findings.iter().enumerate() {
        let result = match finding.severity {
            Severity::Info => continue,
            Severity::Warning => RowResult::Warning,
            Severity::Error => RowResult::Error,
        };
        let check = report.checks.iter().find(|check| check.id == finding.check);
        let told = |root: &usize| report.findings[*root].severity > Severity::Info;
        let Some(check) = check.filter(|_| !folding.roots(at).iter().any(told)) else { continue };
        let row = RowVerdict {
            description: format!("{}: {}", finding.check, subject::heading(&finding.subjects, look)),
            hint: page::page_url(finding.check),
            error: error(finding, &folding.explained_by(at, &report.findings), &printer).join(INDENT),
            result,
            checks: vec![finding.check],
            listed: vec![],
        };
        rows.entry(&check.category).or_default().push(row);
    }
    rows
}

/// The problem, its first piece of evidence, the findings that it explains, and the first step.
fn error(finding: &Finding, explains: &[String], printer: &Printer) -> Vec<String> {
    let likely = if finding.confidence == Confidence::Likely { " (likely)" } else { "" };
    let mut lines = vec![format!("{}{likely}", clean(&finding.message))];
    if let Some(evidence) = finding.evidence.first() {
        let (who, seen) = printer.row(evidence);
        let seen = if who.is_empty() { seen } else { format!("{who}: {seen}") };
        let more = match finding.evidence.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        lines.push(format!("evidence: {}{more}", shortened(&seen, 300)));
    }
    if !explains.is_empty() {
        lines.push(format!("explains: {}", explains.join(", ")));
    }
    let steps = &finding.remedy.steps;
    if let Some(step) = steps.first() {
        let of = if steps.len() > 1 { format!(" (1 of {})", steps.len()) } else { String::new() };
        lines.push(format!("fix{of}: {}", clean(&step.text)));
        let command = step.command.iter().flat_map(Command::rendered);
        lines.extend(command.map(|line| format!("  {}", clean(&line))));
    }
    if steps.len() > 1 {
        lines.push(format!("every step: {}", meshdoctor().words("check --only").arg(finding.check)));
    }
    lines
}

/// The coverage, and requested evidence that was unavailable. Evidence that was not provided has no row.
fn not_judged(report: &Report) -> Vec<RowVerdict> {
    let objects = count(report.coverage.objects, "object was", "objects were");
    let nodes = match report.coverage.nodes {
        Some(nodes) => {
            format!(", and the files of {} of {}", report.coverage.snapshots, count(nodes, "node", "nodes"))
        }
        None => String::new(),
    };
    let mut rows = vec![fine(format!("{objects} looked at{nodes}"))];
    let warning = |description: String, error: String| RowVerdict {
        description,
        hint: Some(page::document_url("reading-a-report.md")),
        error,
        result: RowResult::Warning,
        checks: vec![],
        listed: vec![],
    };
    for (what, facts) in coverage::asked_for(report, Look::plain(WIDTH)) {
        let lines = facts.into_iter().map(|(label, text)| match label {
            "" => format!("  {text}"),
            label => format!("{label}: {text}"),
        });
        rows.push(warning(what, lines.collect::<Vec<_>>().join(INDENT)));
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let message = shortened(&clean(message), 300).into_owned();
            rows.push(warning(format!("{} crashed, a bug in meshdoctor", check.id), message));
        }
    }
    rows.extend(
        report.errors.iter().map(|error| warning("problem with the run".to_owned(), clean(error).into_owned())),
    );
    if report.verdict.status == exit::COULD_NOT_RUN {
        rows.push(RowVerdict {
            result: RowResult::Error,
            ..warning("meshdoctor can check the mesh".to_owned(), "nothing could be checked".to_owned())
        });
    }
    rows
}
