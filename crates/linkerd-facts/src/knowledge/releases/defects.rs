//! Defects of releases, and edges that upstream advises against.

use serde::Deserialize;

use crate::knowledge::range::ReleaseRange;
use crate::version::{Contains, EdgeTag, LinkerdVersion, Minor, MinorTable, Release};

/// A defect, and the releases that have it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Defect {
    /// Name of the row.
    pub id: String,
    /// The problem.
    pub what: String,
    from: EdgeTag,
    from_stable: Option<Release>,
    /// The first edge without it.
    pub until: EdgeTag,
    /// The first minor that certainly does not have it.
    pub fixed_in_minor: Minor,
    /// Source of the information.
    pub source: String,
}

/// Edges that upstream advises against.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NotRecommended {
    /// Which.
    pub edges: Vec<EdgeTag>,
    /// The problem.
    pub why: String,
    /// The edge to use instead, or a later one.
    #[serde(rename = "use")]
    pub instead: EdgeTag,
}

impl Defect {
    /// Whether `version` has the defect. A vendor's build of an affected minor may have the fix: unknown.
    pub fn affects(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        let range = ReleaseRange {
            from: Some(self.from),
            from_stable: self.from_stable,
            until: Some(self.until),
            ..ReleaseRange::default()
        };
        range.covers(version, minors)
    }
}
