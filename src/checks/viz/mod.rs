//! Checks of the viz extension: metrics, dashboard, tap. Parts that all extensions share are in
//! `checks::extensions`.

use super::{Check, row};

mod external_prometheus;
mod own_services;
mod tap;
mod viz_address_unreachable;
mod viz_cli_skew;
mod viz_dashboard_host_refused;
mod viz_data_plane_namespace_missing;
mod viz_metrics_api_not_running;
mod viz_metrics_missing;
mod viz_namespace_empty;
mod viz_namespace_unlabelled;
mod viz_pods_not_injected;
mod viz_pods_not_running;
mod viz_prometheus_missing;
mod viz_proxy_outdated;
mod viz_proxy_unhealthy;
mod viz_role_missing;
mod viz_scrape_mismatch;
mod viz_scrape_unauthorized;
mod viz_self_check_failing;
mod viz_tap_api_unavailable;
mod viz_tap_certificate_expiring;
mod viz_tap_certificate_invalid;
mod viz_tap_injector_ca_mismatch;
mod viz_tap_injector_missing;
mod viz_tap_key_mismatch;
mod viz_tap_not_enabled;
mod viz_tap_refuses_users;

pub(super) use viz_scrape_mismatch::first_with_ports;
pub(super) use viz_scrape_unauthorized::{allowing, denies};
pub(super) use viz_tap_api_unavailable::egress_is_down;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("viz", "viz-address-unreachable", viz_address_unreachable),
    row!("viz", "viz-cli-skew", viz_cli_skew),
    row!("viz", "viz-dashboard-host-refused", viz_dashboard_host_refused),
    row!("viz", "viz-data-plane-namespace-missing", viz_data_plane_namespace_missing),
    row!("viz", "viz-metrics-api-not-running", viz_metrics_api_not_running),
    row!("viz", "viz-metrics-missing", viz_metrics_missing),
    row!("viz", "viz-namespace-empty", viz_namespace_empty),
    row!("viz", "viz-namespace-unlabelled", viz_namespace_unlabelled),
    row!("viz", "viz-pods-not-injected", viz_pods_not_injected),
    row!("viz", "viz-pods-not-running", viz_pods_not_running),
    row!("viz", "viz-prometheus-missing", viz_prometheus_missing),
    row!("viz", "viz-proxy-outdated", viz_proxy_outdated),
    row!("viz", "viz-proxy-unhealthy", viz_proxy_unhealthy),
    row!("viz", "viz-role-missing", viz_role_missing),
    row!("viz", "viz-scrape-mismatch", viz_scrape_mismatch),
    row!("viz", "viz-scrape-unauthorized", viz_scrape_unauthorized),
    row!("viz", "viz-self-check-failing", viz_self_check_failing),
    row!("viz", "viz-tap-api-unavailable", viz_tap_api_unavailable),
    row!("viz", "viz-tap-certificate-expiring", viz_tap_certificate_expiring),
    row!("viz", "viz-tap-certificate-invalid", viz_tap_certificate_invalid),
    row!("viz", "viz-tap-injector-ca-mismatch", viz_tap_injector_ca_mismatch),
    row!("viz", "viz-tap-injector-missing", viz_tap_injector_missing),
    row!("viz", "viz-tap-key-mismatch", viz_tap_key_mismatch),
    row!("viz", "viz-tap-not-enabled", viz_tap_not_enabled),
    row!("viz", "viz-tap-refuses-users", viz_tap_refuses_users),
];
