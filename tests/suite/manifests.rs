//! `check --manifests` on small sets through the real binary: what is found and where, what is set aside, and how the run ends.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};

const SERVER: &str = "apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: broken, namespace: shop}
spec: {podSelector: {}, port: 70000}
";

/// What makes pods, each with the annotation in its own metadata alone.
const MAKERS: &str = "apiVersion: apps/v1
kind: KIND
metadata: {name: web, namespace: shop, annotations: {linkerd.io/inject: enabled}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";
const CRON_JOB: &str = "apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: shop, annotations: {linkerd.io/inject: enabled}}
spec: {schedule: '0 4 * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: web, image: web:1}]}}}}}
";

fn check(folder: &Path, more: &[&str]) -> Ran {
    let given = ["check", "--no-config", "--manifests", folder.to_str().unwrap(), "-o", "json"];
    ran(meshdoctor(&[&given, more].concat()))
}

/// Each finding of warning or above, with the file and the line of its object.
fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter().filter(|one| one["severity"] != "info");
    let each = findings.map(|finding| {
        let written = &finding["written"][0];
        let file = written["file"].as_str().unwrap_or_default().rsplit('/').next().unwrap();
        format!("{} {file}:{}", finding["check"].as_str().unwrap(), written["line"])
    });
    each.collect()
}

#[test]
fn unreadable_server_is_found_with_its_line() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER);
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    for more in [&["--linkerd-version", "2.19"][..], &["--bundle", base], &[]] {
        let ran = check(own.path(), more);
        let report = ran.document();
        assert_eq!(found(&report), ["policy-unreadable server.yaml:4"], "{more:?}: {}", ran.err);
        // Without a release the newest one counts, which passes over this Server alone.
        assert_eq!(ran.status, i32::from(!more.is_empty()), "{more:?}");
    }
    write(own.path(), "server.yaml", SERVER.replace("70000", "8080"));
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let report = ran.document();
    assert_eq!((ran.status, found(&report)), (0, vec![]), "{}", ran.err);
    let passed = report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "pass");
    let passed: Vec<&str> = passed.map(|check| check["id"].as_str().unwrap()).collect();
    assert!(passed.contains(&"policy-unreadable") && passed.contains(&"policy-ignored"), "{passed:?}");
}

#[test]
fn annotation_on_a_workload_is_found_without_its_namespace() {
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"] {
        let own = tempfile::tempdir().unwrap();
        let object = match kind {
            "Job" => MAKERS.replace("apps/v1", "batch/v1").replace("KIND", kind),
            "CronJob" => CRON_JOB.to_owned(),
            _ => MAKERS.replace("KIND", kind),
        };
        write(own.path(), "web.yaml", &object);
        let ran = check(own.path(), &["--linkerd-version", "2.19"]);
        assert_eq!(found(&ran.document()), ["annotation-on-workload web.yaml:3"], "{kind}: {}", ran.err);
        // The namespace has it: then the copy on the workload changes nothing.
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}\n";
        write(own.path(), "namespace.yaml", namespace);
        let ran = check(own.path(), &["--linkerd-version", "2.19"]);
        assert_eq!(found(&ran.document()), Vec::<String>::new(), "{kind}: {}", ran.err);
    }
}

#[test]
fn link_to_a_binary_is_skipped_and_named() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER.replace("70000", "8080"));
    symlink(env!("CARGO_BIN_EXE_meshdoctor"), own.path().join("tool")).unwrap();
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let report = ran.document();
    assert_eq!(ran.status, 0, "{}", ran.err);
    let aside = report["coverage"]["setAside"].to_string();
    assert!(aside.contains("/tool: skipped"), "{aside}");
    // A link whose name says that it holds objects, and that leads nowhere, is missing evidence.
    symlink("/nonexistent/web.yaml", own.path().join("web.yaml")).unwrap();
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!(ran.status, 4, "{}", ran.err);
    let table = crate::binary::ran(meshdoctor(&[
        "check",
        "--no-config",
        "--manifests",
        own.path().to_str().unwrap(),
    ]));
    assert!(table.out.contains("web.yaml"), "{}", table.out);
}

#[test]
fn set_of_templates_is_never_fine() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    std::fs::create_dir(own.path().join("templates")).unwrap();
    let template = MAKERS.replace("KIND", "Deployment").replace("web,", "'{{ .Values.name }}',");
    write(&own.path().join("templates"), "web.yaml", template);
    write(own.path(), "config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n");
    let ran = check(own.path(), &[]);
    assert_eq!(ran.status, 4, "{}\n{}", ran.out, ran.err);
    let table = crate::binary::ran(meshdoctor(&[
        "check",
        "--no-config",
        "--manifests",
        own.path().to_str().unwrap(),
    ]));
    assert!(table.out.contains("helm template DIR") && !table.out.contains("NO ERRORS"), "{}", table.out);
}

#[test]
fn run_counts_the_checks_that_can_judge_manifests() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER);
    let report = check(own.path(), &[]).document();
    let ids = report["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap());
    let ids: Vec<&str> = ids.collect();
    let needs_nodes = |id: &&str| {
        let needs = &meshdoctor::checks::find(id).unwrap().card().front.needs;
        needs.contains(&meshdoctor::item::Item::NodeFiles)
    };
    assert!(ids.len() > 40 && !ids.iter().any(needs_nodes), "{ids:?}");
    // A check that is named runs, and says what it lacks.
    let named = check(own.path(), &["--only", "cni-conf-none"]);
    assert!(matches!(named.status, 3 | 4), "{}", named.err);
}
