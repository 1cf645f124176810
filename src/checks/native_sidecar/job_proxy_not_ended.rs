//! `job-proxy-not-ended`: a Job will get an ordinary proxy container that no command stops.

use std::collections::BTreeSet;

use super::family::Switch;
use super::wording;
use crate::checks::admission::Rules;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::{AnnotatedObjects, AnnotationReader, nothing_reads};
use crate::knowledge::KeyScope;
use crate::model::annotated::{Annotated, Site};
use crate::model::injection::{Decision, INJECT};
use crate::objects::{CronJob, Job, PodTemplate};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let switch = Switch::from_context(ctx);
    match &switch.reader {
        AnnotationReader::Absent => return Err(nothing_reads()),
        AnnotationReader::Unknown(missing) => return Err(missing.clone().into()),
        AnnotationReader::Version(..) => {}
    }
    let (cron_jobs, jobs) = (ctx.partial_list::<CronJob>()?, ctx.partial_list::<Job>()?);
    let rules = Rules::from_context(ctx)?;
    let written = AnnotatedObjects::from_kinds(ctx, &[Kind::Namespace]);
    // A CronJob that succeeded once has no proxy, or a way to stop it that its command does not show.
    // `job-held-by-proxy` covers Jobs that have started.
    let begun: BTreeSet<(&str, &str)> = jobs.iter().filter(|job| has_begun(job)).filter_map(made_by).collect();
    let untried = cron_jobs.iter().filter(|job| {
        !job.spec.suspend && job.status.last_successful_time.is_none() && !begun.contains(&job.metadata.key())
    });
    let of_cron = untried.map(|job| (Annotated::cron_job(job), &job.spec.job_template.spec.template));
    let unstarted = jobs.iter().filter(|job| !has_begun(job));
    let of_job = unstarted.filter_map(|job| Some((Annotated::job(job)?, &job.spec.template)));
    let mut findings = Vec::new();
    for (object, template) in of_cron.chain(of_job) {
        let namespace = object.namespace_name();
        if !ctx.judges(namespace) || ends(template) {
            continue;
        }
        let decided = rules.admission.decide(namespace, &template.metadata, &template.spec);
        let Decision::Inject { value, .. } = decided else { continue };
        let Some(site) = object.template() else { continue };
        if switch.native(&object, &site, &written).1 == Some(false) {
            findings.push(finding(ctx, &switch, &object, &site, value));
        }
    }
    Ok(findings.into())
}

fn has_begun(job: &Job) -> bool {
    let status = &job.status;
    status.start_time.is_some() || status.completion_time.is_some() || status.active > 0 || status.succeeded > 0
}

/// The CronJob that created a Job.
fn made_by(job: &Job) -> Option<(&str, &str)> {
    let owner = job.metadata.controller().filter(|owner| owner.kind == *"CronJob")?;
    Some((&job.metadata.namespace, &owner.name))
}

/// Whether a command stops the proxy, or the template already contains a proxy.
fn ends(template: &PodTemplate) -> bool {
    template.spec.proxy().is_some() || template.spec.all_containers().any(|container| container.ends_proxy)
}

fn finding(ctx: &Context<'_>, switch: &Switch<'_>, object: &Annotated<'_>, site: &Site<'_>, inject: &str) -> Finding {
    let asks = match site.meta.annotation(INJECT) {
        Some(own) => object.evidence(site, "annotations", INJECT, own),
        None => Evidence::field(
            format!("Namespace {}", object.namespace_name()),
            format!("metadata.annotations[{INJECT}]"),
            inject,
        ),
    };
    ctx.finding(
        object.subject(),
        "The Job's pods get linkerd-proxy as an ordinary container, and no command in them stops the proxy. \
         The pods keep running after the work is done, so the Job never completes",
    )
    .likely()
    .evidence(asks)
    .evidence(Evidence::other("native sidecar", "not requested by annotation or chart value"))
    .evidences(switch.reader.evidence())
    .remedy(remedy(ctx, switch, object))
    .tie(wording::namespace_tie(object.namespace_name()))
}

fn remedy(ctx: &Context<'_>, switch: &Switch<'_>, object: &Annotated<'_>) -> Remedy {
    let mut remedy = wording::remedy();
    remedy = match switch.right_key(KeyScope::PodTemplate) {
        Some(key) => {
            let act = format!("Make the proxy a native sidecar: set {key}: \"true\"");
            let put = match object.kind {
                Kind::Job => {
                    remedy.step(StepKind::Annotation, format!("{act} in the pod template of the Job's manifest"))
                }
                _ => rewrite::template(ctx, remedy, Act::Put(&act), object, &[(key, Some("true"))]),
            };
            let put =
                if wording::is_floor_met(ctx) { put } else { wording::floor(put, ctx.knowledge.native_sidecar()) };
            wording::shutdown(ctx, switch, put, "If native sidecars are not available")
        }
        None => wording::without(ctx, switch, remedy),
    };
    remedy.step(
        StepKind::Annotation,
        format!(
            "If no service that the Job calls requires a mesh identity, set {INJECT}: disabled in \
            its pod template instead"
        ),
    )
}
