//! Checks of linkerd-cni: which pods it refuses, what nodes run, and why it fails there.

use super::{Check, row};

mod installers;
mod logs;
mod mode;
mod nodes;
mod places;
mod plugin;
mod purge;
mod refusals;
mod remedy;
mod token;

mod cni_add_exit_127;
mod cni_add_failed;
mod cni_add_unauthorized;
mod cni_boot_race;
mod cni_daemonset_deadlock;
mod cni_ds_coverage;
mod cni_entry_missing;
mod cni_entry_orphaned;
mod cni_inotify_limit;
mod cni_installer_failing;
mod cni_iptables_binary_missing;
mod cni_iptables_mode_unsupported;
mod cni_network_not_ready;
mod cni_rbac_missing;
mod cni_repair_misrendered;
mod cni_token_expired;
mod cni_token_revoked;
mod cni_validator_failed;
mod node_evidence_outdated;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("cni", "cni-add-exit-127", cni_add_exit_127),
    row!("cni", "cni-add-failed", cni_add_failed),
    row!("cni", "cni-add-unauthorized", cni_add_unauthorized),
    row!("cni", "cni-boot-race", cni_boot_race),
    row!("cni", "cni-daemonset-deadlock", cni_daemonset_deadlock),
    row!("cni", "cni-ds-coverage", cni_ds_coverage),
    row!("cni", "cni-entry-missing", cni_entry_missing),
    row!("cni", "cni-entry-orphaned", cni_entry_orphaned),
    row!("cni", "cni-inotify-limit", cni_inotify_limit),
    row!("cni", "cni-installer-failing", cni_installer_failing),
    row!("cni", "cni-iptables-binary-missing", cni_iptables_binary_missing),
    row!("cni", "cni-iptables-mode-unsupported", cni_iptables_mode_unsupported),
    row!("cni", "cni-network-not-ready", cni_network_not_ready),
    row!("cni", "cni-rbac-missing", cni_rbac_missing),
    row!("cni", "cni-repair-misrendered", cni_repair_misrendered),
    row!("cni", "cni-token-expired", cni_token_expired),
    row!("cni", "cni-token-revoked", cni_token_revoked),
    row!("cni", "cni-validator-failed", cni_validator_failed),
    row!("cni", "node-evidence-outdated", node_evidence_outdated),
];
