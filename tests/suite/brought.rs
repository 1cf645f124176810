//! Checks that users bring: the examples and the template prove themselves, nothing tells them from the built-in ones, and what
//! cannot be meant is refused with file and line.

use std::path::Path;

use meshdoctor::expression::FUNCTIONS;
use serde_json::Value;

use crate::cli::meshdoctor;

fn ran(arguments: &[&str], exit: i32) -> (String, String) {
    let out =
        meshdoctor(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("UPDATE").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(exit), "{arguments:?}\n{said}\n{error}");
    (said, error)
}

/// Writes what the cases of the examples say into them, where that is asked for.
fn update(folder: &str) {
    if std::env::var_os("UPDATE").is_some() {
        let out =
            meshdoctor(&["test", folder]).current_dir(env!("CARGO_MANIFEST_DIR")).env("UPDATE", "1").output();
        assert!(out.unwrap().status.success());
    }
}

#[test]
fn the_examples_say_what_their_cards_claim() {
    update("examples/checks");
    let (said, _) = ran(&["test", "examples/checks"], 0);
    assert!(said.ends_with("3 checks, 9 cases: 0 failed\n"), "{said}");
}

#[test]
fn a_new_card_is_a_check_at_once_and_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    ran(&["new", "no-owner", "--dir", &path], 0);
    ran(&["new", "no-owner", "--dir", &path], 2);
    ran(&["new", "No_Owner", "--dir", &path], 2);
    ran(&["new", "pod-missing-proxy", "--dir", &path], 2);
    // Its cases expect nothing yet, and that is said.
    ran(&["test", &path], 1);
    let updated = meshdoctor(&["test", &path]).env("UPDATE", "1").output().unwrap();
    assert!(updated.status.success());
    ran(&["test", &path], 0);
}

#[test]
fn what_a_user_brings_stands_beside_the_built_in_checks() {
    let (listed, _) = ran(&["list", "yours", "--checks", "examples/checks"], 0);
    for id in ["namespace-outside-mesh", "outbound-port-skipped", "server-without-proxy-protocol"] {
        assert!(listed.contains(id), "{listed}");
    }
    let (page, _) = ran(&["explain", "outbound-port-skipped", "--checks", "examples/checks"], 0);
    assert!(page.contains("What is skipped is sent in the clear"), "{page}");
    ran(&["explain", "outbound-port-skipped"], 2);
}

/// A cluster of one Deployment as a dump, which is all of it.
fn judged(folder: &Path, checks: &str, annotation: &str, more: &[&str], exit: i32) -> Value {
    let dump = folder.join("dump.yaml");
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {{name: shop, labels: {{team: shop}}}}\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web, namespace: shop}}\n  spec:\n    replicas: 3\n    template:\n      metadata: {{annotations: {{linkerd.io/inject: enabled, {annotation}}}}}\n      spec: {{containers: [{{name: app, image: 'a:1', env: [{{name: X, value: secret}}]}}]}}\n"
    );
    std::fs::write(&dump, text).unwrap();
    let dump = dump.display().to_string();
    let flags = [
        "check",
        "--bundle",
        &dump,
        "--complete",
        "all",
        "--checks",
        checks,
        "-o",
        "json",
        "--only",
        "yours",
    ];
    let (said, _) = ran(&[&flags[..], more].concat(), exit);
    serde_json::from_str(&said).unwrap()
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
    judged(
        folder.path(),
        "examples/checks",
        skips,
        &["--skip", "namespace-outside-mesh,outbound-port-skipped"],
        0,
    );
    judged(folder.path(), "examples/checks", skips, &["--only", "outbound-port-skiped"], 2);
}

/// A card with that rule for Deployments.
fn card(folder: &Path, id: &str, rule: &str) -> String {
    let text = format!(
        "---\ntitle: T\nseverity: error\ncategory: yours\nsince: 0.1.0\nrule:\n{rule}\n  message: m\n  fix: [{{text: Do it}}]\n---\n## What it finds\nA.\n## Why it matters\nB.\n## How to fix\nC.\n## What it cannot see\nD.\n## Cases\n"
    );
    let home = folder.join(id);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join(format!("{id}.md")), text).unwrap();
    home.display().to_string()
}

#[test]
fn what_an_expression_cannot_know_is_not_checked_and_never_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("missing-field", "object.spec.paused", "paused is not there"),
        (
            "redacted-text",
            "object.spec.template.spec.containers.all(c, c.env.all(e, e.value == 'x'))",
            "value is redacted",
        ),
        ("not-a-truth", "object.spec.replicas", "neither true nor false"),
        ("unknown-version", "atLeast(cluster.kubernetes, '1.29')", "kubernetes is not there"),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        let report = judged(folder.path(), &home, "a: b", &[], 4);
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report:#}");
        let told = report["checks"][0]["reason"].as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("of-secrets", "  for: secrets\n  rule: 'true'", "no expression sees secrets"),
        ("of-nothing", "  for: deploymnts\n  rule: 'true'", "is no kind that is read"),
        ("misspelled", "  for: pods\n  rule: objct.x", "did you mean object?"),
        ("no-function", "  for: pods\n  rule: injcted(object)", "did you mean injected?"),
        ("no-cel", "  for: pods\n  rule: object..x", "rule.rule"),
        ("unknown-key", "  for: pods\n  rule: 'true'\n  wher: 'true'", "unknown field"),
    ] {
        let home = card(folder.path(), id, rule);
        let (_, error) = ran(&["list", "--checks", &home], 2);
        assert!(error.contains(why) && error.contains(&format!("{id}.md:")), "{id}: {error}");
    }
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    ran(&["list", "--checks", &empty.display().to_string()], 2);
    ran(&["list", "--checks", "no-such-folder"], 2);
    ran(&["test"], 2);
    // A card without the cases that prove it is said to lack them.
    let home = card(folder.path(), "unproved", "  for: pods\n  rule: 'true'");
    let (said, _) = ran(&["test", &home], 1);
    assert!(said.contains("it has no case ### fires"), "{said}");
}

/// The functions, as the page has them.
#[test]
fn the_page_names_every_function() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/your-own-checks.md");
    let mut table = "| function | is |\n|---|---|\n".to_owned();
    for (name, arguments, meaning) in FUNCTIONS {
        table.push_str(&format!("| `{name}({arguments})` | {meaning} |\n"));
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (begin, end) = ("<!-- functions: begin -->\n", "<!-- functions: end -->");
    let (head, rest) = page.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let wanted = format!("{head}{begin}{table}{end}{tail}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/your-own-checks.md is out of date: UPDATE=1 cargo test writes it");
    }
}
