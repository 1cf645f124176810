//! `protocol-detection-times-out`: connections wait for the client to send, but the server of the port speaks
//! first.

use std::collections::BTreeMap;

use super::opaque::ANNOTATION;
use super::transport::{OWN, inbound_port};
use crate::checks::diagnosed::{by_workload, exporting_if_used, grown, proxies, quoted, within};
use crate::checks::policy::scrape_refused::admin_port;
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, StepKind, Subject};
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{InboundDetection, InboundErrors, OutboundDetection};
use crate::objects::{Kind, Pod};

/// Minimum number of connections that waited in vain.
const LEAST: u64 = 3;
/// The label of connections whose client sent nothing while the proxy looked for TLS.
const TLS_TIMEOUT: &str = "tls detection timeout";
/// The number of quoted proxies.
const QUOTED: usize = 3;

/// Proxies with connections to a Service that waited in vain, and their number.
type Clients<'a> = Vec<(&'a Pod, &'a ProxyMetrics, u64)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting_if_used(ctx, proxies(ctx)?, InboundDetection, "the results of protocol detection");
    let all = grown(ctx, all, &[InboundDetection, InboundErrors, OutboundDetection])?;
    let mut findings = Vec::new();
    let waiting = all.iter().filter_map(|(pod, metrics)| {
        let ports = timeouts(metrics.grown(InboundDetection), |series| series.label("srv_port").to_owned());
        (!ports.is_empty()).then_some((*pod, (*metrics, ports)))
    });
    for (subject, waiting) in by_workload(ctx, waiting) {
        let said = waiting.iter().take(QUOTED).flat_map(|(pod, (metrics, ports))| {
            ports.iter().map(move |(port, count)| {
                quoted(
                    pod,
                    format!(
                        "port {port}: {count} connections waited 10 s for the client {}",
                        within(metrics)
                    ),
                )
            })
        });
        findings.push(
            ctx.finding(
                subject,
                "the proxy delays connections by 10 seconds: it waits for the client to send, but the server \
                 of the port speaks first",
            )
            .evidences(said)
            .remedy(remedy("pod template and of the Services")),
        );
    }
    let closed = all.iter().filter_map(|(pod, metrics)| {
        let ports = tls_timeouts(pod, metrics);
        (!ports.is_empty()).then_some((*pod, (*metrics, ports)))
    });
    for (subject, closed) in by_workload(ctx, closed) {
        let said = closed.iter().take(QUOTED).flat_map(|(pod, (metrics, ports))| {
            ports.iter().map(move |(port, count)| {
                quoted(
                    pod,
                    format!(
                        "port {port}: {count} connections closed, sent nothing for 10 s {}",
                        within(metrics)
                    ),
                )
            })
        });
        findings.push(
            ctx.finding(
                subject,
                "the proxy closes connections of unmeshed clients that send nothing for 10 seconds, as clients of a \
                 server do that speaks first",
            )
            .parameter("closed")
            .likely()
            .evidences(said)
            .remedy(
                Remedy::new()
                    .step(
                        StepKind::Note,
                        "Find out whether the server of the port speaks first, or whether clients open unused \
                         connections, as scans do",
                    )
                    .step(
                        StepKind::Note,
                        format!(
                            "If it speaks first, add the port to the annotation {ANNOTATION} of the pod template and \
                             of the Services, then restart the pods"
                        ),
                    ),
            ),
        );
    }
    let mut services: BTreeMap<(String, String), Clients<'_>> = BTreeMap::new();
    for (pod, metrics) in &all {
        let is_service = |(series, _): &(&Series, u64)| series.label("parent_kind") == "Service";
        let each = timeouts(metrics.grown(OutboundDetection).filter(is_service), |series| {
            ["parent_namespace", "parent_name", "parent_port"].map(|name| series.label(name).to_owned())
        });
        for ([namespace, name, _], count) in each {
            let clients = services.entry((namespace, name)).or_default();
            match clients.last_mut().filter(|(of, ..)| std::ptr::eq(*of, *pod)) {
                Some((.., known)) => *known += count,
                None => clients.push((pod, metrics, count)),
            }
        }
    }
    for ((namespace, name), clients) in services {
        // The proxy's port label is that of another port of the Service, so it is not quoted.
        let said = clients.iter().take(QUOTED).map(|(pod, metrics, count)| {
            quoted(
                pod,
                format!("{count} connections to the Service waited 10 s for the client {}", within(metrics)),
            )
        });
        findings.push(
            ctx.finding(
                Subject::object(Kind::Service, &namespace, &name),
                "proxies of clients delay connections by 10 seconds: they wait for the client to send, but \
                 the server speaks first",
            )
            .evidences(said)
            .remedy(remedy("Service and of its pods")),
        );
    }
    Ok(findings.into())
}

fn remedy(of: &str) -> Remedy {
    Remedy::new().step(
        StepKind::Note,
        format!("Add the port to the annotation {ANNOTATION} of the {of}, then restart the pods"),
    )
}

/// The connections to each port that were closed because no client sent a TLS handshake or any other byte, if they are
/// at least half of its results. The proxy of a server looks for TLS first, on ports that are not opaque, so this
/// happens to unmeshed clients.
fn tls_timeouts(pod: &Pod, metrics: &ProxyMetrics) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let late = metrics.grown(InboundErrors).filter(|(series, _)| series.label("error") == TLS_TIMEOUT);
    for (series, count) in late {
        *counts.entry(series.label("target_port").to_owned()).or_default() += count;
    }
    let own = OWN.into_iter().chain([inbound_port(pod), admin_port(pod)]);
    for port in own {
        counts.remove(&port.to_string());
    }
    // Every other connection of such a port gets a result.
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for (series, count) in metrics.grown(InboundDetection) {
        *others.entry(series.label("srv_port")).or_default() += count;
    }
    counts.retain(|port, count| *count >= LEAST && *count >= others.get(port.as_str()).copied().unwrap_or(0));
    counts
}

/// The timeouts of each port, if they are at least half of its results.
fn timeouts<'a, K: Ord>(
    grown: impl Iterator<Item = (&'a Series, u64)>,
    key: impl Fn(&Series) -> K,
) -> BTreeMap<K, u64> {
    let mut counts: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    for (series, growth) in grown {
        let (late, all) = counts.entry(key(series)).or_default();
        *late += if series.label("result") == "read_timeout" { growth } else { 0 };
        *all += growth;
    }
    let many = counts.into_iter().filter(|(_, (late, all))| *late >= LEAST && late * 2 >= *all);
    many.map(|(key, (late, _))| (key, late)).collect()
}
