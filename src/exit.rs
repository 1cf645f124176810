//! The exit statuses and the one function that picks one.

/// Nothing is at or above the gate, and no evidence that was asked for is missing.
pub const FINE: u8 = 0;
/// At least one finding is at or above the gate.
pub const FINDINGS: u8 = 1;
/// Wrong usage or configuration.
pub const USAGE: u8 = 2;
/// Could not run at all: no cluster, unreadable bundle, nothing checked.
pub const COULD_NOT_RUN: u8 = 3;
/// No failing finding, but evidence that was asked for could not be had, or a check crashed.
pub const NOT_CHECKED: u8 = 4;
/// Interrupted, by Ctrl-C or a signal that ends it: 128 and the number of SIGINT, as shells count.
pub const INTERRUPTED: u8 = 130;

/// Each status with what it means, for help and documentation.
pub const ALL: [(u8, &str); 6] = [
    (
        FINE,
        "no finding is at or above the gate (--fail-on, by default error), and no evidence that was asked for is missing; checks whose evidence nobody provided are listed as not checked",
    ),
    (FINDINGS, "at least one finding is at or above the gate"),
    (USAGE, "wrong usage or configuration: an unknown check, namespace, context or flag value"),
    (COULD_NOT_RUN, "could not run at all: no cluster, an unreadable bundle, or nothing could be checked"),
    (
        NOT_CHECKED,
        "no failing finding, but something was not checked: evidence that was asked for could not be had, a check crashed, or none of the checks could run; --on-not-checked=pass turns the first two into 0",
    ),
    (INTERRUPTED, STOPPED),
];

/// The meaning of [`INTERRUPTED`].
const STOPPED: &str = "interrupted, by Ctrl-C or a signal that ends the run";

/// The same for `check --verify`, which repeats the judgement of an earlier report.
pub const VERIFY: [(u8, &str); 6] = [
    (FINE, "every finding of the earlier report is fixed (infos do not count, unless --fail-on info)"),
    (FINDINGS, "at least one is still there"),
    (USAGE, "wrong usage: the file is no report, has no findings, or is of another cluster"),
    (COULD_NOT_RUN, "could not run at all: no cluster or an unreadable bundle"),
    (
        NOT_CHECKED,
        "none is still there, but some were not checked: the evidence is missing, or not newer than the report",
    ),
    (INTERRUPTED, STOPPED),
];

/// What a status depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// A finding is at or above the gate.
    pub failing: bool,
    /// Evidence that was asked for is missing, or a check crashed.
    pub not_checked: bool,
    /// `--on-not-checked=pass`.
    pub not_checked_passes: bool,
    /// Nothing could be judged at all.
    pub nothing_judged: bool,
    /// None of the checks ran, and somebody asked for what they lack.
    pub none_ran: bool,
}

/// The status: findings before gaps before fine.
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
    fn findings_come_before_gaps_and_gaps_before_fine() {
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
    fn a_selection_of_which_nothing_ran_is_never_fine() {
        let facts = Facts { none_ran: true, not_checked_passes: true, ..Facts::default() };
        assert_eq!(status(facts), NOT_CHECKED);
        assert_eq!(status(Facts { nothing_judged: true, ..facts }), COULD_NOT_RUN);
        assert_eq!(status(Facts { failing: true, ..facts }), FINDINGS);
    }
}
