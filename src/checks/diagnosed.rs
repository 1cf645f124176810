//! The proxies whose metrics were given as `linkerd diagnostics proxy-metrics` prints them: whose they are, and which are missing.

use std::collections::HashMap;

use super::Context;
use crate::checks::words::some;
use crate::fetched::Why;
use crate::item::Item;
use crate::item::diagnostic::{Answer, ProxyMetrics};
use crate::missing::Missing;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

/// How many pods a gap names.
const NAMED: usize = 3;

/// What was given of one sort, `part` in words.
///
/// # Errors
/// There is nothing of it.
pub(super) fn answers<'a, T>(
    ctx: &Context<'a>,
    of: fn(&'a Answer) -> Option<&'a T>,
    part: &str,
) -> Result<Vec<&'a T>, Missing> {
    let given: Vec<&T> = ctx.diagnostics()?.iter().filter_map(|one| of(&one.said)).collect();
    if given.is_empty() { Err(ctx.lacking(Item::Diagnostics, Why::NotOffered, part)) } else { Ok(given) }
}

/// The pods with a proxy whose metrics were given. Those whose metrics were not are noted.
///
/// # Errors
/// No pods are there, or metrics of none of them.
pub(super) fn proxies<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    let pods = ctx.seen::<Pod>()?;
    let given = ctx.diagnostics()?.iter().filter_map(|one| one.said.of_proxy());
    let meshed: Vec<&Pod> =
        pods.iter().filter(|pod| pod.spec.proxy().is_some() && !pod.is_finished()).collect();
    // The command prints no namespace.
    let mut of_name: HashMap<&str, usize> = HashMap::new();
    meshed.iter().for_each(|pod| *of_name.entry(pod.metadata.name.as_str()).or_default() += 1);
    let mut by_name: HashMap<&str, Vec<&ProxyMetrics>> = HashMap::new();
    given.for_each(|metrics| by_name.entry(metrics.pod.as_str()).or_default().push(metrics));
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for pod in meshed.iter().copied().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        let name = pod.metadata.name.as_str();
        let mut metrics = by_name.get(name).filter(|_| of_name[name] == 1).into_iter().flatten();
        match metrics.find(|metrics| is_of(metrics, pod)) {
            Some(metrics) => found.push((pod, *metrics)),
            None => missing.push(format!("{}/{}", pod.metadata.namespace, pod.metadata.name)),
        }
    }
    let lacking = |part: String| ctx.lacking(Item::Diagnostics, Why::NotOffered, part);
    if found.is_empty() && !missing.is_empty() {
        return Err(lacking("the metrics of proxies".to_owned()));
    }
    if !missing.is_empty() {
        ctx.gap(lacking(format!("the metrics of {}", some(&missing, NAMED))));
    }
    Ok(found)
}

/// Whether metrics that could be had are of the proxy that runs now.
fn is_of(metrics: &ProxyMetrics, pod: &Pod) -> bool {
    let status = pod.container_status(PROXY_CONTAINER);
    let started = status.and_then(|status| status.state.running()?.started_at.get());
    let is_older = started.zip(metrics.read_at).is_some_and(|(started, read)| read < started.as_second());
    metrics.error.is_empty() && !is_older
}
