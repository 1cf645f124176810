//! A sequence of events, for findings that the order of events explains.

use std::fmt;

use jiff::Timestamp;

/// An event with a known time, and its source. Events without a time are left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When.
    pub at: Timestamp,
    /// The object with the time: `Pod shop/web-5d9f`, `node worker-1`.
    pub object: String,
    /// The field in it: `metadata.creationTimestamp`.
    pub field: String,
    /// What happened, in a few words.
    pub what: String,
}

impl Moment {
    /// From a field that may be unset.
    pub fn new(
        at: Option<Timestamp>,
        object: impl fmt::Display,
        field: impl Into<String>,
        what: impl Into<String>,
    ) -> Option<Moment> {
        Some(Moment { at: at?, object: object.to_string(), field: field.into(), what: what.into() })
    }
}

/// In order, each once.
pub fn sorted(mut moments: Vec<Moment>) -> Vec<Moment> {
    moments.sort();
    moments.dedup();
    moments
}
