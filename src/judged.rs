//! What one check came to in a run, as every report tells it.

use std::collections::BTreeMap;

use crate::checks::Outcome;
use crate::finding::Severity;
use crate::missing::{Close, Missing};

/// A check and how it ended.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Its id.
    pub id: &'static str,
    /// Its category.
    pub category: String,
    /// Its title.
    pub title: String,
    /// Its card's severity.
    pub severity: Severity,
    /// How it ended.
    pub outcome: Outcome,
    /// What it could not judge.
    pub gaps: Vec<Missing>,
    /// How each of those gaps is closed, in their order.
    pub closes: Vec<Close>,
    /// The check whose findings keep this one from being asked.
    pub blocked_by: Option<&'static str>,
    /// Its parameters as they held, by name.
    pub params: BTreeMap<String, serde_json::Value>,
}
