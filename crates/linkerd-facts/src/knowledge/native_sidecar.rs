//! `native-sidecar.yaml`: annotations that make the proxy a native sidecar, their precedence, and releases.

use serde::Deserialize;

use super::Knowledge;
use super::file::KnowledgeFile;
use super::nearest;
use crate::version::{Contains, EdgeTag, Introduced, K8sMinor, LinkerdVersion};

/// The native-sidecar switch through the releases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NativeSidecar {
    source: String,
    date: jiff::civil::Date,
    reads: Vec<Reads>,
    default_on: EdgeTag,
    chart_value: String,
    kubernetes: Kubernetes,
    cni_plugin: semver::Version,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Reads {
    from: EdgeTag,
    keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Kubernetes {
    exists: K8sMinor,
    on_by_default: K8sMinor,
}

/// Keys that an injector reads, in order of precedence: the first present one applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeysRead<'a> {
    /// Exactly these; empty: the release has no native sidecars.
    Exactly(&'a [String]),
    /// At least these, which the edge that opened the minor reads; the build may also read newer ones.
    AtLeast(&'a [String]),
    /// Unknown for the version.
    Unknown,
}

impl<'a> KeysRead<'a> {
    /// Keys that are certainly read, in order of precedence.
    pub fn known(self) -> &'a [String] {
        match self {
            KeysRead::Exactly(keys) | KeysRead::AtLeast(keys) => keys,
            KeysRead::Unknown => &[],
        }
    }
}

impl NativeSidecar {
    /// Keys that the injector of `version` reads.
    pub fn keys_read_by(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> KeysRead<'_> {
        let minors = knowledge.minors();
        let mut unsure = false;
        for reads in self.reads.iter().rev() {
            match version.contains(&Introduced::at_edge(reads.from), minors) {
                Contains::Yes if unsure => return KeysRead::AtLeast(&reads.keys),
                Contains::Yes => return KeysRead::Exactly(&reads.keys),
                Contains::Unknown => unsure = true,
                Contains::No => {}
            }
        }
        if unsure { KeysRead::Unknown } else { KeysRead::Exactly(&[]) }
    }

    /// Keys that any release reads, in order of precedence.
    pub fn all_keys(&self) -> &[String] {
        self.reads.last().map_or(&[], |reads| &reads.keys)
    }

    /// Whether the key is one of the switches, or a misspelling of one or with another prefix.
    pub fn is_native_sidecar_family(&self, key: &str) -> bool {
        if self.all_keys().iter().any(|known| known == key) {
            return true;
        }
        let (domain, name) = key.split_once('/').unwrap_or(("linkerd", key));
        if !domain.contains("linkerd") {
            return false;
        }
        let core = nearest::core(&name.to_ascii_lowercase());
        let wanted = nearest::core("native-sidecar");
        let swapped = nearest::core("native-side-car");
        nearest::edit_distance(&core, &wanted, 3).is_some()
            || nearest::edit_distance(&core, &swapped, 2).is_some()
            || (core.contains("native") && core.contains("sidecar"))
    }

    /// Whether the proxy is a native sidecar by default, without annotation and chart value.
    pub fn default_native(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.default_on), knowledge.minors())
    }

    /// The chart value that applies without annotation.
    pub fn chart_value(&self) -> &str {
        &self.chart_value
    }

    /// First Kubernetes minor with the feature (disabled by default).
    pub fn kubernetes_minimum(&self) -> K8sMinor {
        self.kubernetes.exists
    }

    /// First Kubernetes minor with the feature enabled by default.
    pub fn kubernetes_on_by_default(&self) -> K8sMinor {
        self.kubernetes.on_by_default
    }

    /// First linkerd-cni version that supports a proxy in the init containers.
    pub fn cni_plugin(&self) -> &semver::Version {
        &self.cni_plugin
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for NativeSidecar {
    const NAME: &'static str = "native-sidecar.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/native-sidecar.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.reads.is_empty() || self.reads.iter().any(|reads| reads.keys.is_empty()) {
            return Err("reads needs at least one row, and each row a key".to_owned());
        }
        self.reads.sort_by_key(|reads| reads.from);
        Ok(())
    }
}
