//! Kubernetes versions as servers and kubelets state them, vendor suffixes included. Parsing only: which versions a
//! Linkerd release supports is knowledge, not code.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A Kubernetes minor such as 1.31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct K8sMinor {
    /// Always 1 so far.
    pub major: u16,
    /// 31 in 1.31.
    pub minor: u16,
}

impl K8sMinor {
    /// `K8sMinor::new(1, 31)` is 1.31.
    pub const fn new(major: u16, minor: u16) -> Self {
        K8sMinor { major, minor }
    }
}

impl fmt::Display for K8sMinor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for K8sMinor {
    type Err = InvalidK8sVersion;

    fn from_str(text: &str) -> Result<Self, InvalidK8sVersion> {
        text.parse::<K8sVersion>().map(|version| version.minor())
    }
}

impl Serialize for K8sMinor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

deserialize_by_text!(K8sMinor);

/// A distribution that marks its version strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distribution {
    /// Amazon EKS, `-eks-...`.
    Eks,
    /// Google GKE, `-gke.N`.
    Gke,
    /// k3s and k3d, `+k3sN`.
    K3s,
    /// RKE2, `+rke2rN`.
    Rke2,
    /// k0s, `+k0s`.
    K0s,
    /// OpenShift kubelets: a plus sign and an abbreviated commit.
    OpenShift,
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distribution::Eks => "EKS",
            Distribution::Gke => "GKE",
            Distribution::K3s => "k3s",
            Distribution::Rke2 => "RKE2",
            Distribution::K0s => "k0s",
            Distribution::OpenShift => "OpenShift",
        })
    }
}

/// A server's `gitVersion` or a node's `kubeletVersion`. Equality and order look at the numbers, `Display` gives the
/// string as written.
#[derive(Debug, Clone)]
pub struct K8sVersion {
    raw: String,
    minor: K8sMinor,
    patch: Option<u16>,
    suffix_at: usize,
}

impl K8sVersion {
    /// The minor, the unit of version support.
    pub fn minor(&self) -> K8sMinor {
        self.minor
    }

    /// The patch number, if the string has one.
    pub fn patch(&self) -> Option<u16> {
        self.patch
    }

    /// The string as written.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The distribution from the suffix. AKS, kubeadm and others add none, so `None` does not mean upstream.
    pub fn distribution(&self) -> Option<Distribution> {
        let suffix = &self.raw[self.suffix_at..];
        let commit = |s: &str| s.len() >= 7 && s.bytes().all(|b| b.is_ascii_hexdigit());
        if suffix.contains("-eks-") {
            Some(Distribution::Eks)
        } else if suffix.contains("-gke.") {
            Some(Distribution::Gke)
        } else if suffix.contains("+k3s") {
            Some(Distribution::K3s)
        } else if suffix.contains("+rke2") {
            Some(Distribution::Rke2)
        } else if suffix.contains("+k0s") || suffix.contains("-k0s") {
            Some(Distribution::K0s)
        } else if suffix.strip_prefix('+').is_some_and(commit) {
            Some(Distribution::OpenShift)
        } else {
            None
        }
    }

    fn key(&self) -> (K8sMinor, u16) {
        (self.minor, self.patch.unwrap_or(0))
    }
}

impl PartialEq for K8sVersion {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for K8sVersion {}

impl PartialOrd for K8sVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for K8sVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for K8sVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.raw)
    }
}

/// A string that is not a Kubernetes version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a Kubernetes version: expected something like v1.31.5 or v1.31.5-eks-1a2b3c4")]
pub struct InvalidK8sVersion(String);

impl FromStr for K8sVersion {
    type Err = InvalidK8sVersion;

    fn from_str(text: &str) -> Result<Self, InvalidK8sVersion> {
        let invalid = || InvalidK8sVersion(text.chars().take(80).collect());
        let raw = text.trim();
        let start = usize::from(raw.starts_with('v'));
        let digits = raw[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(raw.len(), |at| start + at);
        let mut parts = raw[start..digits].trim_end_matches('.').split('.').map(|part| part.parse::<u16>());
        let mut next = || parts.next().transpose().map_err(|_| invalid());
        let (major, minor) = next()?.zip(next()?).ok_or_else(invalid)?;
        let patch = next()?;
        if major == 0 {
            return Err(invalid());
        }
        Ok(K8sVersion { raw: raw.to_owned(), minor: K8sMinor { major, minor }, patch, suffix_at: digits })
    }
}

impl Serialize for K8sVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.raw)
    }
}

deserialize_by_text!(K8sVersion);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn suffixes_are_cut_and_remembered() {
        for (text, minor, distribution) in [
            ("v1.31.5-eks-8cce635", 31, Some(Distribution::Eks)),
            ("v1.27.3-gke.1700", 27, Some(Distribution::Gke)),
            ("v1.28.2+k3s1", 28, Some(Distribution::K3s)),
            ("v1.34.1+rke2r1", 34, Some(Distribution::Rke2)),
            ("v1.30.0+k0s", 30, Some(Distribution::K0s)),
            ("v1.27.8+4fab27b", 27, Some(Distribution::OpenShift)),
            ("v1.34.0", 34, None),
            ("1.31+", 31, None),
        ] {
            let version: K8sVersion = text.parse().expect(text);
            assert_eq!(version.minor(), K8sMinor::new(1, minor), "{text}");
            assert_eq!(version.distribution(), distribution, "{text}");
            assert_eq!(version.to_string(), text);
        }
        for text in ["", "v", "1", "x1.2", "v1.x", "v1..2", "v99999999.1"] {
            assert!(text.parse::<K8sVersion>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,30}", shaped in "v?[0-9.+a-z-]{0,16}") {
            for candidate in [text, shaped] {
                if let Ok(version) = candidate.parse::<K8sVersion>() {
                    let _ = version.distribution();
                    prop_assert_eq!(version.to_string(), candidate.trim());
                }
            }
        }
    }
}
