//! Kinds of public keys and signature algorithms, with the names that Go uses.

use std::fmt;

use x509_cert::der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// A kind of public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// RSA, with the length of the modulus in bits.
    Rsa(usize),
    /// An elliptic curve: P-256, P-384 or P-521 by their bits; 0 for any other.
    Ecdsa(u16),
    Ed25519,
    /// Anything else, by its object identifier.
    Other(String),
}

impl Key {
    pub(super) fn from_public_key_info(info: &SubjectPublicKeyInfoOwned) -> Key {
        match info.algorithm.oid.to_string().as_str() {
            "1.2.840.113549.1.1.1" => {
                let bits = info.subject_public_key.as_bytes().and_then(modulus_bits);
                Key::Rsa(bits.unwrap_or_default())
            }
            "1.2.840.10045.2.1" => {
                let named = info.algorithm.parameters.as_ref();
                let curve = named.and_then(|any| any.decode_as::<ObjectIdentifier>().ok());
                Key::Ecdsa(match curve.map(|curve| curve.to_string()).as_deref() {
                    Some("1.2.840.10045.3.1.7") => 256,
                    Some("1.3.132.0.34") => 384,
                    Some("1.3.132.0.35") => 521,
                    _ => 0,
                })
            }
            "1.3.101.112" => Key::Ed25519,
            other => Key::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Rsa(bits) => write!(f, "RSA {bits}"),
            Key::Ecdsa(0) => f.write_str("ECDSA on another curve"),
            Key::Ecdsa(bits) => write!(f, "ECDSA P-{bits}"),
            Key::Ed25519 => f.write_str("Ed25519"),
            Key::Other(oid) => write!(f, "algorithm {oid}"),
        }
    }
}

/// The name of a signature algorithm, or its object identifier.
pub(super) fn signature_name(oid: &str) -> String {
    let name = match oid {
        "1.2.840.113549.1.1.5" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        "1.3.101.112" => "Ed25519",
        other => other,
    };
    name.to_owned()
}

/// The length of the modulus of an RSA key: a sequence whose first element is that number.
fn modulus_bits(key: &[u8]) -> Option<usize> {
    let sequence = AnyRef::from_der(key).ok()?;
    let modulus = UintRef::decode(&mut SliceReader::new(sequence.value()).ok()?).ok()?;
    let number = modulus.as_bytes();
    let leading = usize::try_from(number.first()?.leading_zeros()).ok()?;
    Some(number.len() * 8 - leading)
}
