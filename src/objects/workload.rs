//! Objects that make pods: Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs, CronJobs.

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::pod::{Condition, PodSpec};
use crate::redact::Owner;

/// The pod template of a workload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodTemplate {
    /// Labels and annotations that its pods get.
    #[serde(deserialize_with = "nullable")]
    pub metadata: Meta,
    /// Their specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: PodSpec,
}

/// A Deployment, ReplicaSet, DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Workload {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: WorkloadSpec,
    /// How far it is.
    #[serde(deserialize_with = "nullable")]
    pub status: WorkloadStatus,
}

impl Workload {
    /// See [`super::Object::share`].
    pub(super) fn share(&mut self, before: &Workload) {
        self.metadata.share(&before.metadata);
        self.spec.template.share(&before.spec.template);
    }
}

impl PodTemplate {
    /// See [`super::container::Container::trim`]. `around`: the objects that hold it, the outermost first.
    pub(super) fn trim(&mut self, around: &[&Meta]) {
        let namespace = around.first().map_or("", |meta| meta.namespace.as_str());
        let of_those = around.iter().map(|meta| meta.owner(namespace)).max().unwrap_or(Owner::Other);
        self.spec.trim(of_those.max(self.metadata.owner(namespace)));
    }

    fn share(&mut self, before: &PodTemplate) {
        self.metadata.share(&before.metadata);
        self.spec.share(&before.spec);
    }
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorkloadSpec {
    /// Wanted pods; `None` on DaemonSets and when defaulted (1).
    pub replicas: Option<u32>,
    /// The template.
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
}

/// How far it is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadStatus {
    /// Pods there are.
    #[serde(deserialize_with = "nullable")]
    pub replicas: u32,
    /// Pods that are ready.
    #[serde(deserialize_with = "nullable")]
    pub ready_replicas: u32,
    /// Pods that have been ready for long enough (`minReadySeconds`); not of DaemonSets.
    #[serde(deserialize_with = "nullable")]
    pub available_replicas: u32,
    /// DaemonSets: nodes that should run it.
    #[serde(deserialize_with = "nullable")]
    pub desired_number_scheduled: u32,
    /// DaemonSets: nodes where it is ready.
    #[serde(deserialize_with = "nullable")]
    pub number_ready: u32,
    /// Available, Progressing, ...
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A Job.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Job {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: JobSpec,
    /// How far it is.
    #[serde(deserialize_with = "nullable")]
    pub status: JobStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    /// The template.
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
    /// After how many seconds the Job is stopped.
    pub active_deadline_seconds: Option<u64>,
}

/// How far it is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// Pods that run.
    #[serde(deserialize_with = "nullable")]
    pub active: u32,
    /// Pods that ended well.
    #[serde(deserialize_with = "nullable")]
    pub succeeded: u32,
    /// When it started.
    pub start_time: Option<Timestamp>,
    /// When it ended.
    pub completion_time: Option<Timestamp>,
    /// Complete, Failed, ...
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A CronJob.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CronJob {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: CronJobSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobSpec {
    /// The Job it makes.
    #[serde(deserialize_with = "nullable")]
    pub job_template: JobTemplate,
}

/// The Job that a CronJob makes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct JobTemplate {
    /// Labels and annotations that its Jobs get.
    #[serde(deserialize_with = "nullable")]
    pub metadata: Meta,
    /// Their specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: JobSpec,
}
