//! TrafficSplits of SMI.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A TrafficSplit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TrafficSplit {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: TrafficSplitSpec,
}

/// The spec; weights are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TrafficSplitSpec {
    /// The Service that clients call.
    #[serde(deserialize_with = "nullable")]
    pub service: String,
    /// The backend Services.
    #[serde(deserialize_with = "nullable")]
    pub backends: Vec<SplitBackend>,
}

/// A backend Service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SplitBackend {
    /// Its name, in the namespace of the split.
    #[serde(deserialize_with = "nullable")]
    pub service: String,
}

impl Listed for TrafficSplit {
    type Object = TrafficSplit;
    const KIND: Kind = Kind::TrafficSplit;
    const INFO: KindInfo = KindInfo {
        older: &["v1alpha4", "v1alpha3", "v1alpha1"],
        passes: "{spec: {service: object, backends: {service: object, weight: word}}}",
        ..KindInfo::namespaced("split.smi-spec.io", "v1alpha2", "TrafficSplit", "trafficsplits")
    };
}

object!(TrafficSplit);
