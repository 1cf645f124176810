//! Services.

use std::net::IpAddr;
use std::ops::Deref;

use serde::{Deserialize, Deserializer};

use super::external_workload::ExternalWorkload;
use super::meta::{Meta, Text, nullable};
use super::pod::Pod;
use super::shared::Word;
use super::texts::Texts;
use super::{Kind, KindInfo, Listed, object};

/// Label of a mirror with remote endpoint discovery, with the cluster's name; annotation of a federated service, with
/// its remote members as `SERVICE@CLUSTER,…`.
pub const REMOTE_DISCOVERY: &str = "multicluster.linkerd.io/remote-discovery";
/// Label of a mirror with remote endpoint discovery, with the name of the Service in the other cluster.
pub const REMOTE_SERVICE: &str = "multicluster.linkerd.io/remote-service";
/// The annotation of a federated service with its member in this cluster: the name of a Service of its namespace.
pub const LOCAL_DISCOVERY: &str = "multicluster.linkerd.io/local-discovery";
/// Label of a Service that is mirrored into other clusters.
pub const EXPORTED: &str = "mirror.linkerd.io/exported";
/// Label with the name of the mirrored cluster.
pub const MIRRORS_CLUSTER: &str = "mirror.linkerd.io/cluster-name";

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Name, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ServiceSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: ServiceStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceStatus {
    #[serde(deserialize_with = "nullable")]
    pub load_balancer: LoadBalancer,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LoadBalancer {
    /// Its addresses.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<LoadBalancerIngress>,
}

/// An address or name of a load balancer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LoadBalancerIngress {
    /// Its address.
    #[serde(deserialize_with = "nullable")]
    pub ip: String,
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub hostname: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceSpec {
    /// ClusterIP, NodePort, LoadBalancer or ExternalName; empty means the first.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: Word,
    /// The host name that clients get for an ExternalName Service.
    #[serde(deserialize_with = "nullable")]
    pub external_name: String,
    /// Its address; headless and ExternalName Services have none.
    #[serde(rename = "clusterIP")]
    pub cluster_ip: ClusterIp,
    /// All its addresses, one per family, including the first.
    #[serde(rename = "clusterIPs", deserialize_with = "nullable")]
    pub cluster_ips: Vec<Word>,
    /// Selector of its pods; without one, its endpoints are managed elsewhere.
    #[serde(deserialize_with = "nullable")]
    pub selector: Texts,
    /// `Local`: clients reach only endpoints on their own node. Empty means `Cluster`.
    #[serde(deserialize_with = "nullable")]
    pub internal_traffic_policy: Word,
    /// `ClientIP`: kube-proxy sends the connections of a client to one pod. Empty means `None`.
    #[serde(deserialize_with = "nullable")]
    pub session_affinity: Word,
    /// `IPv4`, `IPv6`, or both.
    #[serde(deserialize_with = "nullable")]
    pub ip_families: Vec<Word>,
    /// Whether pods that are not ready count as endpoints.
    #[serde(deserialize_with = "nullable")]
    pub publish_not_ready_addresses: bool,
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ServicePort>,
}

/// The address of a Service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClusterIp {
    address: Option<IpAddr>,
    /// Whether it is headless (`None`). A Service without an assigned address is not headless.
    pub headless: bool,
}

impl Deref for ClusterIp {
    type Target = Option<IpAddr>;

    fn deref(&self) -> &Option<IpAddr> {
        &self.address
    }
}

impl PartialEq<Option<IpAddr>> for ClusterIp {
    fn eq(&self, other: &Option<IpAddr>) -> bool {
        self.address == *other
    }
}

impl<'de> Deserialize<'de> for ClusterIp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClusterIp, D::Error> {
        let text = Option::<Text<'de>>::deserialize(deserializer)?;
        let text = text.as_ref().map_or("", |Text(text)| text);
        Ok(ClusterIp { address: text.parse().ok(), headless: text.eq_ignore_ascii_case("none") })
    }
}

/// A port of a Service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    /// Its name; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Transport protocol; empty means TCP.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// `appProtocol`; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub app_protocol: String,
    /// The port that clients use.
    pub port: u16,
    /// Target port; by default the same.
    pub target_port: Option<TargetPort>,
}

/// A pod port, by number or name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub enum TargetPort {
    /// By number.
    Number(u16),
    /// By name.
    Name(String),
}

/// A protocol; empty means TCP.
fn or_tcp(protocol: &str) -> &str {
    if protocol.is_empty() { "TCP" } else { protocol }
}

impl ServicePort {
    fn protocol_name(&self) -> &str {
        or_tcp(&self.protocol)
    }

    /// Whether it is TCP; proxies handle only TCP.
    pub fn is_tcp(&self) -> bool {
        self.protocol_name() == "TCP"
    }

    /// Target port in a pod, as in Kubernetes' endpoints; `None` if the pod has no port of that name and protocol.
    pub fn leads_to(&self, pod: &Pod) -> Option<u16> {
        let name = match &self.target_port {
            None | Some(TargetPort::Number(0)) => return Some(self.port),
            Some(TargetPort::Number(number)) => return Some(*number),
            Some(TargetPort::Name(name)) => name,
        };
        let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter());
        let mut named = containers.flat_map(|container| &container.ports);
        let found = named.find(|port| port.name == *name && or_tcp(&port.protocol) == self.protocol_name())?;
        Some(found.container_port)
    }

    /// Target port in an ExternalWorkload, as in Linkerd's endpoints; `None` if the workload does not declare
    /// it. Unlike a pod, it must also declare ports that are named by number.
    pub fn leads_to_external(&self, workload: &ExternalWorkload) -> Option<u16> {
        let fits = |number: u16, name: Option<&str>| match &self.target_port {
            None | Some(TargetPort::Number(0)) => number == self.port,
            Some(TargetPort::Number(wanted)) => number == *wanted,
            Some(TargetPort::Name(wanted)) => name == Some(wanted),
        };
        let mut ports = workload.spec.ports.iter();
        let found = ports.find(|port| {
            fits(port.port, port.name.as_deref())
                && or_tcp(port.protocol.as_deref().unwrap_or_default()) == self.protocol_name()
        })?;
        Some(found.port)
    }

    /// Its target port as written, or the port itself: `8080`, `http`; `9000/UDP` if it is not TCP.
    pub fn target(&self) -> String {
        let target = match &self.target_port {
            None | Some(TargetPort::Number(0)) => self.port.to_string(),
            Some(TargetPort::Number(number)) => number.to_string(),
            Some(TargetPort::Name(name)) => name.clone(),
        };
        if self.is_tcp() { target } else { format!("{target}/{}", self.protocol_name()) }
    }
}

impl ServiceSpec {
    /// Whether it has addresses of IPv6 alone.
    pub fn is_ipv6_only(&self) -> bool {
        !self.ip_families.is_empty() && self.ip_families.iter().all(|family| *family == "IPv6")
    }

    /// Ports that proxies handle.
    pub fn tcp_ports(&self) -> impl Iterator<Item = &ServicePort> {
        self.ports.iter().filter(|port| port.is_tcp())
    }

    /// The port that proxies handle, if there is exactly one.
    pub fn only_tcp_port(&self) -> Option<&ServicePort> {
        let mut ports = self.tcp_ports();
        ports.next().filter(|_| ports.next().is_none())
    }

    /// Whether an address is one of its own.
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.cluster_ip == Some(address) || self.cluster_ips.iter().any(|ip| ip.as_str().parse() == Ok(address))
    }
}

impl Service {
    /// Whether destination resolves it to the endpoints of its members, in this cluster and others.
    pub fn is_federated(&self) -> bool {
        let has = |key: &str| self.metadata.annotation(key).is_some_and(|value| !value.trim().is_empty());
        has(REMOTE_DISCOVERY) || has(LOCAL_DISCOVERY)
    }

    /// The name of a federated service's member in this cluster.
    pub fn local_member(&self) -> Option<&str> {
        self.metadata.annotation(LOCAL_DISCOVERY).map(str::trim).filter(|name| !name.is_empty())
    }

    /// A federated service's members in other clusters, as written: `NAME@CLUSTER`.
    pub fn remote_members(&self) -> impl Iterator<Item = &str> {
        let members = self.metadata.annotation(REMOTE_DISCOVERY).unwrap_or_default().split(',');
        members.map(str::trim).filter(|member| !member.is_empty())
    }

    /// Whether destination cannot resolve it: a mirror with remote discovery that does not name the other Service.
    pub fn lacks_remote_service(&self) -> bool {
        let is_mirror = self.metadata.label(REMOTE_DISCOVERY).is_some() && !self.is_federated();
        is_mirror && self.metadata.label(REMOTE_SERVICE).is_none()
    }

    /// Remote clusters that provide its endpoints.
    pub fn remote_clusters(&self) -> impl Iterator<Item = &str> {
        let of_members =
            self.remote_members().filter_map(|member| member.split_once('@')).map(|(_, cluster)| cluster.trim());
        let clusters = of_members.chain(self.metadata.label(REMOTE_DISCOVERY));
        clusters.filter(|cluster| !cluster.is_empty())
    }
}

impl Listed for Service {
    type Object = Service;
    const KIND: Kind = Kind::Service;
    const INFO: KindInfo = KindInfo {
        aliases: &["svc"],
        passes: "{spec: {clusterIP: word, clusterIPs: word, type: word, externalName: address, selector: \
                 labels, ports: {name: object, protocol: word, appProtocol: word, targetPort: object}, ipFamilies: \
                 word, ipFamilyPolicy: word, sessionAffinity: word, internalTrafficPolicy: word, \
                 externalTrafficPolicy: word}, status: {loadBalancer: {ingress: {ip: object, hostname: \
                 object}}}}",
        ..KindInfo::namespaced("", "v1", "Service", "services")
    };
}

object!(Service);
