//! Parses certificates and verifies signatures. Follows Go's verifier, which the API server and identity use.
//! Does not read private keys, and reports no findings.

mod allowed;
mod key;
mod pem;
mod print;
#[cfg(test)]
mod tests;
mod trust;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use x509_cert::der::Decode;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, SubjectAltName};
use x509_cert::time::Time;

pub use crate::redact::PemDamage;
use crate::redact::pem_blocks;

pub use allowed::Purpose;
pub use key::Key;
pub use pem::{damage, foreign_block, from_base64_pool, from_bundle, from_restored_bundle, restored_text};
pub use print::BundlePrint;
pub use trust::{Obstacle, Path, Reached, Trust, reach, trust};

/// A parsed certificate.
#[derive(Debug, Clone)]
pub struct Certificate {
    parsed: x509_cert::Certificate,
    der: Vec<u8>,
}

/// The position of a time relative to the lifetime of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Before it.
    NotYet,
    /// Within it, both ends included.
    Current,
    /// After it.
    Over,
}

/// The certificates in a PEM text, without blocks of other types.
///
/// # Errors
/// A block of type CERTIFICATE is not a valid certificate.
pub fn from_pem(pem: &[u8]) -> Result<Vec<Certificate>, String> {
    pem_blocks(pem).into_iter().filter(|block| block.label == "CERTIFICATE").map(|block| from_der(block.der)).collect()
}

fn from_der(der: Vec<u8>) -> Result<Certificate, String> {
    let parsed = x509_cert::Certificate::from_der(&der).map_err(|error| format!("not a certificate: {error}"))?;
    Ok(Certificate { parsed, der })
}

/// The certificates in a PEM text that is base64-encoded, as in Secrets and `caBundle`.
///
/// # Errors
/// The text is not base64, or an error of [`from_pem`].
pub fn from_base64_pem(text: &str) -> Result<Vec<Certificate>, String> {
    from_pem(&from_base64(text)?)
}

/// [`from_bundle`] for a base64-encoded text.
///
/// # Errors
/// The text is not base64, or an error of [`from_bundle`].
pub fn from_base64_bundle(text: &str) -> Result<Vec<Certificate>, String> {
    from_bundle(&String::from_utf8_lossy(&from_base64(text)?))
}

/// [`from_restored_bundle`] for a base64-encoded text.
///
/// # Errors
/// The text is not base64, or an error of [`from_restored_bundle`].
pub fn from_base64_restored_bundle(text: &str) -> Result<Vec<Certificate>, String> {
    from_restored_bundle(&String::from_utf8_lossy(&from_base64(text)?))
}

/// [`damage`] of a base64-encoded text.
pub fn base64_damage(text: &str) -> Option<PemDamage> {
    damage(&String::from_utf8_lossy(&from_base64(text).ok()?))
}

/// The certificates, if there is at least one.
///
/// # Errors
/// The list is empty.
pub fn at_least_one(read: Vec<Certificate>) -> Result<Vec<Certificate>, String> {
    if read.is_empty() { Err("another PEM block precedes the certificates".to_owned()) } else { Ok(read) }
}

fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(compact).map_err(|error| format!("not base64: {error}"))
}

/// Two certificates are equal if all their bytes are equal.
impl PartialEq for Certificate {
    fn eq(&self, other: &Certificate) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

impl Certificate {
    /// Subject and a short fingerprint, which distinguishes certificates of the same name.
    pub fn summary(&self) -> String {
        format!("{} ({})", self.parsed.tbs_certificate().subject(), self.brief())
    }

    /// A short fingerprint, as `sha256 be45f8e4...`.
    pub fn brief(&self) -> String {
        format!("sha256 {}...", &self.print()[..8])
    }

    pub fn subject(&self) -> String {
        self.parsed.tbs_certificate().subject().to_string()
    }

    pub fn issuer(&self) -> String {
        self.parsed.tbs_certificate().issuer().to_string()
    }

    /// Whether issuer and subject are equal, as in a root.
    pub fn is_self_issued(&self) -> bool {
        self.parsed.tbs_certificate().issuer() == self.parsed.tbs_certificate().subject()
    }

    /// The first 8 bytes of its SHA-256, as hex digits.
    pub fn print(&self) -> String {
        format!("{:016x}", print::hash(&self.der))
    }

    /// The start of its validity.
    pub fn not_before(&self) -> Timestamp {
        moment(self.parsed.tbs_certificate().validity().not_before)
    }

    /// The end of its validity.
    pub fn not_after(&self) -> Timestamp {
        moment(self.parsed.tbs_certificate().validity().not_after)
    }

    /// The position of `at` relative to its lifetime.
    pub fn validity(&self, at: Timestamp) -> Validity {
        if at < self.not_before() {
            Validity::NotYet
        } else if at > self.not_after() {
            Validity::Over
        } else {
            Validity::Current
        }
    }

    /// The kind and size of its public key.
    pub fn key(&self) -> Key {
        Key::from_public_key_info(self.parsed.tbs_certificate().subject_public_key_info())
    }

    /// The algorithm of its signature, as Go names it: `ECDSA-SHA256`, `SHA256-RSA`; else its object identifier.
    pub fn signed_with(&self) -> String {
        key::signature_name(&self.parsed.signature_algorithm().oid.to_string())
    }

    /// Whether it is valid for a DNS name. Like Go, reads only the alternative names.
    pub fn covers(&self, name: &str) -> bool {
        self.names().iter().any(|dns| {
            let by_wildcard = || {
                let (rest, (_, parent)) = (dns.strip_prefix("*.")?, name.split_once('.')?);
                Some(rest.eq_ignore_ascii_case(parent))
            };
            dns.eq_ignore_ascii_case(name) || by_wildcard().unwrap_or(false)
        })
    }

    /// The DNS names among its alternative names.
    pub fn names(&self) -> Vec<String> {
        let names = self.parsed.tbs_certificate().get_extension::<SubjectAltName>();
        let names = names.ok().flatten().map(|(_, SubjectAltName(names))| names).unwrap_or_default();
        let dns = names.into_iter().filter_map(|name| match name {
            GeneralName::DnsName(dns) => Some(dns.as_str().to_owned()),
            _ => None,
        });
        dns.collect()
    }

    /// Whether it may sign other certificates. Certificates older than version 3 cannot restrict this, and may.
    pub fn is_authority(&self) -> bool {
        match self.parsed.tbs_certificate().get_extension::<BasicConstraints>() {
            Ok(Some((_, constraints))) => constraints.ca,
            Ok(None) => self.parsed.tbs_certificate().version() != x509_cert::certificate::Version::V3,
            Err(_) => false,
        }
    }

    /// Whether its key usage, if present, allows it to sign certificates.
    pub fn signs_certificates(&self) -> bool {
        match self.parsed.tbs_certificate().get_extension::<KeyUsage>() {
            Ok(Some((_, usage))) => usage.key_cert_sign(),
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

fn moment(time: Time) -> Timestamp {
    // Times of certificates begin in 1970 and end in 9999, as those of jiff do.
    i64::try_from(time.to_unix_duration().as_secs())
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or(Timestamp::MAX)
}

/// The SHA-256 of bytes.
fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
