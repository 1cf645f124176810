//! The values of Linkerd's charts: as `linkerd-config` keeps them, read as Go reads them and asked by path; and those that are about
//! to be given to a chart.

pub mod given;
pub(crate) mod values;
pub(crate) mod yaml;

pub use values::Values;
