//! AdminNetworkPolicies, BaselineAdminNetworkPolicies and ClusterNetworkPolicies: rules of cluster
//! administrators that are evaluated before and after NetworkPolicies. One slim type for all three.

use serde::Deserialize;

use super::meta::{Meta, is_there, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A policy of the group `policy.networking.k8s.io`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AdminPolicy {
    /// Its name.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: AdminSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AdminSpec {
    /// `Admin` or `Baseline`; only of a ClusterNetworkPolicy.
    #[serde(deserialize_with = "nullable")]
    pub tier: String,
    /// Its priority: lowest first.
    #[serde(deserialize_with = "nullable")]
    pub priority: i32,
    /// The selected pods.
    #[serde(deserialize_with = "nullable")]
    pub subject: AdminPods,
    /// Ingress rules, in order.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<AdminRule>,
    /// Egress rules, in order.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<AdminRule>,
}

/// The pods of namespaces: all of them, or some.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AdminPods {
    /// All pods of these namespaces.
    pub namespaces: Option<LabelSelector>,
    /// Some pods of some namespaces.
    pub pods: Option<NamespacedPods>,
}

/// Pods of namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NamespacedPods {
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: LabelSelector,
    #[serde(deserialize_with = "nullable")]
    pub pod_selector: LabelSelector,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AdminRule {
    /// `Allow` (`Accept` in a ClusterNetworkPolicy), `Deny` or `Pass`.
    #[serde(deserialize_with = "nullable")]
    pub action: String,
    /// The peers; one is enough.
    #[serde(rename = "from", alias = "to", deserialize_with = "nullable")]
    pub peers: Vec<AdminPeer>,
    /// The destination ports; by default all.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<AdminPort>,
    /// The same in a ClusterNetworkPolicy.
    #[serde(deserialize_with = "nullable")]
    pub protocols: Vec<AdminProtocol>,
}

/// A peer: exactly one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdminPeer {
    /// All pods of these namespaces.
    pub namespaces: Option<LabelSelector>,
    /// Some pods of some namespaces.
    pub pods: Option<NamespacedPods>,
    pub nodes: Option<LabelSelector>,
    /// CIDRs, of pods too.
    #[serde(deserialize_with = "nullable")]
    pub networks: Vec<String>,
    /// Whether it refers to domain names.
    #[serde(deserialize_with = "is_there")]
    pub domain_names: bool,
}

/// Ports: exactly one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdminPort {
    /// One port.
    pub port_number: Option<AdminPortNumber>,
    /// The container ports with this name.
    pub named_port: Option<String>,
    /// Several ports.
    pub port_range: Option<AdminPortRange>,
}

/// One port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AdminPortNumber {
    /// By default TCP.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// Its number.
    #[serde(deserialize_with = "nullable")]
    pub port: u16,
}

/// From the first port to the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AdminPortRange {
    /// By default TCP.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// The first.
    #[serde(deserialize_with = "nullable")]
    pub start: u16,
    /// The last.
    #[serde(deserialize_with = "nullable")]
    pub end: u16,
}

/// Ports of a protocol: exactly one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdminProtocol {
    pub tcp: Option<AdminTransport>,
    pub udp: Option<AdminTransport>,
    pub sctp: Option<AdminTransport>,
    /// The container ports with this name.
    #[serde(deserialize_with = "nullable")]
    pub destination_named_port: String,
}

/// Ports of one transport; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdminTransport {
    pub destination_port: Option<AdminDestinationPort>,
}

/// A port or a range.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AdminDestinationPort {
    /// One port; 0 if it is a range.
    #[serde(deserialize_with = "nullable")]
    pub number: u16,
    pub range: Option<AdminPortRange>,
}

object!(AdminPolicy);

const GROUP: &str = "policy.networking.k8s.io";
const PASSES: &str = "{spec: {tier: word, subject: {namespaces: selector, pods: {namespaceSelector: \
                      selector, podSelector: selector}}, ingress: {action: word, from: {namespaces: \
                      selector, pods: {namespaceSelector: selector, podSelector: selector}}, ports: \
                      {portNumber: {protocol: word}, namedPort: object, portRange: {protocol: word}}, \
                      protocols: {destinationNamedPort: object}}, egress: {action: word, to: {namespaces: \
                      selector, pods: {namespaceSelector: selector, podSelector: selector}, nodes: selector, \
                      networks: word}, ports: {portNumber: {protocol: word}, namedPort: object, portRange: \
                      {protocol: word}}, protocols: {destinationNamedPort: object}}}}";

/// Lists of `AdminNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum AdminNetworkPolicy {}

impl Listed for AdminNetworkPolicy {
    type Object = AdminPolicy;
    const KIND: Kind = Kind::AdminNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["anp"],
        passes: PASSES,
        ..KindInfo::of_cluster(GROUP, "v1alpha1", "AdminNetworkPolicy", "adminnetworkpolicies")
    };
}

/// Lists of `BaselineAdminNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum BaselineAdminNetworkPolicy {}

impl Listed for BaselineAdminNetworkPolicy {
    type Object = AdminPolicy;
    const KIND: Kind = Kind::BaselineAdminNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["banp"],
        passes: PASSES,
        ..KindInfo::of_cluster(GROUP, "v1alpha1", "BaselineAdminNetworkPolicy", "baselineadminnetworkpolicies")
    };
}

/// Lists of `ClusterNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum ClusterNetworkPolicy {}

impl Listed for ClusterNetworkPolicy {
    type Object = AdminPolicy;
    const KIND: Kind = Kind::ClusterNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["cnp"],
        passes: PASSES,
        ..KindInfo::of_cluster(GROUP, "v1alpha2", "ClusterNetworkPolicy", "clusternetworkpolicies")
    };
}
