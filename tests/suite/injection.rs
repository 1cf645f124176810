//! Predicted injection for manifests and clusters, compared with pods from real injectors.

use serde_json::Value;

use crate::binary::{meshdoctor, ran_to};
use crate::changes::{INJECTED, as_written};
use crate::recordings::{folder, json};

const SHOP: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: shop, annotations: {linkerd.io/inject: enabled, config.linkerd.io/proxy-cpu-limit: two}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {config.linkerd.io/skip-inbound-ports: "25"}}
spec:
  template:
    metadata: {annotations: {config.linkerd.io/proxy-memory-limit: 64Mi, config.linkerd.io/proxy-memory-limits: 64Mi}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: agent, namespace: shop}
spec: {hostNetwork: true, containers: [{name: agent, image: agent}]}
"#;

fn answer(args: &[&str], exit: i32) -> Value {
    ran_to(exit, meshdoctor(&[&["injection", "-o", "json"], args].concat())).document()
}

#[test]
fn manifests_are_told_as_a_release_injects_them() {
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("shop.yaml");
    std::fs::write(&path, SHOP).unwrap();
    let path = path.display().to_string();
    let said = answer(&["--manifests", &path, "--linkerd-version", "edge-25.4.4"], 0);
    let workloads = said["workloads"].as_array().unwrap();
    let (web, agent) = (&workloads[0], &workloads[1]);
    assert_eq!((web["fate"].as_str(), agent["fate"].as_str()), (Some("injected"), Some("left")));
    assert_eq!(agent["why"], "it shares the node's network");
    assert_eq!(web["proxy"]["resources"], serde_json::json!(["memory limit 64Mi"]));
    assert_eq!((&web["proxy"]["native"], &web["proxy"]["redirectedBy"]), (&false.into(), &"linkerd-init".into()));
    let acts = |key: &str| {
        let all = web["annotations"].as_array().unwrap();
        all.iter().find(|one| one["key"] == key).map(|one| (one["acts"].as_bool().unwrap(), one["why"].to_string()))
    };
    assert!(acts("config.linkerd.io/proxy-memory-limit").unwrap().0);
    assert!(acts("config.linkerd.io/proxy-cpu-limit").unwrap().1.contains("Kubernetes quantity"));
    assert!(
        acts("config.linkerd.io/proxy-memory-limits")
            .unwrap()
            .1
            .contains("did you mean config.linkerd.io/proxy-memory-limit")
    );
    assert!(acts("config.linkerd.io/skip-inbound-ports").unwrap().1.contains("from the template"));
    // The next release uses native sidecars by default. An unknown name has no answer.
    let newer = answer(&["--manifests", &path, "--linkerd-version", "edge-26.8.3", "shop/web"], 0);
    assert_eq!(newer["workloads"][0]["proxy"]["native"], true);
    answer_refused(&["--manifests", &path, "shop/nothing"]);
    answer_refused(&["--manifests", &path, "shpo"]);
    for (given, meant) in [("shop/wbe", "shop/web"), ("shpo", "shop")] {
        let said = crate::binary::ran(meshdoctor(&["injection", "--manifests", &path, given])).err;
        assert!(said.contains(&format!("did you mean {meant}?")), "{given}: {said}");
    }
    // Without a namespace the result is unknown.
    let alone = own.path().join("alone.yaml");
    std::fs::write(&alone, SHOP.split("---").nth(1).unwrap()).unwrap();
    let alone = alone.display().to_string();
    let said = answer(&["--manifests", &alone, "--linkerd-version", "edge-25.4.4"], 4);
    assert_eq!(said["workloads"][0]["fate"], "unknown");
}

fn answer_refused(args: &[&str]) {
    ran_to(2, meshdoctor(&[&["injection"], args].concat()));
}

#[test]
fn what_is_told_of_a_template_is_what_the_real_injector_made_of_it() {
    let Some(folder) = folder() else { return };
    let mut looked = 0;
    let own = tempfile::tempdir().unwrap();
    for name in INJECTED {
        let path = folder.join(name);
        let written = own.path().join(format!("{name}.json"));
        std::fs::write(&written, as_written(&path).to_string()).unwrap();
        let written = written.display().to_string();
        let all = json(&path.join("cluster.json"));
        let items = all["items"].as_array().unwrap();
        let said = answer(&["--bundle", &path.display().to_string(), "--manifests", &written], 0);
        for told in said["workloads"].as_array().unwrap() {
            let prefix = format!("{}-", told["name"].as_str().unwrap());
            let pod = items.iter().find(|item| {
                item["kind"] == "Pod"
                    && item["metadata"]["namespace"] == told["namespace"]
                    && item["metadata"]["name"].as_str().unwrap().starts_with(&prefix)
            });
            let Some(pod) = pod else { continue };
            assert_eq!(told["fate"], "injected", "{name} {told}");
            let holds = |list: &str| {
                let all = pod["spec"][list].as_array().into_iter().flatten();
                all.filter(|one| one["name"] == "linkerd-proxy").map(|one| one["image"].clone()).next()
            };
            let native = holds("initContainers");
            assert_eq!(told["proxy"]["native"], native.is_some(), "{name} {told}");
            assert_eq!(Some(told["proxy"]["image"].clone()), native.or_else(|| holds("containers")), "{name} {told}");
            looked += 1;
        }
    }
    assert!(looked > 3, "no recorded pod was compared with the prediction");
}

/// The injector refuses close-wait-timeout where proxyInit does not run as root, and the API server a negative quantity.
#[test]
fn pods_that_admission_rejects_are_not_called_injected() {
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("shop.yaml");
    for (key, value, fate) in [
        ("close-wait-timeout", "1h", "refused"),
        ("close-wait-timeout", "500ms", "injected"),
        ("proxy-cpu-request", "-1", "refused"),
        ("proxy-cpu-request", "much", "injected"),
        ("admin-port", "65536", "refused"),
        ("control-port", "65536", "injected"),
    ] {
        let key = format!("config.linkerd.io/{key}");
        std::fs::write(&path, SHOP.replace("config.linkerd.io/proxy-memory-limit: 64Mi", &format!("{key}: {value:?}")))
            .unwrap();
        let said = answer(&["--manifests", &path.display().to_string(), "--linkerd-version", "edge-26.6.3"], 0);
        let web = &said["workloads"][0];
        assert_eq!(web["fate"], fate, "{key}: {value}: {web:#}");
        let acts = web["annotations"].as_array().unwrap().iter().find(|one| one["key"] == key.as_str());
        assert!(fate != "refused" || acts.is_some_and(|one| one["acts"] == false), "{key}: {value}: {web:#}");
    }
}

/// The first line states whether workloads are meshed, and which running pods differ from new ones.
#[test]
fn running_pods_and_templates_with_a_proxy_are_stated() {
    let Some(folder) = folder() else { return };
    let said = |name: &str, target: &str| {
        let bundle = folder.join(name).display().to_string();
        let text = crate::binary::ran(
            meshdoctor(&["injection", target, "--bundle", &bundle, "--complete", "all"]).env("COLUMNS", "100"),
        );
        text.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let web = said("healthy-2.18", "shop/web");
    assert!(web.contains("meshed the proxy is in the pod template (linkerd inject --manual)"), "{web}");
    assert!(!web.contains("not injected"), "{web}");
    let late = said("pods-not-injected", "bare/late");
    assert!(late.contains("new pods are injected") && late.contains("2 running pods have no proxy"), "{late}");
}

/// A prediction for single workloads counts the errors that keep every pod from being injected.
#[test]
fn errors_that_prevent_injection_are_stated() {
    let Some(folder) = folder() else { return };
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("shop.yaml");
    std::fs::write(&path, SHOP).unwrap();
    let path = path.display().to_string();
    for (name, check) in [
        ("healthy-2.18", None),
        ("injector-webhook-missing", Some("injector-webhook-missing")),
        ("injector-cert-expired", Some("webhook-certificate-expired")),
        ("injector-cert-foreign-ca", Some("injector-ca-mismatch")),
    ] {
        let bundle = folder.join(name);
        let recorded = json(&bundle.join("meta.json"))["recorded_at"].as_str().unwrap().to_owned();
        let bundle = bundle.display().to_string();
        let args = ["--bundle", &bundle, "--at", &recorded, "--complete", "all", "--manifests", &path];
        let said = answer(&args, i32::from(check.is_some()));
        let workloads = said["workloads"].as_array().unwrap();
        let web = workloads.iter().find(|one| one["namespace"] == "shop" && one["name"] == "web").unwrap();
        assert_eq!(web["error"]["check"].as_str(), check, "{name}: {web:#}");
        let agent = workloads.iter().find(|one| one["name"] == "agent").unwrap();
        assert_eq!(agent["error"], Value::Null, "{name}: it is not injected in any case");
    }
}

/// One pod of each owner that creates pods itself, such as a Workflow of Argo; of finished ones only if none runs.
#[test]
fn pods_of_other_owners_are_listed() {
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("cluster.json");
    let pod = |name: &str, owner: serde_json::Value, phase: &str| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "flows", "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "a", "image": "a"}]}, "status": {"phase": phase},
        })
    };
    let owner = |kind: &str, name: &str| serde_json::json!({"apiVersion": "x/v1", "kind": kind, "name": name, "uid": "1", "controller": true});
    let items = [
        serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "flows"}}),
        pod("build-1", owner("Workflow", "build"), "Running"),
        pod("build-2", owner("Workflow", "build"), "Running"),
        pod("done-1", owner("Workflow", "done"), "Succeeded"),
        pod("task-1", owner("TaskRun", "task"), "Succeeded"),
        pod("proxy-node", owner("Node", "node"), "Running"),
        pod("web-1", owner("ReplicaSet", "web"), "Running"),
    ];
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(&path, list.to_string()).unwrap();
    let path = path.display().to_string();
    let said = crate::binary::ran(meshdoctor(&["injection", "-o", "json", "--bundle", &path])).document();
    let named: Vec<String> = said["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", one["kind"], one["name"], one["runningPods"]["withoutProxy"]))
        .collect();
    assert_eq!(named, ["\"TaskRun\" \"task\" 0", "\"Workflow\" \"build\" 2"]);
}
