//! Checks of certificates: trust anchors, the issuer, webhook certificates, and the trust anchors
//! of each proxy.

use super::{Check, row};

pub(in crate::checks) use identity::identity_deployment;
pub(in crate::checks) use node_clock_off::synchronized;

mod algorithms;
mod anchor_replaced_at_renewal;
mod beyond_identity;
mod cert_manager_meshed;
mod control_plane_anchors_stale;
mod data_plane_anchors_disjoint;
mod data_plane_anchors_stale;
mod identity;
mod identity_serves_other_issuer;
mod issuer_drifted;
mod issuer_expired;
mod issuer_expiring;
mod issuer_key_mismatch;
mod issuer_named_like_anchor;
mod issuer_not_reloaded;
mod issuer_not_trusted;
mod issuer_outlives_anchor;
mod issuer_pinned_as_anchor;
mod issuer_renewal_unusable;
mod issuer_secret_invalid;
mod issuer_unsupported;
mod issuer_update_skipped;
mod managed_anchor;
mod node_clock_off;
mod old_anchor_removed_too_soon;
mod proxies;
mod proxy_certificate_expired;
mod proxy_certificate_not_renewed;
mod proxy_certificate_of_old_issuer;
mod proxy_certificates_end_with_issuer;
mod proxy_clock_off;
mod proxy_trust_domain_differs;
mod rejections;
pub(super) mod remedy;
mod role;
pub mod rotation;
mod running_anchors_outdated;
mod stranded;
mod trust_anchor_duplicated;
mod trust_anchor_expired;
mod trust_anchor_expiring;
mod trust_anchor_unsupported;
mod trust_anchors_drifted;
mod trust_anchors_mixed;
mod trust_bundle_not_synced;
mod trust_roots_missing;
mod validator_ca_mismatch;
mod webhook_certificate_expired;
mod webhook_certificate_expiring;
mod webhook_certificate_stale;
mod webhook_configuration_altered;
mod webhook_key_mismatch;
mod webhook_secret_invalid;
mod webhooks;

pub(super) use stranded::later;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("certificates", "anchor-replaced-at-renewal", anchor_replaced_at_renewal),
    row!("certificates", "cert-manager-meshed", cert_manager_meshed),
    row!("certificates", "control-plane-anchors-stale", control_plane_anchors_stale),
    row!("certificates", "data-plane-anchors-disjoint", data_plane_anchors_disjoint),
    row!("certificates", "data-plane-anchors-stale", data_plane_anchors_stale),
    row!("certificates", "identity-serves-other-issuer", identity_serves_other_issuer),
    row!("certificates", "issuer-drifted", issuer_drifted),
    row!("certificates", "issuer-expired", issuer_expired),
    row!("certificates", "issuer-expiring", issuer_expiring),
    row!("certificates", "issuer-key-mismatch", issuer_key_mismatch),
    row!("certificates", "issuer-named-like-anchor", issuer_named_like_anchor),
    row!("certificates", "issuer-not-reloaded", issuer_not_reloaded),
    row!("certificates", "issuer-not-trusted", issuer_not_trusted),
    row!("certificates", "issuer-outlives-anchor", issuer_outlives_anchor),
    row!("certificates", "issuer-pinned-as-anchor", issuer_pinned_as_anchor),
    row!("certificates", "issuer-renewal-unusable", issuer_renewal_unusable),
    row!("certificates", "issuer-secret-invalid", issuer_secret_invalid),
    row!("certificates", "issuer-unsupported", issuer_unsupported),
    row!("certificates", "issuer-update-skipped", issuer_update_skipped),
    row!("certificates", "node-clock-off", node_clock_off),
    row!("certificates", "old-anchor-removed-too-soon", old_anchor_removed_too_soon),
    row!("certificates", "proxy-certificate-expired", proxy_certificate_expired),
    row!("certificates", "proxy-certificate-not-renewed", proxy_certificate_not_renewed),
    row!("certificates", "proxy-certificate-of-old-issuer", proxy_certificate_of_old_issuer),
    row!("certificates", "proxy-certificates-end-with-issuer", proxy_certificates_end_with_issuer),
    row!("certificates", "proxy-clock-off", proxy_clock_off),
    row!("certificates", "proxy-trust-domain-differs", proxy_trust_domain_differs),
    row!("certificates", "running-anchors-outdated", running_anchors_outdated),
    row!("certificates", "trust-anchor-duplicated", trust_anchor_duplicated),
    row!("certificates", "trust-anchor-expired", trust_anchor_expired),
    row!("certificates", "trust-anchor-expiring", trust_anchor_expiring),
    row!("certificates", "trust-anchor-unsupported", trust_anchor_unsupported),
    row!("certificates", "trust-anchors-drifted", trust_anchors_drifted),
    row!("certificates", "trust-anchors-mixed", trust_anchors_mixed),
    row!("certificates", "trust-bundle-not-synced", trust_bundle_not_synced),
    row!("certificates", "trust-roots-missing", trust_roots_missing),
    row!("certificates", "validator-ca-mismatch", validator_ca_mismatch),
    row!("certificates", "webhook-certificate-expired", webhook_certificate_expired),
    row!("certificates", "webhook-certificate-expiring", webhook_certificate_expiring),
    row!("certificates", "webhook-certificate-stale", webhook_certificate_stale),
    row!("certificates", "webhook-configuration-altered", webhook_configuration_altered),
    row!("certificates", "webhook-key-mismatch", webhook_key_mismatch),
    row!("certificates", "webhook-secret-invalid", webhook_secret_invalid),
];
