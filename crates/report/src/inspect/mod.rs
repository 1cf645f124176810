//! Commands that answer a single question about a mesh, from the same evidence as the checks. Answers list
//! missing evidence.

pub mod evidence;
pub mod injection;
pub mod link_endpoints;
mod missing_evidence;
mod network;
pub mod nodes;
pub mod outbound;
pub mod policy;
pub mod policy_manifests;
pub mod reach;
mod refused;
pub mod rotation;
mod route_order;
mod routed;
mod steps;
pub mod sync;
