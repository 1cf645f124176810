//! The change applied on top of a cluster, in documents. Part of the contract of [`super::Document`].

use serde::{Deserialize, Serialize};

use crate::finding;
use crate::report::{self, ChangeCounts};

/// A change applied on top of the cluster (`--with`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestChange {
    /// The source of its manifests, as given.
    pub given: String,
    /// Its number of objects of known kinds.
    pub objects: usize,
    /// Errors that begin with it.
    pub brings_errors: usize,
    /// Other findings that begin with it.
    pub brings_others: usize,
    /// Findings that end with it.
    pub cures: usize,
    /// Findings that exist with and without it.
    pub stay: usize,
}

impl ManifestChange {
    /// From a report.
    pub(super) fn new(change: &report::ManifestChange, findings: &[finding::Finding]) -> ManifestChange {
        let ChangeCounts { breaks, changes, ends, .. } = ChangeCounts::from_findings(findings);
        ManifestChange {
            given: change.given.clone(),
            objects: change.objects,
            brings_errors: breaks,
            brings_others: changes,
            cures: ends,
            stay: findings.len().saturating_sub(breaks + changes + ends),
        }
    }
}
