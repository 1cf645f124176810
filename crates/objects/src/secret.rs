//! Secrets, which are only requested by name; only their certificates are kept.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A redacted Secret: only certificates, whether the private key matches, and whether the CLI can read its values.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Secret {
    /// Name, labels; the annotation `meshdoctor.io/key-matches` is one of the words of
    /// [`crate::redact::KeyMatches`], `meshdoctor.io/stored-values` one of [`crate::redact::StoredValues`].
    pub metadata: Meta,
    /// Its type: `kubernetes.io/tls`, `Opaque`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// Certificates by key, base64-encoded PEM.
    #[serde(deserialize_with = "nullable")]
    pub data: BTreeMap<String, String>,
}

impl Listed for Secret {
    type Object = Secret;
    const KIND: Kind = Kind::Secret;
    const INFO: KindInfo = KindInfo { passes: "{type: word}", ..KindInfo::namespaced("", "v1", "Secret", "secrets") };
}

object!(Secret);
