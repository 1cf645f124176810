//! Numbers of the proxies of a workload: requests, their success and latency, and memory. Two of them, before
//! and after a change, show whether it made the workload worse.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cluster::Cluster;
use super::owners::Owner;
use super::read_metrics::ReadMetrics;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::{
    self, DeniedRequests, InboundLatency, InboundResponses, OutboundStatuses, RateLimited, ResidentMemory,
    UnroutedRequests,
};
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

/// The metrics that the numbers come from.
pub const MEANINGS: [MetricMeaning; 7] =
    [InboundResponses, InboundLatency, OutboundStatuses, ResidentMemory, DeniedRequests, UnroutedRequests, RateLimited];

/// Statuses with which proxies refuse requests: policy or an EgressNetwork, no matching route, a rate limit.
/// Applications answer with them too.
const REFUSED: [&str; 3] = ["403", "404", "429"];
/// The same in gRPC, in the words of the proxy's label.
const REFUSED_CODES: [&str; 3] = ["PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED"];
/// Status codes of gRPC that are failures of the server.
const FAILED_CODES: [&str; 5] = ["UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"];

/// Numbers of the proxies of a workload, between two reads of their metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadTraffic {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// Number of proxies that were read twice.
    pub proxies: u64,
    /// Seconds between the two reads; of several proxies the longest.
    pub seconds: u64,
    /// Requests that its proxies received.
    pub inbound: Requests,
    /// HTTP requests that its proxies sent.
    pub outbound: Requests,
    /// Requests to it that its own proxies refused, which are not among the received ones; absent in numbers of older
    /// releases of meshdoctor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbound_refused: Option<u64>,
    /// Sent requests with a status of a refusal; absent in numbers of older releases of meshdoctor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbound_refused: Option<u64>,
    /// Latency of the requests that its proxies received; absent without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Latency>,
    /// Resident memory of a proxy in bytes, on average; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Numbers from before a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierTraffic {
    /// The file that they come from.
    pub file: String,
    pub workloads: Vec<WorkloadTraffic>,
}

/// Requests with a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Their number.
    pub requests: u64,
    /// Failed ones among them.
    pub failures: u64,
}

/// Percentiles of a latency in milliseconds, interpolated within the buckets of the proxy's histogram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of the requests are faster.
    pub p50: u64,
    /// 95 % of the requests are faster.
    pub p95: u64,
    /// 99 % of the requests are faster.
    pub p99: u64,
}

impl Requests {
    /// Share of failed requests, in percent.
    #[allow(clippy::cast_precision_loss, reason = "a share is rounded anyway")]
    pub fn failed_percent(self) -> f64 {
        if self.requests == 0 { 0.0 } else { 100.0 * self.failures as f64 / self.requests as f64 }
    }

    /// Whether a larger share fails than `before`: by this many percentage points, by half of the earlier share, and by
    /// more than chance explains (three standard errors).
    #[allow(clippy::cast_precision_loss, reason = "a share is rounded anyway")]
    pub fn is_worse_than(self, before: Requests, points: f64) -> bool {
        let (then, now) = (before.failed_percent(), self.failed_percent());
        let (n, m) = (before.requests as f64, self.requests as f64);
        let both = (before.failures + self.failures) as f64 / (n + m).max(1.0);
        let error = 100.0 * (both * (1.0 - both) * (1.0 / n.max(1.0) + 1.0 / m.max(1.0))).sqrt();
        now - then >= points && now >= 1.5 * then && now - then >= 3.0 * error
    }
}

impl WorkloadTraffic {
    /// The numbers of the proxies of a workload that were read twice; `None` without such a proxy.
    pub fn new<'a>(owner: &Owner, proxies: impl IntoIterator<Item = &'a ProxyMetrics>) -> Option<WorkloadTraffic> {
        let mut traffic = WorkloadTraffic {
            kind: owner.kind.clone(),
            namespace: owner.namespace.clone(),
            name: owner.name.clone(),
            ..WorkloadTraffic::default()
        };
        let (mut inbound_refused, mut outbound_refused) = (0, 0);
        let mut buckets: Vec<(f64, u64)> = Vec::new();
        let mut memory: Vec<u64> = Vec::new();
        for metrics in proxies {
            let Some(period) = metrics.period else { continue };
            traffic.proxies += 1;
            traffic.seconds = traffic.seconds.max(u64::try_from(period).unwrap_or_default());
            for (series, growth) in metrics.grown(InboundResponses) {
                traffic.inbound.add(growth, series.label("classification") == "failure");
            }
            for (series, growth) in metrics.grown(OutboundStatuses) {
                let (status, code) = (series.label("http_status"), series.label("grpc_status"));
                let is_error = !series.label("error").is_empty();
                let has_failed = is_error || status.starts_with('5') || FAILED_CODES.contains(&code);
                traffic.outbound.add(growth, has_failed);
                let is_refused = REFUSED.contains(&status) || REFUSED_CODES.contains(&code);
                outbound_refused += if !has_failed && is_refused { growth } else { 0 };
            }
            let of_requests = metrics.denied.iter().filter(|denied| denied.what == "requests");
            inbound_refused += of_requests.filter_map(|denied| denied.grown).sum::<u64>();
            for meaning in [UnroutedRequests, RateLimited] {
                inbound_refused += metrics.grown(meaning).map(|(_, growth)| growth).sum::<u64>();
            }
            for (series, growth) in metrics.grown(InboundLatency) {
                let Ok(bound) = series.label("le").parse::<f64>() else { continue };
                match buckets.iter_mut().find(|(known, _)| known.total_cmp(&bound).is_eq()) {
                    Some((_, count)) => *count += growth,
                    None => buckets.push((bound, growth)),
                }
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
            memory.extend(metrics.value(ResidentMemory).map(|bytes| bytes as u64));
        }
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        traffic.inbound_refused = Some(inbound_refused);
        traffic.outbound_refused = Some(outbound_refused);
        traffic.latency_ms = Latency::from_buckets(&buckets);
        let count = u64::try_from(memory.len()).unwrap_or_default();
        traffic.memory_bytes = memory.iter().sum::<u64>().checked_div(count);
        (traffic.proxies > 0).then_some(traffic)
    }

    /// The numbers of every workload whose proxies were read twice, ordered by namespace, kind and name.
    pub fn of_cluster(cluster: &Cluster) -> Vec<WorkloadTraffic> {
        let pods = cluster.list::<Pod>();
        let meshed = || pods.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_some());
        let metrics = ReadMetrics::new(cluster.diagnostics().iter().filter_map(|one| one.said.of_proxy()), meshed());
        let owners = cluster.owners();
        let mut workloads: BTreeMap<(String, String, String), (Owner, Vec<&ProxyMetrics>)> = BTreeMap::new();
        for pod in meshed() {
            let Ok(metrics) = metrics.container(pod, PROXY_CONTAINER) else { continue };
            let owner = owners.owner(pod);
            let key = (owner.namespace.clone(), owner.kind.clone(), owner.name.clone());
            workloads.entry(key).or_insert_with(|| (owner, Vec::new())).1.push(metrics);
        }
        workloads.into_values().filter_map(|(owner, all)| WorkloadTraffic::new(&owner, all)).collect()
    }

    /// The requests to it, with those that its own proxies refused as failures; `None` if these are unknown.
    pub fn refused_inbound(&self) -> Option<Requests> {
        let failures = self.inbound_refused?;
        Some(Requests { requests: self.inbound.requests + failures, failures })
    }

    /// The requests that it sent, with those that were refused as failures; `None` if these are unknown.
    pub fn refused_outbound(&self) -> Option<Requests> {
        Some(Requests { requests: self.outbound.requests, failures: self.outbound_refused? })
    }

    /// Whether both are of one workload.
    pub fn is_same_workload(&self, other: &WorkloadTraffic) -> bool {
        (&self.kind, &self.namespace, &self.name) == (&other.kind, &other.namespace, &other.name)
    }

    /// Whether it is of this workload.
    pub fn is_of(&self, owner: &Owner) -> bool {
        (&self.kind, &self.namespace, &self.name) == (&owner.kind, &owner.namespace, &owner.name)
    }
}

/// The numbers in words.
impl std::fmt::Display for WorkloadTraffic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |requests: Requests, refused: Option<Requests>, what: &str| {
            let refused = refused.filter(|refused| refused.failures > 0);
            let refused = refused.map(|refused| format!(", {:.2} % refused", refused.failed_percent()));
            let refused = refused.unwrap_or_default();
            match requests.requests {
                0 => format!("no requests {what}{refused}"),
                n => format!("{n} requests {what}, {:.2} % failed{refused}", requests.failed_percent()),
            }
        };
        let received = of(self.inbound, self.refused_inbound(), "received");
        write!(f, "{received}; {}", of(self.outbound, self.refused_outbound(), "sent"))?;
        if let Some(Latency { p50, p95, p99 }) = self.latency_ms {
            write!(f, "; latency p50 {p50} ms, p95 {p95} ms, p99 {p99} ms")?;
        }
        if let Some(bytes) = self.memory_bytes {
            write!(f, "; memory {} MB per proxy", bytes >> 20)?;
        }
        write!(f, " (within {} seconds)", self.seconds)
    }
}

impl Requests {
    fn add(&mut self, count: u64, has_failed: bool) {
        self.requests += count;
        self.failures += if has_failed { count } else { 0 };
    }
}

impl Latency {
    /// The percentiles of a cumulative histogram, ordered by bound; `None` if it is empty or has no last bucket.
    fn from_buckets(buckets: &[(f64, u64)]) -> Option<Latency> {
        let (last, all) = *buckets.last()?;
        if last.is_finite() || all == 0 {
            return None;
        }
        let percentile = |share: u64| -> u64 {
            #[allow(clippy::cast_precision_loss, reason = "a latency is rounded anyway")]
            let rank = all as f64 * share as f64 / 100.0;
            let (mut lower, mut below) = (0.0, 0.0);
            for (bound, count) in buckets {
                #[allow(clippy::cast_precision_loss, reason = "a latency is rounded anyway")]
                let count = *count as f64;
                if count >= rank && bound.is_finite() && count > below {
                    let within: f64 = lower + (bound - lower) * (rank - below) / (count - below);
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a bound")]
                    return within.ceil() as u64;
                }
                if bound.is_finite() {
                    (lower, below) = (*bound, count);
                }
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bound")]
            let slowest = lower as u64;
            slowest
        };
        Some(Latency { p50: percentile(50), p95: percentile(95), p99: percentile(99) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(requests: u64, failures: u64) -> Requests {
        Requests { requests, failures }
    }

    #[test]
    fn few_failures_are_chance() {
        assert!(!requests(100, 3).is_worse_than(requests(100, 0), 1.0));
        assert!(requests(100, 12).is_worse_than(requests(100, 0), 1.0));
        assert!(requests(100_000, 2_000).is_worse_than(requests(100_000, 100), 1.0));
    }

    #[test]
    fn small_or_relative_change_is_not_worse() {
        // 0.5 percentage points.
        assert!(!requests(1_000_000, 6_000).is_worse_than(requests(1_000_000, 1_000), 1.0));
        // 20 % and 25 % failed.
        assert!(!requests(100_000, 25_000).is_worse_than(requests(100_000, 20_000), 1.0));
        assert!(!requests(100, 0).is_worse_than(requests(100, 50), 1.0));
    }

    #[test]
    fn percentiles_are_interpolated() {
        let buckets = [(10.0, 50), (20.0, 90), (50.0, 99), (f64::INFINITY, 100)];
        assert_eq!(Latency::from_buckets(&buckets), Some(Latency { p50: 10, p95: 37, p99: 50 }));
        assert_eq!(Latency::from_buckets(&[(10.0, 5)]), None);
        assert_eq!(Latency::from_buckets(&[]), None);
        // Beyond the last bound, only the bound is known.
        assert_eq!(Latency::from_buckets(&[(f64::INFINITY, 4)]), Some(Latency { p50: 0, p95: 0, p99: 0 }));
    }
}
