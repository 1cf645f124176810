//! Namespaces, nodes, custom resource definitions and webhook configurations.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Meta, nullable, redacted};
/// A namespace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    /// Name, labels, annotations.
    pub metadata: Meta,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Name, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: NodeSpec,
    /// What the kubelet says.
    #[serde(deserialize_with = "nullable")]
    pub status: NodeStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    /// The cloud's name for it: `aws:///us-east-1a/i-0abc`.
    #[serde(rename = "providerID", deserialize_with = "nullable")]
    pub provider_id: String,
    /// The addresses of its pods, where Kubernetes gives them out: `10.244.1.0/24`.
    #[serde(rename = "podCIDR", deserialize_with = "nullable")]
    pub pod_cidr: String,
    /// Whether it was cordoned.
    #[serde(deserialize_with = "nullable")]
    pub unschedulable: bool,
}

/// What the kubelet says.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Ready and the like.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<NodeCondition>,
    /// Versions and operating system.
    #[serde(deserialize_with = "nullable")]
    pub node_info: NodeInfo,
}

/// One condition of a node. Unlike those of other objects it says when the kubelet last confirmed it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    /// Its type: Ready, MemoryPressure, ...
    #[serde(rename = "type")]
    pub kind: String,
    /// True, False or Unknown.
    pub status: String,
    /// One word of why.
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// A sentence of why.
    #[serde(deserialize_with = "redacted")]
    pub message: String,
    /// Since when.
    pub last_transition_time: Option<Timestamp>,
    /// When the kubelet last wrote it, by the node's own clock.
    pub last_heartbeat_time: Option<Timestamp>,
}

/// Versions and operating system of a node.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeInfo {
    /// `v1.31.5-eks-5d632ec`.
    #[serde(deserialize_with = "nullable")]
    pub kubelet_version: String,
    /// `Amazon Linux 2023.6.20250203`.
    #[serde(deserialize_with = "nullable")]
    pub os_image: String,
    /// `linux` or `windows`.
    #[serde(deserialize_with = "nullable")]
    pub operating_system: String,
    /// `6.1.127-135.201.amzn2023.x86_64`.
    #[serde(deserialize_with = "nullable")]
    pub kernel_version: String,
    /// `containerd://1.7.25`.
    #[serde(deserialize_with = "nullable")]
    pub container_runtime_version: String,
}

/// A custom resource definition: which versions are served.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CustomResourceDefinition {
    /// Name and annotations (`gateway.networking.k8s.io/bundle-version` is kept as a field of its own).
    pub metadata: CrdMeta,
    /// Group, names, versions.
    #[serde(deserialize_with = "nullable")]
    pub spec: CrdSpec,
}

/// Metadata of a definition, with all its annotations: the bundle version of Gateway API is one of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdMeta {
    /// `<plural>.<group>`.
    pub name: String,
    /// Labels.
    #[serde(deserialize_with = "nullable")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(deserialize_with = "nullable")]
    pub annotations: BTreeMap<String, String>,
}

/// Group, names, versions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdSpec {
    /// API group.
    pub group: String,
    /// Versions, in order.
    #[serde(deserialize_with = "nullable")]
    pub versions: Vec<CrdVersion>,
}

/// One version of a custom resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdVersion {
    /// `v1beta1`.
    pub name: String,
    /// Whether clients can ask for it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
}

/// A MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WebhookConfiguration {
    /// Name, labels, creation time.
    pub metadata: Meta,
    /// The webhooks in it.
    #[serde(deserialize_with = "nullable")]
    pub webhooks: Vec<Webhook>,
}

/// One webhook.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Webhook {
    /// `linkerd-proxy-injector.linkerd.io`.
    pub name: String,
    /// Ignore or Fail; empty means Fail.
    #[serde(deserialize_with = "nullable")]
    pub failure_policy: String,
    /// Seconds the API server waits.
    pub timeout_seconds: Option<u32>,
    /// Where the API server calls.
    #[serde(deserialize_with = "nullable")]
    pub client_config: ClientConfig,
    /// Which namespaces are called for.
    pub namespace_selector: Option<LabelSelector>,
    /// Which objects are called for.
    pub object_selector: Option<LabelSelector>,
}

/// Where the API server calls a webhook.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConfig {
    /// The certificates it trusts there: PEM, base64-encoded.
    #[serde(deserialize_with = "nullable")]
    pub ca_bundle: String,
    /// The service it calls.
    pub service: Option<ServiceReference>,
}

/// A service that serves a webhook.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceReference {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// 443 unless said otherwise.
    pub port: Option<u16>,
}

/// A label selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// All of these.
    #[serde(deserialize_with = "nullable")]
    pub match_labels: BTreeMap<String, String>,
    /// And all of these.
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<LabelRequirement>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LabelRequirement {
    /// Label key.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// For In and NotIn.
    #[serde(deserialize_with = "nullable")]
    pub values: Vec<String>,
}

impl LabelSelector {
    /// Whether labels satisfy it, by the API server's rules: `NotIn` holds for a missing key, an empty selector for
    /// everything, an operator nobody knows for nothing.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|r| {
                let value = labels.get(&r.key);
                match r.operator.as_str() {
                    "In" => value.is_some_and(|v| r.values.contains(v)),
                    "NotIn" => value.is_none_or(|v| !r.values.contains(v)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}
