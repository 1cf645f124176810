//! ServerAuthorizations: the predecessor of AuthorizationPolicies.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::network_authentication::Network;
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A ServerAuthorization.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServerAuthorization {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ServerAuthorizationSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServerAuthorizationSpec {
    /// The Servers of its namespace that it applies to.
    #[serde(deserialize_with = "nullable")]
    pub server: ServerChoice,
    /// Authorized clients.
    #[serde(deserialize_with = "nullable")]
    pub client: Client,
}

/// Servers by name or by labels.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServerChoice {
    /// One Server; overrides the selector.
    pub name: Option<String>,
    /// Servers by labels; by default all.
    pub selector: Option<LabelSelector>,
}

/// Authorized clients.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Client {
    /// Networks; by default those of the cluster.
    #[serde(deserialize_with = "nullable")]
    pub networks: Vec<Network>,
    /// Whether all clients are authorized.
    #[serde(deserialize_with = "nullable")]
    pub unauthenticated: bool,
    /// Meshed clients.
    #[serde(rename = "meshTLS")]
    pub mesh_tls: Option<MeshTls>,
}

/// Authorized meshed clients.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MeshTls {
    /// All clients with Linkerd's TLS, without an identity requirement.
    #[serde(rename = "unauthenticatedTLS", deserialize_with = "nullable")]
    pub unauthenticated_tls: bool,
    /// By identity.
    #[serde(deserialize_with = "nullable")]
    pub identities: Vec<String>,
    /// By service account.
    #[serde(deserialize_with = "nullable")]
    pub service_accounts: Vec<ServiceAccountRef>,
}

/// A service account; by default of the same namespace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceAccountRef {
    pub namespace: Option<String>,
    pub name: String,
}

impl Listed for ServerAuthorization {
    type Object = ServerAuthorization;
    const KIND: Kind = Kind::ServerAuthorization;
    const INFO: KindInfo = KindInfo {
        aliases: &["saz", "serverauthz", "srvauthz"],
        passes: "{spec: {server: {name: object, selector: selector}, client: {networks: {cidr: word, except: word}, \
                 meshTLS: {identities: object, serviceAccounts: named}}}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta1", "ServerAuthorization", "serverauthorizations")
    };
}

object!(ServerAuthorization);
