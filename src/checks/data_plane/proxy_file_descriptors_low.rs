//! `proxy-file-descriptors-low`: a proxy has nearly reached its limit of open file descriptors.

use crate::checks::diagnosed::{by_workload, proxies, quoted};
use crate::checks::prelude::*;
use crate::knowledge::MetricMeaning::{FileLimit, OpenFiles};

/// Share of the limit in percent.
const MOST: f64 = 80.0;
/// The number of quoted proxies per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let full = proxies(ctx)?.into_iter().filter_map(|(pod, metrics)| {
        let (open, limit) = (metrics.value(OpenFiles)?, metrics.value(FileLimit)?);
        (limit > 0.0 && open * 100.0 > limit * MOST).then_some((pod, (open, limit)))
    });
    let findings = by_workload(ctx, full).into_iter().map(|(subject, full)| {
        let said = full
            .iter()
            .take(QUOTED)
            .map(|(pod, (open, limit))| quoted(pod, format!("{open} of {limit} file descriptors are open")));
        ctx.finding(
            subject,
            "the proxy has nearly used up its file descriptors: at the limit it accepts and opens no more \
             connections",
        )
        .evidences(said)
        .remedy(
            Remedy::new()
                .note("Raise the limit of open files of the container runtime on the nodes")
                .note("Find the clients that hold the connections, or add replicas"),
        )
    });
    Ok(findings.collect())
}
