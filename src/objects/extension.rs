//! What extensions of Linkerd bring: aggregated APIs, links to other clusters. And the objects of which only the name
//! counts.

use serde::Deserialize;

use super::cluster_scope::ServiceReference;
use super::meta::{Meta, nullable};
use super::pod::Condition;

/// An object of which only name, labels and annotations are read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Named {
    /// Name, labels, annotations.
    pub metadata: Meta,
}

/// An APIService: a part of the Kubernetes API that a Service in the cluster serves.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ApiService {
    /// Its name, `v1alpha1.tap.linkerd.io`, and labels.
    pub metadata: Meta,
    /// Who serves it.
    #[serde(deserialize_with = "nullable")]
    pub spec: ApiServiceSpec,
    /// Whether it answers.
    #[serde(deserialize_with = "nullable")]
    pub status: ApiServiceStatus,
}

/// Who serves an API.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApiServiceSpec {
    /// The certificates that the API server trusts there: PEM, base64-encoded.
    #[serde(deserialize_with = "nullable")]
    pub ca_bundle: String,
    /// The service that it calls; `None` for what it serves itself.
    pub service: Option<ServiceReference>,
}

/// Whether an API answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ApiServiceStatus {
    /// `Available` is one of them.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A Link: another cluster whose services are mirrored here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Name, namespace; the annotation `linkerd.io/created-by` says which command made it.
    pub metadata: Meta,
    /// Which cluster, and how to reach it.
    #[serde(deserialize_with = "nullable")]
    pub spec: LinkSpec,
}

/// The other cluster of a link.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkSpec {
    /// The name that mirror services carry as a label.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_name: String,
    /// The cluster domain over there.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_domain: String,
    /// Where its control plane is.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_linkerd_namespace: String,
    /// The Secret, beside the link, that holds a kubeconfig for it.
    #[serde(deserialize_with = "nullable")]
    pub cluster_credentials_secret: String,
    /// Where its gateway is; empty where pods talk to it directly.
    #[serde(deserialize_with = "nullable")]
    pub gateway_address: String,
    /// The gateway's port: a number, written as text.
    #[serde(deserialize_with = "nullable")]
    pub gateway_port: String,
    /// The gateway's identity in the mesh.
    #[serde(deserialize_with = "nullable")]
    pub gateway_identity: String,
    /// How the gateway is probed.
    #[serde(deserialize_with = "nullable")]
    pub probe_spec: ProbeSpec,
}

/// How a gateway is probed. Numbers and durations are written as text.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProbeSpec {
    /// The path; empty where nothing is probed.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
    /// The port.
    #[serde(deserialize_with = "nullable")]
    pub port: String,
    /// How often: `3s`.
    #[serde(deserialize_with = "nullable")]
    pub period: String,
}

impl Link {
    /// Whether it goes through a gateway, which is then probed.
    pub fn has_gateway(&self) -> bool {
        !self.spec.gateway_address.is_empty() && !self.spec.probe_spec.path.is_empty()
    }
}
