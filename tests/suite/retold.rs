//! Rewrites a demo with other names, object by object. Text is rewritten only at whole names, namespaces only
//! in namespace fields, and owners together with their pods.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{Timestamp, ToSpan};
use meshdoctor::item::Kind;
use meshdoctor::node_files::NodeFiles;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

/// The replacements of a variant.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Whole names, delimited by characters that no name contains.
    pub words: Vec<(String, String)>,
    /// Pieces of text, wherever they are.
    pub texts: Vec<(String, String)>,
    /// Namespaces, in namespace fields.
    pub namespaces: BTreeMap<String, String>,
    /// The kind that replaces Deployments outside the control plane.
    pub kind: Kind,
    /// Whether a CronJob creates the Jobs.
    pub scheduled: bool,
    /// Whether `-L` and `--cni-namespace` are given.
    pub flags: (bool, bool),
    /// Time shift of all events, in seconds.
    pub shift: i64,
}

/// `old` as a name of its own: `web` in `web-5d9f`, not in `webhooks`.
fn replace_word(text: &str, old: &str, new: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = rest[at + old.len()..].chars().next();
        let alone = !before.is_some_and(part) && !after.is_some_and(part);
        out.push_str(&rest[..at]);
        out.push_str(if alone { new } else { old });
        rest = &rest[at + old.len()..];
    }
    out + rest
}

/// Every time in a text, moved.
fn shifted(text: &str, seconds: i64) -> String {
    const SHAPE: &str = "0000-00-00T00:00:00Z";
    let is_time = |piece: &str| {
        piece.chars().zip(SHAPE.chars()).all(|(c, shape)| if shape == '0' { c.is_ascii_digit() } else { c == shape })
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let piece = rest.get(..SHAPE.len()).filter(|piece| is_time(piece));
        match piece {
            Some(piece) => out.push_str(&moved(piece.parse().unwrap(), seconds).to_string()),
            None => out.push(c),
        }
        rest = &rest[piece.map_or(c.len_utf8(), str::len)..];
    }
    out
}

fn moved(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(seconds.seconds()).unwrap()
}

impl Variant {
    fn text(&self, text: &str) -> String {
        // The charts put the namespace into the names of what belongs to no namespace.
        let text = text.replace("linkerd-linkerd-", &format!("linkerd-{}-", self.namespace("linkerd")));
        let text = self.texts.iter().fold(text, |text, (old, new)| text.replace(old, new));
        // In two steps, so that a new name is never mistaken for an old one.
        let marked = self
            .words
            .iter()
            .enumerate()
            .fold(text, |text, (i, (old, _))| replace_word(&text, old, &format!("\u{1}{i}\u{2}")));
        self.words.iter().enumerate().fold(marked, |text, (i, (_, new))| text.replace(&format!("\u{1}{i}\u{2}"), new))
    }

    pub fn namespace(&self, name: &str) -> String {
        self.namespaces.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Rewrites an object, or a finding as JSON.
    fn value(&self, value: &mut Value) {
        let is_namespace = value["kind"] == "Namespace";
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                let entries = std::mem::take(map);
                for (key, mut value) in entries {
                    let home = matches!(
                        key.as_str(),
                        "namespace"
                            | "kubernetes.io/metadata.name"
                            | "linkerd.io/control-plane-ns"
                            | "linkerd.io/workload-ns"
                            | "meta.helm.sh/release-namespace"
                    );
                    match value.as_str() {
                        Some(text) if home || (is_namespace && key == "name") => value = self.namespace(text).into(),
                        _ => self.value(&mut value),
                    }
                    if is_namespace && key == "metadata" {
                        let name = value["name"].as_str().unwrap().to_owned();
                        value["name"] = self.namespace(&name).into();
                    }
                    map.insert(self.text(&key), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The demo with the replacements of this variant.
    pub fn applied_to(&self, scene: &Scene) -> Scene {
        let mut told = scene.clone();
        let mut objects = objects(scene);
        let renamed = self.owners(&mut objects);
        told.memory.objects.clear();
        let elsewhere = self.namespace("linkerd");
        let certificate = (elsewhere != "linkerd").then(|| certificate(&elsewhere));
        for mut object in objects {
            if let Some(certificate) = &certificate {
                recertified(&mut object, certificate);
            }
            self.value(&mut object);
            let text = renamed
                .iter()
                .fold(shifted(&object.to_string(), self.shift), |text, (old, new)| text.replace(old, new));
            told.memory.add(&serde_json::from_str(&text).unwrap()).unwrap();
        }
        told.memory.nodes = scene.memory.nodes.iter().map(|files| self.node(files)).collect();
        told.memory.captured_at = scene.memory.captured_at.map(|at| moved(at, self.shift));
        told.options.control_plane_namespace = self.flags.0.then(|| self.namespace("linkerd"));
        told.options.cni_namespace = self.flags.1.then(|| self.namespace("linkerd-cni"));
        told
    }

    fn node(&self, files: &NodeFiles) -> NodeFiles {
        let account = format!("serviceaccount:{}:", self.namespace("linkerd-cni"));
        let file = |path: &str, bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap().replace("serviceaccount:linkerd-cni:", &account);
            let text = shifted(&self.text(&text), self.shift);
            if path != "cni/kubeconfig.facts.json" {
                return text.into_bytes();
            }
            let mut facts: Value = serde_json::from_str(&text).unwrap();
            for claim in ["iat", "nbf", "exp", "warnafter"] {
                let claim = &mut facts[0]["tokenClaims"][claim];
                *claim = (claim.as_i64().unwrap() + self.shift).into();
            }
            facts.to_string().into_bytes()
        };
        NodeFiles {
            node: self.text(&files.node),
            files: files.files.iter().map(|(path, bytes)| (self.text(path), file(path, bytes))).collect(),
        }
    }

    /// Gives workloads another kind of owner; returns the pods and Jobs that are called otherwise then. Works on old names
    /// and returns new ones.
    pub fn owners(&self, objects: &mut Vec<Value>) -> Vec<(String, String)> {
        let mut renamed = Vec::new();
        if self.kind != Kind::Deployment {
            self.as_other_kind(objects, &mut renamed);
        }
        if self.scheduled {
            scheduled(objects, &mut renamed);
        }
        renamed.into_iter().map(|(old, new)| (self.text(&old), self.text(&new))).collect()
    }

    fn as_other_kind(&self, objects: &mut Vec<Value>, renamed: &mut Vec<(String, String)>) {
        let kind = self.kind.info().kind;
        let mut uids = BTreeMap::new();
        for object in objects.iter_mut().filter(|o| o["kind"] == "Deployment" && is_workload(o)) {
            object["kind"] = kind.into();
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            uids.insert(name, object["metadata"]["uid"].clone());
            if self.kind == Kind::DaemonSet {
                let (wanted, ready) = (object["spec"]["replicas"].take(), object["status"]["readyReplicas"].take());
                object["status"] =
                    json!({"desiredNumberScheduled": wanted, "currentNumberScheduled": wanted, "numberReady": ready});
                object["spec"].as_object_mut().unwrap().remove("replicas");
            }
        }
        let owner =
            |object: &Value| object["metadata"]["ownerReferences"][0]["name"].as_str().unwrap_or_default().to_owned();
        let sets: BTreeMap<String, String> = objects
            .iter()
            .filter(|o| o["kind"] == "ReplicaSet" && is_workload(o))
            .map(|o| (o["metadata"]["name"].as_str().unwrap().to_owned(), owner(o)))
            .collect();
        objects.retain(|o| o["kind"] != "ReplicaSet" || !is_workload(o));
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for pod in objects.iter_mut().filter(|o| o["kind"] == "Pod") {
            let Some(workload) = sets.get(&owner(pod)).filter(|_| is_workload(pod)) else { continue };
            let metadata = &mut pod["metadata"];
            metadata["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": kind, "name": workload, "uid": uids[workload], "controller": true}]);
            let labels = metadata["labels"].as_object_mut().unwrap();
            let hash = labels.remove("pod-template-hash").unwrap();
            let hash = hash.as_str().unwrap();
            labels.insert("controller-revision-hash".to_owned(), format!("{workload}-{hash}").into());
            if let Some(of) = labels.remove("linkerd.io/proxy-deployment") {
                labels.insert(format!("linkerd.io/proxy-{}", kind.to_ascii_lowercase()), of);
            }
            let old = metadata["name"].as_str().unwrap().to_owned();
            let at = counts.entry(workload.clone()).or_default();
            let new = if self.kind == Kind::StatefulSet {
                format!("{workload}-{at}")
            } else {
                format!("{workload}-{}", &old[old.len() - 5..])
            };
            *at += 1;
            renamed.push((old, new));
        }
    }

    /// The expected finding in this variant.
    pub fn expected(&self, essence: &Value, renamed: &[(String, String)]) -> Value {
        let mut value = essence.clone();
        for subject in value["subjects"].as_array_mut().unwrap() {
            if subject["kind"] == "Deployment"
                && ["shop", "tools"].contains(&subject["namespace"].as_str().unwrap_or_default())
            {
                subject["kind"] = self.kind.info().kind.into();
            }
            if subject["kind"] == "Job" && self.scheduled {
                subject["kind"] = "CronJob".into();
            }
        }
        self.value(&mut value);
        let text = renamed.iter().fold(value.to_string(), |text, (old, new)| text.replace(old, new));
        serde_json::from_str(&text).unwrap()
    }
}

/// A certificate for the control plane's webhooks in another namespace, in the format of Secrets and
/// webhooks.
fn certificate(namespace: &str) -> String {
    let servers = ["linkerd-proxy-injector", "linkerd-sp-validator", "linkerd-policy-validator"];
    let names: Vec<String> = servers.map(|server| format!("{server}.{namespace}.svc")).into();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(names).unwrap();
    params.not_before = rcgen::date_time_ymd(2025, 1, 1);
    params.not_after = rcgen::date_time_ymd(2035, 1, 1);
    STANDARD.encode(params.self_signed(&key).unwrap().pem())
}

/// Replaces the webhooks' own certificates by it.
fn recertified(object: &mut Value, certificate: &str) {
    let serving = |name: &Value| name.as_str().is_some_and(|name| name.ends_with("-k8s-tls"));
    match object["kind"].as_str().unwrap() {
        "Secret" if serving(&object["metadata"]["name"]) => object["data"]["tls.crt"] = certificate.into(),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            for webhook in object["webhooks"].as_array_mut().unwrap() {
                webhook["clientConfig"]["caBundle"] = certificate.into();
            }
        }
        _ => {}
    }
}

fn is_workload(object: &Value) -> bool {
    ["shop", "tools"].contains(&object["metadata"]["namespace"].as_str().unwrap_or_default())
}

/// Replaces the owner of each Job by a CronJob.
fn scheduled(objects: &mut Vec<Value>, renamed: &mut Vec<(String, String)>) {
    let mut crons = Vec::new();
    let mut jobs = BTreeMap::new();
    for job in objects.iter_mut().filter(|o| o["kind"] == "Job") {
        let name = job["metadata"]["name"].as_str().unwrap().to_owned();
        let run = format!("{name}-29473290");
        let uid = format!("cron-{name}");
        crons.push(json!({
            "apiVersion": "batch/v1", "kind": "CronJob",
            "metadata": {"name": name, "namespace": job["metadata"]["namespace"], "uid": uid},
            "spec": {"schedule": "30 9 * * *", "jobTemplate": {"spec": job["spec"]}},
        }));
        job["metadata"]["name"] = run.clone().into();
        job["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": name, "uid": uid, "controller": true}]);
        jobs.insert(name, run);
    }
    for pod in objects.iter_mut().filter(|o| o["kind"] == "Pod") {
        let owner = &mut pod["metadata"]["ownerReferences"][0];
        if owner["kind"] != "Job" {
            continue;
        }
        let name = owner["name"].as_str().unwrap().to_owned();
        owner["name"] = jobs[&name].clone().into();
        for label in ["job-name", "batch.kubernetes.io/job-name"] {
            pod["metadata"]["labels"][label] = jobs[&name].clone().into();
        }
        let old = pod["metadata"]["name"].as_str().unwrap().to_owned();
        renamed.push((old.clone(), old.replacen(&name, &jobs[&name], 1)));
    }
    objects.extend(crons);
}

/// Every object of a scene.
pub fn objects(scene: &Scene) -> Vec<Value> {
    scene.memory.objects.values().flatten().map(|held| serde_json::from_slice(&held.json).unwrap()).collect()
}

#[test]
fn words_are_replaced_and_parts_of_words_are_not() {
    assert_eq!(replace_word("web webhooks web-5d9f/web:1", "web", "x"), "x webhooks x-5d9f/x:1");
    assert_eq!(shifted("at 2026-01-15T23:59:59Z", 1), "at 2026-01-16T00:00:00Z");
}
