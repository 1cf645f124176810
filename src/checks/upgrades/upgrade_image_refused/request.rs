//! The requests that an upgrade sends to the API server: new pods, and changed Deployments and DaemonSets of Linkerd.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::super::Upgrade;
use super::super::target_images::{Placed, PodOwner, TargetImages};
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::cni;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::{DaemonSet, PodSpec, Texts};

/// A request, with today's images and with those of the target.
pub(super) struct Request<'a> {
    /// The subject of a finding.
    pub(super) subject: Subject,
    /// CREATE or UPDATE.
    pub(super) operation: &'static str,
    /// API group.
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    kind: &'static str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// Labels of the object.
    pub(super) labels: &'a Texts,
    /// The object with today's images.
    pub(super) today: Value,
    /// The object with the images of the target.
    pub(super) then: Value,
    /// Containers that change: name, today's image, image of the target.
    pub(super) changed: Vec<(String, String, String)>,
}

impl Request<'_> {
    /// The variable `request` of expressions.
    pub(super) fn attributes(&self) -> Value {
        let kind = json!({"group": self.group, "version": "v1", "kind": self.kind});
        let resource = json!({"group": self.group, "version": "v1", "resource": self.resource});
        json!({
            "operation": self.operation, "namespace": self.namespace, "name": self.name, "subResource": "",
            "kind": kind, "requestKind": kind, "resource": resource, "requestResource": resource, "dryRun": false,
        })
    }

    /// The variable `oldObject`: the current object of an update.
    pub(super) fn old_object(&self) -> Value {
        if self.operation == "UPDATE" { self.today.clone() } else { Value::Null }
    }
}

/// The requests of an upgrade whose containers change.
///
/// # Errors
/// Deployments are not available.
pub(super) fn requests<'a>(
    ctx: &Context<'a>,
    way: &Upgrade<'a>,
    (pods, namespaces): (&'a [Pod], &BTreeMap<&'a str, &'a Namespace>),
) -> Result<Vec<Request<'a>>, Unjudged> {
    let images = TargetImages::new(ctx, way);
    let home = ctx.namespaces().control_plane.as_str();
    let remains = |name: &str| !ctx.knowledge.upgrades().is_extension_gone(name, way.to, ctx.knowledge.minors());
    let is_extension = |one: &&&Namespace| one.metadata.label(EXTENSION_LABEL).is_some_and(remains);
    let extensions: BTreeSet<&str> =
        namespaces.values().filter(is_extension).map(|one| one.metadata.name.as_str()).collect();
    let part = |meta: &Meta| match meta.namespace.as_str() {
        namespace if namespace == home && meta.label(COMPONENT).is_some() => Some(PodOwner::ControlPlane),
        namespace if extensions.contains(namespace) => Some(PodOwner::Extension),
        _ => None,
    };
    let none = Meta::default();
    let containers = |part: PodOwner, meta: &Meta, namespace: &str, spec: &PodSpec| {
        let inherited = namespaces.get(namespace).map_or(&none, |one| &one.metadata);
        images.changed(part, [meta, inherited], spec)
    };
    let mut requests = Vec::new();
    let mut seen = HashSet::new();
    let owners = ctx.owners();
    for pod in pods {
        let meta = &pod.metadata;
        let is_meshed = || {
            let own = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
            own && ctx.judges(&meta.namespace)
        };
        let part = if cni::is_installer_pod(pod) { Some(PodOwner::LinkerdCni) } else { part(meta) };
        let Some(part) = part.or_else(|| is_meshed().then_some(PodOwner::Meshed)) else { continue };
        if pod.is_finished() || meta.deletion_timestamp.is_some() {
            continue;
        }
        let (today, then) = containers(part, meta, &meta.namespace, &pod.spec);
        let owner = owners.owner(pod);
        if today == then || !seen.insert((owner.clone(), today.clone())) {
            continue;
        }
        let object = |containers: &[Placed]| {
            let spec = spec(&pod.spec, containers);
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(meta), "spec": spec})
        };
        requests.push(Request {
            subject: owner.subject(vec![meta.name.clone()]),
            operation: "CREATE",
            group: "",
            resource: "pods",
            kind: "Pod",
            namespace: &meta.namespace,
            name: &meta.name,
            labels: &meta.labels,
            today: object(&today),
            then: object(&then),
            changed: changed(&today, &then),
        });
    }
    let own =
        ctx.partial_list::<Deployment>()?.iter().filter_map(|one| Some((Kind::Deployment, one, part(&one.metadata)?)));
    let installers = ctx.optional_list::<DaemonSet>().iter().filter(|one| cni::is_installer(one));
    let installers = installers.map(|one| (Kind::DaemonSet, one, PodOwner::LinkerdCni));
    for (kind, workload, part) in own.chain(installers) {
        let template = &workload.spec.template;
        let (today, then) = containers(part, &template.metadata, &workload.metadata.namespace, &template.spec);
        if today != then {
            requests.push(update(kind, workload, &today, &then));
        }
    }
    Ok(requests)
}

/// The update of a workload.
fn update<'a>(kind: Kind, workload: &'a Workload, today: &[Placed], then: &[Placed]) -> Request<'a> {
    let meta = &workload.metadata;
    let template = &workload.spec.template;
    let info = kind.info();
    let object = |containers: &[Placed]| {
        let template = json!({
            "metadata": {"labels": *template.metadata.labels}, "spec": spec(&template.spec, containers),
        });
        json!({
            "apiVersion": kind.api_version(),
            "kind": info.kind,
            "metadata": metadata(meta),
            "spec": {"template": template},
        })
    };
    Request {
        subject: Subject::object(kind, &meta.namespace, &meta.name),
        operation: "UPDATE",
        group: info.group,
        resource: info.plural,
        kind: info.kind,
        namespace: &meta.namespace,
        name: &meta.name,
        labels: &meta.labels,
        today: object(today),
        then: object(then),
        changed: changed(today, then),
    }
}

fn metadata(meta: &Meta) -> Value {
    json!({"name": meta.name, "namespace": meta.namespace.as_str(), "labels": *meta.labels})
}

/// The known fields of a pod's specification.
fn spec(spec: &PodSpec, containers: &[Placed]) -> Value {
    let list = |init: bool| {
        let of_list = containers.iter().filter(|one| one.init == init);
        let each = of_list.map(|one| {
            let mut container = json!({"name": one.name, "image": one.image});
            if one.native {
                container["restartPolicy"] = json!("Always");
            }
            container
        });
        Value::Array(each.collect())
    };
    let mut map = Map::new();
    map.insert("containers".to_owned(), list(false));
    if containers.iter().any(|one| one.init) {
        map.insert("initContainers".to_owned(), list(true));
    }
    for (name, value) in
        [("serviceAccountName", spec.service_account_name.as_str()), ("restartPolicy", spec.restart_policy.as_str())]
    {
        if !value.is_empty() {
            map.insert(name.to_owned(), json!(value));
        }
    }
    if spec.host_network {
        map.insert("hostNetwork".to_owned(), json!(true));
    }
    Value::Object(map)
}

fn changed(today: &[Placed], then: &[Placed]) -> Vec<(String, String, String)> {
    let pairs = today.iter().zip(then).filter(|(before, after)| before != after);
    pairs.map(|(before, after)| (after.name.clone(), before.image.clone(), after.image.clone())).collect()
}
