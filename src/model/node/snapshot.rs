//! The typed snapshot of one node and the questions checks ask of it.
//!
//! "Looked for and absent" and "not looked for" are different answers everywhere; nothing here turns one
//! into the other.

use std::collections::{BTreeMap, BTreeSet};

use super::conflist::{Config, ConfigKind, Defect, Plugin};
use super::entry::LinkerdEntry;
use super::facts::{
    BinEntry, Dirs, FileKind, HostBinaries, HostBinary, IndexEntry, KubeconfigFacts, Logs, Lsm, Meta,
    OsRelease, PluginBins, Problem, RuntimeInfo, VersionAnswer,
};
use super::files::{DEFAULT_CONF_DIR, has_loadable_extension};
use super::looked::Looked;
use super::runtime::RuntimeKind;

/// Everything a snapshot says of one node. A part that is `None` is not in the snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSnapshot {
    pub node: String,
    pub meta: Meta,
    pub dirs: Option<Dirs>,
    /// The listing of the configuration directories; `None` for a bare copy.
    pub index: Option<Vec<IndexEntry>>,
    /// Some rows of the listing could not be read: nothing can be said to be absent from it.
    pub index_incomplete: bool,
    /// Every known file of every configuration directory, sorted by directory and name, in bytes.
    pub conf_files: Vec<ConfFile>,
    /// `None` when no kubeconfig was looked for.
    pub kubeconfigs: Option<Vec<KubeconfigFacts>>,
    pub bins: Option<PluginBins>,
    pub host_binaries: Option<HostBinaries>,
    pub os_release: Option<OsRelease>,
    pub uname: Option<String>,
    /// Names of loaded or built-in kernel modules among those that matter.
    pub modules: Option<BTreeSet<String>>,
    pub sysctl: Option<BTreeMap<String, String>>,
    pub lsm: Option<Lsm>,
    pub runtime_info: Option<RuntimeInfo>,
    pub logs: Logs,
    /// What could not be read in the snapshot itself. A broken CNI configuration is not among these: that is
    /// evidence, see [`ConfFile::defect`].
    pub problems: Vec<Problem>,
}

/// One file of a configuration directory.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfFile {
    /// Absolute directory on the node.
    pub dir: String,
    pub name: String,
    /// Its row in the listing; `None` means that mode, owner and times are unknown.
    pub index: Option<IndexEntry>,
    pub content: Content,
}

/// What is known of a file's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Captured {
        /// Redacted, otherwise as on the node.
        bytes: Vec<u8>,
        /// What it says; `None` when it is not JSON.
        config: Option<Box<Config>>,
        /// Why a runtime would refuse it; for files that no runtime loads, why it could not.
        defect: Option<Defect>,
    },
    /// The file is known to exist, its content is not in the snapshot: why.
    NotCaptured(String),
}

impl ConfFile {
    /// Absolute path on the node.
    pub fn path(&self) -> String {
        format!("{}/{}", self.dir.trim_end_matches('/'), self.name)
    }

    /// Do runtimes consider it, going by its name and kind? (`.bak`, `.cilium_bak` and the like are inert.)
    pub fn is_loadable(&self) -> bool {
        let directory = self.index.as_ref().is_some_and(|row| row.kind == FileKind::Dir);
        has_loadable_extension(&self.name) && !directory
    }

    /// How runtimes read it; `None` for inert files.
    pub fn kind(&self) -> Option<ConfigKind> {
        kind_of(&self.name)
    }

    /// What it says, when captured and JSON.
    pub fn config(&self) -> Option<&Config> {
        match &self.content {
            Content::Captured { config, .. } => config.as_deref(),
            Content::NotCaptured(_) => None,
        }
    }

    /// Why it cannot be loaded; `None` also when its content was not captured.
    pub fn defect(&self) -> Option<&Defect> {
        match &self.content {
            Content::Captured { defect, .. } => defect.as_ref(),
            Content::NotCaptured(_) => None,
        }
    }

    /// Its linkerd-cni entries at any depth. `Err` says why nobody can tell: not captured, or not JSON.
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

    /// Every plugin at any depth; empty when nothing could be read.
    pub fn plugins(&self) -> &[Plugin] {
        self.config().map_or(&[], |config| &config.plugins)
    }

    /// Does its text hold this word? `None` when the content was not captured.
    pub fn mentions(&self, word: &str) -> Option<bool> {
        match &self.content {
            Content::Captured { bytes, .. } => {
                Some(bytes.windows(word.len().max(1)).any(|window| window == word.as_bytes()))
            }
            Content::NotCaptured(_) => None,
        }
    }

    /// One line of it (1-based), redacted, for quoting.
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

/// How a runtime reads a file of this name.
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
    /// Its directory was looked at and it is not there.
    Absent {
        path: String,
    },
    /// Nobody looked, or it was not read.
    NotLookedFor {
        path: String,
        why: String,
    },
    /// The entry names none.
    NoPath,
}

impl NodeSnapshot {
    /// The directory the runtime reads, as far as known; else the usual one.
    pub fn conf_dir(&self) -> &str {
        let said = self.dirs.as_ref().and_then(|dirs| dirs.conf_dir.as_deref());
        let told = self.runtime_info.as_ref().and_then(|info| info.conf_dir.as_deref());
        said.or(told).unwrap_or(DEFAULT_CONF_DIR)
    }

    /// Nothing in the snapshot says which directory the runtime reads.
    pub fn conf_dir_is_assumed(&self) -> bool {
        let told = self.runtime_info.as_ref().is_some_and(|info| info.conf_dir.is_some());
        !told && self.dirs.as_ref().is_none_or(|dirs| dirs.conf_dir.is_none())
    }

    /// The files of the runtime's own directory that it considers, in its order.
    pub fn loadable_files(&self) -> Vec<&ConfFile> {
        let dir = self.conf_dir();
        self.conf_files.iter().filter(|file| file.dir == dir && file.is_loadable()).collect()
    }

    /// The file at an absolute path, when the snapshot knows of it.
    pub fn conf_file(&self, path: &str) -> Option<&ConfFile> {
        let (dir, name) = path.rsplit_once('/')?;
        self.conf_files.iter().find(|file| file.name == name && file.dir == dir)
    }

    /// Is every file name of this directory known? `Some(false)`: the directory does not exist.
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
        // Without a list of directories, a listing is that of the runtime's own.
        let only = self.dirs.as_ref().is_none_or(|dirs| dirs.looked_at.is_empty()) && dir == self.conf_dir();
        (looked || rows || only && index.is_empty()).then_some(true)
    }

    /// As [`NodeSnapshot::lists`], for the files that runtimes consider: a snapshot copies all of those, so
    /// without a listing the copies are the listing.
    pub fn lists_loadable(&self, dir: &str) -> Option<bool> {
        let dir = dir.trim_end_matches('/');
        let unread = self.meta.errors.iter().any(|error| error.path.trim_end_matches('/') == dir);
        let copied =
            self.index.is_none() && self.conf_files.iter().any(|file| file.dir == dir && file.is_loadable());
        self.lists(dir).or((copied && !unread).then_some(true))
    }

    /// Is there something at this absolute path? Answers only for the configuration directories.
    pub fn exists(&self, path: &str) -> Looked<()> {
        let Some((dir, name)) = path.rsplit_once('/') else {
            return Looked::NotLookedFor("the path is not absolute");
        };
        let dir = dir.trim_end_matches('/');
        let facts = self.kubeconfigs.as_deref().unwrap_or_default().iter().any(|facts| facts.path == path);
        let row =
            self.index.as_deref().unwrap_or_default().iter().any(|row| row.dir == dir && row.name == name);
        if facts || row || self.conf_file(path).is_some() {
            return Looked::Found(());
        }
        match self.lists(dir) {
            Some(_) => Looked::Absent,
            None => Looked::NotLookedFor("its directory is not in the snapshot"),
        }
    }

    /// The kubeconfig that this entry's `kubernetes.kubeconfig` names.
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
        // A copy of a directory that does not say which one it was: the entry does, since the installer writes
        // both into the same.
        let name = path.rsplit('/').next().unwrap_or(path);
        let beside = format!("{}/{name}", self.conf_dir());
        if self.conf_dir_is_assumed()
            && let Some(facts) = known.iter().find(|facts| facts.path == beside)
        {
            return KubeconfigLookup::Facts(facts);
        }
        let path = path.to_owned();
        // A row that could not be read might have been this one.
        if self.problems.iter().any(|problem| problem.file == "cni/kubeconfig.facts.json") {
            let why = "cni/kubeconfig.facts.json could not be read in full".to_owned();
            return KubeconfigLookup::NotLookedFor { path, why };
        }
        match self.exists(&path) {
            // People leave kubeconfigs out of a copy that they hand on, since there is a token in them: only a listing
            // shows that one was not there, or a copy that holds another.
            Looked::Absent if self.index.is_none() && self.kubeconfigs.is_none() => {
                let why = "a copy of its directory may well leave kubeconfigs out".to_owned();
                KubeconfigLookup::NotLookedFor { path, why }
            }
            Looked::Absent => KubeconfigLookup::Absent { path },
            Looked::Found(()) => {
                KubeconfigLookup::NotLookedFor { path, why: "it is there, but was not read".to_owned() }
            }
            Looked::NotLookedFor(why) => KubeconfigLookup::NotLookedFor { path, why: why.to_owned() },
        }
    }

    /// One of the iptables names or `nsenter` on the runtime's PATH.
    pub fn binary(&self, name: &str) -> Looked<&HostBinary> {
        match self.host_binaries.as_ref().map(|host| host.binaries.get(name)) {
            None => Looked::NotLookedFor("host/binaries.json is not in the snapshot"),
            Some(None) => Looked::NotLookedFor("host/binaries.json does not name it"),
            Some(Some(None)) => Looked::Absent,
            Some(Some(Some(binary))) => Looked::Found(binary),
        }
    }

    /// Where the runtime looks for plugins; empty when nobody said.
    pub fn plugin_dirs(&self) -> Vec<&str> {
        let told = self.runtime_info.as_ref().map(|info| &info.bin_dirs).filter(|dirs| !dirs.is_empty());
        let dirs = self.dirs.as_ref().and_then(|dirs| dirs.bin_dirs.as_ref()).or(told);
        dirs.into_iter().flatten().map(String::as_str).collect()
    }

    /// containerd's `max_conf_num`: how many files it loads, 0 for all of them. `None` when nobody said.
    pub fn max_conf_num(&self) -> Option<u64> {
        let told = self.runtime_info.as_ref().and_then(|info| info.max_conf_num);
        self.dirs.as_ref().and_then(|dirs| dirs.max_conf_num).or(told)
    }

    /// A plugin binary in the directories where the runtime looks for plugins.
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

    /// A plugin binary outside the directories where the runtime looks.
    pub fn plugin_binary_elsewhere(&self, name: &str) -> Option<&BinEntry> {
        match self.plugin_binary(name) {
            Looked::Found(_) | Looked::NotLookedFor(_) => None,
            Looked::Absent => self.bins.as_ref()?.entries.iter().find(|entry| entry.name == name),
        }
    }

    /// What the linkerd-cni binary answered to `CNI_COMMAND=VERSION`.
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

    /// The runtime as the snapshot itself tells it, for when the cluster does not.
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

    /// Every linkerd-cni entry in every file of every directory, inert files included.
    pub fn all_linkerd_entries(&self) -> Vec<(&ConfFile, &LinkerdEntry)> {
        let entries = |file: &'_ ConfFile| file.linkerd_entries().map(<[LinkerdEntry]>::len).unwrap_or(0);
        let files = self.conf_files.iter().filter(|file| entries(file) > 0);
        files
            .flat_map(|file| {
                file.linkerd_entries().unwrap_or_default().iter().map(move |entry| (file, entry))
            })
            .collect()
    }
}

/// The same path, doubled and trailing slashes aside.
fn same_path(one: &str, other: &str) -> bool {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    one == other || parts(one) == parts(other)
}
