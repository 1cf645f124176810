//! The report as JUnit XML: a suite for each category, a test case for each selected check, and one for the
//! run itself. A case passes only if the check ran in full and nothing counts against it. It fails if a
//! finding fails the run; symptoms of such findings are skipped, so that a cause is one failure. It is an error if
//! missing evidence makes the exit status 4. It is skipped if other evidence is missing or the check does not apply.
//! So a failure or an error exists exactly if the exit status is not 0.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::document::Failure;
use super::super::table::{Folding, result_line};
use super::super::text::clean;
use super::{causes, earlier, evidence, finding_line, gap_decides, meaning, remedy};
use crate::check_outcome::CheckOutcome;
use crate::checks::Outcome;
use crate::exit;
use crate::finding::{Finding, Standing};
use crate::report::Report;

/// The result of a case.
enum Ending {
    Passed,
    Failed(String, String),
    Error(String, String),
    Skipped(String),
}

/// A test case.
struct Case {
    suite: String,
    name: String,
    ending: Ending,
    /// Text that does not affect the result.
    out: String,
}

pub fn report(report: &Report) -> String {
    let failing: BTreeSet<&str> = report
        .coverage
        .gaps
        .iter()
        .filter(|gap| gap_decides(report, gap))
        .flat_map(|gap| gap.checks.iter().copied())
        .collect();
    let folding = Folding::from_findings(&report.findings);
    let mut cases: Vec<Case> = report
        .checks
        .iter()
        .map(|check| {
            let findings = report.findings.iter().enumerate().filter(|(_, one)| one.check == check.id);
            let findings: Vec<CaseFinding<'_>> = findings
                .map(|(at, finding)| CaseFinding {
                    finding,
                    causes: causes(report, &folding, at),
                    earlier: earlier(report, &folding, at),
                    is_of_failure: folding
                        .roots(at)
                        .iter()
                        .any(|&root| report.findings[root].standing == Standing::Fails),
                })
                .collect();
            case(check, &findings, failing.contains(check.id))
        })
        .collect();
    let status = report.verdict.status;
    let errors = report.errors.join("; ");
    let ending = match status {
        _ if !errors.is_empty() => Ending::Error(errors, String::new()),
        exit::FINE | exit::FINDINGS => Ending::Passed,
        status => Ending::Error(format!("exit {status}: {}", meaning(status)), result_line(report)),
    };
    let out = format!("{}\n", result_line(report));
    cases.push(Case { suite: "run".to_owned(), name: "run".to_owned(), ending, out });
    document(&cases, report.run.started.map(|at| at.to_string()))
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let ending = Ending::Error(failure.errors.join("; "), meaning(failure.status).to_owned());
    document(
        &[Case { suite: "run".to_owned(), name: "run".to_owned(), ending, out: String::new() }],
        failure.run.started.map(|at| at.to_string()),
    )
}

/// A finding, the checks of its root causes if it is a symptom, and those of the findings to repair before it.
struct CaseFinding<'r> {
    finding: &'r Finding,
    causes: Vec<String>,
    earlier: Vec<String>,
    /// Whether a root cause fails the run itself.
    is_of_failure: bool,
}

impl CaseFinding<'_> {
    /// On one line.
    fn line(&self) -> String {
        finding_line(self.finding, &self.finding.subjects.iter().collect::<Vec<_>>(), &self.causes)
    }

    /// On several lines.
    fn lines(&self) -> String {
        let mut text = format!("{} {}\n", self.finding.severity, self.line());
        for written in &self.finding.written {
            _ = writeln!(text, "  at {}:{}:{}", clean(&written.file), written.line, written.column);
        }
        for seen in &self.finding.evidence {
            _ = writeln!(text, "  evidence: {}", evidence(seen));
        }
        for line in remedy(self.finding, &self.causes, &self.earlier) {
            _ = writeln!(text, "  {line}");
        }
        text
    }
}

fn case(check: &CheckOutcome, findings: &[CaseFinding<'_>], gaps_fail: bool) -> Case {
    let fails = |told: &&CaseFinding<'_>| told.finding.standing == Standing::Fails;
    let (failing, others): (Vec<&CaseFinding<'_>>, Vec<&CaseFinding<'_>>) =
        findings.iter().partition(|told| fails(told) && !told.is_of_failure);
    let symptom = findings.iter().find(|told| fails(told)).map(CaseFinding::line);
    let gaps: Vec<String> = check
        .gaps
        .iter()
        .zip(&check.closes)
        .map(|(gap, close)| format!("not checked: {gap}; to check this: {close}"))
        .collect();
    let tell = |findings: &[&CaseFinding<'_>]| findings.iter().map(|told| told.lines()).collect::<Vec<_>>().join("\n");
    let gap = || gaps.first().cloned().unwrap_or_else(|| "not checked".to_owned());
    let ending = match &check.outcome {
        Outcome::Crashed(message) => Ending::Error(format!("crashed, a bug in meshdoctor: {message}"), gaps.join("\n")),
        _ if !failing.is_empty() => {
            let first = failing[0].line();
            let more = match failing.len() {
                1 => first,
                many => format!("{first}; and {} more", many - 1),
            };
            Ending::Failed(more, format!("{}\n{}", tell(&failing), gaps.join("\n")))
        }
        _ if gaps_fail => Ending::Error(gap(), gaps.join("\n")),
        _ if symptom.is_some() => Ending::Skipped(symptom.unwrap_or_default()),
        Outcome::Unknown => Ending::Skipped(gap()),
        Outcome::Findings if !gaps.is_empty() => Ending::Skipped(gap()),
        Outcome::NotApplicable(reason) => Ending::Skipped(format!("not applicable: {reason}")),
        Outcome::Pass | Outcome::Findings => Ending::Passed,
    };
    Case { suite: check.category.clone(), name: check.id.to_owned(), ending, out: tell(&others) }
}

fn document(cases: &[Case], timestamp: Option<String>) -> String {
    let mut suites: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        suites.entry(&case.suite).or_default().push(case);
    }
    let at = timestamp.map(|at| format!(" timestamp=\"{}\"", attribute(&at))).unwrap_or_default();
    let all: Vec<&Case> = cases.iter().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    _ = writeln!(text, "<testsuites name=\"meshdoctor\" {} time=\"0\">", tally(&all));
    for (name, cases) in &suites {
        _ = writeln!(
            text,
            "  <testsuite name=\"{}\" {} skipped=\"{}\" time=\"0\"{at}>",
            attribute(name),
            tally(cases),
            skipped(cases)
        );
        for case in cases {
            _ = writeln!(
                text,
                "    <testcase classname=\"meshdoctor.{}\" name=\"{}\" time=\"0\">",
                attribute(name),
                attribute(&case.name)
            );
            element(&mut text, &case.ending);
            if !case.out.is_empty() {
                _ = writeln!(text, "      <system-out>{}</system-out>", content(&case.out));
            }
            text.push_str("    </testcase>\n");
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// The counts of a suite and of the whole report. Jenkins' schema allows no others for the report.
fn tally(cases: &[&Case]) -> String {
    let count = |is: fn(&Ending) -> bool| cases.iter().filter(|case| is(&case.ending)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(|ending| matches!(ending, Ending::Failed(..))),
        count(|ending| matches!(ending, Ending::Error(..))),
    )
}

fn skipped(cases: &[&Case]) -> usize {
    cases.iter().filter(|case| matches!(case.ending, Ending::Skipped(..))).count()
}

fn element(text: &mut String, ending: &Ending) {
    let mut say = |word: &str, kind: &str, message: &str, body: &str| {
        let kind = if kind.is_empty() { String::new() } else { format!(" type=\"{kind}\"") };
        _ = writeln!(text, "      <{word} message=\"{}\"{kind}>{}</{word}>", attribute(&clean(message)), content(body));
    };
    match ending {
        Ending::Passed => {}
        Ending::Failed(message, body) => say("failure", "finding", message, body),
        Ending::Error(message, body) => say("error", "not-checked", message, body),
        Ending::Skipped(message) => say("skipped", "", message, ""),
    }
}

/// Text of an element, without characters that XML does not allow.
fn content(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(|line| escaped(&clean(line))).collect();
    lines.join("\n")
}

fn attribute(text: &str) -> String {
    escaped(&clean(text))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '#' => escaped.push_str("&#35;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
