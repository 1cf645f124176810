//! The repairs of `meshdoctor fix`, as a script and with `--apply`, run with the real kubectl on a real API server: their
//! findings are gone, and nothing new of warning or above came.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
        let text = std::fs::read_to_string(script).unwrap();
        assert!(err.contains(" is manual: "), "{err}\n{text}");
        // A person decides to open the port, with the command that the script prints.
        if err.contains("Set the Server to audit") {
            let shown = text.lines().find(|line| line.starts_with('#') && line.contains("accessPolicy"));
            let command = shown.expect(&text).trim_start_matches(['#', ' ']);
            let once = script.with_extension("once");
            std::fs::write(&once, command).unwrap();
            assert!(sh(folder, &once, 1).status.success(), "{command}");
        }
        if err.contains("It is the last step.") {
            return stops + 1;
        }
        let next = err.rsplit(' ').next().unwrap().trim().parse::<usize>().unwrap();
        assert!(next > first, "{err}");
        (first, stops) = (next, stops + 1);
    }
}

/// A cluster with the findings of [`CHECKS`] on top of those of a played one.
struct Broken {
    /// The folder of kubectl.
    kubectl: PathBuf,
    doctor: Doctor,
    /// The checks with findings before.
    before: BTreeSet<String>,
    _cluster: Cluster,
}

impl Broken {
    /// `None` if the machine lacks a part.
    fn start() -> Option<Broken> {
        let Some(kubectl) = folder_of("kubectl") else {
            skipped(Need::Kubectl, "printed repairs are not run on a server");
            return None;
        };
        manifests()?;
        let mut cluster = Cluster::start(Options::played())?;
        cluster.add_nodes(3, &crate::harness::binaries::kubernetes_version());
        cluster.install(RELEASE, &["crds", "control-plane", "workloads"]);
        let doctor = Doctor::new(&cluster, ADMIN);
        let before = problems(&doctor);
        let documents = serde_yaml::Deserializer::from_str(TROUBLE).map(|one| Value::deserialize(one).unwrap());
        cluster.apply_in_order(&documents.collect::<Vec<_>>());
        let broken = problems(&doctor);
        let added: Vec<&str> = broken.difference(&before).map(String::as_str).collect();
        assert_eq!(added, CHECKS);
        Some(Broken { kubectl, doctor, before, _cluster: cluster })
    }

    /// `meshdoctor fix` for the findings, with more flags.
    fn fix(&self, more: &[&str], answers: &str) -> Output {
        let kubeconfig = self.doctor.file("kubeconfig");
        let only = CHECKS.join(",");
        let words = ["fix", "--kubeconfig", kubeconfig.to_str().unwrap(), "--linkerd-cli", "none", "--only", &only];
        let mut child = Command::new(env!("CARGO_BIN_EXE_meshdoctor"))
            .args([&words, more].concat())
            .env_clear()
            .env("HOME", kubeconfig.parent().unwrap())
            .env("PATH", &self.kubectl)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

#[test]
fn script_repairs_a_real_cluster() {
    let Some(broken) = Broken::start() else { return };
    let output = broken.fix(&[], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for check in CHECKS {
        assert!(text.contains(&format!("{check} (")), "{check} is proven to go: {text}");
    }
    let script = broken.doctor.file("fix.sh");
    std::fs::write(&script, &text).unwrap();
    let stops = run(&broken.kubectl, &script);
    assert!(stops > 0, "{text}");
    assert_eq!(problems(&broken.doctor), broken.before, "{text}");
}

#[test]
fn apply_runs_only_what_is_confirmed() {
    let Some(broken) = Broken::start() else { return };
    let stopped = broken.fix(&["--apply"], "q\n");
    let err = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(err.contains("stopped before step 1"), "{err}");
    assert_eq!(stopped.status.code(), Some(1), "{err}");
    assert!(CHECKS.iter().all(|check| problems(&broken.doctor).contains(*check)), "{err}");
    let applied = broken.fix(&["--apply"], &"y\n".repeat(40));
    let err = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert_eq!(applied.status.code(), Some(0), "{err}");
    assert!(err.contains("after step 1: ") && err.contains("result: no error or warning left"), "{err}");
    assert_eq!(problems(&broken.doctor), broken.before, "{err}");
}
