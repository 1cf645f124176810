//! The effects of a rehearsed upgrade, as the heading of its findings.

use super::coverage;
use super::look::Look;
use super::plan::{by_then, is_of_an_upgrade};
use super::text::{count, wrap_from};
use crate::report::{Brings, Rehearsal, Report};

/// `UPGRADE to 2.20 (edge-26.6.3): 1 error, 3 changes; resolves 1 current finding`, and the command of the plan.
pub(super) fn lines(report: &Report, rehearsal: &Rehearsal, look: Look) -> Vec<String> {
    const WORD: &str = "UPGRADE";
    let Brings { breaks, changes, ends } = Brings::of(&report.findings);
    let mut words = Vec::new();
    if breaks > 0 {
        words.push(count(breaks, "error", "errors"));
    }
    if changes > 0 {
        words.push(count(changes, "change", "changes"));
    }
    let is_complete = !coverage::deciding(report).iter().any(|gap| is_of_an_upgrade(&gap.checks));
    let mut said = match (words.is_empty(), is_complete) {
        (true, true) => "no error and no change found".to_owned(),
        (true, false) => "not checked, because evidence is missing".to_owned(),
        (false, _) => words.join(", "),
    };
    if ends > 0 {
        said.push_str(&format!("; resolves {}", count(ends, "current finding", "current findings")));
    }
    if !words.is_empty() && !is_complete {
        said.push_str(". Evidence is missing, so there may be more");
    }
    let by_then =
        by_then(report).map(|version| format!(", on Kubernetes {version} by then")).unwrap_or_default();
    let said = format!("to {}{by_then}: {said}", rehearsal.target);
    let painted = match (breaks, changes) {
        (0, 0) if is_complete => look.good(WORD),
        (0, 0) => look.doubtful(WORD),
        (0, _) => look.doubtful(WORD),
        _ => look.bad(WORD),
    };
    let mut lines =
        wrap_from(&said, look.prose().saturating_sub(WORD.len() + 1), look.prose() - 2).into_iter();
    let first = format!("{painted} {}", lines.next().unwrap_or_default());
    let plan = rehearsal.plan.iter().map(|plan| {
        let phases = count(plan.phases.len(), "phase", "phases");
        format!("plan: {phases}; -o plan prints the steps in order")
    });
    std::iter::once(first).chain(lines.chain(plan).map(|line| format!("  {line}"))).collect()
}
