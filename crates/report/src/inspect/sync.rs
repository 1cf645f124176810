//! `meshdoctor sync`: whether each control-plane replica and each sampled proxy is in sync with the mesh: its
//! certificate, its connections to the control plane, its endpoints, and the findings of its metrics.

use std::collections::{BTreeMap, BTreeSet};

use self::proxy_state::Comparison;
pub use self::proxy_state::{Agreement, AppliedPolicy, BalancedService, Certificate, ProxyState, ProxySync, Since};
use super::evidence::Lists;
use crate::checks::{self, Check, CheckResult, Outcome, Settings, evaluate};
use crate::fetched::{Fetched, Why};
use crate::finding::{Evidence, Finding, Place, Severity, Subject};
use crate::item::diagnostic::{Diagnostic, FailedRead, MetricsSample};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::Cluster;
use crate::model::control_plane::{pod_versions, proxy_version};
use crate::model::installed::COMPONENT;
use crate::model::read_metrics::{NoMetrics, ReadMetrics};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{EndpointSlice, Pod, Service};
use crate::policy;
use crate::request::Request;

mod proxy_state;

/// The smallest minor number that only versions of the proxy have; those of Linkerd's releases are below.
const LEAST_PROXY_MINOR: u32 = 100;

/// The answer.
pub struct Sync<'a> {
    /// The control plane's replicas, then the proxies, each by namespace and name.
    pub rows: Vec<SyncRow<'a>>,
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
pub struct SyncRow<'a> {
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

/// Proxies of one image that report different versions of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedBuild {
    pub image: String,
    /// The pods of each version, as `NAMESPACE/NAME`.
    pub versions: BTreeMap<String, Vec<String>>,
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

impl<'a> Sync<'a> {
    /// The state of the mesh, limited to proxies in these namespaces; all if empty.
    pub fn read(cluster: &'a Cluster, knowledge: &Knowledge, namespaces: &[String]) -> Sync<'a> {
        let mut lists = Lists::from_cluster(cluster);
        let pods = lists.all::<Pod>();
        let services = lists.all::<Service>();
        lists.all::<EndpointSlice>();
        let with = Comparison::new(cluster, knowledge, (pods, services));
        let given = cluster.diagnostics();
        let sample = given.iter().find_map(|one| one.said.of_sample());
        let results = evaluate(&metric_checks(), cluster, knowledge, &Settings::default());
        let mut rows = rows(pods, given, (cluster, namespaces), &with);
        let findings = findings(&results, namespaces, cluster.namespaces.control_plane.as_str());
        for row in &mut rows {
            let is_about = |(at, finding): (usize, &Finding)| is_about(finding, row.pod).then_some(at);
            row.problems = findings.iter().enumerate().filter_map(is_about).collect();
        }
        let mut gaps = lists.gaps;
        gaps.extend(results.iter().flat_map(|result| &result.gaps).filter(|gap| gap.was_asked_for()).cloned());
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
        self.rows.iter().any(|row| row.state(self) == ProxySync::OutOfSync) || self.problems().next().is_some()
    }

    /// Whether something that was requested is unknown.
    pub fn is_incomplete(&self) -> bool {
        !self.gaps.is_empty()
            || self.left > 0
            || self.rows.is_empty()
            || self.rows.iter().any(|row| matches!(row.state(self), ProxySync::Unknown | ProxySync::NotRead))
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
        images
            .retain(|image, versions| versions.len() > 1 || versions.keys().any(|version| contradicts(image, version)));
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

impl SyncRow<'_> {
    /// Whether it is in sync.
    pub fn state(&self, sync: &Sync<'_>) -> ProxySync {
        let has_problem =
            self.problems.iter().filter_map(|at| sync.findings.get(*at)).any(|one| one.severity > Severity::Info);
        match &self.proxy {
            _ if has_problem => ProxySync::OutOfSync,
            Err(_) => ProxySync::NotRead,
            Ok(proxy) => proxy.state(),
        }
    }

    /// How long it has been in its state; `None` if its metrics were not read, or read once.
    pub fn since(&self) -> Option<Since> {
        self.proxy.as_ref().ok().and_then(ProxyState::since)
    }
}

/// The reason why no metrics were read at all, if they were requested.
fn unread(cluster: &Cluster) -> Option<Missing> {
    let answer = cluster.answer(&Item::Diagnostics)?;
    match &answer.fetched {
        Fetched::Complete => None,
        Fetched::Missing { reason } => Some(Missing::whole(answer.request.clone(), reason.clone())),
        Fetched::Partial { reasons } => {
            let reason = reasons.first().cloned().unwrap_or(Why::NotCaptured);
            Some(Missing::whole(Request::new(Item::Diagnostics), reason))
        }
    }
}

/// The replicas of the control plane, and each proxy whose metrics were read, failed to be read, or are of an
/// earlier run.
fn rows<'a>(
    pods: &'a [Pod],
    given: &'a [Diagnostic],
    (cluster, namespaces): (&'a Cluster, &[String]),
    with: &Comparison<'a>,
) -> Vec<SyncRow<'a>> {
    let home = cluster.namespaces.control_plane.as_str();
    let sample = given.iter().find_map(|one| one.said.of_sample());
    let current = || pods.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_some());
    let metrics = ReadMetrics::new(given.iter().filter_map(|one| one.said.of_proxy()), current());
    let mut rows: Vec<SyncRow<'a>> = Vec::new();
    for pod in current() {
        let (namespace, _) = pod.metadata.key();
        let component = pod.metadata.label(COMPONENT).filter(|_| namespace == home);
        let is_selected = namespaces.is_empty() || namespaces.iter().any(|one| one == namespace);
        let read = metrics.container(pod, PROXY_CONTAINER);
        let failed = failed(sample, pod);
        let is_named = component.is_some() || is_selected && (read != Err(NoMetrics::NotRead) || failed.is_some());
        if !is_named {
            continue;
        }
        let proxy = read.map(|metrics| ProxyState::new(pod, metrics, with)).map_err(|none| match (none, failed) {
            (NoMetrics::Failed(error), _) => error.to_owned(),
            (_, Some(error)) => error.to_owned(),
            (NoMetrics::EarlierRun, None) => "the metrics are of a process that has ended".to_owned(),
            (NoMetrics::NotRead, None) => "no metrics were read or given".to_owned(),
        });
        rows.push(SyncRow { pod, component, version: version(pod, component), proxy, problems: Vec::new() });
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
            namespace == own_namespace && (pods.iter().any(|pod| pod == own_name) || kind == "Pod" && name == own_name)
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
