//! Installing Linkerd as its own CLI renders it, release by release, and waiting until its pods run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::Digest as _;

use super::api::text;
use super::binaries::{Binaries, binaries};
use super::inject::Injected;
use super::objects::{ObjectSet, rank};
use super::skip::{Need, skipped};
use super::{Api, Cluster};

/// The folder of rendered manifests; `None`, with a message, if it is missing.
pub fn manifests() -> Option<PathBuf> {
    data_folder(Need::Manifests, "MESHDOCTOR_MANIFESTS", "manifests")
}

/// The folder of recorded clusters; `None`, with a message, if it is missing.
pub fn recordings() -> Option<PathBuf> {
    data_folder(Need::Recordings, "MESHDOCTOR_RECORDINGS", "recordings")
}

fn data_folder(need: Need, variable: &str, name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name));
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(need, &format!("a test that needs {name}: {} is not a folder ({variable} names it)", folder.display()));
    None
}

/// Gives every proxy in an object these trust anchors.
pub fn trust(value: &mut Value, anchors: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| trust(item, anchors)),
        Value::Object(fields) => {
            if fields.get("name").is_some_and(|name| name == "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS")
                && fields.contains_key("value")
            {
                fields.insert("value".to_owned(), json!(anchors));
            }
            if let Some(hash) = fields.get_mut("linkerd.io/trust-root-sha256") {
                let digest = sha2::Sha256::digest(anchors);
                *hash = json!(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            }
            fields.values_mut().for_each(|field| trust(field, anchors));
        }
        _ => {}
    }
}

impl Cluster {
    /// Nodes `node-1` and so on, spread over three zones, that run this kubelet.
    pub fn add_nodes(&self, count: usize, kubelet: &str) {
        for number in 1..=count {
            let name = format!("node-{number}");
            let labels = json!({
                "kubernetes.io/hostname": name,
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
            });
            let room = json!({ "cpu": "32", "memory": "128Gi", "pods": "250" });
            self.api.create(&json!({
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": { "name": name, "labels": labels },
                "status": {
                    "capacity": room,
                    "allocatable": room,
                    "nodeInfo": {
                        "architecture": "amd64",
                        "bootID": "",
                        "containerRuntimeVersion": "containerd://1.7.27",
                        // kwok passes this through YAML: a version that looks like a number would become one.
                        "kernelVersion": "6.1.131-generic",
                        "kubeProxyVersion": kubelet,
                        "kubeletVersion": kubelet,
                        "machineID": "",
                        "operatingSystem": "linux",
                        "osImage": "Ubuntu 22.04.5 LTS",
                        "systemUUID": "",
                    },
                },
            }));
        }
    }

    /// Applies the standard definitions of the Gateway API, which releases from 2.19 on expect. Returns
    /// false, with a message, if they are unavailable.
    pub fn install_gateway_api(&self) -> bool {
        let definitions = self.gateway_api();
        definitions.iter().flatten().for_each(|definition| self.api.apply(definition));
        definitions.is_some()
    }

    /// The standard definitions of the Gateway API; `None`, with a message, if they are unavailable.
    pub fn gateway_api(&self) -> Option<Vec<Value>> {
        match binaries().map(Binaries::gateway_api)? {
            Ok(folder) => Some(ObjectSet::read(&folder).objects),
            Err(why) => {
                skipped(Need::ApiServer, &format!("the Gateway API: {why}"));
                None
            }
        }
    }

    /// Applies the named parts (`crds`, `control-plane-ha`, `viz`, ...) of a release and waits until every
    /// pod is ready.
    ///
    /// Webhook configurations are applied after all pods are ready, and workloads that request a proxy
    /// already have one, because no webhook has an endpoint here.
    pub fn install(&mut self, release: &str, parts: &[&str]) {
        let Some(manifests) = manifests() else { return };
        let read = |part: &str| ObjectSet::read(&manifests.join(release).join(format!("{part}.yaml"))).objects;
        let objects: Vec<Value> = parts.iter().flat_map(|part| read(part)).collect();
        let mut objects = injected(release, objects);
        objects.sort_by_key(rank);
        self.apply_in_order(&objects);
    }

    /// Applies objects in their order, webhook configurations last, when every pod is ready.
    pub fn apply_in_order(&mut self, objects: &[Value]) {
        let webhook = |object: &&Value| text(object, "kind").ends_with("WebhookConfiguration");
        for object in objects.iter().filter(|object| !webhook(object)) {
            self.api.apply(object);
        }
        self.wait_until_ready();
        for object in objects.iter().filter(webhook) {
            self.api.apply(object);
        }
    }

    /// Waits until every Deployment and DaemonSet has all its pods, new and ready, and no pod is left over.
    pub fn wait_until_ready(&mut self) {
        self.wait(Duration::from_secs(120), all_ready);
    }
}

fn all_ready(api: &Api) -> Result<(), String> {
    for kind in ["deployments", "daemonsets"] {
        for workload in api.list(&format!("/apis/apps/v1/{kind}")) {
            let status = &workload["status"];
            let number = |field: &str| status[field].as_u64().unwrap_or_default();
            let (wanted, all, updated, ready) = match kind {
                "deployments" => (
                    workload["spec"]["replicas"].as_u64().unwrap_or(1),
                    number("replicas"),
                    number("updatedReplicas"),
                    number("availableReplicas"),
                ),
                _ => (
                    number("desiredNumberScheduled"),
                    number("currentNumberScheduled"),
                    number("updatedNumberScheduled"),
                    number("numberAvailable"),
                ),
            };
            let seen = number("observedGeneration") == workload["metadata"]["generation"].as_u64().unwrap_or(1);
            if !seen || [all, updated, ready] != [wanted; 3] || wanted == 0 {
                return Err(format!("{kind} {}: {}", text(&workload["metadata"], "name"), status));
            }
        }
    }
    for pod in api.list("/api/v1/pods") {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let ready = conditions.clone().any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        let ended = pod["status"]["phase"] == "Succeeded";
        if pod["metadata"]["deletionTimestamp"].is_string() || !(ready || ended) {
            return Err(format!("pod {}: {}", text(&pod["metadata"], "name"), pod["status"]));
        }
    }
    Ok(())
}

/// Objects as the injector of a release changes them: workloads that request a proxy get one with the anchors
/// of its control plane.
pub fn injected(release: &str, mut objects: Vec<Value>) -> Vec<Value> {
    let Some(manifests) = manifests() else { return objects };
    let read = |part: &str| ObjectSet::read(&manifests.join(release).join(format!("{part}.yaml"))).objects;
    let mut workloads = read("workloads");
    // They were rendered apart from the control plane, under an anchor of their own; a cluster's proxies have its own.
    let roots = read("control-plane");
    let roots = roots.iter().find(|object| object["metadata"]["name"] == "linkerd-identity-trust-roots");
    let anchors = roots.and_then(|roots| roots["data"]["ca-bundle.crt"].as_str());
    let anchors = anchors.expect("every control plane brings its trust anchors");
    workloads.iter_mut().chain(&mut objects).for_each(|object| trust(object, anchors));
    let injected = Injected::find(&workloads).expect("the workloads of every release are injected");
    objects.iter_mut().for_each(|object| injected.inject(object));
    objects
}
