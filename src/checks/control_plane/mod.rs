//! Checks of the control plane: is it there, is it ready.

use super::{Check, row};

mod control_plane_missing;
mod control_plane_not_ready;
mod failing;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("control-plane", "control-plane-missing", control_plane_missing),
    row!("control-plane", "control-plane-not-ready", control_plane_not_ready),
];
