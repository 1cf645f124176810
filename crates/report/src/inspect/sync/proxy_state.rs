//! The state of one proxy: what its metrics show, compared with the objects of the cluster.

use crate::fetched::Fetched;
use crate::inspect::evidence::PolicyEvidence;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::knowledge::MetricMeaning::{AppliedPolicies, BalancerEndpoints, CertificateExpiresAt};
use crate::model::Cluster;
pub use crate::model::applied_policies::AppliedPolicy;
use crate::model::applied_policies::compared;
use crate::model::balanced_services::Slices;
pub use crate::model::balanced_services::{Agreement, BalancedService};
use crate::model::cluster::TimeSource;
use crate::model::control_clients::{CLIENTS, ClientState, ControlClient};
use crate::model::installed::COMPONENT;
use crate::objects::{EndpointSlice, Pod, Service};

/// Time in seconds within which a proxy gets its first certificate.
const FIRST_CERTIFICATE: i64 = 60;
/// The component whose pods serve each client of the control plane, in the order of [`CLIENTS`].
const SERVED_BY: [&str; CLIENTS.len()] = ["destination", "destination", "identity"];

/// What the metrics of a proxy show.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyState {
    pub certificate: Certificate,
    /// Its clients of the control plane, in the order of [`CLIENTS`].
    pub clients: [ControlClient; CLIENTS.len()],
    /// The ready replicas of the component of each client. A proxy of the component uses its own pod.
    pub replicas: [Vec<String>; CLIENTS.len()],
    /// Whether it exports the endpoints of its load balancers, and all of them were kept.
    pub knows_endpoints: bool,
    /// The Services that it balances.
    pub services: Vec<BalancedService>,
    /// The policies that it applied between the two reads, by port; `None` if they are not known.
    pub policies: Option<Vec<AppliedPolicy>>,
    /// Seconds since its start; `None` if unknown.
    pub uptime: Option<i64>,
    /// Seconds between the two reads; `None` if it was read once.
    pub period: Option<i64>,
    /// The version that the proxy reports about itself.
    pub build: Option<String>,
}

/// The certificate of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// Valid for this many seconds.
    Valid(i64),
    /// Expired this many seconds ago.
    Expired(i64),
    /// The proxy has just started and has none yet.
    NotYet,
    /// The proxy never had one.
    Never,
    /// The metrics do not show it.
    Unknown,
}

/// Whether a proxy is in sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxySync {
    /// Nothing that was read shows otherwise.
    InSync,
    /// Its certificate or its connections are not known.
    Unknown,
    /// Its metrics were not read.
    NotRead,
    /// Something is out of sync.
    OutOfSync,
}

/// Since when a state exists, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// A time in the metrics states it.
    Exactly(i64),
    /// Both reads show it.
    AtLeast(i64),
}

/// The objects that proxies are compared with.
pub(super) struct Comparison<'a> {
    slices: Slices<'a>,
    /// `None` if a part of the policy is not known.
    policy: Option<PolicyEvidence<'a>>,
    /// Pods of the control plane that are ready, with their component.
    replicas: Vec<(&'a str, &'a Pod)>,
    home: &'a str,
    /// The moment of the objects in seconds, if known.
    at: Option<i64>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        cluster: &'a Cluster,
        knowledge: &Knowledge,
        (pods, services): (&'a [Pod], &'a [Service]),
    ) -> Comparison<'a> {
        let complete =
            |kind: Kind| cluster.answer(&Item::List(kind)).filter(|answer| answer.fetched == Fetched::Complete);
        let all = complete(Kind::EndpointSlice).filter(|_| complete(Kind::Service).is_some());
        let knows_moment = cluster.live || cluster.time_source != TimeSource::Clock;
        let at = knows_moment.then(|| cluster.at.as_second());
        let policy = PolicyEvidence::read(cluster, knowledge).ok().filter(|policy| policy.gaps.is_empty());
        let home = cluster.namespaces.control_plane.as_str();
        let own = pods.iter().filter(|pod| pod.metadata.namespace == home && !pod.is_finished() && pod.is_ready());
        Comparison {
            slices: Slices::new(all.map(|answer| answer.objects::<EndpointSlice>()), services, at),
            policy,
            replicas: own.filter_map(|pod| Some((pod.metadata.label(COMPONENT)?, pod))).collect(),
            home,
            at,
        }
    }

    /// The policies that a proxy applied; `None` if they or those of the objects are not known.
    fn policies(&self, pod: &'a Pod, metrics: &ProxyMetrics) -> Option<Vec<AppliedPolicy>> {
        let is_known = metrics.period.is_some() && !metrics.truncated.contains(&AppliedPolicies);
        let policy = self.policy.as_ref().filter(|_| is_known)?;
        let workload = policy.workload(pod)?;
        Some(compared(metrics, &policy.index, &workload, self.at))
    }

    /// The ready replicas that serve each client of a pod's proxy. In a pod of the component the proxy uses its own.
    fn replicas(&self, pod: &Pod) -> [Vec<String>; CLIENTS.len()] {
        let own = pod.metadata.label(COMPONENT).filter(|_| pod.metadata.namespace == self.home);
        SERVED_BY.map(|component| {
            let is_own = own == Some(component);
            let of_component = self.replicas.iter().filter(|(of, _)| *of == component);
            let serving = of_component.filter(|(_, one)| !is_own || one.metadata.name == pod.metadata.name);
            serving.map(|(_, one)| one.metadata.name.clone()).collect()
        })
    }
}

impl ProxyState {
    pub(super) fn new<'a>(pod: &'a Pod, metrics: &ProxyMetrics, with: &Comparison<'a>) -> ProxyState {
        let is_kept = !metrics.truncated.contains(&BalancerEndpoints);
        // A proxy that never balanced a Service exports the family only for its clients of the control plane.
        let is_exported = metrics.exported.contains(&BalancerEndpoints) || metrics.is_whole();
        ProxyState {
            certificate: Certificate::from_metrics(metrics),
            clients: CLIENTS.map(|client| ControlClient::new(metrics, client)),
            replicas: with.replicas(pod),
            knows_endpoints: is_exported && is_kept,
            services: with.slices.compared(metrics),
            policies: with.policies(pod, metrics),
            uptime: metrics.read_at.zip(metrics.started_at).map(|(read, started)| read.saturating_sub(started)),
            period: metrics.period,
            build: metrics.build().map(str::to_owned),
        }
    }

    /// Whether the proxy is in sync. Every comparison must have been possible.
    pub(super) fn state(&self) -> ProxySync {
        let agreement = self.agreement();
        let clients = || self.clients.iter().map(|client| client.state);
        let is_bad = matches!(self.certificate, Certificate::Expired(_) | Certificate::Never)
            || clients().any(|state| state == ClientState::CutOff)
            || agreement == Some(Agreement::Differs);
        let unclear = [ClientState::Unknown, ClientState::Failing, ClientState::Connecting];
        let is_unknown = self.certificate == Certificate::Unknown
            || self.period.is_none()
            || clients().any(|state| unclear.contains(&state))
            || agreement != Some(Agreement::Agrees);
        match () {
            () if is_bad => ProxySync::OutOfSync,
            () if is_unknown => ProxySync::Unknown,
            () => ProxySync::InSync,
        }
    }

    /// The worst agreement of its endpoints and policies; `None` if some were not compared. A proxy without calls has
    /// no endpoints, but every proxy has a policy.
    fn agreement(&self) -> Option<Agreement> {
        let policies = self.policies.iter().flatten().map(|one| one.agreement);
        let worst = self.services.iter().map(|one| one.agreement).chain(policies).max();
        let is_compared = self.knows_endpoints && self.policies.as_ref().is_some_and(|policies| !policies.is_empty());
        worst.filter(|worst| is_compared || *worst == Agreement::Differs)
    }

    /// How long it has been in its state.
    pub(super) fn since(&self) -> Option<Since> {
        let expired = match self.certificate {
            Certificate::Expired(seconds) => Some(seconds),
            Certificate::Never => self.uptime,
            _ => None,
        };
        let cut = self.clients.iter().filter(|client| client.state == ClientState::CutOff);
        let longest = cut.filter_map(|client| client.since).chain(expired).max();
        longest.map(Since::Exactly).or(self.period.map(Since::AtLeast))
    }
}

impl Certificate {
    fn from_metrics(metrics: &ProxyMetrics) -> Certificate {
        let has_expiry = metrics.exported.contains(&CertificateExpiresAt);
        match (metrics.expires_at.filter(|_| has_expiry), metrics.read_at) {
            (Some(0), Some(read)) => {
                let is_new =
                    metrics.started_at.is_some_and(|started| read.saturating_sub(started) <= FIRST_CERTIFICATE);
                if is_new { Certificate::NotYet } else { Certificate::Never }
            }
            (Some(expires), Some(read)) if expires <= read => Certificate::Expired(read.saturating_sub(expires)),
            (Some(expires), Some(read)) => Certificate::Valid(expires.saturating_sub(read)),
            (None, _) | (_, None) => Certificate::Unknown,
        }
    }
}
