//! `proxy-endpoints-stale`: a proxy's load balancer for a Service holds more endpoints than exist.

use crate::checks::diagnosed::{
    by_workload, exporting_if_used, grown, metrics_missing, name_of, proxies, quoted, within,
};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::counted;
use crate::command::meshdoctor;
use crate::knowledge::MetricMeaning::BalancerEndpoints;
use crate::model::balanced_services::{Agreement, Slices};
use crate::objects::EndpointSlice;

/// Number of quoted Services and pods.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting_if_used(ctx, proxies(ctx)?, BalancerEndpoints, "the endpoints of load balancers");
    let all = grown(ctx, all, &[BalancerEndpoints])?;
    let (services, slices) = (ctx.complete_list::<Service>()?, ctx.complete_list::<EndpointSlice>()?);
    let at = ctx.knows_its_moment().then(|| ctx.now().as_second());
    let slices = Slices::new(Some(slices), services, at);
    let mut stale = Vec::new();
    for (pod, metrics) in all {
        let services = slices.compared(metrics).into_iter();
        let differing: Vec<_> = services.filter(|service| service.agreement == Agreement::Differs).collect();
        // Metrics that are older than the EndpointSlices may be those of pods that were deleted in between.
        let is_later = metrics.read_at.zip(at).is_some_and(|(read, at)| read >= at);
        if !differing.is_empty() && !is_later {
            ctx.gap(metrics_missing(ctx, format!("metrics of {} that are newer than EndpointSlices", name_of(pod))));
            continue;
        }
        stale.extend(differing.into_iter().map(|service| (pod, (metrics, service))));
    }
    let findings = by_workload(ctx, stale).into_iter().map(|(subject, all)| {
        let evidence = all.iter().take(QUOTED).map(|(pod, (metrics, service))| {
            let ready = service.ready.unwrap_or_default();
            let said = format!(
                "{} of Service {}/{} port {}, {ready} ready in EndpointSlices, at both reads {}",
                counted(service.held, "endpoint"),
                service.namespace,
                service.name,
                service.port,
                within(metrics)
            );
            quoted(pod, said)
        });
        let (first, _) = all[0];
        let owner = ctx.owners().owner(first);
        let mut names: Vec<String> = all.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        names.dedup();
        let mut remedy = Remedy::new()
            .run(
                StepKind::Command,
                "Check whether it persists, or a replica of destination is stuck",
                meshdoctor().words("sync --proxies").option("-n", first.metadata.namespace.as_str()),
            )
            .command(
                "If many proxies differ, restart destination",
                kubectl()
                    .namespace(&ctx.namespaces().control_plane)
                    .words("rollout restart deployment/linkerd-destination"),
            );
        remedy.steps.push(renew(ctx, &owner, &names, Needs::NewPods, "new pods get current endpoints"));
        ctx.finding(
            subject,
            "proxies hold more endpoints of a Service than exist: they send requests to pods that no longer exist, \
             until the proxy learns of the change",
        )
        .likely()
        .evidences(evidence)
        .remedy(remedy)
    });
    Ok(findings.collect())
}
