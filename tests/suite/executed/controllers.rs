//! Controllers of Kubernetes: pods, statuses and endpoints that follow from changed workloads. A new pod is a copy of a
//! ready pod of its workload, so only workloads whose pods run today get more of them.

use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Map, Value, json};

use super::world::{Key, World};

const REVISION: &str = "deployment.kubernetes.io/revision";
const COMPONENT: &str = "linkerd.io/control-plane-component";

/// Lets the controllers act on what changed.
pub fn settle(world: &mut World) {
    let deployments = changed(world, Kind::Deployment);
    for key in &deployments {
        undone(world, key);
        scaled_up(world, key);
    }
    for key in changed(world, Kind::DaemonSet) {
        spread(world, &key);
    }
    if !deployments.is_empty() {
        budgets(world);
    }
}

/// The objects of a kind that differ from those of the beginning.
fn changed(world: &World, kind: Kind) -> Vec<Key> {
    let is_changed = |of: &Key, now: &Value| world.before(kind, &of.0, &of.1).is_some_and(|then| then != now);
    let all = world.objects.iter().filter(|((of, key), now)| *of == kind && is_changed(key, now));
    all.map(|((_, key), _)| key.clone()).collect()
}

/// Kind and name of the controlling owner.
fn is_owned_by(object: &Value, kind: &str, name: &str) -> bool {
    let owner = &object["metadata"]["ownerReferences"][0];
    owner["kind"] == kind && owner["name"] == name
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.clone().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// The template of a ReplicaSet or Deployment without the label that the controller adds, and without the empty fields that
/// kubectl writes.
fn template(object: &Value) -> Value {
    let mut template = without_empty(&object["spec"]["template"]);
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    template
}

fn without_empty(value: &Value) -> Value {
    let is_kept = |value: &Value| !value.is_null() && value.as_object().is_none_or(|all| !all.is_empty());
    match value {
        Value::Object(all) => {
            let kept = all.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(kept.filter(|(_, value)| is_kept(value)).collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(without_empty).collect()),
        other => other.clone(),
    }
}

/// A Deployment whose template is that of an older ReplicaSet scales that one up and the others down: their pods end.
fn undone(world: &mut World, key: &Key) {
    let (home, name) = key;
    let Some(deployment) = world.get(Kind::Deployment, home, name) else { return };
    let (wanted, replicas) = (template(deployment), deployment["spec"]["replicas"].clone());
    let before = world.before(Kind::Deployment, home, name).map(template);
    if !wanted.is_object() || before.as_ref() == Some(&wanted) {
        return;
    }
    let is_its = |set: &&Value| set["metadata"]["namespace"] == home.as_str() && is_owned_by(set, "Deployment", name);
    let sets: Vec<Value> = world.of_kind(Kind::ReplicaSet).filter(is_its).cloned().collect();
    let Some(chosen) = sets.iter().find(|set| template(set) == wanted).map(name_of) else { return };
    let revision = |set: &Value| set["metadata"]["annotations"][REVISION].as_str()?.parse::<u64>().ok();
    let next = sets.iter().filter_map(revision).max().unwrap_or_default() + 1;
    for mut set in sets {
        let own = name_of(&set);
        if own == chosen {
            set["metadata"]["annotations"][REVISION] = json!(next.to_string());
            set["spec"]["replicas"] = replicas.clone();
        } else {
            set["spec"]["replicas"] = json!(0);
            set["status"] = json!({"replicas": 0});
            let is_its =
                |pod: &Value| pod["metadata"]["namespace"] == home.as_str() && is_owned_by(pod, "ReplicaSet", &own);
            let pods: Vec<String> = world.of_kind(Kind::Pod).filter(|pod| is_its(pod)).map(name_of).collect();
            for pod in pods {
                let pod = (home.clone(), pod);
                world.objects.remove(&(Kind::Pod, pod.clone()));
                world.ended.insert(pod);
            }
        }
        world.objects.insert((Kind::ReplicaSet, (home.clone(), own)), set);
    }
}

/// A Deployment with more replicas starts further pods, each on a node of its own, and counts them in its status.
fn scaled_up(world: &mut World, key: &Key) {
    let (home, name) = key;
    let count = |object: Option<&Value>| object.and_then(|one| one["spec"]["replicas"].as_u64()).unwrap_or(1);
    let before = count(world.before(Kind::Deployment, home, name));
    let Some(deployment) = world.get(Kind::Deployment, home, name).cloned() else { return };
    let wanted = count(Some(&deployment));
    if before == 0 || wanted <= before || deployment["status"]["replicas"].as_u64() == Some(wanted) {
        return;
    }
    let pods: Vec<Value> = world.of_kind(Kind::Pod).filter(|pod| is_of(world, pod, key)).cloned().collect();
    let Some(model) = pods.iter().find(|pod| is_ready(pod)).cloned() else { return };
    let is_used = |node: &str| pods.iter().any(|pod| pod["spec"]["nodeName"] == node);
    let nodes = world.of_kind(Kind::Node).filter(|node| accepts(node, &deployment["spec"]["template"]["spec"]));
    let free: Vec<String> = nodes.map(name_of).filter(|node| !is_used(node)).collect();
    let running = pods.len() as u64;
    let mut ready = pods.iter().filter(|pod| is_ready(pod)).count() as u64;
    for (at, node) in (running..wanted).zip(free) {
        let pod = copied(&model, &format!("{}-{at}", name_of(&model)), &node);
        world.objects.insert((Kind::Pod, (home.clone(), name_of(&pod))), pod);
        ready += 1;
    }
    let deployment = world.objects.get_mut(&(Kind::Deployment, key.clone())).unwrap();
    for field in ["readyReplicas", "availableReplicas"] {
        deployment["status"][field] = json!(ready);
    }
    deployment["status"]["replicas"] = json!(wanted);
}

/// Whether a pod belongs to a Deployment.
fn is_of(world: &World, pod: &Value, (home, name): &Key) -> bool {
    let owner = &pod["metadata"]["ownerReferences"][0];
    let set = owner["name"].as_str().and_then(|set| world.get(Kind::ReplicaSet, home, set));
    pod["metadata"]["namespace"] == home.as_str()
        && owner["kind"] == "ReplicaSet"
        && set.is_some_and(|set| is_owned_by(set, "Deployment", name))
}

/// A pod with the status of another one of its workload, on another node.
fn copied(model: &Value, name: &str, node: &str) -> Value {
    let mut pod = model.clone();
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["uid"] = json!(format!("p-{name}"));
    pod["spec"]["nodeName"] = json!(node);
    pod
}

/// Whether the scheduler may place a pod on a node, according to its selector and tolerations.
fn accepts(node: &Value, pod: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let selector = pod["nodeSelector"].as_object().into_iter().flatten();
    let is_selected = selector.clone().all(|(name, value)| labels.get(name) == Some(value));
    let tolerations = || pod["tolerations"].as_array().into_iter().flatten();
    let is_tolerated = |taint: &Value| {
        tolerations().any(|one| {
            let is_same = |field: &str| one.get(field).is_none_or(|value| taint.get(field) == Some(value));
            is_same("key") && is_same("effect") && (one["operator"] == "Exists" || is_same("value"))
        })
    };
    let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let is_ready = is_ready(node) && node["spec"]["unschedulable"] != true;
    is_ready && is_selected && taints.all(|taint| taint["effect"] == "PreferNoSchedule" || is_tolerated(taint))
}

/// A DaemonSet starts a pod on each node that accepts it since its template changed.
fn spread(world: &mut World, key: &Key) {
    let (home, name) = key;
    let Some(set) = world.get(Kind::DaemonSet, home, name).cloned() else { return };
    let Some(before) = world.before(Kind::DaemonSet, home, name).cloned() else { return };
    let spec = |set: &Value| set["spec"]["template"]["spec"].clone();
    let is_its = |pod: &&Value| pod["metadata"]["namespace"] == home.as_str() && is_owned_by(pod, "DaemonSet", name);
    let pods: Vec<Value> = world.of_kind(Kind::Pod).filter(is_its).cloned().collect();
    let Some(model) = pods.iter().find(|pod| is_ready(pod)).cloned() else { return };
    let is_new = |node: &&Value| {
        let own = name_of(node);
        accepts(node, &spec(&set))
            && !accepts(node, &spec(&before))
            && pods.iter().all(|pod| pod["spec"]["nodeName"] != own.as_str())
    };
    let nodes: Vec<String> = world.of_kind(Kind::Node).filter(is_new).map(name_of).collect();
    for node in &nodes {
        let pod = copied(&model, &format!("{name}-{node}"), node);
        world.objects.insert((Kind::Pod, (home.clone(), name_of(&pod))), pod);
    }
    let set = world.objects.get_mut(&(Kind::DaemonSet, key.clone())).unwrap();
    for field in ["desiredNumberScheduled", "numberReady"] {
        if let Some(count) = set["status"][field].as_u64() {
            set["status"][field] = json!(count + nodes.len() as u64);
        }
    }
}

/// The controller of PodDisruptionBudgets counts the pods again that a budget selects.
fn budgets(world: &mut World) {
    let budgets: Vec<Value> = world.of_kind(Kind::PodDisruptionBudget).cloned().collect();
    for mut budget in budgets {
        let home = budget["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let Some(selector) = budget["spec"]["selector"]["matchLabels"].as_object().cloned() else { continue };
        let is_covered = |pod: &&Value| {
            let labels = &pod["metadata"]["labels"];
            pod["metadata"]["namespace"] == home.as_str()
                && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
        };
        let covered: Vec<&Value> = world.of_kind(Kind::Pod).filter(is_covered).collect();
        let (expected, healthy) = (covered.len() as u64, covered.iter().filter(|pod| is_ready(pod)).count() as u64);
        if budget["status"]["expectedPods"].as_u64() == Some(expected) {
            continue;
        }
        let least = budget["spec"]["minAvailable"].as_u64();
        let most = budget["spec"]["maxUnavailable"].as_u64();
        let Some(least) = least.or_else(|| Some(expected.saturating_sub(most?))) else { continue };
        let allowed = healthy.saturating_sub(least);
        budget["status"] = json!({"currentHealthy": healthy, "desiredHealthy": least, "expectedPods": expected,
            "disruptionsAllowed": allowed});
        world.objects.insert((Kind::PodDisruptionBudget, (home, name_of(&budget))), budget);
    }
}

/// Services, and those that webhooks call: the base clusters leave them out. Their selectors are the component.
fn services(world: &World, home: &str) -> Vec<Value> {
    let is_here = |service: &&Value| service["metadata"]["namespace"] == home;
    let mut all: Vec<Value> = world.of_kind(Kind::Service).filter(is_here).cloned().collect();
    let kinds = [Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration];
    for configuration in kinds.into_iter().flat_map(|kind| world.of_kind(kind)) {
        let Some(component) = configuration["metadata"]["labels"].get(COMPONENT) else { continue };
        for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
            let service = &webhook["clientConfig"]["service"];
            let is_known = all.iter().any(|one| one["metadata"]["name"] == service["name"]);
            if service["namespace"] == home && !is_known {
                all.push(json!({"metadata": {"name": service["name"], "namespace": home},
                    "spec": {"selector": {COMPONENT: component}, "ports": [{"port": 443}]}}));
            }
        }
    }
    all
}

/// Writes the endpoints of Services whose Deployment is new, or got replicas: its pods are ready.
pub fn slices(world: &World, scene: &mut Scene) {
    let is_stopped = |workload: &Value| workload["spec"]["replicas"] == 0;
    for ((kind, of), deployment) in &world.objects {
        let before = world.before(*kind, &of.0, &of.1);
        if *kind != Kind::Deployment || is_stopped(deployment) || before.is_some_and(|b| !is_stopped(b)) {
            continue;
        }
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        for service in services(world, &of.0) {
            // The base clusters leave out the selectors of Linkerd's Services, which are their components.
            let own = service["metadata"]["labels"].get(COMPONENT);
            let own = own.map(|value| Map::from_iter([(COMPONENT.to_owned(), value.clone())]));
            let selector = service["spec"]["selector"].as_object().cloned().or(own);
            let Some(selector) = selector.filter(|all| !all.is_empty()) else { continue };
            if !selector.iter().all(|(name, value)| labels.get(name) == Some(value)) {
                continue;
            }
            let name = name_of(&service);
            let is_its = |slice: &&Value| {
                slice["metadata"]["labels"]["kubernetes.io/service-name"] == name.as_str()
                    && slice["metadata"]["namespace"] == of.0.as_str()
            };
            let mut slice = world.of_kind(Kind::EndpointSlice).find(is_its).cloned().unwrap_or_else(|| {
                json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                    "metadata": {"name": format!("{name}-new"), "namespace": of.0,
                        "labels": {"kubernetes.io/service-name": name}},
                    "ports": service["spec"]["ports"]})
            });
            slice["endpoints"] = json!([{"addresses": ["10.0.9.9"], "conditions": {"ready": true}}]);
            scene.memory.add(&slice).unwrap();
        }
    }
}
