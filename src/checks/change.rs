//! Compares a cluster as it is with the same cluster after a set of manifests: which findings a change
//! introduces, which it fixes, and which remain. Both are evaluated separately before.

use super::rehearsal::prints;
use super::{CheckResult, Outcome};
use crate::finding::{Finding, When};

/// The parameter of findings that a change introduces, which separates them from the same findings of
/// today.
const AFTER: &str = "after the change";

/// Combines the results for both clusters; they are of the same checks in the same order.
pub fn compare(today: Vec<CheckResult>, then: Vec<CheckResult>) -> Vec<CheckResult> {
    today.into_iter().zip(then).map(|(today, then)| both(&today, then)).collect()
}

fn both(today: &CheckResult, mut then: CheckResult) -> CheckResult {
    let (now, after) = (prints(today), prints(&then));
    let mut findings = Vec::new();
    for finding in std::mem::take(&mut then.findings) {
        let known = |finding: &Finding, at: usize| {
            let print = finding.subject_fingerprint(&finding.subjects[at]);
            now.iter().any(|(known, how)| *known == print && *how >= finding.severity)
        };
        let (old, new): (Vec<usize>, Vec<usize>) = (0..finding.subjects.len()).partition(|at| known(&finding, *at));
        let of = |places: &[usize]| places.iter().map(|at| finding.subjects[*at].clone()).collect::<Vec<_>>();
        if !old.is_empty() {
            let mut stays = Finding { subjects: of(&old), ..finding.clone() };
            let print = finding.subject_fingerprint(&finding.subjects[old[0]]);
            let same =
                |other: &&Finding| other.subjects.iter().any(|subject| other.subject_fingerprint(subject) == print);
            if let Some(known) = today.findings.iter().find(same) {
                stays.remedy.verify.clone_from(&known.remedy.verify);
            }
            findings.push(stays);
        }
        if !new.is_empty() {
            let mut begun = Finding { subjects: of(&new), when: When::AfterChange, ..finding.clone() };
            begun.parameters.push(AFTER.to_owned());
            findings.push(begun);
        }
    }
    // A finding that could not be evaluated with the change is not fixed by it.
    let judged = then.gaps.is_empty()
        && then.blocked_by.is_none()
        && matches!(then.outcome, Outcome::Pass | Outcome::Findings | Outcome::NotApplicable(_));
    for finding in &today.findings {
        let gone: Vec<_> = finding
            .subjects
            .iter()
            .filter(|subject| {
                let print = finding.subject_fingerprint(subject);
                !after.iter().any(|(other, _)| *other == print)
            })
            .cloned()
            .collect();
        if gone.is_empty() {
            continue;
        }
        let when = if judged { When::UntilChange } else { When::Now };
        findings.push(Finding { subjects: gone, when, ..finding.clone() });
    }
    then.outcome = match then.outcome {
        Outcome::Pass | Outcome::NotApplicable(_) | Outcome::Unknown if !findings.is_empty() => Outcome::Findings,
        outcome => outcome,
    };
    then.findings = findings;
    then
}
