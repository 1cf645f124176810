//! What admission makes of everything that makes pods: each template as the pod that it would become, with what the injector
//! decides and what it adds. Nothing is judged here.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::admit::{Admitting, Fate};
use super::{Change, Key, key};
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::model::injected::MadeBy;
use crate::source::Source;
use crate::version::LinkerdVersion;

/// What makes pods.
pub const MAKERS: [Kind; 6] =
    [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob, Kind::Job, Kind::Pod];

/// Everything that makes pods, and who admits them.
#[derive(Debug)]
pub struct Templates {
    /// The release of the injector, where it is known.
    pub release: Option<LinkerdVersion>,
    /// The makers, by kind, namespace and name.
    pub all: Vec<Template>,
    /// The annotations of namespaces.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Kinds that could not be read, or not all of them.
    pub gaps: Vec<(Kind, Why)>,
}

/// Something that makes pods.
#[derive(Debug)]
pub struct Template {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its own annotations, which no pod gets, but for those of a pod.
    pub own: BTreeMap<String, String>,
    /// The annotations that its pods have before they are admitted.
    pub annotations: BTreeMap<String, String>,
    /// What becomes of its pods.
    pub fate: Fate,
    /// A pod of it, as it comes out of admission.
    pub pod: Value,
}

impl<S: Source> Change<'_, S> {
    /// What admission makes of everything that makes pods; of the set alone, where only that is asked for.
    pub async fn templates(&self, of_set: bool) -> Templates {
        let admitting = self.admitting().await;
        let mut templates = Templates {
            release: admitting.release().cloned(),
            all: Vec::new(),
            namespaces: admitting.annotations(),
            gaps: Vec::new(),
        };
        for kind in MAKERS {
            let (objects, ended) = if kind == Kind::Pod { self.bare().await } else { self.list(kind).await };
            let reasons = match ended {
                Fetched::Complete => Vec::new(),
                Fetched::Partial { reasons } => reasons,
                Fetched::Missing { reason } => vec![reason],
            };
            // What else the cluster has is no matter of a set; what is broken in it is.
            let told = |why: &Why| !of_set || matches!(why, Why::Malformed { .. });
            templates.gaps.extend(reasons.into_iter().filter(told).map(|why| (kind, why)));
            let asked = |object: &&Value| !of_set || self.set.get(kind, &key(object, kind)).is_some();
            // What another of these makes is told there.
            let owned =
                |object: &&Value| object["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty);
            let made = objects.iter().filter(asked).filter(owned);
            templates.all.extend(made.map(|object| template(&admitting, kind, object)));
        }
        templates
    }

    /// The pods that nothing makes, and those of the set.
    async fn bare(&self) -> (Vec<Value>, Fetched) {
        let (mut pods, ended) = self.base_list(Kind::Pod).await;
        pods.retain(|pod| self.set.get(Kind::Pod, &key(pod, Kind::Pod)).is_none());
        pods.extend(self.set.of_kind(Kind::Pod).map(|(_, pod)| pod.clone()));
        let ended = self.ended(Kind::Pod, ended, !pods.is_empty());
        (pods, ended)
    }
}

fn template(admitting: &Admitting<'_>, kind: Kind, object: &Value) -> Template {
    let (namespace, name): Key = key(object, kind);
    let template = match kind {
        Kind::Pod => object,
        Kind::CronJob => &object["spec"]["jobTemplate"]["spec"]["template"],
        _ => &object["spec"]["template"],
    };
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
    let annotations = texts(&template["metadata"]["annotations"]);
    // A CronJob makes Jobs, and those are what its pods name.
    let maker = if kind == Kind::CronJob { Kind::Job } else { kind };
    let made_by = MadeBy { kind: &maker.info().kind.to_ascii_lowercase(), name: &name };
    let (pod, fate) = admitting.decided(pod, (kind != Kind::Pod).then_some(made_by));
    let own = if kind == Kind::Pod { BTreeMap::new() } else { texts(&object["metadata"]["annotations"]) };
    Template { kind, namespace, name, own, annotations, fate, pod }
}

fn texts(value: &Value) -> BTreeMap<String, String> {
    let all = value.as_object().into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}
