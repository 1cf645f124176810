//! NetworkPolicies, GlobalNetworkPolicies and Tiers of Calico: which connections it lets through to pods, and from them. They have
//! an order, and the first rule that a connection fits decides. Calico keeps them as kinds of `crd.projectcalico.org`, and where it
//! has no API server of its own as kinds of `projectcalico.org`.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A policy of Calico, of a namespace or of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CalicoPolicy {
    /// Name, and namespace where it has one.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: CalicoSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoSpec {
    /// The tier that it belongs to; `default` where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub tier: String,
    /// Its place in the tier: the lowest first, without one last, equal ones by name.
    pub order: Option<f64>,
    /// The pods that it holds for, as an expression; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
    /// Their namespaces, likewise.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: String,
    /// Their service accounts, likewise.
    #[serde(deserialize_with = "nullable")]
    pub service_account_selector: String,
    /// `Ingress`, `Egress` or both; where nothing is said those that it has rules for, and `Ingress` where it has none.
    #[serde(deserialize_with = "nullable")]
    pub types: Vec<String>,
    /// For what comes in.
    #[serde(deserialize_with = "nullable")]
    pub ingress: Vec<CalicoRule>,
    /// For what goes out.
    #[serde(deserialize_with = "nullable")]
    pub egress: Vec<CalicoRule>,
    /// Whether it is for hosts, before connections are tracked.
    #[serde(deserialize_with = "nullable")]
    pub do_not_track: bool,
    /// Whether it is for hosts, before addresses are translated.
    #[serde(rename = "preDNAT", deserialize_with = "nullable")]
    pub pre_dnat: bool,
}

/// One rule: all that it says has to fit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoRule {
    /// `Allow`, `Deny`, `Pass` or `Log`.
    #[serde(deserialize_with = "nullable")]
    pub action: String,
    /// The transport, by name or number.
    pub protocol: Option<TargetPort>,
    /// Every transport but this one.
    pub not_protocol: Option<TargetPort>,
    /// 4 or 6.
    pub ip_version: Option<u8>,
    /// Who connects.
    #[serde(deserialize_with = "nullable")]
    pub source: CalicoEntity,
    /// To whom.
    #[serde(deserialize_with = "nullable")]
    pub destination: CalicoEntity,
    /// Whether something is asked of requests of HTTP.
    #[serde(deserialize_with = "is_there")]
    pub http: bool,
}

/// An end of a connection: all that it says has to fit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoEntity {
    /// Blocks of addresses.
    #[serde(deserialize_with = "nullable")]
    pub nets: Vec<String>,
    /// None of these.
    #[serde(deserialize_with = "nullable")]
    pub not_nets: Vec<String>,
    /// Pods and what else has labels, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
    /// Not what this expression fits.
    #[serde(deserialize_with = "nullable")]
    pub not_selector: String,
    /// Namespaces, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: String,
    /// Service accounts.
    pub service_accounts: Option<CalicoAccounts>,
    /// Whether a Service is named.
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
    /// By name; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub names: Vec<String>,
    /// By labels, as an expression.
    #[serde(deserialize_with = "nullable")]
    pub selector: String,
}

/// A tier: policies that are looked at one after the other, before or after those of other tiers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CalicoTier {
    /// Its name.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: CalicoTierSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CalicoTierSpec {
    /// Its place: the lowest first, without one last.
    pub order: Option<f64>,
    /// `Deny` or `Pass`: what becomes of what a policy of it is about and no rule fits.
    #[serde(deserialize_with = "nullable")]
    pub default_action: String,
}

/// Whether anything is there.
fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<serde::de::IgnoredAny>::deserialize(deserializer)?.is_some())
}

impl CalicoSpec {
    /// The tier that it belongs to.
    pub fn tier(&self) -> &str {
        if self.tier.is_empty() { "default" } else { &self.tier }
    }

    /// Whether it says what may come in.
    pub fn is_about_ingress(&self) -> bool {
        match self.types.as_slice() {
            [] => !self.ingress.is_empty() || self.egress.is_empty(),
            types => types.iter().any(|direction| direction == "Ingress"),
        }
    }

    /// Whether it says what may go out.
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
const RULES: &str = "{spec: {tier: text, selector: text, namespaceSelector: text, serviceAccountSelector: text, types: word, \
    ingress: {action: word, protocol: word, notProtocol: word, source: {nets: word, notNets: word, selector: text, \
    notSelector: text, namespaceSelector: text, serviceAccounts: {names: text, selector: text}, ports: text, notPorts: text}, \
    destination: {nets: word, notNets: word, selector: text, notSelector: text, namespaceSelector: text, \
    serviceAccounts: {names: text, selector: text}, ports: text, notPorts: text}}, \
    egress: {action: word, protocol: word, notProtocol: word, source: {nets: word, notNets: word, selector: text, \
    notSelector: text, namespaceSelector: text, serviceAccounts: {names: text, selector: text}, ports: text, notPorts: text}, \
    destination: {nets: word, notNets: word, selector: text, notSelector: text, namespaceSelector: text, \
    serviceAccounts: {names: text, selector: text}, ports: text, notPorts: text}}}}";

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
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {defaultAction: word}}",
        ..KindInfo::of_cluster(STORED, "v1", "Tier", "tiers")
    };
}
