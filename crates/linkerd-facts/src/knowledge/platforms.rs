//! `platforms.yaml`: CNI directories of platforms, and iptables binaries of operating systems. General knowledge about
//! platforms, not observations of a node.

use serde::Deserialize;

use super::cni_words::IptablesMode;
use super::file::KnowledgeFile;
use crate::version::Distribution;

/// Certainty that an operating system has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    Present,
    /// Usually present.
    Likely,
    Unknown,
    /// Usually missing.
    LikelyAbsent,
    /// Missing.
    Absent,
}

impl Certainty {
    /// `Absent` or `LikelyAbsent`.
    pub fn is_lacking(self) -> bool {
        matches!(self, Certainty::Absent | Certainty::LikelyAbsent)
    }
}

/// The operating systems whose hosts have no shell, by their ids.
const WITHOUT_SHELL: [&str; 2] = ["bottlerocket", "talos"];

/// An operating system.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct System {
    /// Name of the row.
    pub id: String,
    /// Name for people.
    pub title: String,
    os_release: Vec<String>,
    /// Versions it is limited to, as `VERSION_ID` or the part of it before the first dot.
    #[serde(default)]
    os_release_version: Vec<String>,
    os_image: Vec<String>,
    plain: Certainty,
    nft: Certainty,
    legacy: Certainty,
    /// Whether the host has nsenter.
    pub nsenter: Certainty,
    /// Whether `/` and most of the system are read-only.
    #[serde(default)]
    pub read_only_root: bool,
    /// Access to the host, if unusual.
    pub shell: Option<String>,
    /// Source, if it differs from the file's.
    pub source: Option<String>,
}

impl System {
    /// Whether the host has no shell, so that no script runs there after `chroot`.
    pub fn lacks_shell(&self) -> bool {
        WITHOUT_SHELL.contains(&self.id.as_str())
    }

    /// Whether the host has the binaries of a mode.
    pub fn has(&self, mode: IptablesMode) -> Certainty {
        match mode {
            IptablesMode::Plain => self.plain,
            IptablesMode::Nft => self.nft,
            IptablesMode::Legacy => self.legacy,
        }
    }
}

/// A platform with its CNI directories.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Platform {
    /// Name of the row.
    pub id: String,
    /// Name for people.
    pub title: String,
    #[serde(default)]
    distributions: Vec<String>,
    #[serde(default)]
    os_image: Vec<String>,
    #[serde(default)]
    provider: Vec<String>,
    /// Directory for linkerd-cni's configuration (`destCNINetDir`).
    pub conf_dir: String,
    /// The directory that the runtime reads, if it is another one, because multus owns and rewrites its configuration.
    pub multus_dir: Option<String>,
    /// The directory of plugin binaries (`destCNIBinDir`).
    pub bin_dir: String,
    /// Directories of older or unusual versions.
    #[serde(default)]
    pub other_bin_dirs: Vec<String>,
    /// Names of the base network's files.
    #[serde(default)]
    pub base_files: Vec<String>,
    /// Further notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Source, if it differs from the file's.
    pub source: Option<String>,
}

/// A base network: the writer of a CNI configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Network {
    /// Name of the row.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// Prefixes of its file names.
    files: Vec<String>,
    /// Types of plugins that only it uses.
    plugins: Vec<String>,
    /// Names of its DaemonSets.
    pub daemon_sets: Vec<String>,
    /// A step that keeps it from writing a `.conf` next to a `.conflist`.
    pub conf_name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Dirs {
    conf_dir: String,
    bin_dir: String,
}

/// Marks of virtual nodes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct VirtualNode {
    title: String,
    label: Option<String>,
    value: Option<String>,
    taint: Option<String>,
    #[allow(dead_code, reason = "for readers of the file")]
    source: String,
}

/// The tables of systems and platforms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Platforms {
    source: String,
    date: jiff::civil::Date,
    systems: Vec<System>,
    platforms: Vec<Platform>,
    networks: Vec<Network>,
    default: Dirs,
    virtual_nodes: Vec<VirtualNode>,
    node_groups: Vec<String>,
}

impl Platforms {
    /// Keys of labels that name the group, zone or type of a node, the most telling first.
    pub fn node_groups(&self) -> &[String] {
        &self.node_groups
    }

    /// Provider of a virtual node, by its labels and taints; `None` for a machine.
    pub fn virtual_node<'a>(
        &self,
        label: impl Fn(&str) -> Option<&'a str>,
        taint: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        let labelled = |row: &VirtualNode| {
            row.label.as_deref().and_then(&label).is_some_and(|value| row.value.as_deref() == Some(value))
        };
        let tainted = |row: &VirtualNode| row.taint.as_deref().is_some_and(&taint);
        self.virtual_nodes.iter().find(|row| labelled(row) || tainted(row)).map(|row| row.title.as_str())
    }

    /// The system by `ID` and `VERSION_ID` of os-release.
    pub fn system_by_os_release(&self, id: &str, version: Option<&str>) -> Option<&System> {
        self.systems.iter().find(|row| {
            let major = version.and_then(|version| version.split('.').next());
            row.os_release.iter().any(|known| known == id)
                && (row.os_release_version.is_empty()
                    || row.os_release_version.iter().any(|known| Some(known.as_str()) == major))
        })
    }

    /// The system by `Node.status.nodeInfo.osImage`.
    pub fn system_by_os_image(&self, os_image: &str) -> Option<&System> {
        self.systems.iter().find(|row| row.os_image.iter().any(|piece| os_image.contains(piece.as_str())))
    }

    /// The platform of a Node: by the distribution in its kubelet's version, its operating system, and its
    /// `providerID`; in that order, because k3s and OpenShift run on any machine.
    pub fn platform(
        &self,
        distribution: Option<Distribution>,
        os_image: Option<&str>,
        provider_id: Option<&str>,
    ) -> Option<&Platform> {
        let name = distribution.map(|distribution| distribution.to_string().to_ascii_lowercase());
        let by_name = |row: &&Platform| name.as_ref().is_some_and(|name| row.distributions.contains(name));
        let by_image =
            |row: &&Platform| os_image.is_some_and(|image| row.os_image.iter().any(|p| image.contains(p.as_str())));
        let by_provider =
            |row: &&Platform| provider_id.is_some_and(|id| row.provider.iter().any(|p| id.starts_with(p.as_str())));
        let rows = || self.platforms.iter();
        rows().find(by_name).or_else(|| rows().find(by_image)).or_else(|| rows().find(by_provider))
    }

    /// The network that writes a file of this name, else the one whose plugins it contains.
    pub fn network(&self, file: &str, plugins: &[&str]) -> Option<&Network> {
        let by_name = |row: &&Network| row.files.iter().any(|start| file.starts_with(start.as_str()));
        let by_plugin = |row: &&Network| row.plugins.iter().any(|known| plugins.contains(&known.as_str()));
        self.networks.iter().find(by_name).or_else(|| self.networks.iter().find(by_plugin))
    }

    /// All platforms, in the order of the file.
    pub fn platforms(&self) -> &[Platform] {
        &self.platforms
    }

    /// All systems, in the order of the file.
    pub fn systems(&self) -> &[System] {
        &self.systems
    }

    /// Default CNI configuration directory.
    pub fn default_conf_dir(&self) -> &str {
        &self.default.conf_dir
    }

    /// Default directory of plugin binaries.
    pub fn default_bin_dir(&self) -> &str {
        &self.default.bin_dir
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

impl KnowledgeFile for Platforms {
    const NAME: &'static str = "platforms.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/platforms.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let mut ids: Vec<&str> = self.systems.iter().map(|row| row.id.as_str()).collect();
        ids.sort_unstable();
        let mut platforms: Vec<&str> = self.platforms.iter().map(|row| row.id.as_str()).collect();
        platforms.sort_unstable();
        for ids in [ids, platforms] {
            if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("{} is listed twice", pair[0]));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;

    #[test]
    fn nodes_map_to_platforms() {
        let platforms = Knowledge::embedded().platforms();
        for (image, id) in [
            ("Bottlerocket OS 1.32.0 (aws-k8s-1.31)", Some("bottlerocket")),
            ("Amazon Linux 2023.6.20250203", Some("amazon-linux-2023")),
            ("Amazon Linux 2", Some("amazon-linux-2")),
            ("Red Hat Enterprise Linux 10.0 (Coughlan)", Some("rhel-10")),
            ("Red Hat Enterprise Linux 8.10 (Ootpa)", Some("rhel-8-9")),
            ("Talos (v1.8.0)", Some("talos")),
            ("Ubuntu 22.04.5 LTS", Some("ubuntu")),
            ("Some OS", None),
        ] {
            assert_eq!(platforms.system_by_os_image(image).map(|row| row.id.as_str()), id, "{image}");
        }
        for (os, version, id) in [
            ("amzn", Some("2023"), Some("amazon-linux-2023")),
            ("amzn", Some("2"), Some("amazon-linux-2")),
            ("rocky", Some("9.4"), Some("rhel-8-9")),
            ("rocky", Some("10.0"), Some("rhel-10")),
            ("bottlerocket", None, Some("bottlerocket")),
            ("nixos", None, None),
        ] {
            assert_eq!(platforms.system_by_os_release(os, version).map(|row| row.id.as_str()), id, "{os}");
        }
        let al2023 = platforms.system_by_os_release("amzn", Some("2023")).expect("known");
        assert!(al2023.has(IptablesMode::Legacy).is_lacking() && al2023.has(IptablesMode::Plain) == Certainty::Present);
    }

    #[test]
    fn distribution_precedes_provider() {
        let platforms = Knowledge::embedded().platforms();
        let id = |d, image, provider| platforms.platform(d, image, provider).map(|row| row.id.as_str());
        assert_eq!(id(Some(Distribution::K3s), None, Some("aws:///eu/i-1")), Some("k3s"));
        assert_eq!(id(None, None, Some("aws:///eu/i-1")), Some("eks"));
        assert_eq!(id(None, Some("Talos (v1.8.0)"), Some("aws:///eu/i-1")), Some("talos"));
        assert_eq!(id(Some(Distribution::OpenShift), None, None), Some("openshift"));
        assert_eq!(id(None, None, None), None);
        assert_eq!(platforms.default_conf_dir(), "/etc/cni/net.d");
    }
}
