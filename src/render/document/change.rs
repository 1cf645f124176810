//! The change that was laid over a cluster, as documents have it. A part of the contract that [`super::Document`] is.

use serde::{Deserialize, Serialize};

use crate::finding;
use crate::report::{self, Brings};

/// A change that was laid over the cluster (`--with`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Where its manifests are from, as given.
    pub given: String,
    /// How many objects it has of kinds that are read.
    pub objects: usize,
    /// Findings that begin with it and are errors.
    pub brings_errors: usize,
    /// Findings that begin with it and are none.
    pub brings_others: usize,
    /// Findings that end with it.
    pub cures: usize,
    /// Findings that are there with it and without it.
    pub stay: usize,
}

impl Change {
    /// Of a report.
    pub(super) fn of(change: &report::Change, findings: &[finding::Finding]) -> Change {
        let Brings { breaks, changes, ends } = Brings::of(findings);
        Change {
            given: change.given.clone(),
            objects: change.objects,
            brings_errors: breaks,
            brings_others: changes,
            cures: ends,
            stay: findings.len().saturating_sub(breaks + changes + ends),
        }
    }
}
