//! Pods.

use std::net::IpAddr;

use serde::{Deserialize, Deserializer};

use super::condition::{CONDITION, Condition};
use super::container::{CONTAINER, Container, PROXY_CONTAINER};
use super::container_status::{CONTAINER_STATUS, ContainerStatus};
use super::containers::Containers;
use super::meta::{META, Meta, address, nullable};
use super::shared::{Shared, Word, parts};
use super::texts::Texts;
use super::time::Time;
use super::volume::{VOLUME, Volumes};
use super::{Kind, KindInfo, Listed, Object, by_metadata};
use crate::names::{self, NameRule};
use crate::protobuf::schema::schemas;
use crate::redact::Owner;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "RawPod")]
pub struct Pod {
    /// Name, labels, owners.
    pub metadata: Meta,
    /// The spec; shared by replicas.
    pub spec: Shared<PodSpec>,
    /// Its node; empty before scheduling.
    pub node_name: Word,
    pub status: PodStatus,
}

/// A pod, as written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawPod {
    metadata: Meta,
    spec: PodSpec,
    #[serde(deserialize_with = "nullable")]
    status: PodStatus,
}

impl From<RawPod> for Pod {
    fn from(written: RawPod) -> Pod {
        let RawPod { metadata, mut spec, status } = written;
        let node_name = std::mem::take(&mut spec.node_name);
        Pod { metadata, spec: Shared::from(spec), node_name, status }
    }
}

/// A pod's specification, also the one inside a workload's template.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Source of [`Pod::node_name`].
    #[serde(deserialize_with = "nullable")]
    node_name: Word,
    /// Whether it shares the node's network.
    #[serde(deserialize_with = "nullable")]
    pub host_network: bool,
    #[serde(deserialize_with = "nullable")]
    pub service_account_name: Word,
    /// Whether the service account's token is mounted; `None` means the default.
    pub automount_service_account_token: Option<bool>,
    /// Application containers, and an ordinary linkerd-proxy.
    #[serde(deserialize_with = "nullable")]
    pub containers: Containers,
    /// Init containers; native sidecars are here with `restartPolicy: Always`.
    #[serde(deserialize_with = "nullable")]
    pub init_containers: Containers,
    /// Its volumes with identities.
    #[serde(deserialize_with = "nullable")]
    pub volumes: Volumes,
    /// Default security context of its containers.
    #[serde(deserialize_with = "nullable")]
    pub security_context: PodSecurityContext,
    /// Termination grace period; `None` means the default.
    pub termination_grace_period_seconds: Option<u64>,
    /// Always, OnFailure or Never; empty means Always.
    #[serde(deserialize_with = "nullable")]
    pub restart_policy: Word,
    /// Its PriorityClass; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub priority_class_name: Word,
    /// Its RuntimeClass; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub runtime_class_name: Word,
    #[serde(deserialize_with = "nullable")]
    pub node_selector: Texts,
    /// ClusterFirst, ClusterFirstWithHostNet, Default or None; empty means the first.
    #[serde(deserialize_with = "nullable")]
    pub dns_policy: Word,
    /// Its own DNS settings.
    #[serde(deserialize_with = "nullable")]
    pub dns_config: DnsConfig,
}

/// DNS settings of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DnsConfig {
    /// Addresses of DNS servers.
    #[serde(deserialize_with = "nullable")]
    pub nameservers: Box<[Word]>,
}

parts!(PodSpec);

/// A pod's status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Pending, Running, Succeeded, Failed or Unknown.
    #[serde(deserialize_with = "nullable")]
    pub phase: Word,
    /// Reason of its phase (Evicted, NodeLost).
    #[serde(deserialize_with = "nullable")]
    pub reason: Word,
    /// Start time by the kubelet.
    pub start_time: Time,
    /// Its address; also `None` if invalid.
    #[serde(rename = "podIP", deserialize_with = "address")]
    pub pod_ip: Option<IpAddr>,
    /// Its addresses, of both families in a dual-stack cluster. Empty in evidence without them.
    #[serde(rename = "podIPs", deserialize_with = "addresses")]
    pub pod_ips: Box<[IpAddr]>,
    /// Ready and PodReadyToStartContainers, and other conditions that are not `True`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Box<[Condition]>,
    /// One per container.
    #[serde(deserialize_with = "nullable")]
    pub container_statuses: Box<[ContainerStatus]>,
    /// One per init container.
    #[serde(deserialize_with = "nullable")]
    pub init_container_statuses: Box<[ContainerStatus]>,
}

/// Addresses of a list, without invalid ones.
fn addresses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[IpAddr]>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct PodAddress {
        #[serde(deserialize_with = "address")]
        ip: Option<IpAddr>,
    }
    let all = Option::<Vec<PodAddress>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(all.into_iter().filter_map(|one| one.ip).collect())
}

/// Default security context of a pod's containers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSecurityContext {
    /// The uid.
    pub run_as_user: Option<i64>,
    /// The gid.
    pub run_as_group: Option<i64>,
}

impl PodSpec {
    /// See [`Container::trim`].
    pub(super) fn trim(&mut self, owner: Owner) {
        self.containers.trim(owner);
        self.init_containers.trim(owner);
    }

    /// See [`super::Object::share`].
    pub(super) fn share(&mut self, before: &PodSpec) {
        self.containers.share(&before.containers);
        self.init_containers.share(&before.init_containers);
    }

    /// Its service account; `default` if none is named.
    pub fn account(&self) -> &str {
        match self.service_account_name.as_str() {
            "" => "default",
            name => name,
        }
    }

    /// Every container, init containers first.
    pub fn all_containers(&self) -> impl Iterator<Item = &Container> {
        self.init_containers.iter().chain(self.containers.iter())
    }

    /// The container of that name, in either list.
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.all_containers().find(|container| container.name == name)
    }

    /// Linkerd's proxy, ordinary or native.
    pub fn proxy(&self) -> Option<&Container> {
        self.container(PROXY_CONTAINER)
    }

    /// Whether the proxy is an init container with `restartPolicy: Always`.
    pub fn has_native_proxy(&self) -> bool {
        self.init_containers.iter().any(|c| c.name == PROXY_CONTAINER && c.restart_policy.as_deref() == Some("Always"))
    }
}

impl Listed for Pod {
    type Object = Pod;
    const KIND: Kind = Kind::Pod;
    const INFO: KindInfo = KindInfo {
        aliases: &["po"],
        passes: "{spec: pod-spec, status: pod-status}",
        message: Some(&POD),
        ..KindInfo::namespaced("", "v1", "Pod", "pods")
    };
}

impl Object for Pod {
    by_metadata!();

    /// Also validates node and service account.
    fn refused(&self) -> Option<String> {
        let named = [&self.node_name, &self.spec.service_account_name].into_iter().filter(|name| !name.is_empty());
        let mut refused = named.map(|name| names::refused(NameRule::Subdomain, "", name));
        self.metadata.refused(NameRule::Subdomain).or_else(|| refused.find_map(|refused| refused))
    }

    fn trim(&mut self) {
        self.spec.edit().trim(self.metadata.owner(&self.metadata.namespace));
        // Only these two are also relevant if true.
        let mut conditions = std::mem::take(&mut self.status.conditions).into_vec();
        conditions.retain(|condition| {
            condition.status != "True" || matches!(&*condition.kind, "Ready" | "PodReadyToStartContainers")
        });
        self.status.conditions = conditions.into_boxed_slice();
    }

    fn share(&mut self, before: &Pod) {
        self.metadata.share(&before.metadata);
        self.spec.share(&before.spec);
        if !self.spec.is_same(&before.spec) {
            self.spec.edit().share(&before.spec);
        }
        let (status, before) = (&mut self.status, &before.status);
        Condition::share(&mut status.conditions, &before.conditions);
        ContainerStatus::share(&mut status.container_statuses, &before.container_statuses);
        ContainerStatus::share(&mut status.init_container_statuses, &before.init_container_statuses);
    }
}

impl Pod {
    /// The pod as findings name it: `Pod shop/web-5d9f`.
    pub fn described(&self) -> String {
        self.metadata.described("Pod")
    }

    /// The status of a container, init or not.
    pub fn container_status(&self, name: &str) -> Option<&ContainerStatus> {
        self.status.init_container_statuses.iter().chain(&self.status.container_statuses).find(|c| c.name == name)
    }

    /// A condition's status, `True`, `False` or `Unknown`.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Whether its condition says that it is ready.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|ready| ready.status == "True")
    }

    /// Why it has no node: reason and message of the scheduler, without its remark that preemption would not help.
    pub fn scheduling_failure(&self) -> Option<String> {
        let condition = self.condition("PodScheduled").filter(|condition| condition.status == "False")?;
        let message = &condition.message;
        let remark = [" no new claims to deallocate", " preemption: "].iter().filter_map(|one| message.find(one)).min();
        let why = remark.map_or(message.as_str(), |at| &message[..at]).trim_end_matches([',', ' ']);
        Some(format!("{}: {why}", condition.reason))
    }

    /// Whether the scheduler found no node for it.
    pub fn is_unschedulable(&self) -> bool {
        self.status.conditions.iter().any(|condition| condition.reason == "Unschedulable")
    }

    /// Whether it is finished: Succeeded or Failed.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Its addresses, the primary one first.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let primary = self.status.pod_ip;
        let others = self.status.pod_ips.iter().copied().filter(move |address| Some(*address) != primary);
        primary.into_iter().chain(others)
    }

    /// Whether an address is one of its own.
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.addresses().any(|own| own == address)
    }

    /// Whether an address leads to it: its own, not that of its node.
    pub fn is_at(&self, address: IpAddr) -> bool {
        self.has_address(address) && !self.spec.host_network && !self.is_finished()
    }
}

schemas! {
    POD "Pod" {
        1 metadata: One(&META),
        2 spec: One(&POD_SPEC),
        3 status: One(&POD_STATUS),
    }

    POD_SPEC "PodSpec" {
        1 volumes: Many(&VOLUME),
        2 containers: Many(&CONTAINER),
        3 restartPolicy: Text,
        4 terminationGracePeriodSeconds: Number,
        6 dnsPolicy: Text,
        7 nodeSelector: Map,
        8 serviceAccountName: Text,
        10 nodeName: Text,
        11 hostNetwork: Bool,
        14 securityContext: One(&POD_SECURITY_CONTEXT),
        20 initContainers: Many(&CONTAINER),
        21 automountServiceAccountToken: Bool,
        24 priorityClassName: Text,
        26 dnsConfig: One(&DNS_CONFIG),
        29 runtimeClassName: Text,
    }

    DNS_CONFIG "PodDNSConfig" {
        1 nameservers: Texts,
    }

    POD_SECURITY_CONTEXT "PodSecurityContext" {
        2 runAsUser: Number,
        6 runAsGroup: Number,
    }

    POD_STATUS "PodStatus" {
        1 phase: Text,
        2 conditions: Many(&CONDITION),
        4 reason: Text,
        6 podIP: Text,
        7 startTime: Time,
        8 containerStatuses: Many(&CONTAINER_STATUS),
        10 initContainerStatuses: Many(&CONTAINER_STATUS),
        12 podIPs: Many(&POD_ADDRESS),
    }

    POD_ADDRESS "PodIP" {
        1 ip: Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_failure_ends_before_the_remark_on_preemption() {
        let of = |message: &str| {
            let pod: Pod = serde_json::from_value(serde_json::json!({"status": {"conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
            ]}}))
            .expect("a pod");
            pod.scheduling_failure()
        };
        let reason = "0/3 nodes are available: 3 Insufficient cpu.";
        let said = Some(format!("Unschedulable: {reason}"));
        assert_eq!(of(&format!("{reason} no new claims to deallocate, preemption: 0/3 nodes are available")), said);
        assert_eq!(of(&format!("{reason} preemption: 0/3 nodes are available")), said);
        assert_eq!(of(reason), said);
    }
}
