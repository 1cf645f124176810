//! What keeps a check from judging. It travels out by `?`, so that neither "could not look" nor "does not apply" can turn
//! into "fine".

use crate::missing::Missing;

/// Why a check does not judge.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjudged {
    /// Evidence that it cannot do without is not there.
    Missing(Missing),
    /// There is nothing here that the question could be asked of; says why.
    NotApplicable(String),
    /// The question cannot be asked because of what another check finds.
    Blocked {
        /// That check's id.
        by: &'static str,
        /// Why, in words.
        reason: String,
    },
}

impl Unjudged {
    /// The question cannot be asked because of what the check `by` finds: never a pass, and linked to it.
    pub fn blocked(by: &'static str, reason: impl Into<String>) -> Unjudged {
        Unjudged::Blocked { by, reason: reason.into() }
    }

    /// The question does not arise.
    pub fn not_applicable(reason: impl Into<String>) -> Unjudged {
        Unjudged::NotApplicable(reason.into())
    }
}

impl From<Missing> for Unjudged {
    fn from(missing: Missing) -> Unjudged {
        Unjudged::Missing(missing)
    }
}
