//! Custom checks: the examples pass their own tests, are treated like built-in checks, and accept parameters.
//! Submodules cover refused cards, expressions and custom resources.

mod custom_resources;
mod expressions;
mod new;
mod refused;

use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran_to, write};

/// A run in the repository's root, as for an author of custom checks.
fn ran(arguments: &[&str], exit: i32) -> Ran {
    ran_to(exit, meshdoctor(arguments).current_dir(env!("CARGO_MANIFEST_DIR")))
}

/// The report of a custom card on a complete dump.
fn judged_of(folder: &Path, dump: &str, checks: &str, more: &[&str], exit: i32) -> Value {
    let dump = write(folder, "dump.yaml", dump);
    let flags = ["check", "--bundle", &dump, "--complete", "all", "--checks", checks, "--only", "yours"];
    ran(&[&flags[..], &["-o", "json"], more].concat(), exit).document()
}

/// The same of a Deployment with an annotation in its template.
fn judged(folder: &Path, checks: &str, annotation: &str, more: &[&str], exit: i32) -> Value {
    let dump = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {{name: shop, labels: {{team: shop}}}}\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web, namespace: shop}}\n  spec:\n    replicas: 3\n    template:\n      metadata: {{annotations: {{linkerd.io/inject: enabled, {annotation}}}}}\n      spec: {{containers: [{{name: app, image: 'a:1', env: [{{name: X, value: secret}}]}}]}}\n"
    );
    judged_of(folder, &dump, checks, more, exit)
}

/// Writes a card with that rule; gives its folder.
fn card(folder: &Path, id: &str, rule: &str) -> String {
    edited(folder, id, rule, |text| text)
}

/// The same with its text changed.
fn edited(folder: &Path, id: &str, rule: &str, edit: impl FnOnce(String) -> String) -> String {
    let text = format!(
        "---\ntitle: T\nseverity: error\ncategory: yours\nsince: 0.1.0\nrule:\n{rule}\n  message: m\n  fix: [{{text: Do it}}]\n---\n## What it finds\nA.\n## Why it matters\nB.\n## How to fix\nC.\n## What it cannot see\nD.\n## Cases\n"
    );
    let home = folder.join(id);
    write(&home, &format!("{id}.md"), edit(text));
    home.display().to_string()
}

#[test]
fn the_examples_say_what_their_cards_claim() {
    if std::env::var_os("UPDATE").is_some() {
        let mut test = meshdoctor(&["test", "examples/checks"]);
        ran_to(0, test.current_dir(env!("CARGO_MANIFEST_DIR")).env("UPDATE", "1"));
    }
    // The result does not depend on how the folder is spelled.
    let absolute = format!("{}/examples/checks", env!("CARGO_MANIFEST_DIR"));
    for folder in ["examples/checks", "./examples/checks", "examples/checks/", &absolute] {
        let said = ran(&["test", folder], 0).out;
        assert!(said.ends_with("5 checks, 15 cases: 0 failed\n"), "{said}");
    }
}

#[test]
fn what_a_user_brings_stands_beside_the_built_in_checks() {
    let listed = ran(&["list", "yours", "--checks", "examples/checks"], 0).out;
    for id in ["namespace-outside-mesh", "outbound-port-skipped", "server-without-proxy-protocol"] {
        assert!(listed.contains(id), "{listed}");
    }
    let page = ran(&["explain", "outbound-port-skipped", "--checks", "examples/checks"], 0).out;
    assert!(page.contains("Traffic to skipped ports is sent unencrypted"), "{page}");
    ran(&["explain", "outbound-port-skipped"], 2);
}

#[test]
fn its_findings_are_those_of_any_check() {
    let folder = tempfile::tempdir().unwrap();
    let skips = "config.linkerd.io/skip-outbound-ports: '5432'";
    let report = judged(folder.path(), "examples/checks", skips, &["--fail-on", "warning"], 1);
    let checks: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|f| f["check"].as_str().unwrap()).collect();
    assert_eq!(checks, ["namespace-outside-mesh", "outbound-port-skipped"], "{report:#}");
    let finding = &report["findings"][1];
    assert_eq!(
        finding["remedy"]["verify"],
        "meshdoctor check --checks examples/checks --only outbound-port-skipped --fail-on warning"
    );
    assert!(finding["docs"].is_null() && finding["fingerprint"].is_string(), "{finding}");
    judged(folder.path(), "examples/checks", skips, &["--skip", "namespace-outside-mesh,outbound-port-skipped"], 0);
    judged(folder.path(), "examples/checks", skips, &["--only", "outbound-port-skiped"], 2);
}

#[test]
fn parameters_are_set_anew_and_stay_of_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let rule =
        "  for: deployments.apps\n  rule: object.spec.replicas <= params.most\n  params: {most: 5, strict: true}";
    let home = card(folder.path(), "too-many", rule);
    judged(folder.path(), &home, "a: b", &[], 0);
    judged(folder.path(), &home, "a: b", &["--param", "too-many.most=2"], 1);
    // In a file, which the command line counts before.
    let file = write(folder.path(), "meshdoctor.toml", "[params.too-many]\nmost = 2\n");
    judged(folder.path(), &home, "a: b", &["--config", &file], 1);
    judged(folder.path(), &home, "a: b", &["--config", &file, "--param", "too-many.most=3"], 0);
    for (words, why) in [
        ("too-many.most=few", "most is a whole number"),
        ("too-many.most=2.5", "most is a whole number"),
        ("too-many.strict=2", "strict is true or false"),
        ("too-many.mots=2", "did you mean most?"),
        ("too-mny.most=2", "did you mean too-many?"),
        ("pod-missing-proxy.most=2", "the check has no parameters"),
        ("most=2", "CHECK.NAME=VALUE"),
    ] {
        let error = ran(&["check", "--bundle", "nothing", "--checks", &home, "--param", words], 2).err;
        assert!(error.contains(why), "{words}: {error}");
    }
}

#[test]
fn deeply_nested_front_matter_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let depth = 200_000;
    let card = format!("---\ntitle: {}{}\n---\n# x\n", "[".repeat(depth), "]".repeat(depth));
    write(folder.path(), "deep.md", card);
    let began = std::time::Instant::now();
    let ran = ran(&["list", "--checks", folder.path().to_str().unwrap()], 2);
    assert!(ran.err.contains("deep.md"), "{}", ran.err);
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
}
