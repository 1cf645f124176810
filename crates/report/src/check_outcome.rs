//! Outcome of one check in a run.

use std::collections::BTreeMap;

use crate::checks::Outcome;
use crate::finding::Severity;
use crate::missing::{GapRemediation, Missing};

/// A check and its outcome.
#[derive(Debug, Clone)]
pub struct CheckOutcome {
    pub id: &'static str,
    pub category: String,
    pub title: String,
    /// Its card's severity.
    pub severity: Severity,
    pub outcome: Outcome,
    /// Missing evidence.
    pub gaps: Vec<Missing>,
    /// How to provide each of them, in order.
    pub closes: Vec<GapRemediation>,
    /// The check whose findings prevent this one from running.
    pub blocked_by: Option<&'static str>,
    /// The parameters used, by name.
    pub params: BTreeMap<String, serde_json::Value>,
}
