//! What missing evidence does to a walk: a step that was told from lists that are not there, or not whole, was not judged. "There
//! is no policy about it" says nothing where nobody could see the policies.

use super::evidence::NETWORK_POLICIES;
use super::walk::{Outcome, Part, Walk};
use crate::item::{Item, Kind};
use crate::missing::Missing;
use crate::model::policy::{POLICY_KINDS, ROUTES};

/// The lists that a step is told from, beside the pods and Services that it names.
fn told_from(part: Part, outcome: Outcome) -> &'static [&'static [Kind]] {
    match (part, outcome) {
        // Where nothing was found, more of it may be there. A workload is found by the owners of its pods.
        (Part::Client, Outcome::Stops) => &[&[Kind::Pod, Kind::ReplicaSet, Kind::Job]],
        (Part::Destination, Outcome::Stops) => &[&[Kind::Service, Kind::Pod, Kind::ReplicaSet, Kind::Job]],
        (Part::Endpoints, Outcome::Stops) => &[&[Kind::EndpointSlice]],
        // What was found is there, whatever else is.
        (Part::Client | Part::Service | Part::Destination | Part::Endpoints, _) => &[],
        // What is not known may say the contrary.
        (Part::Routes, _) => &[&[Kind::ServiceProfile], &ROUTES],
        (Part::Egress, _) => &[&[Kind::EgressNetwork], &ROUTES],
        (Part::Network, _) => &[&NETWORK_POLICIES],
        (Part::Policy, _) => &[&POLICY_KINDS],
        // From the objects at both ends alone.
        (
            Part::OtherCluster
            | Part::Outbound
            | Part::ControlPlane
            | Part::Protocol
            | Part::Server
            | Part::Identity,
            _,
        ) => &[],
    }
}

/// Takes back what was said of steps whose lists are missing, in part or whole: they neither pass nor stop the call then, and what
/// would be done about one that stops it is not to be done.
pub(super) fn take_back(walk: &mut Walk, gaps: &[Missing]) {
    for step in walk.steps.iter_mut().filter(|step| step.outcome != Outcome::NotJudged) {
        let from = told_from(step.part, step.outcome);
        let missing = gaps.iter().find_map(|gap| match gap.request.item {
            Item::List(kind) if from.iter().any(|kinds| kinds.contains(&kind)) => Some((kind, &gap.why)),
            _ => None,
        });
        if let Some((kind, why)) = missing {
            step.outcome = Outcome::NotJudged;
            step.says = format!("{}, as far as the evidence shows: {}: {why}", step.says, kind.resource());
            step.fix = None;
        }
    }
}
