//! `destination-replica-stuck`: a replica of destination makes no updates of endpoints that its other replicas make.

use std::collections::BTreeMap;

use crate::checks::diagnosed::{controllers, exporting_if_used, grown, name_of, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{EndpointSubscribers, EndpointUpdates};

/// The container of destination.
const DESTINATION: &str = "destination";
/// Minimum number of updates that another replica made.
const LEAST: u64 = 5;
/// Number of quoted Services.
const QUOTED: usize = 5;

/// A Service port: namespace, Service, port.
type ServicePort<'a> = (&'a str, &'a str, &'a str);

/// The metrics of a replica.
struct Replica<'a> {
    pod: &'a Pod,
    metrics: &'a ProxyMetrics,
    updates: BTreeMap<ServicePort<'a>, u64>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting_if_used(ctx, controllers(ctx, DESTINATION)?, EndpointUpdates, "the updates of endpoints");
    let all = grown(ctx, all, &[EndpointUpdates, EndpointSubscribers])?;
    let replicas: Vec<Replica<'_>> = all
        .into_iter()
        .map(|(pod, metrics)| {
            let updates = metrics.grown(EndpointUpdates).map(|(series, count)| (port_of(series), count));
            Replica { pod, metrics, updates: updates.collect() }
        })
        .collect();
    if replicas.len() < 2 {
        return Err(Unjudged::not_applicable("there are no two replicas of destination with metrics to compare"));
    }
    let stuck = replicas.iter().filter_map(|replica| {
        let others = replicas.iter().filter(|other| other.pod.metadata.name != replica.pod.metadata.name);
        let missed = others.map(|other| missed(replica, other)).max_by_key(|missed| total(missed))?;
        (replica.updates.is_empty() && total(&missed) >= LEAST).then(|| finding(ctx, replica, &missed))
    });
    Ok(stuck.collect())
}

fn port_of(series: &Series) -> ServicePort<'_> {
    (series.label("namespace"), series.label("service"), series.label("port"))
}

/// Updates of another replica for Service ports that had clients in both reads of this one.
fn missed<'a>(replica: &Replica<'a>, other: &Replica<'a>) -> Vec<(ServicePort<'a>, u64)> {
    let subscribed = replica.metrics.series(EndpointSubscribers);
    let subscribed = subscribed.filter(|one| one.value > 0.0 && one.before.is_some_and(|before| before > 0.0));
    subscribed.filter_map(|one| Some((port_of(one), *other.updates.get(&port_of(one))?))).collect()
}

fn total(missed: &[(ServicePort<'_>, u64)]) -> u64 {
    missed.iter().map(|(_, count)| count).sum()
}

fn finding(ctx: &Context<'_>, replica: &Replica<'_>, missed: &[(ServicePort<'_>, u64)]) -> Finding {
    let (namespace, name) = replica.pod.metadata.key();
    let of = format!("metrics of destination, Pod {}", name_of(replica.pod));
    let quoted = missed.iter().take(QUOTED).map(|((namespace, service, port), count)| {
        let updates = counted(*count, "update");
        Evidence::other(
            of.clone(),
            format!(
                "no update of Service {namespace}/{service} port {port} {}, another replica made {updates}",
                within(replica.metrics)
            ),
        )
    });
    ctx.finding(
        Subject::object(Kind::Pod, namespace, name),
        "A destination replica makes no updates of endpoints, while another replica does. Proxies connected \
         to the stuck replica keep outdated endpoints",
    )
    .evidences(quoted)
    .remedy(replaced(namespace, name))
}

/// The steps that replace a replica of destination.
pub(super) fn replaced(namespace: &str, replica: &str) -> Remedy {
    Remedy::new()
        .command(
            "Keep the log of the replica for a report",
            kubectl().namespace(namespace).words("logs").operand(replica).words("-c destination"),
        )
        .command(
            "Delete the pod, so that proxies connect to another replica",
            kubectl().namespace(namespace).words("delete pod").operand(replica),
        )
}
