//! The report that people read: causes first, what they explain folded under them, evidence quoted, steps that can be
//! pasted; then what could not be judged, and the result.

use std::collections::BTreeMap;

use super::finding::Printer;
use super::look::Look;
use super::text::{clean, count, wrap};
use super::{coverage, header, subject};
use crate::checks::{CheckResult, Outcome};
use crate::exit;
use crate::finding::{Finding, Fingerprint, Severity};
use crate::report::Report;

/// One check's result alone, as cards quote it.
pub fn result(result: &CheckResult, width: usize) -> String {
    let look = Look::plain(width);
    let printer = Printer::of_card(look);
    let findings: Vec<String> = result.findings.iter().map(|finding| printer.finding(finding, &[])).collect();
    let mut text = findings.join("\n");
    let mut say = |indent: &str, words: &str| {
        for (at, line) in wrap(&clean(words), look.prose() - 4).iter().enumerate() {
            text.push_str(if at == 0 { indent } else { "    " });
            text.push_str(line);
            text.push('\n');
        }
    };
    match &result.outcome {
        Outcome::Pass => say("", "pass"),
        Outcome::NotApplicable(reason) => say("", &format!("not applicable: {reason}")),
        Outcome::Crashed(message) => say("", &format!("crashed: {message}")),
        Outcome::Findings | Outcome::Unknown => {}
    }
    for gap in &result.gaps {
        say("", &format!("not judged: {gap}"));
        say("  ", &format!("to close: {}", gap.close()));
    }
    text
}

/// The whole report.
pub fn report(report: &Report, look: Look) -> String {
    let printer = Printer::of_report(look, report.at.0);
    let mut blocks = vec![header::lines(report, look).join("\n") + "\n"];
    let folding = Folding::of(&report.findings);
    let mut infos = String::new();
    for (at, finding) in report.findings.iter().enumerate().filter(|(at, _)| folding.is_root(*at)) {
        let text = printer.finding(finding, &folding.explained_by(at, &report.findings));
        // Infos are short, so they stand together.
        if finding.severity == Severity::Info && !look.verbose {
            infos.push_str(&text);
        } else {
            blocks.push(text);
        }
        if look.verbose {
            let folded = folding.counted_under(at).map(|at| &report.findings[at]);
            blocks.extend(folded.map(|symptom| printer.symptom(symptom, finding.check)));
        }
    }
    blocks.extend(Some(infos).filter(|infos| !infos.is_empty()));
    if report.findings.is_empty() {
        blocks.push(wrap(&nothing_found(report), look.prose()).join("\n") + "\n");
    }
    let mut end = coverage::lines(report, look);
    for error in &report.errors {
        end.extend(footer("trouble", &clean(error), look));
    }
    end.extend(result_lines(report, look));
    if let Some(first) = report.findings.first() {
        let command = look.command(&format!("meshdoctor explain {}", first.check));
        end.push(format!("{}  {command}", look.faint("more    ")));
    }
    blocks.push(end.join("\n") + "\n");
    blocks.join("\n")
}

fn footer(label: &str, text: &str, look: Look) -> Vec<String> {
    wrap(text, look.prose() - 10)
        .into_iter()
        .enumerate()
        .map(|(at, line)| {
            let label = super::text::pad(if at == 0 { label } else { "" }, 10);
            format!("{}{line}", look.faint(&label))
        })
        .collect()
}

/// Which findings stand by themselves, and which are folded under which.
pub(super) struct Folding {
    /// For each finding, the roots that account for it; empty for roots.
    roots: Vec<Vec<usize>>,
}

impl Folding {
    pub(super) fn of(findings: &[Finding]) -> Folding {
        let mut places: BTreeMap<Fingerprint, usize> = BTreeMap::new();
        for (at, finding) in findings.iter().enumerate() {
            places.entry(finding.fingerprint()).or_insert(at);
        }
        let direct: Vec<Vec<usize>> = findings
            .iter()
            .enumerate()
            .map(|(at, finding)| {
                let causes = finding.caused_by.iter().filter_map(|cause| places.get(cause).copied());
                causes.filter(|&cause| cause != at).collect()
            })
            .collect();
        let roots = (0..findings.len()).map(|at| roots_of(at, &direct)).collect();
        Folding { roots }
    }

    /// The roots that account for it; none for a root.
    pub(super) fn roots(&self, at: usize) -> &[usize] {
        &self.roots[at]
    }

    /// Whether it is printed in full.
    fn is_root(&self, at: usize) -> bool {
        self.roots[at].is_empty()
    }

    /// What is folded under a root and under no earlier one.
    fn counted_under(&self, root: usize) -> impl Iterator<Item = usize> {
        self.roots.iter().enumerate().filter(move |(_, roots)| roots.first() == Some(&root)).map(|(at, _)| at)
    }

    /// What is folded under a root, a check at a time. A symptom of several roots is counted under the first of them
    /// and only mentioned under the others.
    pub(super) fn explained_by(&self, root: usize, findings: &[Finding]) -> Vec<String> {
        let mut counted: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        let mut mentioned: BTreeMap<&str, &str> = BTreeMap::new();
        for (finding, roots) in findings.iter().zip(&self.roots) {
            match roots.first() {
                Some(&first) if first == root => counted.entry(finding.check).or_default().push(finding),
                Some(&first) if roots.contains(&root) => {
                    _ = mentioned.insert(finding.check, findings[first].check)
                }
                _ => {}
            }
        }
        let counted = counted.iter().map(|(check, symptoms)| {
            format!("{check} ({})", subject::brief(symptoms.iter().flat_map(|s| &s.subjects)))
        });
        let mentioned = mentioned.iter().map(|(check, first)| format!("{check} (counted under {first})"));
        counted.chain(mentioned).collect()
    }
}

/// The ends of all chains of causes above a finding, in order; none for a root. A circle, which cannot be, ends nowhere
/// and leaves a root rather than losing the finding.
fn roots_of(at: usize, direct: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![at];
    let mut open = direct[at].clone();
    let mut roots = Vec::new();
    while let Some(cause) = open.pop() {
        if seen.contains(&cause) {
            continue;
        }
        seen.push(cause);
        if direct[cause].is_empty() {
            roots.push(cause);
        }
        open.extend(&direct[cause]);
    }
    roots.sort_unstable();
    roots
}

/// What "nothing found" rests on.
fn nothing_found(report: &Report) -> String {
    let mut categories: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for check in report.checks.iter().filter(|check| !matches!(check.outcome, Outcome::NotApplicable(_))) {
        let (passed, all) = categories.entry(&check.category).or_default();
        *all += 1;
        *passed += usize::from(check.outcome == Outcome::Pass);
    }
    let by_category: Vec<String> = categories
        .iter()
        .map(|(category, (passed, all))| match passed == all {
            true => format!("{category} {all}"),
            false => format!("{category} {passed} of {all}"),
        })
        .collect();
    let verdict = &report.verdict;
    let unable = coverage::unable(report);
    let passed = format!("{} passed ({})", count(verdict.passed, "check", "checks"), by_category.join(", "));
    if unable == 0 {
        format!("Nothing found: {passed}.")
    } else {
        format!(
            "Nothing found, but {unable} of {} could not look, or not everywhere: see coverage. {passed}.",
            count(report.checks.len(), "check", "checks")
        )
    }
}

/// `1 error, 1 warning; 41 checks passed, 6 not applicable, 2 not judged   exit 1`.
pub fn result_line(report: &Report) -> String {
    let verdict = &report.verdict;
    let roots = [
        (verdict.roots.error, Severity::Error, "errors"),
        (verdict.roots.warning, Severity::Warning, "warnings"),
        (verdict.roots.info, Severity::Info, "infos"),
    ];
    let found: Vec<String> =
        roots.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(*n, one.word(), many)).collect();
    let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
    let mut checks = vec![format!("{} passed", count(verdict.passed, "check", "checks"))];
    for (n, words) in [
        (verdict.not_applicable, "not applicable"),
        (verdict.not_judged, "not judged"),
        (verdict.crashed, "crashed"),
    ] {
        if n > 0 {
            checks.push(format!("{n} {words}"));
        }
    }
    let why = match verdict.status {
        exit::FINE | exit::FINDINGS if verdict.gate != "error" => format!(" (--fail-on {})", verdict.gate),
        exit::NOT_CHECKED => " (evidence that was asked for could not be had)".to_owned(),
        exit::COULD_NOT_RUN => " (nothing could be judged)".to_owned(),
        _ => String::new(),
    };
    format!("{found}; {}   exit {}{why}", checks.join(", "), verdict.status)
}

/// The same, labelled; the status in colour.
fn result_lines(report: &Report, look: Look) -> Vec<String> {
    let status = report.verdict.status;
    let words = format!("exit {status}");
    let painted = if status == exit::FINE { look.good(&words) } else { look.bad(&words) };
    let mut lines = footer("result", &result_line(report), look);
    if let Some(last) = lines.iter_mut().rfind(|line| line.contains(&words)) {
        *last = last.replacen(&words, &painted, 1);
    }
    lines
}
