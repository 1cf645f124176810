//! Links to other clusters.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable, scalar};
use super::{Kind, KindInfo, LabelSelector, Listed, object};

/// A Link: another cluster whose services are mirrored here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Name, namespace; the annotation `linkerd.io/created-by` names the creating command.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: LinkSpec,
    /// Status of remote services; only in newer versions.
    #[serde(deserialize_with = "nullable")]
    pub status: LinkStatus,
}

/// Status of remote services.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkStatus {
    /// Mirrored services.
    #[serde(deserialize_with = "nullable")]
    pub mirror_services: Vec<LinkedService>,
    /// Members of federated services.
    #[serde(deserialize_with = "nullable")]
    pub federated_services: Vec<LinkedService>,
}

/// Status of one service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkedService {
    /// The remote service.
    #[serde(deserialize_with = "nullable")]
    pub remote_ref: RemoteRef,
    /// Includes `Mirrored`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A remote service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RemoteRef {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

impl Link {
    /// Whether it uses a gateway, which is then probed.
    pub fn has_gateway(&self) -> bool {
        !self.spec.gateway_address.is_empty() && !self.spec.probe_spec.path.is_empty()
    }
}

/// The other cluster of a link.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkSpec {
    /// The cluster name in labels of mirror services.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_name: String,
    /// The remote cluster domain.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_domain: String,
    /// Namespace of the remote control plane.
    #[serde(deserialize_with = "nullable")]
    pub target_cluster_linkerd_namespace: String,
    /// Secret in the link's namespace with a kubeconfig.
    #[serde(deserialize_with = "nullable")]
    pub cluster_credentials_secret: String,
    /// Gateway address; empty for direct pod communication.
    #[serde(deserialize_with = "nullable")]
    pub gateway_address: String,
    /// The gateway's port: a number, written as text.
    #[serde(deserialize_with = "scalar")]
    pub gateway_port: String,
    /// The gateway's identity in the mesh.
    #[serde(deserialize_with = "nullable")]
    pub gateway_identity: String,
    /// Selector of remote services to mirror.
    #[serde(deserialize_with = "nullable")]
    pub selector: Option<LabelSelector>,
    /// Selector of services with remote endpoint discovery.
    #[serde(deserialize_with = "nullable")]
    pub remote_discovery_selector: Option<LabelSelector>,
    /// Selector of members of federated services.
    #[serde(deserialize_with = "nullable")]
    pub federated_service_selector: Option<LabelSelector>,
    /// Gateway probe.
    #[serde(deserialize_with = "nullable")]
    pub probe_spec: ProbeSpec,
    /// Labels that mirrors do not get: keys, or `DOMAIN/*`. Since `v1alpha3`.
    #[serde(deserialize_with = "nullable")]
    pub excluded_labels: Vec<String>,
    /// Annotations that mirrors do not get, in the same form.
    #[serde(deserialize_with = "nullable")]
    pub excluded_annotations: Vec<String>,
}

/// Gateway probe. Numbers and durations are texts. A manifest may have numbers, which the API server rejects.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProbeSpec {
    /// The path; empty without a probe.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
    #[serde(deserialize_with = "scalar")]
    pub port: String,
    /// Interval: `3s`.
    #[serde(deserialize_with = "scalar")]
    pub period: String,
    /// Time limit of a probe; the CRD has a default since edge-24.9.3.
    #[serde(deserialize_with = "scalar")]
    pub timeout: String,
    /// Number of failed probes in a row after which the gateway is down; the CRD has a default since edge-24.9.3.
    #[serde(deserialize_with = "scalar")]
    pub failure_threshold: String,
}

// All fields of the spec except the excluded labels and annotations are in every version; the status was added in the
// last but one.
impl Listed for Link {
    type Object = Link;
    const KIND: Kind = Kind::Link;
    const INFO: KindInfo = KindInfo {
        older: &["v1alpha2", "v1alpha1"],
        passes: "{spec: {targetClusterName: object, targetClusterDomain: object, targetClusterLinkerdNamespace: \
                 object, clusterCredentialsSecret: object, gatewayAddress: address, gatewayPort: word, \
                 gatewayIdentity: address, probeSpec: spec-probe, selector: selector, \
                 remoteDiscoverySelector: selector, federatedServiceSelector: selector, excludedLabels: object, \
                 excludedAnnotations: object}, status: {mirrorServices: link-service, federatedServices: \
                 link-service}}",
        ..KindInfo::namespaced("multicluster.linkerd.io", "v1alpha3", "Link", "links")
    };
}

object!(Link);
