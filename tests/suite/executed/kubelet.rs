//! The status that the kubelet reports for pods that were created again, as far as it follows from the objects.

use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::world::World;

const PROXY: &str = "linkerd-proxy";
const LIMIT: &str = "config.linkerd.io/proxy-memory-limit";

/// Writes the statuses into the pods from which the new ones are created.
pub fn apply(scene: &mut Scene, world: &World) {
    let serves = ["identity", "destination"].iter().all(|component| is_ready(world, component));
    for held in scene.memory.objects.get_mut(&Kind::Pod).into_iter().flatten() {
        let mut pod: Value = serde_json::from_slice(&held.json).unwrap();
        if !world.is_new(&pod) {
            continue;
        }
        let raised = is_raised(world, &pod);
        let others = others_started(world, &mut pod);
        if proxy_started(&mut pod, serves, raised) || others {
            held.json = pod.to_string().into_bytes();
        }
    }
}

/// Starts pods whose sandbox failed because the API server rejected the token of linkerd-cni, once its installer ran
/// again. Removes the events of that failure.
pub fn authorized(scene: &mut Scene, world: &World) {
    let is_installer =
        |(kind, (_, name)): &(Kind, (String, String))| *kind == Kind::DaemonSet && name == "linkerd-cni";
    if !world.started.iter().any(is_installer) {
        return;
    }
    let mut failed = std::collections::BTreeSet::new();
    if let Some(events) = scene.memory.objects.get_mut(&Kind::Event) {
        events.retain(|held| {
            let event: Value = serde_json::from_slice(&held.json).unwrap();
            let message = event["message"].as_str().unwrap_or_default();
            let pod = event["involvedObject"]["name"].as_str().unwrap_or_default().to_owned();
            let is_it = event["reason"] == "FailedCreatePodSandBox"
                && (message.contains("Unauthorized") || message.contains("unauthorized"));
            let is_new =
                world.begin_pods().any(|one| one["metadata"]["name"] == pod.as_str() && world.is_new(one));
            if is_it && is_new {
                failed.insert(pod);
            }
            !(is_it && is_new)
        });
    }
    for held in scene.memory.objects.get_mut(&Kind::Pod).into_iter().flatten() {
        if !failed.contains(&held.name) {
            continue;
        }
        let mut pod: Value = serde_json::from_slice(&held.json).unwrap();
        pod["status"] = json!({});
        held.json = pod.to_string().into_bytes();
    }
}

/// Whether a component of the control plane has a pod that is ready.
fn is_ready(world: &World, component: &str) -> bool {
    world.of_kind(Kind::Pod).any(|pod| {
        let containers = pod["status"]["containerStatuses"].as_array();
        pod["metadata"]["labels"]["linkerd.io/control-plane-component"] == component
            && pod["metadata"]["namespace"] == "linkerd"
            && containers.is_some_and(|all| all.iter().all(|one| one["ready"] == true))
    })
}

/// Whether a command raised the memory limit of the pod's proxy, in the template of its workload.
fn is_raised(world: &World, pod: &Value) -> bool {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
    world.started.iter().any(|(kind, (home, workload))| {
        let is_its = home == namespace
            && name.strip_prefix(workload.as_str()).is_some_and(|rest| rest.starts_with('-'));
        let object = world.get(*kind, home, workload);
        let set = object.and_then(|one| one["spec"]["template"]["metadata"]["annotations"].get(LIMIT));
        let before = world.before(*kind, home, workload);
        let was = before.and_then(|one| one["spec"]["template"]["metadata"]["annotations"].get(LIMIT));
        is_its && set.is_some() && set != was
    })
}

/// Containers that the kernel killed for their memory run if their template has another limit now. Returns whether the
/// status changes.
fn others_started(world: &World, pod: &mut Value) -> bool {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let its = world.started.iter().find(|(_, (home, workload))| {
        *home == namespace && name.strip_prefix(workload.as_str()).is_some_and(|rest| rest.starts_with('-'))
    });
    let Some((kind, (home, workload))) = its else { return false };
    let limit = |object: Option<&Value>, name: &str| {
        let containers = object?.pointer("/spec/template/spec/containers")?.as_array()?;
        let one = containers.iter().find(|one| one["name"] == name)?;
        one.pointer("/resources/limits/memory").cloned()
    };
    let (before, now) = (world.before(*kind, home, workload), world.get(*kind, home, workload));
    let mut changes = false;
    for status in pod["status"]["containerStatuses"].as_array_mut().into_iter().flatten() {
        let name = status["name"].as_str().unwrap_or_default().to_owned();
        let ends = ["/lastState/terminated/reason", "/state/terminated/reason"];
        let was_killed =
            ends.iter().any(|path| status.pointer(path).is_some_and(|reason| reason == "OOMKilled"));
        if was_killed && limit(now, &name).is_some() && limit(now, &name) != limit(before, &name) {
            *status = json!({"name": name, "ready": true, "restartCount": 0, "image": status["image"],
                "state": {"running": {}}});
            changes = true;
        }
    }
    changes
}

/// A new proxy becomes ready if the control plane serves it. One that the kernel killed for its memory needs a higher
/// limit. Returns whether the status changes.
fn proxy_started(pod: &mut Value, serves: bool, raised: bool) -> bool {
    let Some(statuses) = pod["status"]["containerStatuses"].as_array_mut() else { return false };
    let others = statuses.iter().filter(|one| one["name"] != PROXY).all(|one| one["ready"] == true);
    let Some(proxy) = statuses.iter_mut().find(|one| one["name"] == PROXY) else { return false };
    let ends = ["/lastState/terminated/reason", "/state/terminated/reason"];
    let was_killed = ends.iter().any(|path| proxy.pointer(path).is_some_and(|reason| reason == "OOMKilled"));
    let runs = proxy["state"]["running"].is_object();
    if !serves || was_killed && !raised || !runs && !was_killed {
        return false;
    }
    *proxy = json!({"name": PROXY, "ready": true, "restartCount": 0, "image": proxy["image"], "state": {"running": {}}});
    for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if others && matches!(condition["type"].as_str(), Some("Ready" | "ContainersReady")) {
            condition["status"] = json!("True");
        }
    }
    true
}
