//! Certificates: is one signed by another, and for which names is it good. Follows what Go's verifier does, since API
//! server and proxies are the ones that decide; knows nothing of keys, and leaves time to its callers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use sha2::{Digest, Sha256};
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, SubjectAltName};

use crate::redact::pem_blocks;

/// A parsed certificate.
#[derive(Debug, Clone)]
pub struct Certificate {
    parsed: x509_cert::Certificate,
    der: Vec<u8>,
}

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

/// The certificates in a PEM text that is base64-encoded, as Secrets and `caBundle` hold it. Blocks that are no
/// certificates are left out.
///
/// # Errors
/// It is not base64, or a block says that it is a certificate and is none.
pub fn from_base64_pem(text: &str) -> Result<Vec<Certificate>, String> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pem = STANDARD.decode(compact).map_err(|error| format!("not base64: {error}"))?;
    pem_blocks(&pem)
        .into_iter()
        .filter(|block| block.label == "CERTIFICATE")
        .map(|block| {
            let parsed = x509_cert::Certificate::from_der(&block.der)
                .map_err(|error| format!("not a certificate: {error}"))?;
            Ok(Certificate { parsed, der: block.der })
        })
        .collect()
}

impl Certificate {
    /// Subject and a short fingerprint: enough to tell two certificates of the same name apart.
    pub fn summary(&self) -> String {
        let print: String =
            Sha256::digest(&self.der).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{} (sha256 {print}...)", self.parsed.tbs_certificate().subject())
    }

    /// Whether it is good for a DNS name. Names are only looked for where Go looks: among the alternative names.
    pub fn covers(&self, name: &str) -> bool {
        let Ok(Some((_, SubjectAltName(names)))) =
            self.parsed.tbs_certificate().get_extension::<SubjectAltName>()
        else {
            return false;
        };
        names.iter().any(|alternative| match alternative {
            GeneralName::DnsName(dns) => {
                let dns = dns.as_str();
                let by_wildcard = || {
                    let (rest, (_, parent)) = (dns.strip_prefix("*.")?, name.split_once('.')?);
                    Some(rest.eq_ignore_ascii_case(parent))
                };
                dns.eq_ignore_ascii_case(name) || by_wildcard().unwrap_or(false)
            }
            _ => false,
        })
    }

    /// Whether it may sign others. Certificates older than version 3 cannot say, and may.
    fn may_sign(&self) -> bool {
        match self.parsed.tbs_certificate().get_extension::<BasicConstraints>() {
            Ok(Some((_, constraints))) => constraints.ca,
            Ok(None) => self.parsed.tbs_certificate().version() != x509_cert::certificate::Version::V3,
            Err(_) => false,
        }
    }

    /// Whether `issuer` signed it; the error names an algorithm that is not understood.
    fn signed_by(&self, issuer: &Certificate) -> Result<bool, String> {
        let (own, other) = (self.parsed.tbs_certificate(), issuer.parsed.tbs_certificate());
        if own.issuer() != other.subject() || !issuer.may_sign() {
            return Ok(false);
        }
        let key = other.subject_public_key_info();
        let curve = key.algorithm.parameters.as_ref().and_then(|any| any.to_der().ok());
        let signed_with = self.parsed.signature_algorithm().oid.to_string();
        let algorithm = algorithm(&signed_with, curve.as_deref())
            .ok_or_else(|| format!("signature algorithm {signed_with}"))?;
        let (Some(key), Some(signature), Some(message)) =
            (key.subject_public_key.as_bytes(), self.parsed.signature().as_bytes(), signed_part(&self.der))
        else {
            return Ok(false);
        };
        Ok(UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok())
    }
}

/// Whether the first certificate of `served`, by way of the others, leads to one of `trusted`.
pub fn trust(served: &[Certificate], trusted: &[Certificate]) -> Trust {
    let Some(leaf) = served.first() else { return Trust::No };
    let mut unknown = None;
    let mut reached = vec![leaf];
    // Each round goes one step up; a chain is no longer than what was served.
    let mut seen = vec![false; served.len()];
    while let Some(at) = reached.pop() {
        if trusted.iter().any(|root| root.der == at.der) {
            return Trust::Yes;
        }
        for root in trusted {
            match at.signed_by(root) {
                Ok(true) => return Trust::Yes,
                Ok(false) => {}
                Err(algorithm) => unknown = Some(algorithm),
            }
        }
        for (next, seen) in served.iter().zip(&mut seen).skip(1) {
            match at.signed_by(next) {
                Ok(true) if !*seen => {
                    *seen = true;
                    reached.push(next);
                }
                Ok(_) => {}
                Err(algorithm) => unknown = Some(algorithm),
            }
        }
    }
    unknown.map_or(Trust::No, Trust::Unknown)
}

/// What ring calls the algorithm of a signature, by its object identifier and the curve of the key.
fn algorithm(oid: &str, curve: Option<&[u8]>) -> Option<&'static dyn VerificationAlgorithm> {
    const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    const P384: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
    Some(match (oid, curve) {
        // Go takes short keys as well; whether they are a good idea is another question.
        ("1.2.840.113549.1.1.11", _) => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        ("1.2.840.113549.1.1.12", _) => &signature::RSA_PKCS1_2048_8192_SHA384,
        ("1.2.840.113549.1.1.13", _) => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        ("1.2.840.10045.4.3.2", Some(P256)) => &signature::ECDSA_P256_SHA256_ASN1,
        ("1.2.840.10045.4.3.2", Some(P384)) => &signature::ECDSA_P384_SHA256_ASN1,
        ("1.2.840.10045.4.3.3", Some(P256)) => &signature::ECDSA_P256_SHA384_ASN1,
        ("1.2.840.10045.4.3.3", Some(P384)) => &signature::ECDSA_P384_SHA384_ASN1,
        ("1.3.101.112", _) => &signature::ED25519,
        _ => return None,
    })
}

/// The bytes that a certificate's signature covers, as they stand: the first element of its sequence.
fn signed_part(der: &[u8]) -> Option<&[u8]> {
    let (_, content) = element(der)?;
    let (length, _) = element(content)?;
    content.get(..length)
}

/// The length of the first DER element, its head included, and its content.
fn element(der: &[u8]) -> Option<(usize, &[u8])> {
    let first = usize::from(*der.get(1)?);
    let (head, length) = if first & 0x80 == 0 {
        (2, first)
    } else {
        let bytes = first & 0x7f;
        if bytes == 0 || bytes > 4 {
            return None;
        }
        let length = der.get(2..2 + bytes)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        (2 + bytes, length)
    };
    Some((head + length, der.get(head..head + length)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

    const NAME: &str = "linkerd-proxy-injector.linkerd.svc";

    fn parse(pem: &str) -> Vec<Certificate> {
        from_base64_pem(&STANDARD.encode(pem)).expect("certificates")
    }

    fn params(name: &str, ca: bool) -> CertificateParams {
        let mut params = CertificateParams::new(vec![NAME.to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = if ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
        params
    }

    #[test]
    fn a_self_signed_certificate_trusts_itself_and_no_namesake() {
        let one =
            parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("one").pem());
        let two =
            parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("two").pem());
        assert_eq!(trust(&one, &one), Trust::Yes);
        assert_eq!(trust(&one, &two), Trust::No);
        assert_eq!(trust(&one, &[two.clone(), one.clone()].concat()), Trust::Yes);
        assert_eq!(trust(&one, &[]), Trust::No);
        assert_eq!(trust(&[], &one), Trust::No);
        assert_ne!(one[0].summary(), two[0].summary());
        assert!(one[0].covers(NAME) && !one[0].covers("linkerd-proxy-injector.mesh.svc"));
    }

    #[test]
    fn a_chain_is_followed_through_what_is_served() {
        for algorithm in
            [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519]
        {
            let key = || KeyPair::generate_for(algorithm).expect("a key");
            let (root_key, middle_key) = (key(), key());
            let root = params("root", true).self_signed(&root_key).expect("a root");
            let root_issuer = Issuer::new(params("root", true), &root_key);
            let middle = params("middle", true).signed_by(&middle_key, &root_issuer).expect("a middle");
            let middle_issuer = Issuer::new(params("middle", true), &middle_key);
            let leaf = params("leaf", false).signed_by(&key(), &middle_issuer).expect("a leaf");
            let (root, middle, leaf) = (parse(&root.pem()), parse(&middle.pem()), parse(&leaf.pem()));
            assert_eq!(trust(&[leaf.clone(), middle.clone()].concat(), &root), Trust::Yes);
            assert_eq!(trust(&leaf, &middle), Trust::Yes);
            assert_eq!(trust(&leaf, &root), Trust::No, "the middle is not served");
            assert_eq!(trust(&middle, &leaf), Trust::No);
        }
    }

    #[test]
    fn only_authorities_sign() {
        let key = KeyPair::generate().expect("a key");
        let root = parse(&params("root", false).self_signed(&key).expect("a root").pem());
        let issuer = Issuer::new(params("root", true), &key);
        let leaf =
            params("leaf", false).signed_by(&KeyPair::generate().expect("a key"), &issuer).expect("a leaf");
        assert_eq!(trust(&parse(&leaf.pem()), &root), Trust::No);
    }

    #[test]
    fn what_is_no_certificate_says_so() {
        assert!(from_base64_pem("!").is_err());
        assert!(from_base64_pem("").is_ok_and(|none| none.is_empty()));
        let broken = STANDARD.encode("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        assert!(from_base64_pem(&broken).is_err_and(|e| e.starts_with("not a certificate")));
    }
}
