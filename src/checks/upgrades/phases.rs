//! The phases of a plan, and the phase that handles each finding.

use std::collections::BTreeMap;

use crate::card::Part;
use crate::checks::find;
use crate::checks::prelude::*;
use crate::finding::{Fingerprint, When};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its phases, in order.
    pub phases: Vec<Phase>,
    /// The phase of each finding that begins with the upgrade, from 1, if the plan was read from a saved report.
    pub recorded: Option<BTreeMap<Fingerprint, usize>>,
}

/// A phase: steps that belong together, and their verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Short description: `Control plane to edge-26.6.3`.
    pub title: String,
    /// The part of the upgrade.
    pub part: Part,
    /// The target release; `None` if the phase does not belong to a release.
    pub release: Option<LinkerdVersion>,
    /// The steps and their verification.
    pub remedy: Remedy,
}

impl Plan {
    /// The number, from 1, of the phase that handles a finding that begins with the upgrade: the phase of the
    /// card's part for the release with which it begins, or else the preparation. `None` if the plan as a
    /// whole handles it.
    pub fn step_of(&self, finding: &Finding) -> Option<usize> {
        if finding.when != When::AfterUpgrade || finding.check == super::PLANNED {
            return None;
        }
        if let Some(recorded) = &self.recorded {
            return recorded.get(&finding.fingerprint()).copied();
        }
        let part = find(finding.check).map_or(Part::Before, |check| check.card().front.part);
        let last = || self.phases.iter().rev().find_map(|phase| phase.release.as_ref());
        let release = finding.begins_with.as_ref().or_else(last);
        let of = |phase: &Phase| phase.part == part && phase.release.as_ref() == release;
        let on_the_way = self.phases.iter().position(of);
        // An earlier phase of the part, as one Gateway API step may serve several releases.
        let at = |part| self.phases.iter().rposition(|phase| phase.part == part);
        on_the_way.or_else(|| at(part)).or_else(|| at(Part::Before)).map(|at| at + 1)
    }

    /// Whether a finding is about skipped releases, which the plan does not skip.
    pub fn answers(&self, finding: &Finding) -> bool {
        finding.check == super::PLANNED && finding.parameters.iter().any(|one| one == super::SKIPS)
    }
}
