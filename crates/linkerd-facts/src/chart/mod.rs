//! Chart values: those stored in `linkerd-config`, parsed as Go does and read by path; and those for a planned
//! installation, also in objects of GitOps tools.

pub mod gitops;
pub mod given;
mod held;
pub mod values;
pub mod yaml;

pub use values::Values;
