//! A stretch of releases in which something holds.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, MinorTable, Release};

/// From the first release that has something until the first that has not. Open-source stable releases are judged by the
/// `stable` bounds, everything else by the edges; a missing bound is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReleaseRange {
    /// First edge in the range.
    pub from: Option<EdgeTag>,
    /// First stable release in the range; `None` beside an edge: it never came to one.
    pub from_stable: Option<Release>,
    /// First edge past the range.
    pub until: Option<EdgeTag>,
    /// First stable release past the range.
    pub until_stable: Option<Release>,
    /// Something else that has to hold within the range, in words.
    pub when: Option<String>,
    /// The chart values, by path, that `when` comes down to, as far as it does. A value that is not set counts as false.
    #[serde(default)]
    pub values: BTreeMap<String, bool>,
    /// The chart values, by path, with which the injector refuses the pod, rather than leave the thing out. Empty: never.
    #[serde(default)]
    pub refused: BTreeMap<String, bool>,
}

impl ReleaseRange {
    /// Whether `version` lies in the range, `when` left aside.
    pub fn covers(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.begun(version, minors).and(!self.ended(version, minors))
    }

    /// Whether `version` is at or past the beginning.
    pub fn begun(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        match (self.from, self.from_stable) {
            (None, None) => Contains::Yes,
            (edge, stable) => version.contains(&Introduced { edge, stable, minor: None }, minors),
        }
    }

    /// Whether `version` is past the end.
    pub fn ended(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        match (self.until, self.until_stable) {
            (None, None) => Contains::No,
            (edge, stable) => version.contains(&Introduced { edge, stable, minor: None }, minors),
        }
    }
}
