//! `destination-updates-delayed`: destination drops updates for slow clients, or learns of changes late.

use crate::checks::diagnosed::{by_number, controllers, grown, name_of, within};
use crate::checks::prelude::*;
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{InformerUpdates, InformerUpdatesInTime, UpdateOverflows};

/// The container of destination.
const DESTINATION: &str = "destination";
/// Minimum number of updates of a kind.
const LEAST: u64 = 5;
/// Minimum number of late ones among them: a watch that began again delivers one or two.
const LEAST_LATE: u64 = 3;
/// The number of quoted queues and kinds.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = controllers(ctx, DESTINATION)?;
    let all = grown(ctx, all, &[UpdateOverflows, InformerUpdates, InformerUpdatesInTime])?;
    let dropped: Vec<Evidence> = all.iter().flat_map(|(pod, metrics)| overflows(pod, metrics)).collect();
    let overflows = all.iter().flat_map(|(_, metrics)| metrics.grown(UpdateOverflows));
    let overflows = overflows.map(|(_, count)| count).sum();
    let late: Vec<Evidence> = all.iter().flat_map(|(pod, metrics)| late_updates(pod, metrics)).collect();
    let subject = || Subject::object(Kind::Deployment, &ctx.namespaces().control_plane, "linkerd-destination");
    let mut findings = Vec::new();
    if !dropped.is_empty() {
        findings.push(by_number(
            ctx.finding(
                subject(),
                "destination ends streams to proxies because their update queue is full: the proxies use \
                 outdated endpoints until they connect again",
            )
            .parameter("overflow")
            .evidences(dropped.into_iter().take(QUOTED))
            .remedy(
                Remedy::new()
                    .note("Check the CPU limits of destination and of the proxies that call the Service")
                    .note("Find out why the endpoints of the Service change so often"),
            ),
            overflows,
        ));
    }
    if !late.is_empty() {
        findings.push(
            ctx.finding(
                subject(),
                "destination learns of changes more than 10 seconds late: proxies send requests to pods that \
                 no longer exist",
            )
            .parameter("lag")
            .evidences(late.into_iter().take(QUOTED))
            .remedy(Remedy::new().note("Check the load of the API server and the CPU limits of destination")),
        );
    }
    Ok(findings.into())
}

fn said_by(pod: &Pod, said: String) -> Evidence {
    Evidence::other(format!("metrics of destination, Pod {}", name_of(pod)), said)
}

fn overflows(pod: &Pod, metrics: &ProxyMetrics) -> Vec<Evidence> {
    let each = metrics.grown(UpdateOverflows).map(|(series, count)| {
        let queue = series.label("queue");
        // Profiles of single endpoints are counted together.
        let of = match [series.label("service"), series.label("fqn")].concat() {
            none if none.is_empty() => "of addresses".to_owned(),
            service => format!("for {service}"),
        };
        said_by(pod, format!("{queue} updates {of} that did not fit the queue: {count} {}", within(metrics)))
    });
    each.collect()
}

/// Kinds whose updates took more than 10 seconds in more than 1 % of the cases.
fn late_updates(pod: &Pod, metrics: &ProxyMetrics) -> Vec<Evidence> {
    let in_time = |kind: &Series| -> u64 {
        let is_it = |series: &Series| series.label("resource") == kind.label("resource");
        metrics.grown(InformerUpdatesInTime).filter(|(series, _)| is_it(series)).map(|(_, count)| count).sum()
    };
    let each = metrics.grown(InformerUpdates).filter_map(|(series, count)| {
        let late = count.saturating_sub(in_time(series));
        (count >= LEAST && late >= LEAST_LATE && late * 100 > count).then(|| {
            let kind = series.label("resource");
            said_by(pod, format!("{late} of {count} updates of {kind} took more than 10 s {}", within(metrics)))
        })
    });
    each.collect()
}
