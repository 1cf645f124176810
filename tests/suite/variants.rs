//! No check depends on the names in a demo. Each demo is rewritten with other namespaces, workloads,
//! registries, nodes, file names, network plugins, owner kinds and times, and with the control plane and
//! linkerd-cni in other namespaces. The findings are the same under the new names, and none of warning or
//! above is left after the remedy.

use std::collections::BTreeSet;

use meshdoctor::demo::{DEMOS, Demo, DemoState};
use meshdoctor::finding::{Finding, Severity};
use meshdoctor::item::Kind;
use meshdoctor::report::Report;
use meshdoctor::scene::Scene;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::retold::{Variant, objects};
use crate::stories;

/// Workloads of the demos, in any namespace.
const WORKLOADS: [&str; 7] = ["backup", "checkout", "dashboard", "grpc-client", "orders", "redis", "web"];
/// Nodes of the base cluster.
const NODES: [&str; 3] = ["ip-10-0-1-12", "ip-10-0-1-40", "ip-10-0-3-9"];

fn variants() -> impl Strategy<Value = Variant> {
    // No name ends like the hash of a ReplicaSet, and an index keeps them apart.
    let name = || select(vec!["api", "cart-v2", "x", "data.plane", "frontend-eu-west", "meshed", "jobs", "kube", "a1"]);
    let names = proptest::collection::vec(name(), WORKLOADS.len());
    let nodes = select(vec!["node", "gke-prod-pool-1-5f3c2d1a", "worker.example.net-", "aks-np-123-vmss00000"]);
    let registry = select(vec![
        "localhost:5000",
        "harbor.example.org/mirror/deep",
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
    ]);
    let linkerd = select(vec!["cr.l5d.io/linkerd", "localhost:5000/l5d", "quay.example.org/a/b/c"]);
    let files =
        select(vec![("05-cilium", "10-aws"), ("00-chained", "01-base"), ("10-a", "9-a"), ("05-cilium", "05_base")]);
    let plugins = select(vec![
        ("aws-cni", "cilium-cni", "egress-cni"),
        ("calico", "tuning", "bandwidth"),
        ("vpc", "ebpf", "out"),
    ]);
    let homes = (
        select(vec!["shop", "production", "team-a"]),
        select(vec!["tools", "ops"]),
        select(vec!["linkerd", "mesh", "linkerd-system"]),
        select(vec!["linkerd-cni", "kube-system", "networking"]),
    );
    let kind = select(vec![Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet]);
    let rest = (kind, any::<bool>(), any::<(bool, bool)>(), -60 * 86_400..200 * 86_400i64);
    (names, nodes, (registry, linkerd), files, plugins, homes, rest).prop_map(
        |(names, nodes, (registry, linkerd), files, plugins, homes, (kind, scheduled, flags, shift))| {
            let own = |text: &str| text.to_owned();
            let named = WORKLOADS.iter().zip(names).enumerate().map(|(i, (old, new))| (own(old), format!("{new}{i}")));
            let noded = NODES.iter().enumerate().map(|(i, old)| (own(old), format!("{nodes}{}", 7 - i)));
            let plugged = ["aws-cni", "cilium-cni", "egress-cni"].into_iter().zip([plugins.0, plugins.1, plugins.2]);
            let texts = [
                ("registry.example.com", registry),
                ("cr.l5d.io/linkerd", linkerd),
                ("ghcr.io/buoyantio", linkerd),
                ("05-cilium.conflist", &format!("{}.conflist", files.0)),
                ("10-aws.conflist", &format!("{}.conflist", files.1)),
            ];
            let namespaces = [("shop", homes.0), ("tools", homes.1), ("linkerd", homes.2), ("linkerd-cni", homes.3)];
            let apart = |(old, new): (&str, &str)| (own(old), own(new));
            Variant {
                words: named.chain(noded).chain(plugged.map(apart)).collect(),
                texts: texts.map(apart).to_vec(),
                namespaces: namespaces.map(apart).into(),
                kind,
                scheduled,
                // An unusual namespace is found by its labels or set with a flag.
                flags,
                shift,
            }
        },
    )
}

/// The main fields of a finding, without evidence and commands, which list their subjects in another order.
fn essence(report: &Report, finding: &Finding) -> Value {
    let causes = finding
        .caused_by
        .iter()
        .map(|print| report.findings.iter().find(|f| f.fingerprint() == *print).map(|f| f.check).unwrap());
    let steps: Vec<_> = finding.remedy.steps.iter().map(|step| json!([step.kind, step.command.is_some()])).collect();
    sorted(json!({
        "check": finding.check,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "causes": causes.collect::<BTreeSet<_>>(),
        "subjects": finding.subjects,
        "message": finding.message,
        "steps": steps.len(),
    }))
}

/// The same with subjects and pods in an order that names do not decide.
fn sorted(mut essence: Value) -> Value {
    let by_text = |items: &mut Vec<Value>| items.sort_by_key(ToString::to_string);
    for subject in essence["subjects"].as_array_mut().unwrap() {
        if let Some(pods) = subject.get_mut("pods").and_then(Value::as_array_mut) {
            by_text(pods);
        }
    }
    by_text(essence["subjects"].as_array_mut().unwrap());
    essence
}

fn essences(report: &Report) -> Vec<Value> {
    report.findings.iter().map(|finding| essence(report, finding)).collect()
}

/// A demo, read once.
struct Story {
    name: &'static str,
    before: Scene,
    after: Scene,
    said: Vec<Value>,
}

impl Story {
    fn from_demo(demo: &Demo) -> Story {
        let before = demo.scene(DemoState::Before).unwrap();
        let after = demo.scene(DemoState::After).unwrap();
        let said = essences(&stories::judge(&before));
        Story { name: demo.name, before, after, said }
    }

    fn holds_in(&self, variant: &Variant) -> Result<(), TestCaseError> {
        let renamed = variant.owners(&mut objects(&self.before));
        let mut expected: Vec<Value> = self.said.iter().map(|e| sorted(variant.expected(e, &renamed))).collect();
        let report = stories::judge(&variant.applied_to(&self.before));
        let mut found = essences(&report);
        let first = |these: &[Value]| these.first().map(|f| f["check"].clone());
        prop_assert_eq!(first(&found), first(&expected), "{}: another cause comes first", self.name);
        expected.sort_by_key(ToString::to_string);
        found.sort_by_key(ToString::to_string);
        prop_assert!(found == expected, "{}:\n{}", self.name, difference(&found, &expected));
        for old in ["linkerd", "linkerd-cni"].into_iter().filter(|old| variant.namespace(old) != *old) {
            let flag = format!("-n {old} ");
            let stale = commands(&report).find(|command| format!("{command} ").contains(&flag));
            prop_assert!(stale.is_none(), "{}: another namespace is meant: {stale:?}", self.name);
        }
        let after = stories::judge(&variant.applied_to(&self.after));
        let loud: Vec<_> = after.findings.iter().filter(|f| f.severity >= Severity::Warning).collect();
        prop_assert!(loud.is_empty(), "{}: after the remedy {loud:#?}", self.name);
        Ok(())
    }
}

/// Everything that could be pasted.
fn commands(report: &Report) -> impl Iterator<Item = String> {
    report.findings.iter().flat_map(|finding| finding.remedy.commands()).map(ToString::to_string)
}

/// Only what differs.
fn difference(found: &[Value], expected: &[Value]) -> String {
    let only = |these: &[Value], those: &[Value]| {
        these.iter().filter(|v| !those.contains(v)).map(|v| format!("  {v}\n")).collect::<String>()
    };
    format!("found only:\n{}expected only:\n{}", only(found, expected), only(expected, found))
}

#[test]
fn stories_told_with_other_names_are_the_same_stories() {
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    for demo in DEMOS {
        let story = Story::from_demo(demo);
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config.clone(), rng);
        if let Err(error) = runner.run(&variants(), |variant| story.holds_in(&variant)) {
            panic!("{error}");
        }
    }
}
