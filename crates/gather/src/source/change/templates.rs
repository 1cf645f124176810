//! Admission of everything that creates pods: each template as the resulting pod, with the injector's decision. Nothing
//! is checked here.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::admit::{Admitting, Fate, read, redacted};
use super::{Change, ObjectKey, key};
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::model::injected::{MadeBy, texts};
use crate::model::owners::Owners;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;
use crate::source::Source;
use crate::version::LinkerdVersion;

/// Kinds that create pods.
pub const MAKERS: [Kind; 6] =
    [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob, Kind::Job, Kind::Pod];

/// All objects that create pods, and their admission.
#[derive(Debug)]
pub struct Templates {
    /// Release of the injector, if known.
    pub release: Option<LinkerdVersion>,
    /// The objects, by kind, namespace and name.
    pub all: Vec<Template>,
    /// Annotations of namespaces.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Kinds that could not be read completely.
    pub gaps: Vec<(Kind, Why)>,
    /// Parts of manifests that were set aside, which may create pods too.
    pub set_aside: Vec<String>,
}

/// An object that creates pods.
#[derive(Debug)]
pub struct Template {
    pub kind: Kind,
    /// Its kind in the manifests, if that is another one with the same template.
    pub written_kind: Option<String>,
    pub namespace: String,
    pub name: String,
    /// Its own annotations; pods do not inherit them.
    pub own: BTreeMap<String, String>,
    /// Annotations of its pods before admission.
    pub annotations: BTreeMap<String, String>,
    /// Result of the admission of its pods.
    pub fate: Fate,
    /// One of its pods, after admission.
    pub pod: Value,
    /// Whether the template has the proxy, so that the injector leaves its pods as they are.
    pub has_proxy: bool,
    /// Its running pods in the evidence.
    pub running: RunningPods,
}

impl Template {
    /// The name of its kind, as in the manifests.
    pub fn kind_name(&self) -> &str {
        self.written_kind.as_deref().unwrap_or(self.kind.info().kind)
    }
}

/// The running pods of an object, by whether they have a proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunningPods {
    /// Pods with a proxy.
    pub with_proxy: usize,
    /// Pods without a proxy.
    pub without_proxy: usize,
}

impl<S: Source> Change<'_, S> {
    /// Runs the admission for all objects that create pods, or only for those of the set.
    pub async fn templates(&self, of_set: bool) -> Templates {
        let admitting = self.admitting().await;
        let mut templates = Templates {
            release: admitting.release().cloned(),
            all: Vec::new(),
            namespaces: admitting.annotations(),
            gaps: Vec::new(),
            set_aside: self.set.aside().to_vec(),
        };
        let running = self.running().await;
        for kind in MAKERS {
            let (objects, ended) = if kind == Kind::Pod { self.bare().await } else { self.list(kind).await };
            let reasons = match ended {
                Fetched::Complete => Vec::new(),
                Fetched::Partial { reasons } => reasons,
                Fetched::Missing { reason } => vec![reason],
            };
            // Other objects of the cluster do not belong to the set; broken ones do.
            let told = |why: &Why| !of_set || matches!(why, Why::Malformed { .. });
            templates.gaps.extend(reasons.into_iter().filter(told).map(|why| (kind, why)));
            let asked = |object: &&Value| !of_set || self.set.get(kind, &key(object, kind)).is_some();
            // Pods of another of these objects are listed there.
            let owned = |object: &&Value| object["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty);
            let made = objects.iter().filter(asked).filter(owned);
            templates.all.extend(made.map(|object| template(&admitting, kind, object, &running)));
            if kind == Kind::Pod {
                templates.all.extend(of_other_owners(&admitting, objects.iter().filter(asked), &running));
            }
        }
        templates
    }

    /// The running pods of the evidence, by kind, namespace and name of their owner.
    async fn running(&self) -> BTreeMap<(String, String, String), RunningPods> {
        let mut running: BTreeMap<(String, String, String), RunningPods> = BTreeMap::new();
        let pods = self.base_list(Kind::Pod).await.0;
        let owners = Owners::new(&[], &[]);
        for pod in pods.into_iter().filter_map(|pod| read::<Pod>(Kind::Pod, pod)) {
            if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let owner = owners.owner(&pod);
            let count = running.entry((owner.kind, owner.namespace, owner.name)).or_default();
            match pod.spec.proxy() {
                Some(_) => count.with_proxy += 1,
                None => count.without_proxy += 1,
            }
        }
        running
    }

    /// Pods without an owner, and those of the set.
    async fn bare(&self) -> (Vec<Value>, Fetched) {
        let (mut pods, ended) = self.base_list(Kind::Pod).await;
        pods.retain(|pod| self.set.get(Kind::Pod, &key(pod, Kind::Pod)).is_none());
        pods.extend(self.set.of_kind(Kind::Pod).map(|(_, pod)| pod.clone()));
        let ended = self.ended(Kind::Pod, ended, !pods.is_empty());
        (pods, ended)
    }
}

/// Pods of owners that are not listed, such as the Workflows of Argo: one for each owner. If all pods of a kind of
/// owner in a namespace are finished, only one of them is listed. Static pods, whose owner is their Node, are left out.
fn of_other_owners<'v>(
    admitting: &Admitting<'_>,
    pods: impl Iterator<Item = &'v Value>,
    running: &BTreeMap<(String, String, String), RunningPods>,
) -> Vec<Template> {
    const LISTED: [&str; 7] = ["ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Node"];
    let mut owners = BTreeMap::new();
    let mut finished = BTreeMap::new();
    for pod in pods {
        let mut references = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let Some(owner) = references.find(|owner| owner["controller"] == true) else { continue };
        let (Some(kind), Some(name)) = (owner["kind"].as_str(), owner["name"].as_str()) else { continue };
        if LISTED.contains(&kind) {
            continue;
        }
        let (namespace, _) = key(pod, Kind::Pod);
        let owner = (kind.to_owned(), namespace.clone(), name.to_owned());
        match pod["status"]["phase"].as_str() {
            Some("Succeeded" | "Failed") => _ = finished.insert((kind.to_owned(), namespace), (owner, pod)),
            _ => _ = owners.entry(owner).or_insert(pod),
        }
    }
    for ((kind, namespace), (owner, pod)) in finished {
        if !owners.keys().any(|(known, of, _)| (known, of) == (&kind, &namespace)) {
            owners.insert(owner, pod);
        }
    }
    let of_owner = |(owner, pod): (&(String, String, String), &&Value)| {
        let (kind, _, name) = owner.clone();
        let running = running.get(owner).copied().unwrap_or_default();
        let template = template(admitting, Kind::Pod, pod, &BTreeMap::new());
        Template { written_kind: Some(kind), name, running, ..template }
    };
    owners.iter().map(of_owner).collect()
}

/// The template of the pods of an object.
fn of_pods(kind: Kind, object: &Value) -> &Value {
    match kind {
        Kind::Pod => object,
        Kind::CronJob => &object["spec"]["jobTemplate"]["spec"]["template"],
        _ => &object["spec"]["template"],
    }
}

fn template(
    admitting: &Admitting<'_>,
    kind: Kind,
    object: &Value,
    running: &BTreeMap<(String, String, String), RunningPods>,
) -> Template {
    let (namespace, name): ObjectKey = key(object, kind);
    let template = of_pods(kind, object);
    let pod_name = if kind == Kind::Pod { name.clone() } else { format!("{name}-new-0") };
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name,
            "namespace": namespace,
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
        },
        "spec": template["spec"],
    });
    // Reports quote annotations, and manifests are not redacted yet.
    let shown = redacted(kind, object);
    let annotations = texts(&of_pods(kind, &shown)["metadata"]["annotations"]);
    let lists = ["containers", "initContainers"];
    let mut containers = lists.into_iter().filter_map(|list| template["spec"][list].as_array()).flatten();
    let has_proxy = containers.any(|container| container["name"] == PROXY_CONTAINER);
    // A CronJob creates Jobs, and its pods name the Job.
    let maker = if kind == Kind::CronJob { Kind::Job } else { kind };
    let made_by = MadeBy { kind: &maker.info().kind.to_ascii_lowercase(), name: &name };
    let (pod, fate) = admitting.decided(pod, (kind != Kind::Pod).then_some(made_by));
    let own = if kind == Kind::Pod { BTreeMap::new() } else { texts(&shown["metadata"]["annotations"]) };
    let owner = (kind.info().kind.to_owned(), namespace.clone(), name.clone());
    let running = running.get(&owner).copied().unwrap_or_default();
    let written_kind = None;
    Template { kind, written_kind, namespace, name, own, annotations, fate, pod, has_proxy, running }
}
