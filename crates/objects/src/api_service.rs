//! APIServices: parts of the Kubernetes API that a Service in the cluster serves.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::webhook_configuration::ServiceReference;
use super::{Kind, KindInfo, Listed, object};
use crate::names::NameRule;

/// An APIService: a part of the Kubernetes API that a Service in the cluster serves.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct APIService {
    /// Its name, `v1alpha1.tap.linkerd.io`, and labels.
    pub metadata: Meta,
    /// The Service that serves it.
    #[serde(deserialize_with = "nullable")]
    pub spec: APIServiceSpec,
    /// Its availability.
    #[serde(deserialize_with = "nullable")]
    pub status: APIServiceStatus,
}

/// The Service of an API.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIServiceSpec {
    /// The certificates that the API server trusts there: PEM, base64-encoded.
    #[serde(deserialize_with = "nullable")]
    pub ca_bundle: String,
    /// The Service; `None` for APIs that the API server serves itself.
    pub service: Option<ServiceReference>,
}

/// Availability of an API.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct APIServiceStatus {
    /// Includes `Available`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for APIService {
    type Object = APIService;
    const KIND: Kind = Kind::APIService;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {caBundle: certificates, group: word, version: word, service: service-reference}, status: \
             {conditions: conditions}}",
        ..KindInfo::of_cluster("apiregistration.k8s.io", "v1", "APIService", "apiservices")
    };
}

object!(APIService, NameRule::Segment);
