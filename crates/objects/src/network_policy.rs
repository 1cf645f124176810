//! NetworkPolicies: allowed connections of pods. Policies of network plugins are separate kinds.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A NetworkPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkPolicy {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: NetworkPolicySpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicySpec {
    /// The selected pods of its namespace; by default all.
    #[serde(deserialize_with = "nullable")]
    pub pod_selector: LabelSelector,
    /// `Ingress`, `Egress` or both; by default `Ingress`, and `Egress` if there are such rules.
    #[serde(deserialize_with = "nullable")]
    pub policy_types: Vec<String>,
    /// Allowed ingress: the union of these rules.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<NetworkPolicyRule>,
    /// Allowed egress: the union of these rules.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<NetworkPolicyRule>,
}

/// One rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct NetworkPolicyRule {
    /// Destination ports; by default all.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<NetworkPolicyPort>,
    /// Peers; by default all.
    #[serde(rename = "from", alias = "to", deserialize_with = "nullable")]
    pub peers: Vec<NetworkPolicyPeer>,
}

/// A peer: pods, all pods of namespaces, pods of namespaces, or addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyPeer {
    /// Pods; in the policy's own namespace without a namespace selector.
    pub pod_selector: Option<LabelSelector>,
    pub namespace_selector: Option<LabelSelector>,
    /// Addresses.
    pub ip_block: Option<IpBlock>,
}

/// Addresses outside the cluster, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct IpBlock {
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// Exceptions.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

/// A port or a range of ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyPort {
    /// By default TCP.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// The port, or the first of a range; by default all.
    pub port: Option<TargetPort>,
    /// The last port of a range.
    pub end_port: Option<u16>,
}

impl Listed for NetworkPolicy {
    type Object = NetworkPolicy;
    const KIND: Kind = Kind::NetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["netpol"],
        passes: "{spec: {podSelector: selector, policyTypes: word, \
                 ingress: {ports: {protocol: word, port: object}, from: {podSelector: selector, \
                 namespaceSelector: selector, ipBlock: {cidr: word, except: word}}}, egress: {ports: {protocol: word, \
                 port: object}, to: {podSelector: selector, namespaceSelector: selector, ipBlock: {cidr: word, \
                 except: word}}}}}",
        ..KindInfo::namespaced("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies")
    };
}

object!(NetworkPolicy);

impl NetworkPolicySpec {
    /// Whether it restricts ingress.
    pub fn is_about_ingress(&self) -> bool {
        self.policy_types.is_empty() || self.policy_types.iter().any(|direction| direction == "Ingress")
    }

    /// Whether it restricts egress.
    pub fn is_about_egress(&self) -> bool {
        match self.policy_types.as_slice() {
            [] => !self.egress.is_empty(),
            types => types.iter().any(|direction| direction == "Egress"),
        }
    }
}
