//! Parts of a cluster that a case leaves out and its remedy needs: the workloads of pods, their namespaces, and keys of
//! certificate authorities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::certificates::{Certificate, Key, Trust, from_bundle, trust};
use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::certificates::{self, Authority, split};
use super::world::{Objects, objects};

/// Name of the authority that no object contains, among those with known keys.
pub const ROOT: &str = "root.crt";

/// Adds the workloads of pods and the namespaces of objects, as far as the case leaves them out.
pub fn workloads(scene: &mut Scene) {
    let known = objects(&scene.memory);
    let mut added: Vec<Value> = Vec::new();
    for ((kind, (namespace, _)), pod) in &known {
        if *kind == Kind::Pod {
            added.extend(owners(&known, namespace, pod));
            added.extend(account(&known, namespace, pod));
        }
    }
    let names: BTreeSet<&String> =
        known.keys().map(|(_, (namespace, _))| namespace).filter(|n| !n.is_empty()).collect();
    let missing =
        |name: &&&String| !known.contains_key(&(Kind::Namespace, (String::new(), (**name).clone())));
    for name in names.iter().filter(missing) {
        let labels = json!({"kubernetes.io/metadata.name": name});
        added.push(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}),
        );
    }
    let mut seen = BTreeSet::new();
    for object in added {
        if seen.insert(format!("{} {}", object["kind"], object["metadata"])) {
            scene.memory.add(&object).unwrap();
        }
    }
}

/// Adds the DaemonSet of a base network with a pod on each node, if commands name it and the case leaves it out.
pub fn network(scene: &mut Scene, commands: &str) {
    if commands.contains("kube-node-lease") {
        leases(scene);
    }
    let known = objects(&scene.memory);
    let home = || "kube-system".to_owned();
    let named = super::nodes::networks().filter(|set| {
        (commands.contains(&format!("set={set}"))
            || commands.contains(&format!("daemonset/{set}"))
            || commands.contains(&format!("daemonset {set}")))
            && !known.contains_key(&(Kind::DaemonSet, (home(), (*set).to_owned())))
    });
    let nodes: Vec<&String> =
        known.keys().filter(|(kind, _)| *kind == Kind::Node).map(|(_, (_, name))| name).collect();
    for set in named {
        for (at, node) in nodes.iter().enumerate() {
            let owner =
                json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set, "controller": true}]);
            let pod = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("{set}-{at}"), "namespace": "kube-system", "ownerReferences": owner,
                    "creationTimestamp": "2025-11-01T09:00:00Z"},
                "spec": {"nodeName": node, "hostNetwork": true, "containers": [{"name": set, "image": "r/network:1"}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": set, "ready": true, "restartCount": 0,
                        "state": {"running": {"startedAt": "2025-11-01T09:00:00Z"}}}]}});
            scene.memory.add(&pod).unwrap();
            if at == 0 {
                scene.memory.add(&workload("DaemonSet", set, "kube-system", &pod)).unwrap();
            }
        }
    }
}

/// The ServiceAccount of a pod, without which the API server creates no pod.
fn account(known: &Objects, namespace: &str, pod: &Value) -> Option<Value> {
    let name = pod["spec"]["serviceAccountName"].as_str().unwrap_or("default");
    let key = (Kind::ServiceAccount, (namespace.to_owned(), name.to_owned()));
    let metadata = json!({"name": name, "namespace": namespace});
    (!known.contains_key(&key))
        .then(|| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))
}

/// Adds the Lease of each node, which its kubelet renews by the node's clock.
fn leases(scene: &mut Scene) {
    for ((kind, (_, name)), node) in objects(&scene.memory) {
        let conditions = node["status"]["conditions"].as_array();
        let beat = conditions.and_then(|all| all.iter().find_map(|one| one.get("lastHeartbeatTime")));
        if let (Kind::Node, Some(beat)) = (kind, beat) {
            let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": name, "namespace": "kube-node-lease"},
                "spec": {"holderIdentity": name, "renewTime": beat}});
            scene.memory.add(&lease).unwrap();
        }
    }
}

/// The workload of a pod that no object of the case describes.
fn owners(known: &Objects, namespace: &str, pod: &Value) -> Vec<Value> {
    let owners = pod["metadata"]["ownerReferences"].as_array();
    let Some(owner) = owners.and_then(|owners| owners.first()) else { return Vec::new() };
    let text = |name: &str| owner[name].as_str().unwrap_or_default().to_owned();
    let (kind, name) = (text("kind"), text("name"));
    let has = |kind: Kind, name: &str| known.contains_key(&(kind, (namespace.to_owned(), name.to_owned())));
    match kind.as_str() {
        "ReplicaSet" => {
            let set = known.get(&(Kind::ReplicaSet, (namespace.to_owned(), name.clone())));
            let above = set.and_then(|set| set["metadata"]["ownerReferences"][0]["name"].as_str());
            let short = name.rsplit_once('-').map_or(name.as_str(), |(short, _)| short);
            let deployment = above.unwrap_or(short).to_owned();
            let mut added = Vec::new();
            if set.is_none() {
                let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment, "controller": true}]);
                added.push(json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "metadata": {"name": name, "namespace": namespace, "ownerReferences": owner},
                    "spec": {"replicas": 1}, "status": {"replicas": 1, "readyReplicas": 1}}));
            }
            if !has(Kind::Deployment, &deployment) {
                added.push(workload("Deployment", &deployment, namespace, pod));
            }
            added
        }
        "Job" => jobs(known, namespace, &name, pod),
        "DaemonSet" if !has(Kind::DaemonSet, &name) => vec![workload("DaemonSet", &name, namespace, pod)],
        "StatefulSet" if !has(Kind::StatefulSet, &name) => {
            vec![workload("StatefulSet", &name, namespace, pod)]
        }
        _ => Vec::new(),
    }
}

/// The Job of a pod and its CronJob: the controller names a Job after its CronJob and the time.
fn jobs(known: &Objects, namespace: &str, name: &str, pod: &Value) -> Vec<Value> {
    let key = |kind: Kind, name: &str| (kind, (namespace.to_owned(), name.to_owned()));
    let job = known.get(&key(Kind::Job, name));
    // The controller names a Job after its CronJob and the minute.
    let short = name.rsplit_once('-').filter(|(_, at)| at.bytes().all(|byte| byte.is_ascii_digit()));
    let above = match job {
        Some(job) => job["metadata"]["ownerReferences"][0]["name"].as_str(),
        None => short.map(|(short, _)| short),
    };
    let mut added = Vec::new();
    if job.is_none() {
        let mut made = workload("Job", name, namespace, pod);
        made["apiVersion"] = json!("batch/v1");
        made["status"] = json!({"active": 1});
        if let Some(above) = above {
            made["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": above, "controller": true}]);
        }
        added.push(made);
    }
    if let Some(above) = above.filter(|above| !known.contains_key(&key(Kind::CronJob, above))) {
        let made = workload("CronJob", above, namespace, pod);
        let template = json!({"spec": {"template": made["spec"]["template"]}});
        added.push(json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": made["metadata"],
            "spec": {"schedule": "0 3 * * *", "jobTemplate": template}}));
    }
    added
}

/// The manifest of a pod without an owner: without status, and without what the injector added or copied from the
/// namespace.
pub fn manifest(pod: &Value, namespace: &Value) -> Value {
    let made = workload("Deployment", "", "", pod);
    let mut manifest = made["spec"]["template"].clone();
    let copied = &namespace["metadata"]["annotations"];
    if let Some(annotations) = manifest["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|name, _| !name.starts_with("config.") || copied.get(name).is_none());
    }
    for field in ["name", "namespace"] {
        manifest["metadata"][field] = pod["metadata"][field].clone();
    }
    manifest["apiVersion"] = json!("v1");
    manifest["kind"] = json!("Pod");
    manifest["spec"]["nodeName"] = pod["spec"]["nodeName"].clone();
    manifest
}

/// A workload with the template of a pod, without the parts of the injector.
fn workload(kind: &str, name: &str, namespace: &str, pod: &Value) -> Value {
    let is_injected = |name: &str| {
        matches!(name, "linkerd-proxy" | "linkerd-init" | "linkerd-network-validator" | "linkerd-debug")
    };
    let containers = |list: &str| -> Value {
        let all = pod["spec"][list].as_array().into_iter().flatten();
        let own = all.filter(|one| !is_injected(one["name"].as_str().unwrap_or_default()));
        Value::Array(own.cloned().collect())
    };
    let kept = |field: &str, drop: &dyn Fn(&str) -> bool| -> Value {
        let all = pod["metadata"][field].as_object().into_iter().flatten();
        Value::Object(all.filter(|(name, _)| !drop(name)).map(|(k, v)| (k.clone(), v.clone())).collect())
    };
    let annotations = kept("annotations", &|name| {
        matches!(name, "linkerd.io/created-by" | "linkerd.io/proxy-version" | "linkerd.io/trust-root-sha256")
    });
    let labels = kept("labels", &|name| {
        matches!(name, "pod-template-hash" | "linkerd.io/control-plane-ns" | "linkerd.io/workload-ns")
            || name.starts_with("linkerd.io/proxy-")
    });
    let mut spec = pod["spec"].clone();
    spec["containers"] = containers("containers");
    spec["initContainers"] = containers("initContainers");
    spec.as_object_mut().unwrap().remove("nodeName");
    let status = match kind {
        "DaemonSet" => json!({"desiredNumberScheduled": 1, "numberReady": 1}),
        _ => json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}),
    };
    json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": pod["metadata"]["creationTimestamp"]},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}},
        "status": status})
}

/// Certificates whose keys the operator has.
#[derive(Default, Clone)]
pub struct Keys {
    /// Authorities by the PEM of their certificate.
    pub roots: BTreeMap<String, Arc<Authority>>,
    /// The keys of issuers by the PEM of their certificate.
    pub issuers: BTreeMap<String, String>,
}

/// Replaces each root, and with `issuers` also each issuer, by one with the same name and validity whose key is known.
pub fn authorities(scene: &mut Scene, issuers: bool) -> Keys {
    let mut found = BTreeSet::new();
    for object in objects(&scene.memory).values() {
        visit(object, &mut |pem| _ = found.insert(pem.to_owned()));
    }
    let read = |pem: &String| from_bundle(pem).ok().and_then(|all| all.into_iter().next());
    let all: Vec<(String, Certificate)> = found
        .iter()
        .filter_map(|pem| Some((pem.clone(), read(pem)?)))
        .filter(|(_, one)| one.is_authority())
        .collect();
    let mut new: BTreeMap<String, String> = BTreeMap::new();
    let mut keys = Keys::default();
    // An issuer may have the name of its anchor.
    let is_signed_by_other = |(pem, one): &(String, Certificate)| {
        let mut others = all.iter().filter(|(other, _)| other != pem);
        others.any(|(_, other)| trust(std::slice::from_ref(one), std::slice::from_ref(other)) == Trust::Yes)
    };
    let roots: BTreeSet<String> = all
        .iter()
        .filter(|one| one.1.is_self_issued() && !is_signed_by_other(one))
        .map(|(pem, _)| pem.clone())
        .collect();
    let (roots, below): (Vec<_>, Vec<_>) = all.into_iter().partition(|(pem, _)| roots.contains(pem));
    for (pem, root) in &roots {
        if root.key() != Key::Ecdsa(256) {
            continue;
        }
        let copy = certificates::copy_of_root(root);
        new.insert(pem.clone(), copy.pem().trim().to_owned());
        keys.roots.insert(copy.pem().trim().to_owned(), Arc::new(copy));
    }
    for (pem, issuer) in below.iter().filter(|_| issuers) {
        let above = roots
            .iter()
            .find(|(_, root)| trust(std::slice::from_ref(issuer), std::slice::from_ref(root)) == Trust::Yes);
        let known = above.and_then(|(root, _)| keys.roots.get(new.get(root)?)).cloned();
        let root = match (known, above) {
            (Some(root), _) => root,
            // A root that no object contains: the operator has its file.
            (None, None) => {
                let root =
                    Arc::new(certificates::root(certificates::common_name(&issuer.issuer()), "2025-06-01"));
                keys.roots.insert(ROOT.to_owned(), Arc::clone(&root));
                root
            }
            (None, Some(_)) => continue,
        };
        let (certificate, key) = certificates::copy_of_issuer(issuer, &root);
        new.insert(pem.clone(), certificate.trim().to_owned());
        keys.issuers.insert(certificate.trim().to_owned(), key);
    }
    for held in scene.memory.objects.values_mut().flatten() {
        let mut object: Value = serde_json::from_slice(&held.json).unwrap();
        replace(&mut object, &new);
        held.json = object.to_string().into_bytes();
    }
    keys
}

/// Calls a function with each certificate in the texts of a value, also in base64.
fn visit(value: &Value, see: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            for pem in split(&decoded(text).unwrap_or_else(|| text.clone())) {
                see(pem.trim());
            }
        }
        Value::Array(all) => all.iter().for_each(|one| visit(one, see)),
        Value::Object(all) => all.values().for_each(|one| visit(one, see)),
        _ => {}
    }
}

fn decoded(text: &str) -> Option<String> {
    let bytes = text.starts_with("LS0tLS1CRUdJTi").then(|| STANDARD.decode(text).ok())??;
    String::from_utf8(bytes).ok()
}

fn replace(value: &mut Value, new: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            let inner = decoded(text);
            let mut plain = inner.clone().unwrap_or_else(|| text.clone());
            if !plain.contains("BEGIN CERTIFICATE") {
                return;
            }
            for (old, new) in new {
                plain = plain.replace(old, new);
                // In YAML within a text, the lines are indented.
                for indent in ["  ", "    "] {
                    let inside = |pem: &str| pem.replace('\n', &format!("\n{indent}"));
                    plain = plain.replace(&inside(old), &inside(new));
                }
            }
            *text = if inner.is_some() { STANDARD.encode(plain) } else { plain };
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, new)),
        Value::Object(all) => all.values_mut().for_each(|one| replace(one, new)),
        _ => {}
    }
}
