//! The statuses that a release's policy controller writes.

use crate::knowledge::{FirstEdge, Knowledge};
use crate::version::{Contains, LinkerdVersion};

/// The statuses that a release writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writes {
    /// For GRPCRoutes.
    pub grpc_routes: bool,
    /// For EgressNetworks, their routes, TLSRoutes and TCPRoutes.
    pub egress: bool,
    pub rate_limits: bool,
    /// Not for kinds with an unreadable object.
    pub broken_voids_kind: bool,
    /// The rejection if a route of a kind that takes precedence has the same parent.
    pub conflicts: bool,
}

impl Writes {
    /// The statuses of a version; those of the newest release if the version is unknown or not conclusive.
    pub fn from_version(version: Option<&LinkerdVersion>, knowledge: &Knowledge) -> Writes {
        let known = knowledge.policy_controller();
        let has = |first: FirstEdge| version.is_none_or(|v| first.is_in(v, knowledge) != Contains::No);
        Writes {
            grpc_routes: has(known.grpc_route_status),
            egress: has(known.egress_status),
            rate_limits: has(known.rate_limit_status),
            broken_voids_kind: version.is_some_and(|v| known.voids_kind(v, knowledge)),
            conflicts: has(known.route_conflicts),
        }
    }
}
