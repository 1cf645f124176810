//! Commands that answer a single question about a mesh, from the same evidence as the checks. Answers list
//! missing evidence.

mod doubt;
pub mod ends;
pub mod evidence;
pub mod injection;
mod network;
pub mod nodes;
pub mod outbound;
pub mod policy;
pub mod policy_manifests;
pub mod reach;
mod refused;
pub mod rotation;
mod routed;
pub mod sync;
mod walk;
