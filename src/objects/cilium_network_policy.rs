//! CiliumNetworkPolicies and CiliumClusterwideNetworkPolicies: which connections Cilium lets through to pods, and from them. Rules
//! add up, and what one denies no other lets through.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A policy of Cilium, of a namespace or of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CiliumPolicy {
    /// Name, and namespace where it has one.
    pub metadata: Meta,
    /// What was asked for.
    pub spec: Option<CiliumRule>,
    /// More of the same, beside `spec` or in its place.
    #[serde(deserialize_with = "nullable")]
    pub specs: Vec<CiliumRule>,
}

/// Whom it holds for, and what it lets through and denies.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumRule {
    /// The pods that it holds for; a rule without it is about nodes.
    pub endpoint_selector: Option<LabelSelector>,
    /// What may come in.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<CiliumSide>,
    /// What may not come in, whatever lets it.
    #[serde(deserialize_with = "nullable")]
    pub ingress_deny: Vec<CiliumSide>,
    /// What may go out.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<CiliumSide>,
    /// What may not go out, whatever lets it.
    #[serde(deserialize_with = "nullable")]
    pub egress_deny: Vec<CiliumSide>,
    /// Whether the pods are shut for everything else.
    #[serde(deserialize_with = "nullable")]
    pub enable_default_deny: DefaultDeny,
}

/// Whether a rule shuts its pods for what nothing lets through; where nothing is said, in the directions that it has rules for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DefaultDeny {
    /// For what comes in.
    pub ingress: Option<bool>,
    /// For what goes out.
    pub egress: Option<bool>,
}

/// The other ends of connections, and their ports. Lists that are there and empty stand for nobody.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumSide {
    /// Pods.
    #[serde(alias = "fromEndpoints", alias = "toEndpoints")]
    pub endpoints: Option<Vec<LabelSelector>>,
    /// `all`, `cluster`, `world`, `host`, `remote-node`, `kube-apiserver` and so on.
    #[serde(alias = "fromEntities", alias = "toEntities")]
    pub entities: Option<Vec<String>>,
    /// Addresses outside of the cluster.
    #[serde(alias = "fromCIDR", alias = "toCIDR")]
    pub cidr: Option<Vec<String>>,
    /// The same, with some left out.
    #[serde(alias = "fromCIDRSet", alias = "toCIDRSet")]
    pub cidr_set: Option<Vec<CiliumBlock>>,
    /// Nodes.
    #[serde(alias = "fromNodes", alias = "toNodes")]
    pub nodes: Option<Vec<LabelSelector>>,
    /// Whether Services are named.
    #[serde(rename = "toServices", deserialize_with = "is_there")]
    pub services: bool,
    /// Whether groups of a cloud are named.
    #[serde(alias = "fromGroups", alias = "toGroups", deserialize_with = "is_there")]
    pub groups: bool,
    /// Whether names of hosts are named.
    #[serde(rename = "toFQDNs", deserialize_with = "is_there")]
    pub names: bool,
    /// Whether more is asked of the other end, in old releases.
    #[serde(alias = "fromRequires", alias = "toRequires", deserialize_with = "is_there")]
    pub requires: bool,
    /// Ports; all where nothing is said.
    #[serde(rename = "toPorts", deserialize_with = "nullable")]
    pub ports: Vec<CiliumPorts>,
    /// Whether ICMP is meant.
    #[serde(deserialize_with = "is_there")]
    pub icmps: bool,
    /// What Cilium asks of both ends.
    #[serde(deserialize_with = "nullable")]
    pub authentication: CiliumAuthentication,
}

/// A block of addresses, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CiliumBlock {
    /// A CIDR; empty where a group of them is named.
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// What is left out of it.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

/// Ports, and what is asked of what is said at them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumPorts {
    /// The ports; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<CiliumPort>,
    /// What is asked of requests.
    #[serde(deserialize_with = "nullable")]
    pub rules: CiliumRequests,
    /// Whether Cilium ends TLS.
    #[serde(rename = "terminatingTLS", deserialize_with = "is_there")]
    pub ends_tls: bool,
    /// Whether Cilium begins it.
    #[serde(rename = "originatingTLS", deserialize_with = "is_there")]
    pub begins_tls: bool,
    /// Whether only some names of servers are let through.
    #[serde(deserialize_with = "is_there")]
    pub server_names: bool,
    /// Whether everything goes to a listener of Cilium's own.
    #[serde(deserialize_with = "is_there")]
    pub listener: bool,
}

/// A port, or a range of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumPort {
    /// A number or a name, both written as text; `0` is all.
    pub port: Option<TargetPort>,
    /// The last of a range.
    pub end_port: Option<u16>,
    /// `TCP`, `UDP`, `SCTP`, or `ANY` where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
}

/// What is asked of requests.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CiliumRequests {
    /// Whether something is asked of requests of HTTP.
    #[serde(deserialize_with = "is_there")]
    pub http: bool,
    /// Whether something is asked of those of Kafka.
    #[serde(deserialize_with = "is_there")]
    pub kafka: bool,
    /// Whether something is asked of those of another protocol.
    #[serde(deserialize_with = "is_there")]
    pub l7: bool,
    /// Whether another protocol is named.
    #[serde(deserialize_with = "is_there")]
    pub l7proto: bool,
    /// The names that DNS may be asked for.
    #[serde(deserialize_with = "nullable")]
    pub dns: Vec<CiliumName>,
}

/// Names that DNS may be asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CiliumName {
    /// A pattern; `*` is every name.
    #[serde(deserialize_with = "nullable")]
    pub match_pattern: String,
}

/// What Cilium asks of both ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CiliumAuthentication {
    /// `required` or `disabled`.
    #[serde(deserialize_with = "nullable")]
    pub mode: String,
}

/// Whether anything is there.
fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<serde::de::IgnoredAny>::deserialize(deserializer)?.is_some())
}

impl CiliumPolicy {
    /// Its rules, each with the field that it stands in.
    pub fn rules(&self) -> impl Iterator<Item = (String, &CiliumRule)> {
        let more = self.specs.iter().enumerate().map(|(index, rule)| (format!("specs[{index}]"), rule));
        self.spec.iter().map(|rule| ("spec".to_owned(), rule)).chain(more)
    }
}

object!(CiliumPolicy);

/// What passes of the other ends of connections and their ports.
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
            "toPorts: {ports: {port: text, protocol: word}, rules: {dns: {matchPattern: text}}}, ",
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
        ..KindInfo::of_cluster(
            "cilium.io",
            "v2",
            "CiliumClusterwideNetworkPolicy",
            "ciliumclusterwidenetworkpolicies",
        )
    };
}
