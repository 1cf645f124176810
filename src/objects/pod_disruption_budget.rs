//! PodDisruptionBudgets: how many pods may be evicted now.

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
    /// Which pods it covers, and which of them may be evicted all the same.
    #[serde(deserialize_with = "nullable")]
    pub spec: BudgetSpec,
    /// What the disruption controller counted.
    #[serde(deserialize_with = "nullable")]
    pub status: BudgetStatus,
}

/// Which pods a budget covers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetSpec {
    /// By their labels; none where nothing is said.
    pub selector: Option<LabelSelector>,
    /// `AlwaysAllow` lets those be evicted that are not healthy.
    #[serde(deserialize_with = "nullable")]
    pub unhealthy_pod_eviction_policy: String,
}

/// What the disruption controller counted.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetStatus {
    /// How many pods may be evicted now; `None` before it has counted.
    pub disruptions_allowed: Option<i32>,
    /// Healthy pods that there are.
    #[serde(deserialize_with = "nullable")]
    pub current_healthy: i32,
    /// Healthy pods that there must be.
    #[serde(deserialize_with = "nullable")]
    pub desired_healthy: i32,
    /// Pods that it covers.
    #[serde(deserialize_with = "nullable")]
    pub expected_pods: i32,
    /// `DisruptionAllowed` is one of them.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for PodDisruptionBudget {
    type Object = PodDisruptionBudget;
    const KIND: Kind = Kind::PodDisruptionBudget;
    const INFO: KindInfo = KindInfo {
        aliases: &["pdb"],
        passes: "{spec: {selector: selector, minAvailable: word, maxUnavailable: word, unhealthyPodEvictionPolicy: word}, \
                 status: {conditions: conditions}}",
        ..KindInfo::namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
    };
}

object!(PodDisruptionBudget);
