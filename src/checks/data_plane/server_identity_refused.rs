//! `server-identity-refused`: a proxy rejects servers that do not have the required identity.

use crate::checks::diagnosed::{by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::knowledge::MetricMeaning::OutboundErrors;

/// The number of quoted proxies per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let refused = growing(ctx, OutboundErrors, |series| series.label("error") == "identity required")?;
    let each = refused.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().take(QUOTED).map(|(pod, growth)| {
            let count = growth.total();
            quoted(
                pod,
                format!("{} failed with \"identity required\" {}", counted(count, "request"), within(growth.metrics)),
            )
        });
        ctx.finding(subject, "the proxy rejects responses of servers without the required identity: the requests fail")
            .evidences(said)
            .remedy(
                Remedy::new()
                    .step(StepKind::Note, "Correct the identity in the requests that have the header l5d-require-id")
                    .step(StepKind::Note, "Check that the servers are meshed"),
            )
    });
    Ok(findings.collect())
}
