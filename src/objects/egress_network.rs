//! EgressNetworks: what lies outside of the cluster, and whether meshed clients may go there.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: EgressNetworkSpec,
    /// What the policy controller says of it.
    #[serde(deserialize_with = "nullable")]
    pub status: EgressNetworkStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EgressNetworkSpec {
    /// Which networks; all but those of the cluster where nothing is said.
    pub networks: Option<Vec<Network>>,
    /// `Allow` or `Deny`: what no route speaks of.
    #[serde(deserialize_with = "nullable")]
    pub traffic_policy: String,
}

/// What the policy controller says of it.
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
