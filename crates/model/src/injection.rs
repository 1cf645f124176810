//! Decisions of the proxy injector: the pods that the API server sends to it, and the result for each, from
//! the webhook's selectors, the annotations of namespace and pod, and the pod's specification. The rules are
//! those of releases 2.12 to 2.20, which are equal.
//!
//! Pure. The checks compare the decision with the actual pod.

mod called;
mod conditions;

use std::collections::HashMap;
use std::fmt;

use super::quantity;
use crate::chart::values::Values;
use crate::objects::{LabelSelector, Meta, Namespace, PodSpec, Webhook};
use called::left_out;
pub use called::{Clause, SERVICE, WEBHOOKS_LABEL, unmet, webhook, with_name};
pub use conditions::{Conditions, Matched, NewObject};

/// The annotation that requests a proxy.
pub const INJECT: &str = "linkerd.io/inject";

/// The place of an effective value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// On the pod, copied from its template.
    Pod,
    /// On the namespace.
    Namespace,
}

/// The injector's decision for a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It adds a proxy.
    Inject {
        /// The place that requests it.
        level: Level,
        /// `enabled` or `ingress`.
        value: &'a str,
    },
    /// It leaves the pod unchanged, or is not called.
    Skip(Skip<'a>),
    /// The pod's namespace is unknown.
    Unknown,
}

/// Why a pod gets no proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip<'a> {
    /// The API server does not call the injector, because of this clause of the webhook's selector.
    NotCalled(Clause),
    /// No annotation requests a proxy.
    NotAsked,
    /// The pod has `disabled`.
    Disabled,
    /// The injector does not know the value, which disables injection.
    InvalidValue(Level, &'a str),
    /// It runs in the host network, in which the injector never redirects traffic.
    HostNetwork,
    /// It already has a sidecar container of that name, Linkerd's or Istio's.
    Sidecar(&'a str),
    /// No service account token is mounted, and the control plane does not project one of its own.
    NoToken,
}

impl fmt::Display for Skip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::NotCalled(clause) => write!(f, "the webhook excludes it: {clause}"),
            Skip::NotAsked => write!(f, "neither pod nor namespace has {INJECT}: enabled"),
            Skip::Disabled => write!(f, "the pod has {INJECT}: disabled"),
            Skip::InvalidValue(Level::Pod, value) => {
                write!(f, "the pod's {INJECT} has no valid value: {value:?}")
            }
            Skip::InvalidValue(Level::Namespace, value) => {
                write!(f, "the namespace's {INJECT} has no valid value: {value:?}")
            }
            Skip::HostNetwork => f.write_str("it shares the node's network"),
            Skip::Sidecar(name) => write!(f, "it has a sidecar already: {name}"),
            Skip::NoToken => f.write_str("no service account token is mounted, and none is projected"),
        }
    }
}

/// Pod admission in one cluster: the injector's webhook, the namespaces, and the relevant value of the
/// control plane.
pub struct Admission<'a> {
    namespaces: HashMap<&'a str, Home<'a>>,
    objects: Option<&'a LabelSelector>,
    conditions: Conditions<'a>,
    projects_token: bool,
}

/// A namespace, and the clause of the webhook's selector that excludes it.
struct Home<'a> {
    namespace: &'a Namespace,
    left_out: Option<Clause>,
}

impl<'a> Admission<'a> {
    /// Without a webhook or values, the defaults of an install apply.
    pub fn new(namespaces: &'a [Namespace], webhook: Option<&'a Webhook>, values: Option<&Values>) -> Self {
        let projects_token =
            values.and_then(|values| values.bool("identity.serviceAccountTokenProjection")).unwrap_or(true);
        let home = |namespace: &'a Namespace| Home { namespace, left_out: left_out(namespace, webhook) };
        Admission {
            namespaces: namespaces.iter().map(|n| (n.metadata.name.as_str(), home(n))).collect(),
            objects: webhook.and_then(|webhook| webhook.object_selector.as_ref()),
            conditions: Conditions::from_webhook(webhook),
            projects_token,
        }
    }

    /// A namespace by name.
    pub fn namespace(&self, name: &str) -> Option<&'a Namespace> {
        self.namespaces.get(name).map(|home| home.namespace)
    }

    /// Whether the proxies of this control plane use their own projected token instead of the pod's.
    pub fn projects_token(&self) -> bool {
        self.projects_token
    }

    /// The place that requests a proxy for a pod, whether the injector is called or not; `None` without a
    /// request.
    pub fn request(&self, namespace: &str, meta: &'a Meta) -> Option<(Level, &'a str)> {
        requested_mode(self.namespaces.get(namespace)?.namespace, meta).ok()
    }

    /// Whether the injector is called for the pods of a namespace, according to its labels.
    pub fn calls(&self, namespace: &str) -> bool {
        self.namespaces.get(namespace).is_some_and(|home| home.left_out.is_none())
    }

    /// Whether the injector is called for a pod, according to the conditions of the webhook alone.
    pub fn conditions_of_pod(&self, namespace: &str, meta: &Meta) -> Matched {
        self.conditions.of_new(&NewObject { kind: ("", "v1", "Pod", "pods"), namespace, meta: Some(meta) })
    }

    /// The term of the selectors or the condition that excludes all pods of a namespace, whatever their
    /// labels; `None` if a default install excludes the namespace too.
    pub fn excludes(&self, namespace: &str) -> Option<Clause> {
        let home = self.namespaces.get(namespace)?;
        if left_out(home.namespace, None).is_some() {
            return None;
        }
        let new = NewObject { kind: ("", "v1", "Pod", "pods"), namespace, meta: None };
        let by_condition = || match self.conditions.of_new(&new) {
            Matched::No(name, expression) => Some(Clause::Condition { name, expression }),
            Matched::Yes | Matched::Unknown(_) => None,
        };
        home.left_out.clone().or_else(by_condition)
    }

    /// The decision for a pod, or for the pods of a template, created in `namespace`.
    pub fn decide(&self, namespace: &str, meta: &'a Meta, spec: &'a PodSpec) -> Decision<'a> {
        let Some(home) = self.namespaces.get(namespace) else { return Decision::Unknown };
        let by_labels = || self.objects.and_then(|selector| unmet(selector, &meta.labels, true));
        let by_condition = || match self.conditions_of_pod(namespace, meta) {
            Matched::No(name, expression) => Some(Clause::Condition { name, expression }),
            Matched::Yes | Matched::Unknown(_) => None,
        };
        if let Some(clause) = home.left_out.clone().or_else(by_labels).or_else(by_condition) {
            return Decision::Skip(Skip::NotCalled(clause));
        }
        let (level, value) = match requested_mode(home.namespace, meta) {
            Ok(asked) => asked,
            Err(skip) => return Decision::Skip(skip),
        };
        if spec.host_network {
            return Decision::Skip(Skip::HostNetwork);
        }
        if let Some(name) = sidecar(spec) {
            return Decision::Skip(Skip::Sidecar(name));
        }
        if !self.projects_token && !mounts_token(spec) {
            return Decision::Skip(Skip::NoToken);
        }
        Decision::Inject { level, value }
    }
}

/// The place that requests a proxy, by the injector's own truth table: an invalid value anywhere disables it,
/// a pod's `disabled` overrides its namespace's `enabled`, and a pod's `enabled` overrides its namespace's
/// `disabled`.
fn requested_mode<'a>(namespace: &'a Namespace, pod: &'a Meta) -> Result<(Level, &'a str), Skip<'a>> {
    let on_namespace = namespace.metadata.annotation(INJECT).unwrap_or_default();
    let on_pod = pod.annotation(INJECT).unwrap_or_default();
    let valid = |value: &str| matches!(value, "" | "enabled" | "disabled" | "ingress");
    let asks = |value: &str| matches!(value, "enabled" | "ingress");
    if !valid(on_namespace) {
        return Err(Skip::InvalidValue(Level::Namespace, on_namespace));
    }
    if !valid(on_pod) {
        return Err(Skip::InvalidValue(Level::Pod, on_pod));
    }
    match (asks(on_namespace), on_pod) {
        (_, "disabled") => Err(Skip::Disabled),
        (_, value) if asks(value) => Ok((Level::Pod, value)),
        (true, _) => Ok((Level::Namespace, on_namespace)),
        (false, _) => Err(Skip::NotAsked),
    }
}

/// The container that the injector detects as an existing proxy, including Istio's.
fn sidecar(spec: &PodSpec) -> Option<&str> {
    let by_image = |image: &str, names: &[&str]| names.iter().any(|name| image.starts_with(name));
    let proxy = spec.all_containers().find(|c| {
        matches!(c.name.as_str(), "linkerd-proxy" | "istio-proxy")
            || by_image(&c.image, &["cr.l5d.io/linkerd/proxy:", "gcr.io/istio-release/proxyv2:"])
    });
    let init = || {
        spec.init_containers.iter().find(|c| {
            matches!(c.name.as_str(), "linkerd-init" | "istio-init")
                || by_image(&c.image, &["cr.l5d.io/linkerd/proxy-init:", "gcr.io/istio-release/proxy_init:"])
        })
    };
    proxy.or_else(init).map(|container| container.name.as_str())
}

/// Whether a service account token is mounted. The API server adds the volume before it calls webhooks; a
/// template does not have it yet, so only an explicit `false` applies there.
fn mounts_token(spec: &PodSpec) -> bool {
    spec.automount_service_account_token != Some(false) || spec.volumes.service_account_token
}

/// Whether a stored pod has no token: the API server writes the account into every pod, and the volume of its
/// token too, unless the pod or the account opts out. Not valid for templates.
pub fn stored_without_token(spec: &PodSpec) -> bool {
    !spec.service_account_name.is_empty() && !spec.volumes.service_account_token
}

/// The value of an annotation that pods inherit from their namespace: the pod's own first. `inherited` is
/// whether the installed injector copies this key from namespaces.
pub fn effective<'a>(
    key: &str,
    pod: &'a Meta,
    namespace: Option<&'a Namespace>,
    inherited: bool,
) -> Option<(Level, &'a str)> {
    let own = pod.annotation(key).map(|value| (Level::Pod, value));
    let of_namespace = || {
        let value = namespace.filter(|_| inherited)?.metadata.annotation(key)?;
        Some((Level::Namespace, value))
    };
    own.or_else(of_namespace)
}

/// Why the API server rejects a pod for an annotation with a request or limit of its proxy: the request
/// exceeds the limit. `annotated` returns the value of another annotation; otherwise the chart's value
/// applies.
pub fn above_limit<'a>(
    key: &str,
    value: &str,
    annotated: impl Fn(&str) -> Option<&'a str>,
    values: Option<&Values>,
) -> Option<String> {
    const PREFIX: &str = "config.linkerd.io/proxy-";
    let (resource, kind) = key.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let other_kind = match kind {
        "request" => "limit",
        "limit" => "request",
        _ => return None,
    };
    let by_annotation = annotated(&format!("{PREFIX}{resource}-{other_kind}"));
    let by_annotation = by_annotation.filter(|text| quantity::read(text).is_some()).map(str::to_owned);
    let other = by_annotation
        .or_else(|| values?.scalar(&format!("proxy.resources.{resource}.{other_kind}")))
        .filter(|text| !text.is_empty())?;
    let (own, other_amount) = (quantity::read(value)?, quantity::read(&other)?);
    // Amounts are products of decimal fractions.
    let exceeds = |more: f64, less: f64| more > less * (1.0 + 1e-9);
    match kind {
        "request" if exceeds(own, other_amount) => Some(format!("it must not exceed the limit, {other}")),
        "limit" if exceeds(other_amount, own) => Some(format!("it must not be below the request, {other}")),
        _ => None,
    }
}

/// The memory, in bytes, that an idle proxy needs; the request of the chart's values-ha.yaml.
const LEAST_MEMORY: f64 = (20 << 20) as f64;
/// A container with less memory, in bytes, cannot even be created.
const NO_MEMORY: f64 = (1 << 20) as f64;

/// A memory limit that is too low for a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LowMemory {
    /// No container starts with it; a unit may be missing.
    NeverStarts,
    /// The proxy is killed when it needs more.
    Killed,
}

/// Whether a memory limit of the proxy is too low; `None` for other texts.
pub fn low_memory(limit: &str) -> Option<LowMemory> {
    match quantity::read(limit)? {
        bytes if bytes <= 0.0 || bytes >= LEAST_MEMORY => None,
        bytes if bytes < NO_MEMORY => Some(LowMemory::NeverStarts),
        _ => Some(LowMemory::Killed),
    }
}

/// The ports on which every proxy listens: the annotation's and the chart value's last words, and the default.
pub const LISTENERS: [(&str, &str, u16); 3] =
    [("inbound-port", "inbound", 4143), ("outbound-port", "outbound", 4140), ("admin-port", "admin", 4191)];

/// Why a proxy cannot listen on the port of an annotation: another of its ports is the same. `annotated` returns the
/// value of another annotation; otherwise the chart's value applies.
pub fn port_twice<'a>(
    key: &str,
    value: &str,
    annotated: impl Fn(&str) -> Option<&'a str>,
    values: Option<&Values>,
) -> Option<String> {
    const PREFIX: &str = "config.linkerd.io/";
    let own = LISTENERS.iter().find(|(name, ..)| key.strip_prefix(PREFIX) == Some(*name))?;
    let port: u16 = value.parse().ok()?;
    let of_chart = |path: &str| values?.scalar(&format!("proxy.ports.{path}"))?.parse().ok();
    let effective = |(name, path, default): (&str, &str, u16)| -> u16 {
        let by_annotation = annotated(&format!("{PREFIX}{name}")).and_then(|text| text.parse().ok());
        by_annotation.or_else(|| of_chart(path)).unwrap_or(default)
    };
    let others = LISTENERS.iter().filter(|other| *other != own);
    let same = others.copied().find(|other| effective(*other) == port)?;
    Some(format!("it must differ from the proxy's {} port, {port}", same.1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn namespace(name: &str, inject: Option<&str>, label: Option<&str>) -> Namespace {
        let annotations: BTreeMap<_, _> = inject.map(|value| (INJECT, value)).into_iter().collect();
        let labels: BTreeMap<_, _> = label.map(|value| (WEBHOOKS_LABEL, value)).into_iter().collect();
        serde_json::from_value(
            serde_json::json!({"metadata": {"name": name, "annotations": annotations, "labels": labels}}),
        )
        .expect("a namespace")
    }

    fn pod(inject: Option<&str>) -> (Meta, PodSpec) {
        let annotations: BTreeMap<_, _> = inject.map(|value| (INJECT, value)).into_iter().collect();
        let meta = serde_json::from_value(serde_json::json!({"name": "p", "annotations": annotations}));
        let spec = serde_json::from_value(serde_json::json!({"containers": [{"name": "app", "image": "a:1"}]}));
        (meta.expect("metadata"), spec.expect("a specification"))
    }

    #[test]
    fn the_truth_table_is_the_injectors() {
        for (on_namespace, on_pod, injected) in [
            (Some("enabled"), Some("enabled"), true),
            (Some("enabled"), None, true),
            (Some("enabled"), Some("disabled"), false),
            (Some("disabled"), Some("enabled"), true),
            (None, Some("enabled"), true),
            (Some("disabled"), None, false),
            (None, None, false),
            (Some("ingress"), None, true),
            (None, Some("ingress"), true),
            (Some("Enabled"), Some("enabled"), false),
            (Some("enabled"), Some("true"), false),
            (Some("enabled"), Some(""), true),
        ] {
            let namespaces = [namespace("shop", on_namespace, None)];
            let (meta, spec) = pod(on_pod);
            let decision = Admission::new(&namespaces, None, None).decide("shop", &meta, &spec);
            assert_eq!(
                matches!(decision, Decision::Inject { .. }),
                injected,
                "{on_namespace:?} {on_pod:?}: {decision:?}"
            );
        }
    }

    #[test]
    fn what_the_api_server_never_sends_is_named_with_its_clause() {
        let namespaces = [
            namespace("kube-system", Some("enabled"), None),
            namespace("off", Some("enabled"), Some("disabled")),
            namespace("shop", Some("enabled"), None),
        ];
        let webhook: Webhook = serde_json::from_value(serde_json::json!({
            "namespaceSelector": {"matchExpressions": [
                {"key": WEBHOOKS_LABEL, "operator": "NotIn", "values": ["disabled"]},
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
            ]},
            "objectSelector": {"matchLabels": {"mesh": "yes"}}
        }))
        .expect("a webhook");
        let (meta, spec) = pod(None);
        for webhook in [None, Some(&webhook)] {
            let admission = Admission::new(&namespaces, webhook, None);
            for name in ["kube-system", "off"] {
                let decision = admission.decide(name, &meta, &spec);
                assert!(matches!(decision, Decision::Skip(Skip::NotCalled(_))), "{name}: {decision:?}");
            }
        }
        let admission = Admission::new(&namespaces, Some(&webhook), None);
        let Decision::Skip(Skip::NotCalled(clause)) = admission.decide("shop", &meta, &spec) else {
            panic!("it is left out")
        };
        assert_eq!(clause.to_string(), "objectSelector mesh=yes");
        assert_eq!(admission.decide("gone", &meta, &spec), Decision::Unknown);
    }

    #[test]
    fn some_pods_are_never_injected() {
        let namespaces = [namespace("shop", Some("enabled"), None)];
        let (meta, mut spec) = pod(None);
        spec.automount_service_account_token = Some(false);
        let admission = Admission::new(&namespaces, None, None);
        assert!(matches!(admission.decide("shop", &meta, &spec), Decision::Inject { .. }));
        let config: crate::objects::ConfigMap =
            serde_json::from_value(serde_json::json!({"metadata": {"name": "linkerd-config"},
            "data": {"values": "identity: {serviceAccountTokenProjection: false}"}}))
            .expect("a ConfigMap");
        let old = Admission::new(&namespaces, None, config.chart_values().as_ref());
        assert_eq!(old.decide("shop", &meta, &spec), Decision::Skip(Skip::NoToken));
        spec.containers.edit(0).name = "istio-proxy".into();
        assert_eq!(admission.decide("shop", &meta, &spec), Decision::Skip(Skip::Sidecar("istio-proxy")));
        spec.host_network = true;
        assert_eq!(admission.decide("shop", &meta, &spec), Decision::Skip(Skip::HostNetwork));
    }
}
