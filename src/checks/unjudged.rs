//! Reasons why a check cannot run. They are returned with `?`, so that neither missing evidence nor "does not
//! apply" can turn into a pass.

use crate::missing::Missing;

/// Why a check cannot run.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjudged {
    /// Required evidence is missing.
    Missing(Missing),
    /// The check does not apply; contains the reason.
    NotApplicable(String),
    /// The check cannot run because of another check's finding.
    Blocked {
        /// That check's id.
        by: &'static str,
        /// Why, in words.
        reason: String,
    },
}

impl Unjudged {
    /// A check that cannot run because of the finding of the check `by`: never a pass, and linked to it.
    pub fn blocked(by: &'static str, reason: impl Into<String>) -> Unjudged {
        Unjudged::Blocked { by, reason: reason.into() }
    }

    /// A check that does not apply.
    pub fn not_applicable(reason: impl Into<String>) -> Unjudged {
        Unjudged::NotApplicable(reason.into())
    }
}

impl From<Missing> for Unjudged {
    fn from(missing: Missing) -> Unjudged {
        Unjudged::Missing(missing)
    }
}
