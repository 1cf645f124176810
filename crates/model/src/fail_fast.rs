//! Load balancers of a proxy that are in fail-fast: they have no ready endpoint, and requests to them fail at once.
//!
//! An open circuit breaker keeps its endpoint pending (`linkerd/app/outbound/src/http/concrete/balance.rs` of
//! linkerd2-proxy: the gauge of endpoints is outside of the gate), so it looks like a connection that is not made.
//!
//! A proxy counts the moment at which a load balancer enters fail-fast, so the counter stands still during a lasting
//! outage. Such a load balancer shows in its gate, which is not open, together with endpoints that stay pending or
//! requests that fail (`linkerd/proxy/balance/queue/src/failfast.rs` of linkerd2-proxy).

use std::collections::BTreeMap;

use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{BackendFailFasts, BalancerEndpoints, BalancerGateOpenedAt, BalancerGateShuts};

/// The annotations of a Service by which its load balancers break circuits: endpoints that answer with errors get no
/// requests for some time (linkerd2 `policy-controller/k8s/index/src/outbound/index.rs`).
pub const BREAKER: [&str; 2] =
    ["balancer.linkerd.io/failure-accrual", "balancer.alpha.linkerd.io/failure-accrual-success-rate"];

/// A load balancer for a Service that is, or was between two reads, in fail-fast.
#[derive(Debug, Clone, Copy)]
pub struct FailFastBalancer<'m> {
    /// A series of it: its `backend_*` labels name the Service.
    series: &'m Series,
    /// Number of endpoints to which it is connecting; 0 also if it was dropped since, because no request came.
    pub pending: f64,
    /// Whether it entered fail-fast between the two reads.
    pub has_entered: bool,
    /// Number of HTTP requests that it failed between the two reads.
    pub failed: u64,
    /// Whether it is in fail-fast at the later read.
    pub is_shut: bool,
}

impl<'m> FailFastBalancer<'m> {
    /// Namespace and name of the Service.
    pub fn service(&self) -> (&'m str, &'m str) {
        service(self.series)
    }

    /// The port of the Service.
    pub fn port(&self) -> &'m str {
        self.series.label("backend_port")
    }

    /// Adds another load balancer for the same port: HTTP and TCP connections, and each route, have their own.
    pub fn merge(&mut self, other: FailFastBalancer<'m>) {
        self.pending = self.pending.max(other.pending);
        self.has_entered |= other.has_entered;
        self.failed += other.failed;
        self.is_shut |= other.is_shut;
    }
}

/// State of the load balancers with the same labels.
#[derive(Default)]
struct State<'m> {
    series: Option<&'m Series>,
    ready: f64,
    pending: f64,
    was_pending: bool,
    is_open: bool,
    has_entered: bool,
    failed: u64,
}

/// The load balancers for Services that are in fail-fast at the later of two reads.
pub fn balancers(metrics: &ProxyMetrics) -> Vec<FailFastBalancer<'_>> {
    let mut all = failing(metrics);
    all.retain(|one| one.is_shut);
    all
}

/// The load balancers for Services that are in fail-fast at the later of two reads, or failed requests or entered it
/// between them.
pub fn failing(metrics: &ProxyMetrics) -> Vec<FailFastBalancer<'_>> {
    failing_and_partial(metrics).0
}

/// The same, and those that reach only some of their endpoints.
pub fn failing_and_partial(metrics: &ProxyMetrics) -> (Vec<FailFastBalancer<'_>>, Vec<PartialBalancer<'_>>) {
    let (mut failing, mut partial) = (Vec::new(), Vec::new());
    for state in states(metrics).into_values() {
        partial.extend(state.partial());
        failing.extend(state.failing());
    }
    (failing, partial)
}

/// A load balancer for a Service that reaches some of its endpoints at the later of two reads, and not the others.
#[derive(Debug, Clone, Copy)]
pub struct PartialBalancer<'m> {
    series: &'m Series,
    /// Number of endpoints that take requests.
    pub ready: f64,
    /// Number of endpoints to which it is connecting.
    pub pending: f64,
    /// Whether endpoints were pending at the earlier read too.
    pub stays: bool,
}

impl<'m> PartialBalancer<'m> {
    /// Namespace and name of the Service.
    pub fn service(&self) -> (&'m str, &'m str) {
        service(self.series)
    }

    /// The port of the Service.
    pub fn port(&self) -> &'m str {
        self.series.label("backend_port")
    }
}

/// The state of each load balancer.
fn states(metrics: &ProxyMetrics) -> BTreeMap<Vec<(&str, &str)>, State<'_>> {
    let mut states: BTreeMap<Vec<(&str, &str)>, State<'_>> = BTreeMap::new();
    for series in metrics.series(BalancerEndpoints) {
        let state = states.entry(key(series)).or_default();
        state.series.get_or_insert(series);
        match series.label("endpoint_state") {
            "ready" => state.ready += series.value,
            "pending" => {
                state.pending += series.value;
                state.was_pending |= series.before.is_some_and(|before| before > 0.0);
            }
            _ => {}
        }
    }
    for series in metrics.series(BalancerGateOpenedAt) {
        states.entry(key(series)).or_default().is_open |= series.value > 0.0;
    }
    for (series, _) in metrics.grown(BalancerGateShuts) {
        let state = states.entry(key(series)).or_default();
        state.series.get_or_insert(series);
        state.has_entered = true;
    }
    for (series, failed) in metrics.grown(BackendFailFasts) {
        let state = states.entry(key(series)).or_default();
        state.series.get_or_insert(series);
        state.failed += failed;
    }
    states
}

/// Namespace and name of the Service of a load balancer.
fn service(series: &Series) -> (&str, &str) {
    (series.label("backend_namespace"), series.label("backend_name"))
}

/// The labels that load balancers have in all of their families.
pub(super) fn key(series: &Series) -> Vec<(&str, &str)> {
    let labels = series.labels.iter().filter(|(name, _)| *name != "endpoint_state");
    labels.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

impl<'m> State<'m> {
    fn failing(self) -> Option<FailFastBalancer<'m>> {
        let State { series, ready, pending, was_pending, is_open, has_entered, failed } = self;
        let series = series.filter(|series| series.label("backend_kind") == "Service")?;
        let stays_pending = was_pending && pending > 0.0;
        let is_shut = !is_open && ready == 0.0;
        (has_entered || failed > 0 || (is_shut && stays_pending)).then_some(FailFastBalancer {
            series,
            pending,
            has_entered,
            failed,
            is_shut,
        })
    }
    fn partial(&self) -> Option<PartialBalancer<'m>> {
        let State { series, ready, pending, was_pending, .. } = *self;
        let series = series.filter(|series| series.label("backend_kind") == "Service")?;
        (ready > 0.0 && pending > 0.0).then_some(PartialBalancer { series, ready, pending, stays: was_pending })
    }
}
