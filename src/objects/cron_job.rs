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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: CronJobSpec,
    /// When it last made a Job, and when one last ended well.
    #[serde(deserialize_with = "nullable")]
    pub status: CronJobStatus,
}

/// When a CronJob last made a Job, and when one last ended well.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobStatus {
    /// When it last made a Job.
    pub last_schedule_time: Option<Timestamp>,
    /// When a Job of it last ended well; API servers before 1.21 do not say.
    pub last_successful_time: Option<Timestamp>,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobSpec {
    /// Whether it makes none for now.
    #[serde(deserialize_with = "nullable")]
    pub suspend: bool,
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
