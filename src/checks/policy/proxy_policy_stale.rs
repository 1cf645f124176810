//! `proxy-policy-stale`: a proxy applies another inbound policy to a port than the objects define.

use std::collections::HashMap;

use super::denied_although_authorized::answer_compared;
use super::survey::survey;
use crate::checks::diagnosed::{by_workload, grown, metrics_missing, name_of, proxies, quoted, within};
use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::knowledge::MetricMeaning::{AppliedPolicies, DeniedConnections, DeniedRequests};
use crate::model::applied_policies::{AppliedPolicy, compared};
use crate::model::balanced_services::Agreement;

/// The number of quoted ports per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = grown(ctx, proxies(ctx)?, &[AppliedPolicies, DeniedRequests, DeniedConnections])?;
    let survey = survey(ctx)?;
    let at = ctx.knows_its_moment().then(|| ctx.now().as_second());
    let workloads: HashMap<_, _> = survey.pods.iter().map(|(pod, workload)| (pod.metadata.key(), workload)).collect();
    let mut stale = Vec::new();
    for (pod, metrics) in all {
        let Some(workload) = workloads.get(&pod.metadata.key()) else { continue };
        let ports = compared(metrics, &survey.index, workload, at);
        let is = |agreement: Agreement| move |one: &&AppliedPolicy| one.agreement == agreement;
        if ports.iter().any(|one| is(Agreement::Unknown)(&one)) {
            ctx.gap(metrics_missing(ctx, format!("metrics of {} and policies of the same moment", name_of(pod))));
        }
        let differing: Vec<AppliedPolicy> = ports.iter().filter(is(Agreement::Differs)).cloned().collect();
        if !differing.is_empty() {
            stale.push((pod, (metrics, differing)));
        }
    }
    let findings = by_workload(ctx, stale).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, (metrics, ports))| {
            ports.iter().map(move |one| {
                let (port, applied, expected) = (one.port, &one.applied, &one.expected);
                quoted(pod, format!("port {port}: applied {applied} {}; by the objects, {expected}", within(metrics)))
            })
        });
        let first = all.first().and_then(|(pod, (_, ports))| Some((*pod, ports.first()?.port)));
        ctx.finding(
            subject,
            "the proxy applies a policy that the objects no longer define: it may deny authorized clients, or allow \
             others, unless the policies were changed just now",
        )
        .evidences(said.take(QUOTED))
        .remedy(first.map_or_else(Remedy::new, |(pod, port)| answer_compared(ctx, pod, port)))
        .tie(component_missing("destination"))
        .likely()
    });
    Ok(findings.collect())
}
