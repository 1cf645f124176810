//! Exit statuses and the function that selects one.

/// No finding is at or above the gate, and all requested evidence was read.
pub const FINE: u8 = 0;
/// At least one finding is at or above the gate.
pub const FINDINGS: u8 = 1;
/// Wrong usage or configuration.
pub const USAGE: u8 = 2;
/// Could not run: no cluster, or an unreadable bundle.
pub const COULD_NOT_RUN: u8 = 3;
/// No failing finding, but requested evidence was unavailable or a check crashed.
pub const NOT_CHECKED: u8 = 4;
/// Interrupted by Ctrl-C or a termination signal: 128 plus the number of SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Exit statuses and their meanings, for help and documentation.
pub const ALL: [(u8, &str); 6] = [
    (
        FINE,
        "no finding is at or above the gate (the severity of --fail-on, by default error), and all \
         requested evidence was read",
    ),
    (FINDINGS, "at least one finding is at or above the gate"),
    (
        USAGE,
        "wrong usage or configuration: an unknown check, namespace, context or flag value, or a path that \
         does not exist",
    ),
    (
        COULD_NOT_RUN,
        "could not run: no cluster, rejected credentials, or an unreadable bundle; for commands other than check \
         also a cluster that denies every list",
    ),
    (
        NOT_CHECKED,
        "no finding is at or above the gate, but requested evidence was unavailable, a check crashed, or all \
         selected checks lack evidence; --on-not-checked=pass turns the first two into 0",
    ),
    (INTERRUPTED, STOPPED),
];

/// The meaning of [`INTERRUPTED`].
const STOPPED: &str = "interrupted by Ctrl-C or a termination signal";

/// Exit statuses of `check --verify`, which rechecks an earlier report.
pub const VERIFY: [(u8, &str); 6] = [
    (FINE, "every finding of the earlier report is fixed (infos do not count, unless --fail-on info)"),
    (FINDINGS, "at least one finding is still present, or numbers of proxies are worse than in the report"),
    (USAGE, "wrong usage: the file is not a report, has neither findings nor numbers, or is from another cluster"),
    (COULD_NOT_RUN, "could not run: no cluster or an unreadable bundle"),
    (
        NOT_CHECKED,
        "no finding is still present, but some were not checked: their evidence is missing, or not newer \
         than the report",
    ),
    (INTERRUPTED, STOPPED),
];

/// The inputs of [`status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// A finding is at or above the gate.
    pub failing: bool,
    /// Requested evidence is missing, or a check crashed.
    pub not_checked: bool,
    /// `--on-not-checked=pass`.
    pub not_checked_passes: bool,
    /// No check could run.
    pub nothing_judged: bool,
    /// None of the checks ran although their evidence was requested.
    pub none_ran: bool,
}

/// Every status of `reach`, for one connection and for the matrix.
pub const REACH: [(u8, &str); 6] = [
    (FINE, "every requested connection succeeds"),
    (FINDINGS, "at least one requested connection is known to fail, always or in part"),
    (USAGE, "wrong usage: an unknown flag value or client, or a client or destination without a namespace"),
    (COULD_NOT_RUN, "could not run: no cluster, an unreadable bundle, or unreadable settings of the policy controller"),
    (
        NOT_CHECKED,
        "no connection is known to fail, but the evidence does not show that all succeed, or one succeeds \
         only for some kinds of traffic (--traffic)",
    ),
    (INTERRUPTED, STOPPED),
];

/// Every status of `sync`.
pub const SYNC: [(u8, &str); 6] = [
    (FINE, "every control-plane replica and every sampled proxy is in sync"),
    (FINDINGS, "at least one replica or proxy is out of sync, or its metrics show a problem"),
    (USAGE, "wrong usage: an unknown namespace, context or flag value"),
    (COULD_NOT_RUN, "could not run: no cluster or an unreadable bundle"),
    (
        NOT_CHECKED,
        "nothing is known to be out of sync, but a comparison was not possible: metrics, or lists that they are \
         compared with, were not read",
    ),
    (INTERRUPTED, STOPPED),
];

/// Exit statuses of `fix`, which repairs findings of warning and above.
pub const FIX: [(u8, &str); 6] = [
    (FINE, "nothing needs a repair, or --write left nothing to repair"),
    (FINDINGS, "at least one finding needs a repair; with --write, at least one is left"),
    (USAGE, "wrong usage: an unknown flag value, or a file that is not a report"),
    (COULD_NOT_RUN, "could not run: no cluster, unreadable evidence, or a file that cannot be written"),
    (NOT_CHECKED, "no finding needs a repair, but requested evidence was unavailable"),
    (INTERRUPTED, STOPPED),
];

/// Every status of `rotate`.
pub const ROTATE: [(u8, &str); 6] = [
    (
        FINE,
        "no rotation is in progress and nothing prevents one, or the next step may be done now; with --may, \
         that step may be done now, or was done",
    ),
    (FINDINGS, "something must be repaired first, or a condition of the step is not met"),
    (USAGE, "wrong usage: an unknown flag value or context"),
    (COULD_NOT_RUN, "could not run: no cluster or an unreadable bundle"),
    (NOT_CHECKED, "evidence is missing, so the step is not known to be safe"),
    (INTERRUPTED, STOPPED),
];

/// What 1 and 4 mean for the other commands; an empty text is a status that the command does not have.
pub const OTHERS: [(&str, &str, &str); 8] = [
    (
        "`check --all-contexts`, several `--context`, `--bundles`",
        "a cluster, or a Link between two of them, has a finding at or above the gate",
        "no such finding, but a cluster or a Link could not be checked fully",
    ),
    ("`collect`, `ticket`", "", "requested evidence was unavailable; findings do not count"),
    (
        "`diff`",
        "a finding at or above the gate is new or worse",
        "no such finding, but one cannot be compared: a report did not check it",
    ),
    ("`explain`", "no line of the text is known", ""),
    ("`injection`", "", "some results are unknown, or evidence is missing"),
    ("`policy`", "", "evidence is missing, or the policy controller may answer differently after a restart"),
    (
        "`policy --generate`",
        "the manifests would deny a connection that is allowed today",
        "the outcome of a connection is unknown",
    ),
    ("`test`", "a case fails", ""),
];

/// The exit status: findings take precedence over missing evidence.
pub fn status(facts: Facts) -> u8 {
    match facts {
        Facts { failing: true, .. } => FINDINGS,
        Facts { nothing_judged: true, .. } => COULD_NOT_RUN,
        Facts { none_ran: true, .. } => NOT_CHECKED,
        Facts { not_checked: true, not_checked_passes: false, .. } => NOT_CHECKED,
        Facts { .. } => FINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_precede_gaps_and_gaps_precede_fine() {
        let facts = |failing, not_checked, not_checked_passes| Facts {
            failing,
            not_checked,
            not_checked_passes,
            ..Facts::default()
        };
        assert_eq!(status(facts(true, true, true)), FINDINGS);
        assert_eq!(status(facts(false, true, false)), NOT_CHECKED);
        assert_eq!(status(facts(false, true, true)), FINE);
        assert_eq!(status(facts(false, false, false)), FINE);
        assert_eq!(status(Facts { nothing_judged: true, ..Facts::default() }), COULD_NOT_RUN);
    }

    #[test]
    fn selection_without_results_is_never_fine() {
        let facts = Facts { none_ran: true, not_checked_passes: true, ..Facts::default() };
        assert_eq!(status(facts), NOT_CHECKED);
        assert_eq!(status(Facts { nothing_judged: true, ..facts }), COULD_NOT_RUN);
        assert_eq!(status(Facts { failing: true, ..facts }), FINDINGS);
    }
}
