//! The order of repair, for people: what is to be repaired as numbered steps over the whole report, and for each of them
//! after which others it comes. The order itself is decided in [`crate::cause`]; here it only gets its numbers.

use std::collections::BTreeMap;

use super::look::Look;
use super::subject;
use super::text::{count, pad, shortened_to, width};
use crate::finding::{Finding, Fingerprint, Severity};
use crate::report::Report;

/// A finding among the numbered steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// The steps that come before it, the nearest only: number and check.
    pub after: Vec<(usize, &'static str)>,
}

/// The steps of a report, by the place of each finding; none where there are not several.
pub struct Steps(BTreeMap<usize, Step>);

impl Steps {
    /// Errors that nothing else explains, and what has to be repaired before one of them.
    pub fn of(report: &Report) -> Steps {
        let findings = &report.findings;
        let is_root = |finding: &&Finding| finding.caused_by.is_empty() && !finding.is_waived();
        let errors = findings.iter().filter(is_root).filter(|f| f.severity == Severity::Error).count();
        if errors < 2 {
            return Steps(BTreeMap::new());
        }
        // They are sorted so that what an error waits for comes before it.
        let last = findings.iter().rposition(|f| f.severity == Severity::Error && is_root(&f));
        let roots =
            findings.iter().enumerate().take(last.map_or(0, |last| last + 1)).filter(|(_, f)| is_root(f));
        let mut numbers: BTreeMap<Fingerprint, (usize, &'static str)> = BTreeMap::new();
        let mut steps = BTreeMap::new();
        for (number, (at, finding)) in (1..).zip(roots) {
            let mut after: Vec<_> =
                finding.after.iter().filter_map(|one| numbers.get(one).copied()).collect();
            after.sort_unstable();
            numbers.insert(finding.fingerprint(), (number, finding.check));
            steps.insert(at, Step { number, after });
        }
        Steps(steps)
    }

    /// The step that a finding is.
    pub fn step(&self, at: usize) -> Option<&Step> {
        self.0.get(&at)
    }

    /// The list, a line for each step; nothing where there are not several.
    pub fn lines(&self, report: &Report, look: Look) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let findings = || self.0.iter().map(|(&at, step)| (&report.findings[at], step));
        let errors = findings().filter(|(finding, _)| finding.severity == Severity::Error).count();
        let mut lines = vec![format!("{}, repair in this order", look.bad(&heading(errors, self.0.len())))];
        let numbers = self.0.len().to_string().len();
        let checks = findings().map(|(finding, _)| width(finding.check)).max().unwrap_or_default();
        for (finding, step) in findings() {
            let after = match step.after.is_empty() {
                true => String::new(),
                false => format!("  after {}", in_numbers(&step.after)),
            };
            let severity = match finding.severity {
                Severity::Error => String::new(),
                other => format!("  ({other})"),
            };
            let number = format!("{:>numbers$}", step.number);
            let left = 2 + numbers + 2 + checks + 2;
            let room = look.columns().saturating_sub(left + width(&after) + width(&severity));
            let about = subject::brief(finding.subjects.iter());
            let about = shortened_to(&about, room);
            let line = format!(
                "  {number}  {}  {about}{severity}{}",
                look.strong(&pad(finding.check, checks)),
                look.faint(&after)
            );
            lines.push(line.trim_end().to_owned());
        }
        lines
    }
}

/// `3 ERRORS`, and what has to be repaired before one of them.
fn heading(errors: usize, steps: usize) -> String {
    match steps - errors {
        0 => format!("{errors} ERRORS"),
        1 => format!("{errors} ERRORS and 1 WARNING"),
        warnings => format!("{errors} ERRORS and {warnings} WARNINGS"),
    }
}

impl Step {
    /// `1 issuer-expired, 2 injector-unavailable`
    pub fn after_in_words(&self) -> String {
        let words: Vec<String> =
            self.after.iter().map(|(number, check)| format!("{number} {check}")).collect();
        words.join(", ")
    }
}

/// `1, 2, 4`, and only how many where that gets long.
fn in_numbers(after: &[(usize, &str)]) -> String {
    if after.len() > 6 {
        return count(after.len(), "step", "steps");
    }
    after.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(", ")
}
