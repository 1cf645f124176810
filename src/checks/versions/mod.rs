//! Checks of versions: differences between components, and whether they are supported.

use super::{Check, row};

mod cli_control_plane_skew;
pub(super) mod cli_install;
mod cli_outdated;
pub(super) mod compared;
mod control_plane_mixed_versions;
mod control_plane_outdated;
mod crd_stored_version_gone;
mod crds_overwritten_by_cli;
mod data_plane_skew;
pub(super) mod gateway_api;
mod gateway_api_after_controller;
mod gateway_api_missing;
mod gateway_api_owned_elsewhere;
mod gateway_api_releases_differ;
mod gateway_api_unsupported;
pub(super) mod known_defect;
mod kubernetes_unsupported;
mod newest;
mod route_version_not_served;
mod stale_endpoints_release;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("versions", "cli-control-plane-skew", cli_control_plane_skew),
    row!("versions", "cli-outdated", cli_outdated),
    row!("versions", "control-plane-mixed-versions", control_plane_mixed_versions),
    row!("versions", "control-plane-outdated", control_plane_outdated),
    row!("versions", "crd-stored-version-gone", crd_stored_version_gone),
    row!("versions", "crds-overwritten-by-cli", crds_overwritten_by_cli),
    row!("versions", "data-plane-skew", data_plane_skew),
    row!("versions", "gateway-api-after-controller", gateway_api_after_controller),
    row!("versions", "gateway-api-missing", gateway_api_missing),
    row!("versions", "gateway-api-owned-elsewhere", gateway_api_owned_elsewhere),
    row!("versions", "gateway-api-releases-differ", gateway_api_releases_differ),
    row!("versions", "gateway-api-unsupported", gateway_api_unsupported),
    row!("versions", "known-defect", known_defect),
    row!("versions", "kubernetes-unsupported", kubernetes_unsupported),
    row!("versions", "route-version-not-served", route_version_not_served),
    row!("versions", "stale-endpoints-release", stale_endpoints_release),
];
