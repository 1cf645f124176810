//! Tests whether a private key matches a certificate, before the key is dropped.
//!
//! Only the result leaves this module.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair};
use serde::{Deserialize, Serialize};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use super::pem::{block, restored};
use super::shapes::looks_certified;

/// Whether the private key matches the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyMatches {
    /// The public key of the key is that of the certificate.
    True,
    /// It is not.
    False,
    /// Linkerd cannot read the key: another block precedes it, it is encrypted or mislabelled, or it is an Ed25519 key.
    Unreadable,
    /// The Secret was read directly from the cluster, and has no entry for a key.
    Absent,
    /// The Secret was read directly from the cluster, and its entry for the key is empty.
    Empty,
    /// The key or certificate is missing, or in an unknown format.
    Unknown,
}

impl KeyMatches {
    /// As it is written in the annotation.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyMatches::True => "true",
            KeyMatches::False => "false",
            KeyMatches::Unreadable => "unreadable",
            KeyMatches::Absent => "absent",
            KeyMatches::Empty => "empty",
            KeyMatches::Unknown => "unknown",
        }
    }
}

impl KeyMatches {
    /// Value of an annotation.
    pub fn parse(annotation: Option<&str>) -> KeyMatches {
        use KeyMatches::{Absent, Empty, False, True, Unknown, Unreadable};
        let known = [True, False, Unreadable, Absent, Empty];
        known.into_iter().find(|answer| annotation == Some(answer.as_str())).unwrap_or(Unknown)
    }
}

/// Block labels of keys that Linkerd reads. It reads only the first block.
const READ: [&str; 3] = ["EC PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY"];

/// Compares the first certificate of a PEM text with the private key of another.
pub fn key_matches(certificates: &[u8], key: &[u8]) -> KeyMatches {
    let key = String::from_utf8_lossy(key);
    let Some((label, key, _)) = block(&key) else { return KeyMatches::Unknown };
    if !READ.contains(&label) || is_ed25519(&key) || is_mislabelled(label, &key) {
        return KeyMatches::Unreadable;
    }
    compare(certificates, label, &key)
        .map_or(KeyMatches::Unknown, |same| if same { KeyMatches::True } else { KeyMatches::False })
}

fn compare(certificates: &[u8], label: &str, key: &[u8]) -> Option<bool> {
    let certificate = blocks(certificates).into_iter().find(|block| block.label == "CERTIFICATE")?;
    let certificate = Certificate::from_der(&certificate.der).ok()?;
    let spki = certificate.tbs_certificate().subject_public_key_info();
    let algorithm = spki.algorithm.oid.to_string();
    let curve = spki.algorithm.parameters.as_ref().and_then(|any| any.to_der().ok());
    let public = spki.subject_public_key.as_bytes()?;

    match label {
        "RSA PRIVATE KEY" => same_rsa(key, &algorithm, public),
        "EC PRIVATE KEY" => same_ec(key, &algorithm, curve.as_deref(), public),
        _ => same_pkcs8(key, &algorithm, curve.as_deref(), public),
    }
}

const RSA: &str = "1.2.840.113549.1.1.1";
const EC: &str = "1.2.840.10045.2.1";
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// Parts of a PKCS#8 key: algorithm, parameters, and key.
fn pkcs8(der: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut fields = Der(Der(der).take(0x30)?);
    fields.take(0x02)?;
    let mut identifier = Der(fields.take(0x30)?);
    let oid = identifier.take(0x06)?;
    Some((oid, identifier.0, fields.take(0x04)?))
}

fn is_ed25519(der: &[u8]) -> bool {
    pkcs8(der).is_some_and(|(oid, ..)| oid == ED25519)
}

/// Whether a key has the format of another label than its own. Go uses the label.
fn is_mislabelled(label: &str, der: &[u8]) -> bool {
    let form = |second| {
        Der(der).take(0x30).is_some_and(|fields| {
            let mut fields = Der(fields);
            fields.take(0x02).is_some() && fields.take(second).is_some()
        })
    };
    // The element after the version: a number in PKCS#1, the key in SEC 1, the algorithm in PKCS#8.
    let forms = [("RSA PRIVATE KEY", form(0x02)), ("EC PRIVATE KEY", form(0x04)), ("PRIVATE KEY", form(0x30))];
    forms.into_iter().any(|(of, is_it)| is_it && of != label)
}

fn same_pkcs8(der: &[u8], algorithm: &str, curve: Option<&[u8]>, public: &[u8]) -> Option<bool> {
    let (oid, parameters, inner) = pkcs8(der)?;
    match oid {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01] => same_rsa(inner, algorithm, public),
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] => {
            let other = algorithm != EC || curve.is_some_and(|curve| curve != parameters);
            if other { Some(false) } else { same_ec(inner, algorithm, curve, public) }
        }
        _ => None,
    }
}

/// PKCS#1: key and certificate contain the same modulus and exponent.
fn same_rsa(der: &[u8], algorithm: &str, public: &[u8]) -> Option<bool> {
    let mut private = Der(Der(der).take(0x30)?);
    private.take(0x02)?;
    let (modulus, exponent) = (private.take(0x02)?, private.take(0x02)?);
    if algorithm != RSA {
        return Some(false);
    }
    let mut certified = Der(Der(public).take(0x30)?);
    Some((modulus, exponent) == (certified.take(0x02)?, certified.take(0x02)?))
}

/// SEC 1: ring accepts the private half only with the matching public half.
fn same_ec(der: &[u8], algorithm: &str, curve: Option<&[u8]>, public: &[u8]) -> Option<bool> {
    let mut fields = Der(Der(der).take(0x30)?);
    fields.take(0x02)?;
    let private = fields.take(0x04)?;
    let own_curve = fields.take(0xa0);
    let own_public = fields.take(0xa1).and_then(|bits| Der(bits).take(0x03)).and_then(|bits| bits.get(1..));
    if algorithm != EC {
        return Some(false);
    }
    if let (Some(own), Some(certified)) = (own_curve, curve)
        && own != certified
    {
        return Some(false);
    }
    let ring_algorithm = match curve? {
        [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] => &ECDSA_P256_SHA256_ASN1_SIGNING,
        [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22] => &ECDSA_P384_SHA384_ASN1_SIGNING,
        // ring does not support the curve: use the key's copy of its public half.
        _ => return own_public.map(|own| own == public),
    };
    let random = ring::rand::SystemRandom::new();
    Some(EcdsaKeyPair::from_private_key_and_public_key(ring_algorithm, private, public, &random).is_ok())
}

/// A DER reader, sufficient for the formats above.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Content of the next element if it has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&found, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        if found != tag {
            return None;
        }
        let mut len = usize::from(first);
        if first & 0x80 != 0 {
            let bytes = usize::from(first & 0x7f);
            if bytes == 0 || bytes > 4 || rest.len() < bytes {
                return None;
            }
            len = rest[..bytes].iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
            rest = &rest[bytes..];
        }
        let content = rest.get(..len)?;
        self.0 = &rest[len..];
        Some(content)
    }
}

/// One PEM block, decoded.
pub struct Block {
    pub label: String,
    pub der: Vec<u8>,
}

/// All complete PEM blocks of a text; invalid ones are skipped.
pub fn blocks(text: &[u8]) -> Vec<Block> {
    let text = String::from_utf8_lossy(text);
    let mut found = Vec::new();
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("-----BEGIN ") {
        rest = &rest[at + 11..];
        let Some((label, after)) = rest.split_once("-----") else { break };
        let Some((body, after)) = after.split_once(&format!("-----END {label}-----")) else { continue };
        let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
        if let Ok(der) = STANDARD.decode(body) {
            found.push(Block { label: label.to_owned(), der });
        }
        rest = after;
    }
    found
}

/// Replacement for a block that is not a certificate, at which Linkerd stops reading.
const STOP: &str = "-----BEGIN OTHER-----\n-----END OTHER-----\n";

/// Replacement for a private key: that there is one is no secret.
const STOP_AT_KEY: &str = "-----BEGIN REDACTED KEY-----\n-----END REDACTED KEY-----\n";

/// Replacement for an invalid certificate: an empty sequence.
const EMPTY: [u8; 2] = [0x30, 0x00];

/// The certificates of a PEM text that Go finds, as PEM; `None` if it finds none.
///
/// A certificate file may also contain the private key: only its position is kept. Text after the last block, which
/// Linkerd rejects, becomes an empty line, which it also rejects.
pub(super) fn certificates_only(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    // Damage stays, so that it can be reported.
    match restored(&text) {
        Some((damage, whole)) => found_certificates(&whole).map(|kept| damage.again(&kept, &text)),
        None => found_certificates(&text),
    }
}

fn found_certificates(text: &str) -> Option<String> {
    let (mut kept, mut stops, mut rest) = (String::new(), "", text);
    let mut found = false;
    while let Some((label, der, after)) = block(rest) {
        rest = after;
        if label != "CERTIFICATE" {
            let is_key = label.ends_with("PRIVATE KEY") || label == "REDACTED KEY";
            stops = if is_key { STOP_AT_KEY } else { STOP };
            continue;
        }
        found = true;
        // An invalid certificate stays invalid.
        let der = if looks_certified(&der) { der } else { EMPTY.to_vec() };
        kept.push_str(std::mem::take(&mut stops));
        kept.push_str("-----BEGIN CERTIFICATE-----\n");
        let body = STANDARD.encode(&der);
        for line in body.as_bytes().chunks(64) {
            kept.push_str(&String::from_utf8_lossy(line));
            kept.push('\n');
        }
        kept.push_str("-----END CERTIFICATE-----\n");
    }
    if stops == STOP_AT_KEY {
        kept.push_str(stops);
    } else if !rest.is_empty() && stops.is_empty() {
        kept.push('\n');
    }
    found.then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

    fn mk_pem(label: &str, der: &[u8]) -> String {
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
    }

    fn mk_certificate(key: &KeyPair) -> String {
        CertificateParams::new(vec!["identity.linkerd".into()]).unwrap().self_signed(key).unwrap().pem()
    }

    #[test]
    fn text_after_certificates_becomes_an_empty_line() {
        let (one, key) = (mk_pem("CERTIFICATE", &[0x30, 3, 0x30, 1, 0xa0]), mk_pem("PRIVATE KEY", b"y"));
        let kept = |text: &str| certificates_only(text.as_bytes());
        for with_key in [format!("{one}{key}"), format!("{one}{key}# secret\n"), format!("{one}{STOP_AT_KEY}")] {
            assert_eq!(kept(&with_key), Some(format!("{one}{STOP_AT_KEY}")), "{with_key}");
        }
        let other = mk_pem("X509 CRL", b"y");
        for whole in [
            one.clone(),
            one.trim_end().to_owned(),
            format!("{one}{other}"),
            format!("{one}{other}# secret\n"),
            format!("# secret\n{one}"),
        ] {
            assert_eq!(kept(&whole), Some(one.clone()), "{whole}");
        }
        for more in [
            format!("{one}\n"),
            format!("{one}# secret\n"),
            format!("{one}  "),
            format!("{one}{}", &one[..30]),
            format!("{one}{}", one.replace('\n', "\r")),
        ] {
            assert_eq!(kept(&more), Some(format!("{one}\n")), "{more}");
        }
        for behind in [format!("{key}{one}"), format!("{key}# secret\n{key}{one}")] {
            assert_eq!(kept(&behind), Some(format!("{STOP_AT_KEY}{one}")), "{behind}");
        }
        // Damage that can be undone stays as it is.
        let joined = format!("{}{one}", one.trim_end());
        assert_eq!(kept(&joined), Some(joined.clone()));
        assert_eq!(kept(&format!("{joined}{key}")), Some(format!("{joined}{STOP_AT_KEY}")));
        assert_eq!(kept(&format!("{joined}{one}")), Some(format!("{joined}{one}")));
        let unseen = [format!("\u{feff}{one}"), one.replace('\n', "\r")];
        for text in unseen {
            assert_eq!(kept(&text), None, "{text}");
        }
        assert_eq!((kept("garbage"), kept(&key)), (None, None));
    }

    #[test]
    fn ec_keys_are_distinguished_on_every_curve() {
        for algorithm in [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384] {
            let (own, other) = (KeyPair::generate_for(algorithm).unwrap(), KeyPair::generate_for(algorithm).unwrap());
            let certificate = mk_certificate(&own);
            let matches = |key: &str| key_matches(certificate.as_bytes(), key.as_bytes());
            assert_eq!(matches(&own.serialize_pem()), KeyMatches::True);
            assert_eq!(matches(&other.serialize_pem()), KeyMatches::False);
            let foreign = KeyPair::generate_for(&PKCS_ED25519).unwrap();
            assert_eq!(matches(&foreign.serialize_pem()), KeyMatches::Unreadable);
            assert_eq!(
                key_matches(mk_certificate(&foreign).as_bytes(), own.serialize_pem().as_bytes()),
                KeyMatches::False
            );
            let mislabelled = own.serialize_pem().replace("PRIVATE KEY", "EC PRIVATE KEY");
            assert_eq!(matches(&mislabelled), KeyMatches::Unreadable);
            // Go recognizes a key by its lines.
            for unread in
                [own.serialize_pem().replace("-----B", "  -----B"), format!("\u{feff}{}", own.serialize_pem())]
            {
                assert_eq!(matches(&unread), KeyMatches::Unknown, "{unread}");
            }
        }
    }

    #[test]
    fn sec1_keys_as_openssl_and_step_write_them_are_compared() {
        let (own, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let sec1 = |key: &KeyPair| {
            let der = key.serialize_der();
            let mut fields = Der(Der(&der).take(0x30).unwrap());
            fields.take(0x02).unwrap();
            fields.take(0x30).unwrap();
            mk_pem("EC PRIVATE KEY", fields.take(0x04).unwrap())
        };
        let certificate = mk_certificate(&own);
        assert_eq!(key_matches(certificate.as_bytes(), sec1(&own).as_bytes()), KeyMatches::True);
        assert_eq!(key_matches(certificate.as_bytes(), sec1(&other).as_bytes()), KeyMatches::False);
    }

    #[test]
    fn rsa_keys_are_compared_by_modulus_and_exponent() {
        let int = |value: u8| vec![0x02, 0x01, value];
        let seq = |parts: &[Vec<u8>]| {
            let body = parts.concat();
            [vec![0x30, u8::try_from(body.len()).unwrap()], body].concat()
        };
        let key = |n, e| seq(&[int(0), int(n), int(e), int(9)]);
        let public = seq(&[int(33), int(3)]);
        assert_eq!(same_rsa(&key(33, 3), RSA, &public), Some(true));
        assert_eq!(same_rsa(&key(35, 3), RSA, &public), Some(false));
        assert_eq!(same_rsa(&key(33, 3), EC, &public), Some(false));
        assert_eq!(same_rsa(b"\x30\x84\xff\xff\xff\xff", RSA, &public), None);
    }

    #[test]
    fn incomparable_key_is_unknown() {
        let own = KeyPair::generate().unwrap();
        let certificate = mk_certificate(&own);
        for key in ["", "garbage", &mk_pem("PRIVATE KEY", b"\x30\x03\x02\x01")] {
            assert_eq!(key_matches(certificate.as_bytes(), key.as_bytes()), KeyMatches::Unknown, "{key}");
        }
        assert_eq!(key_matches(b"", own.serialize_pem().as_bytes()), KeyMatches::Unknown);
        // As `openssl ecparam -genkey` writes it, and as openssl encrypts it.
        let behind = format!("{}{}", mk_pem("EC PARAMETERS", b"x"), own.serialize_pem());
        for key in [behind, mk_pem("ENCRYPTED PRIVATE KEY", b"x")] {
            assert_eq!(key_matches(certificate.as_bytes(), key.as_bytes()), KeyMatches::Unreadable, "{key}");
        }
    }

    #[test]
    fn key_next_to_certificate_is_dropped() {
        let own = KeyPair::generate().unwrap();
        let certificate = mk_certificate(&own);
        let kept = certificates_only(format!("{}{certificate}{certificate}", own.serialize_pem()).as_bytes()).unwrap();
        assert_eq!(kept.matches("BEGIN CERTIFICATE").count(), 2);
        assert!(!kept.contains("PRIVATE"));
        assert_eq!(certificates_only(kept.as_bytes()), Some(kept.clone()));
        assert_eq!(certificates_only(own.serialize_pem().as_bytes()), None);
    }
}
