//! Label selectors.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::nullable;

/// A label selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// All of these.
    #[serde(deserialize_with = "nullable")]
    pub match_labels: BTreeMap<String, String>,
    /// And all of these.
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<LabelRequirement>,
}

impl LabelSelector {
    /// Whether labels satisfy it, by the API server's rules: `NotIn` holds for a missing key, an empty selector for
    /// everything, an operator nobody knows for nothing.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|r| {
                let value = labels.get(&r.key);
                match r.operator.as_str() {
                    "In" => value.is_some_and(|v| r.values.contains(v)),
                    "NotIn" => value.is_none_or(|v| !r.values.contains(v)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}

/// One requirement of a selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LabelRequirement {
    /// Label key.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// For In and NotIn.
    #[serde(deserialize_with = "nullable")]
    pub values: Vec<String>,
}
