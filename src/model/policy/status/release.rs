//! Of what the policy controller of a release writes a status.

use crate::knowledge::Knowledge;
use crate::version::{Contains, LinkerdVersion};

/// Of what a release writes a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writes {
    /// Of GRPCRoutes.
    pub grpc_routes: bool,
    /// Of EgressNetworks, routes at them, TLSRoutes and TCPRoutes.
    pub egress: bool,
    /// Of rate limits.
    pub rate_limits: bool,
    /// Of no object of a kind of which one cannot be read.
    pub broken_voids_kind: bool,
    /// That a route of a kind that goes first is at the same parent.
    pub conflicts: bool,
}

impl Writes {
    /// What a version writes; where it does not tell, or is not known, what the newest release does.
    pub fn of(version: Option<&LinkerdVersion>, knowledge: &Knowledge) -> Writes {
        let known = knowledge.policy_controller();
        let has =
            |since: &dyn Fn(&LinkerdVersion) -> Contains| version.is_none_or(|v| since(v) != Contains::No);
        Writes {
            grpc_routes: has(&|v| known.grpc_route_status(v, knowledge)),
            egress: has(&|v| known.egress_status(v, knowledge)),
            rate_limits: has(&|v| known.rate_limit_status(v, knowledge)),
            broken_voids_kind: version.is_some_and(|v| known.voids_kind(v, knowledge)),
            conflicts: has(&|v| known.route_conflicts(v, knowledge)),
        }
    }
}
