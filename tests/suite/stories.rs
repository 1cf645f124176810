//! The demos: five real failures as whole clusters. Before the remedy the report has exactly the expected
//! findings, the true cause first; after it none of warning or above.

use std::collections::BTreeSet;

use meshdoctor::checks;
use meshdoctor::collect::{Collected, collect_now};
use meshdoctor::demo::{self, DEMOS, Demo, DemoState};
use meshdoctor::fetched::Fetched;
use meshdoctor::finding::{Confidence, Finding, Severity, Subject};
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::node::{Effective, RuntimeKind};
use meshdoctor::policy::{self, Policy};
use meshdoctor::report::{self, Question, Report};
use meshdoctor::scene::Scene;
use meshdoctor::source::Source;

fn scene(demo: &Demo, state: DemoState) -> Scene {
    demo.scene(state).unwrap_or_else(|error| panic!("{error}"))
}

/// The report on a cluster: every check of its moment.
pub fn judge(scene: &Scene) -> Report {
    let mode = scene.settings.mode;
    let checks: Vec<_> = checks::all().filter(|check| check.card().front.modes.contains(&mode)).collect();
    let collected = collect_now(&scene.memory, &policy::items(&checks), &scene.options, None);
    let question = Question {
        checks: &checks,
        policy: &Policy::default(),
        settings: &scene.settings,
        knowledge: Knowledge::embedded(),
        origin: scene.memory.origin(),
        change: None,
    };
    report::judge(&question, &collected)
}

/// The report of every demo before its remedy.
pub fn demos() -> Vec<(String, Report)> {
    DEMOS.iter().map(|demo| (demo.name.to_owned(), judge(&scene(demo, DemoState::Before)))).collect()
}

/// All evidence of a demo.
fn whole(scene: &Scene) -> Collected {
    let versions = [Item::ServerVersion, Item::CliVersion, Item::NodeFiles];
    let items: BTreeSet<Item> = Kind::ALL.iter().map(|kind| Item::List(*kind)).chain(versions).collect();
    collect_now(&scene.memory, &items, &scene.options, None)
}

#[test]
fn every_demo_is_a_cluster_that_can_be_read_to_the_last_object() {
    for demo in DEMOS {
        for state in [DemoState::Before, DemoState::After] {
            let cluster = whole(&scene(demo, state)).cluster;
            for (item, answer) in cluster.answers() {
                assert_eq!(answer.fetched, Fetched::Complete, "{} {state:?}: {item}", demo.name);
            }
            assert!(cluster.server_version.is_ok() && cluster.cli_version.is_ok(), "{}", demo.name);
            for node in cluster.nodes.iter().flatten() {
                assert_eq!(node.problems, [], "{} {state:?}: {}", demo.name, node.node);
                assert_eq!(node.meta.errors, [], "{} {state:?}: {}", demo.name, node.node);
            }
        }
    }
}

/// A finding on one line: severity, confidence, check, subjects and causes.
fn line(report: &Report, finding: &Finding) -> String {
    let subjects: Vec<String> = finding
        .subjects
        .iter()
        .map(|subject| match subject {
            Subject::Object { pods, .. } if !pods.is_empty() => format!("{subject} ({} pods)", pods.len()),
            Subject::Object { .. } | Subject::Node { .. } | Subject::Thing { .. } => subject.to_string(),
        })
        .collect();
    let causes: BTreeSet<&str> = finding
        .caused_by
        .iter()
        .map(|print| report.findings.iter().find(|f| f.fingerprint() == *print).unwrap().check)
        .collect();
    let sure = match finding.confidence {
        Confidence::Observed => "",
        Confidence::Likely => "likely ",
    };
    let mut line = format!("{} {sure}{}: {}", finding.severity, finding.check, subjects.join(", "));
    if !causes.is_empty() {
        line += " <- ";
        line += &Vec::from_iter(causes).join(", ");
    }
    line
}

fn lines(report: &Report) -> Vec<String> {
    report.findings.iter().map(|finding| line(report, finding)).collect()
}

/// Expected findings for each broken cluster, in order: the true cause first.
const TOLD: &[(&str, &[&str])] = &[
    (
        "cni-exit-127",
        &[
            "error cni-iptables-binary-missing: ip-10-0-1-12  /etc/cni/net.d/10-aws.conflist:30, ip-10-0-1-40  /etc/cni/net.d/10-aws.conflist:30, ip-10-0-3-9  /etc/cni/net.d/10-aws.conflist:30",
            "warning cni-token-in-conflist: ip-10-0-1-12  /etc/cni/net.d/10-aws.conflist:30, ip-10-0-1-40  /etc/cni/net.d/10-aws.conflist:30, ip-10-0-3-9  /etc/cni/net.d/10-aws.conflist:30",
            "info injector-fails-open: MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config",
            "info likely kubernetes-unsupported: API server",
            "error cni-add-exit-127: Deployment linkerd/linkerd-destination (1 pods), Deployment linkerd/linkerd-identity (1 pods), Deployment linkerd/linkerd-proxy-injector (1 pods), Deployment shop/web (2 pods), StatefulSet shop/orders (1 pods) <- cni-iptables-binary-missing",
            "error control-plane-not-ready: Deployment linkerd/linkerd-proxy-injector <- cni-add-exit-127",
            "error control-plane-not-ready: Deployment linkerd/linkerd-destination <- cni-add-exit-127",
            "error control-plane-not-ready: Deployment linkerd/linkerd-identity <- cni-add-exit-127",
            "error injector-unavailable: Deployment linkerd/linkerd-proxy-injector <- control-plane-not-ready",
            "error proxy-not-ready: Deployment shop/web (2 pods), StatefulSet shop/orders (1 pods) <- cni-add-exit-127",
            "info workload-not-ready: Deployment shop/web (2 pods), StatefulSet shop/orders (1 pods) <- proxy-not-ready",
        ],
    ),
    (
        "cni-unauthorized",
        &[
            "error cni-token-revoked: ip-10-0-1-12  /etc/cni/net.d/05-cilium.conflist:36, ip-10-0-1-40  /etc/cni/net.d/05-cilium.conflist:36",
            "info injector-fails-open: MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config",
            "error cni-add-unauthorized: DaemonSet linkerd-cni/linkerd-cni (2 pods), Deployment shop/web (2 pods), Job tools/backup (1 pods) <- cni-token-revoked",
            "error cni-daemonset-deadlock: DaemonSet linkerd-cni/linkerd-cni (2 pods) <- cni-token-revoked",
            "error cni-ds-coverage: DaemonSet linkerd-cni/linkerd-cni (2 pods) <- cni-daemonset-deadlock",
            "error proxy-not-ready: Deployment shop/web (2 pods) <- cni-add-unauthorized",
            "warning rollout-stuck: DaemonSet linkerd-cni/linkerd-cni (1 pods) <- cni-ds-coverage",
        ],
    ),
    (
        "debug-image-ignored",
        &[
            "warning debug-image-ignored: Deployment shop/checkout (1 pods)",
            "warning cli-control-plane-skew: linkerd CLI",
            "info injector-fails-open: MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config",
        ],
    ),
    (
        "injector-fails-open",
        &[
            "error injector-fails-open: Deployment shop/web (2 pods), StatefulSet shop/redis (1 pods)",
            "info control-plane-outdated: Namespace linkerd",
            "error pod-missing-proxy: Deployment shop/web (2 pods), StatefulSet shop/redis (1 pods) <- injector-fails-open",
            "error workload-half-meshed: Deployment shop/web (2 pods) <- injector-fails-open, pod-missing-proxy",
        ],
    ),
    (
        "native-sidecar-typo",
        &[
            "error native-sidecar-key-misspelled: Job shop/grpc-client",
            "info control-plane-outdated: Namespace linkerd",
            "info injector-fails-open: MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config",
            "info kubernetes-unsupported: API server",
            "error job-held-by-proxy: Job shop/grpc-client (1 pods) <- native-sidecar-key-misspelled",
        ],
    ),
];

#[test]
fn before_the_remedy_the_true_cause_comes_first_and_nothing_else_is_said() {
    let names: Vec<&str> = TOLD.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, DEMOS.iter().map(|demo| demo.name).collect::<Vec<_>>(), "every story is expected");
    for (name, told) in TOLD {
        let said = lines(&judge(&scene(demo::find(name).unwrap(), DemoState::Before)));
        assert_eq!(said, *told, "{name} says\n{}", said.join("\n"));
    }
}

/// The root errors if only these nodes have evidence, sorted by their text.
fn causes_with_nodes(name: &str, nodes: &[&str]) -> Vec<String> {
    let mut scene = scene(demo::find(name).unwrap(), DemoState::Before);
    scene.memory.nodes.retain(|files| nodes.contains(&files.node.as_str()));
    let report = judge(&scene);
    let roots = report.findings.iter().filter(|f| f.caused_by.is_empty() && f.severity == Severity::Error);
    let mut lines: Vec<String> = roots.map(|finding| line(&report, finding)).collect();
    lines.sort();
    lines
}

#[test]
fn without_evidence_of_a_node_the_cause_there_is_likely_and_with_it_observed() {
    assert_eq!(
        causes_with_nodes("cni-exit-127", &[]),
        ["error likely cni-iptables-binary-missing: ip-10-0-1-12, ip-10-0-1-40, ip-10-0-3-9"]
    );
    assert_eq!(
        causes_with_nodes("cni-unauthorized", &[]),
        ["error likely cni-token-revoked: ip-10-0-1-12, ip-10-0-1-40"]
    );
    assert_eq!(
        causes_with_nodes("cni-unauthorized", &["ip-10-0-1-40"]),
        [
            "error cni-token-revoked: ip-10-0-1-40  /etc/cni/net.d/05-cilium.conflist:36",
            "error likely cni-token-revoked: ip-10-0-1-12",
        ]
    );
    assert_eq!(
        causes_with_nodes("cni-exit-127", &["ip-10-0-1-12"]),
        [
            "error cni-iptables-binary-missing: ip-10-0-1-12  /etc/cni/net.d/10-aws.conflist:30",
            "error likely cni-iptables-binary-missing: ip-10-0-1-40, ip-10-0-3-9",
        ]
    );
}

/// Words and commands of a story's true cause that its reader cannot do without.
const HELPS: &[(&str, &[&str])] = &[
    (
        "cni-exit-127",
        &[
            "It needs plugin v1.6.0 or newer",
            "v1.5.2 rejects the mode",
            "--set iptablesMode=plain --set image.version=v1.6.8",
            "rollout restart daemonset/linkerd-cni",
            "kubectl -n linkerd delete pod linkerd-destination-7c9d5f6b48-hx4vd",
        ],
    ),
    (
        "cni-unauthorized",
        &[
            "one node at a time",
            "kubectl cordon \"$NODE\"",
            "lines 34 to 55",
            "since Bottlerocket has no shell",
            "debug node/\"$NODE\" -it --profile=sysadmin",
            "ln -s /host/etc/cni /etc/cni",
            "-l k8s-app=linkerd-cni --field-selector spec.nodeName=\"$NODE\"",
            "kubectl uncordon \"$NODE\"",
        ],
    ),
    (
        "debug-image-ignored",
        &[
            "linkerd version --client --short | grep -Fx enterprise-2.17.0 && linkerd upgrade --set debugContainer.image.name=registry.example.com/linkerd/debug",
            "edge-25.3.3 (2.18) or later",
            "rollout restart deployment/checkout",
        ],
    ),
    (
        "injector-fails-open",
        &[
            "rollout restart deployment/web",
            "rollout restart deployment/web statefulset/redis",
            "run three injectors on different nodes",
            "webhookFailurePolicy: Fail",
        ],
    ),
    (
        "native-sidecar-typo",
        &[
            "config.alpha.linkerd.io/proxy-enable-native-sidecar: \"true\"",
            "replace --force -f -",
            "Kubernetes 1.29 or newer",
        ],
    ),
];

#[test]
fn the_remedy_of_the_true_cause_names_what_helped() {
    for (name, helps) in HELPS {
        let report = judge(&scene(demo::find(name).unwrap(), DemoState::Before));
        let steps = &report.findings[0].remedy.steps;
        let said: String = steps
            .iter()
            .map(|s| {
                let command = s.command.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{}\n{command}\n", s.text)
            })
            .collect();
        for words in *helps {
            assert!(said.contains(words), "{name} does not contain {words:?}:\n{said}");
        }
    }
}

/// The output of a demo by the binary: its JSON and its exit status.
fn binary(name: &str, more: &[&str]) -> (serde_json::Value, Option<i32>) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_meshdoctor"))
        .args(["demo", name, "-o", "json"])
        .args(more)
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

#[test]
fn the_binary_tells_the_same_story() {
    for demo in DEMOS {
        let report = judge(&scene(demo, DemoState::Before));
        let (json, status) = binary(demo.name, &[]);
        let said: Vec<_> = json["findings"].as_array().unwrap().iter().map(|f| f["check"].as_str().unwrap()).collect();
        assert_eq!(said, report.findings.iter().map(|f| f.check).collect::<Vec<_>>(), "{}", demo.name);
        let worst = report.findings.iter().map(|f| f.severity).max();
        assert_eq!(status, Some(i32::from(worst == Some(Severity::Error))), "{}", demo.name);
        let (json, status) = binary(demo.name, &["--cured"]);
        let loud = json["findings"].as_array().unwrap().iter().filter(|f| f["severity"] != "info").count();
        assert_eq!((loud, status), (0, Some(0)), "{}", demo.name);
    }
}

#[test]
fn after_the_remedy_nothing_is_left_to_do() {
    for demo in DEMOS {
        let report = judge(&scene(demo, DemoState::After));
        let loud: Vec<_> = report.findings.iter().filter(|f| f.severity >= Severity::Warning).collect();
        assert!(loud.is_empty(), "{}: {loud:#?}", demo.name);
    }
}

#[test]
fn node_evidence_shows_what_its_story_tells() {
    for (name, loaded, entry) in [
        ("cni-exit-127", "/etc/cni/net.d/10-aws.conflist", "plugins[3]"),
        ("cni-unauthorized", "/etc/cni/net.d/05-cilium.conflist", "plugins[4]"),
    ] {
        let demo = demo::find(name).unwrap();
        for state in [DemoState::Before, DemoState::After] {
            let nodes = whole(&scene(demo, state)).cluster.nodes.unwrap();
            assert_eq!(nodes.len(), 3, "{name}");
            for node in &nodes {
                let Effective::File(effective) = node.effective(RuntimeKind::Containerd) else {
                    panic!("{name}: {} loads nothing", node.node)
                };
                assert_eq!(effective.file.path(), loaded);
                let [found] = effective.file.linkerd_entries().unwrap() else {
                    panic!("{name}: one entry in the file that is loaded")
                };
                assert_eq!(found.json_path, entry);
                let facts = node.kubeconfigs.as_ref().unwrap();
                assert!(facts[0].token_claims.as_ref().is_some_and(|claims| claims.pod_uid.is_some()));
            }
        }
    }
}

#[test]
fn demos_are_in_order_and_every_file_is_one() {
    let names: Vec<&str> = DEMOS.iter().map(|demo| demo.name).collect();
    let mut files: Vec<String> = std::fs::read_dir(format!("{}/demos", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(names, files);
}
