//! Effect of missing evidence on a walk: a step that depends on missing or incomplete lists is not checked.
//! The absence of a policy is unknown if policies could not be read.

use super::evidence::NETWORK_POLICIES;
use super::steps::{Lack, Outcome, Part, Walk};
use crate::item::{Item, Kind};
use crate::missing::Missing;
use crate::model::policy::{POLICY_KINDS, ROUTES};

/// The lists that a step depends on, in addition to the pods and Services that it names.
fn told_from(part: Part, outcome: Outcome) -> &'static [&'static [Kind]] {
    match (part, outcome) {
        // If nothing was found, an incomplete list may contain it. A workload is found by the owners of its
        // pods.
        (Part::Client, Outcome::Stops) => &[&[Kind::Pod, Kind::ReplicaSet, Kind::Job]],
        (Part::Destination, Outcome::Stops) => &[&[Kind::Service, Kind::Pod, Kind::ReplicaSet, Kind::Job]],
        (Part::Endpoints, Outcome::Stops) => &[&[Kind::EndpointSlice]],
        // An object that was found exists, whatever else does.
        (Part::Client | Part::Service | Part::Destination | Part::Endpoints, _) => &[],
        // Unknown objects may change the result.
        (Part::Routes, _) => &[&[Kind::ServiceProfile], &ROUTES],
        (Part::Egress, _) => &[&[Kind::EgressNetwork], &ROUTES],
        (Part::Network, _) => &[&NETWORK_POLICIES],
        (Part::Policy, _) => &[&POLICY_KINDS],
        // Depends only on the objects at both ends.
        (
            Part::OtherCluster | Part::Outbound | Part::ControlPlane | Part::Protocol | Part::Server | Part::Identity,
            _,
        ) => &[],
    }
}

/// Marks steps as not checked if their lists are missing or incomplete: they neither pass nor stop the call,
/// and the fix of a stopping step is removed, unless it is the right name.
pub(super) fn take_back(walk: &mut Walk, gaps: &[Missing]) {
    for step in walk.steps.iter_mut().filter(|step| step.outcome != Outcome::NotJudged && !step.counted) {
        let from = told_from(step.part, step.outcome);
        let missing = gaps.iter().find_map(|gap| match gap.request.item {
            Item::List(kind) if from.iter().any(|kinds| kinds.contains(&kind)) => Some((kind, &gap.why)),
            _ => None,
        });
        if let Some((kind, why)) = missing {
            step.lacks = Some(Lack { kind, why: why.clone(), without: step.outcome });
            step.outcome = Outcome::NotJudged;
            // A name without an object may be misspelt; other fixes are for a fault that may not exist.
            if !matches!(step.part, Part::Client | Part::Destination) {
                step.fix = None;
            }
        }
    }
}
