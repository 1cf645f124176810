//! The exit statuses and the one function that picks one.

/// Every selected check was judged, and nothing is at or above the gate.
pub const FINE: u8 = 0;
/// At least one finding is at or above the gate.
pub const FINDINGS: u8 = 1;
/// Wrong usage or configuration.
pub const USAGE: u8 = 2;
/// Could not run at all: no cluster, unreadable bundle, nothing judged.
pub const COULD_NOT_RUN: u8 = 3;
/// No failing finding, but evidence that was asked for could not be had, or a check crashed.
pub const NOT_JUDGED: u8 = 4;

/// Each status with what it means, for help and documentation.
pub const ALL: [(u8, &str); 5] = [
    (
        FINE,
        "every selected check was judged, and no finding is at or above the gate (--fail-on, by default error)",
    ),
    (FINDINGS, "at least one finding is at or above the gate"),
    (USAGE, "wrong usage or configuration: an unknown check, namespace, context or flag value"),
    (COULD_NOT_RUN, "could not run at all: no cluster, an unreadable bundle, or nothing could be judged"),
    (
        NOT_JUDGED,
        "no failing finding, but evidence that was asked for could not be had, or a check crashed; --on-unknown=pass turns it into 0",
    ),
];

/// What a status depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// A finding is at or above the gate.
    pub failing: bool,
    /// Evidence that was asked for is missing, or a check crashed.
    pub unknown: bool,
    /// `--on-unknown=pass`.
    pub unknown_passes: bool,
    /// Nothing could be judged at all.
    pub nothing_judged: bool,
}

/// The status: findings before gaps before fine.
pub fn status(facts: Facts) -> u8 {
    match facts {
        Facts { failing: true, .. } => FINDINGS,
        Facts { nothing_judged: true, .. } => COULD_NOT_RUN,
        Facts { unknown: true, unknown_passes: false, .. } => NOT_JUDGED,
        Facts { .. } => FINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_before_gaps_and_gaps_before_fine() {
        let facts = |failing, unknown, unknown_passes| Facts {
            failing,
            unknown,
            unknown_passes,
            nothing_judged: false,
        };
        assert_eq!(status(facts(true, true, true)), FINDINGS);
        assert_eq!(status(facts(false, true, false)), NOT_JUDGED);
        assert_eq!(status(facts(false, true, true)), FINE);
        assert_eq!(status(facts(false, false, false)), FINE);
        assert_eq!(status(Facts { nothing_judged: true, ..Facts::default() }), COULD_NOT_RUN);
    }
}
