//! Whether a chain leads to a trusted certificate: names, signatures and what each certificate allows those
//! below it. Follows Go's verifier for server certificates. Does not check validity times: the caller selects
//! the usable certificates.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{Decode, Reader, SliceReader};

use super::key::Key;
use super::{Certificate, Purpose};

/// The limit on signature checks, equal to that of Go's verifier.
const MAX_SIGNATURES: usize = 100;

/// Whether a chain leads to a trusted certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The signatures lead to one, but a constraint forbids the chain.
    Barred(Obstacle),
    /// A signature in the chain uses this unsupported algorithm.
    Unknown(String),
}

/// The constraint that forbids a chain with valid signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A certificate has a critical extension that Go does not know and therefore rejects.
    Extension,
    /// An authority allows fewer authorities below itself.
    PathLength,
    /// A certificate has extended key usages without TLS server.
    Purpose,
    /// The name constraints of an authority exclude a name below it.
    Names,
}

/// A chain from the first served certificate to a trusted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The indices of the intermediates in `served`, starting with the one that signed the first
    /// certificate.
    pub between: Vec<usize>,
    /// The index of the trusted certificate.
    pub anchor: usize,
    /// The constraint that forbids it, if any.
    pub obstacle: Option<Obstacle>,
}

/// The trusted certificates that a chain leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reached {
    /// Their indices in `trusted`, in order.
    pub anchors: Vec<usize>,
    /// Every path with valid signatures, including forbidden ones.
    pub paths: Vec<Path>,
    /// An unsupported signature algorithm on the way: there may be more paths.
    pub unknown: Option<String>,
}

impl Reached {
    /// A constraint, if every chain is forbidden.
    pub fn obstacle(&self) -> Option<Obstacle> {
        if self.anchors.is_empty() { self.paths.iter().filter_map(|path| path.obstacle).min() } else { None }
    }
}

/// Whether the first certificate of `served` chains to one of `trusted`, through the others.
pub fn trust(served: &[Certificate], trusted: &[Certificate]) -> Trust {
    let reached = reach(served, trusted, &|_| true);
    match (reached.anchors.is_empty(), reached.obstacle(), reached.unknown) {
        (false, _, _) => Trust::Yes,
        (true, _, Some(algorithm)) => Trust::Unknown(algorithm),
        (true, Some(obstacle), None) => Trust::Barred(obstacle),
        (true, None, None) => Trust::No,
    }
}

/// Which of `trusted` the first certificate of `served` chains to, through the others. Above the
/// first, only certificates that `usable` accepts are used.
pub fn reach(served: &[Certificate], trusted: &[Certificate], usable: &dyn Fn(&Certificate) -> bool) -> Reached {
    let mut walk = PathSearch { served, trusted, usable, left: MAX_SIGNATURES, found: Reached::default() };
    if !served.is_empty() {
        walk.up(&mut Vec::new());
    }
    let mut found = walk.found;
    found.anchors = found.paths.iter().filter(|path| path.obstacle.is_none()).map(|path| path.anchor).collect();
    found.anchors.sort_unstable();
    found.anchors.dedup();
    found
}

/// A depth-first search for paths.
struct PathSearch<'a> {
    served: &'a [Certificate],
    trusted: &'a [Certificate],
    usable: &'a dyn Fn(&Certificate) -> bool,
    /// Remaining signature checks: chains are hostile input.
    left: usize,
    found: Reached,
}

impl PathSearch<'_> {
    /// Continues from the last of `between` (indexes into `served`), or from the first certificate if it is empty.
    fn up(&mut self, between: &mut Vec<usize>) {
        let at = &self.served[between.last().copied().unwrap_or(0)];
        for (anchor, root) in self.trusted.iter().enumerate() {
            if (self.usable)(root) && (root == at || self.signed(at, root)) {
                let obstacle = self.obstacle(between, root);
                self.found.paths.push(Path { between: between.clone(), anchor, obstacle });
            }
        }
        for next in 1..self.served.len() {
            let certificate = &self.served[next];
            let used = next == 0 || certificate == at || between.contains(&next);
            if !used && (self.usable)(certificate) && self.signed(at, certificate) {
                between.push(next);
                self.up(between);
                between.pop();
            }
        }
    }

    fn signed(&mut self, at: &Certificate, by: &Certificate) -> bool {
        if at.parsed.tbs_certificate().issuer() != by.parsed.tbs_certificate().subject() {
            return false;
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.found.unknown = Some(format!("more than {MAX_SIGNATURES} signatures to look at"));
            return false;
        };
        self.left = left;
        at.signed_by(by).unwrap_or_else(|algorithm| {
            self.found.unknown = Some(algorithm);
            false
        })
    }

    fn obstacle(&self, between: &[usize], root: &Certificate) -> Option<Obstacle> {
        let mut below = vec![&self.served[0]];
        if below[0].demands_the_unknown() {
            return Some(Obstacle::Extension);
        }
        let above = between.iter().map(|place| &self.served[*place]);
        for authority in above.chain((root != below[0]).then_some(root)) {
            if authority.demands_the_unknown() {
                return Some(Obstacle::Extension);
            }
            // The first certificate counts as an end, as for every verifier.
            if authority.path_length().is_some_and(|allowed| usize::from(allowed) < below.len() - 1) {
                return Some(Obstacle::PathLength);
            }
            if below.iter().any(|certificate| !certificate.names().iter().all(|name| authority.permits(name))) {
                return Some(Obstacle::Names);
            }
            below.push(authority);
        }
        let serves = below.iter().all(|certificate| certificate.lets(Purpose::Server));
        (!serves).then_some(Obstacle::Purpose)
    }
}

impl Certificate {
    /// Whether `issuer`, whose subject matches, signed it; the error names an unsupported
    /// algorithm.
    fn signed_by(&self, issuer: &Certificate) -> Result<bool, String> {
        if !issuer.is_authority() || !issuer.signs_certificates() {
            return Ok(false);
        }
        let signed_with = self.signed_with();
        if signed_with.contains("SHA1") || !fits(&signed_with, &issuer.key()) {
            return Ok(false);
        }
        let algorithm = algorithm(&signed_with, &issuer.key())
            .ok_or_else(|| format!("signature algorithm {signed_with} by a key of {}", issuer.key()))?;
        let other = issuer.parsed.tbs_certificate();
        let key = other.subject_public_key_info().subject_public_key.as_bytes();
        let (Some(key), Some(signature), Some(message)) =
            (key, self.parsed.signature().as_bytes(), signed_part(&self.der))
        else {
            return Ok(false);
        };
        Ok(UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok())
    }
}

/// Whether a key of that kind can make a signature of that kind; true if unknown.
fn fits(signed_with: &str, key: &Key) -> bool {
    match key {
        Key::Rsa(_) => !signed_with.starts_with("ECDSA") && signed_with != "Ed25519",
        Key::Ecdsa(_) => !signed_with.ends_with("RSA") && signed_with != "Ed25519",
        Key::Ed25519 => !signed_with.ends_with("RSA") && !signed_with.starts_with("ECDSA"),
        Key::Other(_) => true,
    }
}

/// The ring algorithm for a signature by a key of that kind.
fn algorithm(signed_with: &str, key: &Key) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match (signed_with, key) {
        // Go also accepts short keys.
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

/// The bytes that a certificate's signature covers, unchanged: the first element of its sequence.
fn signed_part(der: &[u8]) -> Option<&[u8]> {
    let certificate = AnyRef::from_der(der).ok()?;
    SliceReader::new(certificate.value()).ok()?.tlv_bytes().ok()
}
