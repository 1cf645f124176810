//! ServiceAccounts.

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, Listed, object};

/// A ServiceAccount: its uid, which its tokens name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceAccount {
    /// Name and uid.
    pub metadata: Meta,
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
