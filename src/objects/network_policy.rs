//! NetworkPolicies: which connections to pods, and from them, the network lets through. Policies of network plugins are kinds of
//! their own.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: NetworkPolicySpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicySpec {
    /// The pods of its namespace that it holds for; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub pod_selector: LabelSelector,
    /// `Ingress`, `Egress` or both; where nothing is said `Ingress`, and `Egress` where there are such rules.
    #[serde(deserialize_with = "nullable")]
    pub policy_types: Vec<String>,
    /// What may come in: everything that one of these lets through.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<NetworkPolicyRule>,
    /// What may go out: everything that one of these lets through.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<NetworkPolicyRule>,
}

/// One rule.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkPolicyRule {
    /// Ports that connections go to; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<NetworkPolicyPort>,
    /// The other ends of connections; all where nothing is said.
    #[serde(rename = "from", alias = "to", deserialize_with = "nullable")]
    pub peers: Vec<NetworkPolicyPeer>,
}

/// The other end of connections: pods, all pods of namespaces, pods of namespaces, or addresses.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyPeer {
    /// Pods, of the policy's own namespace where no namespaces are selected.
    pub pod_selector: Option<LabelSelector>,
    /// Namespaces.
    pub namespace_selector: Option<LabelSelector>,
    /// Addresses.
    pub ip_block: Option<IpBlock>,
}

/// Addresses outside of the cluster, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IpBlock {
    /// A CIDR.
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// What is left out of it.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

/// A port, or a range of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyPort {
    /// TCP where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// The port, or the first of a range; all where nothing is said.
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
                 ingress: {ports: {protocol: word, port: text}, from: {podSelector: selector, \
                 namespaceSelector: selector, ipBlock: {cidr: word, except: word}}}, egress: {ports: {protocol: word, \
                 port: text}, to: {podSelector: selector, namespaceSelector: selector, ipBlock: {cidr: word, \
                 except: word}}}}}",
        ..KindInfo::namespaced("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies")
    };
}

object!(NetworkPolicy);

impl NetworkPolicySpec {
    /// Whether it says what may come in.
    pub fn is_about_ingress(&self) -> bool {
        self.policy_types.is_empty() || self.policy_types.iter().any(|direction| direction == "Ingress")
    }

    /// Whether it says what may go out.
    pub fn is_about_egress(&self) -> bool {
        match self.policy_types.as_slice() {
            [] => !self.egress.is_empty(),
            types => types.iter().any(|direction| direction == "Egress"),
        }
    }
}
