//! `check --publish` on a real server: reports are written, kept if the evidence is missing, updated and
//! deleted, with only the documented rights.

use std::path::Path;
use std::time::Duration;

use meshdoctor::demo::{self, DemoState};
use serde_json::{Value, json};

use crate::doctor::{Doctor, text};
use crate::harness::Cluster;
use crate::harness::kubeconfig::ADMIN;
use crate::staged::{READER, Staged};
use crate::stories::documented_rules;

/// The schema of a report in the definitions of both groups, as far as they restrict it.
fn schema() -> Value {
    let number = json!({"type": "integer"});
    let word = json!({"type": "string"});
    let words = |all: &[&str]| json!({"type": "string", "enum": all});
    let reference = json!({"type": "object", "properties": {
        "apiVersion": word, "kind": word, "name": word, "namespace": word,
    }});
    let result = json!({"type": "object", "required": ["policy"], "properties": {
        "source": word, "policy": word, "category": word, "message": word, "scored": {"type": "boolean"},
        "severity": words(&["critical", "high", "low", "medium", "info"]),
        "result": words(&["pass", "fail", "warn", "error", "skip"]),
        "timestamp": {"type": "object", "required": ["nanos", "seconds"], "properties": {"nanos": number, "seconds": {"type": "integer", "format": "int64"}}},
        "resources": {"type": "array", "items": reference},
        "properties": {"type": "object", "additionalProperties": word},
    }});
    json!({"type": "object", "properties": {
        "source": word, "results": {"type": "array", "items": result},
        "summary": {"type": "object", "properties": {"pass": number, "fail": number, "warn": number, "error": number, "skip": number}},
    }})
}

fn define(cluster: &mut Cluster, group: &str, version: &str, kinds: [(&str, &str, &str); 2]) {
    for (kind, plural, scope) in kinds {
        cluster.api.create(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": scope,
                "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
                "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema()}}],
            },
        }));
        let path = format!("/apis/{group}/{version}/{plural}");
        cluster.wait(Duration::from_secs(30), |api| match api.call("GET", &path, kind, Vec::new()) {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => Err(format!("{plural} are not served yet: {}", answer.status)),
            Err(error) => Err(error),
        });
    }
}

fn rules(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let role: Value = serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    role["rules"].as_array().unwrap().clone()
}

/// The results of our report in a namespace, or of the cluster: check and result.
fn results(cluster: &Cluster, path: &str) -> Vec<(String, String, Value)> {
    let Some(report) = cluster.api.find(path) else { return Vec::new() };
    let all = report["results"].as_array().cloned().unwrap_or_default();
    let of = |one: Value| {
        let word = |name: &str| one[name].as_str().unwrap().to_owned();
        (word("policy"), word("result"), one["properties"].clone())
    };
    all.into_iter().map(of).collect()
}

#[test]
fn reports_come_stay_and_go() {
    let Some(mut staged) = Staged::new(demo::find("injector-fails-open").unwrap(), DemoState::Before) else {
        return;
    };
    let documented = documented_rules();
    let mut may = documented.as_array().unwrap().clone();
    may.extend(rules("docs/rbac-publish.yaml"));
    staged.cluster.grant(READER, &Value::Array(may.clone()));
    let publish = |staged: &Staged, user: &str| {
        let doctor = Doctor::new(&staged.cluster, user);
        let kubeconfig = doctor.file("kubeconfig");
        let words =
            [&["check", "--kubeconfig", text(&kubeconfig), "--publish", "-o", "short"], &staged.words()[..]].concat();
        let output = doctor.words(&words);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };

    // Nothing takes reports.
    let (status, said) = publish(&staged, ADMIN);
    assert!(said.contains("serves neither reports.openreports.io"), "{said}");
    assert_eq!(status, Some(1), "the findings come first");

    define(
        &mut staged.cluster,
        "wgpolicyk8s.io",
        "v1alpha2",
        [("PolicyReport", "policyreports", "Namespaced"), ("ClusterPolicyReport", "clusterpolicyreports", "Cluster")],
    );
    const SHOP: &str = "/apis/wgpolicyk8s.io/v1alpha2/namespaces/shop/policyreports/meshdoctor";
    const CLUSTER: &str = "/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports/meshdoctor";
    let (status, said) = publish(&staged, READER);
    assert!(status == Some(1) && said.contains("published "), "{said}");
    let found = results(&staged.cluster, SHOP);
    assert!(found.iter().any(|(check, result, _)| check == "pod-missing-proxy" && result == "fail"), "{found:?}");
    let of_cluster = staged.cluster.api.get(CLUSTER);
    assert!(of_cluster["summary"]["pass"].as_u64().unwrap() > 50, "{of_cluster:#}");
    let events = |staged: &Staged, reason: &str| {
        let all = staged.cluster.api.list("/api/v1/namespaces/shop/events");
        all.iter().filter(|event| event["reason"] == reason).count()
    };
    assert!(events(&staged, "FindingAppeared") > 0);

    // The same again: no new events.
    let appeared = events(&staged, "FindingAppeared");
    std::thread::sleep(Duration::from_secs(1));
    publish(&staged, READER);
    assert_eq!((events(&staged, "FindingAppeared"), events(&staged, "FindingGone")), (appeared, 0));

    // A run without the evidence removes nothing.
    let without: Vec<Value> = may
        .iter()
        .cloned()
        .map(|mut rule| {
            if let Some(resources) = rule["resources"].as_array_mut() {
                resources.retain(|resource| resource != "pods");
            }
            rule
        })
        .filter(|rule| rule["resources"].as_array().is_none_or(|all| !all.is_empty()))
        .collect();
    staged.cluster.grant(READER, &Value::Array(without));
    publish(&staged, READER);
    let kept = results(&staged.cluster, SHOP);
    let one = kept.iter().find(|(check, ..)| check == "pod-missing-proxy");
    assert_eq!(one.map(|(_, _, properties)| properties["last-run"].as_str()), Some(Some("not checked")), "{kept:?}");
    assert_eq!(events(&staged, "FindingGone"), 0);
    let skipped = results(&staged.cluster, CLUSTER);
    assert!(skipped.iter().any(|(check, result, _)| check == "pod-missing-proxy" && result == "skip"), "{skipped:?}");

    // A fixed finding is removed, and its report too.
    staged.cluster.grant(READER, &Value::Array(may));
    for pod in staged.cluster.api.list("/api/v1/namespaces/shop/pods") {
        let path =
            format!("/api/v1/namespaces/shop/pods/{}?gracePeriodSeconds=0", pod["metadata"]["name"].as_str().unwrap());
        staged.cluster.api.call("DELETE", &path, "Pod", Vec::new()).unwrap();
    }
    publish(&staged, READER);
    assert!(!results(&staged.cluster, SHOP).iter().any(|(check, ..)| check == "pod-missing-proxy"));
    assert!(events(&staged, "FindingGone") > 0);

    // The newer API is preferred if it is served; objects of other writers there are not changed.
    define(
        &mut staged.cluster,
        "openreports.io",
        "v1alpha1",
        [("Report", "reports", "Namespaced"), ("ClusterReport", "clusterreports", "Cluster")],
    );
    staged.cluster.api.post("/apis/openreports.io/v1alpha1/clusterreports", &json!({
        "apiVersion": "openreports.io/v1alpha1", "kind": "ClusterReport", "metadata": {"name": "meshdoctor"}, "source": "another",
    }));
    let (_, said) = publish(&staged, READER);
    assert!(said.contains("ClusterReport meshdoctor exists but is not meshdoctor's"), "{said}");
    let others = staged.cluster.api.get("/apis/openreports.io/v1alpha1/clusterreports/meshdoctor");
    assert_eq!(others["source"], "another");
}
