//! The status that the kubelet reports for pods that were created again, as far as it follows from the objects.

use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::world::World;

const PROXY: &str = "linkerd-proxy";
const INIT: &str = "linkerd-init";
/// The DaemonSet of linkerd-cni.
const INSTALLER: &str = "linkerd-cni";
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
    let is_installer = |(kind, (_, name)): &(Kind, (String, String))| *kind == Kind::DaemonSet && name == "linkerd-cni";
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
            let is_new = world.begin_pods().any(|one| one["metadata"]["name"] == pod.as_str() && world.is_new(one));
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

/// Starts installers of linkerd-cni that could not write to their node, once their DaemonSet runs them privileged. Their
/// logs are those of an installer that writes its files.
pub fn privileged(scene: &mut Scene, world: &World) {
    let is_privileged = |set: Option<&Value>| {
        set.and_then(|set| set.pointer("/spec/template/spec/containers/0/securityContext/privileged"))
            == Some(&json!(true))
    };
    let set = world.started.iter().find(|(kind, (_, name))| *kind == Kind::DaemonSet && name == INSTALLER);
    let Some((kind, (home, name))) = set else { return };
    if !is_privileged(world.get(*kind, home, name)) || is_privileged(world.before(*kind, home, name)) {
        return;
    }
    let mut refused = std::collections::BTreeSet::new();
    for log in &mut scene.memory.logs {
        let mut object: Value = serde_json::from_slice(log).unwrap();
        let of = object["metadata"]["name"].as_str().unwrap_or_default();
        let pod = of.split('/').next().unwrap_or_default().to_owned();
        let text = object["text"].as_str().unwrap_or_default();
        if object["metadata"]["namespace"] == home.as_str() && text.contains("non-writeable, failure") {
            refused.insert(pod);
            object["text"] = json!("Wrote linkerd CNI binaries to /host/opt/cni/bin\n");
            *log = object.to_string().into_bytes();
        }
    }
    for held in scene.memory.objects.get_mut(&Kind::Pod).into_iter().flatten() {
        if held.namespace == *home && refused.contains(&held.name) {
            let mut pod: Value = serde_json::from_slice(&held.json).unwrap();
            runs(&mut pod);
            held.json = pod.to_string().into_bytes();
        }
    }
}

/// Starts pods that were created again and whose linkerd-init the kubelet refused as root, once the control plane makes
/// linkerd-init run without root.
pub fn admitted(scene: &mut Scene, world: &World) {
    let without_root = |values: Option<Value>| {
        values.is_some_and(|values| values.pointer("/proxyInit/runAsRoot") == Some(&json!(false)))
    };
    if !without_root(super::linkerd::stored(world)) {
        return;
    }
    for held in scene.memory.objects.get_mut(&Kind::Pod).into_iter().flatten() {
        let mut pod: Value = serde_json::from_slice(&held.json).unwrap();
        let is_again = world.by_hand.iter().any(|made| {
            made["metadata"]["name"] == pod["metadata"]["name"]
                && made["metadata"]["namespace"] == pod["metadata"]["namespace"]
        });
        let init = pod["status"]["initContainerStatuses"].as_array().into_iter().flatten();
        let is_refused = init.clone().any(|one| {
            let message = one.pointer("/state/waiting/message").and_then(Value::as_str).unwrap_or_default();
            one["name"] == INIT && message.contains("non-root policy")
        });
        if (is_again || world.is_new(&pod)) && is_refused {
            runs(&mut pod);
            held.json = pod.to_string().into_bytes();
        }
    }
}

/// Starts containers of the control plane whose calls to the API server were redirected to their own proxy, once
/// linkerd-init skips the port behind its Service.
pub fn reached(scene: &mut Scene, world: &World) {
    let service = world.get(Kind::Service, "default", "kubernetes");
    let Some(port) = service.and_then(|service| service["spec"]["ports"][0]["targetPort"].as_u64()) else {
        return;
    };
    let skips = |deployment: Option<&Value>| {
        let init = deployment.and_then(|one| one.pointer("/spec/template/spec/initContainers")?.as_array());
        let words = init.into_iter().flatten().flat_map(|one| one["args"].as_array().into_iter().flatten());
        words.filter_map(Value::as_str).any(|word| word.split(',').any(|one| one == port.to_string()))
    };
    for held in scene.memory.objects.get_mut(&Kind::Pod).into_iter().flatten() {
        let mut pod: Value = serde_json::from_slice(&held.json).unwrap();
        let its = world.started.iter().find(|(_, (home, workload))| {
            held.namespace == *home
                && held.name.strip_prefix(workload.as_str()).is_some_and(|rest| rest.starts_with('-'))
        });
        let Some((kind, (home, workload))) = its else { continue };
        let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let was_cut = statuses.filter_map(|one| one.pointer("/lastState/terminated/message")?.as_str());
        let was_cut = was_cut.into_iter().any(|message| message.contains("TLS handshake timeout"));
        let (before, now) = (world.before(*kind, home, workload), world.get(*kind, home, workload));
        if was_cut && skips(now) && !skips(before) {
            runs(&mut pod);
            held.json = pod.to_string().into_bytes();
        }
    }
}

/// The status of a pod whose containers all started.
fn runs(pod: &mut Value) {
    let named = |list: &str| -> Vec<Value> { pod["spec"][list].as_array().cloned().unwrap_or_default() };
    let (init, containers) = (named("initContainers"), named("containers"));
    let of = |one: &Value, state: Value| json!({"name": one["name"], "image": one["image"], "ready": true, "restartCount": 0, "state": state});
    let ended = json!({"terminated": {"exitCode": 0, "reason": "Completed"}});
    let status = &mut pod["status"];
    status["phase"] = json!("Running");
    if !init.is_empty() {
        status["initContainerStatuses"] = init.iter().map(|one| of(one, ended.clone())).collect();
    }
    status["containerStatuses"] = containers.iter().map(|one| of(one, json!({"running": {}}))).collect();
    status["conditions"] = json!([{"type": "Ready", "status": "True"}]);
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
        let is_its =
            home == namespace && name.strip_prefix(workload.as_str()).is_some_and(|rest| rest.starts_with('-'));
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
        let was_killed = ends.iter().any(|path| status.pointer(path).is_some_and(|reason| reason == "OOMKilled"));
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
    *proxy =
        json!({"name": PROXY, "ready": true, "restartCount": 0, "image": proxy["image"], "state": {"running": {}}});
    for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if others && matches!(condition["type"].as_str(), Some("Ready" | "ContainersReady")) {
            condition["status"] = json!("True");
        }
    }
    true
}
