//! Deployed in the cluster: the API server accepts `deploy/` and the rendered chart and admits their pods
//! under the documented Pod Security levels. With only the rights of the service account, a run evaluates the
//! same checks as an operator's.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::doctor::Doctor;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::manifests;
use crate::harness::skip::{Need, skipped};
use crate::harness::{Cluster, Options};

fn documents(text: &str) -> Vec<Value> {
    let all = serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap());
    all.filter(|document| !document.is_null()).collect()
}

fn file(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    documents(&std::fs::read_to_string(path).unwrap())
}

fn deployed() -> Vec<Value> {
    file("meshdoctor.yaml")
}

/// The rendered chart with most of its options; `None` without helm.
fn charted() -> Option<Vec<Value>> {
    let mut command = Command::new("helm");
    command.args(["template", "meshdoctor", "deploy/chart", "-n", "meshdoctor", "--kube-version", "1.34.0"]);
    for set in [
        "image.repository=registry.example.com/meshdoctor",
        "keep.enabled=true",
        "publish=true",
        "rbac.logs=true",
        "check.failOn=warning:observed",
        "output=ndjson",
        "waivers=waivers: []",
        "timeZone=Europe/Berlin",
    ] {
        command.args(["--set", set]);
    }
    let Ok(output) = command.current_dir(env!("CARGO_MANIFEST_DIR")).output() else {
        skipped(Need::Helm, "the rendered chart is not applied to a server");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(documents(&String::from_utf8(output.stdout).unwrap()))
}

/// A namespace that enforces a Pod Security level.
fn namespace(name: &str, level: &str) -> Value {
    let labels = json!({"pod-security.kubernetes.io/enforce": level});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

/// Waits for this many pods with a label.
fn wait_for_pods(cluster: &mut Cluster, namespace: &str, (key, value): (&str, &str), wanted: usize) {
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let events = format!("/api/v1/namespaces/{namespace}/events");
    let count = |pods: Vec<Value>| pods.iter().filter(|pod| pod["metadata"]["labels"][key] == value).count();
    cluster.wait(Duration::from_secs(60), |api| match count(api.list(&path)) {
        found if found == wanted => Ok(()),
        found => {
            let said = api.list(&events).into_iter().map(|event| event["message"].to_string());
            Err(format!("{found} of {wanted} pods of {value}: {}", said.collect::<Vec<_>>().join("\n")))
        }
    });
}

/// A Job of an existing CronJob, as `kubectl create job --from` creates it.
fn run_now(cluster: &mut Cluster, object: &Value, namespace: &str) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let spec = &object["spec"]["jobTemplate"]["spec"];
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": format!("{name}-now"), "namespace": namespace}, "spec": spec});
    cluster.api.create(&job);
    let pods = usize::try_from(spec["completions"].as_u64().unwrap_or(1)).unwrap();
    wait_for_pods(cluster, namespace, ("batch.kubernetes.io/job-name", &format!("{name}-now")), pods);
}

/// The pods of each CronJob are admitted at the level restricted; those of the DaemonSet, one per node, only
/// at the level privileged.
#[test]
fn a_server_takes_all_that_is_deployed_and_admits_its_pods() {
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(2, "v1.34.4");
    cluster.api.create(&namespace("meshdoctor", "restricted"));
    cluster.api.create(&namespace("linkerd", "privileged"));
    for objects in [file("fleet.yaml"), charted().unwrap_or_default()] {
        objects.iter().for_each(|object| cluster.api.create(object));
        for object in objects.iter().filter(|object| object["kind"] == "CronJob") {
            run_now(&mut cluster, object, "meshdoctor");
        }
    }
    for level in ["baseline", "privileged"] {
        let home = format!("nodes-{level}");
        cluster.api.create(&namespace(&home, level));
        for mut object in file("nodes.yaml") {
            object["metadata"]["namespace"] = json!(home);
            cluster.api.create(&object);
        }
    }
    let selector = ("app.kubernetes.io/component", "node-evidence");
    wait_for_pods(&mut cluster, "nodes-privileged", selector, 2);
    wait_for_pods(&mut cluster, "nodes-baseline", selector, 0);
}

#[test]
fn the_service_account_suffices_for_a_whole_run() {
    if manifests().is_none() {
        return;
    }
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(1, "v1.34.4");
    cluster.install("2.18", &["crds", "control-plane"]);
    let objects = deployed();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "meshdoctor"}});
    cluster.api.create(&namespace);
    objects.iter().for_each(|object| cluster.api.create(object));
    let job = objects.iter().find(|object| object["kind"] == "CronJob").unwrap();
    let kept = cluster.api.get(&cluster.api.path(job));
    let pod = &kept["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "meshdoctor", "{kept}");

    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let answer = cluster.api.post("/api/v1/namespaces/meshdoctor/serviceaccounts/meshdoctor/token", &request);
    let token = answer["status"]["token"].as_str().unwrap();
    let account = Doctor::with(&[("deployed", cluster.context(ADMIN).signed(token))]);
    // As the CronJob runs it, except for the gate: none of this cluster's pods runs.
    let words: Vec<&str> =
        pod["containers"][0]["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let words: Vec<&str> =
        words.into_iter().filter(|word| word.starts_with("--") && !word.starts_with("--output")).collect();
    let ran = account.check(&words);
    let denied: Vec<_> = ran.document.coverage.gaps.iter().filter(|gap| gap.why == "denied").collect();
    assert!(denied.is_empty(), "{denied:#?}");
    let admin = Doctor::new(&cluster, ADMIN).check(&words);
    ran.assert_same(&admin, "with the rights that are deployed");
    // It has no other rights.
    let api = cluster.context(ADMIN).signed(token).api();
    let refused = api.call("GET", "/api/v1/namespaces/linkerd/secrets", "Secret", Vec::new());
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.status == 403), "secrets can be listed");
}
