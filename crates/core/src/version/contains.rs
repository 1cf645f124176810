//! Whether a version contains a change. The answer has three values, because the content of vendor and
//! development builds is not public. Used for fixes and keys, by the exact edge; version skew is evaluated
//! elsewhere, by minor.

use super::linkerd::{Channel, LinkerdVersion, Numbers};
use super::numbers::{EdgeTag, Minor, MinorTable, Release};

/// The answer to "is this change in that version?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contains {
    /// Its source has the change.
    Yes,
    /// Its source lacks the change.
    No,
    /// Unknown from the version string.
    Unknown,
}

impl Contains {
    /// `Yes` if both are, `No` if either is.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Contains::No, _) | (_, Contains::No) => Contains::No,
            (Contains::Yes, Contains::Yes) => Contains::Yes,
            (Contains::Unknown, _) | (_, Contains::Unknown) => Contains::Unknown,
        }
    }
}

/// `Yes` and `No` swapped; unknown stays unknown.
impl std::ops::Not for Contains {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Contains::Yes => Contains::No,
            Contains::No => Contains::Yes,
            Contains::Unknown => Contains::Unknown,
        }
    }
}

/// The first versions with a change. At least one field should be set; otherwise the answer is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Introduced {
    /// The first edge with it.
    pub edge: Option<EdgeTag>,
    /// The first open-source stable release with it; `None` if no such release has it.
    pub stable: Option<Release>,
}

impl Introduced {
    /// A change in an edge, but in no open-source stable release.
    pub fn at_edge(edge: EdgeTag) -> Self {
        Introduced { edge: Some(edge), ..Introduced::default() }
    }

    /// The same change, with its first open-source stable release.
    pub fn and_stable(self, stable: Release) -> Self {
        Introduced { stable: Some(stable), ..self }
    }
}

/// Open-source stable releases ended with this minor.
const LAST_STABLE: Minor = Minor::new(2, 14);

impl LinkerdVersion {
    /// Whether this version contains a change. An edge is compared with the change's edge, an open-source
    /// stable release (including an unmarked one up to 2.14) with its first stable release. An enterprise or
    /// unmarked version from 2.15 on contains the content of its minor's opening edge; anything later may or
    /// may not have been backported. A preview only certainly contains older changes. Dev and git builds:
    /// unknown.
    pub fn contains(&self, change: &Introduced, table: &MinorTable) -> Contains {
        match (&self.numbers(), self.channel()) {
            (Numbers::Dated(tag), channel) => dated(*tag, channel, change, table),
            (Numbers::Counted(release), channel) => {
                let minor = Minor::new(release.major, release.minor);
                let open_source = match channel {
                    Channel::Stable => true,
                    Channel::Unmarked => minor <= LAST_STABLE,
                    Channel::Edge | Channel::Enterprise | Channel::Preview | Channel::Dev | Channel::Git => false,
                };
                if open_source && minor <= LAST_STABLE {
                    stable(*release, change)
                } else {
                    vendor(*release, change, table)
                }
            }
            (Numbers::Opaque(_), _) => Contains::Unknown,
        }
    }

    /// Whether this version lies in `[from, until)`: it contains the first change and not yet the second. Without
    /// `until` the range is open.
    pub fn within(&self, from: &Introduced, until: Option<&Introduced>, table: &MinorTable) -> Contains {
        let ended = until.map_or(Contains::No, |until| self.contains(until, table));
        self.contains(from, table).and(!ended)
    }
}

fn dated(tag: EdgeTag, channel: Channel, change: &Introduced, table: &MinorTable) -> Contains {
    let absent = if channel == Channel::Edge { Contains::No } else { Contains::Unknown };
    if let Some(edge) = change.edge {
        return if tag >= edge { Contains::Yes } else { absent };
    }
    let Some(own) = table.minor_of(tag) else { return Contains::Unknown };
    match change.stable {
        Some(stable) if own > Minor::new(stable.major, stable.minor) => Contains::Yes,
        Some(_) | None => Contains::Unknown,
    }
}

fn stable(release: Release, change: &Introduced) -> Contains {
    let yes_if = |yes| if yes { Contains::Yes } else { Contains::No };
    match (change.stable, change.edge) {
        (Some(first), _) => match release.patch {
            // "2.14" alone does not state whether a patch release of 2.14 includes it.
            None if (release.major, release.minor) == (first.major, first.minor) && first.patch > Some(0) => {
                Contains::Unknown
            }
            None => yes_if((release.major, release.minor) >= (first.major, first.minor)),
            Some(_) => yes_if(release >= first),
        },
        // An edge is given and no stable: no open-source stable release contains it.
        (None, Some(_)) => Contains::No,
        (None, None) => Contains::Unknown,
    }
}

fn vendor(release: Release, change: &Introduced, table: &MinorTable) -> Contains {
    let minor = Minor::new(release.major, release.minor);
    let opened = table.opened_by(minor).or_else(|| {
        // A minor newer than the table contains at least what the newest one in it does.
        table.newest().filter(|(_, newest)| minor > *newest).map(|(edge, _)| edge)
    });
    let by_edge = change.edge.zip(opened).is_some_and(|(first, opened)| first <= opened);
    let by_stable = change.stable.is_some_and(|first| Minor::new(first.major, first.minor) <= LAST_STABLE);
    if by_edge || by_stable { Contains::Yes } else { Contains::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> MinorTable {
        let row = |edge: &str, minor| (edge.parse().expect("an edge"), Minor::new(2, minor));
        MinorTable::new([row("edge-24.2.4", 15), row("edge-24.11.8", 17), row("edge-25.4.4", 18)])
    }

    fn ask(version: &str, change: Introduced) -> Contains {
        version.parse::<LinkerdVersion>().expect("a version").contains(&change, &table())
    }

    fn edge(text: &str) -> Introduced {
        Introduced::at_edge(text.parse().expect("an edge"))
    }

    fn stable_release(minor: u16, patch: u16) -> Release {
        Release { major: 2, minor, patch: Some(patch) }
    }

    #[test]
    fn an_edge_is_judged_by_the_exact_edge() {
        assert_eq!(ask("edge-25.3.2", edge("edge-25.3.3")), Contains::No);
        assert_eq!(ask("edge-25.3.3", edge("edge-25.3.3")), Contains::Yes);
    }

    #[test]
    fn vendor_builds_are_known_only_up_to_their_opening_edge() {
        for version in ["enterprise-2.17.0", "2.17.0", "enterprise-2.17.0-3"] {
            assert_eq!(ask(version, edge("edge-24.11.8")), Contains::Yes, "{version}");
            assert_eq!(ask(version, edge("edge-25.3.3")), Contains::Unknown, "{version}");
        }
        assert_eq!(ask("enterprise-2.18.0", edge("edge-25.3.3")), Contains::Yes);
        assert_eq!(ask("enterprise-2.21.0", edge("edge-25.3.3")), Contains::Yes);
        assert_eq!(ask("enterprise-2.15.0", edge("edge-20.1.3").and_stable(stable_release(7, 0))), Contains::Yes);
    }

    #[test]
    fn stable_releases_are_judged_by_the_first_stable() {
        let change = edge("edge-23.11.1").and_stable(stable_release(14, 4));
        assert_eq!(ask("stable-2.14.3", change), Contains::No);
        assert_eq!(ask("stable-2.14.10", change), Contains::Yes);
        assert_eq!(ask("2.14.10", change), Contains::Yes);
        assert_eq!(ask("2.14", change), Contains::Unknown);
        assert_eq!(ask("stable-2.14.10", edge("edge-24.5.4")), Contains::No);
    }

    #[test]
    fn builds_without_numbers_are_unknown_and_previews_half_known() {
        assert_eq!(ask("dev-abc", edge("edge-20.1.1")), Contains::Unknown);
        assert_eq!(ask("preview-25.1.2", edge("edge-24.11.8")), Contains::Yes);
        assert_eq!(ask("preview-25.1.2", edge("edge-25.3.3")), Contains::Unknown);
    }

    #[test]
    fn a_range_ends_before_its_second_change() {
        let from = edge("edge-20.10.2").and_stable(stable_release(9, 0));
        let until = edge("edge-25.3.3");
        let within =
            |version: &str| version.parse::<LinkerdVersion>().expect("a version").within(&from, Some(&until), &table());
        assert_eq!(within("edge-25.3.2"), Contains::Yes);
        assert_eq!(within("edge-25.3.3"), Contains::No);
        assert_eq!(within("edge-20.10.1"), Contains::No);
        assert_eq!(within("stable-2.14.10"), Contains::Yes);
        assert_eq!(within("2.17.0"), Contains::Unknown);
        assert_eq!(within("enterprise-2.18.1"), Contains::No);
    }
}
