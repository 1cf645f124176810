//! Nodes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Meta, nullable, quantities, redacted};
use super::time::Time;
use super::{Kind, KindInfo, Listed, object};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Name, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: NodeSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: NodeStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    /// The cloud provider's id: `aws:///us-east-1a/i-0abc`.
    #[serde(rename = "providerID", deserialize_with = "nullable")]
    pub provider_id: String,
    /// Its pod network, if Kubernetes assigns it: `10.244.1.0/24`.
    #[serde(rename = "podCIDR", deserialize_with = "nullable")]
    pub pod_cidr: String,
    /// The same for each address family, including the first.
    #[serde(rename = "podCIDRs", deserialize_with = "nullable")]
    pub pod_cidrs: Vec<String>,
    /// Whether it was cordoned.
    #[serde(deserialize_with = "nullable")]
    pub unschedulable: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Ready and the like.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<NodeCondition>,
    /// Versions and operating system.
    #[serde(deserialize_with = "nullable")]
    pub node_info: NodeInfo,
    /// Its addresses and names.
    #[serde(deserialize_with = "nullable")]
    pub addresses: Vec<NodeAddress>,
    /// Quantities that its pods may use: `cpu`, `memory`, `pods`.
    #[serde(deserialize_with = "quantities")]
    pub allocatable: BTreeMap<String, String>,
}

/// An address or a name of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NodeAddress {
    /// InternalIP, ExternalIP, Hostname, ...
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// Its value.
    #[serde(deserialize_with = "nullable")]
    pub address: String,
}

/// A condition of a node, which unlike others has a heartbeat time.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    /// Its type: Ready, MemoryPressure, ...
    #[serde(rename = "type")]
    pub kind: String,
    /// True, False or Unknown.
    pub status: String,
    /// Reason, one word.
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    #[serde(deserialize_with = "redacted")]
    pub message: String,
    /// Time of the last change.
    pub last_transition_time: Time,
    /// Last heartbeat, by the node's clock.
    pub last_heartbeat_time: Option<Timestamp>,
}

/// Versions and operating system of a node.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeInfo {
    /// `v1.31.5-eks-5d632ec`.
    #[serde(deserialize_with = "nullable")]
    pub kubelet_version: String,
    /// `Amazon Linux 2023.6.20250203`.
    #[serde(deserialize_with = "nullable")]
    pub os_image: String,
    /// `linux` or `windows`.
    #[serde(deserialize_with = "nullable")]
    pub operating_system: String,
    /// `6.1.127-135.201.amzn2023.x86_64`.
    #[serde(deserialize_with = "nullable")]
    pub kernel_version: String,
    /// `containerd://1.7.25`.
    #[serde(deserialize_with = "nullable")]
    pub container_runtime_version: String,
}

impl Node {
    /// Whether its pods run in Docker.
    pub fn runs_docker(&self) -> bool {
        self.status.node_info.container_runtime_version.starts_with("docker:")
    }

    /// Its condition Ready, if the node is known not to be ready.
    pub fn not_ready(&self) -> Option<&NodeCondition> {
        self.status.conditions.iter().find(|one| one.kind == "Ready" && one.status != "True")
    }

    /// Whether the scheduler may start pods on it, as far as its state decides: it is ready and not cordoned.
    pub fn takes_pods(&self) -> bool {
        let is_ready = |one: &NodeCondition| one.kind == "Ready" && one.status == "True";
        self.status.conditions.iter().any(is_ready) && !self.spec.unschedulable
    }

    /// Its internal addresses, without invalid ones.
    pub fn internal_addresses(&self) -> impl Iterator<Item = IpAddr> {
        let internal = self.status.addresses.iter().filter(|address| address.kind == "InternalIP");
        internal.filter_map(|address| address.address.parse().ok())
    }

    /// Its pod networks, one per family, as written.
    pub fn pod_networks(&self) -> impl Iterator<Item = &str> {
        let all = self.spec.pod_cidrs.iter().map(String::as_str);
        let only = self.spec.pod_cidrs.is_empty().then_some(self.spec.pod_cidr.as_str());
        all.chain(only).filter(|network| !network.is_empty())
    }
}

impl Listed for Node {
    type Object = Node;
    const KIND: Kind = Kind::Node;
    const INFO: KindInfo = KindInfo {
        aliases: &["no"],
        passes: "{spec: {providerID: text, podCIDR: word, podCIDRs: word, taints: {key: object, value: label, effect: \
             word, timeAdded: word}}, status: {conditions: conditions, nodeInfo: {kubeletVersion: word, \
             kubeProxyVersion: word, osImage: text, operatingSystem: word, architecture: word, kernelVersion: \
             word, containerRuntimeVersion: word}, addresses: {type: word, address: object}, capacity: quantities, \
             allocatable: quantities}}",
        ..KindInfo::of_cluster("", "v1", "Node", "nodes")
    };
}

object!(Node);
