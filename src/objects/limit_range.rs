//! LimitRanges: what a container of a namespace gets where it does not say what it needs, and what it may ask for.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: LimitRangeSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LimitRangeSpec {
    /// One for each type.
    #[serde(deserialize_with = "nullable")]
    pub limits: Vec<Limit>,
}

/// What holds for one type of things.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limit {
    /// Container, Pod or PersistentVolumeClaim.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// The limits of a container that states none.
    #[serde(deserialize_with = "quantities")]
    pub default: BTreeMap<String, String>,
    /// The requests of a container that states none.
    #[serde(deserialize_with = "quantities")]
    pub default_request: BTreeMap<String, String>,
    /// The most that may be asked for.
    #[serde(deserialize_with = "quantities")]
    pub max: BTreeMap<String, String>,
    /// The least.
    #[serde(deserialize_with = "quantities")]
    pub min: BTreeMap<String, String>,
    /// How many times its request a limit may be.
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
