//! Numbers of proxies before and after a change: `check --before`, and `check --verify` on a report with numbers.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, whole_metrics, write};

/// A cluster with one meshed workload.
const CLUSTER: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: kube-system, uid: 6f3a4f5e-0000-4000-8000-000000000001}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: web-1, labels: {app: web, linkerd.io/control-plane-ns: linkerd}}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}
status: {phase: Running, podIP: 10.0.0.9, conditions: [{type: Ready, status: "True"}]}
"#;

const CHECK: &str = "traffic-worse-than-before";
const THEN: &str = "2026-01-15T12:00:00Z";
const NOW: &str = "2026-01-15T13:00:00Z";

/// Received requests, failed ones among them, and memory in MB.
#[derive(Clone, Copy)]
struct Numbers(u64, u64, u64);

const GOOD: Numbers = Numbers(10_000, 3, 20);
const BAD: Numbers = Numbers(10_000, 900, 20);
const LARGE: Numbers = Numbers(10_000, 3, 200);
const IDLE: Numbers = Numbers(4, 0, 20);

struct World {
    folder: tempfile::TempDir,
    dump: String,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let dump = write(folder.path(), "cluster.yaml", CLUSTER);
        World { folder, dump }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The files of two reads.
    fn metrics(&self, name: &str, Numbers(requests, failures, memory): Numbers) -> [String; 2] {
        let mut text = String::new();
        for (result, count) in [("success", requests - failures), ("failure", failures)] {
            _ = writeln!(
                text,
                "response_total{{direction=\"inbound\",target_port=\"80\",route_name=\"default\",classification=\"{result}\"}} \
                 {count}"
            );
        }
        _ = writeln!(text, "process_resident_memory_bytes {}", memory << 20);
        let read = |at: i64, text: &str| {
            let head = "#\n# POD web-1 (1 of 1)\n# CONTAINER linkerd-proxy\n#\nprocess_start_time_seconds 1768294900";
            let text = format!("{head}\nprocess_clock_time_seconds {at}\n{text}");
            write(self.folder.path(), &format!("{name}-{at}.txt"), whole_metrics(&text))
        };
        [read(1_768_478_280, ""), read(1_768_478_310, &text)]
    }

    fn check(&self, at: &str, metrics: Option<&[String; 2]>, words: &[&str]) -> Ran {
        let mut all = vec!["check", "--bundle", &self.dump, "--complete", "all", "--at", at];
        all.extend(metrics.iter().flat_map(|pair| pair.iter()).flat_map(|file| ["--diagnostics", file]));
        ran(&mut meshdoctor(&[&all, words].concat()))
    }

    /// A report from before, with these numbers.
    fn before(&self, numbers: Numbers) -> String {
        let report = self.path("before.json");
        let metrics = self.metrics("before", numbers);
        let output = format!("json={report}");
        let ran = self.check(THEN, Some(&metrics), &["--fail-on", "never", "-o", &output]);
        assert!(Path::new(&report).exists(), "{}", ran.text());
        report
    }

    /// The result of a comparison.
    fn compared(&self, report: &str, numbers: Option<Numbers>, words: &[&str]) -> Ran {
        let metrics = numbers.map(|numbers| self.metrics("now", numbers));
        let words = [&["--before", report, "--only", CHECK], words].concat();
        self.check(NOW, metrics.as_ref(), &words)
    }
}

#[test]
fn saved_report_has_the_numbers_of_workloads() {
    let world = World::new();
    let report: Value = serde_json::from_slice(&std::fs::read(world.before(GOOD)).unwrap()).unwrap();
    let workloads = report["traffic"]["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 1, "{workloads:#?}");
    assert_eq!(workloads[0]["name"], "web-1");
    assert_eq!(workloads[0]["inbound"], serde_json::json!({"requests": 10_000, "failures": 3}));
    assert_eq!(workloads[0]["memoryBytes"], 20 << 20);
}

#[test]
fn worse_numbers_fail_and_similar_ones_do_not() {
    let world = World::new();
    let report = world.before(GOOD);
    for (numbers, status, words) in
        [(GOOD, 0, "compared with"), (BAD, 1, "more requests to it fail"), (LARGE, 0, "its proxies use more memory")]
    {
        let ran = world.compared(&report, Some(numbers), &[]);
        assert_eq!(ran.status, status, "{}", ran.text());
        assert!(ran.out.contains(words), "{words}: {}", ran.text());
    }
    assert_eq!(world.compared(&report, Some(LARGE), &["--fail-on", "warning"]).status, 1);
    let markdown = world.compared(&report, Some(BAD), &["-o", "markdown"]);
    assert!(markdown.out.contains("numbers of proxies, before and now"), "{}", markdown.out);
    let json = world.compared(&report, Some(BAD), &["-o", "json"]).document();
    assert_eq!(json["traffic"]["before"]["workloads"][0]["inbound"]["failures"], 3);
    assert_eq!(json["findings"][0]["check"], CHECK);
    let verify = json["findings"][0]["remedy"]["verify"].as_str().unwrap();
    assert!(verify.contains("--before"), "{verify}");
}

#[test]
fn numbers_that_cannot_be_compared_are_gaps() {
    let world = World::new();
    let report = world.before(GOOD);
    // Requests that stopped are a finding.
    for (numbers, outcome) in [(None, "not-checked"), (Some(IDLE), "findings")] {
        let ran = world.compared(&report, numbers, &["-o", "json"]);
        let document = ran.document();
        assert_eq!(document["checks"][0]["outcome"], outcome, "{:#}", document["coverage"]);
        assert_ne!(document["coverage"]["gaps"].as_array().map(Vec::len), Some(0), "{:#}", document["coverage"]);
    }
}

#[test]
fn unusable_earlier_numbers_are_refused() {
    let world = World::new();
    let report = world.before(GOOD);
    let without = world.path("without.json");
    world.check(THEN, None, &["--fail-on", "never", "-o", &format!("json={without}")]);
    let refused = world.compared(&without, Some(GOOD), &[]);
    assert_eq!(refused.status, 2, "{}", refused.text());
    assert!(refused.err.contains("has no numbers of proxies"), "{}", refused.err);
    let live = ran(&mut meshdoctor(&["check", "--before", &report]));
    assert_eq!(live.status, 2);
    assert!(live.err.contains("add --proxies"), "{}", live.err);
    let metrics = world.metrics("now", GOOD);
    let earlier = world.check(THEN, Some(&metrics), &["--before", &report]);
    assert_eq!(earlier.status, 2);
    assert!(earlier.err.contains("not before the evidence"), "{}", earlier.err);
    let moved = std::fs::read_to_string(&report).unwrap().replace("6f3a4f5e", "00000000");
    let moved = write(world.folder.path(), "moved.json", moved);
    let other = world.compared(&moved, Some(GOOD), &[]);
    assert!(other.err.contains("another cluster"), "{}", other.err);
}

#[test]
fn bundle_with_metrics_serves_as_before() {
    let world = World::new();
    let bundle = world.path("before.tar.gz");
    let metrics = world.metrics("before", GOOD);
    world.check(THEN, Some(&metrics), &["--fail-on", "never", "--save", &bundle]);
    let ran = world.compared(&bundle, Some(BAD), &[]);
    assert_eq!(ran.status, 1, "{}", ran.text());
    assert!(ran.out.contains("more requests to it fail"), "{}", ran.text());
}

#[test]
fn verify_compares_the_numbers_of_the_report() {
    let world = World::new();
    let report = world.before(GOOD);
    let verify = |numbers: Option<Numbers>, at: &str, words: &[&str]| {
        let metrics = numbers.map(|numbers| world.metrics("now", numbers));
        let words = [&["--verify", &report, "--only", CHECK], words].concat();
        world.check(at, metrics.as_ref(), &words)
    };
    let good = verify(Some(GOOD), NOW, &[]);
    assert_eq!(good.status, 0, "{}", good.text());
    assert!(good.out.contains("1 of 1 workloads"), "{}", good.out);
    let bad = verify(Some(BAD), NOW, &[]);
    assert_eq!(bad.status, 1, "{}", bad.text());
    assert!(bad.out.contains("more requests to it fail") && bad.out.contains("1 worse"), "{}", bad.out);
    let document = verify(Some(BAD), NOW, &["-o", "json"]).document();
    assert_eq!(document["traffic"]["worse"][0]["subject"]["name"], "web-1", "{document:#}");
    // Without metrics, the comparison is named as missing.
    let without = verify(None, NOW, &[]);
    assert!(without.out.contains("not compared"), "{}", without.out);
    // Evidence from the time of the report shows nothing new.
    let stale = verify(Some(BAD), THEN, &[]);
    assert_eq!(stale.status, 4, "{}", stale.text());
}

#[test]
fn verify_keeps_the_numbers_from_before_the_finding() {
    let world = World::new();
    let report = world.before(GOOD);
    let found = world.path("found.json");
    world.compared(&report, Some(BAD), &["-o", &format!("json={found}")]);
    for (numbers, status) in [(BAD, 1), (GOOD, 0)] {
        let metrics = world.metrics("later", numbers);
        let ran = world.check("2026-01-15T14:00:00Z", Some(&metrics), &["--verify", &found]);
        assert_eq!(ran.status, status, "{}", ran.text());
    }
}
