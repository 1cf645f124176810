//! Checks of Linkerd's policy: the objects as written and their effect in the policy controller.

use super::{Check, row};

mod apply_refused;
mod authentication_missing;
mod authorize;
mod backend_policy;
mod backends;
mod caller_without_identity;
mod default_policy_not_applied;
mod denied_although_authorized;
mod envoy_gateway;
mod gateways;
mod hook_refused;
mod identity_unknown;
mod identity_without_proxy;
pub(in crate::checks) mod ingress;
mod ingress_bypasses_routes;
mod ingress_client_address_lost;
mod ingress_entry;
pub(in crate::checks) mod ingress_header;
mod ingress_mode_external_name;
mod ingress_mode_opaque_port;
mod ingress_refused;
mod ingress_upstream;
mod mirror_bypassed;
mod outbound_connection_forbidden;
mod pod_started_without_policy;
mod policy_answer_differs;
mod policy_audits;
mod policy_denies;
mod policy_ended_connections;
mod policy_ignored;
mod policy_target_missing;
mod policy_unreadable;
mod probe_networks_without_nodes;
mod probe_refused;
mod profile_overrides;
mod profile_shadows_route;
mod profile_unused;
mod proxy_policy_stale;
mod requests_rate_limited;
mod requests_without_route;
mod retry_without_condition;
mod route_backend_elsewhere;
mod route_backend_port_undeclared;
mod route_backend_without_endpoints;
mod route_not_accepted;
mod route_on_tls_port;
mod route_parent_port_undeclared;
mod route_status_unwritten;
mod route_without_clients;
pub(super) mod scrape_refused;
mod server_http_on_opaque_port;
mod server_http_on_tls_port;
mod server_selects_nothing;
mod server_without_authorization;
mod servers_overlap;
mod service_routes_incomplete;
mod session_affinity_ignored;
mod skipped_port_bypasses_policy;
mod skipped_port_hides_identity;
mod survey;
mod traffic_split_backend_missing;
mod traffic_split_ignored;
mod unmeshed_endpoint_bypasses_policy;
mod workload_without_authorization;
mod would_be;

pub use ingress::EndpointCaller;
pub(super) use skipped_port_hides_identity::through_proxy;
pub(super) use survey::{
    Survey, applied, defined, existing, field, on, put, read_by, removal, set, support_after, survey, unread,
};

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("policy", "apply-refused", apply_refused),
    row!("policy", "authentication-missing", authentication_missing),
    row!("policy", "caller-without-identity", caller_without_identity),
    row!("policy", "default-policy-not-applied", default_policy_not_applied),
    row!("policy", "denied-although-authorized", denied_although_authorized),
    row!("policy", "hook-refused", hook_refused),
    row!("policy", "identity-unknown", identity_unknown),
    row!("policy", "identity-without-proxy", identity_without_proxy),
    row!("policy", "ingress-bypasses-routes", ingress_bypasses_routes),
    row!("policy", "ingress-client-address-lost", ingress_client_address_lost),
    row!("policy", "ingress-mode-external-name", ingress_mode_external_name),
    row!("policy", "ingress-mode-opaque-port", ingress_mode_opaque_port),
    row!("policy", "ingress-refused", ingress_refused),
    row!("policy", "mirror-bypassed", mirror_bypassed),
    row!("policy", "outbound-connection-forbidden", outbound_connection_forbidden),
    row!("policy", "pod-started-without-policy", pod_started_without_policy),
    row!("policy", "policy-answer-differs", policy_answer_differs),
    row!("policy", "policy-audits", policy_audits),
    row!("policy", "policy-denies", policy_denies),
    row!("policy", "policy-ended-connections", policy_ended_connections),
    row!("policy", "policy-ignored", policy_ignored),
    row!("policy", "policy-target-missing", policy_target_missing),
    row!("policy", "policy-unreadable", policy_unreadable),
    row!("policy", "probe-networks-without-nodes", probe_networks_without_nodes),
    row!("policy", "probe-refused", probe_refused),
    row!("policy", "profile-shadows-route", profile_shadows_route),
    row!("policy", "profile-unused", profile_unused),
    row!("policy", "proxy-policy-stale", proxy_policy_stale),
    row!("policy", "requests-rate-limited", requests_rate_limited),
    row!("policy", "requests-without-route", requests_without_route),
    row!("policy", "retry-without-condition", retry_without_condition),
    row!("policy", "route-backend-elsewhere", route_backend_elsewhere),
    row!("policy", "route-backend-port-undeclared", route_backend_port_undeclared),
    row!("policy", "route-backend-without-endpoints", route_backend_without_endpoints),
    row!("policy", "route-not-accepted", route_not_accepted),
    row!("policy", "route-on-tls-port", route_on_tls_port),
    row!("policy", "route-parent-port-undeclared", route_parent_port_undeclared),
    row!("policy", "route-status-unwritten", route_status_unwritten),
    row!("policy", "route-without-clients", route_without_clients),
    row!("policy", "scrape-refused", scrape_refused),
    row!("policy", "server-http-on-opaque-port", server_http_on_opaque_port),
    row!("policy", "server-http-on-tls-port", server_http_on_tls_port),
    row!("policy", "server-selects-nothing", server_selects_nothing),
    row!("policy", "server-without-authorization", server_without_authorization),
    row!("policy", "servers-overlap", servers_overlap),
    row!("policy", "service-routes-incomplete", service_routes_incomplete),
    row!("policy", "session-affinity-ignored", session_affinity_ignored),
    row!("policy", "skipped-port-bypasses-policy", skipped_port_bypasses_policy),
    row!("policy", "skipped-port-hides-identity", skipped_port_hides_identity),
    row!("policy", "traffic-split-backend-missing", traffic_split_backend_missing),
    row!("policy", "traffic-split-ignored", traffic_split_ignored),
    row!("policy", "unmeshed-endpoint-bypasses-policy", unmeshed_endpoint_bypasses_policy),
    row!("policy", "workload-without-authorization", workload_without_authorization),
];
