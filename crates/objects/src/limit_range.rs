//! LimitRanges: default resources and bounds for containers of a namespace.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, nullable, quantities};
use super::{Kind, KindInfo, Listed, object};

/// A LimitRange.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LimitRange {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: LimitRangeSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LimitRangeSpec {
    /// One per type.
    #[serde(deserialize_with = "nullable")]
    pub limits: Vec<Limit>,
}

/// Limits for one type.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limit {
    /// Container, Pod or PersistentVolumeClaim.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// Default limits of a container.
    #[serde(deserialize_with = "quantities")]
    pub default: BTreeMap<String, String>,
    /// Default requests of a container.
    #[serde(deserialize_with = "quantities")]
    pub default_request: BTreeMap<String, String>,
    /// Maximum.
    #[serde(deserialize_with = "quantities")]
    pub max: BTreeMap<String, String>,
    /// Minimum.
    #[serde(deserialize_with = "quantities")]
    pub min: BTreeMap<String, String>,
    /// Maximum ratio of limit to request.
    #[serde(deserialize_with = "quantities")]
    pub max_limit_request_ratio: BTreeMap<String, String>,
}

impl Listed for LimitRange {
    type Object = LimitRange;
    const KIND: Kind = Kind::LimitRange;
    const INFO: KindInfo = KindInfo {
        aliases: &["limits"],
        passes: "{spec: {limits: {type: word, default: quantities, defaultRequest: quantities, max: quantities, \
                 min: quantities, maxLimitRequestRatio: quantities}}}",
        ..KindInfo::namespaced("", "v1", "LimitRange", "limitranges")
    };
}

object!(LimitRange);
