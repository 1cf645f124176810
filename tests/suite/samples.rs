//! Handwritten reports for the tests of renderers: during an incident, of a healthy mesh, and without
//! permissions. Only renderers use them; no check runs on them.

mod findings;

use std::collections::BTreeMap;

use meshdoctor::cause::{self, Relations};
use meshdoctor::check_outcome::CheckOutcome;
use meshdoctor::checks::Outcome;
use meshdoctor::command::kubectl;
use meshdoctor::fetched::Why;
use meshdoctor::finding::{Evidence, Finding, Remedy, Severity};
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::missing::Missing;
use meshdoctor::model::cluster::TimeSource;
use meshdoctor::model::skew::Skew;
use meshdoctor::policy::Policy;
use meshdoctor::report::{Counts, Coverage, Gap, Report, Run, RunOptions, RunResult};
use meshdoctor::request::Request;
use meshdoctor::source::Origin;

use findings::{deadlock, event, file, finding, infos, token_revoked, unauthorized, warnings, workload};

/// The causal relations of these samples.
fn linked(findings: Vec<Finding>) -> Vec<Finding> {
    let symptoms = ["cni-add-unauthorized".to_owned(), "cni-daemonset-deadlock".to_owned()];
    let explains = |check: &str| if check == "cni-token-revoked" { &symptoms[..] } else { &[] };
    cause::link(
        findings,
        &Relations {
            explains: &explains,
            before: &|_| &[],
            is_of_change: &|_| false,
            is_conditional: &|_| false,
            is_central: &|_| false,
        },
    )
}

fn checks(missing: &[(&'static str, Missing)], findings: &[Finding]) -> Vec<CheckOutcome> {
    let all = [
        ("annotations", "annotation-unknown"),
        ("annotations", "annotation-value-invalid"),
        ("cni", "cni-add-unauthorized"),
        ("cni", "cni-daemonset-deadlock"),
        ("cni", "cni-entry-missing"),
        ("cni", "cni-entry-orphaned"),
        ("cni", "cni-token-revoked"),
        ("control-plane", "control-plane-missing"),
        ("debug", "debug-image-ignored"),
        ("injection", "injector-fails-open"),
        ("injection", "pod-missing-proxy"),
        ("injection", "workload-half-meshed"),
        ("versions", "cli-control-plane-skew"),
        ("versions", "data-plane-skew"),
        ("versions", "kubernetes-unsupported"),
    ];
    all.iter()
        .map(|(category, id)| {
            let gaps: Vec<Missing> = missing.iter().filter(|(of, _)| of == id).map(|(_, m)| m.clone()).collect();
            let outcome = if findings.iter().any(|finding| finding.check == *id) {
                Outcome::Findings
            } else if !gaps.is_empty() {
                Outcome::Unknown
            } else if *category == "debug" {
                Outcome::NotApplicable("no workload asks for a debug sidecar".to_owned())
            } else {
                Outcome::Pass
            };
            CheckOutcome {
                id,
                category: (*category).to_owned(),
                title: format!("The title of {id}"),
                severity: Severity::Error,
                outcome,
                closes: gaps.iter().map(Missing::close).collect(),
                gaps,
                blocked_by: None,
                params: Default::default(),
            }
        })
        .collect()
}

fn counts<'a>(findings: impl Iterator<Item = &'a Finding>) -> Counts {
    findings.fold(Counts::default(), |mut counts, finding| {
        match finding.severity {
            Severity::Error => counts.error += 1,
            Severity::Warning => counts.warning += 1,
            Severity::Info => counts.info += 1,
        }
        counts
    })
}

fn report(findings: Vec<Finding>, missing: &[(&'static str, Missing)], status: u8) -> Report {
    let mut findings = linked(findings);
    findings.iter_mut().for_each(|finding| finding.standing = Policy::default().standing(finding, &[]));
    let checks = checks(missing, &findings);
    let mut gaps: BTreeMap<Missing, Vec<&'static str>> = BTreeMap::new();
    for (check, missing) in missing {
        gaps.entry(missing.clone()).or_default().push(check);
    }
    let count = |is: fn(&Outcome) -> bool| checks.iter().filter(|check| is(&check.outcome)).count();
    Report {
        traffic: Vec::new(),
        before: None,
        nodes: Vec::new(),
        repair: meshdoctor::report::RepairPlan::from_findings(&findings),
        run: Run {
            started: Some("2026-01-15T12:00:00Z".parse().unwrap()),
            milliseconds: 812,
            command: vec!["meshdoctor".to_owned(), "check".to_owned()],
            folders: Vec::new(),
            config: None,
        },
        origin: Origin { kind: "live".to_owned(), name: "prod-eu".to_owned() },
        at: ("2026-01-15T12:00:00Z".parse().unwrap(), TimeSource::Clock),
        knowledge_date: "2026-11-20".to_owned(),
        subject: Skew {
            distribution: Some("EKS".to_owned()),
            kubernetes: Some("v1.31.5-eks-8cce635".to_owned()),
            kubelets: BTreeMap::from([("v1.31.5-eks-5d632ec".to_owned(), 12)]),
            cli: Some("2.17.1".to_owned()),
            control_plane: ["destination", "identity", "proxy-injector"]
                .map(|component| (component.to_owned(), "2.17.1".to_owned()))
                .into(),
            proxies: BTreeMap::from([("2.17.1".to_owned(), 214)]),
            cni: Some("v1.6.2".to_owned()),
            extensions: BTreeMap::from([("viz".to_owned(), "2.17.1".to_owned())]),
            gateway_api: Some("v1.1.1".to_owned()),
        },
        control_plane_namespace: "linkerd".to_owned(),
        cluster_uid: Some("6f1c1a1e-0b7d-4a57-9d5c-2b8f0b6f7a10".to_owned()),
        to_cni: None,
        rehearsal: None,
        change: None,
        asked: RunOptions::default(),
        verdict: RunResult {
            status,
            gate: "error",
            not_checked_passes: false,
            roots: counts(findings.iter().filter(|finding| finding.caused_by.is_empty())),
            findings: counts(findings.iter()),
            waived: 0,
            waived_in_part: 0,
            in_baseline: 0,
            inferred: 0,
            passed: count(|o| *o == Outcome::Pass),
            not_applicable: count(|o| matches!(o, Outcome::NotApplicable(_))),
            not_judged: checks.iter().filter(|check| !check.gaps.is_empty()).count(),
            crashed: count(|o| matches!(o, Outcome::Crashed(_))),
        },
        coverage: Coverage {
            objects: 1834,
            nodes: Some(12),
            snapshots: 9,
            gaps: gaps
                .into_iter()
                .map(|(missing, checks)| Gap {
                    asked_for: missing.was_asked_for(),
                    close: missing.close(),
                    missing,
                    checks,
                })
                .collect(),
            unread: vec![],
            set_aside: vec![],
        },
        checks,
        findings,
        rows: vec![],
        row_mode: Default::default(),
        links: vec![],
        connection: Default::default(),
        redacted: 14,
        errors: vec![],
    }
}

fn without_snapshots() -> Vec<(&'static str, Missing)> {
    let request = Request::new(Item::NodeFiles);
    ["cni-entry-missing", "cni-entry-orphaned", "cni-token-revoked"]
        .into_iter()
        .flat_map(|check| {
            let request = request.clone();
            ["ip-10-0-2-7", "ip-10-0-2-8", "ip-10-0-3-11"]
                .map(move |node| (check, Missing::part(request.clone(), Why::NotOffered, format!("node {node}"))))
        })
        .collect()
}

/// Pods that cannot start on three nodes, among other findings.
pub fn bad_night() -> Report {
    let findings = [token_revoked(), unauthorized(), deadlock(), warnings(), infos()].concat();
    let mut report = report(findings, &without_snapshots(), 1);
    report.subject.cli = Some("2.15.7".to_owned());
    report.subject.proxies.insert("2.16.0".to_owned(), 1);
    report
}

/// Nothing is wrong, and everything was looked at.
pub fn good_night() -> Report {
    let mut report = report(vec![], &[], 0);
    report.coverage.snapshots = 12;
    report
}

/// A service account that may see next to nothing, a crash, and an answer that broke off.
pub fn denied() -> Report {
    let list = |kind| Request::new(Item::List(kind));
    let forbidden = |plural: &str| Why::Denied {
        message: format!(
            "{plural} is forbidden: User \"system:serviceaccount:ci:doctor\" cannot list resource \"{plural}\" in API group \"\" at the cluster scope"
        ),
    };
    let values = Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: "linkerd-config".to_owned() };
    let values = Request { item: values, namespace: Some("linkerd".to_owned()) };
    let mut missing = without_snapshots();
    for check in ["annotation-unknown", "pod-missing-proxy", "workload-half-meshed", "data-plane-skew"] {
        missing.push((check, Missing::whole(list(Kind::Pod), forbidden("pods"))));
    }
    missing.push(("cni-add-unauthorized", Missing::whole(list(Kind::Event), forbidden("events"))));
    missing.push(("annotation-value-invalid", Missing::whole(values, forbidden("configmaps"))));
    missing.push((
        "injector-fails-open",
        Missing::whole(list(Kind::MutatingWebhookConfiguration), Why::TimedOut { seconds: 30 }),
    ));
    missing.push((
        "kubernetes-unsupported",
        Missing::part(
            list(Kind::Node),
            Why::Malformed {
                message: "ip-10-0-9-9: invalid type: integer `7`, expected a string at line 1 column 812".to_owned(),
            },
            "some of them",
        ),
    ));
    let mut report = report(vec![], &missing, 4);
    let crashed = report.checks.iter_mut().find(|check| check.id == "cni-daemonset-deadlock").unwrap();
    crashed.outcome = Outcome::Crashed("index out of bounds: the len is 3 but the index is 3".to_owned());
    report.verdict.crashed = 1;
    report.verdict.passed -= 1;
    report
}

/// A dump without declared completeness and without a timestamp.
pub fn dump() -> Report {
    let list = |kind| Request::new(Item::List(kind));
    let mut missing = Vec::new();
    for (check, kind) in [
        ("pod-missing-proxy", Kind::Pod),
        ("pod-missing-proxy", Kind::Namespace),
        ("workload-half-meshed", Kind::Pod),
        ("control-plane-missing", Kind::Deployment),
        ("cni-entry-missing", Kind::DaemonSet),
    ] {
        missing.push((check, Missing::whole(list(kind), Why::PerhapsMore)));
    }
    missing.push(("cni-add-unauthorized", Missing::whole(list(Kind::Event), Why::NotCaptured)));
    missing.push(("injector-fails-open", Missing::whole(list(Kind::MutatingWebhookConfiguration), Why::NotCaptured)));
    missing.push(("kubernetes-unsupported", Missing::whole(Request::new(Item::ServerVersion), Why::NotCaptured)));
    missing.push(("cli-control-plane-skew", Missing::whole(Request::new(Item::CliVersion), Why::NotOffered)));
    missing.push(("cni-entry-orphaned", Missing::whole(Request::new(Item::NodeFiles), Why::NotOffered)));
    let mut report = report(vec![], &missing, 4);
    report.origin = Origin { kind: "dump".to_owned(), name: "cluster.json".to_owned() };
    report.subject = Skew::default();
    report.coverage.nodes = None;
    report.coverage.snapshots = 0;
    report.errors = vec!["cluster.json:812: expected `,` or `}`; everything before that line was read".to_owned()];
    report
}

/// Evidence that tries to drive the reader's terminal.
pub fn hostile() -> Report {
    let attack = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\nresult    no findings\u{202e}txt\u{200b}";
    let hostile = finding(
        "pod-missing-proxy",
        Severity::Error,
        workload("Deployment", "shop", attack, &[attack.to_owned()]),
        &format!("a message {attack}"),
    )
    .evidence(Evidence::field(attack, attack, attack))
    .evidence(event(attack, attack, 2, "2026-01-15T11:57:30Z", attack))
    .evidence(file(attack, attack, 3, attack, attack))
    .remedy(
        Remedy::verified_by(kubectl().words("get").operand(attack))
            .command(attack, kubectl().words("delete").operand(attack)),
    );
    let why = Why::Failed { message: attack.to_owned() };
    let missing = Missing::part(Request::new(Item::List(Kind::Pod)), why, attack);
    let mut report = report(vec![hostile], &[("cni-entry-missing", missing)], 1);
    report.origin.name = attack.to_owned();
    report.errors = vec![attack.to_owned()];
    report.checks[1].outcome = Outcome::Crashed(attack.to_owned());
    report.subject.proxies.insert(attack.to_owned(), 1);
    report.subject.control_plane.insert(attack.to_owned(), attack.to_owned());
    report.subject.distribution = Some(attack.to_owned());
    report
}

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Report)> {
    vec![
        ("bad-night", bad_night()),
        ("good-night", good_night()),
        ("denied", denied()),
        ("dump", dump()),
        ("hostile", hostile()),
    ]
}
