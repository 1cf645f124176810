//! The typed snapshot of one node and the questions that checks need answered.
//!
//! "Searched and absent" and "not searched" are always different answers, and are never converted into each
//! other.

use std::collections::{BTreeMap, BTreeSet};

use super::conflist::{Config, ConfigKind, Defect, Plugin};
use super::entry::LinkerdEntry;
use super::facts::{
    BinEntry, Dirs, FileKind, HostBinaries, HostBinary, IndexEntry, KubeconfigFacts, Logs, Lsm, Meta, OsRelease,
    PluginBins, Problem, RuntimeInfo, VersionAnswer,
};
use super::files::{DEFAULT_CONF_DIR, has_loadable_extension};
use super::lookup::Looked;
use super::runtime::RuntimeKind;

/// All contents of a snapshot. A part that is `None` is not in the snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSnapshot {
    pub node: String,
    pub meta: Meta,
    pub dirs: Option<Dirs>,
    /// The listing of the configuration directories; `None` for a bare copy.
    pub index: Option<Vec<IndexEntry>>,
    /// Whether rows of the listing are unreadable, so that it cannot prove absence.
    pub index_incomplete: bool,
    /// Every known file of every configuration directory, sorted by directory and name in byte order.
    pub conf_files: Vec<ConfFile>,
    /// `None` if no kubeconfig was searched.
    pub kubeconfigs: Option<Vec<KubeconfigFacts>>,
    pub bins: Option<PluginBins>,
    pub host_binaries: Option<HostBinaries>,
    pub os_release: Option<OsRelease>,
    pub uname: Option<String>,
    /// Names of the relevant kernel modules that are loaded or built in.
    pub modules: Option<BTreeSet<String>>,
    pub sysctl: Option<BTreeMap<String, String>>,
    pub lsm: Option<Lsm>,
    pub runtime_info: Option<RuntimeInfo>,
    pub logs: Logs,
    /// Problems in the snapshot itself. Broken CNI configurations are evidence and not listed here, see
    /// [`ConfFile::defect`].
    pub problems: Vec<Problem>,
}

/// One file of a configuration directory.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfFile {
    /// Absolute directory on the node.
    pub dir: String,
    pub name: String,
    /// Its row in the listing; with `None`, mode, owner and times are unknown.
    pub index: Option<IndexEntry>,
    pub content: Content,
}

/// The known content of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Captured {
        /// Redacted, otherwise as on the node.
        bytes: Vec<u8>,
        /// The parsed configuration; `None` if it is not JSON.
        config: Option<Box<Config>>,
        /// Why a runtime would reject it; for files that no runtime loads, why it could not be loaded.
        defect: Option<Defect>,
    },
    /// The file exists, but its content is not in the snapshot; the reason.
    NotCaptured(String),
}

impl ConfFile {
    /// Absolute path on the node.
    pub fn path(&self) -> String {
        format!("{}/{}", self.dir.trim_end_matches('/'), self.name)
    }

    /// Whether runtimes consider it, by name and type. (`.bak`, `.cilium_bak` and the like are inert.)
    pub fn is_loadable(&self) -> bool {
        let directory = self.index.as_ref().is_some_and(|row| row.kind == FileKind::Dir);
        has_loadable_extension(&self.name) && !directory
    }

    /// The format in which runtimes read it; `None` for inert files.
    pub fn kind(&self) -> Option<ConfigKind> {
        kind_of(&self.name)
    }

    /// Its configuration, if captured and JSON.
    pub fn config(&self) -> Option<&Config> {
        match &self.content {
            Content::Captured { config, .. } => config.as_deref(),
            Content::NotCaptured(_) => None,
        }
    }

    /// Why it cannot be loaded; also `None` if its content was not captured.
    pub fn defect(&self) -> Option<&Defect> {
        match &self.content {
            Content::Captured { defect, .. } => defect.as_ref(),
            Content::NotCaptured(_) => None,
        }
    }

    /// Its linkerd-cni entries at any depth. `Err` explains why they are unknown: not captured, or not
    /// JSON.
    pub fn linkerd_entries(&self) -> Result<&[LinkerdEntry], String> {
        match &self.content {
            Content::NotCaptured(why) => Err(format!("{}: content not captured ({why})", self.path())),
            Content::Captured { config: Some(config), .. } => Ok(&config.linkerd_entries),
            Content::Captured { config: None, defect, .. } => {
                let why = defect.as_ref().map_or("not JSON", |defect| defect.message.as_str());
                Err(format!("{}: {why}", self.path()))
            }
        }
    }

    /// Every plugin at any depth; empty if nothing could be read.
    pub fn plugins(&self) -> &[Plugin] {
        self.config().map_or(&[], |config| &config.plugins)
    }

    /// Whether its text contains this word; `None` if the content was not captured.
    pub fn mentions(&self, word: &str) -> Option<bool> {
        match &self.content {
            Content::Captured { bytes, .. } => {
                Some(bytes.windows(word.len().max(1)).any(|window| window == word.as_bytes()))
            }
            Content::NotCaptured(_) => None,
        }
    }

    /// One redacted line (1-based), for quoting.
    pub fn line(&self, number: usize) -> Option<String> {
        match &self.content {
            Content::Captured { bytes, .. } => {
                let line = bytes.split(|byte| *byte == b'\n').nth(number.checked_sub(1)?)?;
                Some(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned())
            }
            Content::NotCaptured(_) => None,
        }
    }
}

/// The format in which a runtime reads a file of this name.
pub(super) fn kind_of(name: &str) -> Option<ConfigKind> {
    match name.rsplit_once('.')?.1 {
        "conflist" => Some(ConfigKind::List),
        "conf" | "json" => Some(ConfigKind::Single),
        _ => None,
    }
}

/// The kubeconfig that an entry names.
#[derive(Debug, Clone, PartialEq)]
pub enum KubeconfigLookup<'a> {
    Facts(&'a KubeconfigFacts),
    /// Its directory was inspected, and it does not exist.
    Absent {
        path: String,
    },
    /// Not searched, or not read.
    NotLookedFor {
        path: String,
        why: String,
    },
    /// The entry has no path.
    NoPath,
}

impl NodeSnapshot {
    /// The directory that the runtime reads, if known; else the default.
    pub fn conf_dir(&self) -> &str {
        let said = self.dirs.as_ref().and_then(|dirs| dirs.conf_dir.as_deref());
        let told = self.runtime_info.as_ref().and_then(|info| info.conf_dir.as_deref());
        said.or(told).unwrap_or(DEFAULT_CONF_DIR)
    }

    /// Whether the snapshot does not contain the runtime's directory, so that the default is assumed.
    pub fn conf_dir_is_assumed(&self) -> bool {
        let told = self.runtime_info.as_ref().is_some_and(|info| info.conf_dir.is_some());
        !told && self.dirs.as_ref().is_none_or(|dirs| dirs.conf_dir.is_none())
    }

    /// The files of the runtime's own directory that it considers, in its order.
    pub fn loadable_files(&self) -> Vec<&ConfFile> {
        let dir = self.conf_dir();
        self.conf_files.iter().filter(|file| file.dir == dir && file.is_loadable()).collect()
    }

    /// The file at an absolute path, if known.
    pub fn conf_file(&self, path: &str) -> Option<&ConfFile> {
        let (dir, name) = path.rsplit_once('/')?;
        self.conf_files.iter().find(|file| file.name == name && file.dir == dir)
    }

    /// Whether every file name of this directory is known. `Some(false)`: the directory does not exist.
    pub fn lists(&self, dir: &str) -> Option<bool> {
        let dir = dir.trim_end_matches('/');
        if self.meta.errors.iter().any(|error| error.path.trim_end_matches('/') == dir) {
            return None;
        }
        if let Some(dirs) = &self.dirs
            && dirs.looked_at.get(dir) == Some(&false)
        {
            return Some(false);
        }
        let Some(index) = &self.index else { return self.meta.listed.contains(dir).then_some(true) };
        if self.index_incomplete {
            return None;
        }
        let looked = self.dirs.as_ref().is_some_and(|dirs| dirs.looked_at.get(dir) == Some(&true));
        let rows = index.iter().any(|row| row.dir == dir);
        // Without a list of directories, a listing belongs to the runtime's own directory.
        let only = self.dirs.as_ref().is_none_or(|dirs| dirs.looked_at.is_empty()) && dir == self.conf_dir();
        (looked || rows || only && index.is_empty()).then_some(true)
    }

    /// As [`NodeSnapshot::lists`], for files that runtimes consider. A snapshot copies all of these, so
    /// without a listing the copies are complete.
    pub fn lists_loadable(&self, dir: &str) -> Option<bool> {
        let dir = dir.trim_end_matches('/');
        let unread = self.meta.errors.iter().any(|error| error.path.trim_end_matches('/') == dir);
        let copied = self.index.is_none() && self.conf_files.iter().any(|file| file.dir == dir && file.is_loadable());
        self.lists(dir).or((copied && !unread).then_some(true))
    }

    /// Whether an absolute path exists. Only for configuration directories.
    pub fn exists(&self, path: &str) -> Looked<()> {
        let Some((dir, name)) = path.rsplit_once('/') else {
            return Looked::NotLookedFor("the path is not absolute");
        };
        let dir = dir.trim_end_matches('/');
        let facts = self.kubeconfigs.as_deref().unwrap_or_default().iter().any(|facts| facts.path == path);
        let row = self.index.as_deref().unwrap_or_default().iter().any(|row| row.dir == dir && row.name == name);
        if facts || row || self.conf_file(path).is_some() {
            return Looked::Found(());
        }
        match self.lists(dir) {
            Some(_) => Looked::Absent,
            None => Looked::NotLookedFor("its directory is not in the snapshot"),
        }
    }

    /// The kubeconfig of this entry's `kubernetes.kubeconfig`.
    pub fn kubeconfig_of(&self, entry: &LinkerdEntry) -> KubeconfigLookup<'_> {
        match entry.kubeconfig.value() {
            None => KubeconfigLookup::NoPath,
            Some(path) => self.kubeconfig(path),
        }
    }

    /// The kubeconfig at an absolute path on the node.
    pub fn kubeconfig(&self, path: &str) -> KubeconfigLookup<'_> {
        let known = self.kubeconfigs.as_deref().unwrap_or_default();
        if let Some(facts) = known.iter().find(|facts| same_path(&facts.path, path)) {
            return KubeconfigLookup::Facts(facts);
        }
        // A copy of an unnamed directory: the entry names it, because the installer writes both into the
        // same directory.
        let name = path.rsplit('/').next().unwrap_or(path);
        let beside = format!("{}/{name}", self.conf_dir());
        if self.conf_dir_is_assumed()
            && let Some(facts) = known.iter().find(|facts| facts.path == beside)
        {
            return KubeconfigLookup::Facts(facts);
        }
        let path = path.to_owned();
        // An unreadable row might be this one.
        if self.problems.iter().any(|problem| problem.file == "cni/kubeconfig.facts.json") {
            let why = "cni/kubeconfig.facts.json could not be read in full".to_owned();
            return KubeconfigLookup::NotLookedFor { path, why };
        }
        match self.exists(&path) {
            // Kubeconfigs contain a token and are often left out of shared copies. Only a listing, or a
            // copy with another kubeconfig, shows that one did not exist.
            Looked::Absent if self.index.is_none() && self.kubeconfigs.is_none() => {
                let why = "copies of its directory often leave out kubeconfigs".to_owned();
                KubeconfigLookup::NotLookedFor { path, why }
            }
            Looked::Absent => KubeconfigLookup::Absent { path },
            Looked::Found(()) => KubeconfigLookup::NotLookedFor { path, why: "it exists, but was not read".to_owned() },
            Looked::NotLookedFor(why) => KubeconfigLookup::NotLookedFor { path, why: why.to_owned() },
        }
    }

    /// One of the iptables binaries or `nsenter` on the runtime's PATH. A file that cannot be executed is absent:
    /// the lookup passes over it.
    pub fn binary(&self, name: &str) -> Looked<&HostBinary> {
        match self.host_binaries.as_ref().map(|host| host.binaries.get(name)) {
            None => Looked::NotLookedFor("host/binaries.json is not in the snapshot"),
            Some(None) => Looked::NotLookedFor("host/binaries.json does not name it"),
            Some(Some(None)) => Looked::Absent,
            Some(Some(Some(binary))) if binary.executable == Some(false) => Looked::Absent,
            Some(Some(Some(binary))) => Looked::Found(binary),
        }
    }

    /// The name of an absent binary, with its file if one exists that cannot be executed.
    pub fn absent_binary(&self, name: &str) -> String {
        let host = self.host_binaries.as_ref().and_then(|host| host.binaries.get(name)?.as_ref());
        match host {
            Some(binary) => format!("{name} ({} is not executable)", binary.path),
            None => name.to_owned(),
        }
    }

    /// The runtime's plugin directories; empty if unknown.
    pub fn plugin_dirs(&self) -> Vec<&str> {
        let told = self.runtime_info.as_ref().map(|info| &info.bin_dirs).filter(|dirs| !dirs.is_empty());
        let dirs = self.dirs.as_ref().and_then(|dirs| dirs.bin_dirs.as_ref()).or(told);
        dirs.into_iter().flatten().map(String::as_str).collect()
    }

    /// containerd's `max_conf_num`: the number of files it loads, 0 for all. `None` if unknown.
    pub fn max_conf_num(&self) -> Option<u64> {
        let told = self.runtime_info.as_ref().and_then(|info| info.max_conf_num);
        self.dirs.as_ref().and_then(|dirs| dirs.max_conf_num).or(told)
    }

    /// A plugin binary in the runtime's plugin directories.
    pub fn plugin_binary(&self, name: &str) -> Looked<&BinEntry> {
        let Some(bins) = &self.bins else {
            return Looked::NotLookedFor("cni/bin.json is not in the snapshot");
        };
        let dirs = self.plugin_dirs();
        let searched = |dir: &str| dirs.is_empty() || dirs.iter().any(|known| same_path(known, dir));
        if let Some(entry) = bins.entries.iter().find(|entry| entry.name == name && searched(&entry.dir)) {
            return Looked::Found(entry);
        }
        let unread = |dir: &&str| self.meta.errors.iter().any(|error| same_path(&error.path, dir));
        if dirs.iter().any(unread) {
            return Looked::NotLookedFor("a plugin directory could not be read");
        }
        Looked::Absent
    }

    /// A plugin binary in other directories.
    pub fn plugin_binary_elsewhere(&self, name: &str) -> Option<&BinEntry> {
        match self.plugin_binary(name) {
            Looked::Found(_) | Looked::NotLookedFor(_) => None,
            Looked::Absent => self.bins.as_ref()?.entries.iter().find(|entry| entry.name == name),
        }
    }

    /// The answer of the linkerd-cni binary to `CNI_COMMAND=VERSION`.
    pub fn linkerd_cni_version(&self) -> Option<&VersionAnswer> {
        self.bins.as_ref()?.linkerd_cni_version.as_ref()
    }

    /// The kernel release, from `uname -r` or `uname -a`.
    pub fn kernel_release(&self) -> Option<&str> {
        let mut words = self.uname.as_deref()?.split_whitespace();
        match words.next()? {
            "Linux" => words.nth(1),
            release => Some(release),
        }
    }

    /// The runtime according to the snapshot, for use if the cluster does not name it.
    pub fn runtime_hint(&self) -> RuntimeKind {
        let name = self.runtime_info.as_ref().and_then(|info| info.name.as_deref());
        match name.map_or(RuntimeKind::Unknown, RuntimeKind::parse) {
            RuntimeKind::Unknown => {}
            known => return known,
        }
        match self.dirs.as_ref().and_then(|dirs| dirs.source.as_deref()) {
            Some("config.toml") => RuntimeKind::Containerd,
            Some("crio.conf") => RuntimeKind::Crio,
            Some(_) | None => RuntimeKind::Unknown,
        }
    }

    /// Every linkerd-cni entry in every file of every directory, including inert files.
    pub fn all_linkerd_entries(&self) -> Vec<(&ConfFile, &LinkerdEntry)> {
        let entries = |file: &'_ ConfFile| file.linkerd_entries().map(<[LinkerdEntry]>::len).unwrap_or(0);
        let files = self.conf_files.iter().filter(|file| entries(file) > 0);
        files
            .flat_map(|file| file.linkerd_entries().unwrap_or_default().iter().map(move |entry| (file, entry)))
            .collect()
    }
}

/// Whether two paths are equal, ignoring doubled and trailing slashes.
fn same_path(one: &str, other: &str) -> bool {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    one == other || parts(one) == parts(other)
}
