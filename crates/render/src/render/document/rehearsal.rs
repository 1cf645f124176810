//! The rehearsed upgrade in documents. Part of the contract of [`super::Document`].

use serde::{Deserialize, Serialize};

use super::Remedy;
use crate::finding::Finding;
use crate::render::rehearsal::{Readiness, rollback_until};
use crate::report::{ChangeCounts, Report};

/// A rehearsed upgrade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// The given target and the resolved release: `2.20 (edge-26.6.3)`.
    pub target: String,
    /// The resolved release.
    pub to: String,
    /// The verdict; absent in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Readiness>,
    /// The phase that restarts workloads first, from 1: until then, the control plane can be rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_until_phase: Option<usize>,
    /// Errors that begin with it.
    pub will_break: usize,
    /// Other findings that begin with it.
    pub will_change: usize,
    /// Findings that end with it.
    pub ends: usize,
    /// The plan; empty if the target is not a later release.
    pub plan: Vec<Phase>,
}

/// A phase of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phase {
    pub title: String,
    /// Fingerprints of the findings that begin with the upgrade and belong to this phase.
    #[serde(default)]
    pub deals_with: Vec<String>,
    /// Whether the steps of this phase resolve these findings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolves_findings: bool,
    /// The steps and their verification.
    pub remedy: Remedy,
}

impl Rehearsal {
    /// From a report, if it is of a rehearsal.
    pub(super) fn from_report(report: &Report) -> Option<Rehearsal> {
        let rehearsal = report.rehearsal.as_ref()?;
        let findings: &[Finding] = &report.findings;
        let ChangeCounts { breaks, changes, ends, .. } = ChangeCounts::from_findings(findings);
        let dealt_with = |step: usize| -> Vec<String> {
            let of = |finding: &&Finding| rehearsal.plan.as_ref().and_then(|plan| plan.step_of(finding)) == Some(step);
            findings.iter().filter(of).map(|finding| finding.fingerprint().0).collect()
        };
        let phases = (1..).zip(rehearsal.plan.iter().flat_map(|plan| &plan.phases));
        Some(Rehearsal {
            target: rehearsal.target.clone(),
            to: rehearsal.to.to_string(),
            verdict: Some(Readiness::from_report(report)),
            rollback_until_phase: rehearsal.plan.as_ref().and_then(rollback_until),
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
        })
    }
}
