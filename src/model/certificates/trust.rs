//! Whether a chain leads to a trusted certificate: names, signatures and what a certificate may sign. Time is the
//! caller's business, who says which certificates may be used.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

use super::Certificate;
use super::key::{Key, element};

/// Whether a chain leads to a trusted certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// A signature on the way uses an algorithm that is not understood here; says which.
    Unknown(String),
}

/// The trusted certificates that a chain leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reached {
    /// Their places among the trusted ones, in order.
    pub anchors: Vec<usize>,
    /// A signature algorithm met on the way that is not understood here: there may be more.
    pub unknown: Option<String>,
}

/// Whether the first certificate of `served`, by way of the others, leads to one of `trusted`.
pub fn trust(served: &[Certificate], trusted: &[Certificate]) -> Trust {
    let reached = reach(served, trusted, &|_| true);
    match (reached.anchors.is_empty(), reached.unknown) {
        (false, _) => Trust::Yes,
        (true, None) => Trust::No,
        (true, Some(algorithm)) => Trust::Unknown(algorithm),
    }
}

/// Which of `trusted` the first certificate of `served` leads to, by way of the others. Only certificates that `usable`
/// takes are used above the first.
pub fn reach(
    served: &[Certificate],
    trusted: &[Certificate],
    usable: &dyn Fn(&Certificate) -> bool,
) -> Reached {
    let mut found = Reached::default();
    let Some(leaf) = served.first() else { return found };
    let mut to_visit = vec![leaf];
    let mut seen = vec![false; served.len()];
    while let Some(at) = to_visit.pop() {
        for (place, root) in trusted.iter().enumerate() {
            if found.anchors.contains(&place) || !usable(root) {
                continue;
            }
            match if root == at { Ok(true) } else { at.signed_by(root) } {
                Ok(true) => found.anchors.push(place),
                Ok(false) => {}
                Err(algorithm) => found.unknown = Some(algorithm),
            }
        }
        for (next, seen) in served.iter().zip(&mut seen).skip(1) {
            if *seen || !usable(next) {
                continue;
            }
            match at.signed_by(next) {
                Ok(true) => {
                    *seen = true;
                    to_visit.push(next);
                }
                Ok(false) => {}
                Err(algorithm) => found.unknown = Some(algorithm),
            }
        }
    }
    found.anchors.sort_unstable();
    found
}

impl Certificate {
    /// Whether `issuer` signed it; the error names an algorithm that is not understood.
    fn signed_by(&self, issuer: &Certificate) -> Result<bool, String> {
        let (own, other) = (self.parsed.tbs_certificate(), issuer.parsed.tbs_certificate());
        if own.issuer() != other.subject() || !issuer.is_authority() || !issuer.signs_certificates() {
            return Ok(false);
        }
        let signed_with = self.signed_with();
        if !fits(&signed_with, &issuer.key()) {
            return Ok(false);
        }
        let algorithm = algorithm(&signed_with, &issuer.key())
            .ok_or_else(|| format!("signature algorithm {signed_with} by a key of {}", issuer.key()))?;
        let key = other.subject_public_key_info().subject_public_key.as_bytes();
        let (Some(key), Some(signature), Some(message)) =
            (key, self.parsed.signature().as_bytes(), signed_part(&self.der))
        else {
            return Ok(false);
        };
        Ok(UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok())
    }
}

/// Whether a key of that kind can have made a signature of that kind. What is not known may.
fn fits(signed_with: &str, key: &Key) -> bool {
    match key {
        Key::Rsa(_) => !signed_with.starts_with("ECDSA") && signed_with != "Ed25519",
        Key::Ecdsa(_) => !signed_with.ends_with("RSA") && signed_with != "Ed25519",
        Key::Ed25519 => !signed_with.ends_with("RSA") && !signed_with.starts_with("ECDSA"),
        Key::Other(_) => true,
    }
}

/// What ring calls the algorithm of a signature by a key of that kind.
fn algorithm(signed_with: &str, key: &Key) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match (signed_with, key) {
        // Go takes short keys as well; whether they are a good idea is another question.
        ("SHA256-RSA", Key::Rsa(_)) => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        ("SHA384-RSA", Key::Rsa(_)) => &signature::RSA_PKCS1_2048_8192_SHA384,
        ("SHA512-RSA", Key::Rsa(_)) => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        ("ECDSA-SHA256", Key::Ecdsa(256)) => &signature::ECDSA_P256_SHA256_ASN1,
        ("ECDSA-SHA256", Key::Ecdsa(384)) => &signature::ECDSA_P384_SHA256_ASN1,
        ("ECDSA-SHA384", Key::Ecdsa(256)) => &signature::ECDSA_P256_SHA384_ASN1,
        ("ECDSA-SHA384", Key::Ecdsa(384)) => &signature::ECDSA_P384_SHA384_ASN1,
        ("Ed25519", Key::Ed25519) => &signature::ED25519,
        _ => return None,
    })
}

/// The bytes that a certificate's signature covers, as they stand: the first element of its sequence.
fn signed_part(der: &[u8]) -> Option<&[u8]> {
    let (_, content) = element(der)?;
    let (length, _) = element(content)?;
    content.get(..length)
}
