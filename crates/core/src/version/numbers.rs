//! Version numbers of Linkerd: edges by date, releases by version, minors as the unit of skew, and the table
//! that maps edges to minors. Channels and whole version strings are in `linkerd`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The date-like number of an edge release: `25.4.4` is the fourth edge of April 2025.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeTag {
    /// Two-digit year.
    pub year: u16,
    /// Month, not padded.
    pub month: u16,
    /// Number of the edge within its month.
    pub number: u16,
}

impl fmt::Display for EdgeTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edge-{}.{}.{}", self.year, self.month, self.number)
    }
}

impl FromStr for EdgeTag {
    type Err = InvalidVersion;

    /// Reads `edge-25.4.4`.
    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        text.strip_prefix("edge-")
            .and_then(dated)
            .ok_or_else(|| InvalidVersion { text: shorten(text), expected: "an edge such as edge-25.4.4" })
    }
}

/// The numbers of a release: `2.15.7`, or only `2.15`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// Always 2 so far.
    pub major: u16,
    /// The number that upstream's documentation calls the major version.
    pub minor: u16,
    /// Absent in a bare `2.17`, which sorts before every patch.
    pub patch: Option<u16>,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl FromStr for Release {
    type Err = InvalidVersion;

    /// Reads `2.14.10`, or only `2.14`.
    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        release(text).ok_or_else(|| InvalidVersion { text: shorten(text), expected: "a release such as 2.14.10" })
    }
}

/// A release line such as 2.17: the unit of version skew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor {
    /// Always 2 so far.
    pub major: u16,
    /// 17 in 2.17.
    pub minor: u16,
}

impl Minor {
    /// `Minor::new(2, 17)` is 2.17.
    pub const fn new(major: u16, minor: u16) -> Self {
        Minor { major, minor }
    }

    /// How many minors `self` is ahead of `other` (negative: behind); `None` across majors.
    pub fn ahead_of(self, other: Minor) -> Option<i32> {
        (self.major == other.major).then(|| i32::from(self.minor) - i32::from(other.minor))
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Minor {
    type Err = InvalidVersion;

    /// Reads `2.17`.
    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        match release(text) {
            Some(Release { major, minor, patch: None }) => Ok(Minor { major, minor }),
            Some(_) | None => Err(InvalidVersion { text: text.to_owned(), expected: "a minor such as 2.17" }),
        }
    }
}

/// The opening edge of each minor, oldest first. Read from the releases table of the knowledge files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MinorTable {
    rows: Vec<(EdgeTag, Minor)>,
}

impl MinorTable {
    /// Builds the table; the order of `rows` does not matter.
    pub fn new(rows: impl IntoIterator<Item = (EdgeTag, Minor)>) -> Self {
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_unstable();
        MinorTable { rows }
    }

    /// The newest minor whose opening edge is not newer than `edge`.
    pub fn minor_of(&self, edge: EdgeTag) -> Option<Minor> {
        self.rows.iter().rev().find(|(first, _)| *first <= edge).map(|(_, minor)| *minor)
    }

    /// The first minor that contains `edge`.
    pub fn first_with(&self, edge: EdgeTag) -> Option<Minor> {
        self.rows.iter().find(|(first, _)| *first >= edge).map(|(_, minor)| *minor)
    }

    /// The edge that opened `minor`.
    pub fn opened_by(&self, minor: Minor) -> Option<EdgeTag> {
        self.rows.iter().find(|(_, m)| *m == minor).map(|(edge, _)| *edge)
    }

    /// The newest minor in the table, with the edge that opened it.
    pub fn newest(&self) -> Option<(EdgeTag, Minor)> {
        self.rows.last().copied()
    }
}

/// A string that is not a Linkerd version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a Linkerd version: expected {expected}")]
pub struct InvalidVersion {
    pub(super) text: String,
    pub(super) expected: &'static str,
}

fn numbers(text: &str) -> Option<Vec<u16>> {
    text.split('.').map(|part| part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?).collect()
}

pub(super) fn dated(text: &str) -> Option<EdgeTag> {
    match *numbers(text)?.as_slice() {
        // Two digits of year; a four-digit one is a chart version.
        [year, month, number] if year < 100 && (1..=12).contains(&month) => Some(EdgeTag { year, month, number }),
        _ => None,
    }
}

pub(super) fn release(text: &str) -> Option<Release> {
    match *numbers(text)?.as_slice() {
        // Chart versions (2025.4.4) and plugin versions (1.6.2) have other meanings.
        [2, minor] => Some(Release { major: 2, minor, patch: None }),
        [2, minor, patch] => Some(Release { major: 2, minor, patch: Some(patch) }),
        _ => None,
    }
}

pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

deserialize_by_text!(EdgeTag, Release, Minor);

impl Serialize for EdgeTag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Minor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
