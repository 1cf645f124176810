//! Webhook configurations, mutating and validating.

use serde::Deserialize;

use super::admission_policy::{NamedExpression, ResourceRule};
use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WebhookConfiguration {
    /// Name, labels, creation time.
    pub metadata: Meta,
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
    pub namespace_selector: Option<LabelSelector>,
    pub object_selector: Option<LabelSelector>,
    /// Operations on resources that it is called for; none: it is never called.
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<ResourceRule>,
    /// Exact: rules match only the versions that they list. Equivalent or empty: also other versions of the
    /// same resource.
    #[serde(deserialize_with = "nullable")]
    pub match_policy: String,
    /// Further conditions on the request.
    #[serde(deserialize_with = "nullable")]
    pub match_conditions: Vec<NamedExpression>,
    /// Versions of the review that it accepts. The API server requires at least one, so none means an incomplete copy.
    #[serde(deserialize_with = "nullable")]
    pub admission_review_versions: Vec<String>,
}

impl Webhook {
    /// Whether it is called when a pod is created; also if its rules are not known.
    pub fn is_called_for_pods(&self) -> bool {
        self.rules.is_empty() || self.covers("CREATE", ("", "pods"), &[])
    }

    /// Whether a rule matches an operation on a namespaced resource in one of these versions, or in all of them with
    /// matchPolicy Exact. No versions: any.
    pub fn covers(&self, operation: &str, resource: (&str, &str), versions: &[String]) -> bool {
        let matched = |version: Option<&str>| {
            self.rules
                .iter()
                .filter(|rule| version.is_none_or(|version| rule.lists_version(version)))
                .any(|rule| rule.matches(operation, resource, ""))
        };
        match self.match_policy.as_str() {
            _ if versions.is_empty() => matched(None),
            "Exact" => versions.iter().all(|version| matched(Some(version))),
            _ => versions.iter().any(|version| matched(Some(version))),
        }
    }
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
    /// The URL that it calls instead of a service.
    #[serde(deserialize_with = "nullable")]
    pub url: String,
}

/// A service that serves a webhook.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceReference {
    pub namespace: String,
    pub name: String,
    /// By default 443.
    pub port: Option<u16>,
    /// By default `/`.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
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
