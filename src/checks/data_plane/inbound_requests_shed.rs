//! `inbound-requests-shed`: a proxy rejects requests because its application does not take them.

use crate::checks::diagnosed::{by_number, by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::knowledge::MetricMeaning::InboundErrors;

/// The number of quoted ports per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let shed = growing(ctx, InboundErrors, |series| series.label("error") == "loadshed")?;
    let each = shed.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            growth.grown.iter().map(move |(series, count)| {
                let port = series.label("target_port");
                quoted(pod, format!("port {port}: {} shed {}", counted(*count, "request"), within(growth.metrics)))
            })
        });
        let (namespace, pod) = all.first().map_or(("", ""), |(pod, _)| pod.metadata.key());
        let events = all.iter().map(|(_, growth)| growth.total()).sum();
        let finding = ctx.finding(
            subject,
            "the proxy rejects inbound requests with 503: the application accepts no connection, or answers \
             too slowly",
        );
        by_number(finding, events).evidences(said.take(QUOTED)).remedy(
            Remedy::new()
                .command(
                    "Check the application's containers",
                    kubectl().namespace(namespace).words("describe pod").operand(pod),
                )
                .note("Repair the application, or add replicas if it is overloaded"),
        )
    });
    Ok(findings.collect())
}
