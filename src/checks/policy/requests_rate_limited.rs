//! `requests-rate-limited`: a rate limit policy rejects requests.

use crate::checks::diagnosed::{by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::knowledge::MetricMeaning::RateLimited;

/// The number of quoted limits per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let limited = growing(ctx, RateLimited, |_| true)?;
    let each = limited.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            growth.grown.iter().map(move |(series, count)| {
                let (port, name) = (series.label("target_port"), series.label("ratelimit_name"));
                let scope = match series.label("ratelimit_scope") {
                    "total" => "the total limit",
                    "identity" => "the limit of each identity",
                    _ => "the override of a client",
                };
                let seconds = within(growth.metrics);
                let requests = counted(*count, "request");
                quoted(pod, format!("port {port}: {requests} rejected by {scope} of {name} {seconds}"))
            })
        });
        ctx.finding(
            subject,
            "an HTTPLocalRateLimitPolicy rejects requests with 429: clients send more than it allows",
        )
        .evidences(said.take(QUOTED))
        .remedy(Remedy::new().note(
            "If these clients should be served, raise the limit in the HTTPLocalRateLimitPolicy, or add an override",
        ))
    });
    Ok(findings.collect())
}
