//! Deployments, ReplicaSets, DaemonSets and StatefulSets, with a common slim type.

use jiff::Timestamp;
use serde::Deserialize;

use super::condition::Condition;
use super::meta::META;
use super::meta::{Meta, nullable};
use super::rollout::{DAEMON_SET_STRATEGY, DEPLOYMENT_STRATEGY, STATEFUL_SET_STRATEGY, Strategy};
use super::template::{POD_TEMPLATE, PodTemplate};
use super::{Kind, KindInfo, Listed, Object, by_metadata};
use crate::protobuf::schema::schemas;

/// A Deployment, ReplicaSet, DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Workload {
    /// Name, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: WorkloadSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: WorkloadStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorkloadSpec {
    /// Desired replicas; `None` for DaemonSets and for the default (1).
    pub replicas: Option<u32>,
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
    /// Whether a Deployment's rollout is paused.
    #[serde(deserialize_with = "nullable")]
    pub paused: bool,
    /// Update strategy.
    #[serde(alias = "updateStrategy", deserialize_with = "nullable")]
    pub strategy: Strategy,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadStatus {
    /// Current number of pods.
    #[serde(deserialize_with = "nullable")]
    pub replicas: u32,
    /// Number of ready pods.
    #[serde(deserialize_with = "nullable")]
    pub ready_replicas: u32,
    /// Number of available pods (`minReadySeconds`); not for DaemonSets.
    #[serde(deserialize_with = "nullable")]
    pub available_replicas: u32,
    /// DaemonSets: number of nodes that should run a pod and have one.
    #[serde(deserialize_with = "nullable")]
    pub current_number_scheduled: u32,
    /// DaemonSets: number of nodes that should run a pod.
    #[serde(deserialize_with = "nullable")]
    pub desired_number_scheduled: u32,
    /// DaemonSets: number of nodes with a ready pod.
    #[serde(deserialize_with = "nullable")]
    pub number_ready: u32,
    /// Available, Progressing, ...
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Object for Workload {
    by_metadata!();

    fn trim(&mut self) {
        self.spec.template.trim(&[&self.metadata]);
    }

    fn share(&mut self, before: &Workload) {
        self.metadata.share(&before.metadata);
        self.spec.template.share(&before.spec.template);
        Condition::share(&mut self.status.conditions, &before.status.conditions);
    }
}

impl Workload {
    /// Error of the API server for rejected pods: a ReplicaSet's condition, which its Deployment repeats.
    pub fn replica_failure(&self) -> Option<&Condition> {
        let failed = |condition: &&Condition| condition.kind == "ReplicaFailure" && condition.status == "True";
        self.status.conditions.iter().find(failed)
    }

    /// Since when too few of its pods are available: a condition of Deployments. `None` if enough are, or if the
    /// condition is unknown.
    pub fn unavailable_since(&self) -> Option<Timestamp> {
        let conditions = &self.status.conditions;
        conditions.iter().find(|c| c.kind == "Available" && c.status == "False")?.last_transition_time.get()
    }
}

/// Redaction rules for all four.
const PASSES: &str = "{spec: {selector: selector, template: template, strategy: {type: word, rollingUpdate: \
                      quantities}, updateStrategy: {type: word, rollingUpdate: quantities}, serviceName: \
                      object, podManagementPolicy: word}, status: {conditions: conditions, currentRevision: \
                      object, updateRevision: object}}";

/// Lists of `Deployment`.
#[derive(Debug, Clone, Copy)]
pub enum Deployment {}

impl Listed for Deployment {
    type Object = Workload;
    const KIND: Kind = Kind::Deployment;
    const INFO: KindInfo = KindInfo {
        aliases: &["deploy"],
        passes: PASSES,
        message: Some(&DEPLOYMENT),
        ..KindInfo::namespaced("apps", "v1", "Deployment", "deployments")
    };
}

/// Lists of `ReplicaSet`.
#[derive(Debug, Clone, Copy)]
pub enum ReplicaSet {}

impl Listed for ReplicaSet {
    type Object = Workload;
    const KIND: Kind = Kind::ReplicaSet;
    const INFO: KindInfo = KindInfo {
        aliases: &["rs"],
        passes: PASSES,
        message: Some(&REPLICA_SET),
        ..KindInfo::namespaced("apps", "v1", "ReplicaSet", "replicasets")
    };
}

/// Lists of `DaemonSet`.
#[derive(Debug, Clone, Copy)]
pub enum DaemonSet {}

impl Listed for DaemonSet {
    type Object = Workload;
    const KIND: Kind = Kind::DaemonSet;
    const INFO: KindInfo = KindInfo {
        aliases: &["ds"],
        passes: PASSES,
        message: Some(&DAEMON_SET),
        ..KindInfo::namespaced("apps", "v1", "DaemonSet", "daemonsets")
    };
}

/// Lists of `StatefulSet`.
#[derive(Debug, Clone, Copy)]
pub enum StatefulSet {}

impl Listed for StatefulSet {
    type Object = Workload;
    const KIND: Kind = Kind::StatefulSet;
    const INFO: KindInfo = KindInfo {
        aliases: &["sts"],
        passes: PASSES,
        message: Some(&STATEFUL_SET),
        ..KindInfo::namespaced("apps", "v1", "StatefulSet", "statefulsets")
    };
}

schemas! {
    DEPLOYMENT "Deployment" {
        1 metadata: One(&META),
        2 spec: One(&DEPLOYMENT_SPEC),
        3 status: One(&DEPLOYMENT_STATUS),
    }

    DEPLOYMENT_SPEC "DeploymentSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
        4 strategy: One(&DEPLOYMENT_STRATEGY),
        7 paused: Bool,
    }

    DEPLOYMENT_STATUS "DeploymentStatus" {
        2 replicas: Number,
        4 availableReplicas: Number,
        6 conditions: Many(&DEPLOYMENT_CONDITION),
        7 readyReplicas: Number,
    }

    DEPLOYMENT_CONDITION "DeploymentCondition" {
        1 type: Text,
        2 status: Text,
        4 reason: Text,
        5 message: Text,
        7 lastTransitionTime: Time,
    }

    REPLICA_SET "ReplicaSet" {
        1 metadata: One(&META),
        2 spec: One(&REPLICA_SET_SPEC),
        3 status: One(&REPLICA_SET_STATUS),
    }

    REPLICA_SET_SPEC "ReplicaSetSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
    }

    REPLICA_SET_STATUS "ReplicaSetStatus" {
        1 replicas: Number,
        4 readyReplicas: Number,
        5 availableReplicas: Number,
        6 conditions: Many(&SET_CONDITION),
    }

    SET_CONDITION "ReplicaSetCondition" {
        1 type: Text,
        2 status: Text,
        3 lastTransitionTime: Time,
        4 reason: Text,
        5 message: Text,
    }

    DAEMON_SET "DaemonSet" {
        1 metadata: One(&META),
        2 spec: One(&DAEMON_SET_SPEC),
        3 status: One(&DAEMON_SET_STATUS),
    }

    DAEMON_SET_SPEC "DaemonSetSpec" {
        2 template: One(&POD_TEMPLATE),
        3 updateStrategy: One(&DAEMON_SET_STRATEGY),
    }

    DAEMON_SET_STATUS "DaemonSetStatus" {
        1 currentNumberScheduled: Number,
        3 desiredNumberScheduled: Number,
        4 numberReady: Number,
        // A DaemonSet's and a StatefulSet's conditions are numbered as a ReplicaSet's.
        10 conditions: Many(&SET_CONDITION),
    }

    STATEFUL_SET "StatefulSet" {
        1 metadata: One(&META),
        2 spec: One(&STATEFUL_SET_SPEC),
        3 status: One(&STATEFUL_SET_STATUS),
    }

    STATEFUL_SET_SPEC "StatefulSetSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
        7 updateStrategy: One(&STATEFUL_SET_STRATEGY),
    }

    STATEFUL_SET_STATUS "StatefulSetStatus" {
        2 replicas: Number,
        3 readyReplicas: Number,
        10 conditions: Many(&SET_CONDITION),
        11 availableReplicas: Number,
    }
}
