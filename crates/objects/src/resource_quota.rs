//! ResourceQuotas: total resources of a namespace's pods.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, is_there, nullable, quantities};
use super::{Kind, KindInfo, Listed, object};

/// A ResourceQuota.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceQuota {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: QuotaSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: QuotaStatus,
}

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

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaSpec {
    /// Quantities by resource: `limits.cpu`, `requests.memory`, `pods`.
    #[serde(deserialize_with = "quantities")]
    pub hard: BTreeMap<String, String>,
    /// Scopes: `BestEffort`, `NotTerminating`; by default all pods.
    #[serde(deserialize_with = "nullable")]
    pub scopes: Vec<String>,
    /// Whether it has a scope selector, such as a PriorityClass.
    #[serde(rename = "scopeSelector", deserialize_with = "is_there")]
    pub selects: bool,
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
