//! Documentation made from what the code runs on: cards, flags, exit statuses, needs. Pure functions that give texts; a
//! test compares them with the files that are checked in, and `UPDATE=1 cargo test` writes those. Nothing here prints
//! or touches a file.

mod cli;
mod index;
pub mod parity;
mod rbac;

pub use cli::{cli, exit_codes, exit_table};
pub use index::{fill, index, manifest_checks, parameters};
pub use rbac::{Bound, Homes, cluster_role, optional_roles, role_of};
