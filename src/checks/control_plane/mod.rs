//! Checks of the control plane: whether it is installed, ready, and has everything it needs.

use super::{Check, row};

mod api_server_port_redirected;
mod api_server_unreadable;
mod cluster_dns_not_ready;
mod cluster_domain_not_served;
mod cluster_networks_incomplete;
mod cluster_networks_without_nodes;
mod control_plane_annotation_ignored;
mod control_plane_below_ha;
mod control_plane_churning;
mod control_plane_domains_differ;
mod control_plane_ha_partial;
mod control_plane_missing;
mod control_plane_name_unresolved;
mod control_plane_not_evictable;
mod control_plane_not_ready;
mod control_plane_on_one_node;
mod control_plane_pods_refused;
mod control_plane_probe_times_out;
mod control_plane_rbac_missing;
mod control_plane_reports_errors;
pub(super) mod control_plane_restarting;
mod control_plane_role_missing;
mod control_plane_service_missing;
mod crd_missing;
mod destination_replica_outdated;
mod destination_replica_stuck;
mod destination_updates_delayed;
mod endpoints_answer_stale;
mod extension_command_missing;
mod extension_namespace_twice;
mod extension_restarting;
mod extension_service_account_missing;
pub(super) mod failing;
mod gitops_apply_failed;
mod gitops_ignore_ineffective;
mod heartbeat_failing;
pub(super) mod installation;
mod ipv6_setting_mismatch;
mod linkerd_config_missing;
mod linkerd_config_unreadable;
mod linkerd_image_not_pulled;
mod namespace_terminating;
mod network_policy_blocks_webhooks;
mod networks;
mod node_labels;
mod outage;
mod pod_network_overlaps;
mod proxy_cut_off;
mod proxy_init_not_root;
mod removed_component_left;
mod rollout_stuck;
mod service_account_missing;
mod validator_not_called;
mod validator_webhook_missing;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("control-plane", "api-server-port-redirected", api_server_port_redirected),
    row!("control-plane", "api-server-unreadable", api_server_unreadable),
    row!("control-plane", "cluster-dns-not-ready", cluster_dns_not_ready),
    row!("control-plane", "cluster-domain-not-served", cluster_domain_not_served),
    row!("control-plane", "cluster-networks-incomplete", cluster_networks_incomplete),
    row!("control-plane", "cluster-networks-without-nodes", cluster_networks_without_nodes),
    row!("control-plane", "control-plane-annotation-ignored", control_plane_annotation_ignored),
    row!("control-plane", "control-plane-below-ha", control_plane_below_ha),
    row!("control-plane", "control-plane-churning", control_plane_churning),
    row!("control-plane", "control-plane-domains-differ", control_plane_domains_differ),
    row!("control-plane", "control-plane-ha-partial", control_plane_ha_partial),
    row!("control-plane", "control-plane-missing", control_plane_missing),
    row!("control-plane", "control-plane-name-unresolved", control_plane_name_unresolved),
    row!("control-plane", "control-plane-not-evictable", control_plane_not_evictable),
    row!("control-plane", "control-plane-not-ready", control_plane_not_ready),
    row!("control-plane", "control-plane-on-one-node", control_plane_on_one_node),
    row!("control-plane", "control-plane-pods-refused", control_plane_pods_refused),
    row!("control-plane", "control-plane-probe-times-out", control_plane_probe_times_out),
    row!("control-plane", "control-plane-rbac-missing", control_plane_rbac_missing),
    row!("control-plane", "control-plane-reports-errors", control_plane_reports_errors),
    row!("control-plane", "control-plane-restarting", control_plane_restarting),
    row!("control-plane", "control-plane-role-missing", control_plane_role_missing),
    row!("control-plane", "control-plane-service-missing", control_plane_service_missing),
    row!("control-plane", "crd-missing", crd_missing),
    row!("control-plane", "destination-replica-outdated", destination_replica_outdated),
    row!("control-plane", "destination-replica-stuck", destination_replica_stuck),
    row!("control-plane", "destination-updates-delayed", destination_updates_delayed),
    row!("control-plane", "endpoints-answer-stale", endpoints_answer_stale),
    row!("control-plane", "extension-command-missing", extension_command_missing),
    row!("control-plane", "extension-namespace-twice", extension_namespace_twice),
    row!("control-plane", "extension-restarting", extension_restarting),
    row!("control-plane", "extension-service-account-missing", extension_service_account_missing),
    row!("control-plane", "gitops-apply-failed", gitops_apply_failed),
    row!("control-plane", "gitops-ignore-ineffective", gitops_ignore_ineffective),
    row!("control-plane", "heartbeat-failing", heartbeat_failing),
    row!("control-plane", "ipv6-setting-mismatch", ipv6_setting_mismatch),
    row!("control-plane", "linkerd-config-missing", linkerd_config_missing),
    row!("control-plane", "linkerd-config-unreadable", linkerd_config_unreadable),
    row!("control-plane", "linkerd-image-not-pulled", linkerd_image_not_pulled),
    row!("control-plane", "namespace-terminating", namespace_terminating),
    row!("control-plane", "network-policy-blocks-webhooks", network_policy_blocks_webhooks),
    row!("control-plane", "pod-network-overlaps", pod_network_overlaps),
    row!("control-plane", "proxy-cut-off", proxy_cut_off),
    row!("control-plane", "proxy-init-not-root", proxy_init_not_root),
    row!("control-plane", "removed-component-left", removed_component_left),
    row!("control-plane", "rollout-stuck", rollout_stuck),
    row!("control-plane", "service-account-missing", service_account_missing),
    row!("control-plane", "validator-not-called", validator_not_called),
    row!("control-plane", "validator-webhook-missing", validator_webhook_missing),
];
