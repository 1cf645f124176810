//! The effects of a rehearsed upgrade, as the heading of its findings.

use super::coverage;
use super::look::Look;
use super::plan::{by_then, is_of_an_upgrade};
use super::text::{clean, count, wrap_from};
use crate::report::{Brings, Rehearsal, Report};

/// `WITH THE UPGRADE to 2.20 (edge-26.6.3): 1 will break, 3 will change, 1 ends with it`.
pub(super) fn lines(report: &Report, rehearsal: &Rehearsal, look: Look) -> Vec<String> {
    const WORD: &str = "WITH THE UPGRADE";
    let Brings { breaks, changes, ends } = Brings::of(&report.findings);
    let mut words = Vec::new();
    if breaks > 0 {
        words.push(format!("{} will break", count(breaks, "thing", "things")));
    }
    if changes > 0 {
        words.push(format!("{} will change", count(changes, "thing", "things")));
    }
    let is_complete = !coverage::deciding(report).iter().any(|gap| is_of_an_upgrade(&gap.checks));
    match (words.is_empty(), is_complete) {
        (true, true) => words.push("no break and no change found".to_owned()),
        (true, false) => words.push("not judged, evidence is missing".to_owned()),
        (false, false) => words.push("evidence is missing, so there may be more".to_owned()),
        (false, true) => {}
    }
    if ends > 0 {
        words.push(count(ends, "current finding is resolved by it", "current findings are resolved by it"));
    }
    let plan = match rehearsal.plan {
        Some(_) => "; -o plan prints the steps in order",
        None => "",
    };
    let by_then =
        by_then(report).map(|version| format!(", on Kubernetes {version} by then")).unwrap_or_default();
    let said = format!("to {}{by_then}: {}{plan}", rehearsal.target, words.join(", "));
    let painted = match (breaks, changes) {
        (0, 0) if is_complete => look.good(WORD),
        (0, 0) => look.doubtful(WORD),
        (0, _) => look.doubtful(WORD),
        _ => look.bad(WORD),
    };
    let mut lines =
        wrap_from(&said, look.prose().saturating_sub(WORD.len() + 1), look.prose() - 2).into_iter();
    let first = format!("{painted} {}", lines.next().unwrap_or_default());
    let phases = rehearsal.plan.iter().flat_map(|plan| &plan.phases);
    let steps: Vec<String> =
        (1..).zip(phases).map(|(step, phase)| format!("{step} {}", clean(&phase.title))).collect();
    let plan = wrap_from(&steps.join(" · "), look.prose() - 2, look.prose() - 2);
    let plan = plan.into_iter().filter(|_| !steps.is_empty());
    std::iter::once(first).chain(lines.chain(plan).map(|line| format!("  {line}"))).collect()
}
