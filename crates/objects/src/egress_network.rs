//! EgressNetworks: networks outside the cluster, and whether meshed clients may connect to them.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::network_authentication::Network;
use super::{Kind, KindInfo, Listed, object};

/// An EgressNetwork.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EgressNetwork {
    /// Name, namespace, creation.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: EgressNetworkSpec,
    /// The status by the policy controller.
    #[serde(deserialize_with = "nullable")]
    pub status: EgressNetworkStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EgressNetworkSpec {
    /// The networks; by default all except those of the cluster.
    pub networks: Option<Vec<Network>>,
    /// `Allow` or `Deny`: for traffic without a matching route.
    #[serde(deserialize_with = "nullable")]
    pub traffic_policy: String,
}

/// The status by the policy controller.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EgressNetworkStatus {
    /// `Accepted`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for EgressNetwork {
    type Object = EgressNetwork;
    const KIND: Kind = Kind::EgressNetwork;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {networks: {cidr: word, except: word}, trafficPolicy: word}, status: {conditions: conditions}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1alpha1", "EgressNetwork", "egressnetworks")
    };
}

object!(EgressNetwork);
