//! NetworkPolicies, GlobalNetworkPolicies and Tiers of Calico. They are ordered, and the first matching rule decides.
//! Calico stores them as kinds of `crd.projectcalico.org`, or, without its own API server, of `projectcalico.org`.

use serde::Deserialize;

use super::meta::{Meta, is_there, nullable};
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A Calico policy, namespaced or cluster-wide.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CalicoPolicy {
    /// Name, and namespace if it has one.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: CalicoSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoSpec {
    /// Its tier; by default `default`.
    #[serde(deserialize_with = "nullable")]
    pub tier: String,
    /// Its order in the tier: lowest first, missing ones last, equal ones by name.
    pub order: Option<f64>,
    /// The selected pods, as an expression; by default all.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
    /// Their namespaces, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: String,
    /// Their service accounts, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub service_account_selector: String,
    /// `Ingress`, `Egress` or both; by default those with rules, or `Ingress` without any rules.
    #[serde(deserialize_with = "nullable")]
    pub types: Vec<String>,
    /// Ingress rules.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<CalicoRule>,
    /// Egress rules.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<CalicoRule>,
    /// Whether it applies to hosts before connection tracking.
    #[serde(deserialize_with = "nullable")]
    pub do_not_track: bool,
    /// Whether it applies to hosts before address translation.
    #[serde(rename = "preDNAT", deserialize_with = "nullable")]
    pub pre_dnat: bool,
}

/// One rule: all of its conditions must match.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoRule {
    /// `Allow`, `Deny`, `Pass` or `Log`.
    #[serde(deserialize_with = "nullable")]
    pub action: String,
    /// The protocol, by name or number.
    pub protocol: Option<TargetPort>,
    /// Every protocol except this one.
    pub not_protocol: Option<TargetPort>,
    /// 4 or 6.
    pub ip_version: Option<u8>,
    /// Source of the connection.
    #[serde(deserialize_with = "nullable")]
    pub source: CalicoEntity,
    /// Destination or subjects.
    #[serde(deserialize_with = "nullable")]
    pub destination: CalicoEntity,
    /// Whether it has HTTP conditions.
    #[serde(deserialize_with = "is_there")]
    pub http: bool,
}

/// Source or destination of a connection: all conditions must match.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoEntity {
    /// CIDRs.
    #[serde(deserialize_with = "nullable")]
    pub nets: Vec<String>,
    /// None of these.
    #[serde(deserialize_with = "nullable")]
    pub not_nets: Vec<String>,
    /// Pods and other labelled endpoints, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
    /// Endpoints that this expression does not match.
    #[serde(deserialize_with = "nullable")]
    pub not_selector: String,
    /// Namespaces, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: String,
    pub service_accounts: Option<CalicoAccounts>,
    /// Whether it refers to a Service.
    #[serde(deserialize_with = "is_there")]
    pub services: bool,
    /// Ports: numbers, names, and ranges such as `100:200`.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<TargetPort>,
    /// None of these.
    #[serde(deserialize_with = "nullable")]
    pub not_ports: Vec<TargetPort>,
}

/// Service accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CalicoAccounts {
    /// By name; by default all.
    #[serde(deserialize_with = "nullable")]
    pub names: Vec<String>,
    /// By labels, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
}

/// A tier: a group of policies, evaluated in order with other tiers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CalicoTier {
    /// Its name.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: CalicoTierSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoTierSpec {
    /// Its order: lowest first, missing ones last.
    pub order: Option<f64>,
    /// `Deny` or `Pass`: action for selected pods if no rule matches.
    #[serde(deserialize_with = "nullable")]
    pub default_action: String,
}

impl CalicoSpec {
    pub fn tier(&self) -> &str {
        if self.tier.is_empty() { "default" } else { &self.tier }
    }

    /// Whether it restricts ingress.
    pub fn is_about_ingress(&self) -> bool {
        match self.types.as_slice() {
            [] => !self.ingress.is_empty() || self.egress.is_empty(),
            types => types.iter().any(|direction| direction == "Ingress"),
        }
    }

    /// Whether it restricts egress.
    pub fn is_about_egress(&self) -> bool {
        match self.types.as_slice() {
            [] => !self.egress.is_empty(),
            types => types.iter().any(|direction| direction == "Egress"),
        }
    }
}

object!(CalicoPolicy);
object!(CalicoTier);

const STORED: &str = "crd.projectcalico.org";
const RULES: &str = "{spec: {tier: object, selector: selectors, namespaceSelector: selectors, serviceAccountSelector: \
                     selectors, types: word, ingress: {action: word, protocol: word, notProtocol: word, source: \
                     {nets: word, notNets: word, selector: selectors, notSelector: selectors, namespaceSelector: \
                     selectors, serviceAccounts: {names: object, selector: selectors}, ports: object, notPorts: \
                     object}, destination: {nets: word, notNets: word, selector: selectors, notSelector: selectors, \
                     namespaceSelector: selectors, serviceAccounts: {names: object, selector: selectors}, ports: \
                     object, notPorts: object}}, egress: {action: word, protocol: word, notProtocol: word, source: \
                     {nets: word, notNets: word, selector: selectors, notSelector: selectors, namespaceSelector: \
                     selectors, serviceAccounts: {names: object, selector: selectors}, ports: object, notPorts: \
                     object}, destination: {nets: word, notNets: word, selector: selectors, notSelector: selectors, \
                     namespaceSelector: selectors, serviceAccounts: {names: object, selector: selectors}, ports: \
                     object, notPorts: object}}}}";

/// Lists of Calico's own `NetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum CalicoNetworkPolicy {}

impl Listed for CalicoNetworkPolicy {
    type Object = CalicoPolicy;
    const KIND: Kind = Kind::CalicoNetworkPolicy;
    const INFO: KindInfo =
        KindInfo { passes: RULES, ..KindInfo::namespaced(STORED, "v1", "NetworkPolicy", "networkpolicies") };
}

/// Lists of `GlobalNetworkPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum CalicoGlobalNetworkPolicy {}

impl Listed for CalicoGlobalNetworkPolicy {
    type Object = CalicoPolicy;
    const KIND: Kind = Kind::CalicoGlobalNetworkPolicy;
    const INFO: KindInfo = KindInfo {
        passes: RULES,
        ..KindInfo::of_cluster(STORED, "v1", "GlobalNetworkPolicy", "globalnetworkpolicies")
    };
}

impl Listed for CalicoTier {
    type Object = CalicoTier;
    const KIND: Kind = Kind::CalicoTier;
    const INFO: KindInfo =
        KindInfo { passes: "{spec: {defaultAction: word}}", ..KindInfo::of_cluster(STORED, "v1", "Tier", "tiers") };
}
