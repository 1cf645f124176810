//! The values of Linkerd's charts: as `linkerd-config` keeps them, read as Go reads them and asked by path; and those that are about
//! to be given to a chart, also by objects of the tools that install it from Git.

pub mod gitops;
pub mod given;
mod held;
pub(crate) mod values;
pub(crate) mod yaml;

pub use values::Values;
