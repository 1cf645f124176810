//! The report as workflow commands of GitHub Actions: an annotation for each finding, at its line where it is in a
//! manifest, one for each reason for which evidence that was asked for is missing, and the result first. Nothing else is printed, and no text of
//! a cluster can begin a command of its own: values stay in one line and are escaped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::document::Failure;
use super::super::table::result_line;
use super::super::text::{clean, count, some_of, without_hashes};
use super::{does_not_count, gap_fails, not_checked, said, spots};
use crate::checks::Outcome;
use crate::exit;
use crate::fetched::Why;
use crate::finding::{Finding, Severity};
use crate::report::{Gap, Report};

/// How many checks are named that nobody provided evidence for.
const NAMED: usize = 8;

/// A report.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    // First, since GitHub shows only the first ten of a level.
    let verdict = if report.verdict.status == exit::FINE { "notice" } else { "error" };
    command(&mut text, verdict, &[("title", "meshdoctor".to_owned())], &result_line(report));
    for finding in &report.findings {
        for spot in spots(finding) {
            let message = said(finding, &spot.subjects);
            if spot.written.is_empty() {
                command(&mut text, level(finding), &[("title", finding.check.to_owned())], &message);
            }
            for written in spot.written {
                let properties = [
                    ("file", written.file.strip_prefix("./").unwrap_or(&written.file).to_owned()),
                    ("line", written.line.to_string()),
                    ("col", written.column.max(1).to_string()),
                    ("title", finding.check.to_owned()),
                ];
                command(&mut text, level(finding), &properties, &message);
            }
        }
    }
    let mut alike: BTreeMap<(&[&str], String), Vec<&Gap>> = BTreeMap::new();
    let mut unreadable: BTreeMap<&str, Vec<&Gap>> = BTreeMap::new();
    let (failing, accepted): (Vec<&Gap>, Vec<&Gap>) =
        report.coverage.gaps.iter().partition(|gap| gap_fails(report, gap));
    for gap in failing {
        if let Why::Malformed { message } = &gap.missing.why {
            unreadable.entry(message).or_default().push(gap);
            continue;
        }
        alike.entry((gap.checks.as_slice(), gap.close.to_string())).or_default().push(gap);
    }
    for ((checks, _), gaps) in alike {
        let title = format!("not checked: {}", some_of(checks, NAMED));
        let more = match gaps.len() {
            1 => String::new(),
            many => format!("; and {} more", many - 1),
        };
        command(&mut text, "error", &[("title", title)], &format!("{}{more}", not_checked(gaps[0])));
    }
    // One file may keep every check from its evidence.
    for (message, gaps) in unreadable {
        let checks: BTreeSet<&str> = gaps.iter().flat_map(|gap| gap.checks.iter().copied()).collect();
        let named: Vec<&str> = checks.into_iter().collect();
        let mut properties = place(message);
        properties.push(("title", "could not be read".to_owned()));
        let words = format!(
            "{message}; {} not run fully: {}; to check this: {}",
            count(named.len(), "check did", "checks did"),
            some_of(&named, NAMED),
            gaps[0].close,
        );
        command(&mut text, "error", &properties, &words);
    }
    // What nobody offered is one line: it would bury the rest.
    let checks: BTreeSet<&str> = accepted.iter().flat_map(|gap| gap.checks.iter().copied()).collect();
    if !checks.is_empty() {
        let named: Vec<&str> = checks.into_iter().collect();
        let words = format!(
            "{} not run fully, as nobody provided the evidence: {}; check --coverage says what and how",
            count(named.len(), "check did", "checks did"),
            some_of(&named, NAMED),
        );
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

/// A run that came to no report.
pub fn failure(failure: &Failure) -> String {
    let mut text = String::new();
    for error in &failure.errors {
        let title = format!("meshdoctor came to no report, exit {}", failure.status);
        command(&mut text, "error", &[("title", title)], error);
    }
    text
}

/// The file and line that a message begins with: `k8s/web.yaml:3: did not find expected node content`.
fn place(message: &str) -> Vec<(&'static str, String)> {
    let of = || {
        let (place, _) = message.split_once(": ")?;
        let (file, line) = place.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        let file = file.strip_prefix("./").unwrap_or(file);
        Some(vec![("file", file.to_owned()), ("line", line.to_string())])
    };
    of().unwrap_or_default()
}

fn level(finding: &Finding) -> &'static str {
    match finding.severity {
        _ if finding.when.ends() || does_not_count(finding) => "notice",
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

/// As the runner reads it back: only these are special in a message.
fn data(text: &str) -> String {
    without_hashes(&clean(text), "\\u{23}").replace('%', "%25")
}

/// In a property two more are.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
