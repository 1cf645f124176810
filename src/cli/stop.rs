//! Error that ends a run without a report: the cause, the next step, and the exit status.

use std::fmt;

use crate::exit;

/// A run that ends without a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    /// The exit status.
    pub(super) status: u8,
    /// The cause, in one line.
    pub(super) cause: String,
    /// The next step, in one line.
    pub(super) next: Option<String>,
    /// The API server was contacted, and its response was wrong.
    pub(super) was_asked: bool,
}

impl Stop {
    /// Wrong usage or configuration: exit status 2.
    pub(super) fn usage(cause: impl Into<String>, next: impl Into<String>) -> Stop {
        Stop { status: exit::USAGE, cause: cause.into(), next: Some(next.into()), was_asked: false }
    }

    /// The run could not take place: exit status 3.
    pub(super) fn could_not_run(cause: impl Into<String>, next: impl Into<String>) -> Stop {
        Stop { status: exit::COULD_NOT_RUN, cause: cause.into(), next: Some(next.into()), was_asked: false }
    }

    /// The run was interrupted: exit status 130.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only live reads are interrupted"))]
    pub(super) fn interrupted(cause: impl Into<String>, next: impl Into<String>) -> Stop {
        Stop { status: exit::INTERRUPTED, ..Stop::could_not_run(cause, next) }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for Stop {}
