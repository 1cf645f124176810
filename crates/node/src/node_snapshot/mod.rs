//! Takes a node snapshot: evidence that the API server does not have, read on the node itself or in a pod
//! that mounts the node's files. [`take`] reads only the files of the snapshot format, redacts while it
//! reads, and records unreadable files. It changes nothing. Files are read only through [`root`], which never
//! leaves the root. Programs of the node are run only if the root is that of the running system. The result
//! has the format that [`crate::node`] reads, and passes through its [`normalise`] like any other
//! evidence.

mod binaries;
mod conf;
mod containerd;
mod crictl;
mod crio;
mod host;
mod logs;
mod notes;
mod plugins;
mod process;
mod root;
mod run;
mod runtime;
mod settings;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::knowledge::Knowledge;
use crate::names::is_subdomain;
use crate::node::{DEFAULT_MULTUS_DIR, Defaults, Dirs, Meta, NodeSnapshot, PathError, normalise};
use crate::node_files::NodeFiles;
use notes::Notes;
use root::Root;
use runtime::Runtime;

/// Options of a snapshot.
#[derive(Debug, Clone)]
pub struct Options {
    /// The root of the node's file system.
    pub root: PathBuf,
    /// The node's name, if known.
    pub node: Option<String>,
    /// Whether this process runs in a pod of the node, on the node's kernel.
    pub in_pod: bool,
    /// Run `crictl`, `journalctl`, `iptables --version` and the plugin's VERSION command, if the root is `/`.
    pub run: bool,
    /// Also run the linkerd-cni binary of another root.
    pub ask_plugin: bool,
    /// The directory of CNI configuration, instead of the runtime's.
    pub conf_dir: Option<String>,
    /// The directories of plugin binaries, instead of the runtime's.
    pub bin_dirs: Vec<String>,
    /// The time of the snapshot.
    pub at: Timestamp,
}

/// The result of [`take`].
#[derive(Debug, Clone)]
pub struct Taken {
    /// The files by their path in the snapshot, redacted, ready to be packed.
    pub files: NodeFiles,
    /// Description of the source of the node's name.
    pub named_by: &'static str,
    /// A line for each item that was read.
    pub read: Vec<String>,
    /// Items that were not read, and why.
    pub errors: Vec<PathError>,
}

/// Why no snapshot was taken.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// The root cannot be opened.
    #[error("{path}: {error}")]
    Root {
        /// The root.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// No source for the node's name.
    #[error("the node's name is not known: neither NODE_NAME nor the kubelet nor /etc/hostname contains it")]
    NoName,
    /// The given or found name is not valid.
    #[error("{name:?} is not a valid node name (from {named_by})")]
    BadName {
        name: String,
        /// Its source.
        named_by: &'static str,
    },
    /// No file of a node could be read.
    #[error("{path}: no files of a node could be read")]
    Nothing {
        /// The root.
        path: PathBuf,
        /// The attempts, and why they failed.
        errors: Vec<PathError>,
    },
}

/// Whether this is a valid directory for `--conf-dir`.
pub fn is_directory(text: &str) -> bool {
    settings::directory(text).is_some()
}

/// Takes a snapshot of the node whose files are under the root.
///
/// # Errors
/// The root cannot be opened, the node has no name, or nothing of it could be read.
pub fn take(options: &Options) -> Result<Taken, NotTaken> {
    let root = Root::open(&options.root).map_err(|error| NotTaken::Root { path: options.root.clone(), error })?;
    let knowledge = Knowledge::embedded();
    let (node, named_by) = name(&root, options, knowledge)?;
    let mut notes = Notes::default();
    let mut files = gather(&root, options, &node, knowledge, &mut notes);
    if files.is_empty() {
        return Err(NotTaken::Nothing { path: options.root.clone(), errors: notes.errors });
    }
    let Notes { read, errors, truncated, not_captured, .. } = notes;
    let meta = Meta {
        schema: Some("node-snapshot/1".to_owned()),
        node: Some(node.clone()),
        node_uid: None,
        collected_at: Timestamp::from_second(options.at.as_second()).ok(),
        collector: Some(concat!("meshdoctor ", env!("CARGO_PKG_VERSION")).to_owned()),
        host_root: Some(notes::shown(root.path())),
        errors: errors.clone(),
        truncated,
        not_captured,
        listed: BTreeSet::new(),
    };
    files.insert("meta.json".to_owned(), json(&meta));
    // Normalise before writing, so that the written files equal those that will be read.
    let files = normalise(&NodeFiles { node, files }, &Defaults::default());
    Ok(Taken { files, named_by, read, errors })
}

/// Every file except `meta.json`; empty if nothing could be read.
fn gather(
    root: &Root,
    options: &Options,
    node: &str,
    knowledge: &Knowledge,
    notes: &mut Notes,
) -> BTreeMap<String, Vec<u8>> {
    let places = knowledge.node();
    let mut files = BTreeMap::new();
    let mut add = |path: &str, bytes: Option<Vec<u8>>| {
        if let Some(bytes) = bytes {
            files.insert(path.to_owned(), bytes);
        }
    };
    let runtime = runtime::find(root, options, knowledge, notes);
    let conf = configuration(root, &runtime, knowledge, notes);
    let conf_seen = conf.looked_at.values().any(|exists| *exists) || root.is_whole();
    let bins = binaries_of_plugins(root, options, &runtime, knowledge, notes);
    add("host/os-release", host::os_release(root, notes));
    let own = if options.in_pod { Root::open(Path::new("/")).ok() } else { None };
    let kernel = host::Kernel::read(root, own.as_ref());
    add("host/uname", host::uname(&kernel, node, notes).map(String::into_bytes));
    add("host/modules.txt", host::modules_here(root, &kernel, places, notes).map(String::into_bytes));
    add("host/sysctl.json", host::sysctls(root, &kernel, places, notes).map(|settings| json(&settings)));
    add("host/lsm.json", host::lsm(&kernel, notes).map(|lsm| json(&lsm)));
    let run = root.is_own() && options.run;
    if root.is_whole() || runtime.process.is_some() {
        let found = binaries::look(root, runtime.process.as_ref(), places, run, notes);
        add("host/binaries.json", Some(json(&found)));
    }
    add("runtime/info.json", runtime.info.as_ref().map(json));
    for (target, log) in [("logs/runtime.txt", &places.logs.runtime), ("logs/kubelet.txt", &places.logs.kubelet)] {
        add(target, logs::copy_log(root, target, log, places, run, notes));
    }
    add("cni/bin.json", bins.map(|bins| json(&bins)));
    if conf_seen {
        let dirs = Dirs {
            conf_dir: runtime.settings.conf_dir.clone(),
            bin_dirs: runtime.settings.bin_dirs.clone(),
            source: Some(runtime.settings.source.to_owned()),
            max_conf_num: runtime.settings.max_conf_num,
            cni_default_network: runtime.settings.default_network.clone(),
            looked_at: conf.looked_at,
        };
        add("cni/dirs.json", Some(json(&dirs)));
        add("cni/index.json", Some(json(&conf.index)));
        add("cni/kubeconfig.facts.json", Some(json(&conf.kubeconfigs)));
        files.extend(conf.files);
    }
    files
}

/// The runtime's directory of CNI configuration, the default ones, and those that their configuration names.
fn configuration(root: &Root, runtime: &Runtime, knowledge: &Knowledge, notes: &mut Notes) -> conf::Conf {
    let platforms = knowledge.platforms();
    let own = runtime.settings.conf_dir.as_deref().unwrap_or(platforms.default_conf_dir()).to_owned();
    let mut conf = conf::Conf::default();
    conf.directory(root, &own, true, notes);
    let mut more: Vec<String> = vec![platforms.default_conf_dir().to_owned(), DEFAULT_MULTUS_DIR.to_owned()];
    more.extend(runtime.other_conf_dirs.iter().cloned());
    more.extend(platforms.platforms().iter().map(|platform| platform.conf_dir.clone()).filter(|dir| root.has(dir)));
    more.extend(named_dirs(&own, &conf));
    for dir in more {
        conf.directory(root, &dir, false, notes);
    }
    conf
}

/// Directories that the copied entries of multus and linkerd-cni name, limited to CNI directories.
fn named_dirs(own: &str, conf: &conf::Conf) -> Vec<String> {
    let dirs = Dirs {
        conf_dir: Some(own.to_owned()),
        bin_dirs: None,
        source: None,
        max_conf_num: None,
        cni_default_network: None,
        looked_at: BTreeMap::new(),
    };
    let mut files = conf.files.clone();
    files.insert("cni/dirs.json".to_owned(), json(&dirs));
    let snapshot = NodeSnapshot::parse(&NodeFiles { node: String::new(), files });
    let mut named = Vec::new();
    for file in &snapshot.conf_files {
        named.extend(file.plugins().iter().filter_map(|plugin| plugin.conf_dir.clone()));
        for entry in file.linkerd_entries().unwrap_or_default() {
            let kubeconfig = entry.kubeconfig.value().map(String::as_str).unwrap_or_default();
            named.extend(kubeconfig.rsplit_once('/').map(|(dir, _)| dir.to_owned()));
        }
    }
    named.iter().filter_map(|dir| settings::directory(dir)).filter(|dir| dir.contains("/cni")).collect()
}

fn binaries_of_plugins(
    root: &Root,
    options: &Options,
    runtime: &Runtime,
    knowledge: &Knowledge,
    notes: &mut Notes,
) -> Option<crate::node::PluginBins> {
    let platforms = knowledge.platforms();
    let default = vec![platforms.default_bin_dir().to_owned()];
    let wanted = runtime.settings.bin_dirs.clone().unwrap_or(default);
    let mut dirs = wanted.clone();
    let usual = platforms
        .platforms()
        .iter()
        .flat_map(|platform| std::iter::once(&platform.bin_dir).chain(&platform.other_bin_dirs));
    for dir in usual {
        if !dirs.contains(dir) && root.has(dir) {
            dirs.push(dir.clone());
        }
    }
    let ask = options.ask_plugin || options.run && root.is_own();
    let shared: Vec<&str> = knowledge.node().path.split(':').collect();
    plugins::list(root, &dirs, &wanted, &shared, ask, notes)
}

/// The node's name and its source.
fn name(root: &Root, options: &Options, knowledge: &Knowledge) -> Result<(String, &'static str), NotTaken> {
    let kubelet: Vec<&str> = knowledge.node().kubelet.processes.iter().map(String::as_str).collect();
    let overridden = || {
        let process = process::find(root, &kubelet).into_iter().next()?;
        Some((process.flag(&["--hostname-override"])?.to_owned(), "the kubelet's --hostname-override"))
    };
    let hostname = || {
        let content = root.read(Path::new("/etc/hostname"), 4 << 10).ok()?;
        let text = String::from_utf8_lossy(&content.bytes).into_owned();
        // As the kubelet derives a name from it.
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
        Some((first.to_lowercase(), "/etc/hostname"))
    };
    let given = options.node.clone().map(|name| (name, "--node or NODE_NAME"));
    let (name, named_by) = given.or_else(overridden).or_else(hostname).ok_or(NotTaken::NoName)?;
    if is_subdomain(&name) { Ok((name, named_by)) } else { Err(NotTaken::BadName { name, named_by }) }
}

fn json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("facts have only string keys");
    bytes.push(b'\n');
    bytes
}
