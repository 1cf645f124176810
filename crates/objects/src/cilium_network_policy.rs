//! CiliumNetworkPolicies and CiliumClusterwideNetworkPolicies. Rules are additive, and denials take precedence.

use serde::Deserialize;

use super::meta::{Meta, is_there, nullable};
use super::selector::LabelSelector;
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A Cilium policy, namespaced or cluster-wide.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CiliumPolicy {
    /// Name, and namespace if it has one.
    pub metadata: Meta,
    pub spec: Option<CiliumRule>,
    /// More rules, in addition to or instead of `spec`.
    #[serde(deserialize_with = "nullable")]
    pub specs: Vec<CiliumRule>,
}

/// Selected pods, with allowed and denied connections.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumRule {
    /// The selected pods; without it, the rule applies to nodes.
    pub endpoint_selector: Option<LabelSelector>,
    /// Allowed ingress.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<CiliumSide>,
    /// Denied ingress, which takes precedence.
    #[serde(deserialize_with = "nullable")]
    pub ingress_deny: Vec<CiliumSide>,
    /// Allowed egress.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<CiliumSide>,
    /// Denied egress, which takes precedence.
    #[serde(deserialize_with = "nullable")]
    pub egress_deny: Vec<CiliumSide>,
    /// Whether all other connections are denied.
    #[serde(deserialize_with = "nullable")]
    pub enable_default_deny: DefaultDeny,
}

/// Whether a rule denies connections that no rule allows; by default in the directions with rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DefaultDeny {
    /// Ingress rules.
    pub ingress: Option<bool>,
    /// Egress rules.
    pub egress: Option<bool>,
}

/// Peers of connections, and ports. Lists that are present but empty match nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumSide {
    /// Pods.
    #[serde(alias = "fromEndpoints", alias = "toEndpoints")]
    pub endpoints: Option<Vec<LabelSelector>>,
    /// `all`, `cluster`, `world`, `host`, `remote-node`, `kube-apiserver` and so on.
    #[serde(alias = "fromEntities", alias = "toEntities")]
    pub entities: Option<Vec<String>>,
    /// Addresses outside the cluster.
    #[serde(alias = "fromCIDR", alias = "toCIDR")]
    pub cidr: Option<Vec<String>>,
    /// The same, with exceptions.
    #[serde(alias = "fromCIDRSet", alias = "toCIDRSet")]
    pub cidr_set: Option<Vec<CiliumBlock>>,
    #[serde(alias = "fromNodes", alias = "toNodes")]
    pub nodes: Option<Vec<LabelSelector>>,
    /// Whether it refers to Services.
    #[serde(rename = "toServices", deserialize_with = "is_there")]
    pub services: bool,
    /// Whether it refers to cloud groups.
    #[serde(alias = "fromGroups", alias = "toGroups", deserialize_with = "is_there")]
    pub groups: bool,
    /// Whether it refers to host names.
    #[serde(rename = "toFQDNs", deserialize_with = "is_there")]
    pub names: bool,
    /// Whether it has further requirements for peers, in old releases.
    #[serde(alias = "fromRequires", alias = "toRequires", deserialize_with = "is_there")]
    pub requires: bool,
    /// Ports; by default all.
    #[serde(rename = "toPorts", deserialize_with = "nullable")]
    pub ports: Vec<CiliumPorts>,
    /// Whether it applies to ICMP.
    #[serde(deserialize_with = "is_there")]
    pub icmps: bool,
    /// Mutual authentication.
    #[serde(deserialize_with = "nullable")]
    pub authentication: CiliumAuthentication,
}

/// A CIDR, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CiliumBlock {
    /// A CIDR; empty for a CIDR group.
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// Exceptions.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

/// Ports with application-level conditions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumPorts {
    /// The ports; by default all.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<CiliumPort>,
    /// Application-level conditions.
    #[serde(deserialize_with = "nullable")]
    pub rules: CiliumRequests,
    /// Whether Cilium terminates TLS.
    #[serde(rename = "terminatingTLS", deserialize_with = "is_there")]
    pub ends_tls: bool,
    /// Whether Cilium originates TLS.
    #[serde(rename = "originatingTLS", deserialize_with = "is_there")]
    pub begins_tls: bool,
    /// Whether only some server names are allowed.
    #[serde(deserialize_with = "is_there")]
    pub server_names: bool,
    /// Whether traffic is sent to a Cilium listener.
    #[serde(deserialize_with = "is_there")]
    pub listener: bool,
}

/// A port or a range of ports.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumPort {
    /// A number or a name, as text; `0` means all.
    pub port: Option<TargetPort>,
    /// The last of a range.
    pub end_port: Option<u16>,
    /// `TCP`, `UDP`, `SCTP`, or by default `ANY`.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
}

/// Application-level conditions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CiliumRequests {
    /// Whether it has HTTP conditions.
    #[serde(deserialize_with = "is_there")]
    pub http: bool,
    /// Whether it has Kafka conditions.
    #[serde(deserialize_with = "is_there")]
    pub kafka: bool,
    /// Whether it has conditions of another protocol.
    #[serde(deserialize_with = "is_there")]
    pub l7: bool,
    /// Whether it names another protocol.
    #[serde(deserialize_with = "is_there")]
    pub l7proto: bool,
    /// Allowed DNS names.
    #[serde(deserialize_with = "nullable")]
    pub dns: Vec<CiliumName>,
}

/// Allowed DNS names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumName {
    /// A pattern; `*` matches every name.
    #[serde(deserialize_with = "nullable")]
    pub match_pattern: String,
}

/// Mutual authentication.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CiliumAuthentication {
    /// `required` or `disabled`.
    #[serde(deserialize_with = "nullable")]
    pub mode: String,
}

impl CiliumPolicy {
    /// Its rules, with their fields.
    pub fn rules(&self) -> impl Iterator<Item = (String, &CiliumRule)> {
        let more = self.specs.iter().enumerate().map(|(index, rule)| (format!("specs[{index}]"), rule));
        self.spec.iter().map(|rule| ("spec".to_owned(), rule)).chain(more)
    }
}

object!(CiliumPolicy);

/// Redaction rules for peers and ports.
macro_rules! passes {
    () => {
        concat!(
            "{spec: ", passes!(rule), ", specs: ", passes!(rule), "}"
        )
    };
    (rule) => {
        concat!(
            "{endpointSelector: selector, ingress: ", passes!(side "from"), ", ingressDeny: ", passes!(side "from"),
            ", egress: ", passes!(side "to"), ", egressDeny: ", passes!(side "to"), "}"
        )
    };
    (side $way:literal) => {
        concat!(
            "{", $way, "Endpoints: selector, ", $way, "Entities: word, ", $way, "CIDR: word, ",
            $way, "CIDRSet: {cidr: word, except: word}, ", $way, "Nodes: selector, ",
            "toPorts: {ports: {port: object, protocol: word}, rules: {dns: {matchPattern: object}}}, ",
            "authentication: {mode: word}}"
        )
    };
}

/// Lists of `CiliumNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum CiliumNetworkPolicy {}

impl Listed for CiliumNetworkPolicy {
    type Object = CiliumPolicy;
    const KIND: Kind = Kind::CiliumNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["cnp", "ciliumnp"],
        passes: passes!(),
        ..KindInfo::namespaced("cilium.io", "v2", "CiliumNetworkPolicy", "ciliumnetworkpolicies")
    };
}

/// Lists of `CiliumClusterwideNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum CiliumClusterwideNetworkPolicy {}

impl Listed for CiliumClusterwideNetworkPolicy {
    type Object = CiliumPolicy;
    const KIND: Kind = Kind::CiliumClusterwideNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["ccnp"],
        passes: passes!(),
        ..KindInfo::of_cluster("cilium.io", "v2", "CiliumClusterwideNetworkPolicy", "ciliumclusterwidenetworkpolicies")
    };
}
