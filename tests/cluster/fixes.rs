//! The script of `meshdoctor fix`, run with the real kubectl on a real API server: its findings are gone, and nothing new
//! of warning or above came.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use meshdoctor::finding::Severity;
use serde::Deserialize as _;
use serde_json::Value;

use crate::doctor::Doctor;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::manifests;
use crate::harness::skip::{Need, skipped};
use crate::harness::{Cluster, Options};

const RELEASE: &str = "2.18";

/// Objects with one finding each, whose repair needs no other program than kubectl.
const TROUBLE: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: team, annotations: {config.linkred.io/proxy-cpu-request: 100m}}
---
apiVersion: v1
kind: Service
metadata: {name: labelled, namespace: shop, labels: {linkerd.io/inject: enabled}}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: misplaced, namespace: shop, annotations: {config.linkerd.io/proxy-cpu-limit: "1"}}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: web-http, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, port: 8080}
"#;

/// The checks that find them.
const CHECKS: [&str; 4] =
    ["annotation-as-label", "annotation-misplaced", "annotation-unknown", "server-without-authorization"];

/// The folder of a program on PATH.
fn folder_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join(program).is_file())
}

/// The findings of warning or above.
fn problems(doctor: &Doctor) -> BTreeSet<String> {
    let ran = doctor.check(&["--linkerd-cli", "none", "--on-not-checked=pass", "--fail-on", "never"]);
    let findings = ran.document.findings.iter().filter(|finding| finding.severity > Severity::Info);
    findings.map(|finding| finding.check.clone()).collect()
}

fn sh(folder: &Path, script: &Path, first: usize) -> Output {
    Command::new("/bin/sh")
        .arg(script)
        .arg(first.to_string())
        .env_clear()
        .env("HOME", script.parent().unwrap())
        .env("PATH", folder)
        .output()
        .unwrap()
}

/// Runs a script to its end. Manual steps are passed by. Returns how often it stopped.
fn run(folder: &Path, script: &Path) -> usize {
    let (mut first, mut stops) = (1, 0);
    loop {
        let output = sh(folder, script, first);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return stops;
        }
        assert!(err.contains(" is manual: "), "{err}\n{}", std::fs::read_to_string(script).unwrap());
        let next = err.rsplit("sh SCRIPT ").next().unwrap().trim().parse::<usize>().unwrap();
        assert!(next > first, "{err}");
        (first, stops) = (next, stops + 1);
    }
}

#[test]
fn script_repairs_a_real_cluster() {
    let Some(kubectl) = folder_of("kubectl") else {
        skipped(Need::Kubectl, "printed repairs are not run on a server");
        return;
    };
    if manifests().is_none() {
        return;
    }
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(3, &crate::harness::binaries::kubernetes_version());
    cluster.install(RELEASE, &["crds", "control-plane", "workloads"]);
    let doctor = Doctor::of(&cluster, ADMIN);
    let before = problems(&doctor);
    let documents = serde_yaml::Deserializer::from_str(TROUBLE).map(|one| Value::deserialize(one).unwrap());
    cluster.apply_in_order(&documents.collect::<Vec<_>>());
    let broken = problems(&doctor);
    let added: Vec<&str> = broken.difference(&before).map(String::as_str).collect();
    assert_eq!(added, CHECKS);
    let kubeconfig = doctor.file("kubeconfig");
    let only = CHECKS.join(",");
    let words =
        ["fix", "--kubeconfig", kubeconfig.to_str().unwrap(), "--linkerd-cli", "none", "--only", &only];
    let output = doctor.words(&words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for check in CHECKS {
        assert!(text.contains(&format!("{check} (")), "{check} is proven to go: {text}");
    }
    let script = doctor.file("fix.sh");
    std::fs::write(&script, &text).unwrap();
    let stops = run(&kubectl, &script);
    assert!(stops > 0, "{text}");
    assert_eq!(problems(&doctor), before, "{text}");
}
