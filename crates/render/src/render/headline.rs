//! The first lines of a report without errors or warnings: the result `HEALTHY` and its basis. Never
//! `HEALTHY` if requested evidence is missing, if only some checks were selected, or if no control plane was
//! found.

use std::collections::BTreeMap;

use super::coverage;
use super::look::Look;
use super::text::{count, wrap, wrap_from};
use crate::checks::{Outcome, UNREADY_WORKLOAD};
use crate::exit;
use crate::fetched::Why;
use crate::finding::{Finding, Severity};
use crate::report::{Gap, Report, counts as is_counted};

/// The lines; none if there are errors or warnings.
pub fn lines(report: &Report, look: Look) -> Vec<String> {
    let roots = report.verdict.roots;
    let is_brought = |finding: &Finding| finding.when.begins() && finding.severity > Severity::Info;
    if !report.repair.findings.is_empty() || report.findings.iter().any(is_brought) {
        return Vec::new();
    }
    if report.verdict.status == exit::FINDINGS {
        let words = format!("{} (--fail-on {})", count(roots.info, "info", "infos"), report.verdict.gate);
        return line("FAILS", &words, look.bad("FAILS"), look);
    }
    if roots.error + roots.warning > 0 {
        let known = format!("{} in the baseline", count(report.verdict.in_baseline, "finding is", "findings are"));
        return line("NOTHING NEW", &known, look.good("NOTHING NEW"), look);
    }
    let passed = format!("{} passed, no errors or warnings", count(report.verdict.passed, "check", "checks"));
    let crashed = report.checks.iter().any(|check| matches!(check.outcome, Outcome::Crashed(_)));
    let whole = coverage::deciding(report).is_empty() && report.errors.is_empty() && !crashed;
    let in_full = whole && !matches!(report.verdict.status, exit::COULD_NOT_RUN | exit::NOT_CHECKED);
    if report.origin.kind == "manifests" && report.verdict.passed == 0 && report.findings.is_empty() {
        let words = match report.coverage.objects {
            0 => "the manifests contain no object that a check reads",
            _ => "no check of manifests judges these objects alone",
        };
        return line("NOTHING CHECKED", words, look.doubtful("NOTHING CHECKED"), look);
    }
    if let Some(words) = nothing_checked(report).filter(|_| !in_full && !crashed) {
        return line("NOTHING CHECKED", &words, look.doubtful("NOTHING CHECKED"), look);
    }
    if !in_full {
        let unjudged = report.verdict.not_judged + report.verdict.crashed;
        let words = match coverage::deciding(report).is_empty() {
            true => passed,
            false => format!("no errors or warnings: {}, {unjudged} not checked", passed_only(report)),
        };
        return line("NOT FULLY CHECKED", &words, look.doubtful("NOT FULLY CHECKED"), look);
    }
    let unready = unready(report);
    if unready > 0 {
        let workloads = count(unready, "meshed workload has", "meshed workloads have");
        let words = format!("{passed}, but {workloads} no ready pod, and no check names the cause");
        return line("NO ERRORS OR WARNINGS", &words, look.doubtful("NO ERRORS OR WARNINGS"), look);
    }
    if !is_healthy(report) {
        return line("NO ERRORS OR WARNINGS", &passed_only(report), look.good("NO ERRORS OR WARNINGS"), look);
    }
    let held = coverage::unread_kinds(&report.coverage.unread);
    let words = match held.is_empty() {
        true => passed,
        false => format!("{passed}; not checked: {}", held.join(", ")),
    };
    let mut lines = line("HEALTHY", &words, look.good("HEALTHY"), look);
    if !look.coverage {
        return lines;
    }
    let checked = wrap(&by_category(report), look.prose() - 9);
    lines.extend(checked.into_iter().enumerate().map(|(at, line)| match at {
        0 => format!("{}  {line}", look.faint("checked")),
        _ => format!("         {line}"),
    }));
    lines
}

/// Why no check could find anything, if so: none had its evidence, or only those ran that need no object.
pub(super) fn nothing_checked(report: &Report) -> Option<String> {
    if !report.findings.is_empty() || report.verdict.not_judged == 0 {
        return None;
    }
    if report.verdict.passed == 0 {
        let gaps: Vec<&Gap> = report.coverage.gaps.iter().collect();
        return Some(match report.checks.as_slice() {
            [check] => format!("{} needs {}", check.id, coverage::named(&gaps)),
            _ => "no check has the evidence that it needs".to_owned(),
        });
    }
    let coverage = &report.coverage;
    let read_nothing = report.origin.kind == "live" && coverage.objects == 0 && coverage.snapshots == 0;
    let is_denied = || coverage.gaps.iter().any(|gap| matches!(gap.missing.why, Why::Denied { .. }));
    read_nothing.then(|| match is_denied() {
        true => "the API server denied access to every object".to_owned(),
        false => "no object could be read".to_owned(),
    })
}

/// Whether a run without errors, warnings and missing evidence checked a whole cluster with a control plane,
/// without waivers.
pub(super) fn is_healthy(report: &Report) -> bool {
    report.asked.is_whole()
        && report.verdict.waived == 0
        && report.verdict.passed > 0
        // Manifests do not contain all of a mesh.
        && report.origin.kind != "manifests"
        && !report.subject.control_plane.is_empty()
        && unready(report) == 0
}

/// The number of meshed workloads without a ready pod.
fn unready(report: &Report) -> usize {
    let found = report.findings.iter().filter(|finding| finding.check == UNREADY_WORKLOAD);
    found.filter(is_counted).map(|finding| finding.subjects.len()).sum()
}

fn passed_only(report: &Report) -> String {
    let passed = format!("{} passed", count(report.verdict.passed, "check", "checks"));
    match report.verdict.waived {
        0 => passed,
        waived => format!("{passed}; {} waived", count(waived, "finding is", "findings are")),
    }
}

fn line(word: &str, words: &str, painted: String, look: Look) -> Vec<String> {
    let first = look.prose().saturating_sub(word.len() + 2);
    let mut lines = wrap_from(words, first, look.prose() - 2).into_iter();
    let first = format!("{painted}  {}", lines.next().unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| format!("  {line}"))).collect()
}

/// `annotations 8, certificates 25, cni 3 of 5`: the passed checks, of those that apply.
fn by_category(report: &Report) -> String {
    let mut categories: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for check in report.checks.iter().filter(|check| !matches!(check.outcome, Outcome::NotApplicable(_))) {
        let (passed, all) = categories.entry(&check.category).or_default();
        *all += 1;
        // Infos were checked too.
        *passed += usize::from(matches!(check.outcome, Outcome::Pass | Outcome::Findings) && check.gaps.is_empty());
    }
    let each = categories.iter().map(|(category, (passed, all))| match passed == all {
        true => format!("{category} {all}"),
        false => format!("{category} {passed} of {all}"),
    });
    each.collect::<Vec<_>>().join(", ")
}
