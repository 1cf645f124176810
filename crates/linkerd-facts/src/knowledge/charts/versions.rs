//! The release of a chart version: since 2024 the version is the date of an edge; before that each chart had its own
//! numbers.

use semver::{Version, VersionReq};

use super::Charts;
use crate::version::{Channel, EdgeTag, LinkerdVersion};

/// Year of the first date versions.
const DATED: u64 = 2024;

impl Charts {
    /// The release of a chart version or range; for a range the newest, if it excludes future versions. `None` if it is
    /// not exactly one known release.
    pub fn release_of(&self, chart: &str, version: &str) -> Option<LinkerdVersion> {
        let version = version.trim().trim_start_matches(['v', '=']);
        if let Ok(version) = version.parse::<Version>() {
            if version.major >= DATED {
                let Version { major, minor, patch, .. } = version;
                return format!("edge-{}.{minor}.{patch}", major % 100).parse().ok();
            }
            return self.versions.get(chart)?.get(&version).cloned();
        }
        let range = VersionReq::parse(version).ok()?;
        // Date versions continue.
        let goes_on =
            (DATED..DATED + 100).any(|year| (1..=12).any(|month| range.matches(&Version::new(year, month, 1))));
        let newest = || self.versions.get(chart)?.iter().rev().find(|(version, _)| range.matches(version));
        (!goes_on).then(newest)?.map(|(_, release)| release.clone())
    }

    /// The chart version of a release: for an edge its date or the older number, for a vendor's release its own number.
    /// `None` if unknown.
    pub fn version_of(&self, chart: &str, release: &LinkerdVersion) -> Option<String> {
        const FIRST_DATED: (u16, u16, u16) = (24, 3, 1);
        if release.channel() == Channel::Enterprise {
            return release.as_str().strip_prefix("enterprise-").map(ToOwned::to_owned);
        }
        let dated = |edge: &EdgeTag| (edge.year, edge.month, edge.number) >= FIRST_DATED;
        if let Some(edge) = release.edge().filter(dated) {
            return Some(format!("20{}.{}.{}", edge.year, edge.month, edge.number));
        }
        let of = self.versions.get(chart)?.iter().rev().find(|(_, of)| of.same_release(release));
        of.map(|(version, _)| version.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;

    #[test]
    fn chart_versions_map_to_releases() {
        let charts = Knowledge::embedded().charts();
        let of = |chart: &str, version: &str| charts.release_of(chart, version).map(|release| release.to_string());
        for (chart, version, release) in [
            ("linkerd-control-plane", "2025.10.7", Some("edge-25.10.7")),
            ("linkerd-control-plane", "1.16.11", Some("stable-2.14.10")),
            ("linkerd-crds", "1.8.0", Some("stable-2.14.10")),
            ("linkerd-viz", "30.14.11-edge", Some("edge-24.2.5")),
            ("linkerd-viz", "30.8.5", Some("stable-2.13.5")),
            ("linkerd-control-plane", "1.x", Some("stable-2.14.10")),
            ("linkerd-control-plane", "~1.12.0", Some("stable-2.13.7")),
            // Future versions are included.
            ("linkerd-control-plane", "*", None),
            ("linkerd-control-plane", ">=1.16.0", None),
            ("linkerd-control-plane", "2025.x", None),
            ("linkerd-control-plane", "30.8.5", None),
            ("linkerd-viz", "main", None),
        ] {
            assert_eq!(of(chart, version).as_deref(), release, "{chart} {version}");
        }
    }

    #[test]
    fn release_has_one_chart_version() {
        let charts = Knowledge::embedded().charts();
        for (chart, release, version) in [
            ("linkerd-crds", "edge-25.10.7", Some("2025.10.7")),
            ("linkerd-control-plane", "stable-2.14.10", Some("1.16.11")),
            ("linkerd-crds", "stable-2.14.10", Some("1.8.0")),
            ("linkerd-viz", "edge-24.2.5", Some("30.14.11-edge")),
            ("linkerd-control-plane", "enterprise-2.19.6", Some("2.19.6")),
            ("linkerd-control-plane", "enterprise-2.17.0-1", Some("2.17.0-1")),
            ("linkerd-control-plane", "2.17.1", None),
        ] {
            let of = charts.version_of(chart, &release.parse().expect("a version"));
            assert_eq!(of.as_deref(), version, "{chart} {release}");
        }
    }
}
