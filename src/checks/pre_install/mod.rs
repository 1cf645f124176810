//! Checks before an installation (`--pre`): permissions to create its objects, and conflicting objects.

use super::{Check, row};

mod aggregation_layer_off;
mod control_plane_namespace_exists;
mod install_cluster_rights_missing;
mod install_leftovers;
mod install_rights_missing;
mod node_clock_skew;
mod rights;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("pre-install", "aggregation-layer-off", aggregation_layer_off),
    row!("pre-install", "control-plane-namespace-exists", control_plane_namespace_exists),
    row!("pre-install", "install-cluster-rights-missing", install_cluster_rights_missing),
    row!("pre-install", "install-leftovers", install_leftovers),
    row!("pre-install", "install-rights-missing", install_rights_missing),
    row!("pre-install", "node-clock-skew", node_clock_skew),
];
