//! Checks of applications' proxies and of their port annotations.

use super::{Check, row};

mod app_runs_as_proxy;
mod application_refuses_connections;
mod autoscaler_held_by_proxy;
mod await_hook_failing;
mod calico_connect_time_balancing;
mod call_to_missing_pod;
mod call_without_mtls;
mod cilium_socket_balancing;
mod connect_failures;
mod data_plane_namespace_missing;
mod deleted_profile_in_use;
pub(in crate::checks) mod denied_clients;
mod endpoint_refuses_ipv6;
mod endpoints_unreachable;
mod exposed;
mod external_workload_without_endpoint;
mod inbound_requests_shed;
mod init_container_before_proxy;
mod injected_container_not_started;
mod large_heads;
mod local_endpoints_missing;
mod monitor_not_selected;
mod nested_network_refused;
mod network_policy_blocks_control_plane;
mod network_policy_blocks_proxy;
mod network_policy_blocks_scrapes;
mod opaque;
mod opaque_defaults_lost;
mod opaque_port_missing;
pub(in crate::checks) mod opaque_port_speaks_http;
mod opaque_ports_mismatch;
mod outbound_requests_shed;
mod pod_address_shared;
mod pod_dns_bypasses_cluster;
mod probe_fails_behind_proxy;
mod protocol_detection_times_out;
mod protocol_not_detected;
mod proxies_fail_on_some_nodes;
mod proxy_control_plane_differs;
mod proxy_cpu_limit_low;
mod proxy_defaults_broken;
mod proxy_ended_with_error;
mod proxy_endpoints_stale;
mod proxy_exports_many_series;
mod proxy_file_descriptors_low;
mod proxy_init_failing;
mod proxy_killed_at_shutdown;
mod proxy_memory_near_limit;
mod proxy_not_ready;
mod proxy_not_redirected;
mod proxy_of_removed_control_plane;
mod proxy_port_taken;
mod proxy_prestop_failing;
mod proxy_reports_errors;
mod proxy_request_unschedulable;
mod proxy_variable_undefined;
mod route_ignored_by_protocol;
mod route_of_two_controllers;
mod selected;
mod server_identity_refused;
mod service_without_endpoints;
mod skip_outbound_ports_lost;
mod trace_collector_identity;
mod trace_collector_unreachable;
mod traffic_worse_than_before;
mod transport;
mod workload_account_missing;
mod workload_not_ready;

pub(super) use data_plane_namespace_missing::judge as namespace_missing;
pub(super) use selected::Selected;
pub(super) use traffic_worse_than_before::ID as TRAFFIC;
pub(super) use transport::inbound_port;

/// The check of meshed workloads without a ready pod: a report with such a finding does not call the cluster healthy.
pub const UNREADY_WORKLOAD: &str = "workload-not-ready";

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("data-plane", "app-runs-as-proxy", app_runs_as_proxy),
    row!("data-plane", "application-refuses-connections", application_refuses_connections),
    row!("data-plane", "autoscaler-held-by-proxy", autoscaler_held_by_proxy),
    row!("data-plane", "await-hook-failing", await_hook_failing),
    row!("data-plane", "calico-connect-time-balancing", calico_connect_time_balancing),
    row!("data-plane", "call-to-missing-pod", call_to_missing_pod),
    row!("data-plane", "call-without-mtls", call_without_mtls),
    row!("data-plane", "cilium-socket-balancing", cilium_socket_balancing),
    row!("data-plane", "data-plane-namespace-missing", data_plane_namespace_missing),
    row!("data-plane", "deleted-profile-in-use", deleted_profile_in_use),
    row!("data-plane", "endpoint-refuses-ipv6", endpoint_refuses_ipv6),
    row!("data-plane", "endpoints-unreachable", endpoints_unreachable),
    row!("data-plane", "external-workload-without-endpoint", external_workload_without_endpoint),
    row!("data-plane", "inbound-requests-shed", inbound_requests_shed),
    row!("data-plane", "init-container-before-proxy", init_container_before_proxy),
    row!("data-plane", "injected-container-not-started", injected_container_not_started),
    row!("data-plane", "local-endpoints-missing", local_endpoints_missing),
    row!("data-plane", "monitor-not-selected", monitor_not_selected),
    row!("data-plane", "nested-network-refused", nested_network_refused),
    row!("data-plane", "network-policy-blocks-control-plane", network_policy_blocks_control_plane),
    row!("data-plane", "network-policy-blocks-proxy", network_policy_blocks_proxy),
    row!("data-plane", "network-policy-blocks-scrapes", network_policy_blocks_scrapes),
    row!("data-plane", "opaque-defaults-lost", opaque_defaults_lost),
    row!("data-plane", "opaque-port-missing", opaque_port_missing),
    row!("data-plane", "opaque-port-speaks-http", opaque_port_speaks_http),
    row!("data-plane", "opaque-ports-mismatch", opaque_ports_mismatch),
    row!("data-plane", "outbound-requests-shed", outbound_requests_shed),
    row!("data-plane", "pod-address-shared", pod_address_shared),
    row!("data-plane", "pod-dns-bypasses-cluster", pod_dns_bypasses_cluster),
    row!("data-plane", "probe-fails-behind-proxy", probe_fails_behind_proxy),
    row!("data-plane", "protocol-detection-times-out", protocol_detection_times_out),
    row!("data-plane", "protocol-not-detected", protocol_not_detected),
    row!("data-plane", "proxies-fail-on-some-nodes", proxies_fail_on_some_nodes),
    row!("data-plane", "proxy-control-plane-differs", proxy_control_plane_differs),
    row!("data-plane", "proxy-cpu-limit-low", proxy_cpu_limit_low),
    row!("data-plane", "proxy-defaults-broken", proxy_defaults_broken),
    row!("data-plane", "proxy-ended-with-error", proxy_ended_with_error),
    row!("data-plane", "proxy-endpoints-stale", proxy_endpoints_stale),
    row!("data-plane", "proxy-exports-many-series", proxy_exports_many_series),
    row!("data-plane", "proxy-file-descriptors-low", proxy_file_descriptors_low),
    row!("data-plane", "proxy-init-failing", proxy_init_failing),
    row!("data-plane", "proxy-killed-at-shutdown", proxy_killed_at_shutdown),
    row!("data-plane", "proxy-memory-near-limit", proxy_memory_near_limit),
    row!("data-plane", "proxy-not-ready", proxy_not_ready),
    row!("data-plane", "proxy-not-redirected", proxy_not_redirected),
    row!("data-plane", "proxy-of-removed-control-plane", proxy_of_removed_control_plane),
    row!("data-plane", "proxy-port-taken", proxy_port_taken),
    row!("data-plane", "proxy-prestop-failing", proxy_prestop_failing),
    row!("data-plane", "proxy-reports-errors", proxy_reports_errors),
    row!("data-plane", "proxy-request-unschedulable", proxy_request_unschedulable),
    row!("data-plane", "proxy-variable-undefined", proxy_variable_undefined),
    row!("data-plane", "route-ignored-by-protocol", route_ignored_by_protocol),
    row!("data-plane", "route-of-two-controllers", route_of_two_controllers),
    row!("data-plane", "server-identity-refused", server_identity_refused),
    row!("data-plane", "service-without-endpoints", service_without_endpoints),
    row!("data-plane", "skip-outbound-ports-lost", skip_outbound_ports_lost),
    row!("data-plane", "trace-collector-identity", trace_collector_identity),
    row!("data-plane", "trace-collector-unreachable", trace_collector_unreachable),
    row!("data-plane", "traffic-worse-than-before", traffic_worse_than_before),
    row!("data-plane", "workload-account-missing", workload_account_missing),
    row!("data-plane", "workload-not-ready", workload_not_ready),
];
