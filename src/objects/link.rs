//! Links to other clusters.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, LabelSelector, Listed, object};

/// A Link: another cluster whose services are mirrored here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Name, namespace; the annotation `linkerd.io/created-by` says which command made it.
    pub metadata: Meta,
    /// Which cluster, and how to reach it.
    #[serde(deserialize_with = "nullable")]
    pub spec: LinkSpec,
    /// What the link's controller made of the services over there; only newer versions have it.
    #[serde(deserialize_with = "nullable")]
    pub status: LinkStatus,
}

/// What a link's controller made of the services of the other cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkStatus {
    /// Those that are mirrored.
    #[serde(deserialize_with = "nullable")]
    pub mirror_services: Vec<LinkedService>,
    /// Those that join a federated service.
    #[serde(deserialize_with = "nullable")]
    pub federated_services: Vec<LinkedService>,
}

/// What became of one service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkedService {
    /// The service over there.
    #[serde(deserialize_with = "nullable")]
    pub remote_ref: RemoteRef,
    /// `Mirrored` is one of them.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A service of the other cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RemoteRef {
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its namespace.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

impl Link {
    /// Whether it goes through a gateway, which is then probed.
    pub fn has_gateway(&self) -> bool {
        !self.spec.gateway_address.is_empty() && !self.spec.probe_spec.path.is_empty()
    }
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
    /// The services over there that are mirrored here; by default those that say so by a label.
    #[serde(deserialize_with = "nullable")]
    pub selector: Option<LabelSelector>,
    /// Those whose mirrors have their endpoints found over there.
    #[serde(deserialize_with = "nullable")]
    pub remote_discovery_selector: Option<LabelSelector>,
    /// Those that join federated services here.
    #[serde(deserialize_with = "nullable")]
    pub federated_service_selector: Option<LabelSelector>,
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

// Every field of the specification that is read is in every version; the status came with the last but one.
impl Listed for Link {
    type Object = Link;
    const KIND: Kind = Kind::Link;
    const INFO: KindInfo = KindInfo {
        older: &["v1alpha2", "v1alpha1"],
        passes: "{spec: {targetClusterName: text, targetClusterDomain: text, targetClusterLinkerdNamespace: text, \
             clusterCredentialsSecret: text, gatewayAddress: text, gatewayPort: word, gatewayIdentity: text, \
             probeSpec: spec-probe, selector: selector, remoteDiscoverySelector: selector, \
             federatedServiceSelector: selector}, status: {mirrorServices: link-service, federatedServices: link-service}}",
        ..KindInfo::namespaced("multicluster.linkerd.io", "v1alpha3", "Link", "links")
    };
}

object!(Link);
