//! NetworkAuthentications: clients by the network that they come from.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A NetworkAuthentication.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkAuthentication {
    /// Name, namespace.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: NetworkAuthenticationSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NetworkAuthenticationSpec {
    /// From where.
    #[serde(deserialize_with = "nullable")]
    pub networks: Vec<Network>,
}

/// A network without some that lie in it, as it is written: what is no network may stand there, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Network {
    /// A CIDR or an address.
    #[serde(deserialize_with = "nullable")]
    pub cidr: String,
    /// What is left out of it.
    #[serde(deserialize_with = "nullable")]
    pub except: Vec<String>,
}

impl Listed for NetworkAuthentication {
    type Object = NetworkAuthentication;
    const KIND: Kind = Kind::NetworkAuthentication;
    const INFO: KindInfo = KindInfo {
        aliases: &["netauthn", "networkauthn"],
        passes: "{spec: {networks: {cidr: word, except: word}}}",
        ..KindInfo::namespaced(
            "policy.linkerd.io",
            "v1alpha1",
            "NetworkAuthentication",
            "networkauthentications",
        )
    };
}

object!(NetworkAuthentication);
