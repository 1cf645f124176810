//! `node.yaml`: where a node keeps what a node snapshot reads. Names and places only; what is found there is evidence.

use serde::Deserialize;

use super::file::KnowledgeFile;

/// containerd's processes and configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Containerd {
    /// Names of its process.
    pub processes: Vec<String>,
    /// Where packages put it.
    pub programs: Vec<String>,
    /// The flags that name its configuration.
    pub flags: Vec<String>,
    /// Its configuration file, by distribution; the first that is there.
    pub config_files: Vec<String>,
    /// Names of the CRI plugin's table in versions 1 and 2.
    pub tables: Vec<String>,
    /// Names of that table in version 3 and newer.
    pub tables_v3: Vec<String>,
    /// Names under which the CRI plugin is switched off.
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
    /// Where packages put it.
    pub programs: Vec<String>,
    /// The flags that name its configuration.
    pub flags: Vec<String>,
    /// The flags that name the folder of drop-in files.
    pub drop_in_flags: Vec<String>,
    /// Its configuration file; the first that is there.
    pub config_files: Vec<String>,
    /// The folder of drop-in files.
    pub drop_ins: String,
    /// Words in the path of its socket.
    pub endpoints: Vec<String>,
}

/// crictl, which asks the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Crictl {
    /// Where it lies, beside PATH.
    pub folders: Vec<String>,
    /// Its configuration, which names the socket; the first that is there.
    pub config_files: Vec<String>,
}

/// The kubelet, which says which runtime it uses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Kubelet {
    /// Names of its process.
    pub processes: Vec<String>,
    /// Its configuration file.
    pub config_files: Vec<String>,
    /// Files that hold flags of it.
    pub flag_files: Vec<String>,
}

/// Where one program logs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Log {
    /// Units of systemd.
    pub units: Vec<String>,
    /// Names in the lines of a shared log.
    pub tags: Vec<String>,
    /// Files of its own.
    pub files: Vec<String>,
}

/// Where logs are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogPlaces {
    /// The container runtime's.
    pub runtime: Log,
    /// The kubelet's.
    pub kubelet: Log,
    /// Files that hold the lines of all programs.
    pub shared: Vec<String>,
}

/// The table of places.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NodePlaces {
    source: String,
    date: jiff::civil::Date,
    /// containerd.
    pub containerd: Containerd,
    /// CRI-O.
    pub crio: Crio,
    /// crictl.
    pub crictl: Crictl,
    /// The kubelet.
    pub kubelet: Kubelet,
    /// PATH of a service that sets none.
    pub path: String,
    /// The programs that linkerd-cni may run.
    pub binaries: Vec<String>,
    /// Those of them that name their backend when asked for their version.
    pub versions: Vec<String>,
    /// Kernel modules that matter.
    pub modules: Vec<String>,
    /// Kernel settings that matter.
    pub sysctls: Vec<String>,
    /// Logs.
    pub logs: LogPlaces,
}

impl NodePlaces {
    /// Where this is known from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// When it was last checked.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for NodePlaces {
    const NAME: &'static str = "node.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/node.yaml");

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
