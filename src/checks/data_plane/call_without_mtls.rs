//! `call-without-mtls`: a proxy connects to another meshed pod without mutual TLS.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::checks::diagnosed::{Growth, by_workload, growing, name_of, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::item::proxy_metrics::Series;
use crate::knowledge::MetricMeaning::PlaintextConnections;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::skipped::{IN, skipped};
use crate::objects::container::PROXY_CONTAINER;

/// The number of quoted connections per workload.
const QUOTED: usize = 5;
/// Reasons of connections that could have used TLS.
const REASONS: [&str; 2] = ["not_provided_by_service_discovery", "no_tls_from_remote"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let of_reason = |series: &Series| REASONS.contains(&series.label("no_tls_reason"));
    let all = growing(ctx, PlaintextConnections, of_reason)?;
    let by_address = meshed_by_address(ctx)?;
    let calls = all.iter().flat_map(|growth| {
        let by_address = &by_address;
        growth.grown.iter().filter_map(move |(series, count)| {
            let target = target(ctx, growth, by_address, series)?;
            Some((growth.pod, (growth.metrics, target, *series, *count)))
        })
    });
    let findings = by_workload(ctx, calls).into_iter().map(|(subject, calls)| {
        let said = calls.iter().take(QUOTED).map(|(pod, (metrics, target, series, count))| {
            let (port, reason) = (series.label("target_port"), series.label("no_tls_reason"));
            let (to, connections) = (name_of(target), counted(*count, "connection"));
            quoted(pod, format!("{connections} to port {port} of {to} {}: {reason}", within(metrics)))
        });
        ctx.finding(
            subject,
            "the proxy connects to a meshed pod without mutual TLS: destination does not send it the pod's \
             identity, so policies that require one deny the connection",
        )
        .likely()
        .evidences(said)
        .remedy(
            Remedy::new().command(
                "Restart destination: it sends the identities of meshed pods",
                kubectl()
                    .namespace(&ctx.namespaces().control_plane)
                    .words("rollout restart deployment/linkerd-destination"),
            ),
        )
    });
    Ok(findings.collect())
}

/// Meshed pods by address; without pods that share one, such as those on the host's network.
fn meshed_by_address<'a>(ctx: &Context<'a>) -> Result<HashMap<IpAddr, &'a Pod>, Missing> {
    let mut found: HashMap<IpAddr, Option<&Pod>> = HashMap::new();
    for pod in ctx.partial_list::<Pod>()?.iter().filter(|pod| !pod.is_finished()) {
        for address in pod.addresses() {
            found.entry(address).and_modify(|pod| *pod = None).or_insert(Some(pod));
        }
    }
    let alone = found.into_iter().filter_map(|(address, pod)| Some((address, pod?)));
    Ok(alone.filter(|(_, pod)| pod.spec.proxy().is_some()).collect())
}

/// The pod of a connection, if its proxy accepts TLS on that port.
fn target<'a>(
    ctx: &Context<'_>,
    growth: &Growth<'_>,
    by_address: &HashMap<IpAddr, &'a Pod>,
    series: &Series,
) -> Option<&'a Pod> {
    let port: u16 = series.label("target_port").parse().ok()?;
    let pod = by_address.get(&series.label("target_ip").parse().ok()?).copied()?;
    let proxy = pod.spec.proxy()?;
    let is_of_proxy = proxy.ports.iter().any(|own| own.container_port == port) || [4190, 4191].contains(&port);
    let is_skipped = skipped(pod, IN, ctx.cni_skips()).is_some_and(|skipped| skipped.holds(port));
    let is_same_mesh = pod.metadata.label(CONTROL_PLANE_NS) == growth.pod.metadata.label(CONTROL_PLANE_NS);
    let is_self = pod.metadata.key() == growth.pod.metadata.key();
    let of_control_plane = pod.metadata.namespace == ctx.namespaces().control_plane;
    // Connections from before its proxy ran were to another one with this address.
    let status = pod.container_status(PROXY_CONTAINER)?;
    let started = status.state.running()?.started_at.get()?.as_second();
    let is_older = growth
        .metrics
        .read_at
        .zip(growth.metrics.period)
        .is_some_and(|(read, period)| started < read.saturating_sub(period));
    let is_its = is_older && is_same_mesh && !is_of_proxy && !is_skipped && !is_self && !of_control_plane;
    is_its.then_some(pod)
}
