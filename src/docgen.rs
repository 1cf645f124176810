//! Documentation generated from cards, flags, exit statuses and permissions. The functions are pure: a test compares
//! their text with the checked-in files, and `UPDATE=1 cargo test` writes them.

mod cli;
mod defects;
mod index;
pub mod parity;
mod rbac;

pub use cli::{cli, exit_codes, exit_table};
pub use defects::defects;
pub use index::{card_link, fill, index, manifest_checks, parameters};
pub use rbac::{Bound, Homes, cluster_role, optional_roles, role_of};
