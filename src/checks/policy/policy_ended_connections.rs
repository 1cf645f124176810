//! `policy-ended-connections`: a change of inbound policy ended connections that were open.

use crate::checks::diagnosed::{by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::command::meshdoctor;
use crate::knowledge::MetricMeaning::EndedConnections;

/// The number of quoted ports per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let ended = growing(ctx, EndedConnections, |_| true)?;
    let each = ended.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            growth.grown.iter().map(move |(series, count)| {
                let client = match series.label("client_id") {
                    "" => "clients without an identity",
                    client => client,
                };
                let (port, connections) = (series.label("target_port"), counted(*count, "connection"));
                quoted(pod, format!("port {port}: {connections} of {client} ended {}", within(growth.metrics)))
            })
        });
        let target = all.first().map(|(pod, growth)| {
            let port = growth.grown.first().map_or("", |(series, _)| series.label("target_port"));
            format!("{}/{}:{port}", pod.metadata.namespace, pod.metadata.name)
        });
        ctx.finding(
            subject,
            "a change of inbound policy ended open connections: their clients are no longer authorized, \
             or the port now accepts only HTTP",
        )
        .evidences(said.take(QUOTED))
        .remedy(
            Remedy::new()
                .command(
                    "Check which clients are authorized now",
                    meshdoctor().words("policy").arg(target.unwrap_or_default()),
                )
                .step(StepKind::Note, "If these clients should have access, add them to an AuthorizationPolicy")
                .step(StepKind::Note, "If the port does not serve HTTP, correct proxyProtocol of its Server"),
        )
    });
    Ok(findings.collect())
}
