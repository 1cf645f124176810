//! The objects that expressions of `defects.yaml` read. Custom resources are complete; of other kinds, which
//! are many in a cluster, they have the fields that checks read. All are redacted.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::checks::prelude::*;
use crate::command::{Call, Line};
use crate::model::is_kept_in_full;
use crate::objects::container_status::ContainerState;
use crate::objects::{Container, ContainerStatus, DaemonSet, Event, PodSpec, StatefulSet, Texts};

/// The source of an Argo CD Application, and the objects that its last sync could not apply.
const FAILED_TO_SYNC: &str = concat!(
    r#"{.spec.source.repoURL}{" "}{.spec.source.path}{"\n"}"#,
    r#"{range .status.operationState.syncResult.resources[?(@.status=="SyncFailed")]}"#,
    r#"{.kind}{" "}{.namespace}/{.name}{"\n"}{end}"#,
);

/// The kinds with a part of their fields.
const IN_PART: [Kind; 8] = [
    Kind::ConfigMap,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::Event,
    Kind::Namespace,
    Kind::Pod,
    Kind::Service,
    Kind::StatefulSet,
];

/// The fields of objects that are not complete.
const FIELDS: [&str; 7] = ["metadata", "spec", "status", "values", "reason", "type", "message"];

/// An object, by type.
enum Object<'a> {
    Complete(&'a Value),
    Service(&'a Service),
    Workload(&'a Workload),
    Namespace(&'a Namespace),
    Config(&'a ConfigMap),
    Event(&'a Event),
    Pod(&'a Pod),
}

/// An object of a kind.
pub(super) struct ObjectFields<'a> {
    kind: Kind,
    object: Object<'a>,
}

/// The objects of a kind. The kind configmaps has only linkerd-config.
///
/// # Errors
/// They are not available.
pub(super) fn objects<'a>(ctx: &Context<'a>, kind: Kind) -> Result<Vec<ObjectFields<'a>>, Missing> {
    macro_rules! all {
        ($listed:ident, $object:ident) => {
            ctx.partial_list::<$listed>()?
                .iter()
                .map(|object| ObjectFields { kind, object: Object::$object(object) })
                .collect()
        };
    }
    Ok(match kind {
        Kind::Service => all!(Service, Service),
        Kind::Deployment => all!(Deployment, Workload),
        Kind::StatefulSet => all!(StatefulSet, Workload),
        Kind::DaemonSet => all!(DaemonSet, Workload),
        Kind::Namespace => all!(Namespace, Namespace),
        Kind::Event => all!(Event, Event),
        Kind::Pod => all!(Pod, Pod),
        Kind::ConfigMap => {
            let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
            config.into_iter().map(|object| ObjectFields { kind, object: Object::Config(object) }).collect()
        }
        _ => {
            let complete = ctx.whole(kind)?.iter();
            complete.map(|object| ObjectFields { kind, object: Object::Complete(object) }).collect()
        }
    })
}

/// Whether expressions can read objects of a kind.
pub(super) fn is_readable(kind: Kind) -> bool {
    IN_PART.contains(&kind) || is_kept_in_full(kind)
}

impl<'a> ObjectFields<'a> {
    fn meta(&self) -> Option<&'a Meta> {
        Some(match self.object {
            Object::Complete(_) => return None,
            Object::Service(object) => &object.metadata,
            Object::Workload(object) => &object.metadata,
            Object::Namespace(object) => &object.metadata,
            Object::Config(object) => &object.metadata,
            Object::Event(object) => &object.metadata,
            Object::Pod(object) => &object.metadata,
        })
    }

    /// Its namespace and name.
    fn key(&self) -> (&'a str, &'a str) {
        match (self.object_json(), self.meta()) {
            (Some(object), _) => {
                let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
                (text("namespace"), text("name"))
            }
            (None, meta) => meta.map_or(("", ""), Meta::key),
        }
    }

    fn object_json(&self) -> Option<&'a Value> {
        if let Object::Complete(object) = self.object { Some(object) } else { None }
    }

    /// The pod, if it is one.
    pub(super) fn pod(&self) -> Option<&'a Pod> {
        if let Object::Pod(pod) = self.object { Some(pod) } else { None }
    }

    /// The event, if it is one.
    pub(super) fn event(&self) -> Option<&'a Event> {
        if let Object::Event(event) = self.object { Some(event) } else { None }
    }

    fn texts(&self) -> Option<&'a Texts> {
        match self.object {
            Object::Workload(object) => Some(&object.spec.template.metadata.annotations),
            _ => self.meta().map(|meta| &*meta.annotations),
        }
    }

    /// Its metadata, to change its annotations; `None` if it cannot be read as such.
    pub(super) fn metadata(&self) -> Option<Cow<'a, Meta>> {
        match self.object_json() {
            Some(object) => Meta::deserialize(&object["metadata"]).ok().map(Cow::Owned),
            None => self.meta().map(Cow::Borrowed),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Annotations of the pod template, or of the object if it has none.
    pub(super) fn annotations(&self) -> Value {
        match (self.texts(), self.object_json()) {
            (Some(texts), _) => json!(texts.to_map()),
            (None, Some(object)) if object["metadata"]["annotations"].is_object() => {
                object["metadata"]["annotations"].clone()
            }
            (None, _) => json!({}),
        }
    }

    /// Whether it has an annotation; see [`ObjectFields::annotations`].
    pub(super) fn has_annotation(&self, key: &str) -> bool {
        match (self.texts(), self.object_json()) {
            (Some(texts), _) => texts.contains_key(key),
            (None, Some(object)) => object["metadata"]["annotations"].get(key).is_some(),
            (None, None) => false,
        }
    }

    /// The object as a subject; the object that an event is about.
    pub(super) fn subject(&self) -> Subject {
        match self.event().map(|event| &event.about).filter(|about| !about.name.is_empty()) {
            Some(about) => Subject::object(about.kind.to_string(), &about.namespace, &about.name),
            None => self.own_subject(),
        }
    }

    /// The object itself as a subject.
    pub(super) fn own_subject(&self) -> Subject {
        let (namespace, name) = self.key();
        Subject::object(self.kind, namespace, name)
    }

    /// The command that shows the object of an event, or the objects that an Application could not apply.
    pub(super) fn show(&self) -> Option<Call> {
        let about = &self.event()?.about;
        let get = kubectl().namespace(&about.namespace).words("get").arg(about.kind.to_lowercase());
        let get = (!about.name.is_empty()).then(|| get.operand(about.name.as_str()))?;
        Some(match about.kind.as_str() {
            "Application" => get.option("-o", format!("jsonpath={FAILED_TO_SYNC}")),
            _ => get.words("-o yaml"),
        })
    }

    /// Whether it is one of manifests that are not applied yet.
    pub(super) fn is_planned(&self, ctx: &Context<'_>) -> bool {
        let (namespace, name) = self.key();
        ctx.applies(self.kind, &Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() })
    }

    /// The command that edits the object.
    pub(super) fn edit(&self) -> Call {
        let (namespace, name) = self.key();
        kubectl().namespace(namespace).words("edit").arg(self.kind.resource()).operand(name)
    }

    /// The command that writes the object to a file.
    pub(super) fn keep(&self) -> Line {
        let (namespace, name) = self.key();
        let get = kubectl().namespace(namespace).words("get").arg(self.kind.resource()).operand(name);
        Line::from(get.words("-o yaml")).to_file("copy.yaml")
    }

    /// The command that applies that file.
    pub(super) fn apply_copy() -> Call {
        kubectl().words("apply -f copy.yaml")
    }

    /// The command that deletes the object.
    pub(super) fn delete(&self) -> Call {
        let (namespace, name) = self.key();
        kubectl().namespace(namespace).words("delete").arg(self.kind.resource()).operand(name)
    }

    /// Whether it is in a namespace that the run checks.
    pub(super) fn is_judged(&self, ctx: &Context<'_>) -> bool {
        let (namespace, _) = self.key();
        !self.kind.info().namespaced || namespace == ctx.namespaces().control_plane || ctx.judges(namespace)
    }

    /// The item that it belongs to.
    pub(super) fn item(&self) -> Item {
        match self.object {
            Object::Config(_) => Item::named(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config"),
            _ => Item::List(self.kind),
        }
    }

    /// Its fields that are read.
    pub(super) fn json(&self, is_read: impl Fn(&str) -> bool) -> Value {
        if let Some(object) = self.object_json() {
            let fields = object.as_object().into_iter().flatten().filter(|(name, _)| is_read(name));
            return fields.map(|(name, field)| (name.clone(), field.clone())).collect();
        }
        let fields = FIELDS.iter().filter(|name| is_read(name));
        fields.filter_map(|name| Some(((*name).to_owned(), self.field(name)?))).collect()
    }

    /// A field of an object that is not complete.
    fn field(&self, name: &str) -> Option<Value> {
        Some(match (name, &self.object) {
            ("metadata", _) => metadata(self.meta()?),
            ("spec", Object::Service(object)) => service(object),
            ("spec", Object::Workload(object)) => json!({"template": template(object)}),
            ("spec", Object::Pod(object)) => containers(&object.spec),
            ("status", Object::Pod(object)) => status(object),
            ("values", Object::Config(object)) => values(object),
            ("reason", Object::Event(object)) => json!(object.reason.as_str()),
            ("type", Object::Event(object)) => json!(object.kind.as_str()),
            // Its text has redacted parts, and expressions search the rest.
            ("message", Object::Event(object)) => json!(object.message.replace("REDACTED(", "(")),
            _ => return None,
        })
    }
}

/// An object with its optional fields, if they are set.
fn fields<const N: usize>(optional: [(&str, Option<Value>); N], always: Value) -> Value {
    let mut map = match always {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    map.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(map)
}

fn metadata(meta: &Meta) -> Value {
    json!({
        "name": meta.name,
        "namespace": meta.namespace.as_str(),
        "labels": meta.labels.to_map(),
        "annotations": meta.annotations.to_map(),
    })
}

fn service(object: &Service) -> Value {
    let ports = object.spec.ports.iter().map(|port| {
        json!({
            "name": port.name,
            "port": port.port,
            "protocol": port.protocol,
            "appProtocol": port.app_protocol,
        })
    });
    json!({
        "type": object.spec.kind.as_str(),
        "headless": object.spec.cluster_ip.headless,
        "publishNotReadyAddresses": object.spec.publish_not_ready_addresses,
        "internalTrafficPolicy": object.spec.internal_traffic_policy.as_str(),
        "selector": object.spec.selector.to_map(),
        "ports": ports.collect::<Vec<_>>(),
    })
}

fn containers(spec: &PodSpec) -> Value {
    let all = |all: &mut dyn Iterator<Item = &Container>| -> Vec<Value> {
        all.map(|container| {
            let ports = container.ports.iter().map(|port| {
                json!({
                    "name": port.name.as_str(),
                    "containerPort": port.container_port,
                    "hostPort": port.host_port,
                })
            });
            let always = json!({
                "name": container.name.as_str(),
                "image": container.image.as_str(),
                "ports": ports.collect::<Vec<_>>(),
            });
            let policy = container.restart_policy.as_ref().map(|policy| json!(policy.as_str()));
            fields([("restartPolicy", policy)], always)
        })
        .collect()
    };
    json!({
        "containers": all(&mut spec.containers.iter()),
        "initContainers": all(&mut spec.init_containers.iter()),
        "hostNetwork": spec.host_network,
    })
}

fn template(object: &Workload) -> Value {
    let template = &object.spec.template;
    json!({
        "metadata": {
            "labels": template.metadata.labels.to_map(),
            "annotations": template.metadata.annotations.to_map(),
        },
        "spec": containers(&template.spec),
    })
}

fn status(object: &Pod) -> Value {
    let state = |state: &ContainerState| match (state.waiting(), state.terminated()) {
        (Some(waiting), _) => json!({"waiting": {"reason": waiting.reason}}),
        (None, Some(ended)) => {
            json!({"terminated": {"exitCode": ended.exit_code, "reason": ended.reason.as_str()}})
        }
        (None, None) => json!({}),
    };
    let statuses = |all: &[ContainerStatus]| -> Vec<Value> {
        let status = |status: &ContainerStatus| {
            json!({
                "name": status.name.as_str(),
                "ready": status.ready,
                "restartCount": status.restart_count,
                "state": state(&status.state),
                "lastState": state(status.last_state()),
            })
        };
        all.iter().map(status).collect()
    };
    json!({
        "phase": object.status.phase.as_str(),
        "podIP": object.status.pod_ip.map(|address| address.to_string()).unwrap_or_default(),
        "containerStatuses": statuses(&object.status.container_statuses),
        "initContainerStatuses": statuses(&object.status.init_container_statuses),
    })
}

/// The chart values of linkerd-config.
fn values(config: &ConfigMap) -> Value {
    let text = config.chart_values().and_then(|values| values.to_yaml()).unwrap_or_default();
    serde_yaml::from_str(&text).unwrap_or(Value::Null)
}
