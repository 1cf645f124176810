//! Checks of the control plane: is it there, is it ready.

use super::{Check, row};

mod control_plane_missing;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[row!("control-plane", "control-plane-missing", control_plane_missing)];
