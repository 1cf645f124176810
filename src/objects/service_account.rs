//! ServiceAccounts.

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, Listed, object};

/// A ServiceAccount: its uid, which its tokens name, and whether pods get one.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceAccount {
    /// Name and uid.
    pub metadata: Meta,
    /// Whether pods that do not say it get its token; `None` means the default.
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
