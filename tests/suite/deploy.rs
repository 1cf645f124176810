//! The chart and the plain manifests: they hold the role of the documentation, the manifests are what the chart renders, and what
//! the chart is given reaches the command.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::meshdoctor;
use crate::skip::{Need, skipped};

const IMAGE: &str = "image.repository=registry.example.com/meshdoctor";

fn documents(text: &str) -> Vec<Value> {
    let all = serde_yaml::Deserializer::from_str(text);
    let all = all.map(|document| <Value as serde::Deserialize>::deserialize(document).unwrap());
    all.filter(|document| !document.is_null()).collect()
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    documents.iter().find(|document| document["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// What the chart renders; `None` without helm.
fn rendered(set: &[&str]) -> Option<Result<String, String>> {
    let mut command = Command::new("helm");
    command.args(["template", "meshdoctor", "deploy/chart", "-n", "meshdoctor", "--kube-version", "1.34.0"]);
    set.iter().for_each(|set| _ = command.args(["--set", set]));
    let Ok(output) = command.output() else {
        skipped(Need::Helm, "the chart is not rendered");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    Some(if output.status.success() {
        Ok(text)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    })
}

#[test]
fn the_role_that_is_deployed_is_that_of_the_documentation() {
    let documented = std::fs::read_to_string("docs/rbac.yaml").unwrap();
    let held = Path::new("deploy/chart/files/rbac.yaml");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(held, &documented).unwrap();
    }
    assert_eq!(std::fs::read_to_string(held).unwrap(), documented, "UPDATE=1 writes it");
    let deployed = documents(&std::fs::read_to_string("deploy/meshdoctor.yaml").unwrap());
    assert_eq!(
        of_kind(&deployed, "ClusterRole")["rules"],
        documents(&documented)[0]["rules"],
        "UPDATE=1 writes it"
    );
}

#[test]
fn the_plain_manifests_are_what_the_chart_renders() {
    let Some(rendered) = rendered(&[IMAGE]) else { return };
    let rendered = rendered.unwrap();
    let path = "deploy/meshdoctor.yaml";
    let before = std::fs::read_to_string(path).unwrap();
    let head: String = before.split_inclusive('\n').take_while(|line| line.starts_with("# ")).collect();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{head}{rendered}")).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{head}{rendered}"), "UPDATE=1 writes it");
}

#[test]
fn what_the_chart_is_given_reaches_the_command() {
    let Some(refused) = rendered(&[]) else { return };
    assert!(refused.unwrap_err().contains("image.repository"));
    let words = rendered(&[IMAGE, "check.failOn=sometimes"]).unwrap().unwrap_err();
    assert!(words.contains("failOn"), "{words}");
    let all = rendered(&[
        IMAGE,
        "keep.enabled=true",
        "metrics.enabled=true",
        "rbac.logs=true",
        "check.only={policy,certificates}",
        "check.namespaces={shop}",
        "check.failOn=warning",
        "waivers=waivers: []",
        "checks.one\\.md=text",
    ]);
    let all = documents(&all.unwrap().unwrap());
    let job = &of_kind(&all, "CronJob")["spec"]["jobTemplate"]["spec"]["template"];
    assert_eq!(job["metadata"]["annotations"]["linkerd.io/inject"], "disabled");
    let container = &job["spec"]["containers"][0];
    let words: Vec<&str> =
        container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    // Every flag is one that the command takes: it gets as far as files that are not here.
    let output = meshdoctor(&words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!error.contains("Usage:") && !error.contains("unexpected argument"), "{words:?}: {error}");
    let mounted: Vec<&Value> =
        container["volumeMounts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    let volumes: Vec<&Value> =
        job["spec"]["volumes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(mounted, volumes);
    let rules = of_kind(&all, "ClusterRole")["rules"].to_string();
    assert!(rules.contains("pods/log"), "{rules}");
}
