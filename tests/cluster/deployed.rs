//! Deployed in the cluster: the API server takes what `deploy/meshdoctor.yaml` holds, and with the rights of its service account and
//! none beside them a run judges all that an operator's does.

use std::path::Path;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::doctor::Doctor;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::manifests;
use crate::harness::{Cluster, Options};

fn deployed() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/meshdoctor.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let all = serde_yaml::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap());
    all.filter(|document| !document.is_null()).collect()
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
    // As the CronJob runs it, the gate aside: of this cluster's pods none runs.
    let words: Vec<&str> =
        pod["containers"][0]["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let words: Vec<&str> =
        words.into_iter().filter(|word| word.starts_with("--") && !word.starts_with("--output")).collect();
    let ran = account.check(&words);
    let denied: Vec<_> = ran.document.coverage.gaps.iter().filter(|gap| gap.why == "denied").collect();
    assert!(denied.is_empty(), "{denied:#?}");
    let admin = Doctor::of(&cluster, ADMIN).check(&words);
    ran.assert_same(&admin, "with the rights that are deployed");
    // And it may do nothing else.
    let api = cluster.context(ADMIN).signed(token).api();
    let refused = api.call("GET", "/api/v1/namespaces/linkerd/secrets", "Secret", Vec::new());
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.status == 403), "secrets can be listed");
}
