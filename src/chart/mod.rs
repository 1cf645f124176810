//! The values of Linkerd's chart, as `linkerd-config` keeps them: read as Go reads them, and asked by path.

pub(crate) mod values;
pub(crate) mod yaml;

pub use values::Values;
