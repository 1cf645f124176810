//! `proxy-clock-off`: the clocks of proxies differ from that of the control plane, by the metrics of one sample.

use std::collections::HashMap;

use jiff::SignedDuration;

use super::identity::USUAL_LIFETIME;
use super::node_clock_off::{synchronized, words};
use crate::checks::diagnosed::{by_workload, metrics_missing, proxies, quoted};
use crate::checks::prelude::*;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::model::installed::COMPONENT;

/// A sample is read within seconds; a Prometheus server may scrape once a minute.
const ALLOWED: SignedDuration = SignedDuration::from_mins(2);
/// From this difference on, certificates of the other side are rejected for minutes.
const MUCH: SignedDuration = SignedDuration::from_mins(5);
/// Maximum number of quoted proxies of a workload.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // Its gaps are those of this check too.
    proxies(ctx)?;
    // Metrics in given files may be of different times.
    if ctx.diagnostics()?.iter().all(|one| one.said.of_sample().is_none()) {
        return Err(metrics_missing(ctx, "the clocks of proxies at one moment (--proxies)").into());
    }
    let clocks = clocks(ctx)?;
    let Some((reference, time)) = reference(ctx, &clocks) else {
        return Err(metrics_missing(ctx, "the clock of a proxy of the control plane").into());
    };
    let mut behind: Vec<(&Pod, SignedDuration)> = Vec::new();
    let mut ahead: Vec<(&Pod, SignedDuration)> = Vec::new();
    for (pod, own) in clocks.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        let off = SignedDuration::from_secs(own.saturating_sub(time));
        if off.abs() <= ALLOWED {
            continue;
        }
        if off.is_negative() { behind.push((*pod, off.abs())) } else { ahead.push((*pod, off)) }
    }
    let mut findings = Vec::new();
    for (off, is_ahead) in [(behind, false), (ahead, true)] {
        let all = by_workload(ctx, off).into_iter();
        findings.extend(all.map(|(subject, off)| finding(ctx, subject, &off, reference, is_ahead)));
    }
    Ok(if findings.is_empty() { Verdict::fine() } else { findings.into() })
}

/// The clocks of the proxies of a sample. A clock that is behind the start of its container counts too: pods are listed
/// before their metrics are read.
fn clocks<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, i64)>, Missing> {
    let mut by_name: HashMap<&str, Vec<&ProxyMetrics>> = HashMap::new();
    for metrics in ctx.diagnostics()?.iter().filter_map(|one| one.said.of_proxy()) {
        if metrics.error.is_empty() {
            by_name.entry(metrics.pod.as_str()).or_default().push(metrics);
        }
    }
    let clock = |pod: &Pod| {
        let (namespace, name) = pod.metadata.key();
        let is_its = |metrics: &&&ProxyMetrics| metrics.namespace.is_empty() || metrics.namespace == namespace;
        by_name.get(name)?.iter().find(is_its)?.read_at
    };
    let pods = ctx.partial_list::<Pod>()?.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_some());
    Ok(pods.filter_map(|pod| Some((pod, clock(pod)?))).collect())
}

/// The proxy of the control plane with the median clock, which is taken as the time. Identity comes first, since it
/// states the times in certificates.
fn reference<'a>(ctx: &Context<'_>, clocks: &[(&'a Pod, i64)]) -> Option<(&'a Pod, i64)> {
    let home = ctx.namespaces().control_plane.as_str();
    let of = |component: Option<&str>| {
        let is_own = |pod: &Pod| {
            let own = pod.metadata.label(COMPONENT).filter(|_| pod.metadata.namespace == home);
            own.is_some_and(|own| component.is_none_or(|component| own == component))
        };
        let mut own: Vec<(&Pod, i64)> = clocks.iter().filter(|(pod, _)| is_own(pod)).copied().collect();
        own.sort_by_key(|(pod, time)| (*time, &pod.metadata.name));
        own.get(own.len() / 2).copied()
    };
    of(Some("identity")).or_else(|| of(None))
}

/// The first node of the pods.
fn node_of<'a>(off: &[(&'a Pod, SignedDuration)]) -> Option<&'a str> {
    off.iter().map(|(pod, _)| pod.node_name.as_str()).find(|node| !node.is_empty())
}

fn finding(
    ctx: &Context<'_>,
    subject: Subject,
    off: &[(&Pod, SignedDuration)],
    reference: &Pod,
    is_ahead: bool,
) -> Finding {
    let message = match is_ahead {
        true => {
            "the clock of the proxy is ahead of the control plane's: it treats certificates as expired too early, its \
             own and those of its peers"
        }
        false => {
            "the clock of the proxy is behind the control plane's: new certificates are not valid there yet, so the \
             proxy rejects its own and those of its peers"
        }
    };
    let most = off.iter().map(|(_, off)| *off).max().unwrap_or_default();
    let is_error = if is_ahead { most >= USUAL_LIFETIME } else { most >= MUCH };
    let side = if is_ahead { "ahead" } else { "behind" };
    let said = off
        .iter()
        .take(QUOTED)
        .map(|(pod, off)| quoted(pod, format!("its clock is {} {side}; node {}", words(*off), pod.node_name.as_str())));
    let (namespace, name) = reference.metadata.key();
    let mut finding = ctx
        .finding(subject, message)
        .severity(if is_error { Severity::Error } else { Severity::Warning })
        .likely()
        .parameter(side)
        .evidences(said)
        .evidence(Evidence::other(
            "Compared with",
            format!("Pod {namespace}/{name} on node {}", reference.node_name.as_str()),
        ))
        .remedy(synchronized(ctx, Remedy::new(), node_of(off)));
    for (pod, _) in off {
        let tie = Tie::Node(pod.node_name.to_string());
        if !finding.ties.contains(&tie) {
            finding = finding.tie(tie);
        }
    }
    finding
}
