//! Checks of the multicluster extension: links to other clusters, the controllers that mirror their services,
//! and the mirrors. Parts that all extensions share are in `checks::extensions`.

use super::{Check, row};

mod control_plane_credentials_incomplete;
mod exported_headless_without_hostnames;
mod exports;
mod gateway_identity_mismatch;
mod gateway_probe_failing;
mod gateway_refuses_requests;
mod gateway_service;
mod gateway_unavailable;
mod link_anchors_differ;
mod link_crd_missing;
mod link_credentials_unusable;
mod link_invalid;
mod link_probe_port_undeclared;
mod link_version_skew;
pub(super) mod links;
mod mirror_endpoints_outdated;
mod mirror_service_orphaned;
mod mirror_service_pruned;
mod mirror_service_without_endpoints;
mod multicluster_cli_skew;
mod multicluster_namespace_unlabelled;
mod multicluster_pods_not_running;
mod multicluster_proxy_outdated;
mod multicluster_proxy_unhealthy;
mod remote_account_missing;
mod service_mirror_legacy;
mod service_mirror_not_running;
mod service_mirror_reports_errors;
mod service_mirror_role_missing;
mod service_not_mirrored;

pub(super) use exports::through_gateway;
pub(super) use gateway_service::is_gateway;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("multicluster", "control-plane-credentials-incomplete", control_plane_credentials_incomplete),
    row!("multicluster", "exported-headless-without-hostnames", exported_headless_without_hostnames),
    row!("multicluster", "gateway-identity-mismatch", gateway_identity_mismatch),
    row!("multicluster", "gateway-probe-failing", gateway_probe_failing),
    row!("multicluster", "gateway-refuses-requests", gateway_refuses_requests),
    row!("multicluster", "gateway-unavailable", gateway_unavailable),
    row!("multicluster", "link-anchors-differ", link_anchors_differ),
    row!("multicluster", "link-crd-missing", link_crd_missing),
    row!("multicluster", "link-credentials-unusable", link_credentials_unusable),
    row!("multicluster", "link-invalid", link_invalid),
    row!("multicluster", "link-probe-port-undeclared", link_probe_port_undeclared),
    row!("multicluster", "link-version-skew", link_version_skew),
    row!("multicluster", "mirror-endpoints-outdated", mirror_endpoints_outdated),
    row!("multicluster", "mirror-service-orphaned", mirror_service_orphaned),
    row!("multicluster", "mirror-service-pruned", mirror_service_pruned),
    row!("multicluster", "mirror-service-without-endpoints", mirror_service_without_endpoints),
    row!("multicluster", "multicluster-cli-skew", multicluster_cli_skew),
    row!("multicluster", "multicluster-namespace-unlabelled", multicluster_namespace_unlabelled),
    row!("multicluster", "multicluster-pods-not-running", multicluster_pods_not_running),
    row!("multicluster", "multicluster-proxy-outdated", multicluster_proxy_outdated),
    row!("multicluster", "multicluster-proxy-unhealthy", multicluster_proxy_unhealthy),
    row!("multicluster", "remote-account-missing", remote_account_missing),
    row!("multicluster", "service-mirror-legacy", service_mirror_legacy),
    row!("multicluster", "service-mirror-not-running", service_mirror_not_running),
    row!("multicluster", "service-mirror-reports-errors", service_mirror_reports_errors),
    row!("multicluster", "service-mirror-role-missing", service_mirror_role_missing),
    row!("multicluster", "service-not-mirrored", service_not_mirrored),
];
