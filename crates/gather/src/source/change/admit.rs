//! Admission of pods in a changed cluster: the API server mounts a token, then the injector of the resulting control
//! plane adds the proxy.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Change, key};
use crate::chart::values::Values;
use crate::item::Kind;
use crate::knowledge::{KeyKind, KeyScope, KeyStatus, Knowledge, OnInvalid};
use crate::model::injected::{Injecting, MadeBy};
use crate::model::injection::{Admission, Decision, Level, above_limit, effective, webhook};
use crate::model::installed::{COMPONENT, Injector};
use crate::objects::{ConfigMap, Meta, Namespace, Object, Pod, WebhookConfiguration, Workload, rule};
use crate::redact;
use crate::source::Source;
use crate::version::{Contains, LinkerdVersion};

impl<S: Source> Change<'_, S> {
    /// Admission after the set is applied.
    pub(super) async fn admitting(&self) -> Admitting<'_> {
        let slim = |kind: Kind, values: Vec<Value>| values.into_iter().map(move |value| (kind, value));
        let namespaces = self.overlaid(Kind::Namespace).await.0;
        let namespaces: Vec<Namespace> =
            slim(Kind::Namespace, namespaces).filter_map(|(kind, value)| read(kind, value)).collect();
        let configurations = self.overlaid(Kind::MutatingWebhookConfiguration).await.0;
        let configurations: Vec<WebhookConfiguration> =
            slim(Kind::MutatingWebhookConfiguration, configurations).filter_map(|(k, v)| read(k, v)).collect();
        let deployments = self.overlaid(Kind::Deployment).await.0;
        let deployments: Vec<Workload> =
            slim(Kind::Deployment, deployments).filter_map(|(kind, value)| read(kind, value)).collect();
        let injector = deployments.iter().find(|d| d.metadata.label(COMPONENT) == Some("proxy-injector"));
        let control_plane = injector.map_or("linkerd", |d| d.metadata.namespace.as_str()).to_owned();
        let config = self.of_control_plane(Kind::ConfigMap, &control_plane, "linkerd-config").await;
        let config: Option<ConfigMap> = config.and_then(|config| read(Kind::ConfigMap, config));
        let values = config.as_ref().and_then(ConfigMap::chart_values);
        let roots = self.of_control_plane(Kind::ConfigMap, &control_plane, "linkerd-identity-trust-roots").await;
        let anchors = roots.and_then(|roots| roots["data"]["ca-bundle.crt"].as_str().map(str::to_owned));
        let installed = Injector::find(&deployments, &control_plane).and_then(|injector| injector.version);
        let stated = || values.as_ref()?.text("linkerdVersion")?.parse::<LinkerdVersion>().ok();
        let release = installed.or_else(stated).or_else(|| self.release.clone());
        Admitting { namespaces, configurations, control_plane, values, anchors, release, knowledge: self.knowledge }
    }
}

/// Admission of pods by the injector of a control plane.
pub(super) struct Admitting<'a> {
    namespaces: Vec<Namespace>,
    configurations: Vec<WebhookConfiguration>,
    control_plane: String,
    values: Option<Values>,
    anchors: Option<String>,
    release: Option<LinkerdVersion>,
    knowledge: &'a Knowledge,
}

/// Result of the admission of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It gets a proxy.
    Injected {
        /// Source of the setting.
        level: Level,
        /// `enabled` or `ingress`.
        value: String,
    },
    /// It is rejected.
    Refused {
        /// The annotation that it is rejected for.
        key: String,
        why: String,
    },
    /// It is not injected, for this reason.
    Left(String),
    /// Unknown, for this reason.
    Unknown(String),
}

impl Admitting<'_> {
    /// Release of the injector.
    pub(super) fn release(&self) -> Option<&LinkerdVersion> {
        self.release.as_ref()
    }

    /// Annotations of namespaces.
    pub(super) fn annotations(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let of = |namespace: &Namespace| (namespace.metadata.name.to_string(), namespace.metadata.annotations.to_map());
        self.namespaces.iter().map(of).collect()
    }

    /// A pod after admission.
    pub(super) fn admitted(&self, pod: Value, made_by: Option<MadeBy<'_>>) -> Value {
        self.decided(pod, made_by).0
    }

    /// A pod after admission, and the decision.
    pub(super) fn decided(&self, mut pod: Value, made_by: Option<MadeBy<'_>>) -> (Value, Fate) {
        token(&mut pod);
        let (namespace, name) = key(&pod, Kind::Pod);
        let Some(slim) = read::<Pod>(Kind::Pod, pod.clone()) else {
            return (pod, Fate::Unknown("its spec cannot be read".to_owned()));
        };
        let webhook = webhook(&self.configurations, &self.control_plane).map(|(_, webhook)| webhook);
        let admission = Admission::new(&self.namespaces, webhook, self.values.as_ref());
        let fate = match admission.decide(&namespace, &slim.metadata, &slim.spec) {
            Decision::Inject { level, value } => Fate::Injected { level, value: value.to_owned() },
            Decision::Skip(skip) => return (pod, Fate::Left(skip.to_string())),
            Decision::Unknown => {
                return (pod, Fate::Unknown(format!("the namespace {namespace} is unknown")));
            }
        };
        let (Some(release), Some(home)) = (&self.release, admission.namespace(&namespace)) else {
            return (pod, fate);
        };
        let defaults = || defaults(release, self.knowledge);
        let Some(values) = self.values.clone().or_else(defaults) else { return (pod, fate) };
        let injecting = Injecting {
            values: &values,
            release: release.clone(),
            control_plane: self.control_plane.clone(),
            anchors: self.anchors.clone(),
            knowledge: self.knowledge,
        };
        injecting.add(&mut pod, home, made_by.unwrap_or(MadeBy { kind: "pod", name: &name }));
        (pod, self.refusal(release, &values, &slim.metadata, home).unwrap_or(fate))
    }

    /// Whether the injector, or the API server after it, rejects the pod for a value of an annotation.
    fn refusal(&self, release: &LinkerdVersion, values: &Values, pod: &Meta, home: &Namespace) -> Option<Fate> {
        let minors = self.knowledge.minors();
        let rows = self.knowledge.annotations().keys().iter().filter(|row| row.kind == KeyKind::Annotation);
        rows.filter(|row| row.is_read_on(KeyScope::PodTemplate)).find_map(|row| {
            let copied = row.counts_on_namespace(release, minors) != Contains::No;
            let (_, value) = effective(&row.key, pod, Some(home), copied)?;
            let status = row.status_in(release, self.knowledge);
            let why = match (status.likely()?, row.check_value(value, Some(release), minors)) {
                (KeyStatus::Conditional { when, refused, .. }, Ok(())) => {
                    let holds = |(path, with): (&String, &bool)| values.bool(path).unwrap_or(false) == *with;
                    (!refused.is_empty() && refused.iter().all(holds)).then(|| format!("it needs that {when}"))
                }
                (KeyStatus::Effective, Ok(())) => {
                    let annotated = |key: &str| effective(key, pod, Some(home), true).map(|(_, value)| value);
                    above_limit(&row.key, value, annotated, Some(values))
                }
                (KeyStatus::Effective | KeyStatus::Conditional { .. }, Err(accepted)) => {
                    (row.consequence(value) == OnInvalid::PodRefused).then_some(accepted)
                }
                _ => None,
            }?;
            Some(Fate::Refused { key: row.key.clone(), why: format!("{value:?}: {why}") })
        })
    }
}

/// Default values of a release for the injector, if no control plane sets them.
fn defaults(release: &LinkerdVersion, knowledge: &Knowledge) -> Option<Values> {
    let native = knowledge.native_sidecar().default_native(release, knowledge);
    Values::read(&format!(
        "linkerdVersion: \"{release}\"\nproxy:\n  nativeSidecar: {}\n  defaultInboundPolicy: \
         all-unauthenticated\n  image:\n    name: cr.l5d.io/linkerd/proxy\nproxyInit:\n  ignoreInboundPorts: \
         4567,4568\n  ignoreOutboundPorts: 4567,4568\n",
        native == Contains::Yes,
    ))
}

/// The token volume that the API server adds before it calls a webhook.
fn token(pod: &mut Value) {
    let spec = &mut pod["spec"];
    if spec["automountServiceAccountToken"] == json!(false) {
        return;
    }
    if spec["serviceAccountName"].as_str().is_none_or(str::is_empty) {
        spec["serviceAccountName"] = json!("default");
    }
    let held = read_template(spec).is_some_and(|spec| spec.volumes.service_account_token);
    if !held {
        let volume = json!({
            "name": "kube-api-access-new", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
        });
        match spec["volumes"].as_array_mut() {
            Some(volumes) => volumes.push(volume),
            None => spec["volumes"] = json!([volume]),
        }
    }
}

fn read_template(spec: &Value) -> Option<crate::objects::PodSpec> {
    serde_json::from_value(spec.clone()).ok()
}

/// An object without secrets.
pub(super) fn redacted(kind: Kind, value: &Value) -> Value {
    let mut value = value.clone();
    redact::object(kind.info().kind, rule(kind), &mut value);
    value
}

/// An object in the form that checks read.
pub(super) fn read<T: Object>(kind: Kind, value: Value) -> Option<T> {
    let mut object: T = serde_json::from_value(redacted(kind, &value)).ok()?;
    object.trim();
    Some(object)
}
