//! ResourceQuotas: what the pods of a namespace may ask for together, and so what each of them has to say.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A ResourceQuota.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceQuota {
    /// Name, namespace, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: QuotaSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QuotaSpec {
    /// Quantities by resource: `limits.cpu`, `requests.memory`, `pods`.
    #[serde(deserialize_with = "nullable")]
    pub hard: BTreeMap<String, String>,
}

impl Listed for ResourceQuota {
    type Object = ResourceQuota;
    const KIND: Kind = Kind::ResourceQuota;
    const INFO: KindInfo = KindInfo {
        aliases: &["quota"],
        passes: "{spec: {hard: quantities, scopes: word}, status: {hard: quantities, used: quantities}}",
        ..KindInfo::namespaced("", "v1", "ResourceQuota", "resourcequotas")
    };
}

object!(ResourceQuota);
