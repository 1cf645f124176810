//! `protocol-detection-times-out`: connections wait for the client to send, but the server of the port speaks
//! first.

use std::collections::BTreeMap;

use super::opaque::ANNOTATION;
use super::transport::{OWN, inbound_port};
use crate::checks::diagnosed::{by_workload, exporting_if_used, grown, proxies, quoted, within};
use crate::checks::policy::scrape_refused::admin_port;
use crate::checks::prelude::*;
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{InboundDetection, InboundErrors, OutboundDetection};

/// Minimum number of connections that waited in vain.
const LEAST: u64 = 3;
/// The label of connections whose client sent nothing while the proxy looked for TLS.
const TLS_TIMEOUT: &str = "tls detection timeout";
/// The number of quoted proxies.
const QUOTED: usize = 3;

/// The clients of a Service whose connections waited in vain, and their number.
type WaitingClients<'a> = BTreeMap<(String, String), Vec<(&'a Pod, &'a ProxyMetrics, u64)>>;
/// A meshed pod and the metrics of its proxy.
type MeteredPod<'a> = (&'a Pod, &'a ProxyMetrics);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting_if_used(ctx, proxies(ctx)?, InboundDetection, "the results of protocol detection");
    let all = grown(ctx, all, &[InboundDetection, InboundErrors, OutboundDetection])?;
    let mut findings = delayed(ctx, &all);
    findings.extend(closed(ctx, &all));
    findings.extend(delayed_clients(ctx, &all));
    Ok(findings.into())
}

/// Workloads whose proxies wait for a client to send.
fn delayed(ctx: &Context<'_>, all: &[MeteredPod<'_>]) -> Vec<Finding> {
    let ports = |metrics: &ProxyMetrics| {
        timeouts(metrics.grown(InboundDetection), |series| series.label("srv_port").to_owned())
    };
    let finding = |subject, evidence| {
        ctx.finding(
            subject,
            "the proxy delays connections by 10 seconds: it waits for the client to send, but the server \
             of the port speaks first",
        )
        .evidences(evidence)
        .remedy(remedy("pod template and of the Services"))
    };
    let by_workload = by_port(ctx, all, |_, metrics| ports(metrics), "waited 10 s for the client");
    by_workload.into_iter().map(|(subject, evidence)| finding(subject, evidence)).collect()
}

/// Workloads whose proxies close connections of clients that send nothing.
fn closed(ctx: &Context<'_>, all: &[MeteredPod<'_>]) -> Vec<Finding> {
    let remedy = Remedy::new()
        .note(
            "Find out whether the server of the port speaks first, or whether clients open unused \
             connections, as scans do",
        )
        .step(
            StepKind::Note,
            format!(
                "If it speaks first, add the port to the annotation {ANNOTATION} of the pod template and of the \
                 Services"
            ),
        )
        .step(StepKind::Note, "Restart the pods, which read the list when they start");
    let finding = |subject, evidence| {
        ctx.finding(
            subject,
            "the proxy closes connections of unmeshed clients that send nothing for 10 seconds, as clients of a \
             server do that speaks first",
        )
        .parameter("closed")
        .likely()
        .evidences(evidence)
        .remedy(remedy.clone())
    };
    let by_workload = by_port(ctx, all, tls_timeouts, "closed, sent nothing for 10 s");
    by_workload.into_iter().map(|(subject, evidence)| finding(subject, evidence)).collect()
}

/// The connections to each port as evidence, by workload; `fate`: what happened to them.
fn by_port(
    ctx: &Context<'_>,
    all: &[MeteredPod<'_>],
    ports: impl Fn(&Pod, &ProxyMetrics) -> BTreeMap<String, u64>,
    fate: &str,
) -> Vec<(Subject, Vec<Evidence>)> {
    let affected = all.iter().filter_map(|(pod, metrics)| {
        let ports = ports(pod, metrics);
        (!ports.is_empty()).then_some((*pod, (*metrics, ports)))
    });
    let quote = |pod: &Pod, metrics: &ProxyMetrics, port: &String, count: &u64| {
        quoted(pod, format!("port {port}: {count} connections {fate} {}", within(metrics)))
    };
    let groups = by_workload(ctx, affected).into_iter();
    groups
        .map(|(subject, group)| {
            let said = group
                .iter()
                .take(QUOTED)
                .flat_map(|(pod, (metrics, ports))| ports.iter().map(|(port, count)| quote(pod, metrics, port, count)));
            let said = said.collect();
            (subject, said)
        })
        .collect()
}

/// Services whose clients' proxies wait for a client to send.
fn delayed_clients(ctx: &Context<'_>, all: &[MeteredPod<'_>]) -> Vec<Finding> {
    let mut services: WaitingClients<'_> = BTreeMap::new();
    for (pod, metrics) in all {
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
    let each = services.into_iter().map(|((namespace, name), clients)| {
        // The proxy's port label is that of another port of the Service, so it is not quoted.
        let said = clients.iter().take(QUOTED).map(|(pod, metrics, count)| {
            quoted(pod, format!("{count} connections to the Service waited 10 s for the client {}", within(metrics)))
        });
        ctx.finding(
            Subject::object(Kind::Service, &namespace, &name),
            "proxies of clients delay connections by 10 seconds: they wait for the client to send, but \
             the server speaks first",
        )
        .evidences(said)
        .remedy(remedy("Service and of its pods"))
    });
    each.collect()
}

fn remedy(of: &str) -> Remedy {
    Remedy::new().note(format!("Add the port to the annotation {ANNOTATION} of the {of}, then restart the pods"))
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
