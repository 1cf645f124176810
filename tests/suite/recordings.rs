//! Recorded clusters, evaluated by every check: real installs have no findings of warning or above, and each
//! recorded failure has its finding, as a root, and no other of warning or above. The recordings are outside
//! the repository (`MESHDOCTOR_RECORDINGS`, else next to it); without them the tests are skipped with a
//! message.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use meshdoctor::checks::{self, Check, Settings};
use meshdoctor::collect::{Options, collect_now};
use meshdoctor::finding::{Finding, Fingerprint, Severity};
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy::{self, Policy};
use meshdoctor::redact::{self, Sanitized};
use meshdoctor::report::{Question, Report, judge};
use meshdoctor::source::memory::Memory;
use meshdoctor::source::{Completeness, Source};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::leaves::rule_of;
use crate::skip::{Need, skipped};

/// Expected findings of each recorded failure, roots and symptoms: severity, check, subject. Infos are
/// omitted.
const FAILURES: &[(&str, &[&str])] = &[
    (
        "pods-not-injected",
        &[
            "error injector-fails-open Deployment bare/late",
            "error pod-missing-proxy Deployment bare/late <- injector-fails-open",
        ],
    ),
    ("cni-configmap-missing", &["error cni-object-missing ConfigMap linkerd-cni/linkerd-cni-config"]),
    ("cni-daemonset-missing", &["error cni-object-missing DaemonSet linkerd-cni/linkerd-cni"]),
    (
        "cni-pod-pending",
        &[
            "error cni-daemonset-deadlock DaemonSet linkerd-cni/linkerd-cni",
            "error cni-ds-coverage DaemonSet linkerd-cni/linkerd-cni <- cni-daemonset-deadlock",
        ],
    ),
    ("opaque-ports-pod-only", &["warning opaque-ports-mismatch Service db/pg"]),
    ("data-plane-three-minors-behind", &["warning data-plane-skew Deployment legacy/billing"]),
    ("clusterrole-missing", &["error control-plane-rbac-missing ClusterRole linkerd-linkerd-destination"]),
    (
        "clusterrolebinding-missing",
        &["error control-plane-rbac-missing ClusterRoleBinding linkerd-linkerd-proxy-injector"],
    ),
    ("config-missing", &["error linkerd-config-missing ConfigMap linkerd/linkerd-config"]),
    ("serviceaccount-missing", &["warning service-account-missing ServiceAccount linkerd/linkerd-heartbeat"]),
    ("crd-missing", &["error crd-missing CustomResourceDefinition serviceprofiles.linkerd.io"]),
    ("ha-one-replica", &["warning control-plane-below-ha Deployment linkerd/linkerd-destination"]),
    (
        "networks-without-pods",
        &[
            "error cluster-networks-without-nodes ConfigMap linkerd/linkerd-config",
            "error cluster-networks-incomplete ConfigMap linkerd/linkerd-config <- cluster-networks-without-nodes",
        ],
    ),
    ("networks-without-services", &["error cluster-networks-incomplete ConfigMap linkerd/linkerd-config"]),
    ("control-plane-mixed", &["warning control-plane-mixed-versions Deployment linkerd/linkerd-identity"]),
    ("cli-newer-than-control-plane", &["warning cli-control-plane-skew linkerd CLI"]),
    ("cli-older-than-control-plane", &["warning cli-control-plane-skew linkerd CLI"]),
    ("inject-as-label", &["warning annotation-as-label Service lab/x", "warning annotation-misplaced Service lab/x"]),
    ("nothing-installed", &["error control-plane-missing Namespace linkerd"]),
    ("destination-scaled-to-zero", &["error control-plane-not-ready Deployment linkerd/linkerd-destination"]),
    ("destination-unschedulable", &["error control-plane-not-ready Deployment linkerd/linkerd-destination"]),
    ("policy-container-crashing", &["error control-plane-not-ready Deployment linkerd/linkerd-destination"]),
    (
        "injector-webhook-missing",
        &["error injector-webhook-missing MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config"],
    ),
    (
        "injector-cert-foreign-ca",
        &["error injector-ca-mismatch MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config"],
    ),
    // The anchors were renewed, but the workloads were not restarted.
    (
        "anchor-bundle-one-expired",
        &[
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning trust-anchor-expired ConfigMap linkerd/linkerd-identity-trust-roots",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "anchor-expired",
        &[
            "error trust-anchor-expired ConfigMap linkerd/linkerd-identity-trust-roots",
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "error issuer-not-trusted Secret linkerd/linkerd-identity-issuer <- trust-anchor-expired",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "anchor-expiring",
        &[
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning trust-anchor-expiring ConfigMap linkerd/linkerd-identity-trust-roots",
            "warning issuer-expiring Secret linkerd/linkerd-identity-issuer <- trust-anchor-expiring",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "anchor-rsa",
        &[
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning issuer-drifted Secret linkerd/linkerd-identity-issuer",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "data-plane-stale-anchor",
        &[
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning issuer-drifted Secret linkerd/linkerd-identity-issuer",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    ("injector-cert-expired", &["error webhook-certificate-expired Secret linkerd/linkerd-proxy-injector-k8s-tls"]),
    (
        "issuer-expired",
        &[
            "error issuer-expired Secret linkerd/linkerd-identity-issuer",
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "issuer-expiring",
        &[
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning issuer-expiring Secret linkerd/linkerd-identity-issuer",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    (
        "issuer-rsa",
        &[
            "error issuer-unsupported Secret linkerd/linkerd-identity-issuer",
            "error data-plane-anchors-disjoint Deployment shop/api and 1 more",
            "warning data-plane-anchors-stale Deployment shop/api and 1 more <- data-plane-anchors-disjoint",
        ],
    ),
    ("issuer-secret-missing", &["error issuer-secret-invalid Secret linkerd/linkerd-identity-issuer"]),
    (
        "sp-validator-cert-expiring",
        &["warning webhook-certificate-expiring Secret linkerd/linkerd-sp-validator-k8s-tls"],
    ),
    (
        "trust-roots-missing",
        &[
            "error trust-roots-missing ConfigMap linkerd/linkerd-identity-trust-roots",
            "warning data-plane-anchors-stale ConfigMap linkerd/linkerd-identity-trust-roots <- trust-roots-missing",
        ],
    ),
    (
        "viz-clusterrole-missing",
        &[
            "warning viz-tap-api-unavailable APIService v1alpha1.tap.linkerd.io",
            "warning viz-prometheus-missing ClusterRole linkerd-linkerd-viz-prometheus",
            "warning injector-fails-open Deployment linkerd-viz/metrics-api and 4 more",
            "warning viz-pods-not-injected Deployment linkerd-viz/metrics-api and 4 more <- injector-fails-open",
            "warning viz-proxy-unhealthy Namespace linkerd-viz <- viz-pods-not-injected",
        ],
    ),
];

/// Recordings from the startup of a component, and the delay of their evaluation.
const LATER: &[(&str, SignedDuration)] = &[("cni-pod-pending", SignedDuration::from_mins(30))];

/// Kinds that were added after the recordings were made.
const NOT_RECORDED: &[Kind] = &[
    Kind::Lease,
    Kind::Ingress,
    Kind::NetworkPolicy,
    Kind::CiliumNetworkPolicy,
    Kind::CiliumClusterwideNetworkPolicy,
    Kind::CalicoNetworkPolicy,
    Kind::CalicoGlobalNetworkPolicy,
    Kind::CalicoTier,
    Kind::AdminNetworkPolicy,
    Kind::BaselineAdminNetworkPolicy,
    Kind::ClusterNetworkPolicy,
    Kind::FelixConfiguration,
    Kind::HorizontalPodAutoscaler,
    Kind::ServerAuthorization,
    Kind::AuthorizationPolicy,
    Kind::MeshTLSAuthentication,
    Kind::NetworkAuthentication,
    Kind::HTTPLocalRateLimitPolicy,
    Kind::EgressNetwork,
    Kind::ExternalWorkload,
    Kind::HTTPRoute,
    Kind::GRPCRoute,
    Kind::TLSRoute,
    Kind::TCPRoute,
    Kind::LinkerdHTTPRoute,
    Kind::TrafficSplit,
];

/// Expected findings of healthy recordings. Webhooks and aggregated APIs have no endpoints in these, so viz
/// started without its proxies, and the API server does not reach tap. Both are true, and `linkerd viz check`
/// warns about both.
const NOT_ALL_WELL: &[(&str, &[&str])] = &[("healthy-2.18-viz", VIZ_UNMESHED)];

const VIZ_UNMESHED: &[&str] = &[
    "warning injector-fails-open Deployment linkerd-viz/metrics-api and 4 more",
    "warning viz-tap-api-unavailable APIService v1alpha1.tap.linkerd.io",
    "warning viz-pods-not-injected Deployment linkerd-viz/metrics-api and 4 more <- injector-fails-open",
    "warning viz-proxy-unhealthy Namespace linkerd-viz <- viz-pods-not-injected",
];

pub fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("MESHDOCTOR_RECORDINGS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/recordings"));
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(Need::Recordings, &format!("no recorded clusters in {} (set MESHDOCTOR_RECORDINGS)", folder.display()));
    None
}

pub fn json(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A recording as a source: its objects, complete for the kinds that it lists, evaluated at the time of the
/// recording.
pub fn memory(recording: &Path) -> Memory {
    let meta = json(&recording.join("meta.json"));
    let mut memory = Memory {
        server_version: Some(json(&recording.join("version.json"))["serverVersion"].clone()),
        cli_version: meta["linkerd_cli"].as_str().map(str::to_owned),
        captured_at: Some(meta["recorded_at"].as_str().unwrap().parse().unwrap()),
        // Recorded by an administrator, without refused requests.
        denied: Some(BTreeSet::new()),
        ..Memory::default()
    };
    // The list includes custom resources, which are not among the known kinds.
    let kinds = meta["kinds"].as_array().unwrap().iter().filter_map(|kind| kind.as_str()?.parse().ok());
    memory.completeness = Completeness::Kinds(kinds.collect());
    for object in json(&recording.join("cluster.json"))["items"].as_array().unwrap() {
        memory.add(object).unwrap();
    }
    memory
}

fn report(memory: &Memory) -> Report {
    report_on(memory, &Settings::default())
}

/// The report of all checks that apply in the mode of the settings.
pub fn report_on(memory: &Memory, settings: &Settings) -> Report {
    let selected: Vec<&'static Check> =
        checks::all().filter(|check| settings.mode.runs_in(&check.card().front.modes)).collect();
    let collected = collect_now(memory, &policy::items(&selected), &Options::default(), None);
    let question = Question {
        checks: &selected,
        policy: &Policy::default(),
        settings,
        knowledge: Knowledge::embedded(),
        origin: memory.origin(),
        change: None,
    };
    judge(&question, &collected)
}

/// `error pod-missing-proxy Deployment bare/late <- injector-fails-open`.
fn describe(finding: &Finding, report: &Report) -> String {
    let subject = finding.subjects[0].to_string();
    let subject = subject.split(" (").next().unwrap();
    let others = match finding.subjects.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let cause = |print: &Fingerprint| report.findings.iter().find(|f| f.fingerprint() == *print).unwrap().check;
    let causes: Vec<&str> = finding.caused_by.iter().map(cause).collect();
    let by = if causes.is_empty() { String::new() } else { format!(" <- {}", causes.join(", ")) };
    format!("{} {} {subject}{others}{by}", finding.severity, finding.check)
}

fn alarms(report: &Report) -> Vec<String> {
    let worth = report.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    worth.map(|finding| describe(finding, report)).collect()
}

#[test]
fn real_installs_are_silent() {
    let Some(folder) = folder() else { return };
    let mut healthy: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("healthy-"))
        .collect();
    healthy.sort();
    assert!(!healthy.is_empty(), "{}: no healthy clusters", folder.display());
    let mut wrong = Vec::new();
    for recording in healthy {
        let name = recording.file_name().unwrap().to_string_lossy().into_owned();
        let report = report(&memory(&recording));
        let known = NOT_ALL_WELL.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, alarms)| alarms);
        let alarms = alarms(&report);
        wrong.extend(known.iter().filter(|k| !alarms.iter().any(|a| a == *k)).map(|k| format!("{name}: no {k}")));
        wrong.extend(alarms.iter().filter(|a| !known.contains(&a.as_str())).map(|alarm| format!("{name}: {alarm}")));
        // Recordings have neither node evidence nor opt-in evidence; everything else is recorded.
        for gap in &report.coverage.gaps {
            let recorded = !matches!(gap.missing.request.item, Item::List(kind) if NOT_RECORDED.contains(&kind));
            if gap.missing.was_asked_for() && recorded {
                wrong.push(format!("{name}: not judged: {} ({})", gap.missing, gap.checks.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_failures_give_their_findings() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, expected) in FAILURES {
        let recording = folder.join(name);
        if !recording.is_dir() {
            skipped(Need::Recordings, &format!("{} is not there", recording.display()));
            continue;
        }
        let mut memory = memory(&recording);
        if let Some((_, later)) = LATER.iter().find(|(of, _)| of == name) {
            assert_eq!(alarms(&report(&memory)), [""; 0], "{name}: within the grace period");
            memory.captured_at = memory.captured_at.map(|at| at + *later);
        }
        let found = alarms(&report(&memory));
        if found != *expected {
            wrong.push(format!("{name}:\n  found    {found:#?}\n  expected {expected:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_saved_of_an_object_is_what_its_tree_would_be_saved_as() {
    #[derive(serde::Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
    }
    let Some(folder) = folder() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path().join("cluster.json")) else { continue };
        let list: List<'_> = serde_json::from_str(&text).unwrap();
        for object in list.items {
            let mut tree: Value = serde_json::from_str(object.get()).unwrap();
            let kind = tree["kind"].as_str().unwrap().to_owned();
            let touched = redact::object(&kind, rule_of(&kind), &mut tree).touched();
            let passed = Sanitized::read(&kind, rule_of(&kind), object.get().as_bytes(), None, false).unwrap();
            assert_eq!(passed.object.value().unwrap(), tree);
            assert_eq!(passed.touched, touched, "{tree}");
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen} objects");
}
