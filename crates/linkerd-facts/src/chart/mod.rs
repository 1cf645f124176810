//! Chart values: those stored in `linkerd-config`, parsed as Go does and read by path; and those for a planned
//! installation, also in objects of GitOps tools.

pub mod gitops;
mod stored_values;
pub mod values;
pub mod values_input;
pub mod yaml;

pub use values::Values;
