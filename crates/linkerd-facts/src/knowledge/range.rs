//! A range of releases.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, MinorTable, Release};

/// From the first release with something to the first without it. Open-source stable releases use the `stable` bounds,
/// all others the edges; a missing bound is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReleaseRange {
    /// First edge in the range.
    pub from: Option<EdgeTag>,
    /// First stable release in the range; `None` with an edge: no stable release has it.
    pub from_stable: Option<Release>,
    /// First edge after the range.
    pub until: Option<EdgeTag>,
    /// First stable release after the range.
    pub until_stable: Option<Release>,
    /// A further condition within the range, in words.
    pub when: Option<String>,
    /// Chart values, by path, that correspond to `when`, if any. A missing value counts as false.
    #[serde(default)]
    pub values: BTreeMap<String, bool>,
    /// Chart values, by path, with which the injector rejects the pod. Empty: never.
    #[serde(default)]
    pub refused: BTreeMap<String, bool>,
    /// Chart values, by path, with which linkerd-init of the pod fails. Empty: never.
    #[serde(default)]
    pub init_fails: BTreeMap<String, bool>,
}

/// The edges: `edge-25.1.1 and newer`.
impl fmt::Display for ReleaseRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.until) {
            (Some(from), Some(until)) => write!(f, "{from} to before {until}"),
            (Some(from), None) => write!(f, "{from} and newer"),
            (None, Some(until)) => write!(f, "before {until}"),
            (None, None) => f.write_str("all releases"),
        }
    }
}

impl ReleaseRange {
    /// Whether `version` is in the range, without `when`.
    pub fn covers(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.begun(version, minors).and(!self.ended(version, minors))
    }

    /// Whether `version` is at or after the start.
    pub fn begun(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        match (self.from, self.from_stable) {
            (None, None) => Contains::Yes,
            (edge, stable) => version.contains(&Introduced { edge, stable }, minors),
        }
    }

    /// Whether `version` is after the end.
    pub fn ended(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        match (self.until, self.until_stable) {
            (None, None) => Contains::No,
            (edge, stable) => version.contains(&Introduced { edge, stable }, minors),
        }
    }
}
