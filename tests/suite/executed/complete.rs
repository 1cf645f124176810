//! Parts of a cluster that a case leaves out and its remedy needs: the workloads of pods, their revisions and namespaces.

use std::collections::BTreeSet;

use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::world::{Objects, objects};

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
    let missing = |name: &&&String| !known.contains_key(&(Kind::Namespace, (String::new(), (**name).clone())));
    for name in names.iter().filter(missing) {
        let labels = json!({"kubernetes.io/metadata.name": name});
        added.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}));
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
    let nodes: Vec<&String> = known.keys().filter(|(kind, _)| *kind == Kind::Node).map(|(_, (_, name))| name).collect();
    for set in named {
        for (at, node) in nodes.iter().enumerate() {
            let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set, "controller": true}]);
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
    (!known.contains_key(&key)).then(|| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))
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
                let owner =
                    json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment, "controller": true}]);
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

/// Adds the revisions of Deployments with several ReplicaSets: the template of each has the images of its pods, and the
/// Deployment has the newest one.
pub fn revisions(scene: &mut Scene) {
    let known = objects(&scene.memory);
    let of_kind = |wanted: Kind| known.iter().filter(move |((kind, _), _)| *kind == wanted);
    let is_owned = |object: &Value, above: &Value| {
        let owner = &object["metadata"]["ownerReferences"][0];
        object["metadata"]["namespace"] == above["metadata"]["namespace"]
            && owner["kind"] == above["kind"]
            && owner["name"] == above["metadata"]["name"]
    };
    for (_, deployment) in of_kind(Kind::Deployment) {
        let sets = of_kind(Kind::ReplicaSet).map(|(_, set)| set).filter(|set| is_owned(set, deployment));
        let mut sets: Vec<Value> = sets.cloned().collect();
        if sets.len() < 2 || sets.iter().any(|set| set["spec"].get("template").is_some()) {
            continue;
        }
        sets.sort_by_key(|set| set["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned());
        let mut newest = Value::Null;
        for (at, set) in sets.iter_mut().enumerate() {
            let pod = of_kind(Kind::Pod).map(|(_, pod)| pod).find(|pod| is_owned(pod, set));
            newest = with_images(&deployment["spec"]["template"], pod.unwrap_or(&Value::Null));
            set["spec"]["template"] = newest.clone();
            set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!((at + 1).to_string());
            scene.memory.add(set).unwrap();
        }
        let mut deployment = deployment.clone();
        deployment["spec"]["template"] = newest;
        scene.memory.add(&deployment).unwrap();
    }
}

/// A template with the images of a pod.
fn with_images(template: &Value, pod: &Value) -> Value {
    let mut template = template.clone();
    let running = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
    for container in template["spec"]["containers"].as_array_mut().into_iter().flatten() {
        let own = running.iter().find(|one| one["name"] == container["name"]);
        if let Some(image) = own.and_then(|own| own.get("image")) {
            container["image"] = image.clone();
        }
    }
    template
}

/// A workload with the template of a pod, without the parts of the injector.
fn workload(kind: &str, name: &str, namespace: &str, pod: &Value) -> Value {
    let is_injected =
        |name: &str| matches!(name, "linkerd-proxy" | "linkerd-init" | "linkerd-network-validator" | "linkerd-debug");
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
