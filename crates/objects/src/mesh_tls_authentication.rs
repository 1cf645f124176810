//! MeshTLSAuthentications: meshed clients, by identity.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::target::TargetRef;
use super::{Kind, KindInfo, Listed, object};

/// A MeshTLSAuthentication.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MeshTLSAuthentication {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: MeshTLSAuthenticationSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MeshTLSAuthenticationSpec {
    /// Identities; `*` matches all, and `*.` starts a suffix.
    #[serde(deserialize_with = "nullable")]
    pub identities: Vec<String>,
    /// Service accounts, and namespaces with all their service accounts.
    #[serde(deserialize_with = "nullable")]
    pub identity_refs: Vec<TargetRef>,
}

impl Listed for MeshTLSAuthentication {
    type Object = MeshTLSAuthentication;
    const KIND: Kind = Kind::MeshTLSAuthentication;
    const INFO: KindInfo = KindInfo {
        aliases: &["meshtlsauthn"],
        passes: "{spec: {identities: object, identityRefs: reference}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1alpha1", "MeshTLSAuthentication", "meshtlsauthentications")
    };
}

object!(MeshTLSAuthentication);
