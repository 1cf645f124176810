//! ServerAuthorizations: the older way to say who is let in by Servers.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: ServerAuthorizationSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServerAuthorizationSpec {
    /// The Servers of its namespace that it is about.
    #[serde(deserialize_with = "nullable")]
    pub server: ServerChoice,
    /// Who is let in.
    #[serde(deserialize_with = "nullable")]
    pub client: Client,
}

/// Servers by name, or else by labels.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServerChoice {
    /// One Server; it counts before the selector.
    pub name: Option<String>,
    /// Servers by labels; all where nothing is said.
    pub selector: Option<LabelSelector>,
}

/// Who is let in.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Client {
    /// From where; the networks of the cluster where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub networks: Vec<Network>,
    /// Anybody.
    #[serde(deserialize_with = "nullable")]
    pub unauthenticated: bool,
    /// Meshed clients.
    #[serde(rename = "meshTLS")]
    pub mesh_tls: Option<MeshTls>,
}

/// Which meshed clients are let in.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MeshTls {
    /// All that speak Linkerd's TLS, whoever they are.
    #[serde(rename = "unauthenticatedTLS", deserialize_with = "nullable")]
    pub unauthenticated_tls: bool,
    /// By identity.
    #[serde(deserialize_with = "nullable")]
    pub identities: Vec<String>,
    /// By service account.
    #[serde(deserialize_with = "nullable")]
    pub service_accounts: Vec<ServiceAccountRef>,
}

/// A service account; of the same namespace where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceAccountRef {
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl Listed for ServerAuthorization {
    type Object = ServerAuthorization;
    const KIND: Kind = Kind::ServerAuthorization;
    const INFO: KindInfo = KindInfo {
        aliases: &["saz", "serverauthz", "srvauthz"],
        passes: "{spec: {server: {name: text, selector: selector}, client: {networks: {cidr: word, except: word}, \
                 meshTLS: {identities: text, serviceAccounts: named}}}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta1", "ServerAuthorization", "serverauthorizations")
    };
}

object!(ServerAuthorization);
