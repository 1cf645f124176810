//! `outbound-requests-shed`: a client's proxy rejects requests because too many wait or are in flight.

use crate::checks::diagnosed::{Growth, by_number, by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::command::meshdoctor;
use crate::knowledge::MetricMeaning::{BalancerGateShuts, OutboundErrors};
use crate::model::fail_fast::balancers;

/// The number of quoted proxies per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let shed = growing(ctx, OutboundErrors, |series| series.label("error") == "loadshed")?;
    // A load balancer in fail-fast sheds requests too, and is the finding of another check.
    let is_own = |growth: &&Growth<'_>| {
        growth.metrics.grown(BalancerGateShuts).next().is_none() && balancers(growth.metrics).is_empty()
    };
    let each = shed.iter().filter(is_own).map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().map(|(pod, growth)| {
            quoted(pod, format!("{} shed {}", counted(growth.total(), "request"), within(growth.metrics)))
        });
        let events = all.iter().map(|(_, growth)| growth.total()).sum();
        let namespace = all.first().map_or("", |(pod, _)| pod.metadata.namespace.as_str());
        let finding = ctx.finding(
            subject,
            "the proxy of a client rejects its outbound requests: too many wait for an endpoint or are in flight, \
             because the servers answer too slowly",
        );
        by_number(finding, events).evidences(said.take(QUOTED)).remedy(
            Remedy::new()
                .command(
                    "Find Services without ready or reachable endpoints",
                    meshdoctor().words("sync --proxies").option("-n", namespace),
                )
                .note("Add replicas of the slow server, or set timeouts so that its requests end earlier"),
        )
    });
    Ok(findings.collect())
}
