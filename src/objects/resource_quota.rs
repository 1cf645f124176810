//! ResourceQuotas: what the pods of a namespace may ask for together, and so what each of them has to say.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, nullable, quantities};
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
    /// What the quota controller counted.
    #[serde(deserialize_with = "nullable")]
    pub status: QuotaStatus,
}

/// What the quota controller counted.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QuotaStatus {
    /// The limits that it enforces.
    #[serde(deserialize_with = "quantities")]
    pub hard: BTreeMap<String, String>,
    /// The current use.
    #[serde(deserialize_with = "quantities")]
    pub used: BTreeMap<String, String>,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaSpec {
    /// Quantities by resource: `limits.cpu`, `requests.memory`, `pods`.
    #[serde(deserialize_with = "quantities")]
    pub hard: BTreeMap<String, String>,
    /// Which pods it counts: `BestEffort`, `NotTerminating`; all where it says nothing.
    #[serde(deserialize_with = "nullable")]
    pub scopes: Vec<String>,
    /// Whether it counts only pods that something else selects, such as a PriorityClass.
    #[serde(rename = "scopeSelector", deserialize_with = "is_there")]
    pub selects: bool,
}

/// Whether anything is there.
fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<serde::de::IgnoredAny>::deserialize(deserializer)?.is_some())
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
