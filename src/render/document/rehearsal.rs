//! The upgrade that a run rehearsed, as documents have it. A part of the contract that [`super::Document`] is.

use serde::{Deserialize, Serialize};

use super::Remedy;
use crate::finding;
use crate::report::{self, Brings};

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
#[serde(rename_all = "camelCase")]
pub struct Phase {
    /// What it is about.
    pub title: String,
    /// The findings that begin with the upgrade and are to be dealt with in it, by their fingerprints.
    #[serde(default)]
    pub deals_with: Vec<String>,
    /// Whether the steps of this phase resolve these findings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolves_findings: bool,
    /// What is done, and what shows that it worked.
    pub remedy: Remedy,
}

impl Rehearsal {
    /// Of a report.
    pub(super) fn of(rehearsal: &report::Rehearsal, findings: &[finding::Finding]) -> Rehearsal {
        let Brings { breaks, changes, ends } = Brings::of(findings);
        let dealt_with = |step: usize| -> Vec<String> {
            let of = |finding: &&finding::Finding| {
                rehearsal.plan.as_ref().and_then(|plan| plan.step_of(finding)) == Some(step)
            };
            findings.iter().filter(of).map(|finding| finding.fingerprint().0).collect()
        };
        let phases = (1..).zip(rehearsal.plan.iter().flat_map(|plan| &plan.phases));
        Rehearsal {
            target: rehearsal.target.clone(),
            to: rehearsal.to.to_string(),
            will_break: breaks,
            will_change: changes,
            ends,
            plan: phases
                .map(|(step, phase)| Phase {
                    title: phase.title.clone(),
                    deals_with: dealt_with(step),
                    resolves_findings: phase.part.resolves_findings(),
                    remedy: Remedy::from(&phase.remedy),
                })
                .collect(),
        }
    }
}
