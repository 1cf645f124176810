//! The small JSON and text files of a snapshot as types: meta, directories, listing, binaries, host,
//! runtime.
//!
//! Only the types; `parse` reads them leniently. Serialized, they are the snapshot format itself, so
//! writing and reading share one definition. A missing optional field means unknown.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};

use crate::token::Claims;

/// `meta.json`: the origin of the snapshot, and its missing parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// `node-snapshot/<n>`; `None` if the file is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(rename = "nodeUID", skip_serializing_if = "Option::is_none")]
    pub node_uid: Option<String>,
    /// When the evidence was taken. Evaluate expiry against this time, not against the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_root: Option<String>,
    /// Paths that could not be read, and why.
    pub errors: Vec<PathError>,
    /// Truncated files of the snapshot.
    pub truncated: BTreeSet<String>,
    /// Files that exist on the node but were left out, by snapshot path.
    #[serde(serialize_with = "left_out", skip_serializing_if = "BTreeMap::is_empty")]
    pub not_captured: BTreeMap<String, String>,
    /// Directories whose file names are all known although there is no `index.json` (a bare copy).
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub listed: BTreeSet<String>,
}

impl Meta {
    /// Whether it was written in a newer format, so that unknown parts may be missing.
    pub fn is_newer_format(&self) -> bool {
        self.schema
            .as_deref()
            .and_then(|schema| schema.strip_prefix("node-snapshot/"))
            .and_then(|version| version.parse::<u64>().ok())
            .is_some_and(|version| version > 1)
    }
}

/// A read error while the snapshot was taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct PathError {
    pub path: String,
    pub error: String,
}

/// `cni/dirs.json`: the directories that the runtime uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dirs {
    pub conf_dir: Option<String>,
    pub bin_dirs: Option<Vec<String>>,
    /// `crictl`, `config.toml`, `crio.conf`, `flag` or `default`.
    pub source: Option<String>,
    /// containerd's `max_conf_num`; 0 loads every file.
    pub max_conf_num: Option<u64>,
    /// CRI-O's `cni_default_network`.
    pub cni_default_network: Option<String>,
    /// Inspected directories, and whether each exists. Others were not inspected.
    #[serde(rename = "dirs", serialize_with = "looked_at")]
    pub looked_at: BTreeMap<String, bool>,
}

/// One row of `cni/index.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexEntry {
    pub dir: String,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FileKind,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Octal, as text: `0644`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
    /// Of the original bytes, lower-case hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_target: Option<String>,
}

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    File,
    Symlink,
    Dir,
    Other,
}

/// One kubeconfig of the node, without its secrets (`cni/kubeconfig.facts.json`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeconfigFacts {
    /// Absolute path on the node.
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
    /// Why the file could not be read as a kubeconfig; the rest is then unknown.
    pub parse_error: Option<String>,
    /// `server` of the cluster in the linkerd-cni context.
    pub server: Option<String>,
    pub current_context: Option<String>,
    pub contexts: Vec<String>,
    pub users: Vec<String>,
    /// SHA-256 of the decoded `certificate-authority-data`, lower-case hex.
    pub ca_sha256: Option<String>,
    pub insecure: Option<bool>,
    pub token_claims: Option<Claims>,
    /// First twelve hex digits of the token's SHA-256; the marker of a redacted copy contains the same
    /// digits.
    pub token_sha256_prefix: Option<String>,
    /// Why a token has no readable claims: not a JWT, or invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_error: Option<String>,
    /// Whether the user authenticates with a token; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_token: Option<bool>,
}

impl KubeconfigFacts {
    /// Whether it has a token: as stated by the snapshot, else from the token's other facts.
    pub fn token_present(&self) -> Option<bool> {
        if self.token_claims.is_some() || self.token_sha256_prefix.is_some() || self.token_error.is_some() {
            return Some(true);
        }
        self.has_token
    }
}

/// `cni/bin.json`: the plugin binaries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginBins {
    /// Sorted by directory and name.
    pub entries: Vec<BinEntry>,
    /// The answer of the linkerd-cni binary to `CNI_COMMAND=VERSION`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linkerd_cni_version: Option<VersionAnswer>,
}

/// One file of a plugin directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BinEntry {
    pub dir: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl BinEntry {
    /// Absolute path on the node.
    pub fn path(&self) -> String {
        format!("{}/{}", self.dir.trim_end_matches('/'), self.name)
    }

    /// Its mode, if no user may execute it.
    pub fn unexecutable_mode(&self) -> Option<&str> {
        let mode = self.mode.as_deref()?;
        let bits = u32::from_str_radix(mode.trim_start_matches("0o"), 8).ok()?;
        (bits & 0o111 == 0).then_some(mode)
    }
}

/// A plugin's answer to `CNI_COMMAND=VERSION`: CNI spec versions, not the plugin's own version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionAnswer {
    pub cni_version: Option<String>,
    pub supported_versions: Vec<String>,
}

/// `host/binaries.json`: binaries on the runtime's PATH.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostBinaries {
    /// PATH of the runtime's process.
    pub runtime_path: Option<String>,
    /// `environ` (read from the process) or `default` (guessed).
    pub path_source: Option<String>,
    /// Every name that was searched.
    #[serde(serialize_with = "looked_for")]
    pub binaries: BTreeMap<String, Option<HostBinary>>,
    pub proxy_env: BTreeMap<String, String>,
}

impl HostBinaries {
    /// Whether the PATH was read from the runtime's process, not guessed.
    pub fn path_is_certain(&self) -> bool {
        self.path_source.as_deref() == Some("environ")
    }
}

/// A binary that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostBinary {
    pub name: String,
    pub path: String,
    /// The targets of its symbolic links, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Output of `--version`; for iptables, the parentheses contain the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// `host/os-release`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OsRelease {
    pub fields: BTreeMap<String, String>,
}

impl OsRelease {
    /// `ID`, for example `bottlerocket`, `amzn`, `ubuntu`.
    pub fn id(&self) -> Option<&str> {
        self.fields.get("ID").map(String::as_str)
    }

    /// `VERSION_ID`.
    pub fn version_id(&self) -> Option<&str> {
        self.fields.get("VERSION_ID").map(String::as_str)
    }
}

/// `host/lsm.json`: security modules, as in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lsm {
    pub selinux: Option<String>,
    pub apparmor: Option<String>,
}

/// `runtime/info.json`: the runtime's report of its own CNI state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeInfo {
    pub name: Option<String>,
    pub version: Option<String>,
    /// containerd's `lastCNILoadStatus`: `OK`, or the error.
    #[serde(rename = "lastCNILoadStatus")]
    pub last_cni_load_status: Option<String>,
    pub conf_dir: Option<String>,
    pub bin_dirs: Vec<String>,
    pub max_conf_num: Option<u64>,
    /// The files that the runtime reports as loaded.
    #[serde(rename = "networks", serialize_with = "networks")]
    pub loaded_files: Vec<String>,
}

/// `logs/`: filtered lines of the runtime's and the kubelet's log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    pub runtime: Option<Vec<String>>,
    pub kubelet: Option<Vec<String>>,
}

/// A problem in the snapshot itself, with its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Snapshot path.
    pub file: String,
    /// 1-based; `None` for the whole file.
    pub line: Option<usize>,
    /// 1-based, in bytes.
    pub column: Option<usize>,
    pub message: String,
}

/// Writes a map as the rows of the format.
fn rows<S: Serializer, R: Serialize>(rows: impl ExactSizeIterator<Item = R>, to: S) -> Result<S::Ok, S::Error> {
    let mut sequence = to.serialize_seq(Some(rows.len()))?;
    for row in rows {
        sequence.serialize_element(&row)?;
    }
    sequence.end()
}

fn left_out<S: Serializer>(files: &BTreeMap<String, String>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct LeftOutRow<'a> {
        path: &'a str,
        why: &'a str,
    }
    rows(files.iter().map(|(path, why)| LeftOutRow { path, why }), to)
}

fn looked_at<S: Serializer>(dirs: &BTreeMap<String, bool>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct LookedAtRow<'a> {
        path: &'a str,
        exists: bool,
    }
    rows(dirs.iter().map(|(path, exists)| LookedAtRow { path, exists: *exists }), to)
}

fn looked_for<S: Serializer>(binaries: &BTreeMap<String, Option<HostBinary>>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum LookedForRow<'a> {
        Found(&'a HostBinary),
        Absent { name: &'a str, path: Option<&'a str> },
    }
    let row = |(name, found)| match found {
        Some(binary) => LookedForRow::Found(binary),
        None => LookedForRow::Absent { name, path: None },
    };
    rows(binaries.iter().map(|(name, found)| row((name.as_str(), found.as_ref()))), to)
}

fn networks<S: Serializer>(files: &[String], to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct NetworkRow<'a> {
        file: &'a str,
    }
    rows(files.iter().map(|file| NetworkRow { file }), to)
}
