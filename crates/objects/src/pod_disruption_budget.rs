//! PodDisruptionBudgets.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A PodDisruptionBudget.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodDisruptionBudget {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: BudgetSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: BudgetStatus,
}

/// The pods of a budget.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetSpec {
    /// Label selector; by default none.
    pub selector: Option<LabelSelector>,
    /// `AlwaysAllow` allows eviction of unhealthy pods.
    #[serde(deserialize_with = "nullable")]
    pub unhealthy_pod_eviction_policy: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetStatus {
    /// Number of pods that may be evicted now; `None` before the first count.
    pub disruptions_allowed: Option<i32>,
    /// Current number of healthy pods.
    #[serde(deserialize_with = "nullable")]
    pub current_healthy: i32,
    /// Required number of healthy pods.
    #[serde(deserialize_with = "nullable")]
    pub desired_healthy: i32,
    /// Number of covered pods.
    #[serde(deserialize_with = "nullable")]
    pub expected_pods: i32,
    /// Includes `DisruptionAllowed`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for PodDisruptionBudget {
    type Object = PodDisruptionBudget;
    const KIND: Kind = Kind::PodDisruptionBudget;
    const INFO: KindInfo = KindInfo {
        aliases: &["pdb"],
        passes: "{spec: {selector: selector, minAvailable: word, maxUnavailable: word, \
                 unhealthyPodEvictionPolicy: word}, status: {conditions: conditions}}",
        ..KindInfo::namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
    };
}

object!(PodDisruptionBudget);
