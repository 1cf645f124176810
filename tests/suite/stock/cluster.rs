//! Builds a cluster from manifests: pods of Deployments and DaemonSets, injected if their namespace requests
//! it, with the statuses that controllers and kubelets write, and the endpoints of Services.

use std::collections::BTreeSet;

use meshdoctor::source::Completeness;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};

/// When everything was created.
const CREATED: &str = "2026-11-21T02:00:00Z";
/// The evaluation time.
const NOW: &str = "2026-11-21T08:00:00Z";
/// Number of nodes.
const NODES: usize = 3;

/// A cluster as its API server lists it.
pub struct Cluster {
    objects: Vec<Value>,
}

impl Cluster {
    /// The cluster with these objects applied; `injected` are workloads that the injector of the release has changed.
    pub fn new(mut objects: Vec<Value>, injected: &[Value]) -> Cluster {
        let sidecar = Sidecar::new(&objects, injected);
        objects.extend((0..NODES).map(|at| node(&format!("node-{at}"), at, CREATED)));
        let usual = ["default", "kube-system", "kube-public", "kube-node-lease"];
        objects.extend(usual.map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})));
        for (at, object) in objects.iter_mut().enumerate() {
            settle(object, at);
        }
        let mut cluster = Cluster { objects };
        cluster.run(&sidecar);
        cluster.serve();
        cluster
    }

    /// The cluster as a source with complete lists.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory {
            server_version: Some(json!({"gitVersion": "v1.34.0"})),
            captured_at: Some(NOW.parse().unwrap()),
            denied: Some(BTreeSet::new()),
            completeness: Completeness::All,
            ..Memory::default()
        };
        for object in &self.objects {
            // Kinds that nothing requests cannot be held.
            _ = memory.add(object);
        }
        memory
    }

    /// A namespace with the label of an extension.
    pub fn add_namespace(&mut self, name: &str, extension: &str) {
        self.objects.push(json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "creationTimestamp": CREATED,
                "labels": {"linkerd.io/extension": extension, "kubernetes.io/metadata.name": name}
            }
        }));
    }

    /// A node on which linkerd-cni should run; its pod waits for its container, if there is one.
    pub fn add_node(&mut self, name: &str, created: &str, with_pod: bool) {
        self.objects.push(node(name, NODES, created));
        let set = self.objects.iter_mut().find(|o| is(o, "DaemonSet") && o["metadata"]["name"] == "linkerd-cni");
        let set = set.expect("linkerd-cni");
        set["status"]["desiredNumberScheduled"] = json!(NODES + 1);
        let installer = |o: &&Value| is(o, "Pod") && o["metadata"]["namespace"] == "linkerd-cni";
        let mut pod = self.objects.iter().find(installer).expect("a pod of linkerd-cni").clone();
        pod["metadata"]["name"] = json!("linkerd-cni-new");
        pod["metadata"]["uid"] = json!("pod-new");
        pod["spec"]["nodeName"] = json!(name);
        unready(&mut pod, created);
        if with_pod {
            self.objects.push(pod);
        }
    }

    /// New pods for all workloads of a namespace, which are not ready yet.
    pub fn restart(&mut self, namespace: &str, created: &str) {
        for object in &mut self.objects {
            if object["metadata"]["namespace"] != namespace {
                continue;
            }
            match object["kind"].as_str().unwrap_or_default() {
                "Pod" => unready(object, created),
                "Deployment" => object["status"]["readyReplicas"] = json!(0),
                "EndpointSlice" => {
                    for endpoint in object["endpoints"].as_array_mut().unwrap() {
                        endpoint["conditions"]["ready"] = json!(false);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds what controllers make of Deployments and DaemonSets.
    fn run(&mut self, sidecar: &Sidecar) {
        let enabled = |o: &&Value| is(o, "Namespace") && o["metadata"]["annotations"]["linkerd.io/inject"] == "enabled";
        let meshed: BTreeSet<String> =
            self.objects.iter().filter(enabled).map(|o| text(&o["metadata"]["name"])).collect();
        let mut made = Vec::new();
        for object in &mut self.objects {
            let (kind, meta) = (text(&object["kind"]), object["metadata"].clone());
            let replicas = match kind.as_str() {
                "DaemonSet" => NODES,
                "Deployment" => usize::try_from(object["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap_or_default(),
                _ => continue,
            };
            let template = object["spec"]["template"].clone();
            let inject = &template["metadata"]["annotations"]["linkerd.io/inject"];
            let is_meshed = meshed.contains(&text(&meta["namespace"])) && inject != "disabled" || inject == "enabled";
            let of_pod = if is_meshed { sidecar.inject(&template) } else { template.clone() };
            let owner = if kind == "Deployment" {
                object["status"] = json!({
                    "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas,
                    "conditions": [{"type": "Available", "status": "True"}]
                });
                let set = replica_set(object, &template, replicas);
                let owner = set["metadata"].clone();
                made.push(set);
                ("ReplicaSet", owner)
            } else {
                object["status"] = json!({
                    "desiredNumberScheduled": replicas, "currentNumberScheduled": replicas, "numberReady": replicas,
                    "numberAvailable": replicas, "updatedNumberScheduled": replicas
                });
                ("DaemonSet", meta)
            };
            made.extend((0..replicas).map(|at| pod(&of_pod, owner.0, &owner.1, at)));
        }
        for (at, pod) in made.iter_mut().filter(|object| is(object, "Pod")).enumerate() {
            let node = at % NODES;
            let address = format!("10.244.{node}.{}", at + 2);
            let on_host = pod["spec"]["hostNetwork"] == true;
            let address = if on_host { format!("10.0.0.{}", node + 1) } else { address };
            pod["spec"]["nodeName"] = json!(format!("node-{node}"));
            pod["status"]["podIP"] = json!(address);
            pod["status"]["podIPs"] = json!([{"ip": address}]);
            pod["status"]["hostIP"] = json!(format!("10.0.0.{}", node + 1));
        }
        self.objects.append(&mut made);
    }

    /// Adds the endpoints of Services and the ServiceAccount that each namespace has.
    fn serve(&mut self) {
        let pods: Vec<&Value> = self.objects.iter().filter(|object| is(object, "Pod")).collect();
        let mut made = Vec::new();
        for service in self.objects.iter().filter(|object| is(object, "Service")) {
            let Some(selector) = service["spec"]["selector"].as_object() else { continue };
            let selected = |pod: &&&Value| {
                pod["metadata"]["namespace"] == service["metadata"]["namespace"]
                    && selector.iter().all(|(key, value)| pod["metadata"]["labels"][key] == *value)
            };
            made.push(endpoints(service, &pods.iter().filter(selected).copied().collect::<Vec<_>>()));
        }
        for namespace in self.objects.iter().filter(|object| is(object, "Namespace")) {
            let name = &namespace["metadata"]["name"];
            made.push(json!({
                "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}
            }));
        }
        self.objects.append(&mut made);
    }
}

/// The parts that the injector adds to a pod.
struct Sidecar {
    proxy: Value,
    init: Vec<Value>,
    volumes: Vec<Value>,
    annotations: Value,
    is_native: bool,
}

impl Sidecar {
    /// The proxy of a workload that was injected, with the init containers and the form that the control plane has itself.
    fn new(objects: &[Value], injected: &[Value]) -> Sidecar {
        let named = |kind: &str, name: &str| {
            objects.iter().find(|o| is(o, kind) && o["metadata"]["name"] == name).expect("it is in every control plane")
        };
        let own = &named("Deployment", "linkerd-destination")["spec"]["template"]["spec"];
        let anchors = &named("ConfigMap", "linkerd-identity-trust-roots")["data"]["ca-bundle.crt"];
        let workload = injected.iter().find(|object| is(object, "Deployment")).expect("a workload");
        let template = &workload["spec"]["template"];
        let mut proxy = containers(&template["spec"]).find(|c| c["name"] == "linkerd-proxy").expect("a proxy").clone();
        for variable in proxy["env"].as_array_mut().unwrap() {
            if variable["name"] == "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS" {
                variable["value"] = anchors.clone();
            }
        }
        let is_init = |c: &&Value| c["name"] == "linkerd-init" || c["name"] == "linkerd-network-validator";
        let volumes = list(&template["spec"]["volumes"]).chain(list(&own["volumes"]));
        let mut seen = BTreeSet::new();
        let is_linkerds = |v: &&Value| text(&v["name"]).starts_with("linkerd");
        Sidecar {
            proxy,
            init: list(&own["initContainers"]).filter(is_init).cloned().collect(),
            volumes: volumes.filter(is_linkerds).filter(|v| seen.insert(text(&v["name"]))).cloned().collect(),
            annotations: template["metadata"]["annotations"].clone(),
            is_native: list(&own["initContainers"]).any(|c| c["name"] == "linkerd-proxy"),
        }
    }

    fn inject(&self, template: &Value) -> Value {
        let mut template = template.clone();
        let others = |list_of: &Value| -> Vec<Value> {
            list(list_of).filter(|c| !text(&c["name"]).starts_with("linkerd-")).cloned().collect()
        };
        let (apps, init) = (others(&template["spec"]["containers"]), others(&template["spec"]["initContainers"]));
        let mut proxy = self.proxy.clone();
        let mut all_init = self.init.clone();
        let mut all = Vec::new();
        if self.is_native {
            proxy["restartPolicy"] = json!("Always");
            all_init.push(proxy);
        } else {
            all.push(proxy);
        }
        all.extend(apps);
        all_init.extend(init);
        let mut volumes: Vec<Value> = list(&template["spec"]["volumes"]).cloned().collect();
        let missing = self.volumes.iter().filter(|v| !volumes.iter().any(|own| own["name"] == v["name"]));
        let missing: Vec<Value> = missing.cloned().collect();
        volumes.extend(missing);
        template["spec"]["containers"] = json!(all);
        template["spec"]["initContainers"] = json!(all_init);
        template["spec"]["volumes"] = json!(volumes);
        template["metadata"]["labels"]["linkerd.io/control-plane-ns"] = json!("linkerd");
        for (key, value) in self.annotations.as_object().into_iter().flatten() {
            template["metadata"]["annotations"][key] = value.clone();
        }
        template
    }
}

fn is(object: &Value, kind: &str) -> bool {
    object["kind"] == kind
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    list(&spec["containers"]).chain(list(&spec["initContainers"]))
}

fn node(name: &str, at: usize, created: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name}
        },
        "spec": {"podCIDR": format!("10.244.{at}.0/24"), "podCIDRs": [format!("10.244.{at}.0/24")]},
        "status": {
            "addresses": [{"type": "InternalIP", "address": format!("10.0.0.{}", at + 1)}],
            "conditions": [
                {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-21T07:59:50Z", "lastTransitionTime": created}
            ],
            "nodeInfo": {
                "operatingSystem": "linux", "architecture": "amd64", "kubeletVersion": "v1.34.4",
                "containerRuntimeVersion": "containerd://1.7.27", "kernelVersion": "6.1.131"
            }
        }
    })
}

/// Fields that the API server adds to an object, and its initial status from controllers.
fn settle(object: &mut Value, at: usize) {
    if object["metadata"]["creationTimestamp"].is_null() {
        object["metadata"]["creationTimestamp"] = json!(CREATED);
    }
    object["metadata"]["uid"] = json!(format!("object-{at}"));
    match object["kind"].as_str().unwrap_or_default() {
        "Namespace" => {
            let name = object["metadata"]["name"].clone();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
        }
        "APIService" => {
            object["status"] = json!({"conditions": [{"type": "Available", "status": "True", "reason": "Passed"}]});
        }
        "CustomResourceDefinition" => {
            let stored: Vec<Value> =
                list(&object["spec"]["versions"]).filter(|v| v["storage"] == true).map(|v| v["name"].clone()).collect();
            object["status"] =
                json!({"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]});
        }
        _ => {}
    }
}

fn controller(kind: &str, meta: &Value) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": meta["name"], "uid": meta["uid"], "controller": true}])
}

fn replica_set(deployment: &Value, template: &Value, replicas: usize) -> Value {
    let meta = &deployment["metadata"];
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-5d9f7c6b8d", text(&meta["name"])),
            "namespace": meta["namespace"],
            "uid": format!("{}-set", text(&meta["uid"])),
            "creationTimestamp": CREATED,
            "labels": template["metadata"]["labels"],
            "ownerReferences": controller("Deployment", meta)
        },
        "spec": {"replicas": replicas, "selector": deployment["spec"]["selector"], "template": template},
        "status": {"replicas": replicas, "readyReplicas": replicas}
    })
}

fn pod(template: &Value, kind: &str, owner: &Value, at: usize) -> Value {
    let name = format!("{}-{at:05}", text(&owner["name"]));
    let mut spec = template["spec"].clone();
    if spec["serviceAccountName"].is_null() {
        spec["serviceAccountName"] = json!("default");
    }
    let running = |c: &Value| {
        json!({
            "name": c["name"], "image": c["image"], "ready": true, "started": true, "restartCount": 0,
            "state": {"running": {"startedAt": CREATED}}
        })
    };
    let ended = |c: &Value| {
        let state = json!({"exitCode": 0, "reason": "Completed", "startedAt": CREATED, "finishedAt": CREATED});
        json!({"name": c["name"], "image": c["image"], "ready": true, "restartCount": 0, "state": {"terminated": state}})
    };
    let is_sidecar = |c: &Value| c["restartPolicy"] == "Always";
    let init: Vec<Value> =
        list(&spec["initContainers"]).map(|c| if is_sidecar(c) { running(c) } else { ended(c) }).collect();
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": CREATED}));
    let status = json!({
        "phase": "Running", "startTime": CREATED, "conditions": conditions, "initContainerStatuses": init,
        "containerStatuses": list(&spec["containers"]).map(running).collect::<Vec<_>>()
    });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": owner["namespace"],
            "uid": format!("{}-{at}", text(&owner["uid"])),
            "creationTimestamp": CREATED,
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
            "ownerReferences": controller(kind, owner)
        },
        "spec": spec,
        "status": status
    })
}

/// A pod that was just created: scheduled, and none of its containers runs.
fn unready(pod: &mut Value, created: &str) {
    pod["metadata"]["creationTimestamp"] = json!(created);
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastTransitionTime": created});
    pod["status"]["phase"] = json!("Pending");
    pod["status"]["startTime"] = json!(created);
    pod["status"]["conditions"] = json!([condition("PodScheduled", "True"), condition("Ready", "False")]);
    for (list, reason) in [("initContainerStatuses", "PodInitializing"), ("containerStatuses", "ContainerCreating")] {
        for status in pod["status"][list].as_array_mut().into_iter().flatten() {
            status["ready"] = json!(false);
            status["state"] = json!({"waiting": {"reason": reason}});
        }
    }
}

fn endpoints(service: &Value, pods: &[&Value]) -> Value {
    let meta = &service["metadata"];
    let number = |port: &Value| {
        let target = if port["targetPort"].is_null() { &port["port"] } else { &port["targetPort"] };
        let named = || {
            let mut ports = pods.iter().flat_map(|pod| containers(&pod["spec"])).flat_map(|c| list(&c["ports"]));
            ports.find(|one| one["name"] == *target).map(|one| one["containerPort"].clone())
        };
        if target.is_number() { Some(target.clone()) } else { named() }
    };
    let ports = list(&service["spec"]["ports"])
        .filter_map(|port| Some(json!({"name": port["name"], "port": number(port)?, "protocol": "TCP"})));
    let ends = pods.iter().map(|pod| {
        json!({
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": true, "serving": true, "terminating": false},
            "nodeName": pod["spec"]["nodeName"],
            "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "namespace": meta["namespace"]}
        })
    });
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "metadata": {
            "name": format!("{}-x7k2p", text(&meta["name"])),
            "namespace": meta["namespace"],
            "creationTimestamp": CREATED,
            "labels": {"kubernetes.io/service-name": meta["name"]}
        },
        "endpoints": ends.collect::<Vec<_>>(),
        "ports": ports.collect::<Vec<_>>()
    })
}
