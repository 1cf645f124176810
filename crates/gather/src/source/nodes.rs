//! Node evidence given in addition to or instead of a cluster: snapshots, or copies of `/etc/cni/net.d`, as folders or
//! archives. Assigns files to nodes; the node model interprets them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use super::bundle::Bundle;
use super::error::LoadError;
use super::folder;
use super::{ObjectSink, Origin, Source};
use crate::archive::spool::Blob;
use crate::archive::{self, Budget, Tree, Unpacked};
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::names::is_subdomain;
use crate::node_files::NodeFiles;
use crate::node_files::{MAX_FILES, MAX_NODE};
use crate::node_log;
use crate::request::Request;

/// Number of bytes to read per file; the node model keeps fewer, and records truncation.
pub const MAX_FILE: u64 = (16 << 20) + 1;

/// The folders of a snapshot; see the node model.
const SNAPSHOT_FOLDERS: [&str; 4] = ["cni/", "host/", "runtime/", "logs/"];

#[derive(Debug, Default)]
pub struct NodeEvidence {
    nodes: BTreeMap<String, UnreadNodeFiles>,
    trouble: Vec<Why>,
    warnings: Vec<String>,
    name: String,
}

/// Files of one node, not read yet.
#[derive(Debug)]
struct UnreadNodeFiles {
    /// Their path, for messages.
    from: String,
    files: BTreeMap<String, Blob>,
    collected_at: Option<Timestamp>,
}

/// A value of `--nodes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodesInput {
    /// `NAME=PATH`: a snapshot of one node, or a copy of its CNI configuration directory.
    Node {
        /// The node's name.
        name: String,
        /// A folder, or an archive of one.
        path: PathBuf,
    },
    /// `PATH`: snapshots of several nodes, a snapshot that names its node, or a bundle.
    Several(PathBuf),
}

impl NodeEvidence {
    /// Opens the values of `--nodes`.
    ///
    /// # Errors
    /// A path does not exist or has no node name, or no path contains node evidence.
    pub fn open(given: &[NodesInput]) -> Result<NodeEvidence, LoadError> {
        let path = |given: &NodesInput| match given {
            NodesInput::Node { path, .. } | NodesInput::Several(path) => path.display().to_string(),
        };
        let name = given.iter().map(path).collect::<Vec<_>>().join(", ");
        let mut evidence = NodeEvidence { name, ..NodeEvidence::default() };
        let mut budget = Budget::default();
        for given in given {
            match given {
                NodesInput::Node { name, path } => {
                    let shown = path.display().to_string();
                    if !is_subdomain(name) {
                        let why = format!("--nodes {name}={shown}: {name:?} is not a valid node name");
                        return Err(LoadError::Usage(why));
                    }
                    let tree = match open(path, &mut budget)? {
                        Opened::Tree(tree) => without_single_folder(tree),
                        Opened::Log(log) => match node_log::read(&log) {
                            Ok(held) => held.tree,
                            Err(error) => {
                                return Err(LoadError::Unreadable { path: shown, reason: error.to_string() });
                            }
                        },
                    };
                    evidence.add_node(name, &shown, &tree);
                }
                NodesInput::Several(path) => {
                    let shown = path.display().to_string();
                    match open(path, &mut budget)? {
                        Opened::Tree(tree) => evidence.several(&shown, tree, &mut budget)?,
                        Opened::Log(log) => evidence.log(&shown, "", &log),
                    }
                }
            }
        }
        if evidence.nodes.is_empty() {
            let reason = match evidence.trouble.first() {
                Some(Why::Malformed { message }) => message.clone(),
                _ => "it contains neither a node snapshot nor a copy of /etc/cni/net.d".to_owned(),
            };
            return Err(LoadError::Unreadable { path: evidence.name, reason });
        }
        Ok(evidence)
    }

    /// Empty evidence, for nodes that are read in another way than from a path.
    pub fn from(name: &str) -> NodeEvidence {
        NodeEvidence { name: name.to_owned(), ..NodeEvidence::default() }
    }

    /// Adds the files of one node; `from` is their origin.
    pub fn add_node(&mut self, node: &str, from: &str, tree: &Tree) {
        self.node(node, from, tree);
        self.notes(from, tree);
    }

    /// Records a node whose files could not be read.
    pub fn add_trouble(&mut self, why: Why) {
        self.trouble.push(why);
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// Files of each node, and errors.
    pub fn answer(&self, take: &mut dyn FnMut(NodeFiles)) -> Fetched {
        let mut reasons = self.trouble.clone();
        for (node, found) in &self.nodes {
            let mut files = BTreeMap::new();
            let mut left = MAX_NODE;
            for (path, blob) in &found.files {
                let read = if files.len() < MAX_FILES && left > 0 {
                    blob.slice(0, MAX_FILE.min(left)).bytes(MAX_FILE).map_err(|error| error.to_string())
                } else {
                    Err("the node has more files than the limit".to_owned())
                };
                match read {
                    Ok(bytes) => {
                        left -= bytes.len() as u64;
                        files.insert(path.clone(), bytes);
                    }
                    Err(why) => reasons.push(malformed(&found.from, path, &why)),
                }
            }
            take(NodeFiles { node: node.clone(), files });
        }
        if reasons.is_empty() { Fetched::Complete } else { Fetched::Partial { reasons } }
    }

    /// A path without a node's name: a snapshot that names its node, folders of nodes, or a bundle.
    fn several(&mut self, path: &str, tree: Tree, budget: &mut Budget) -> Result<(), LoadError> {
        if tree.files.contains_key(super::bundle::MANIFEST)
            && let Some(bundle) = Bundle::open(tree.below(""), path)
        {
            return bundle.map(|bundle| self.bundle(path, &bundle));
        }
        let tree = match tree.below("nodes/") {
            nodes if nodes.files.is_empty() => tree,
            nodes => nodes,
        };
        if let Some(node) = tree.files.get("meta.json").and_then(|meta| Meta::read(meta).node) {
            self.add_node(&node, path, &tree);
            return Ok(());
        }
        let folders: BTreeSet<&str> =
            tree.files.keys().filter_map(|path| path.split_once('/').map(|(folder, _)| folder)).collect();
        let bare = tree.files.keys().any(|path| !path.contains('/') && is_configuration(path));
        let half = folders.iter().any(|folder| SNAPSHOT_FOLDERS.contains(&format!("{folder}/").as_str()))
            || folders.contains("net.d");
        if half || bare && folders.is_empty() {
            let why = format!("--nodes {path}: the node of these files is unknown; use --nodes NAME={path}");
            return Err(LoadError::Usage(why));
        }
        for folder in &folders {
            self.node(folder, &format!("{path}/{folder}"), &tree.below(&format!("{folder}/")));
        }
        for (file, blob) in tree.files.iter().filter(|(file, _)| !file.contains('/')) {
            let place = format!("{path}/{file}");
            match ([".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar"].iter()).find_map(|end| file.strip_suffix(end)) {
                Some(node) => match archive::unpack(blob, budget, |_| false) {
                    Ok(Unpacked::Tree(tree)) => {
                        let tree = without_single_folder(tree);
                        self.add_node(node, &place, &tree);
                    }
                    Ok(Unpacked::Plain(..)) => self.trouble.push(malformed(path, file, "it is not an archive")),
                    Err(error) => self.trouble.push(malformed(path, file, &error.to_string())),
                },
                None => match blob.bytes(node_log::MAX_LOG as u64) {
                    Ok(log) if node_log::is_log(&log) => self.log(path, file, &log),
                    _ => self.warnings.push(format!("{place}: ignored: it is not in the folder of a node")),
                },
            }
        }
        self.notes(path, &tree);
        Ok(())
    }

    /// The snapshots in a log of node pods.
    fn log(&mut self, path: &str, file: &str, log: &[u8]) {
        let place = if file.is_empty() { path.to_owned() } else { format!("{path}/{file}") };
        for snapshot in node_log::read_all(log) {
            match snapshot {
                Ok(held) => self.add_node(&held.node, &place, &held.tree),
                Err((node, error)) => {
                    self.trouble.push(malformed(path, file, &format!("node {node:?}: {error}")));
                }
            }
        }
    }

    /// The nodes of a bundle.
    fn bundle(&mut self, path: &str, bundle: &Bundle) {
        for (node, files) in bundle.node_blobs() {
            self.add(&node, path, files);
        }
        self.warnings.extend(bundle.trouble());
    }

    /// One node's folder.
    fn node(&mut self, node: &str, from: &str, tree: &Tree) {
        if !is_subdomain(node) {
            return self.trouble.push(malformed(from, "", &format!("{node:?} is not a valid node name")));
        }
        let mut files = tree.files.clone();
        // Runtimes follow links, so a file counts under each of its names.
        for (path, target) in &tree.links {
            if let Some(blob) = tree.files.get(target) {
                files.insert(path.clone(), blob.clone());
            }
        }
        if files.is_empty() {
            return self.trouble.push(malformed(from, "", "it contains no files"));
        }
        self.add(node, from, files);
    }

    fn add(&mut self, node: &str, from: &str, files: BTreeMap<String, Blob>) {
        let meta = files.get("meta.json").map(Meta::read).unwrap_or_default();
        if let Some(other) = meta.node.filter(|other| other != node) {
            self.warnings.push(format!("{from}: given as node {node}, but its meta.json names {other}"));
        }
        let found = UnreadNodeFiles { from: from.to_owned(), files, collected_at: meta.collected_at };
        match self.nodes.remove(node) {
            None => _ = self.nodes.insert(node.to_owned(), found),
            Some(earlier) => {
                let (kept, left) =
                    if found.collected_at >= earlier.collected_at { (found, earlier) } else { (earlier, found) };
                self.warnings.push(twice(node, &kept.from, &left.from));
                self.nodes.insert(node.to_owned(), kept);
            }
        }
    }

    fn notes(&mut self, from: &str, tree: &Tree) {
        self.trouble.extend(tree.trouble.iter().map(|(path, why)| malformed(from, path, why)));
        self.warnings.extend(tree.notes.iter().map(|(path, why)| format!("{from}: {path}: {why}")));
    }
}

impl Source for NodeEvidence {
    fn origin(&self) -> Origin {
        Origin { kind: "nodes".to_owned(), name: self.name.clone() }
    }

    /// Alone, it provides no evidence of a cluster.
    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        match request.item {
            Item::NodeFiles if !self.nodes.is_empty() => self.answer(&mut |files| sink.node(files)),
            _ => Fetched::Missing { reason: Why::NotOffered },
        }
    }

    /// Time of the latest snapshot.
    fn captured_at(&self) -> Option<Timestamp> {
        self.nodes.values().filter_map(|found| found.collected_at).max()
    }
}

/// The relevant fields of a snapshot's metadata.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta {
    node: Option<String>,
    collected_at: Option<Timestamp>,
}

impl Meta {
    fn read(blob: &Blob) -> Meta {
        blob.bytes(MAX_FILE).map(|bytes| Meta::parse(&bytes)).unwrap_or_default()
    }

    fn parse(bytes: &[u8]) -> Meta {
        #[derive(Deserialize)]
        struct Tag {
            schema: String,
        }
        let ours = serde_json::from_slice::<Tag>(bytes).is_ok_and(|tag| tag.schema.starts_with("node-snapshot/"));
        if ours { serde_json::from_slice(bytes).unwrap_or_default() } else { Meta::default() }
    }
}

/// Collection time of a node's files, if known.
pub(super) fn collected_at(files: &NodeFiles) -> Option<Timestamp> {
    files.files.get("meta.json").and_then(|bytes| Meta::parse(bytes).collected_at)
}

/// The warning for a node with two snapshots.
pub(super) fn twice(node: &str, kept: &str, left: &str) -> String {
    format!("node {node}: both {kept} and {left} contain it; {kept} is used because it is newer")
}

fn malformed(from: &str, path: &str, why: &str) -> Why {
    let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
    Why::Malformed { message: format!("{from}: {path}{why}") }
}

fn is_configuration(name: &str) -> bool {
    [".conf", ".conflist", ".json"].iter().any(|end| name.ends_with(end)) && name != "meta.json"
}

/// Whether a text may be a log, by its beginning.
fn is_lines(head: &[u8]) -> bool {
    !head.contains(&0) && !head.trim_ascii().is_empty()
}

/// The content of a path.
enum Opened {
    /// A folder, or an unpacked archive of one.
    Tree(Tree),
    /// The log of one or more node pods.
    Log(Vec<u8>),
}

fn open(path: &Path, budget: &mut Budget) -> Result<Opened, LoadError> {
    let failed = |error| LoadError::Open { path: path.display().to_string(), error };
    if path.is_dir() {
        return folder::tree(path, budget).map(Opened::Tree).map_err(failed);
    }
    match archive::unpack(&Blob::file(path).map_err(failed)?, budget, is_lines).map_err(failed)? {
        Unpacked::Tree(tree) => Ok(Opened::Tree(tree)),
        Unpacked::Plain(blob, _) => match blob.bytes(node_log::MAX_LOG as u64) {
            Ok(log) if node_log::is_log(&log) => Ok(Opened::Log(log)),
            _ => {
                let reason = "not a folder or an archive of one: give the whole folder, since the order of its \
                              files matters";
                Err(LoadError::Unreadable { path: path.display().to_string(), reason: reason.to_owned() })
            }
        },
    }
}

/// A tree whose files are all in one folder (`tar c ip-10-0-1-12/`), without that folder.
fn without_single_folder(tree: Tree) -> Tree {
    let first = |path: &String| path.split_once('/').map(|(folder, _)| format!("{folder}/"));
    let Some(folder) = tree.files.keys().next().and_then(first) else { return tree };
    let known = SNAPSHOT_FOLDERS.contains(&folder.as_str()) || ["etc/", "net.d/"].contains(&folder.as_str());
    if known || !tree.files.keys().all(|path| path.starts_with(&folder)) {
        return tree;
    }
    without_single_folder(tree.below(&folder))
}
