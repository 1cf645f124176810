//! Certificates of cert-manager, and Bundles of trust-manager: `cert-manager.io` and `trust.cert-manager.io`.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::route::Present;
use super::shared::Word;
use super::time::Time;
use super::{Kind, KindInfo, LabelSelector, Listed, object};

/// A certificate that cert-manager issues and renews.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ManagedCertificate {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ManagedCertificateSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: ManagedCertificateStatus,
}

/// The spec.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedCertificateSpec {
    #[serde(deserialize_with = "nullable")]
    pub common_name: String,
    /// Whether it is a certificate authority.
    #[serde(rename = "isCA", deserialize_with = "nullable")]
    pub is_ca: bool,
    /// The Secret that it is written to.
    #[serde(deserialize_with = "nullable")]
    pub secret_name: String,
    #[serde(deserialize_with = "nullable")]
    pub private_key: ManagedKey,
}

/// The private key of a certificate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedKey {
    /// `Always` or `Never`; empty for the default, which is `Always` since cert-manager 1.18.
    #[serde(deserialize_with = "nullable")]
    pub rotation_policy: Word,
    /// `RSA`, `ECDSA` or `Ed25519`; empty for the default, which is RSA.
    #[serde(deserialize_with = "nullable")]
    pub algorithm: Word,
    /// Bits: with ECDSA the curve, by default 256.
    #[serde(deserialize_with = "nullable")]
    pub size: u16,
}

/// The current certificate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedCertificateStatus {
    pub not_before: Time,
    pub not_after: Time,
    /// Time of the next renewal.
    pub renewal_time: Time,
    /// Includes `Ready`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

object!(ManagedCertificate);

/// Lists of `Certificate` of cert-manager.
#[derive(Debug, Clone, Copy)]
pub enum CertManagerCertificate {}

impl Listed for CertManagerCertificate {
    type Object = ManagedCertificate;
    const KIND: Kind = Kind::CertManagerCertificate;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {commonName: object, secretName: object, privateKey: {algorithm: word, rotationPolicy: \
                 word}}, status: {conditions: conditions, notBefore: text, notAfter: text, renewalTime: text}}",
        ..KindInfo::namespaced("cert-manager.io", "v1", "Certificate", "certificates")
    };
}

/// Trust anchors that trust-manager collects and writes to ConfigMaps.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TrustBundle {
    /// Its name.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: TrustBundleSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: TrustBundleStatus,
}

object!(TrustBundle);

/// The spec.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TrustBundleSpec {
    #[serde(deserialize_with = "nullable")]
    pub sources: Vec<TrustSource>,
    #[serde(deserialize_with = "nullable")]
    pub target: TrustTarget,
}

/// Where trust-manager writes the bundle, under the name of the Bundle.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TrustTarget {
    /// A ConfigMap.
    pub config_map: Option<TargetKey>,
    /// The namespaces; all if not set.
    pub namespace_selector: Option<LabelSelector>,
}

/// The entry that a bundle is written to.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TargetKey {
    #[serde(deserialize_with = "nullable")]
    pub key: String,
}

/// The status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TrustBundleStatus {
    /// Includes `Synced`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// A source of trust anchors: one of the fields is set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TrustSource {
    pub secret: Option<SourceObject>,
    /// A ConfigMap; its presence is recorded.
    pub config_map: Option<Present>,
    /// Certificates in the Bundle itself; their presence is recorded.
    pub in_line: Option<Present>,
}

impl TrustSource {
    /// Whether it names no object: the default CAs of trust-manager.
    pub fn is_default(&self) -> bool {
        self.secret.is_none() && self.config_map.is_none() && self.in_line.is_none()
    }
}

/// The object of a source.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SourceObject {
    /// Its name, in the namespace of trust-manager.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The entry with certificates; empty for all.
    #[serde(deserialize_with = "nullable")]
    pub key: String,
}

/// Lists of `Bundle` of trust-manager.
#[derive(Debug, Clone, Copy)]
pub enum Bundle {}

impl Listed for Bundle {
    type Object = TrustBundle;
    const KIND: Kind = Kind::Bundle;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {sources: {secret: {name: object, key: object}, configMap: {name: object, key: object}}, \
                 target: {configMap: {key: object}, namespaceSelector: selector}}, status: {conditions: conditions}}",
        ..KindInfo::of_cluster("trust.cert-manager.io", "v1alpha1", "Bundle", "bundles")
    };
}
