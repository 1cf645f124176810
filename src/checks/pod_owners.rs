//! Owners of pods: workloads with their templates, and pods without a known template. One [`Maker`] for
//! each, so that a workload's next pod is evaluated once, whether or not any of its pods runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::model::owners;
use crate::objects::{CronJob, DaemonSet, Job, PodSpec, PodTemplate, StatefulSet};

/// An owner of pods, or a pod without one.
#[derive(Debug)]
pub(super) struct Maker<'a> {
    /// Its kind and name as users know them.
    pub owner: Owner,
    /// The metadata of its pods.
    pub meta: &'a Meta,
    /// Their specification.
    pub spec: &'a PodSpec,
    /// The location of these fields: the object, and the path with a trailing dot.
    object: String,
    path: &'static str,
}

impl Maker<'_> {
    /// As a finding's subject.
    pub(super) fn subject(&self) -> Subject {
        self.owner.subject(Vec::new())
    }

    /// Whether it has a template, and is not a single pod.
    pub(super) fn has_template(&self) -> bool {
        !self.path.is_empty()
    }

    /// The namespace of its pods.
    pub(super) fn namespace(&self) -> &str {
        &self.owner.namespace
    }

    /// The path of a field of its pods: `spec.hostNetwork`.
    pub(super) fn field(&self, field: &str, said: impl Into<String>) -> Evidence {
        Evidence::field(&self.object, format!("{}{field}", self.path), said)
    }
}

/// The owners of pods, in order. Reads `pods`, `deployments.apps`, `statefulsets.apps` and
/// `daemonsets.apps`, which cards need, and `replicasets.apps`, `jobs.batch` and `cronjobs.batch`, which
/// they use.
///
/// # Errors
/// Pods were unavailable.
pub(super) fn makers<'a>(ctx: &Context<'a>) -> Result<&'a [Maker<'a>], Missing> {
    ctx.partial_list::<Pod>()?;
    let found: &Vec<Maker<'a>> = ctx.get_or_build(&ctx.joins.makers, build);
    Ok(found)
}

/// The running pods with a proxy whose owner has a template, by owner: another webhook may have changed them, and they
/// may be older than the template. Reads what [`makers`] does.
pub(super) fn running_pods<'a>(ctx: &Context<'a>, makers: &[Maker<'_>]) -> BTreeMap<Owner, Vec<Maker<'a>>> {
    let owners = ctx.owners();
    let with_template: BTreeSet<&Owner> =
        makers.iter().filter(|maker| maker.has_template()).map(|maker| &maker.owner).collect();
    let mut found: BTreeMap<Owner, Vec<Maker<'a>>> = BTreeMap::new();
    for pod in ctx.optional_list::<Pod>().iter().filter(|pod| pod.spec.proxy().is_some()) {
        if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let owner = owners.owner(pod);
        if with_template.contains(&owner) {
            found.entry(owner.clone()).or_default().push(of_pod(owner, pod));
        }
    }
    found
}

fn of_pod<'a>(owner: Owner, pod: &'a Pod) -> Maker<'a> {
    Maker { owner, meta: &pod.metadata, spec: &pod.spec, object: pod.described(), path: "" }
}

fn build<'a>(ctx: &Context<'a>) -> Vec<Maker<'a>> {
    let mut found: BTreeMap<Owner, Maker<'a>> = BTreeMap::new();
    for (kind, list) in [
        ("Deployment", ctx.seen_or_gap::<Deployment>()),
        ("StatefulSet", ctx.seen_or_gap::<StatefulSet>()),
        ("DaemonSet", ctx.seen_or_gap::<DaemonSet>()),
    ] {
        for workload in list {
            add(&mut found, kind, &workload.metadata, &workload.spec.template, "spec.template.");
        }
    }
    for cron in ctx.optional_list::<CronJob>() {
        let template = &cron.spec.job_template.spec.template;
        add(&mut found, "CronJob", &cron.metadata, template, "spec.jobTemplate.spec.template.");
    }
    for job in ctx.optional_list::<Job>().iter().filter(|job| job.metadata.controller().is_none()) {
        if job.status.completion_time.is_none() {
            add(&mut found, "Job", &job.metadata, &job.spec.template, "spec.template.");
        }
    }
    let owners = ctx.owners();
    for pod in ctx.optional_list::<Pod>() {
        if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() || owners::is_static(pod) {
            continue;
        }
        let owner = owners.owner(pod);
        found.entry(owner).or_insert_with_key(|owner| of_pod(owner.clone(), pod));
    }
    found.into_values().collect()
}

fn add<'a>(
    found: &mut BTreeMap<Owner, Maker<'a>>,
    kind: &str,
    meta: &'a Meta,
    template: &'a PodTemplate,
    path: &'static str,
) {
    // A template without containers was truncated, and shows nothing.
    if template.spec.containers.is_empty() || meta.deletion_timestamp.is_some() {
        return;
    }
    let owner = Owner { kind: kind.to_owned(), namespace: meta.namespace.to_string(), name: meta.name.clone() };
    let object = format!("{kind} {}/{}", meta.namespace, meta.name);
    found.insert(owner.clone(), Maker { owner, meta: &template.metadata, spec: &template.spec, object, path });
}
