//! ExternalWorkloads: meshed workloads outside the cluster.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// An ExternalWorkload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ExternalWorkload {
    /// Name, namespace, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ExternalWorkloadSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: ExternalWorkloadStatus,
}

impl ExternalWorkload {
    /// Its mesh identity, if it states one.
    pub fn identity(&self) -> Option<&str> {
        let alpha = self.spec.alpha_mesh_tls.as_ref().map(|tls| tls.identity.as_str());
        [Some(self.spec.mesh_tls.identity.as_str()), alpha].into_iter().flatten().find(|identity| !identity.is_empty())
    }

    /// Whether its condition Ready is true. Without it, Linkerd lists its address as not ready.
    pub fn is_ready(&self) -> bool {
        Condition::is_true(&self.status.conditions, "Ready")
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ExternalWorkloadStatus {
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ExternalWorkloadSpec {
    /// Its mesh identity.
    #[serde(rename = "meshTLS", deserialize_with = "nullable")]
    pub mesh_tls: ExternalIdentity,
    /// The same, in the first version of the kind; readers of later versions ignore it.
    #[serde(rename = "meshTls")]
    pub alpha_mesh_tls: Option<ExternalIdentity>,
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ExternalPort>,
    /// Its addresses.
    #[serde(rename = "workloadIPs", deserialize_with = "nullable")]
    pub workload_ips: Vec<WorkloadIp>,
}

/// Mesh identity of an ExternalWorkload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExternalIdentity {
    #[serde(deserialize_with = "nullable")]
    pub identity: String,
    /// Server name of its certificate.
    #[serde(deserialize_with = "nullable")]
    pub server_name: String,
}

/// A port of an ExternalWorkload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ExternalPort {
    pub name: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub port: u16,
    /// By default TCP.
    pub protocol: Option<String>,
}

/// An address of an ExternalWorkload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct WorkloadIp {
    /// The address.
    #[serde(deserialize_with = "nullable")]
    pub ip: String,
}

impl Listed for ExternalWorkload {
    type Object = ExternalWorkload;
    const KIND: Kind = Kind::ExternalWorkload;
    const INFO: KindInfo = KindInfo {
        older: &["v1alpha1"],
        passes: "{spec: {meshTLS: {identity: object, serverName: object}, meshTls: {identity: object, serverName: \
                 object}, ports: {name: object, protocol: word}, workloadIPs: {ip: word}}, status: {conditions: \
                 conditions}}",
        ..KindInfo::namespaced("workload.linkerd.io", "v1beta1", "ExternalWorkload", "externalworkloads")
    };
}

object!(ExternalWorkload);
