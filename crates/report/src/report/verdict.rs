//! The gate, the counts and the status of a report.

use crate::checks::{CheckResult, Outcome};
use crate::exit;
use crate::finding::{Finding, Severity, Standing, When};
use crate::missing::Missing;
use crate::policy::Policy;
use crate::source::Origin;

/// The result in figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunResult {
    /// The exit status.
    pub status: u8,
    /// The gate's word.
    pub gate: &'static str,
    /// Whether unavailable requested evidence is accepted (`--on-not-checked=pass`).
    pub not_checked_passes: bool,
    /// Roots by severity: error, warning, info. Symptoms are not counted.
    pub roots: Counts,
    /// All findings by severity.
    pub findings: Counts,
    /// Findings that are waived; no other figure has them.
    pub waived: usize,
    /// Findings with some waived subjects, which count for the others.
    pub waived_in_part: usize,
    /// Findings of the baseline, including those below the gate.
    pub in_baseline: usize,
    /// Findings that are inferred and were excluded (`--confidence observed`); no other count includes
    /// them.
    pub inferred: usize,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that did not apply.
    pub not_applicable: usize,
    /// Checks that lacked evidence, in full or in part.
    pub not_judged: usize,
    /// Checks that crashed.
    pub crashed: usize,
}

/// A count for each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
}

impl Counts {
    fn from_findings<'a>(findings: impl Iterator<Item = &'a Finding>) -> Counts {
        findings.fold(Counts::default(), |mut counts, finding| {
            match finding.severity {
                Severity::Error => counts.error += 1,
                Severity::Warning => counts.warning += 1,
                Severity::Info => counts.info += 1,
            }
            counts
        })
    }
}

/// Whether checks were selected by name and none of them ran: each lacked evidence, or did not apply.
/// Naming checks requests their evidence, so such a run never succeeds.
pub(super) fn none_ran(policy: &Policy, results: &[CheckResult]) -> bool {
    !policy.only.is_empty() && saw_nothing(results)
}

/// Whether no check ran, because of what they lack.
fn saw_nothing(results: &[CheckResult]) -> bool {
    let ran = |result: &CheckResult| matches!(result.outcome, Outcome::Pass | Outcome::Findings);
    let lacked = |result: &CheckResult| matches!(result.outcome, Outcome::Unknown);
    results.iter().any(lacked) && !results.iter().any(ran)
}

/// Whether a finding counts. Waived findings do not, nor those that a change cures, because the verdict is
/// about the cluster with the change.
pub fn counts(finding: &&Finding) -> bool {
    finding.when != When::UntilChange && !finding.is_waived()
}

/// The evidence of a run, as far as it decides the verdict.
pub(super) struct RunEvidence {
    /// Neither objects nor node files were read.
    pub(super) read_nothing: bool,
    /// None of the checks ran although their evidence was requested.
    pub(super) none_ran: bool,
    /// A file of manifests could not be read.
    pub(super) unreadable: bool,
}

/// The verdict on all findings, before inferred ones are excluded.
pub(super) fn verdict(
    policy: &Policy,
    origin: &Origin,
    findings: &[Finding],
    results: &[CheckResult],
    evidence: &RunEvidence,
) -> RunResult {
    let RunEvidence { read_nothing, none_ran, unreadable } = *evidence;
    let count = |is: fn(&Outcome) -> bool| results.iter().filter(|result| is(&result.outcome)).count();
    let crashed = count(|o| matches!(o, Outcome::Crashed(_)));
    let judged = count(|o| matches!(o, Outcome::Pass | Outcome::Findings | Outcome::NotApplicable(_)));
    let asked_for = results.iter().flat_map(|result| &result.gaps).any(Missing::was_asked_for);
    // The few checks that need no object do not make it a run.
    let read_no_object = read_nothing && asked_for && origin.kind == "live";
    let status = exit::status(exit::Facts {
        failing: findings.iter().any(|finding| finding.standing == Standing::Fails),
        not_checked: asked_for || unreadable || crashed > 0,
        // A file that cannot be read is a mistake in the input, not missing evidence.
        not_checked_passes: policy.not_checked_passes && !unreadable,
        // A run without evidence does not succeed, whatever evidence was requested; --on-not-checked=pass
        // does not cover that. Manifests may contain only parts that no check covers.
        none_ran: none_ran || read_no_object || ((asked_for || origin.kind != "manifests") && saw_nothing(results)),
        // A partial list counts as read: that is a gap, not a run without evidence.
        nothing_judged: judged == 0 && read_nothing,
    });
    RunResult {
        status,
        gate: policy.gate.label(),
        not_checked_passes: policy.not_checked_passes,
        roots: Counts::from_findings(findings.iter().filter(|finding| finding.caused_by.is_empty()).filter(counts)),
        findings: Counts::from_findings(findings.iter().filter(counts)),
        waived: findings.iter().filter(|finding| finding.is_waived()).count(),
        waived_in_part: findings.iter().filter(|finding| !finding.waived_in_part.is_empty()).count(),
        in_baseline: findings.iter().filter(|finding| finding.standing == Standing::InBaseline).count(),
        passed: count(|o| matches!(o, Outcome::Pass)),
        not_applicable: count(|o| matches!(o, Outcome::NotApplicable(_))),
        not_judged: results.iter().filter(|r| !r.gaps.is_empty()).count(),
        crashed,
        inferred: 0,
    }
}
