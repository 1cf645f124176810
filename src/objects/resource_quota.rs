//! ResourceQuotas. Nothing reads them yet; bundles keep them.

use super::{Kind, KindInfo, Listed, Unread};

/// Lists of `ResourceQuota`.
#[derive(Debug, Clone, Copy)]
pub enum ResourceQuota {}

impl Listed for ResourceQuota {
    type Object = Unread;
    const KIND: Kind = Kind::ResourceQuota;
    const INFO: KindInfo = KindInfo {
        aliases: &["quota"],
        passes: "{spec: {hard: quantities, scopes: word}, status: {hard: quantities, used: quantities}}",
        ..KindInfo::namespaced("", "v1", "ResourceQuota", "resourcequotas")
    };
}
