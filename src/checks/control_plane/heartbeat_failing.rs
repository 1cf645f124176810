//! `heartbeat-failing`: the Jobs of Linkerd's heartbeat keep failing.

use jiff::Timestamp;

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::installed::COMPONENT;
use crate::objects::{CronJob, Job};

/// Maximum number of failed Jobs quoted in evidence.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let jobs = ctx.partial_list::<Job>()?;
    let heartbeat =
        |cron: &&CronJob| cron.metadata.namespace == *namespace && cron.metadata.label(COMPONENT) == Some("heartbeat");
    let Some(cron) = ctx.partial_list::<CronJob>()?.iter().find(heartbeat) else {
        ctx.complete_list::<CronJob>()?;
        return Err(Unjudged::not_applicable("the heartbeat is not installed"));
    };
    let name = &cron.metadata.name;
    let mut own: Vec<&Job> = jobs
        .iter()
        .filter(|job| {
            let owner = job.metadata.controller();
            job.metadata.namespace == *namespace
                && owner.is_some_and(|owner| owner.kind == "CronJob" && owner.name == *name)
        })
        .collect();
    own.sort_by_key(|job| std::cmp::Reverse(started(job)));
    let failed: Vec<&Job> = own.iter().take_while(|job| failure(job).is_some()).copied().collect();
    let Some(last) = failed.first() else { return Ok(Verdict::fine()) };
    let well = cron.status.last_successful_time;
    let since = well.or(cron.metadata.creation_timestamp.get());
    let long = since.is_some_and(|since| ctx.now().duration_since(since) >= ctx.param_duration("days"));
    if cron.spec.suspend || well > started(last) || failed.len() < ctx.count_of("failures") && !long {
        return Ok(Verdict::fine());
    }
    let object = format!("CronJob {namespace}/{name}");
    let said = well.map_or_else(|| "none".to_owned(), |at| at.to_string());
    let remedy = Remedy::new().command(
        "If the cluster has no internet access, or the heartbeat is not wanted, disable it with the next \
        step. Otherwise, find out why its pods fail",
        kubectl().namespace(namespace).words("describe job").operand(&last.metadata.name),
    );
    let remedy =
        upgrade::with_values(ctx, remedy, "Disable the heartbeat", Options::none().set("disableHeartBeat", "true"));
    let remedy = remedy.command(
        "Delete the CronJob and its failed Jobs, which `linkerd upgrade` leaves",
        kubectl().namespace(namespace).words("delete cronjob").operand(name).words("--ignore-not-found"),
    );
    let finding = ctx
        .finding(
            Subject::object("CronJob", namespace, name),
            "the heartbeat fails repeatedly, most often because the cluster has no internet access. The mesh \
            does not need it, but failed pods remain listed",
        )
        .evidence(Evidence::field(&object, "status.lastSuccessfulTime", said))
        .evidences(failed.iter().take(QUOTED).filter_map(|job| {
            let (reason, message) = failure(job)?;
            let object = format!("Job {namespace}/{}", job.metadata.name);
            Some(Evidence::field(object, "status.conditions[Failed]", format!("{reason}: {message}")))
        }))
        .remedy(remedy);
    Ok(finding.into())
}

fn started(job: &Job) -> Option<Timestamp> {
    job.status.start_time.get().or(job.metadata.creation_timestamp.get())
}

/// The reason why a Job failed; `None` if it did not fail.
fn failure(job: &Job) -> Option<(&str, &str)> {
    let failed = job.status.conditions.iter().find(|c| c.kind == "Failed" && c.status == "True")?;
    Some((&failed.reason, &failed.message))
}
