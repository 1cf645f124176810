//! Checks of versions: what differs from what, and whether that is supported.

use super::{Check, row};

mod cli_control_plane_skew;
mod control_plane_mixed_versions;
mod data_plane_skew;
mod kubernetes_unsupported;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("versions", "cli-control-plane-skew", cli_control_plane_skew),
    row!("versions", "control-plane-mixed-versions", control_plane_mixed_versions),
    row!("versions", "data-plane-skew", data_plane_skew),
    row!("versions", "kubernetes-unsupported", kubernetes_unsupported),
];
