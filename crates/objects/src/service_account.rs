//! ServiceAccounts.

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, Listed, object};

/// A ServiceAccount: its uid, which is in its tokens, and token mounting.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceAccount {
    /// Name and uid.
    pub metadata: Meta,
    /// Default for token mounting in pods; `None` means the Kubernetes default.
    pub automount_service_account_token: Option<bool>,
}

impl Listed for ServiceAccount {
    type Object = ServiceAccount;
    const KIND: Kind = Kind::ServiceAccount;
    const INFO: KindInfo = KindInfo {
        aliases: &["sa"],
        passes: "{secrets: named, imagePullSecrets: named}",
        ..KindInfo::namespaced("", "v1", "ServiceAccount", "serviceaccounts")
    };
}

object!(ServiceAccount);
