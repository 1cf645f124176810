//! ConfigMaps, which are only requested by name.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};
use crate::chart::values::{ReadOnce, Values};

/// A ConfigMap. Only those of Linkerd, the CNI, Kubernetes and ingress controllers are ever read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ConfigMap {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// Text by key.
    #[serde(deserialize_with = "nullable")]
    pub data: BTreeMap<String, String>,
    /// The parsed chart values, after first use.
    #[serde(skip)]
    pub values: ReadOnce,
}

impl ConfigMap {
    /// The values of Linkerd's chart; `None` if it has none or they cannot be read.
    pub fn chart_values(&self) -> Option<Values> {
        self.values.parse(self.data.get("values").map(String::as_str))
    }
}

impl Listed for ConfigMap {
    type Object = ConfigMap;
    const KIND: Kind = Kind::ConfigMap;
    const INFO: KindInfo = KindInfo {
        aliases: &["cm"],
        passes: "{type: word}",
        ..KindInfo::namespaced("", "v1", "ConfigMap", "configmaps")
    };
}

object!(ConfigMap);
