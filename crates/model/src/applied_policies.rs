//! Compares the inbound policy that a proxy applies with the objects. The counters of a proxy name the Server or
//! default policy of each port, and the authorization by which it allowed a request or connection.

use std::collections::{BTreeMap, BTreeSet};

use crate::balanced_services::{Agreement, is_same_moment};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::AppliedPolicies;
use crate::policy::{Inbound, Index, TakenBy, Workload};

/// The labels `srv_kind` and `authz_kind` of defaults.
const DEFAULT: &str = "default";
/// The label `srv_kind` of Servers.
const SERVER: &str = "server";

/// The policy of a port that a proxy applied between two reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedPolicy {
    pub port: u16,
    /// The policy that it applied, in words.
    pub applied: String,
    /// The policy of the objects, in words.
    pub expected: String,
    /// Whether both agree. Unknown if objects and metrics are not of the same moment.
    pub agreement: Agreement,
}

/// A Server or default policy, as metrics name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PolicyName<'m> {
    is_server: bool,
    name: &'m str,
}

/// The counters of a port that grew.
#[derive(Default)]
struct Growth<'m> {
    policies: BTreeSet<PolicyName<'m>>,
    /// The AuthorizationPolicies and ServerAuthorizations by which it allowed clients, of each policy.
    authorizations: BTreeSet<(PolicyName<'m>, &'m str)>,
}

/// The policies that a proxy applied between two reads, by port. `at`: the moment of the objects in seconds, if known.
/// Empty if nothing reached the proxy, or if it was read once.
pub fn compared<'a>(
    metrics: &ProxyMetrics,
    index: &Index<'a>,
    workload: &Workload<'a>,
    at: Option<i64>,
) -> Vec<AppliedPolicy> {
    let each = grown(metrics).into_iter();
    each.map(|(port, growth)| growth.compared(port, &index.inbound(workload, port), metrics, at)).collect()
}

fn grown(metrics: &ProxyMetrics) -> BTreeMap<u16, Growth<'_>> {
    let mut ports: BTreeMap<u16, Growth<'_>> = BTreeMap::new();
    for (series, _) in metrics.grown(AppliedPolicies) {
        let Some(policy) = PolicyName::new(series.label("srv_kind"), series.label("srv_name")) else {
            continue;
        };
        let Ok(port) = series.label("target_port").parse() else { continue };
        let growth = ports.entry(port).or_default();
        growth.policies.insert(policy);
        if ![DEFAULT, ""].contains(&series.label("authz_kind")) {
            growth.authorizations.insert((policy, series.label("authz_name")));
        }
    }
    for denied in metrics.denied.iter().filter(|one| one.grown.unwrap_or_default() > 0) {
        if let Some(policy) = PolicyName::new(&denied.kind, &denied.name) {
            ports.entry(denied.port).or_default().policies.insert(policy);
        }
    }
    ports.retain(|port, _| *port != 0);
    ports
}

impl<'m> PolicyName<'m> {
    /// `None` for kinds that are not known.
    fn new(kind: &str, name: &'m str) -> Option<PolicyName<'m>> {
        let is_server = kind == SERVER;
        (is_server || kind == DEFAULT).then_some(PolicyName { is_server, name })
    }

    fn from_inbound(inbound: &Inbound<'m>) -> PolicyName<'m> {
        match inbound.taken_by {
            TakenBy::Server(server) => PolicyName { is_server: true, name: &server.metadata.name },
            TakenBy::Default(policy) => PolicyName { is_server: false, name: policy.as_str() },
        }
    }

    fn text(self) -> String {
        let kind = if self.is_server { "Server" } else { "default policy" };
        format!("{kind} {}", self.name)
    }
}

impl Growth<'_> {
    fn compared(&self, port: u16, inbound: &Inbound<'_>, metrics: &ProxyMetrics, at: Option<i64>) -> AppliedPolicy {
        let expected = PolicyName::from_inbound(inbound);
        let routes = inbound.routes.iter().flat_map(|route| &route.authorizations);
        let names: BTreeSet<&str> = inbound.authorizations.iter().chain(routes).map(|one| one.by.name()).collect();
        // A port whose policy changed between the reads has both: the proxy received the change.
        let has_policy = self.policies.contains(&expected);
        let own = self.authorizations.iter().filter(|(policy, _)| *policy == expected);
        let unknown: Vec<&str> = own.map(|(_, name)| *name).filter(|name| !names.contains(name)).collect();
        let applied = match (has_policy, unknown.first()) {
            (true, Some(name)) => format!("{}, authorization {name}", expected.text()),
            (true, None) => expected.text(),
            (false, _) => self.policies.iter().map(|one| one.text()).collect::<Vec<_>>().join(", "),
        };
        let agreement = match () {
            () if has_policy && unknown.is_empty() => Agreement::Agrees,
            () if is_same_moment(metrics, at) && !is_new(inbound, metrics) => Agreement::Differs,
            () => Agreement::Unknown,
        };
        AppliedPolicy { port, applied, expected: expected.text(), agreement }
    }
}

/// Whether the Server of a port was created between the reads or later, so that the proxy may not have it yet.
fn is_new(inbound: &Inbound<'_>, metrics: &ProxyMetrics) -> bool {
    let TakenBy::Server(server) = inbound.taken_by else { return false };
    let first = metrics.read_at.map(|read| read.saturating_sub(metrics.period.unwrap_or_default()));
    let created = server.metadata.creation_timestamp.get();
    first.zip(created).is_some_and(|(first, created)| created.as_second() >= first)
}
