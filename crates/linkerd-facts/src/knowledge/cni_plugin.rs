//! `cni-plugin.yaml`: capabilities of each linkerd-cni version, and the binaries that it runs on the host.

use std::collections::BTreeMap;

use semver::Version;
use serde::Deserialize;

use super::cni_words::{Backend, IptablesMode, Ipv6, ServerForm, TokenRefresh};
use super::file::KnowledgeFile;
use crate::version::{CniVersion, EdgeTag};

/// One version of the plugin, or several without recorded differences.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PluginRelease {
    /// The first of these versions.
    pub first: Version,
    /// First edge whose linkerd2-cni chart installs it.
    pub first_chart: Option<EdgeTag>,
    /// Year and month.
    pub dated: String,
    /// Newest CNI specification that it supports.
    pub cni_spec: Version,
    /// Accepted values of `iptables-mode`; empty: the key is unknown to it.
    #[serde(default)]
    pub modes: Vec<IptablesMode>,
    /// Behavior without the key.
    pub absent_mode: Option<IptablesMode>,
    /// Default of its chart.
    pub chart_mode: Option<IptablesMode>,
    /// Default of an earlier chart with the same version.
    pub chart_mode_before: Option<IptablesMode>,
    /// Behavior for IPv6 rules that cannot be written.
    #[serde(default)]
    pub ipv6: Ipv6,
    /// Whether it supports a proxy in the init containers.
    #[serde(default)]
    pub native_sidecars: bool,
    /// Whether its installer renews the token.
    #[serde(default)]
    pub token_refresh: TokenRefresh,
    /// Whether its installer leaves the entry and an invalid token behind when it stops.
    #[serde(default)]
    pub clean_up_broken: bool,
    /// Whether its installer writes its own configuration if no other exists.
    #[serde(default)]
    pub writes_own_config: bool,
    /// Whether its installer removes only the first existing entry before it adds its own; others remove all.
    #[serde(default)]
    pub keeps_extra_entries: bool,
    /// The modes that it tries in order if a binary is missing.
    #[serde(default)]
    pub falls_back: Vec<IptablesMode>,
    /// Formats of the API server's address that it cannot parse.
    #[serde(default)]
    pub refuses_servers: Vec<ServerForm>,
    /// Whether its installer exits at a file that is not JSON or not a CNI configuration.
    #[serde(default)]
    pub fatal_files: bool,
    /// Whether its installer ignores SKIP_TLS_VERIFY.
    #[serde(default)]
    pub ignores_skip_tls_verify: bool,
    /// Whether its installer makes the kubeconfig readable for all users of the node.
    #[serde(default)]
    pub world_readable_kubeconfig: bool,
    /// Further notes.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A defect that affects some clusters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PluginDefect {
    /// Its name.
    pub id: String,
    /// Description, as a clause.
    pub what: String,
    /// The first version without it.
    pub until: Version,
    /// The feature that a cluster must use to be affected.
    pub meets: String,
    /// Source of the information.
    pub source: String,
}

impl PluginDefect {
    /// Whether a version has it.
    pub fn holds(&self, version: &Version) -> bool {
        *version < self.until
    }
}

/// The versions of the plugin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CniPlugin {
    source: String,
    date: jiff::civil::Date,
    binaries: BTreeMap<IptablesMode, String>,
    modules: BTreeMap<Backend, String>,
    host_binary: String,
    releases: Vec<PluginRelease>,
    last: Version,
    last_release: Version,
    cni_specs: Vec<Version>,
    first_chart_without_policy: EdgeTag,
    defects: Vec<PluginDefect>,
}

impl PluginRelease {
    /// Whether a chart with this version sets a mode by default.
    pub fn is_default(&self, mode: IptablesMode) -> bool {
        self.chart_mode == Some(mode) || self.chart_mode_before == Some(mode)
    }

    /// Whether it accepts a value of `iptables-mode`; `None` and an empty value mean that the key is missing.
    pub fn mode_supported(&self, mode: Option<&str>) -> Support<'_> {
        if self.modes.is_empty() {
            return Support::IgnoresKey;
        }
        match mode.filter(|mode| !mode.is_empty()).map(str::parse::<IptablesMode>) {
            None => Support::Yes,
            Some(Ok(mode)) if self.modes.contains(&mode) => Support::Yes,
            Some(Ok(_) | Err(())) => Support::No { accepted: &self.modes },
        }
    }
}

/// Whether a version supports a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support<'a> {
    /// It does.
    Yes,
    /// It rejects every pod with that value; it accepts these.
    No {
        /// The values it accepts.
        accepted: &'a [IptablesMode],
    },
    /// It ignores the key and runs the host's `iptables`.
    IgnoresKey,
    /// The version is unknown.
    Unknown,
}

/// Binaries that setting up a pod runs on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostBinaries {
    /// Their mode; `None`: the version has no modes.
    pub mode: Option<IptablesMode>,
    /// Required binaries: the `-save` variant first, because it runs first.
    pub needed: Vec<String>,
    /// Binaries for IPv6 that may be missing.
    pub optional: Vec<String>,
}

impl CniPlugin {
    /// Defects that affect some clusters.
    pub fn defects(&self) -> &[PluginDefect] {
        &self.defects
    }

    /// The row of a version. `None` for versions newer than the table, for those released with Linkerd itself, and for
    /// unknown ones.
    pub fn for_version(&self, version: &CniVersion) -> Option<&PluginRelease> {
        let version = version.plugin().filter(|version| **version <= self.last)?;
        self.releases.iter().rev().find(|row| row.first <= *version)
    }

    /// The rows, oldest first.
    pub fn rows(&self) -> &[PluginRelease] {
        &self.releases
    }

    /// Whether the version is newer than the table.
    pub fn is_beyond(&self, version: &CniVersion) -> bool {
        version.plugin().is_some_and(|version| *version > self.last)
    }

    /// The first version that supports a mode.
    pub fn first_with_mode(&self, mode: IptablesMode) -> Option<&Version> {
        self.releases.iter().find(|row| row.modes.contains(&mode)).map(|row| &row.first)
    }

    /// The first later version whose installer cleans up after itself.
    pub fn first_with_clean_up(&self) -> Option<&Version> {
        let broken = self.releases.iter().rposition(|row| row.clean_up_broken)?;
        self.releases.get(broken + 1).map(|row| &row.first)
    }

    /// Whether the version accepts a value of `iptables-mode`; `None` and an empty value mean that the key is missing.
    pub fn mode_supported(&self, version: &CniVersion, mode: Option<&str>) -> Support<'_> {
        if matches!(version, CniVersion::InLinkerd(_)) {
            return Support::IgnoresKey;
        }
        self.for_version(version).map_or(Support::Unknown, |row| row.mode_supported(mode))
    }

    /// Binaries that the version runs for an entry with this mode. `None` if the version is unknown or rejects it.
    pub fn binaries(&self, version: &CniVersion, mode: Option<&str>, ipv6: bool) -> Option<HostBinaries> {
        match self.for_version(version) {
            Some(row) => self.binaries_of(row, mode, ipv6),
            None if matches!(version, CniVersion::InLinkerd(_)) => Some(self.binaries_without_modes()),
            None => None,
        }
    }

    /// The same for the versions of a row. `None` if they reject the mode.
    pub fn binaries_of(&self, row: &PluginRelease, mode: Option<&str>, ipv6: bool) -> Option<HostBinaries> {
        match row.mode_supported(mode) {
            Support::Unknown | Support::No { .. } => None,
            Support::IgnoresKey => Some(self.binaries_without_modes()),
            Support::Yes => {
                let mode = mode.and_then(|mode| mode.parse().ok()).or(row.absent_mode)?;
                let binary = self.binaries.get(&mode)?;
                let v6 = if ipv6 { pair(&ipv6_name(binary)) } else { Vec::new() };
                let (mut needed, mut optional) = (pair(binary), Vec::new());
                match row.ipv6 {
                    Ipv6::None => {}
                    Ipv6::FailuresIgnored => optional = v6,
                    Ipv6::Required => needed.extend(v6),
                }
                Some(HostBinaries { mode: Some(mode), needed, optional })
            }
        }
    }

    fn binaries_without_modes(&self) -> HostBinaries {
        HostBinaries { mode: None, needed: pair(&self.host_binary), optional: Vec::new() }
    }

    /// The rows with this CNI specification as their newest.
    pub fn speaking(&self, spec: &Version) -> Vec<&PluginRelease> {
        self.releases.iter().filter(|row| row.cni_spec == *spec).collect()
    }

    /// The newest known version that is not a prerelease: the default target of an upgrade.
    pub fn last_release(&self) -> &Version {
        &self.last_release
    }

    /// The newest known version, including prereleases.
    pub fn last(&self) -> &Version {
        &self.last
    }

    /// All CNI specifications, oldest first.
    pub fn cni_specs(&self) -> &[Version] {
        &self.cni_specs
    }

    /// The first chart whose template has no token in entries.
    pub fn first_chart_without_policy(&self) -> EdgeTag {
        self.first_chart_without_policy
    }

    /// The first version that supports a CNI specification.
    pub fn first_speaking(&self, spec: &Version) -> Option<&Version> {
        self.releases.iter().find(|row| row.cni_spec >= *spec).map(|row| &row.first)
    }

    /// The binary of a mode; its variant ends in `-save`.
    pub fn binary_of(&self, mode: IptablesMode) -> Option<&str> {
        self.binaries.get(&mode).map(String::as_str)
    }

    /// Kernel module that a backend needs.
    pub fn module_of(&self, backend: Backend) -> Option<&str> {
        self.modules.get(&backend).map(String::as_str)
    }

    /// The binaries of a mode for IPv6.
    pub fn ipv6_pair_of(&self, mode: IptablesMode) -> Option<Vec<String>> {
        self.binaries.get(&mode).map(|binary| pair(&ipv6_name(binary)))
    }

    /// Modes that the version tries in order if a binary of the configured one is missing: the first complete pair
    /// wins. Empty for versions that fail instead.
    pub fn fallbacks(&self, version: &CniVersion) -> &[IptablesMode] {
        self.for_version(version).map_or(&[], |row| &row.falls_back)
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

/// `iptables-nft` -> `ip6tables-nft`.
fn ipv6_name(binary: &str) -> String {
    binary.replacen("iptables", "ip6tables", 1)
}

fn pair(binary: &str) -> Vec<String> {
    vec![format!("{binary}-save"), binary.to_owned()]
}

impl KnowledgeFile for CniPlugin {
    const NAME: &'static str = "cni-plugin.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/cni-plugin.yaml");

    fn finish(&mut self) -> Result<(), String> {
        for pair in self.releases.windows(2) {
            if pair[0].first >= pair[1].first {
                return Err(format!("{} and {} are out of order", pair[0].first, pair[1].first));
            }
        }
        if self.releases.last().is_none_or(|row| row.first > self.last) {
            return Err("last must not be older than the last row".to_owned());
        }
        if !self.last_release.pre.is_empty() || self.last_release > self.last {
            return Err("last-release is a release, and not newer than last".to_owned());
        }
        for row in &self.releases {
            if !self.cni_specs.contains(&row.cni_spec) {
                return Err(format!("{}: {} is not in cni-specs", row.first, row.cni_spec));
            }
            if row.modes.is_empty() != row.absent_mode.is_none() {
                return Err(format!("{}: modes and absent-mode go together", row.first));
            }
            if let Some(mode) = row.modes.iter().find(|mode| !self.binaries.contains_key(mode)) {
                return Err(format!("{}: the mode {mode} has no binary", row.first));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;

    fn plugin() -> &'static CniPlugin {
        Knowledge::embedded().cni_plugin()
    }

    fn v(tag: &str) -> CniVersion {
        CniVersion::from_tag(tag)
    }

    #[test]
    fn plain_came_with_v1_6_0() {
        use IptablesMode::{Legacy, Nft};
        for (tag, mode, expected) in [
            ("v1.3.0", Some("plain"), Support::IgnoresKey),
            ("v1.3.0", None, Support::IgnoresKey),
            ("stable-2.12.2", Some("nft"), Support::IgnoresKey),
            ("v1.4.0", Some("nft"), Support::Yes),
            ("v1.5.2", None, Support::Yes),
            ("v1.5.2", Some(""), Support::Yes),
            ("v1.5.2", Some("plain"), Support::No { accepted: &[Legacy, Nft] }),
            ("v1.6.0", Some("plain"), Support::Yes),
            ("v1.6.7", Some("plain"), Support::Yes),
            ("v1.7.0-alpha.1", Some("plain"), Support::Yes),
            ("v1.7.0", Some("plain"), Support::Unknown),
            ("acme-3", Some("plain"), Support::Unknown),
        ] {
            assert_eq!(plugin().mode_supported(&v(tag), mode), expected, "{tag} {mode:?}");
        }
        assert!(matches!(plugin().mode_supported(&v("v1.6.4"), Some("NFT")), Support::No { .. }));
        assert_eq!(plugin().first_with_mode(IptablesMode::Plain), Some(&Version::new(1, 6, 0)));
        assert_eq!(plugin().first_with_clean_up(), Some(&Version::new(1, 6, 2)));
    }

    #[test]
    fn binaries_follow_the_mode_and_save_runs_first() {
        let needed = |tag: &str, mode: Option<&str>, ipv6| {
            plugin().binaries(&v(tag), mode, ipv6).map(|binaries| (binaries.needed, binaries.optional))
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(needed("v1.5.2", None, false), Some((names(&["iptables-legacy-save", "iptables-legacy"]), vec![])));
        assert_eq!(needed("v1.3.0", Some("nft"), true), Some((names(&["iptables-save", "iptables"]), vec![])));
        assert_eq!(
            needed("v1.4.0", Some("nft"), true),
            Some((names(&["iptables-nft-save", "iptables-nft"]), names(&["ip6tables-nft-save", "ip6tables-nft"])))
        );
        assert_eq!(
            needed("v1.6.2", Some("plain"), true),
            Some((names(&["iptables-save", "iptables", "ip6tables-save", "ip6tables"]), vec![]))
        );
        assert_eq!(needed("v1.5.2", Some("plain"), false), None);
        assert_eq!(needed("latest", None, false), None);
        assert_eq!(plugin().fallbacks(&v("v1.6.8")), &[]);
        assert_eq!(
            plugin().fallbacks(&v("v1.7.0-alpha.1")),
            &[IptablesMode::Nft, IptablesMode::Plain, IptablesMode::Legacy]
        );
    }

    #[test]
    fn each_version_has_its_row() {
        for (tag, first, broken, native) in [
            ("v1.1.3", "1.0.0", false, false),
            ("v1.3.0", "1.3.0", false, false),
            ("v1.5.0", "1.5.0", false, true),
            ("v1.6.0", "1.6.0", true, true),
            ("v1.6.1", "1.6.1", true, true),
            ("v1.6.2", "1.6.2", false, true),
            ("v1.6.9", "1.6.5", false, true),
        ] {
            let row = plugin().for_version(&v(tag)).expect(tag);
            assert_eq!(
                (row.first.to_string().as_str(), row.clean_up_broken, row.native_sidecars),
                (first, broken, native),
                "{tag}"
            );
        }
        assert!(plugin().is_beyond(&v("v2.0.0")) || matches!(v("v2.0.0"), CniVersion::Unknown(_)));
        assert!(plugin().is_beyond(&v("v1.7.0")) && plugin().for_version(&v("v1.7.0")).is_none());
    }
}
