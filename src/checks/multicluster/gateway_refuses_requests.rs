//! `gateway-refuses-requests`: a gateway rejects requests that would return to it, or whose name it does not
//! serve.

use crate::checks::diagnosed::{by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::knowledge::MetricMeaning::InboundErrors;

/// The number of quoted series per workload.
const QUOTED: usize = 5;
/// The errors, and their meaning.
const ERRORS: [(&str, &str); 2] = [
    ("gateway loop", "the request would return to this cluster"),
    ("gateway domain invalid", "the gateway does not serve the requested name"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let meaning_of = |error: &str| ERRORS.iter().find(|(name, _)| *name == error).map(|(_, meaning)| *meaning);
    let refused = growing(ctx, InboundErrors, |series| meaning_of(series.label("error")).is_some())?;
    let each = refused.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            growth.grown.iter().map(move |(series, count)| {
                let error = series.label("error");
                let meaning = meaning_of(error).unwrap_or_default();
                quoted(pod, format!("{error} {} {}: {meaning}", counted(*count, "time"), within(growth.metrics)))
            })
        });
        ctx.finding(subject, "the gateway rejects requests of other clusters: they fail for the clients")
            .evidences(said.take(QUOTED))
            .remedy(
                Remedy::new()
                    .note("For a loop: do not export mirror Services; export only Services of this cluster")
                    .note("For an invalid name: set the targetClusterDomain of the Link to this cluster's domain"),
            )
    });
    Ok(findings.collect())
}
