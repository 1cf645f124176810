//! Recreates the pods of workloads, so that a change takes effect. The commands depend on how the proxy was
//! added (by the injector, or by `linkerd inject --manual` in the pod template) and on whether the workload
//! rolls at all: a paused Deployment, an OnDelete set, a pod without an owner and a namespace without quota
//! for one more pod each need another step.

mod changed;
mod discovery;
mod every;
mod issuance;
mod one;
mod rollouts;

pub(super) use changed::after_change;
pub use discovery::CallFaults;
pub(super) use every::{all_meshed, listed, meshed_after, meshed_but, meshed_on, of_namespaces, of_workloads};
pub use issuance::Issuance;
pub(super) use one::renew;
pub(super) use rollouts::{Needs, Rollouts, is_injected_by_hand};
