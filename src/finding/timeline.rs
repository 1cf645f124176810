//! What happened when, where the order of things is what explains a finding.

use std::fmt;

use jiff::Timestamp;

/// Something that happened at a known moment, and where that is written. What happened at an unknown one is no moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When.
    pub at: Timestamp,
    /// The object that says so: `Pod shop/web-5d9f`, `node worker-1`.
    pub object: String,
    /// Where in it: `metadata.creationTimestamp`.
    pub field: String,
    /// What happened, in a few words.
    pub what: String,
}

impl Moment {
    /// Of a field that may not be set.
    pub fn of(
        at: Option<Timestamp>,
        object: impl fmt::Display,
        field: impl Into<String>,
        what: impl Into<String>,
    ) -> Option<Moment> {
        Some(Moment { at: at?, object: object.to_string(), field: field.into(), what: what.into() })
    }
}

/// In order, each once.
pub(crate) fn sorted(mut moments: Vec<Moment>) -> Vec<Moment> {
    moments.sort();
    moments.dedup();
    moments
}
