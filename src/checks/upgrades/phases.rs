//! What a plan is: its phases, and which of them deals with what.

use std::collections::BTreeMap;

use crate::card::Part;
use crate::checks::find;
use crate::finding::{Finding, Fingerprint, Remedy, When};
use crate::version::LinkerdVersion;

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its phases, in order.
    pub phases: Vec<Phase>,
    /// The phase of each finding that begins with the upgrade, from 1, if the plan was read from a saved report.
    pub recorded: Option<BTreeMap<Fingerprint, usize>>,
}

/// A phase: what belongs together, and what shows that it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// What it is about: `Control plane to edge-26.6.3`.
    pub title: String,
    /// Which part of the upgrade it is.
    pub part: Part,
    /// The release that it goes to; `None` where it is of no release.
    pub release: Option<LinkerdVersion>,
    /// The steps, and what verifies them.
    pub remedy: Remedy,
}

impl Plan {
    /// The number of the phase in which to deal with what begins with the upgrade, from 1: the one of the part which the card
    /// names on the way to the release with which it begins, else what is done before. `None` for what the plan as a whole deals
    /// with.
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
        // An earlier one of the part, as the Gateway API may be brought once for several releases.
        let at = |part| self.phases.iter().rposition(|phase| phase.part == part);
        on_the_way.or_else(|| at(part)).or_else(|| at(Part::Before)).map(|at| at + 1)
    }

    /// Whether a finding is about releases that are skipped, which the plan does not do.
    pub fn answers(&self, finding: &Finding) -> bool {
        finding.check == super::PLANNED && finding.parameters.iter().any(|one| one == super::SKIPS)
    }
}
