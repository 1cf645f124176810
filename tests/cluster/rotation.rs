//! A whole rotation of the trust anchor and the issuer on a real API server, by the printed steps of `meshdoctor rotate`
//! alone: they run with the real kubectl, each stage is read again from the live cluster, and each ends without an error.

use std::time::Duration;

use meshdoctor::finding::Severity;
use serde_json::Value;

use crate::doctor::{Doctor, text};
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::manifests;
use crate::harness::skip::{Need, skipped};
use crate::harness::{Cluster, Options};
use crate::operator::{Operator, kubectl};

const RELEASE: &str = "2.19";
/// The stages of a rotation of both, in order.
const STAGES: [&str; 6] =
    ["add-anchor", "restart-workloads", "replace-issuer", "renew-certificates", "remove-anchor", "drop-old-anchor"];
/// Stages that end while the pods that a change of the bundle replaces become ready.
const PASSED: &str = "restart-control-plane";

/// The answer of `meshdoctor rotate` on the live cluster.
fn rotate(doctor: &Doctor) -> Value {
    let kubeconfig = doctor.file("kubeconfig");
    let words = ["rotate", "--kubeconfig", text(&kubeconfig), "--linkerd-cli", "none", "-o", "json"];
    let output = doctor.words(&words);
    let printed = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&printed)
        .unwrap_or_else(|why| panic!("{why}: {printed}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The stage to carry out now, with its commands. Steps that depend on a condition begin with it.
fn next(answer: &Value) -> Option<(String, Vec<String>)> {
    let stages = answer["plan"].as_array().unwrap();
    let next = stages.iter().find(|stage| stage["progress"] == "next")?;
    let steps = next["steps"].as_array().unwrap().iter();
    let always = steps.filter(|step| !step["text"].as_str().unwrap().starts_with("If "));
    let commands = always.flat_map(|step| step["commands"].as_array().into_iter().flatten());
    let commands = commands.map(|command| command.as_str().unwrap().to_owned()).collect();
    Some((next["step"].as_str().unwrap().to_owned(), commands))
}

/// The errors that `meshdoctor check` finds.
fn errors(doctor: &Doctor) -> Vec<String> {
    let ran = doctor.check(&["--linkerd-cli", "none", "--on-not-checked=pass", "--fail-on", "never"]);
    let findings = ran.document.findings.iter().filter(|finding| finding.severity == Severity::Error);
    findings.map(|finding| format!("{}: {}", finding.check, finding.message)).collect()
}

#[test]
fn rotation_on_a_real_server_follows_its_printed_steps() {
    let Some(kubectl) = kubectl() else {
        skipped(Need::Kubectl, "the printed steps of a rotation are not run on a server");
        return;
    };
    if manifests().is_none() {
        return;
    }
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(1, &kubernetes_version());
    let doctor = Doctor::new(&cluster, ADMIN);
    let mut operator = Operator::new(&kubectl, RELEASE);
    cluster.apply_in_order(&operator.installed());
    let old = operator.bundle(&cluster.api);
    assert_eq!(rotate(&doctor)["phase"], "none");
    let mut passed: Vec<String> = Vec::new();
    while passed.len() <= STAGES.len() {
        assert_eq!(errors(&doctor), Vec::<String>::new(), "after {passed:?}");
        let answer = rotate(&doctor);
        if !passed.is_empty() && answer["phase"] == "none" {
            break;
        }
        let (stage, commands) = next(&answer).unwrap_or_else(|| panic!("{passed:?}: {answer:#}"));
        assert_eq!(answer["decision"], "go", "{passed:?}: {answer:#}");
        assert!(!commands.is_empty(), "{stage} has no command");
        // Timestamps of objects have whole seconds, and the stages are hours apart.
        std::thread::sleep(Duration::from_millis(1100));
        operator.run(&cluster.api, &commands);
        cluster.wait_until_ready();
        passed.push(stage);
    }
    let done: Vec<&str> = passed.iter().map(String::as_str).filter(|stage| *stage != PASSED).collect();
    assert_eq!(done, STAGES, "{passed:?}");
    assert_eq!(rotate(&doctor)["phase"], "none");

    // The cluster has one other anchor and an issuer under it, and nothing names the old one.
    let new = operator.bundle(&cluster.api);
    assert!(new.matches("BEGIN CERTIFICATE").count() == 1 && new.trim() != old.trim(), "{new}");
    let line = old.lines().nth(3).unwrap();
    let pods = cluster.api.list("/api/v1/pods");
    assert!(pods.iter().all(|pod| !pod.to_string().contains(line)), "a pod has the old anchor");
}
