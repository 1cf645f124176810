//! `proxy-exports-many-series`: a proxy exports so many series of metrics that they cost it and Prometheus memory.

use crate::checks::diagnosed::{by_workload, exporting, proxies, quoted};
use crate::checks::prelude::*;
use crate::knowledge::MetricMeaning::SeriesCount;

/// Number of series from which they are many: a proxy with hundreds of Services has some ten thousand.
const MANY: f64 = 50_000.0;
/// The number of quoted proxies per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting(ctx, proxies(ctx)?, SeriesCount, "the number of series");
    let many = all.into_iter().filter_map(|(pod, metrics)| {
        let count = metrics.value(SeriesCount)?;
        (count > MANY).then_some((pod, count))
    });
    let findings = by_workload(ctx, many).into_iter().map(|(subject, many)| {
        let said = many.iter().take(QUOTED).map(|(pod, count)| quoted(pod, format!("{count:.0} series")));
        ctx.finding(
            subject,
            "the proxy exports more than 50,000 series: its memory grows with them, and each scrape transfers and \
             stores them all",
        )
        .evidences(said)
        .remedy(
            Remedy::new().note("Find the label with most values: host names and paths of requests are typical").note(
                "Upgrade if the release is known to keep series of ended connections; a restart removes them for \
                     some time",
            ),
        )
    });
    Ok(findings.collect())
}
