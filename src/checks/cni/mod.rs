//! Checks of linkerd-cni: pods for which it fails, the configuration of nodes, and the causes of failures.

use super::{Check, row};

mod absent;
mod add_failures;
pub(in crate::checks) mod chart;
mod chart_value;
mod cni_plugin_defect;
mod cni_pod_security;
mod cni_race_unprotected;
mod cni_validator_target;
mod config_map;
mod crossing;
mod effect;
mod gitops;
mod host;
mod installed_options;
mod installers;
mod logs;
mod mode;
pub(super) mod nodes;
mod places;
mod plugin;
mod pods;
mod purge;

mod remedy;
mod settings;
mod target;
mod template;
mod token;
mod usable;

mod cni_add_exit_127;
mod cni_add_failed;
mod cni_add_unauthorized;
mod cni_bak_residue;
mod cni_boot_race;
mod cni_cilium_exclusive;
mod cni_conf_dir_mismatch;
mod cni_conf_none;
mod cni_conf_twin;
mod cni_conf_unparseable;
mod cni_config_drift;
mod cni_daemonset_deadlock;
mod cni_ds_coverage;
mod cni_entry_dangling;
mod cni_entry_duplicate;
mod cni_entry_first;
mod cni_entry_lookalike;
mod cni_entry_missing;
mod cni_entry_orphaned;
mod cni_entry_shadowed;
mod cni_entry_simulate;
mod cni_entry_stale;
mod cni_inotify_limit;
mod cni_installer_failing;
mod cni_interface_mode_leftover;
mod cni_ip6tables_missing;
mod cni_iptables_backend;
mod cni_iptables_binary_missing;
mod cni_iptables_mode_unsupported;
mod cni_kubeconfig_invalid;
mod cni_mode_mixed;
mod cni_multi_network;
mod cni_native_sidecar_version;
mod cni_network_not_ready;
mod cni_nsenter_missing;
mod cni_object_missing;
mod cni_plugin_upgrade_hazard;
mod cni_rbac_missing;
mod cni_repair_misrendered;
mod cni_security_groups_strict;
mod cni_token_expired;
mod cni_token_in_conflist;
mod cni_token_not_rotated;
mod cni_token_revoked;
mod cni_validator_failed;
mod cni_version_incompatible;
mod node_evidence_outdated;

pub(super) use add_failures::RefusedAdds;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("cni", "cni-add-exit-127", cni_add_exit_127),
    row!("cni", "cni-add-failed", cni_add_failed),
    row!("cni", "cni-add-unauthorized", cni_add_unauthorized),
    row!("cni", "cni-bak-residue", cni_bak_residue),
    row!("cni", "cni-boot-race", cni_boot_race),
    row!("cni", "cni-cilium-exclusive", cni_cilium_exclusive),
    row!("cni", "cni-conf-dir-mismatch", cni_conf_dir_mismatch),
    row!("cni", "cni-conf-none", cni_conf_none),
    row!("cni", "cni-conf-twin", cni_conf_twin),
    row!("cni", "cni-conf-unparseable", cni_conf_unparseable),
    row!("cni", "cni-config-drift", cni_config_drift),
    row!("cni", "cni-daemonset-deadlock", cni_daemonset_deadlock),
    row!("cni", "cni-ds-coverage", cni_ds_coverage),
    row!("cni", "cni-entry-dangling", cni_entry_dangling),
    row!("cni", "cni-entry-duplicate", cni_entry_duplicate),
    row!("cni", "cni-entry-first", cni_entry_first),
    row!("cni", "cni-entry-lookalike", cni_entry_lookalike),
    row!("cni", "cni-entry-missing", cni_entry_missing),
    row!("cni", "cni-entry-orphaned", cni_entry_orphaned),
    row!("cni", "cni-entry-shadowed", cni_entry_shadowed),
    row!("cni", "cni-entry-simulate", cni_entry_simulate),
    row!("cni", "cni-entry-stale", cni_entry_stale),
    row!("cni", "cni-inotify-limit", cni_inotify_limit),
    row!("cni", "cni-installer-failing", cni_installer_failing),
    row!("cni", "cni-interface-mode-leftover", cni_interface_mode_leftover),
    row!("cni", "cni-ip6tables-missing", cni_ip6tables_missing),
    row!("cni", "cni-iptables-backend", cni_iptables_backend),
    row!("cni", "cni-iptables-binary-missing", cni_iptables_binary_missing),
    row!("cni", "cni-iptables-mode-unsupported", cni_iptables_mode_unsupported),
    row!("cni", "cni-kubeconfig-invalid", cni_kubeconfig_invalid),
    row!("cni", "cni-mode-mixed", cni_mode_mixed),
    row!("cni", "cni-multi-network", cni_multi_network),
    row!("cni", "cni-native-sidecar-version", cni_native_sidecar_version),
    row!("cni", "cni-network-not-ready", cni_network_not_ready),
    row!("cni", "cni-nsenter-missing", cni_nsenter_missing),
    row!("cni", "cni-object-missing", cni_object_missing),
    row!("cni", "cni-plugin-defect", cni_plugin_defect),
    row!("cni", "cni-plugin-upgrade-hazard", cni_plugin_upgrade_hazard),
    row!("cni", "cni-pod-security", cni_pod_security),
    row!("cni", "cni-race-unprotected", cni_race_unprotected),
    row!("cni", "cni-rbac-missing", cni_rbac_missing),
    row!("cni", "cni-repair-misrendered", cni_repair_misrendered),
    row!("cni", "cni-security-groups-strict", cni_security_groups_strict),
    row!("cni", "cni-token-expired", cni_token_expired),
    row!("cni", "cni-token-in-conflist", cni_token_in_conflist),
    row!("cni", "cni-token-not-rotated", cni_token_not_rotated),
    row!("cni", "cni-token-revoked", cni_token_revoked),
    row!("cni", "cni-validator-failed", cni_validator_failed),
    row!("cni", "cni-validator-target", cni_validator_target),
    row!("cni", "cni-version-incompatible", cni_version_incompatible),
    row!("cni", "node-evidence-outdated", node_evidence_outdated),
];
