//! `node.yaml`: paths and names that a node snapshot reads.

use serde::Deserialize;

use super::file::KnowledgeFile;

/// containerd's processes and configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Containerd {
    /// Names of its process.
    pub processes: Vec<String>,
    /// Install paths of packages.
    pub programs: Vec<String>,
    /// Flags with its configuration.
    pub flags: Vec<String>,
    /// Configuration files by distribution; the first existing one applies.
    pub config_files: Vec<String>,
    /// Names of the CRI plugin's table in versions 1 and 2.
    pub tables: Vec<String>,
    /// Names of that table in version 3 and newer.
    pub tables_v3: Vec<String>,
    /// Names under which the CRI plugin can be disabled.
    pub disabled: Vec<String>,
    /// Words in the path of its socket.
    pub endpoints: Vec<String>,
}

/// CRI-O's processes and configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Crio {
    /// Names of its process.
    pub processes: Vec<String>,
    /// Install paths of packages.
    pub programs: Vec<String>,
    /// Flags with its configuration.
    pub flags: Vec<String>,
    /// Flags with the folder of drop-in files.
    pub drop_in_flags: Vec<String>,
    /// Configuration files; the first existing one applies.
    pub config_files: Vec<String>,
    /// The folder of drop-in files.
    pub drop_ins: String,
    /// Words in the path of its socket.
    pub endpoints: Vec<String>,
}

/// crictl, which queries the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Crictl {
    /// Paths in addition to PATH.
    pub folders: Vec<String>,
    /// Configuration files with the socket; the first existing one applies.
    pub config_files: Vec<String>,
}

/// The kubelet, which determines the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Kubelet {
    /// Names of its process.
    pub processes: Vec<String>,
    /// Its configuration file.
    pub config_files: Vec<String>,
    pub flag_files: Vec<String>,
}

/// Log locations of a program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Log {
    /// Units of systemd.
    pub units: Vec<String>,
    /// Names in lines of a shared log.
    pub tags: Vec<String>,
    /// Log files.
    pub files: Vec<String>,
}

/// Log locations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogPlaces {
    /// The container runtime's.
    pub runtime: Log,
    /// The kubelet's.
    pub kubelet: Log,
    /// Files with lines of all programs.
    pub shared: Vec<String>,
}

/// The table of paths.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NodePlaces {
    source: String,
    date: jiff::civil::Date,
    pub containerd: Containerd,
    /// CRI-O.
    pub crio: Crio,
    pub crictl: Crictl,
    pub kubelet: Kubelet,
    /// PATH of a service without its own.
    pub path: String,
    /// The programs that linkerd-cni may run.
    pub binaries: Vec<String>,
    /// Programs whose version output names the backend.
    pub versions: Vec<String>,
    /// Relevant kernel modules.
    pub modules: Vec<String>,
    /// Relevant kernel settings.
    pub sysctls: Vec<String>,
    pub logs: LogPlaces,
}

impl NodePlaces {
    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for NodePlaces {
    const NAME: &'static str = "node.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/node.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let paths = [&self.containerd.config_files, &self.crio.config_files, &self.logs.shared];
        let paths = paths.into_iter().flatten().chain([&self.crio.drop_ins]);
        match paths.into_iter().find(|path| !path.starts_with('/')) {
            Some(path) => Err(format!("{path}: not an absolute path")),
            None if self.versions.iter().any(|name| !self.binaries.contains(name)) => {
                Err("versions names a program that is not among the binaries".to_owned())
            }
            None => Ok(()),
        }
    }
}
