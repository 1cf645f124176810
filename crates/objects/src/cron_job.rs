//! CronJobs.

use jiff::Timestamp;
use serde::Deserialize;

use super::job::JobSpec;
use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, Object, by_metadata};

/// A CronJob.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CronJob {
    /// Name, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: CronJobSpec,
    /// Last creation and last success of a Job.
    #[serde(deserialize_with = "nullable")]
    pub status: CronJobStatus,
}

/// Last creation and last success of a CronJob's Jobs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobStatus {
    /// Time of the last Job creation.
    pub last_schedule_time: Option<Timestamp>,
    /// Time of the last successful Job; missing before Kubernetes 1.21.
    pub last_successful_time: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobSpec {
    /// Whether it is suspended.
    #[serde(deserialize_with = "nullable")]
    pub suspend: bool,
    #[serde(deserialize_with = "nullable")]
    pub job_template: JobTemplate,
}

/// The Job template of a CronJob.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct JobTemplate {
    /// Labels and annotations of its Jobs.
    #[serde(deserialize_with = "nullable")]
    pub metadata: Meta,
    /// Their specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: JobSpec,
}

impl Listed for CronJob {
    type Object = CronJob;
    const KIND: Kind = Kind::CronJob;
    const INFO: KindInfo = KindInfo {
        aliases: &["cj"],
        passes: "{spec: {schedule: text, timeZone: word, concurrencyPolicy: word, jobTemplate: {metadata: meta, spec: \
             job-spec}}, status: {lastScheduleTime: word, lastSuccessfulTime: word}}",
        ..KindInfo::namespaced("batch", "v1", "CronJob", "cronjobs")
    };
}

impl Object for CronJob {
    by_metadata!();

    fn trim(&mut self) {
        let of_job = &self.spec.job_template.metadata;
        self.spec.job_template.spec.template.trim(&[&self.metadata, of_job]);
    }
}
