//! `releases.yaml`: minors with requirements, changed defaults, and defects by release.

mod defects;
mod gateway_api;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::version::{Channel, Contains, EdgeTag, Introduced, K8sMinor, LinkerdVersion, Minor, MinorTable, Release};
pub use defects::{Defect, NotRecommended};
pub use gateway_api::{GatewayApi, GatewayChannel};

/// The table of releases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Releases {
    source: String,
    date: jiff::civil::Date,
    newest_edge: EdgeTag,
    /// Later edges that exist, oldest first.
    #[serde(default)]
    later_edges: Vec<EdgeTag>,
    /// The number of the last edge of each month, such as `25.4`.
    #[serde(default)]
    last_edges: BTreeMap<String, u16>,
    releases: Vec<ReleaseRow>,
    kubernetes_minimums: Vec<KubernetesMinimum>,
    cni_plugins: Vec<CniPluginOf>,
    bundled_gateway_api: Vec<BundledGatewayApi>,
    cli_needs_gateway_api: EdgeTag,
    gateway_api_managers: Vec<GatewayApiManager>,
    defaults: Vec<ChartDefault>,
    defects: Vec<Defect>,
    not_recommended: Vec<NotRecommended>,
    #[serde(skip)]
    minors: MinorTable,
}

/// One minor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReleaseRow {
    /// Its version.
    pub minor: Minor,
    /// The first edge that belongs to it.
    pub opened_by: EdgeTag,
    /// Its last open-source stable release, if any.
    pub last_stable: Option<Release>,
    /// Year and month of the announcement.
    pub announced: String,
    /// Required and documented Kubernetes versions.
    pub kubernetes: KubernetesRange,
    /// Supported Gateway API; unknown before 2.15.
    pub gateway_api: Option<GatewayApi>,
    /// linkerd-cni version that its last chart installs.
    pub cni_plugin: semver::Version,
}

impl ReleaseRow {
    /// Target release for a minor: its last open-source stable one, else the edge that opened it.
    pub fn release(&self) -> LinkerdVersion {
        match self.last_stable {
            Some(stable) => LinkerdVersion::stable(stable),
            None => LinkerdVersion::from(self.opened_by),
        }
    }
}

/// A range of Kubernetes minors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KubernetesRange {
    /// Oldest minor that chart and CLI accept.
    pub minimum: K8sMinor,
    /// Newest minor in the documentation. Newer ones may work.
    pub documented_maximum: K8sMinor,
}

/// Managers of definitions, by their marks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewayApiManager {
    key: String,
    who: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct KubernetesMinimum {
    from: EdgeTag,
    minimum: K8sMinor,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CniPluginOf {
    from: EdgeTag,
    plugin: semver::Version,
    chart: Option<semver::Version>,
}

/// Gateway API version in Linkerd's own chart, from an edge on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct BundledGatewayApi {
    from: EdgeTag,
    bundle: semver::Version,
}

/// The linkerd-cni version that a release installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// With `linkerd install-cni`.
    pub by_cli: semver::Version,
    /// With Helm's chart.
    pub by_chart: semver::Version,
}

/// A chart value with a changed default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ChartDefault {
    pub chart: String,
    /// Path of the value.
    pub value: String,
    changes: Vec<DefaultChange>,
}

/// A chart value whose default differs between releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedDefault<'a> {
    /// Path of the value.
    pub value: &'a str,
    /// The old default; `None` if the release does not have the value.
    pub from: Option<&'a str>,
    /// The new default.
    pub to: &'a str,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DefaultChange {
    from: EdgeTag,
    from_stable: Option<Release>,
    default: String,
}

impl Releases {
    /// The edge that opened each minor.
    pub fn minors(&self) -> &MinorTable {
        &self.minors
    }

    /// The minors, oldest first.
    pub fn rows(&self) -> &[ReleaseRow] {
        &self.releases
    }

    /// One minor; `None` if unknown.
    pub fn minor(&self, minor: Minor) -> Option<&ReleaseRow> {
        self.releases.iter().find(|row| row.minor == minor)
    }

    /// The newest minor in the table.
    pub fn newest(&self) -> &ReleaseRow {
        self.releases.last().expect("a releases file without rows is rejected when it is read")
    }

    /// The newest edge whose contents the table has.
    pub fn newest_edge(&self) -> EdgeTag {
        self.newest_edge
    }

    /// The newest edge that is known to exist.
    pub fn newest_released(&self) -> EdgeTag {
        self.later_edges.iter().copied().max().map_or(self.newest_edge, |edge| edge.max(self.newest_edge))
    }

    /// Whether it is certain that a release does not exist: an edge after the last one of its month, or an open-source
    /// stable release after the last one of its minor.
    /// Tags with a suffix may be those of own builds.
    pub fn is_never_released(&self, version: &LinkerdVersion) -> bool {
        if version.to_string().matches('-').count() > 1 {
            return false;
        }
        match (version.channel(), version.edge(), version.release()) {
            (Channel::Edge, Some(edge), _) => {
                let last = self.last_edges.get(&format!("{}.{}", edge.year, edge.month));
                last.is_some_and(|last| edge.number == 0 || edge.number > *last)
            }
            (Channel::Stable, _, Some(release)) => {
                let row = self.minor(Minor::new(release.major, release.minor));
                row.and_then(|row| row.last_stable).is_some_and(|last| release > last)
            }
            _ => false,
        }
    }

    /// The minor of `version`; `None` for dev and git builds and unknown minors.
    pub fn for_version(&self, version: &LinkerdVersion) -> Option<&ReleaseRow> {
        self.minor(version.minor(&self.minors)?)
    }

    /// Whether `version` is newer than the table, so that keys, defaults and defects may be unknown.
    pub fn is_beyond(&self, version: &LinkerdVersion) -> bool {
        match (version.channel(), version.edge(), version.minor(&self.minors)) {
            (Channel::Edge, Some(edge), _) => edge > self.newest_edge,
            (_, _, Some(minor)) => minor > self.newest().minor,
            (_, _, None) => false,
        }
    }

    /// Kubernetes range of `version`: that of the minor, with the minimum of the exact edge.
    pub fn kubernetes_range(&self, version: &LinkerdVersion) -> Option<KubernetesRange> {
        let range = self.for_version(version)?.kubernetes;
        let exact = version
            .edge()
            .and_then(|edge| self.kubernetes_minimums.iter().rev().find(|row| row.from <= edge).map(|row| row.minimum));
        Some(KubernetesRange { minimum: exact.unwrap_or(range.minimum), ..range })
    }

    /// linkerd-cni version that `version` installs: that of the edge, else of the minor.
    pub fn cni_plugin(&self, version: &LinkerdVersion) -> Option<InstalledPlugin> {
        let row = self.for_version(version)?;
        let exact = version
            .edge()
            .filter(|_| version.channel() == Channel::Edge)
            .and_then(|edge| self.cni_plugins.iter().rev().find(|row| row.from <= edge));
        Some(match exact {
            Some(exact) => InstalledPlugin {
                by_cli: exact.plugin.clone(),
                by_chart: exact.chart.as_ref().unwrap_or(&exact.plugin).clone(),
            },
            None => InstalledPlugin { by_cli: row.cni_plugin.clone(), by_chart: row.cni_plugin.clone() },
        })
    }

    /// Gateway API version in the chart of a release; `None` if it has none or is unknown.
    pub fn bundled_gateway_api(&self, version: &LinkerdVersion) -> Option<&semver::Version> {
        let held =
            |row: &&BundledGatewayApi| version.contains(&Introduced::at_edge(row.from), &self.minors) == Contains::Yes;
        self.bundled_gateway_api.iter().rev().find(held).map(|row| &row.bundle)
    }

    /// Whether the CLI of a release requires the Gateway API CRDs before it renders anything.
    pub fn cli_needs_gateway_api(&self, version: &LinkerdVersion) -> bool {
        version.contains(&Introduced::at_edge(self.cli_needs_gateway_api), &self.minors) == Contains::Yes
    }

    /// Default of a chart value in `version`. For a vendor's build, that of the edge which opened its minor, if known.
    pub fn default_of(&self, chart: &str, value: &str, version: &LinkerdVersion) -> Option<&str> {
        let row = self.defaults.iter().find(|row| row.chart == chart && row.value == value)?;
        let holds = |change: &&DefaultChange| {
            let introduced = Introduced { edge: Some(change.from), stable: change.from_stable };
            match version.contains(&introduced, &self.minors) {
                Contains::Yes => true,
                Contains::No | Contains::Unknown => false,
            }
        };
        row.changes.iter().rev().find(holds).map(|change| change.default.as_str())
    }

    /// Whether a release certainly lacks a chart value: it is older than its first default.
    fn lacks(&self, row: &ChartDefault, version: &LinkerdVersion) -> bool {
        row.changes.first().is_some_and(|first| {
            let introduced = Introduced { edge: Some(first.from), stable: first.from_stable };
            version.contains(&introduced, &self.minors) == Contains::No
        })
    }

    /// Values of a chart whose default differs between `from` and `to`, including those that `from` does not have.
    pub fn changed_defaults(&self, chart: &str, from: &LinkerdVersion, to: &LinkerdVersion) -> Vec<ChangedDefault<'_>> {
        let of_chart = self.defaults.iter().filter(|row| row.chart == chart);
        let changed = of_chart.filter_map(|row| {
            let default = |version| self.default_of(chart, &row.value, version);
            let (before, to) = (default(from), default(to)?);
            let known = before.is_some() || self.lacks(row, from);
            (known && before != Some(to)).then_some(ChangedDefault { value: &row.value, from: before, to })
        });
        changed.collect()
    }

    /// Manager of a Gateway API definition with these labels and annotations, and the mark that shows it.
    pub fn gateway_api_manager<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<(&'a str, &'a str)> {
        self.gateway_api_managers.iter().find_map(|manager| {
            let is_mark = |key: &&str| match manager.key.strip_suffix('/') {
                Some(_) => key.starts_with(&manager.key),
                None => *key == manager.key,
            };
            Some((manager.who.as_str(), keys.clone().find(is_mark)?))
        })
    }

    /// A defect by name.
    pub fn defect(&self, id: &str) -> Option<&Defect> {
        self.defects.iter().find(|row| row.id == id)
    }

    /// Upstream's reason for advising against this edge, if any.
    pub fn not_recommended(&self, edge: EdgeTag) -> Option<&NotRecommended> {
        self.not_recommended.iter().find(|row| row.edges.contains(&edge))
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

impl KnowledgeFile for Releases {
    const NAME: &'static str = "releases.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/releases.yaml");

    fn finish(&mut self) -> Result<(), String> {
        self.releases.sort_by_key(|row| row.minor);
        if self.releases.is_empty() {
            return Err("releases needs at least one row".to_owned());
        }
        for pair in self.releases.windows(2) {
            if pair[0].minor == pair[1].minor || pair[0].opened_by >= pair[1].opened_by {
                return Err(format!("{} and {} are out of order", pair[0].minor, pair[1].minor));
            }
        }
        for row in &self.releases {
            if row.kubernetes.minimum > row.kubernetes.documented_maximum {
                return Err(format!("{}: the Kubernetes minimum is above the maximum", row.minor));
            }
        }
        self.kubernetes_minimums.sort_by_key(|row| row.from);
        self.minors = MinorTable::new(self.releases.iter().map(|row| (row.opened_by, row.minor)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;

    fn v(text: &str) -> LinkerdVersion {
        text.parse().expect("a version")
    }

    #[test]
    fn each_release_has_its_edge_and_range() {
        let releases = Knowledge::embedded().releases();
        for (version, minor, minimum, maximum) in [
            ("edge-24.2.4", 15, 22, 29),
            ("edge-24.8.2", 16, 22, 29),
            ("edge-24.11.8", 17, 22, 31),
            ("edge-25.4.4", 18, 23, 32),
            ("edge-25.10.7", 19, 23, 35),
            ("edge-26.5.5", 19, 31, 35),
            ("edge-26.6.3", 20, 31, 35),
            ("stable-2.14.10", 14, 21, 28),
            ("enterprise-2.17.0-1", 17, 22, 31),
        ] {
            let row = releases.for_version(&v(version)).expect(version);
            assert_eq!(row.minor, Minor::new(2, minor), "{version}");
            let range = releases.kubernetes_range(&v(version)).expect(version);
            assert_eq!(range.minimum, K8sMinor::new(1, minimum), "{version}");
            assert_eq!(range.documented_maximum, K8sMinor::new(1, maximum), "{version}");
        }
        assert!(releases.for_version(&v("dev-x")).is_none());
        assert_eq!(releases.newest().minor, Minor::new(2, 20));
        assert!(releases.is_beyond(&v("edge-27.1.1")) && releases.is_beyond(&v("enterprise-2.21.0")));
        assert!(!releases.is_beyond(&v("edge-26.8.3")) && !releases.is_beyond(&v("dev-x")));
    }

    #[test]
    fn debug_image_defect_ends_with_the_fix() {
        let knowledge = Knowledge::embedded();
        let defect = knowledge.releases().defect("debug-image-ignored").expect("the defect");
        for (version, expected) in [
            ("edge-20.10.1", Contains::No),
            ("edge-20.10.2", Contains::Yes),
            ("stable-2.14.10", Contains::Yes),
            ("edge-25.3.2", Contains::Yes),
            ("edge-25.3.3", Contains::No),
            ("2.17.0", Contains::Unknown),
            ("enterprise-2.15.7", Contains::Unknown),
            ("enterprise-2.18.0", Contains::No),
        ] {
            assert_eq!(defect.affects(&v(version), knowledge.minors()), expected, "{version}");
        }
    }

    #[test]
    fn defaults_follow_their_changes() {
        let releases = Knowledge::embedded().releases();
        let native = |version: &str| releases.default_of("linkerd-control-plane", "proxy.nativeSidecar", &v(version));
        assert_eq!(native("edge-26.5.1"), Some("false"));
        assert_eq!(native("edge-26.5.2"), Some("true"));
        assert_eq!(native("enterprise-2.17.0"), Some("false"));
        assert_eq!(native("stable-2.14.10"), None);
        let policy = |version: &str| releases.default_of("linkerd-control-plane", "webhookFailurePolicy", &v(version));
        assert_eq!(policy("edge-25.4.4"), Some("Ignore"));
        assert_eq!(policy("stable-2.14.10"), Some("Ignore"));
        assert!(releases.not_recommended("edge-25.3.3".parse().expect("an edge")).is_some());
        assert!(releases.not_recommended("edge-25.4.4".parse().expect("an edge")).is_none());
    }
}
