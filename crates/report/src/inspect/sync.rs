//! `meshdoctor sync`: whether each control-plane replica and each sampled proxy is in sync with the mesh: its
//! certificate, its connections to the control plane, its endpoints, and the findings of its metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Lists;
use crate::checks::{self, Check, CheckResult, Outcome, Settings, evaluate};
use crate::fetched::{Fetched, Why};
use crate::finding::{Evidence, Finding, Place, Severity, Subject};
use crate::item::diagnostic::{Diagnostic, FailedRead, MetricsSample};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::knowledge::MetricMeaning::{BalancerEndpoints, CertificateExpiresAt, ControlEndpoints};
use crate::missing::Missing;
use crate::model::Cluster;
use crate::model::balanced_services::Slices;
pub use crate::model::balanced_services::{Agreement, BalancedService};
use crate::model::cluster::TimeSource;
use crate::model::control_clients::{CLIENTS, ClientState};
use crate::model::control_plane::{pod_versions, proxy_version};
use crate::model::installed::COMPONENT;
use crate::model::read_metrics::{NoMetrics, ReadMetrics};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{EndpointSlice, Pod, Service};
use crate::policy;
use crate::request::Request;

/// The smallest minor number that only versions of the proxy have; those of Linkerd's releases are below.
const LEAST_PROXY_MINOR: u32 = 100;
/// Time in seconds within which a proxy gets its first certificate.
const FIRST_CERTIFICATE: i64 = 60;

/// The answer.
pub struct Sync<'a> {
    /// The control plane's replicas, then the proxies, each by namespace and name.
    pub rows: Vec<Row<'a>>,
    /// The findings of the checks of metrics.
    pub findings: Vec<Finding>,
    /// Number of proxies that the limits of the sample left out.
    pub left: usize,
    /// The first pods among them, as `NAMESPACE/NAME`.
    pub left_out: Vec<String>,
    /// Evidence that was requested and unavailable.
    pub gaps: Vec<Missing>,
    /// Checks of metrics that could not be evaluated completely because of evidence that was not provided.
    pub not_evaluated: Vec<&'static str>,
}

/// A pod with a proxy.
pub struct Row<'a> {
    pub pod: &'a Pod,
    /// Its component, if it is a replica of the control plane.
    pub component: Option<&'a str>,
    /// The version of its component or proxy; `None` if no image tag or annotation states it.
    pub version: Option<String>,
    /// What its metrics show, or why they were not read.
    pub proxy: Result<ProxyState, String>,
    /// The findings about it: positions in [`Sync::findings`].
    pub problems: Vec<usize>,
}

/// What the metrics of a proxy show.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyState {
    pub certificate: Certificate,
    /// Its clients of the control plane, in the order of [`CLIENTS`].
    pub clients: [ClientState; CLIENTS.len()],
    /// Whether it exports the endpoints of its load balancers, and all of them were kept.
    pub knows_endpoints: bool,
    /// The Services that it balances.
    pub services: Vec<BalancedService>,
    /// Seconds since its start; `None` if unknown.
    pub uptime: Option<i64>,
    /// Seconds between the two reads; `None` if it was read once.
    pub period: Option<i64>,
    /// The version that the proxy reports about itself.
    pub build: Option<String>,
}

/// Proxies of one image that report different versions of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedBuild {
    pub image: String,
    /// The pods of each version, as `NAMESPACE/NAME`.
    pub versions: BTreeMap<String, Vec<String>>,
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
pub enum State {
    /// Nothing that was read shows otherwise.
    InSync,
    /// Its certificate or its connections are not known.
    Unknown,
    /// Its metrics were not read.
    NotRead,
    /// Something is out of sync.
    OutOfSync,
}

/// The checks that read metrics.
pub fn metric_checks() -> Vec<&'static Check> {
    checks::all().filter(|check| check.card().front.needs.contains(&Item::Diagnostics)).collect()
}

/// The evidence to read.
pub fn items() -> BTreeSet<Item> {
    let kinds = [
        Kind::Namespace,
        Kind::Pod,
        Kind::Service,
        Kind::EndpointSlice,
        Kind::ReplicaSet,
        Kind::Job,
        Kind::Deployment,
        Kind::CustomResourceDefinition,
    ];
    let mut items = policy::run_items(&metric_checks());
    items.extend(kinds.map(Item::List));
    items.insert(Item::Diagnostics);
    items
}

/// The endpoints in EndpointSlices; unknown if they or the Services were not read completely.
fn slices<'a>(cluster: &'a Cluster, services: &'a [Service]) -> Slices<'a> {
    let complete =
        |kind: Kind| cluster.answer(&Item::List(kind)).filter(|answer| answer.fetched == Fetched::Complete);
    let all = complete(Kind::EndpointSlice).filter(|_| complete(Kind::Service).is_some());
    let knows_moment = cluster.live || cluster.time_source != TimeSource::Clock;
    let at = knows_moment.then(|| cluster.at.as_second());
    Slices::new(all.map(|answer| answer.objects::<EndpointSlice>()), services, at)
}

impl<'a> Sync<'a> {
    /// The state of the mesh, limited to proxies in these namespaces; all if empty.
    pub fn read(cluster: &'a Cluster, knowledge: &Knowledge, namespaces: &[String]) -> Sync<'a> {
        let mut lists = Lists::of(cluster);
        let pods = lists.all::<Pod>();
        let services = lists.all::<Service>();
        lists.all::<EndpointSlice>();
        let slices = slices(cluster, services);
        let given = diagnostics(cluster);
        let sample = given.iter().find_map(|one| one.said.of_sample());
        let results = evaluate(&metric_checks(), cluster, knowledge, &Settings::default());
        let mut rows = rows(pods, given, (cluster, namespaces), &slices);
        let findings = findings(&results, namespaces, cluster.namespaces.control_plane.as_str());
        for row in &mut rows {
            let is_about = |(at, finding): (usize, &Finding)| is_about(finding, row.pod).then_some(at);
            row.problems = findings.iter().enumerate().filter_map(is_about).collect();
        }
        let mut gaps = lists.gaps;
        gaps.extend(
            results.iter().flat_map(|result| &result.gaps).filter(|gap| gap.was_asked_for()).cloned(),
        );
        gaps.extend(unread(cluster));
        gaps.sort();
        gaps.dedup();
        Sync {
            rows,
            findings,
            left: sample.map_or(0, |sample| sample.left),
            left_out: sample.map_or_else(Vec::new, |sample| sample.left_out.clone()),
            gaps,
            not_evaluated: not_evaluated(&results),
        }
    }

    /// Whether a control-plane replica or proxy is out of sync, or a problem was found.
    pub fn is_out_of_sync(&self) -> bool {
        self.rows.iter().any(|row| row.state(self) == State::OutOfSync) || self.problems().next().is_some()
    }

    /// Whether something that was requested is unknown.
    pub fn is_incomplete(&self) -> bool {
        !self.gaps.is_empty()
            || self.left > 0
            || self.rows.is_empty()
            || self.rows.iter().any(|row| matches!(row.state(self), State::Unknown | State::NotRead))
    }

    /// Images whose proxies report different versions, or a version that contradicts the image's tag.
    pub fn mixed_builds(&self) -> Vec<MixedBuild> {
        let mut images: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for row in &self.rows {
            let build = row.proxy.as_ref().ok().and_then(|proxy| proxy.build.clone());
            if let (Some(build), Some(proxy)) = (build, row.pod.spec.proxy()) {
                let meta = &row.pod.metadata;
                let pods = images.entry(proxy.image.as_str()).or_default().entry(build).or_default();
                pods.push(format!("{}/{}", meta.namespace, meta.name));
            }
        }
        images.retain(|image, versions| {
            versions.len() > 1 || versions.keys().any(|version| contradicts(image, version))
        });
        let each = images.into_iter();
        each.map(|(image, versions)| MixedBuild { image: image.to_owned(), versions }).collect()
    }

    /// The findings that are more than information.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity > Severity::Info)
    }

    /// The problems that are about no row: of Services, and of the control plane as a whole.
    pub fn other_problems(&self) -> impl Iterator<Item = &Finding> {
        let is_of_row = |at: &usize| self.rows.iter().any(|row| row.problems.contains(at));
        self.findings.iter().enumerate().filter(move |(at, _)| !is_of_row(at)).map(|(_, finding)| finding)
    }
}

impl Row<'_> {
    /// Whether it is in sync.
    pub fn state(&self, sync: &Sync<'_>) -> State {
        let has_problem = self
            .problems
            .iter()
            .filter_map(|at| sync.findings.get(*at))
            .any(|one| one.severity > Severity::Info);
        match &self.proxy {
            _ if has_problem => State::OutOfSync,
            Err(_) => State::NotRead,
            Ok(proxy) => proxy.state(),
        }
    }
}

impl ProxyState {
    fn of(metrics: &ProxyMetrics, slices: &Slices<'_>) -> ProxyState {
        let is_kept = !metrics.truncated.contains(&BalancerEndpoints);
        // A proxy that never balanced a Service exports the family only for its clients of the control plane.
        let is_exported =
            [BalancerEndpoints, ControlEndpoints].iter().any(|one| metrics.exported.contains(one));
        ProxyState {
            certificate: Certificate::of(metrics),
            clients: CLIENTS.map(|client| ClientState::of(metrics, client)),
            knows_endpoints: is_exported && is_kept,
            services: slices.compared(metrics),
            uptime: metrics
                .read_at
                .zip(metrics.started_at)
                .map(|(read, started)| read.saturating_sub(started)),
            period: metrics.period,
            build: metrics.build().map(str::to_owned),
        }
    }

    fn state(&self) -> State {
        let is_bad = matches!(self.certificate, Certificate::Expired(_) | Certificate::Never)
            || self.clients.contains(&ClientState::CutOff)
            || self.services.iter().any(|service| service.agreement == Agreement::Differs);
        let unclear = [ClientState::Unknown, ClientState::Failing];
        let is_unknown = self.certificate == Certificate::Unknown
            || self.clients.iter().any(|client| unclear.contains(client));
        match () {
            () if is_bad => State::OutOfSync,
            () if is_unknown => State::Unknown,
            () => State::InSync,
        }
    }
}

impl Certificate {
    fn of(metrics: &ProxyMetrics) -> Certificate {
        let has_expiry = metrics.exported.contains(&CertificateExpiresAt);
        match (metrics.expires_at.filter(|_| has_expiry), metrics.read_at) {
            (Some(0), Some(read)) => {
                let is_new = metrics
                    .started_at
                    .is_some_and(|started| read.saturating_sub(started) <= FIRST_CERTIFICATE);
                if is_new { Certificate::NotYet } else { Certificate::Never }
            }
            (Some(expires), Some(read)) if expires <= read => {
                Certificate::Expired(read.saturating_sub(expires))
            }
            (Some(expires), Some(read)) => Certificate::Valid(expires.saturating_sub(read)),
            (None, _) | (_, None) => Certificate::Unknown,
        }
    }
}

fn diagnostics(cluster: &Cluster) -> &[Diagnostic] {
    cluster.answer(&Item::Diagnostics).map_or(&[], |answer| answer.objects())
}

/// The reason why no metrics were read at all, if they were requested.
fn unread(cluster: &Cluster) -> Option<Missing> {
    let answer = cluster.answer(&Item::Diagnostics)?;
    match &answer.fetched {
        Fetched::Complete => None,
        Fetched::Missing { reason } => Some(Missing::whole(answer.request.clone(), reason.clone())),
        Fetched::Partial { reasons } => {
            let reason = reasons.first().cloned().unwrap_or(Why::NotCaptured);
            Some(Missing::whole(Request::of(Item::Diagnostics), reason))
        }
    }
}

/// The replicas of the control plane, and each proxy whose metrics were read, failed to be read, or are of an
/// earlier run.
fn rows<'a>(
    pods: &'a [Pod],
    given: &'a [Diagnostic],
    (cluster, namespaces): (&'a Cluster, &[String]),
    slices: &Slices<'_>,
) -> Vec<Row<'a>> {
    let home = cluster.namespaces.control_plane.as_str();
    let sample = given.iter().find_map(|one| one.said.of_sample());
    let current = || pods.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_some());
    let metrics = ReadMetrics::new(given.iter().filter_map(|one| one.said.of_proxy()), current());
    let mut rows: Vec<Row<'a>> = Vec::new();
    for pod in current() {
        let (namespace, _) = pod.metadata.key();
        let component = pod.metadata.label(COMPONENT).filter(|_| namespace == home);
        let is_selected = namespaces.is_empty() || namespaces.iter().any(|one| one == namespace);
        let read = metrics.of(pod, PROXY_CONTAINER);
        let failed = failed(sample, pod);
        let is_named =
            component.is_some() || is_selected && (read != Err(NoMetrics::NotRead) || failed.is_some());
        if !is_named {
            continue;
        }
        let proxy =
            read.map(|metrics| ProxyState::of(metrics, slices)).map_err(|none| match (none, failed) {
                (NoMetrics::Failed(error), _) => error.to_owned(),
                (_, Some(error)) => error.to_owned(),
                (NoMetrics::EarlierRun, None) => "the metrics are of a process that has ended".to_owned(),
                (NoMetrics::NotRead, None) => "no metrics were read or given".to_owned(),
            });
        rows.push(Row { pod, component, version: version(pod, component), proxy, problems: Vec::new() });
    }
    rows.sort_by_key(|row| (row.component.is_none(), row.pod.metadata.key()));
    rows
}

/// The error of the read of a pod's metrics.
fn failed<'a>(sample: Option<&'a MetricsSample>, pod: &Pod) -> Option<&'a str> {
    let name = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
    let of_proxy = |failed: &&FailedRead| failed.container.is_empty() && failed.pod == name;
    Some(sample?.failed.iter().find(of_proxy)?.error.as_str())
}

/// Whether the tag of an image is a version of the proxy, and another one. Tags of Linkerd's releases are not: the
/// proxy has version numbers of its own, such as 2.366.0.
fn contradicts(image: &str, version: &str) -> bool {
    let Some((_, tag)) = image.rsplit_once(':') else { return false };
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    let minor = tag.strip_prefix("2.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    minor.is_some_and(|minor| minor >= LEAST_PROXY_MINOR) && tag != version
}

/// The version of a component, or of the proxy of another pod.
fn version(pod: &Pod, component: Option<&str>) -> Option<String> {
    let own = component.and_then(|_| pod_versions(pod).into_values().next());
    own.or_else(|| proxy_version(pod)).map(|version| version.to_string())
}

/// The findings about the control plane, and about the selected namespaces.
fn findings(results: &[CheckResult], namespaces: &[String], home: &str) -> Vec<Finding> {
    let is_selected = |finding: &&Finding| {
        let of = |subject: &Subject| subject.namespace().map(str::to_owned);
        namespaces.is_empty()
            || finding
                .subjects
                .iter()
                .any(|subject| of(subject).is_none_or(|one| one == home || namespaces.contains(&one)))
    };
    let mut findings: Vec<Finding> =
        results.iter().flat_map(|result| &result.findings).filter(is_selected).cloned().collect();
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.check.cmp(b.check)));
    findings
}

/// Whether a finding is about a pod: as its subject, or as the proxy whose metrics it quotes.
fn is_about(finding: &Finding, pod: &Pod) -> bool {
    let (own_namespace, own_name) = pod.metadata.key();
    let is_subject = finding.subjects.iter().any(|subject| match subject {
        Subject::Object { kind, namespace, name, pods } => {
            namespace == own_namespace
                && (pods.iter().any(|pod| pod == own_name) || kind == "Pod" && name == own_name)
        }
        Subject::Node { .. } | Subject::Thing { .. } => false,
    });
    let own = format!("Pod {own_namespace}/{own_name}");
    let is_quoted = |evidence: &Evidence| match &evidence.place {
        Place::Other { name } => name.split(", ").any(|part| part == own),
        _ => false,
    };
    is_subject || finding.evidence.iter().any(is_quoted)
}

/// The checks that lack evidence that was not provided, such as a second read.
fn not_evaluated(results: &[CheckResult]) -> Vec<&'static str> {
    let lacks = |result: &&CheckResult| {
        matches!(result.outcome, Outcome::Unknown | Outcome::Crashed(_)) || !result.gaps.is_empty()
    };
    results.iter().filter(lacks).map(|result| result.id).collect()
}
