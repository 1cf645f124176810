//! Update strategies of workloads.

use serde::Deserialize;

use super::meta::nullable;
use crate::protobuf::schema::schemas;

/// Default of `maxUnavailable` for Deployments.
const DEFAULT_PART: u32 = 4;

/// The update strategy of a Deployment, DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    /// `RollingUpdate` (also if empty), `Recreate` or `OnDelete`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// The bounds of a rolling update.
    #[serde(deserialize_with = "nullable")]
    pub rolling_update: RollingUpdate,
}

/// The bounds of a rolling update.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    /// Maximum number of unavailable pods; `None`: the default of the kind.
    #[serde(deserialize_with = "nullable")]
    pub max_unavailable: Option<Bound>,
    /// StatefulSets: pods with a lower ordinal keep their revision.
    #[serde(deserialize_with = "nullable")]
    pub partition: u32,
}

/// A number of pods, or a percentage of the replicas.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Bound {
    Pods(u32),
    /// `25%`.
    Percent(String),
}

impl Strategy {
    /// Whether pods keep their revision until they are deleted.
    pub fn waits_for_deletion(&self) -> bool {
        self.kind == "OnDelete" || self.rolling_update.partition > 0
    }

    /// Whether pods below an ordinal keep the old template although they are deleted.
    pub fn has_partition(&self) -> bool {
        self.kind != "OnDelete" && self.rolling_update.partition > 0
    }

    /// Whether a Deployment with this number of replicas must start a pod before it may stop one.
    pub fn starts_before_it_stops(&self, replicas: u32) -> bool {
        let rolling = self.kind.is_empty() || self.kind == "RollingUpdate";
        let bound = self.rolling_update.max_unavailable.as_ref();
        rolling && bound.map_or(replicas / DEFAULT_PART, |bound| bound.count(replicas)) == 0
    }
}

impl Bound {
    /// The number of pods, rounded down.
    fn count(&self, replicas: u32) -> u32 {
        match self {
            Bound::Pods(pods) => *pods,
            Bound::Percent(text) => {
                let percent = text.strip_suffix('%').and_then(|number| number.parse::<u32>().ok());
                percent.unwrap_or_default().saturating_mul(replicas) / 100
            }
        }
    }
}

schemas! {
    DEPLOYMENT_STRATEGY "DeploymentStrategy" {
        1 type: Text,
        2 rollingUpdate: One(&ROLLING_DEPLOYMENT),
    }

    ROLLING_DEPLOYMENT "RollingUpdateDeployment" {
        1 maxUnavailable: NumberOrText,
    }

    DAEMON_SET_STRATEGY "DaemonSetUpdateStrategy" {
        1 type: Text,
        2 rollingUpdate: One(&ROLLING_DAEMON_SET),
    }

    ROLLING_DAEMON_SET "RollingUpdateDaemonSet" {
        1 maxUnavailable: NumberOrText,
    }

    STATEFUL_SET_STRATEGY "StatefulSetUpdateStrategy" {
        1 type: Text,
        2 rollingUpdate: One(&ROLLING_STATEFUL_SET),
    }

    ROLLING_STATEFUL_SET "RollingUpdateStatefulSetStrategy" {
        1 partition: Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy(json: &str) -> Strategy {
        serde_json::from_str(json).expect("a strategy")
    }

    #[test]
    fn deployment_surges_if_none_may_be_unavailable() {
        let default = Strategy::default();
        assert!(default.starts_before_it_stops(1) && default.starts_before_it_stops(3));
        assert!(!default.starts_before_it_stops(4), "a quarter of four is one pod");
        let of = |bound: &str| strategy(&format!("{{\"rollingUpdate\": {{\"maxUnavailable\": {bound}}}}}"));
        assert!(of("0").starts_before_it_stops(8));
        assert!(!of("1").starts_before_it_stops(1));
        assert!(of("\"10%\"").starts_before_it_stops(9));
        assert!(!of("\"10%\"").starts_before_it_stops(10));
        assert!(!strategy("{\"type\": \"Recreate\"}").starts_before_it_stops(1));
    }

    #[test]
    fn on_delete_and_partitions_keep_pods() {
        assert!(strategy("{\"type\": \"OnDelete\"}").waits_for_deletion());
        assert!(strategy("{\"rollingUpdate\": {\"partition\": 2}}").waits_for_deletion());
        assert!(!Strategy::default().waits_for_deletion());
    }
}
