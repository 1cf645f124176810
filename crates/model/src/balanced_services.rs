//! Compares the number of endpoints in a proxy's load balancers with EndpointSlices. The metrics contain no
//! addresses: an equal number is only that, and a larger one is a difference only if nothing else explains
//! it.

use std::collections::{BTreeMap, HashMap};

use crate::fail_fast;
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::BalancerEndpoints;
use crate::objects::service::REMOTE_DISCOVERY;
use crate::objects::{EndpointSlice, Object, Service};

/// Maximum number of load balancers of a proxy for one port of a Service: HTTP/1 and HTTP/2 have their own, and so do
/// both address families. Their metrics are added up.
const MOST_BALANCERS: u64 = 4;
/// Time in seconds between EndpointSlices and metrics within which both are of the same moment.
const SAME_MOMENT: i64 = 60;

/// A port of a Service that a proxy balances.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BalancedService {
    pub namespace: String,
    /// The Service.
    pub name: String,
    pub port: String,
    /// Number of endpoints in the load balancers of the proxy.
    pub held: u64,
    /// Number of ready endpoints in EndpointSlices; `None` if unknown.
    pub ready: Option<u64>,
    /// Whether both agree.
    pub agreement: Agreement,
}

/// Whether a proxy's endpoints agree with EndpointSlices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Their numbers are equal.
    Agrees,
    /// The numbers differ, but a zone, the protocol or the moment can explain it; or one of them is unknown.
    Unknown,
    /// The proxy holds endpoints that no longer exist.
    Differs,
}

/// The endpoints of a Service.
#[derive(Debug, Clone, Copy, Default)]
struct EndpointCount {
    ready: u64,
    all: u64,
    /// Whether a proxy may use only those of its zone.
    is_zoned: bool,
}

/// The endpoints by namespace and name of the Service.
type EndpointCounts<'a> = HashMap<(&'a str, &'a str), EndpointCount>;

/// The endpoints in EndpointSlices, by Service.
pub struct Slices<'a> {
    /// `None` if EndpointSlices were not read completely.
    counts: Option<EndpointCounts<'a>>,
    /// Services with endpoints in other clusters, which EndpointSlices do not list.
    remote: Vec<(&'a str, &'a str)>,
    /// The moment of the EndpointSlices, if known.
    at: Option<i64>,
}

impl<'a> Slices<'a> {
    /// All EndpointSlices, or `None` if some were not read; Services; and the moment of both in seconds, if known.
    pub fn new(slices: Option<&'a [EndpointSlice]>, services: &'a [Service], at: Option<i64>) -> Slices<'a> {
        let is_remote = |service: &&Service| {
            service.metadata.label(REMOTE_DISCOVERY).is_some()
                || service.annotation(REMOTE_DISCOVERY).is_some()
                || service.spec.selector.is_empty()
        };
        Slices {
            counts: slices.map(counted),
            remote: services.iter().filter(is_remote).map(|service| service.metadata.key()).collect(),
            at,
        }
    }

    /// The Services that a proxy balances.
    pub fn compared(&self, metrics: &ProxyMetrics) -> Vec<BalancedService> {
        let mut balancers: BTreeMap<Vec<(&str, &str)>, BalancedEndpoints> = BTreeMap::new();
        for series in metrics.series(BalancerEndpoints).filter(|one| one.label("backend_kind") == "Service") {
            balancers.entry(fail_fast::key(series)).or_default().add(series);
        }
        let is_same_moment = is_same_moment(metrics, self.at);
        let mut services: BTreeMap<(String, String, String), BalancedService> = BTreeMap::new();
        for held in balancers.into_values() {
            // A load balancer without requests is empty until the next one.
            let Some(series) = held.series.filter(|_| held.now > 0) else { continue };
            let one = self.one(series, &held, is_same_moment);
            let key = (one.namespace.clone(), one.name.clone(), one.port.clone());
            match services.get_mut(&key) {
                Some(known) if known.agreement >= one.agreement => {}
                Some(known) => *known = one,
                None => _ = services.insert(key, one),
            }
        }
        services.into_values().collect()
    }

    fn one(&self, series: &Series, held: &BalancedEndpoints<'_>, is_same_moment: bool) -> BalancedService {
        let key = (series.label("backend_namespace"), series.label("backend_name"));
        let counts = self.counts.as_ref().filter(|_| !self.remote.contains(&key));
        let counts = counts.map(|counts| counts.get(&key).copied().unwrap_or_default());
        let agreement = match counts.filter(|_| is_same_moment) {
            None => Agreement::Unknown,
            Some(count) if held.now == count.ready => Agreement::Agrees,
            Some(count) if held.exceeds(count) => Agreement::Differs,
            Some(_) => Agreement::Unknown,
        };
        BalancedService {
            namespace: key.0.to_owned(),
            name: key.1.to_owned(),
            port: series.label("backend_port").to_owned(),
            held: held.now,
            ready: counts.map(|count| count.ready),
            agreement,
        }
    }
}

/// Whether objects of a moment, in seconds, are as old as the metrics of a process.
pub fn is_same_moment(metrics: &ProxyMetrics, at: Option<i64>) -> bool {
    at.zip(metrics.read_at).is_some_and(|(at, read)| {
        let first = read.saturating_sub(metrics.period.unwrap_or_default());
        (first.saturating_sub(SAME_MOMENT)..=read.saturating_add(SAME_MOMENT)).contains(&at)
    })
}

/// The number of endpoints of each Service.
fn counted(slices: &[EndpointSlice]) -> EndpointCounts<'_> {
    let mut counts = EndpointCounts::new();
    for slice in slices {
        let Some(service) = slice.service() else { continue };
        let of_service = counts.entry((slice.metadata.namespace.as_str(), service)).or_default();
        for endpoint in &slice.endpoints {
            of_service.ready += u64::from(endpoint.is_ready());
            of_service.all += 1;
            of_service.is_zoned |= endpoint.hints.is_some();
        }
    }
    counts
}

/// Endpoints of the load balancers with the same labels.
#[derive(Default)]
struct BalancedEndpoints<'m> {
    series: Option<&'m Series>,
    now: u64,
    /// Number in the earlier of two reads; `None` if there was one read.
    before: Option<u64>,
}

impl<'m> BalancedEndpoints<'m> {
    fn add(&mut self, series: &'m Series) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let whole = |value: f64| value as u64;
        self.series.get_or_insert(series);
        self.now = self.now.saturating_add(whole(series.value));
        if let Some(before) = series.before {
            self.before = Some(self.before.unwrap_or_default().saturating_add(whole(before)));
        }
    }

    /// Whether both reads have more endpoints than exist, and no number of load balancers explains it: each holds
    /// all ready endpoints, or those of the proxy's zone.
    fn exceeds(&self, EndpointCount { ready, all, is_zoned }: EndpointCount) -> bool {
        let is_one = |share: u64| share == ready || (is_zoned && share < ready);
        let is_explained = |held: u64| {
            held <= all || (2..=MOST_BALANCERS).any(|count| held.is_multiple_of(count) && is_one(held / count))
        };
        // Reads of older versions are sums over the Services that the requests were sent to.
        let has_parent = self.series.is_some_and(|series| !series.label("parent_name").is_empty());
        has_parent && self.before.is_some_and(|before| !is_explained(before)) && !is_explained(self.now)
    }
}
