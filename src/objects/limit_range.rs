//! LimitRanges. Nothing reads them yet; bundles keep them.

use super::{Kind, KindInfo, Listed, Unread};

/// Lists of `LimitRange`.
#[derive(Debug, Clone, Copy)]
pub enum LimitRange {}

impl Listed for LimitRange {
    type Object = Unread;
    const KIND: Kind = Kind::LimitRange;
    const INFO: KindInfo =
        KindInfo { aliases: &["limits"], ..KindInfo::namespaced("", "v1", "LimitRange", "limitranges") };
}
