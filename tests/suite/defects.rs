//! Each row of `defects.yaml` with a trigger fires on its example in an affected release, and is quiet in the first release
//! with the fix and without the trigger.

use std::path::Path;

use meshdoctor::card::Case;
use meshdoctor::checks;
use meshdoctor::finding::Confidence;
use meshdoctor::knowledge::{AffectedComponent, Knowledge, KnownDefect};
use meshdoctor::scene::Scene;
use meshdoctor::version::{Contains, LinkerdVersion};

use crate::binary::{meshdoctor, ran_to, write};
use crate::case::{Live, base};

/// Releases to try if the range of a row has no first edge.
const OLD: [&str; 4] = ["edge-25.4.4", "edge-24.11.2", "edge-23.11.4", "edge-22.12.1"];

/// A control plane and proxies that are affected together.
fn affected(row: &KnownDefect) -> (String, String) {
    let minors = Knowledge::embedded().minors();
    let old = || OLD.iter().map(|text| text.parse::<LinkerdVersion>().unwrap());
    let decides = |version: &LinkerdVersion| row.affects(version, minors) == Some(Confidence::Observed);
    let occurs = |version: &LinkerdVersion| row.occurs_with(version, minors) == Contains::Yes;
    let proxy = row.edges().chain(old()).find(&decides);
    let control_plane =
        row.edges().chain(old()).find(|version| occurs(version) && (row.is_of_skew() || decides(version)));
    let text = |version: Option<LinkerdVersion>| {
        version.unwrap_or_else(|| panic!("{}: no affected release", row.id)).as_str().to_owned()
    };
    (text(control_plane), text(proxy))
}

/// The first release with the fix.
fn fixed(row: &KnownDefect) -> Option<String> {
    let minors = Knowledge::embedded().minors();
    let after = |version: &LinkerdVersion| row.affects(version, minors).is_none();
    row.edges().filter(after).last().map(|version| version.as_str().to_owned())
}

/// A block with an object and the objects that it needs.
fn cluster_block(row: &KnownDefect, object: Option<&serde_json::Value>) -> String {
    let objects = object.into_iter().chain(&row.example_context);
    let documents: Vec<String> = objects.map(|object| serde_yaml::to_string(object).unwrap()).collect();
    format!("```yaml cluster on=healthy\n{}```\n", documents.join("---\n"))
}

/// The text of an expression between two others.
fn part<'a>(expression: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = expression.split_once(before)?;
    Some(rest.split(after).next().unwrap_or(rest))
}

/// The blocks that trigger a row, as text.
fn trigger(row: &KnownDefect, release: &str) -> String {
    let trigger = row.trigger.as_ref().unwrap();
    let expression = trigger.expression.as_str();
    if let Some(example) = &row.example {
        // A pod states its own release.
        let own = format!("linkerd/proxy:{release}");
        return cluster_block(row, Some(example)).replace("linkerd/proxy:edge-22.12.1", &own);
    }
    if let Some(log) = trigger.log_rows().next() {
        let lines = Knowledge::embedded().mesh_logs().rows().iter().find(|known| known.id == log).unwrap();
        let (pod, container) = match row.decides {
            AffectedComponent::Proxy => ("shop/web-5d9f8c7b66-4xq7p", "linkerd-proxy"),
            _ => ("linkerd/linkerd-destination-7c9d5f6b48-q2w8z", lines.containers[0].as_str()),
        };
        let line = format!("2026-01-15T11:59:00Z {}\n", lines.example);
        return format!(
            "```yaml cluster on=healthy\n```\n```text log={pod}/{container}\n{}```\n",
            line.repeat(lines.times)
        );
    }
    let Some(container) = part(expression, "e.container == '", "'") else {
        panic!("{}: an example is missing", row.id)
    };
    let (namespace, image) = match row.decides {
        AffectedComponent::Proxy => ("shop", format!("cr.l5d.io/linkerd/proxy:{release}")),
        _ => ("linkerd", format!("cr.l5d.io/linkerd/controller:{release}")),
    };
    let code = part(expression, "e.exitCode == ", ")").unwrap_or("137");
    let reason = part(expression, "e.reason == '", "'").unwrap_or("Error");
    format!(
        "```yaml cluster on=healthy\napiVersion: v1\nkind: Pod\nmetadata: {{name: ended, namespace: {namespace}}}\n\
         spec: {{containers: [{{name: {container}, image: \"{image}\"}}]}}\nstatus: {{phase: Running, containerStatuses: \
         [{{name: {container}, ready: true, restartCount: 1, state: {{running: {{startedAt: \"2026-01-15T11:00:00Z\"}}}}, \
         lastState: {{terminated: {{exitCode: {code}, reason: {reason}}}}}}}]}}\n```\n"
    )
}

/// Whether a cluster of a release with these blocks has a finding of a row.
fn fires(row: &KnownDefect, (control_plane, proxy): (&str, &str), blocks: &str) -> bool {
    let text = format!(
        "## Cases\n### fires: {}\n```yaml run\nreplace: {{\"controller:edge-25.4.4\": \"controller:{control_plane}\", \"proxy:edge-25.4.4\": \"proxy:{proxy}\"}}\n```\n{blocks}```text expect\n```\n",
        row.id
    );
    let case = Case::all(&row.id, &text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", row.id));
    let scene = Scene::parse(&case[0].blocks, &base).unwrap_or_else(|error| panic!("{}: {error}", row.id));
    let result = Live(scene).judge(checks::find("known-defect").unwrap());
    let other: Vec<_> = result.gaps.iter().filter(|gap| gap.was_asked_for()).collect();
    assert!(other.is_empty(), "{} at {control_plane}: {other:?}", row.id);
    result.findings.iter().any(|finding| finding.parameters.contains(&row.id))
}

#[test]
fn expressions_of_known_defects_are_valid() {
    assert_eq!(checks::validate_defects(Knowledge::embedded()), Ok(()));
}

#[test]
fn known_defects_fire_only_in_affected_releases_with_the_trigger() {
    let mut wrong = Vec::new();
    for row in Knowledge::embedded().known_defects().rows() {
        if row.trigger.is_none() || row.decides == AffectedComponent::ServiceMirror {
            continue;
        }
        let (control_plane, proxy) = affected(row);
        let release = (control_plane.as_str(), proxy.as_str());
        let blocks = trigger(row, if row.decides == AffectedComponent::Proxy { &proxy } else { &control_plane });
        if !fires(row, release, &blocks) {
            wrong.push(format!("{}: silent on its example at {release:?}", row.id));
        }
        if let Some(fixed) = fixed(row)
            && fires(row, (&fixed, &fixed), &trigger(row, &fixed))
        {
            wrong.push(format!("{}: fires at {fixed}, which has the fix", row.id));
        }
        if row.example.is_some() != row.fixed_example.is_some() {
            wrong.push(format!("{}: only one of example and fixed-example", row.id));
        }
        let without = cluster_block(row, row.fixed_example.as_ref());
        if fires(row, release, &without) {
            wrong.push(format!("{}: fires without the trigger at {release:?}", row.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The reviewed defects of Linkerd's history, each with a row, a check, or the reason why there is neither.
const REVIEWED: &str = include_str!("defects.txt");

#[test]
fn reviewed_defects_have_a_row_a_check_or_a_reason() {
    let rows = Knowledge::embedded().known_defects().rows();
    for line in REVIEWED.lines() {
        let (id, outcome) = line.split_once(": ").unwrap();
        match outcome.split_once(' ') {
            Some(("row", row)) => assert!(rows.iter().any(|known| known.id == row), "{id}: no row {row}"),
            Some(("check", check)) => assert!(checks::find(check).is_some(), "{id}: no check {check}"),
            _ => assert!(outcome.len() > 10, "{id}: a reason"),
        }
    }
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts/defects.yaml");
    let Ok(text) = std::fs::read_to_string(facts) else { return };
    let reviewed = |id: &str| REVIEWED.lines().any(|line| line.split(": ").next() == Some(id));
    let ids = text.lines().filter_map(|line| line.strip_prefix("  id: "));
    let missing: Vec<&str> = ids.filter(|id| !reviewed(id)).collect();
    assert!(missing.is_empty(), "not reviewed: {missing:?}");
}

/// A cluster with one known defect.
const QUOTED_LOG_LEVEL: &str = r#"apiVersion: v1
kind: Namespace
metadata: {name: tools, annotations: {config.linkerd.io/proxy-log-level: 'linkerd[name="outbound"]=debug'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: linkerd-proxy-injector, namespace: linkerd, labels: {linkerd.io/control-plane-component: proxy-injector, linkerd.io/control-plane-ns: linkerd}}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: proxy-injector, image: "cr.l5d.io/linkerd/controller:edge-24.11.8"}]}}}
"#;

#[test]
fn one_known_defect_can_be_selected_or_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "dump.yaml", QUOTED_LOG_LEVEL);
    let run = |exit, flags: &[&str]| {
        ran_to(exit, meshdoctor(&[&["check", &dump, "--complete=all", "-o=short"], flags].concat()))
    };
    run(1, &["--only", "known-defect"]);
    run(1, &["--only", "known-defect/log-level-quotes"]);
    run(1, &["--only", "known-defect", "--skip", "known-defect/server-invalid-selector"]);
    run(0, &["--only", "known-defect/server-invalid-selector"]);
    run(0, &["--only", "known-defect", "--skip", "known-defect/log-level-quotes"]);
    let unknown = run(2, &["--skip", "known-defect/log-level-quote"]);
    assert!(unknown.err.contains("did you mean known-defect/log-level-quotes?"), "{}", unknown.err);
}
