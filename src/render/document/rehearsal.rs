//! The upgrade that a run rehearsed, as documents have it. A part of the contract that [`super::Document`] is.

use serde::{Deserialize, Serialize};

use super::Remedy;
use crate::finding::{self, Severity, When};
use crate::report;

/// An upgrade that was rehearsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// What was asked about, and what it was taken for: `2.20 (edge-26.6.3)`.
    pub target: String,
    /// The release that it was taken for.
    pub to: String,
    /// Findings that begin with it and are errors.
    pub will_break: usize,
    /// Findings that begin with it and are none.
    pub will_change: usize,
    /// Findings that end with it.
    pub ends: usize,
    /// In which order to go about it; empty where it is no upgrade to a later release.
    pub plan: Vec<Phase>,
}

/// A phase of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// What it is about.
    pub title: String,
    /// What is done, and what shows that it worked.
    pub remedy: Remedy,
}

impl Rehearsal {
    /// Of a report.
    pub(super) fn of(rehearsal: &report::Rehearsal, findings: &[finding::Finding]) -> Rehearsal {
        let count = |is: &dyn Fn(&finding::Finding) -> bool| findings.iter().filter(|one| is(one)).count();
        let begins = |finding: &finding::Finding| finding.when == When::AfterUpgrade;
        let phases = rehearsal.plan.iter().flat_map(|plan| &plan.phases);
        Rehearsal {
            target: rehearsal.target.clone(),
            to: rehearsal.to.to_string(),
            will_break: count(&|one| begins(one) && one.severity == Severity::Error),
            will_change: count(&|one| begins(one) && one.severity < Severity::Error),
            ends: count(&|one| one.when == When::UntilUpgrade),
            plan: phases
                .map(|phase| Phase { title: phase.title.clone(), remedy: Remedy::from(&phase.remedy) })
                .collect(),
        }
    }
}
