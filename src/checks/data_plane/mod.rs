//! Checks of the proxies of applications, and of their annotations on ports.

use super::{Check, row};

mod data_plane_namespace_missing;
mod network_policy_blocks_proxy;
mod opaque;
mod opaque_ports_mismatch;
mod proxy_not_ready;

pub(super) use data_plane_namespace_missing::judge as namespace_missing;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("data-plane", "data-plane-namespace-missing", data_plane_namespace_missing),
    row!("data-plane", "network-policy-blocks-proxy", network_policy_blocks_proxy),
    row!("data-plane", "opaque-ports-mismatch", opaque_ports_mismatch),
    row!("data-plane", "proxy-not-ready", proxy_not_ready),
];
