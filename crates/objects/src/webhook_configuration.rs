//! Webhook configurations, mutating and validating.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

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
    /// Target of the calls.
    #[serde(deserialize_with = "nullable")]
    pub client_config: ClientConfig,
    /// Namespace selector.
    pub namespace_selector: Option<LabelSelector>,
    /// Object selector.
    pub object_selector: Option<LabelSelector>,
    /// The requests that it is called for.
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<WebhookRule>,
}

impl Webhook {
    /// Whether it is called when a pod is created; also if its rules are not known.
    pub fn is_called_for_pods(&self) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|one| one == wanted || one == "*");
        self.rules.is_empty()
            || self.rules.iter().any(|rule| {
                has(&rule.operations, "CREATE")
                    && (has(&rule.resources, "pods") || has(&rule.resources, "*/*"))
            })
    }
}

/// Requests that a webhook is called for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookRule {
    /// `CREATE`, `UPDATE`, `*`.
    #[serde(deserialize_with = "nullable")]
    pub operations: Vec<String>,
    /// `pods`, `deployments/scale`, `*`.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<String>,
}

/// Target of a webhook's calls.
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
    /// By default 443.
    pub port: Option<u16>,
}

object!(WebhookConfiguration);

/// Redaction rules for both.
const PASSES: &str = "{webhooks: webhooks}";

/// Lists of `MutatingWebhookConfiguration`.
#[derive(Debug, Clone, Copy)]
pub enum MutatingWebhookConfiguration {}

impl Listed for MutatingWebhookConfiguration {
    type Object = WebhookConfiguration;
    const KIND: Kind = Kind::MutatingWebhookConfiguration;
    const INFO: KindInfo = KindInfo {
        passes: PASSES,
        ..KindInfo::of_cluster(
            "admissionregistration.k8s.io",
            "v1",
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
        )
    };
}

/// Lists of `ValidatingWebhookConfiguration`.
#[derive(Debug, Clone, Copy)]
pub enum ValidatingWebhookConfiguration {}

impl Listed for ValidatingWebhookConfiguration {
    type Object = WebhookConfiguration;
    const KIND: Kind = Kind::ValidatingWebhookConfiguration;
    const INFO: KindInfo = KindInfo {
        passes: PASSES,
        ..KindInfo::of_cluster(
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
        )
    };
}
