//! Parses normalised files to types. Never fails: unreadable parts become a [`Problem`] with a position.

use std::collections::BTreeMap;

use serde_json::Value;

use super::conflist;
use super::facts::{
    BinEntry, Dirs, FileKind, HostBinaries, HostBinary, IndexEntry, KubeconfigFacts, Logs, Meta, PathError, PluginBins,
    Problem,
};
use super::files::{self};
use super::host;
use super::logs;
use super::snapshot::{ConfFile, Content, NodeSnapshot, kind_of};
use crate::node_files::NodeFiles;
use crate::redact;

impl NodeSnapshot {
    /// Reads normalised files (see [`super::normalise`]).
    pub fn parse(files: &NodeFiles) -> NodeSnapshot {
        let mut reader = FactsReader { files: &files.files, problems: Vec::new() };
        let mut snapshot = NodeSnapshot { node: files.node.clone(), ..NodeSnapshot::default() };
        snapshot.meta = reader.meta(&files.node);
        snapshot.dirs = reader.dirs();
        snapshot.runtime_info = reader.json("runtime/info.json").map(|info| host::runtime_info(&info));
        let conf_dir = snapshot.conf_dir().to_owned();
        snapshot.index = reader.index(&conf_dir, &mut snapshot.index_incomplete);
        snapshot.kubeconfigs = reader.kubeconfigs(snapshot.index.as_deref());
        snapshot.conf_files = reader.conf_files(&conf_dir, &snapshot);
        snapshot.bins = reader.bins();
        snapshot.host_binaries = reader.host_binaries();
        snapshot.os_release = reader.text("host/os-release").map(|text| host::os_release(&text));
        snapshot.uname = reader.text("host/uname").map(|text| text.trim().to_owned());
        snapshot.modules = reader.text("host/modules.txt").map(|text| host::modules(&text));
        snapshot.sysctl = reader.json("host/sysctl.json").map(|value| texts(&value));
        snapshot.lsm = reader.json("host/lsm.json").map(|value| host::lsm(&value));
        snapshot.logs = Logs {
            runtime: files.files.get("logs/runtime.txt").map(|bytes| logs::lines(bytes)),
            kubelet: files.files.get("logs/kubelet.txt").map(|bytes| logs::lines(bytes)),
        };
        snapshot.problems = reader.problems;
        snapshot.problems.sort();
        snapshot
    }
}

struct FactsReader<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    problems: Vec<Problem>,
}

impl FactsReader<'_> {
    fn problem(&mut self, file: &str, message: impl Into<String>) {
        self.problems.push(Problem { file: file.to_owned(), line: None, column: None, message: message.into() });
    }

    /// A JSON file; `None` if it is missing or unreadable.
    fn json(&mut self, path: &str) -> Option<Value> {
        let bytes = self.files.get(path)?;
        match serde_json::from_slice(bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                let line = bytes.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
                self.problems.push(Problem {
                    file: path.to_owned(),
                    line: Some(error.line()),
                    column: Some(redact::original_column(line, error.column().max(1))),
                    // serde's error may quote the file, which is already redacted.
                    message: format!("not JSON: {error}"),
                });
                None
            }
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        self.files.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The rows of an array; any other value is a problem.
    fn rows(&mut self, path: &str, value: &Value) -> Vec<Value> {
        match value {
            Value::Array(rows) => rows.clone(),
            Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                self.problem(path, "expected an array");
                Vec::new()
            }
        }
    }

    fn meta(&mut self, node: &str) -> Meta {
        let path = "meta.json";
        let Some(value) = self.json(path) else { return Meta::default() };
        let errors = self.rows(path, &value["errors"]);
        let not_captured = self.rows(path, &value["notCaptured"]);
        let meta = Meta {
            schema: text(&value["schema"]),
            node: text(&value["node"]),
            node_uid: text(&value["nodeUID"]),
            collected_at: time(&value["collectedAt"]),
            collector: text(&value["collector"]),
            host_root: text(&value["hostRoot"]),
            errors: errors
                .iter()
                .map(|row| PathError {
                    path: text(&row["path"]).unwrap_or_default(),
                    error: text(&row["error"]).unwrap_or_default(),
                })
                .collect(),
            truncated: list(&value["truncated"]).into_iter().collect(),
            not_captured: not_captured
                .iter()
                .filter_map(|row| Some((text(&row["path"])?, text(&row["why"]).unwrap_or_default())))
                .collect(),
            listed: list(&value["listed"]).into_iter().collect(),
        };
        if value.get("collectedAt").is_some_and(|at| !at.is_null()) && meta.collected_at.is_none() {
            self.problem(path, "collectedAt is not an RFC 3339 time");
        }
        if let Some(own) = meta.node.as_deref()
            && own != node
        {
            self.problem(path, format!("belongs to node {own}, but is stored under {node}"));
        }
        if meta.is_newer_format() {
            self.problem(path, "written in a newer format than node-snapshot/1: new parts are not read");
        }
        meta
    }

    fn dirs(&mut self) -> Option<Dirs> {
        let path = "cni/dirs.json";
        let value = self.json(path)?;
        let rows = self.rows(path, &value["dirs"]);
        let looked_at = rows.iter().filter_map(|row| Some((plain_dir(&row["path"])?, row["exists"].as_bool()?)));
        Some(Dirs {
            conf_dir: plain_dir(&value["confDir"]),
            bin_dirs: value["binDirs"].as_array().map(|dirs| dirs.iter().filter_map(plain_dir).collect()),
            source: text(&value["source"]),
            max_conf_num: whole(&value["maxConfNum"]),
            cni_default_network: text(&value["cniDefaultNetwork"]),
            looked_at: looked_at.collect(),
        })
    }

    fn index(&mut self, conf_dir: &str, incomplete: &mut bool) -> Option<Vec<IndexEntry>> {
        let path = "cni/index.json";
        if !self.files.contains_key(path) {
            return None;
        }
        let Some(value) = self.json(path) else {
            *incomplete = true;
            return Some(Vec::new());
        };
        *incomplete = !value.is_array();
        let mut index = Vec::new();
        for (number, row) in self.rows(path, &value).iter().enumerate() {
            match index_entry(row, conf_dir) {
                Some(entry) => index.push(entry),
                None => {
                    *incomplete = true;
                    self.problem(path, format!("row {number} has no valid name and directory"));
                }
            }
        }
        index.sort_by(|one, other| (&one.dir, &one.name).cmp(&(&other.dir, &other.name)));
        Some(index)
    }

    fn kubeconfigs(&mut self, index: Option<&[IndexEntry]>) -> Option<Vec<KubeconfigFacts>> {
        let path = "cni/kubeconfig.facts.json";
        let value = self.json(path)?;
        let mut known = Vec::new();
        for (number, row) in self.rows(path, &value).into_iter().enumerate() {
            match self.kubeconfig_row(path, number, row) {
                Some(facts) => known.push(facts),
                None => self.problem(path, format!("row {number} has no path")),
            }
        }
        for facts in &mut known {
            let row = index.unwrap_or_default().iter().find(|row| format!("{}/{}", row.dir, row.name) == facts.path);
            if let Some(row) = row {
                facts.mode = facts.mode.take().or_else(|| row.mode.clone());
                facts.mtime = facts.mtime.or(row.mtime);
                facts.size = facts.size.or(row.size);
            }
        }
        known.sort_by(|one, other| one.path.cmp(&other.path));
        Some(known)
    }

    /// One row. Fields of a wrong type are left out, so that the rest still shows that the file exists.
    fn kubeconfig_row(&mut self, path: &str, number: usize, row: Value) -> Option<KubeconfigFacts> {
        let Value::Object(fields) = row else { return None };
        let mut usable = serde_json::Map::new();
        for (key, value) in fields {
            let alone = Value::Object([(key.clone(), value.clone())].into_iter().collect());
            match serde_json::from_value::<KubeconfigFacts>(alone) {
                Ok(_) => {
                    usable.insert(key, value);
                }
                Err(error) => self.problem(path, format!("row {number}, {key}: {error}")),
            }
        }
        let facts: KubeconfigFacts = serde_json::from_value(Value::Object(usable)).ok()?;
        (!facts.path.is_empty()).then_some(facts)
    }

    /// Every file known from the listing, the copies or the record of files that were left out.
    fn conf_files(&mut self, conf_dir: &str, snapshot: &NodeSnapshot) -> Vec<ConfFile> {
        let mut rows: BTreeMap<(String, String), (Option<IndexEntry>, Option<Content>)> = BTreeMap::new();
        for row in snapshot.index.iter().flatten() {
            rows.entry((row.dir.clone(), row.name.clone())).or_default().0 = Some(row.clone());
        }
        let cut = |path: &str| snapshot.meta.truncated.contains(path);
        for (path, bytes) in self.files {
            let Some(place) = conf_place(path, conf_dir) else { continue };
            let content = if cut(path) {
                Content::NotCaptured("truncated when it was collected".to_owned())
            } else {
                captured(bytes.clone(), &place.1)
            };
            rows.entry(place).or_default().1 = Some(content);
        }
        for (path, why) in &snapshot.meta.not_captured {
            if let Some(place) = conf_place(path, conf_dir) {
                rows.entry(place).or_default().1.get_or_insert_with(|| Content::NotCaptured(why.clone()));
            }
        }
        let mut known = Vec::new();
        for ((dir, name), (index, content)) in rows {
            let kind = index.as_ref().map(|row| row.kind);
            let empty = index.as_ref().is_some_and(|row| row.kind == FileKind::File && row.size == Some(0));
            let content = content.unwrap_or_else(|| match kind {
                _ if empty => captured(Vec::new(), &name),
                Some(FileKind::Symlink) => Content::NotCaptured("a link whose target was not captured".to_owned()),
                Some(FileKind::Dir | FileKind::Other) => Content::NotCaptured("not a file".to_owned()),
                Some(FileKind::File) | None => Content::NotCaptured("only listed".to_owned()),
            });
            known.push(ConfFile { dir, name, index, content });
        }
        known
    }

    fn bins(&mut self) -> Option<PluginBins> {
        let path = "cni/bin.json";
        let value = self.json(path)?;
        let mut entries: Vec<BinEntry> = self
            .rows(path, &value["entries"])
            .iter()
            .filter_map(|row| {
                Some(BinEntry {
                    dir: plain_dir(&row["dir"])?,
                    name: text(&row["name"]).filter(|name| files::is_plain_name(name))?,
                    size: whole(&row["size"]),
                    mode: text(&row["mode"]),
                    mtime: time(&row["mtime"]),
                    sha256: text(&row["sha256"]),
                })
            })
            .collect();
        entries.sort_by(|one, other| (&one.dir, &one.name).cmp(&(&other.dir, &other.name)));
        let linkerd_cni_version = serde_json::from_value(value["linkerdCniVersion"].clone()).ok();
        Some(PluginBins { entries, linkerd_cni_version })
    }

    fn host_binaries(&mut self) -> Option<HostBinaries> {
        let path = "host/binaries.json";
        let value = self.json(path)?;
        let mut host = HostBinaries {
            runtime_path: text(&value["runtimePath"]),
            path_source: text(&value["pathSource"]),
            binaries: BTreeMap::new(),
            proxy_env: texts(&value["proxyEnv"]),
        };
        for (number, row) in self.rows(path, &value["binaries"]).iter().enumerate() {
            // `path: null` means absent; a missing `path` has no meaning.
            let (Some(name), Some(found)) = (text(&row["name"]), row.get("path")) else {
                self.problem(path, format!("row {number} has no name or no path"));
                continue;
            };
            if !found.is_null() && !found.is_string() {
                self.problem(path, format!("row {number}: path is neither a string nor null"));
                continue;
            }
            let binary = text(found).map(|path| HostBinary {
                name: name.clone(),
                path,
                links: list(&row["links"]),
                version: text(&row["version"]),
                executable: row["executable"].as_bool(),
            });
            host.binaries.insert(name, binary);
        }
        Some(host)
    }
}

/// Directory and name on the node of a copied configuration file.
fn conf_place(path: &str, conf_dir: &str) -> Option<(String, String)> {
    if let Some(name) = path.strip_prefix("cni/net.d/") {
        return Some((conf_dir.to_owned(), name.to_owned()));
    }
    let (dir, name) = path.strip_prefix("cni/other/")?.split_once('/')?;
    Some((files::unescape_dir(dir), name.to_owned()))
}

fn captured(bytes: Vec<u8>, name: &str) -> Content {
    let reading = conflist::read(&bytes, kind_of(name));
    Content::Captured { bytes, config: reading.config.map(Box::new), defect: reading.defect }
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64()
}

fn time(value: &Value) -> Option<jiff::Timestamp> {
    value.as_str()?.parse().ok()
}

pub(super) fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// A map of strings; numbers and booleans are kept as written.
fn texts(value: &Value) -> BTreeMap<String, String> {
    let shown = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    value.as_object().into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), shown(value)?))).collect()
}

pub(super) fn plain_dir(value: &Value) -> Option<String> {
    let dir = value.as_str()?;
    let dir = if dir.len() > 1 { dir.trim_end_matches('/') } else { dir };
    files::is_plain_dir(dir).then(|| dir.to_owned())
}

fn index_entry(row: &Value, conf_dir: &str) -> Option<IndexEntry> {
    let dir = match &row["dir"] {
        Value::Null => conf_dir.to_owned(),
        dir => plain_dir(dir)?,
    };
    // Two levels: a name may contain one directory.
    let name = text(&row["name"]).filter(|name| name.split('/').all(files::is_plain_name))?;
    let kind = match row["type"].as_str() {
        Some("file") | None => FileKind::File,
        Some("symlink") => FileKind::Symlink,
        Some("dir") => FileKind::Dir,
        Some(_) => FileKind::Other,
    };
    let (dir, name) = match name.rsplit_once('/') {
        Some((inner, name)) => (format!("{dir}/{inner}"), name.to_owned()),
        None => (dir, name),
    };
    Some(IndexEntry {
        dir,
        name,
        kind,
        size: whole(&row["size"]),
        mode: text(&row["mode"]),
        uid: whole(&row["uid"]),
        gid: whole(&row["gid"]),
        mtime: time(&row["mtime"]),
        sha256: text(&row["sha256"]),
        link_target: text(&row["linkTarget"]),
    })
}
