//! Lists of more than one page, and page tokens that expire while a list is read: every object is evaluated,
//! and each of them once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use meshdoctor::render::document::About;
use serde_json::json;

use crate::doctor::{Doctor, Ran};
use crate::harness::front::Front;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options};

/// More than one page.
const PODS: usize = 620;
const WORDS: [&str; 4] = ["--linkerd-cli", "none", "--at", "2026-01-15T12:00:00Z"];

#[test]
fn every_page_counts_once() {
    let Some(cluster) = Cluster::start(Options::still().pages_from_etcd()) else { return };
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("checks/bases/healthy.yaml");
    cluster.seed(&ObjectSet::read(&base).completed());
    unmeshed(&cluster);

    let plain = Doctor::new(&cluster, ADMIN).check_twice(&WORDS, &[]);
    assert_eq!(plain.status, 1);
    let expected: BTreeSet<String> = (0..PODS).map(name).collect();
    let pods = pods_of_crowd(&plain);
    assert_eq!(pods.len(), PODS);
    assert_eq!(BTreeSet::from_iter(pods), expected);

    // The history is compacted before the second page of the first try, so the list starts again and
    // succeeds.
    let (asked, once) = with_expired_tokens(&cluster, 1);
    assert_eq!(asked, ["first", "next", "first", "next"]);
    once.assert_same_but(&["redaction"], &plain, "the token expired once");

    // And before every second page: in one piece, in the end.
    let (asked, always) = with_expired_tokens(&cluster, usize::MAX);
    assert_eq!(asked.last().map(String::as_str), Some("whole"), "{asked:?}");
    always.assert_same_but(&["redaction"], &plain, "the token expired each time");
}

fn name(number: usize) -> String {
    format!("crowd-6c5f7d9b88-{number:05}")
}

/// Pods of one Deployment without a proxy, in a namespace that requests injection.
fn unmeshed(cluster: &Cluster) {
    let metadata = |name: &str| json!({ "name": name, "namespace": "shop" });
    let labels = json!({ "app": "crowd" });
    let containers = json!([{ "name": "app", "image": "registry.example.com/crowd:1" }]);
    let template = json!({ "metadata": { "labels": labels }, "spec": { "containers": containers } });
    let spec = json!({ "selector": { "matchLabels": labels }, "template": template, "replicas": PODS });
    let owner = |kind: &str, name: &str| json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("uid-of-{name}"), "controller": true }]);
    let mut replica_set = metadata("crowd-6c5f7d9b88");
    replica_set["ownerReferences"] = owner("Deployment", "crowd");
    let mut objects = vec![
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("crowd"), "spec": spec }),
        json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": replica_set, "spec": spec }),
    ];
    for number in 0..PODS {
        let mut metadata = metadata(&name(number));
        metadata["labels"] = labels.clone();
        metadata["ownerReferences"] = owner("ReplicaSet", "crowd-6c5f7d9b88");
        let spec = json!({ "containers": containers });
        objects.push(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec }));
    }
    objects.iter().for_each(|object| cluster.api.create(object));
}

/// The pods that are named as lacking a proxy.
fn pods_of_crowd(ran: &Ran) -> Vec<String> {
    let findings = ran.document.findings.iter().filter(|finding| finding.check == "pod-missing-proxy");
    let subjects = findings.flat_map(|finding| &finding.subjects);
    let of_crowd = subjects.filter_map(|subject| match subject {
        About::Object { name, pods, .. } if name == "crowd" => Some(pods.clone()),
        _ => None,
    });
    of_crowd.flatten().collect()
}

/// A check during which this many page tokens of pods expire. Returns its requests for pods too.
fn with_expired_tokens(cluster: &Cluster, times: usize) -> (Vec<String>, Ran) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (seen, etcd) = (Arc::clone(&asked), cluster.etcd.clone());
    let rule = move |request: &http::request::Parts| {
        if request.uri.path() == "/api/v1/pods" {
            let query = request.uri.query().unwrap_or("");
            // Pages come after the watch cache refuses.
            if query.contains("resourceVersion=0") {
                let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410 });
                return Some((410, status));
            }
            let mut seen = seen.lock().unwrap();
            let word = match (query.contains("continue="), query.contains("limit=")) {
                (true, _) => "next",
                (false, true) => "first",
                (false, false) => "whole",
            };
            seen.push(word.to_owned());
            if word == "next" && seen.iter().filter(|word| *word == "next").count() <= times {
                etcd.compact();
            }
        }
        None
    };
    let (_front, context): (Front, _) = cluster.context_behind(ADMIN, Arc::new(rule));
    let ran = Doctor::with(&[("cluster", context)]).check(&WORDS);
    let asked = asked.lock().unwrap().clone();
    (asked, ran)
}
