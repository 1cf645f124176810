//! Which release the version of a chart is of: since 2024 it is the date of an edge, before that each chart counted by itself.

use semver::{Version, VersionReq};

use super::Charts;
use crate::version::LinkerdVersion;

/// The year of the first versions that are dates.
const DATED: u64 = 2024;

impl Charts {
    /// The release that a version of a chart is of, as its `Chart.yaml` or a range says it: of a range the newest, where no version
    /// that may still come is in it. `None` where that is no one release that is known.
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
        // Dates go on.
        let goes_on = (DATED..DATED + 100)
            .any(|year| (1..=12).any(|month| range.matches(&Version::new(year, month, 1))));
        let newest = || self.versions.get(chart)?.iter().rev().find(|(version, _)| range.matches(version));
        (!goes_on).then(newest)?.map(|(_, release)| release.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;

    #[test]
    fn versions_of_charts_are_of_releases() {
        let charts = Knowledge::embedded().charts();
        let of =
            |chart: &str, version: &str| charts.release_of(chart, version).map(|release| release.to_string());
        for (chart, version, release) in [
            ("linkerd-control-plane", "2025.10.7", Some("edge-25.10.7")),
            ("linkerd-control-plane", "1.16.11", Some("stable-2.14.10")),
            ("linkerd-crds", "1.8.0", Some("stable-2.14.10")),
            ("linkerd-viz", "30.14.11-edge", Some("edge-24.2.5")),
            ("linkerd-viz", "30.8.5", Some("stable-2.13.5")),
            ("linkerd-control-plane", "1.x", Some("stable-2.14.10")),
            ("linkerd-control-plane", "~1.12.0", Some("stable-2.13.7")),
            // What comes next is in these as well.
            ("linkerd-control-plane", "*", None),
            ("linkerd-control-plane", ">=1.16.0", None),
            ("linkerd-control-plane", "2025.x", None),
            ("linkerd-control-plane", "30.8.5", None),
            ("linkerd-viz", "main", None),
        ] {
            assert_eq!(of(chart, version).as_deref(), release, "{chart} {version}");
        }
    }
}
