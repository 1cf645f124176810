//! Checks of linkerd-cni: which pods it refuses, what nodes run, and why it fails there.

use super::{Check, row};

mod refusals;
mod remedy;

mod cni_add_exit_127;
mod cni_add_failed;
mod cni_add_unauthorized;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("cni", "cni-add-exit-127", cni_add_exit_127),
    row!("cni", "cni-add-failed", cni_add_failed),
    row!("cni", "cni-add-unauthorized", cni_add_unauthorized),
];
