//! Compact form of a bundle of trust anchors from a proxy's environment: enough to compare it with
//! the current text, and to find anchors that two bundles share. In a thousand pods the PEM itself
//! would take a megabyte.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{Certificate, sha256};
use crate::redact::{pem_blocks, read_by_proxies};

/// Fingerprints of a bundle: of its text, and of each certificate in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundlePrint {
    text: u64,
    anchors: BTreeSet<u64>,
}

impl BundlePrint {
    /// The prints of a PEM text. Surrounding blanks are ignored, as in `linkerd check`.
    pub fn from_pem(pem: &str) -> BundlePrint {
        let certificates = pem_blocks(pem.as_bytes()).into_iter().filter(|block| block.label == "CERTIFICATE");
        BundlePrint { text: hash(pem.trim().as_bytes()), anchors: certificates.map(|block| hash(&block.der)).collect() }
    }

    /// The written form of the prints of a PEM text after `sanitize`. Caches the last text: a list
    /// of pods repeats the same one thousands of times.
    pub fn sanitized(pem: &str, sanitize: impl FnOnce(&str) -> Cow<'_, str>) -> String {
        thread_local! {
            static LAST: RefCell<(String, String)> = const { RefCell::new((String::new(), String::new())) };
        }
        LAST.with_borrow_mut(|(text, prints)| {
            if text != pem || prints.is_empty() {
                let clean = sanitize(pem);
                let read = BundlePrint::from_pem(&read_by_proxies(&clean));
                *prints = BundlePrint { text: hash(clean.trim().as_bytes()), ..read }.to_string();
                pem.clone_into(text);
            }
            prints.clone()
        })
    }

    /// Whether both have the same text.
    pub fn same_text(&self, other: &BundlePrint) -> bool {
        self.text == other.text
    }

    /// Whether both hold the same certificates, in any order.
    pub fn same_anchors(&self, other: &BundlePrint) -> bool {
        self.anchors == other.anchors
    }

    /// Whether both share a certificate.
    pub fn overlaps(&self, other: &BundlePrint) -> bool {
        !self.anchors.is_disjoint(&other.anchors)
    }

    /// Whether it holds no certificates.
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }

    /// Whether it holds a certificate that the other does not.
    pub fn exceeds(&self, other: &BundlePrint) -> bool {
        !self.anchors.is_subset(&other.anchors)
    }

    /// Whether it holds a certificate.
    pub fn has(&self, certificate: &Certificate) -> bool {
        self.anchors.contains(&hash(&certificate.der))
    }

    /// The prints of the certificates, as reports show them.
    pub fn shown(&self) -> String {
        match self.anchors.len() {
            0 => "no certificate".to_owned(),
            _ => {
                let prints = self.anchors.iter().map(|anchor| format!("sha256 {:08x}...", anchor >> 32));
                prints.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// `TEXT ANCHOR ANCHOR`, each 16 hex digits.
impl fmt::Display for BundlePrint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.text)?;
        self.anchors.iter().try_for_each(|anchor| write!(f, " {anchor:016x}"))
    }
}

impl FromStr for BundlePrint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<BundlePrint, Self::Err> {
        let mut prints = text.split(' ').map(|print| u64::from_str_radix(print, 16));
        let text = prints.next().unwrap_or(Ok(0))?;
        Ok(BundlePrint { text, anchors: prints.collect::<Result<_, _>>()? })
    }
}

/// The first 8 bytes of a SHA-256.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    sha256(bytes).iter().take(8).fold(0, |print, byte| print << 8 | u64::from(*byte))
}
