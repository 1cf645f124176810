//! NetworkAuthentications: clients by network.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A NetworkAuthentication.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkAuthentication {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: NetworkAuthenticationSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkAuthenticationSpec {
    #[serde(deserialize_with = "nullable")]
    pub networks: Vec<Network>,
}

/// A network with exceptions, as written; may be invalid.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Network {
    /// A CIDR or an address.
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// Exceptions.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

impl Listed for NetworkAuthentication {
    type Object = NetworkAuthentication;
    const KIND: Kind = Kind::NetworkAuthentication;
    const INFO: KindInfo = KindInfo {
        aliases: &["netauthn", "networkauthn"],
        passes: "{spec: {networks: {cidr: word, except: word}}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1alpha1", "NetworkAuthentication", "networkauthentications")
    };
}

object!(NetworkAuthentication);
