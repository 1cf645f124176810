//! Jobs.

use jiff::Timestamp;
use serde::Deserialize;

use super::condition::{CONDITION, Condition};
use super::meta::META;
use super::meta::{Meta, nullable};
use super::template::{POD_TEMPLATE, PodTemplate};
use super::time::Time;
use super::{Kind, KindInfo, Listed, Object, by_metadata};
use crate::protobuf::schema::schemas;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Job {
    /// Name, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: JobSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: JobStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
    pub active_deadline_seconds: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// Running pods.
    #[serde(deserialize_with = "nullable")]
    pub active: u32,
    /// Succeeded pods.
    #[serde(deserialize_with = "nullable")]
    pub succeeded: u32,
    pub start_time: Time,
    /// End time.
    pub completion_time: Option<Timestamp>,
    /// Complete, Failed, ...
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for Job {
    type Object = Job;
    const KIND: Kind = Kind::Job;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: job-spec, status: {conditions: conditions, startTime: word, completionTime: word}}",
        message: Some(&JOB),
        ..KindInfo::namespaced("batch", "v1", "Job", "jobs")
    };
}

impl Object for Job {
    by_metadata!();

    fn trim(&mut self) {
        self.spec.template.trim(&[&self.metadata]);
    }
}

schemas! {
    JOB "Job" {
        1 metadata: One(&META),
        2 spec: One(&JOB_SPEC),
        3 status: One(&JOB_STATUS),
    }

    JOB_SPEC "JobSpec" {
        3 activeDeadlineSeconds: Number,
        6 template: One(&POD_TEMPLATE),
    }

    JOB_STATUS "JobStatus" {
        1 conditions: Many(&CONDITION),
        2 startTime: Time,
        3 completionTime: Time,
        4 active: Number,
        5 succeeded: Number,
    }
}
