//! Linkerd version strings, including the channel. Parsing and ordering only; `contains` evaluates whether a
//! version contains a change.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::numbers::{EdgeTag, InvalidVersion, Minor, MinorTable, Release, dated, release, shorten};

/// The release channel of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// `stable-2.x.y`: the open-source stable releases, which ended with 2.14.
    Stable,
    /// `edge-YY.M.N`: the open-source releases.
    Edge,
    /// `enterprise-2.x.y[-H]`: Buoyant's builds, whose content is not public.
    Enterprise,
    /// `preview-YY.M.N`: Buoyant's previews, numbered by date like edges.
    Preview,
    /// `dev-...`: built on a developer's machine.
    Dev,
    /// `git-...`: built from one commit.
    Git,
    /// A bare `2.15.7`: the vendor is not stated. Up to 2.14 that can only be the open-source stable release; from 2.15
    /// on no open-source artifact carries such a number, so its content is as unknown as an enterprise build's.
    Unmarked,
}

impl Channel {
    /// The prefix as written in version strings, without the dash; empty for [`Channel::Unmarked`].
    pub fn prefix(self) -> &'static str {
        match self {
            Channel::Stable => "stable",
            Channel::Edge => "edge",
            Channel::Enterprise => "enterprise",
            Channel::Preview => "preview",
            Channel::Dev => "dev",
            Channel::Git => "git",
            Channel::Unmarked => "",
        }
    }
}

/// What follows the channel in a version string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Edges and previews.
    Dated(EdgeTag),
    /// Stable, enterprise and unmarked versions.
    Counted(Release),
    /// Dev and git builds: no order, no minor.
    Opaque(String),
}

/// A Linkerd version in a CLI, an image tag or an annotation. `Display` returns it as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkerdVersion {
    raw: String,
    channel: Channel,
    numbers: Numbers,
    hotpatch: Option<u32>,
    suffix: Option<String>,
}

impl LinkerdVersion {
    pub fn channel(&self) -> Channel {
        self.channel
    }

    /// The numbers behind the channel.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The `-1` of `enterprise-2.17.0-1`.
    pub fn hotpatch(&self) -> Option<u32> {
        self.hotpatch
    }

    /// The string as it was read, spaces around it removed.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The edge, if this is one.
    pub fn edge(&self) -> Option<EdgeTag> {
        match (self.channel, &self.numbers) {
            (Channel::Edge, Numbers::Dated(tag)) => Some(*tag),
            _ => None,
        }
    }

    /// The release numbers of a stable, enterprise or unmarked version.
    pub fn release(&self) -> Option<Release> {
        match &self.numbers {
            Numbers::Counted(release) => Some(*release),
            Numbers::Dated(_) | Numbers::Opaque(_) => None,
        }
    }

    /// The minor it belongs to, for counting skew. Edges and previews belong to the newest minor that had been opened
    /// at their date; dev and git builds belong to none. Never gate a fix on this: see [`LinkerdVersion::contains`].
    pub fn minor(&self, table: &MinorTable) -> Option<Minor> {
        match &self.numbers {
            Numbers::Counted(r) => Some(Minor::new(r.major, r.minor)),
            Numbers::Dated(tag) => table.minor_of(*tag),
            Numbers::Opaque(_) => None,
        }
    }

    /// The edge whose source this version is known or presumed to be built from: an edge itself, or for a counted
    /// version from 2.15 on the edge that opened its minor. Presumption only; enterprise builds carry backports.
    pub fn presumed_edge(&self, table: &MinorTable) -> Option<EdgeTag> {
        match &self.numbers {
            Numbers::Dated(tag) => Some(*tag),
            Numbers::Counted(r) => table.opened_by(Minor::new(r.major, r.minor)),
            Numbers::Opaque(_) => None,
        }
    }

    /// Order within one channel; `None` across channels and for dev and git builds (unless they are the same build).
    pub fn cmp_same_channel(&self, other: &Self) -> Option<Ordering> {
        if self.channel != other.channel {
            return None;
        }
        let tail = |v: &Self| v.hotpatch.unwrap_or(0);
        match (&self.numbers, &other.numbers) {
            (Numbers::Dated(a), Numbers::Dated(b)) => Some(a.cmp(b).then(tail(self).cmp(&tail(other)))),
            (Numbers::Counted(a), Numbers::Counted(b)) => Some(a.cmp(b).then(tail(self).cmp(&tail(other)))),
            (Numbers::Opaque(a), Numbers::Opaque(b)) => (a == b).then_some(Ordering::Equal),
            _ => None,
        }
    }

    /// Whether both strings can name the same build: channel, numbers, hotpatch and suffix are equal. A
    /// version without a vendor equals any channel with release numbers (`2.17.0` and `enterprise-2.17.0`).
    pub fn same_build(&self, other: &Self) -> bool {
        self.same_release(other) && self.suffix == other.suffix
    }

    /// As [`LinkerdVersion::same_build`], but without suffixes: a rebuilt release is still that release, and
    /// `linkerd check` ignores suffixes when it compares releases.
    pub fn same_release(&self, other: &Self) -> bool {
        let counted = |c: Channel| matches!(c, Channel::Unmarked | Channel::Enterprise | Channel::Stable);
        let unstated = self.channel == Channel::Unmarked || other.channel == Channel::Unmarked;
        let channels = self.channel == other.channel || (unstated && counted(self.channel) && counted(other.channel));
        channels && self.numbers == other.numbers && self.hotpatch == other.hotpatch
    }

    /// The version in a `linkerd.io/created-by` value (`linkerd/cli edge-25.4.4`, `linkerd/helm stable-2.14.10`); for
    /// linkerd-cni installed by Helm that value is the plugin's image tag instead.
    pub fn from_created_by(value: &str) -> Result<Self, InvalidVersion> {
        value.split_whitespace().last().unwrap_or_default().parse()
    }
}

impl PartialOrd for LinkerdVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.cmp_same_channel(other) {
            // Equal in order but not the same string (a suffix): neither is first.
            Some(Ordering::Equal) if self != other => None,
            order => order,
        }
    }
}

impl fmt::Display for LinkerdVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.raw)
    }
}

const EXPECTED: &str =
    "2.20, edge-25.4.4, stable-2.14.10, enterprise-2.17.0-1, preview-25.1.2, dev-NAME, git-HASH or 2.17.1";

impl LinkerdVersion {
    /// The open-source stable release with these numbers.
    pub fn stable(release: Release) -> Self {
        LinkerdVersion {
            raw: format!("{}-{release}", Channel::Stable.prefix()),
            channel: Channel::Stable,
            numbers: Numbers::Counted(release),
            hotpatch: None,
            suffix: None,
        }
    }
}

impl From<EdgeTag> for LinkerdVersion {
    fn from(edge: EdgeTag) -> Self {
        let numbers = Numbers::Dated(edge);
        LinkerdVersion { raw: edge.to_string(), channel: Channel::Edge, numbers, hotpatch: None, suffix: None }
    }
}

impl FromStr for LinkerdVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let raw = text.trim();
        parse(raw).ok_or_else(|| InvalidVersion { text: shorten(raw), expected: EXPECTED })
    }
}

fn parse(raw: &str) -> Option<LinkerdVersion> {
    let marked = [Channel::Stable, Channel::Edge, Channel::Enterprise, Channel::Preview, Channel::Dev, Channel::Git];
    let (channel, rest) = marked
        .into_iter()
        .find_map(|c| Some((c, raw.strip_prefix(c.prefix())?.strip_prefix('-')?)))
        .unwrap_or((Channel::Unmarked, raw.strip_prefix('v').unwrap_or(raw)));
    if rest.is_empty() || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    if matches!(channel, Channel::Dev | Channel::Git) {
        let numbers = Numbers::Opaque(rest.to_owned());
        return Some(LinkerdVersion { raw: raw.to_owned(), channel, numbers, hotpatch: None, suffix: None });
    }
    let (head, tail) = rest.split_once('-').map_or((rest, None), |(head, tail)| (head, Some(tail)));
    let numbers = match channel {
        Channel::Edge | Channel::Preview => Numbers::Dated(dated(head)?),
        Channel::Stable | Channel::Enterprise | Channel::Unmarked => Numbers::Counted(release(head)?),
        Channel::Dev | Channel::Git => return None,
    };
    let (hotpatch, suffix) = match tail {
        None => (None, None),
        Some(tail) => match tail.split_once('-') {
            _ if tail.is_empty() => return None,
            Some((number, more)) if number.parse::<u32>().is_ok() => (number.parse().ok(), Some(more.to_owned())),
            None if tail.parse::<u32>().is_ok() => (tail.parse().ok(), None),
            Some(_) | None => (None, Some(tail.to_owned())),
        },
    };
    Some(LinkerdVersion { raw: raw.to_owned(), channel, numbers, hotpatch, suffix })
}

impl Serialize for LinkerdVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.raw)
    }
}

deserialize_by_text!(LinkerdVersion);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn v(text: &str) -> LinkerdVersion {
        text.parse().expect("a version")
    }

    pub(super) fn table() -> MinorTable {
        let row = |edge: &str, minor| (edge.parse().expect("an edge"), Minor::new(2, minor));
        MinorTable::new([row("edge-25.4.4", 18), row("edge-24.2.4", 15), row("edge-24.11.8", 17)])
    }

    #[test]
    fn every_channel_parses_and_prints_as_written() {
        for (text, channel) in [
            ("2.15.7", Channel::Unmarked),
            ("v2.15.7", Channel::Unmarked),
            ("2.17", Channel::Unmarked),
            ("edge-25.4.4", Channel::Edge),
            ("stable-2.14.10", Channel::Stable),
            ("enterprise-2.17.0-1", Channel::Enterprise),
            ("enterprise-2.15.1-1-fips", Channel::Enterprise),
            ("preview-25.1.2", Channel::Preview),
            ("dev-8d5c8056-me", Channel::Dev),
            ("git-8d5c8056", Channel::Git),
        ] {
            assert_eq!(v(text).channel(), channel, "{text}");
            assert_eq!(v(text).to_string(), text);
        }
        assert_eq!(v("enterprise-2.17.0-1").hotpatch(), Some(1));
        assert_eq!(v("enterprise-2.15.1-1-fips").hotpatch(), Some(1));
        assert_eq!(LinkerdVersion::from_created_by("linkerd/cli edge-25.4.4"), Ok(v("edge-25.4.4")));
    }

    #[test]
    fn what_is_no_version_says_what_was_expected() {
        for text in
            ["", "latest", "2025.4.4", "v1.6.2", "edge-2025.4.4", "edge-25.13.1", "stable-", "2", "2.17.0-", "2..1"]
        {
            let error = text.parse::<LinkerdVersion>().expect_err(text).to_string();
            assert!(error.contains("edge-25.4.4"), "{error}");
        }
    }

    #[test]
    fn order_holds_within_a_channel_only() {
        assert!(v("edge-24.11.8") > v("edge-24.9.3"));
        assert!(v("enterprise-2.17.0-1") > v("enterprise-2.17.0"));
        assert!(v("2.17.0") > v("2.17"));
        assert_eq!(v("edge-25.4.4").partial_cmp(&v("enterprise-2.18.0")), None);
        assert_eq!(v("dev-a").partial_cmp(&v("dev-b")), None);
        assert!(v("2.17.0").same_build(&v("enterprise-2.17.0")));
        assert!(!v("stable-2.17.0").same_build(&v("enterprise-2.17.0")));
    }

    #[test]
    fn an_edge_belongs_to_the_newest_minor_opened_by_then() {
        let t = table();
        assert_eq!(v("edge-25.4.3").minor(&t), Some(Minor::new(2, 17)));
        assert_eq!(v("edge-25.4.4").minor(&t), Some(Minor::new(2, 18)));
        assert_eq!(v("preview-25.1.2").minor(&t), Some(Minor::new(2, 17)));
        assert_eq!(v("edge-20.1.1").minor(&t), None);
        assert_eq!(v("enterprise-2.19.1").minor(&t), Some(Minor::new(2, 19)));
        assert_eq!(v("dev-x").minor(&t), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", tail in "(edge|stable|enterprise|preview|dev|git|v)?-?[0-9.v-]{0,14}") {
            for candidate in [text, tail] {
                if let Ok(version) = candidate.parse::<LinkerdVersion>() {
                    prop_assert_eq!(version.to_string(), candidate.trim());
                    prop_assert_eq!(version.cmp_same_channel(&version), Some(Ordering::Equal));
                    let _ = version.minor(&table());
                }
            }
        }
    }
}
