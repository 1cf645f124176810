//! The report as a code quality document of GitLab: an issue for each finding (one for each subject if it is
//! in a manifest), one for each reason for missing requested evidence, and one for all evidence that was not
//! provided. Every issue must name a file; without one, the object is written as a path.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::document::Failure;
use super::super::json::write;
use super::super::table::Folding;
use super::super::text::{clean, some_of};
use super::unchecked::{NAMED, Unchecked, alike, nobody_provided, place, unreadable};
use super::{causes, does_not_count, finding_line, gap_fingerprint, run_fingerprint, spots};
use crate::checks::Outcome;
use crate::exit;
use crate::finding::{Finding, Fingerprint, Severity, Subject};
use crate::report::{ConfigUse, Report};

pub fn report(report: &Report) -> String {
    let mut issues: Vec<Value> = Vec::new();
    let mut told = BTreeSet::new();
    let folding = Folding::from_findings(&report.findings);
    let counted = report.findings.iter().enumerate().filter(|(_, finding)| !finding.when.ends());
    for (at, finding) in counted {
        let causes = causes(report, &folding, at);
        for spot in spots(finding) {
            let (path, line) = match spot.written.first() {
                Some(written) => (super::path(report, &written.file), written.line),
                None => (spot.subjects.first().map_or_else(|| "cluster".to_owned(), |s| path(s)), 1),
            };
            let message = finding_line(finding, &spot.subjects, &causes);
            // One check can have two findings for one subject, but GitLab treats equal fingerprints as one
            // issue.
            let print = match told.insert(spot.fingerprint.clone()) {
                true => spot.fingerprint,
                false => run_fingerprint(&format!("{} {}", spot.fingerprint, finding.message)),
            };
            issues.push(issue(finding.check, severity(finding, &spot.subjects), &message, &print, &path, line));
        }
    }
    let unchecked = Unchecked::from_report(report);
    let mut missing = |severity: &str, message: &str, which: &str, place: Option<(String, u64)>| {
        let (path, line) = place.unwrap_or_else(|| ("cluster/not-checked".to_owned(), 1));
        issues.push(issue("not-checked", severity, message, &gap_fingerprint(which), &path, line));
    };
    for gaps in &unchecked.failing {
        let message = format!("not checked ({}): {}", some_of(&gaps[0].checks, NAMED), alike(gaps));
        missing(
            "major",
            &message,
            &gaps.iter().map(|gap| gap.missing.to_string()).collect::<Vec<_>>().join("\n"),
            None,
        );
    }
    for (why, gaps) in &unchecked.unreadable {
        missing("major", &unreadable(why, gaps), why, place(report, why));
    }
    if let Some(message) = nobody_provided(&unchecked.accepted) {
        // Without any result, this gap decides the exit status.
        let decides = report.verdict.status == exit::NOT_CHECKED
            && report.verdict.crashed == 0
            && unchecked.failing.is_empty()
            && unchecked.unreadable.is_empty();
        missing(if decides { "major" } else { "info" }, &message, "not provided", None);
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let message = format!("{} crashed, a bug in meshdoctor: {message}", check.id);
            issues.push(issue(check.id, "major", &message, &run_fingerprint(check.id), "cluster/crashed", 1));
        }
    }
    issues.extend(report.errors.iter().map(|error| trouble(error)));
    issues.extend(report.run.config.as_ref().and_then(configuration));
    write(&issues)
}

/// A configuration file that sets flags of the gate.
fn configuration(config: &ConfigUse) -> Option<Value> {
    let settings = config.gate_settings()?;
    let print = run_fingerprint(&settings);
    Some(issue("configuration", "info", &settings, &print, &clean(&config.file), 1))
}

/// A run without a report: one blocking issue instead of an empty list.
pub fn failure(failure: &Failure) -> String {
    write(&failure.errors.iter().map(|error| trouble(error)).collect::<Vec<_>>())
}

fn trouble(error: &str) -> Value {
    let message = format!("meshdoctor: {error}");
    issue("could-not-run", "blocker", &message, &run_fingerprint(error), "cluster/could-not-run", 1)
}

fn severity(finding: &Finding, subjects: &[&Subject]) -> &'static str {
    match finding.severity {
        _ if does_not_count(finding, subjects) => "info",
        Severity::Error => "critical",
        Severity::Warning => "minor",
        Severity::Info => "info",
    }
}

fn issue(check: &str, severity: &str, text: &str, print: &Fingerprint, path: &str, line: u64) -> Value {
    json!({
        "type": "issue",
        "check_name": check,
        "description": clean(text),
        "severity": severity,
        "fingerprint": print,
        "location": {"path": path, "lines": {"begin": line}},
    })
}

/// `cluster/shop/Deployment/web`, `nodes/ip-10-0-1-12/etc/cni/net.d/10.conflist`.
fn path(subject: &Subject) -> String {
    let path = match subject {
        Subject::Object { kind, namespace, name, .. } if namespace.is_empty() => {
            format!("cluster/{kind}/{name}")
        }
        Subject::Object { kind, namespace, name, .. } => format!("cluster/{namespace}/{kind}/{name}"),
        Subject::Node { node, file, .. } => {
            format!(
                "nodes/{node}{}",
                file.as_ref().map(|file| format!("/{}", file.trim_start_matches('/'))).unwrap_or_default()
            )
        }
        Subject::Thing { thing } => format!("cluster/{}", thing.replace([' ', '/'], "-")),
    };
    clean(&path).into_owned()
}
