//! Converts provided evidence to the snapshot format: sanitised names, bounded sizes, no secrets.
//!
//! Idempotent, and the only way into the model: live evidence, bundles and hand-made copies all pass
//! through here. Files that are left out are recorded in `meta.json`, because a file that exists must not
//! look absent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::facts::KubeconfigFacts;
use super::files::{
    self, DEFAULT_CONF_DIR, Defaults, MAX_CONF, MAX_CONF_ALL, MAX_CONF_FILES, MAX_FACTS, MAX_NOTES, MAX_ROWS, MAX_TEXT,
};
use super::{kubeconfig, logs};
use crate::node_files::NodeFiles;
use crate::redact;

const META: &str = "meta.json";
const DIRS: &str = "cni/dirs.json";
const INDEX: &str = "cni/index.json";
const FACTS: &str = "cni/kubeconfig.facts.json";
const NET_D: &str = "cni/net.d/";
const OTHER: &str = "cni/other/";
/// The JSON files of a snapshot besides `meta.json` and the kubeconfig facts.
const JSON_FILES: [&str; 7] =
    [DIRS, INDEX, "cni/bin.json", "host/binaries.json", "host/sysctl.json", "host/lsm.json", "runtime/info.json"];
const TEXT_FILES: [&str; 3] = ["host/os-release", "host/uname", "host/modules.txt"];
const LOGS: [&str; 2] = ["logs/runtime.txt", "logs/kubelet.txt"];

/// Converts raw node evidence to the redacted snapshot format, version 1.
pub fn normalise(raw: &NodeFiles, defaults: &Defaults) -> NodeFiles {
    let node = plain_node(&raw.node);
    let mut work = Work::new(raw, defaults);
    for (path, bytes) in work.placed(raw) {
        work.file(&path, bytes);
    }
    work.facts();
    work.dirs(defaults);
    work.meta(&node, raw.files.get(META).map(Vec::as_slice), defaults);
    NodeFiles { node, files: work.files }
}

/// A node's name that can safely be shown and joined to a path.
fn plain_node(name: &str) -> String {
    let clean = redact::object_name(name);
    let clean: String = clean
        .chars()
        .map(|c| if files::is_plain_name(c.encode_utf8(&mut [0; 4])) || c == '.' { c } else { '_' })
        .collect();
    // The shape of a secret may only show without the characters that were replaced.
    let clean: String = redact::object_name(&clean).chars().take(253).collect();
    if clean.trim_matches('.').is_empty() { "unnamed".to_owned() } else { clean }
}

struct Work {
    files: BTreeMap<String, Vec<u8>>,
    conf_dir: String,
    /// Facts taken from raw kubeconfigs.
    read: Vec<KubeconfigFacts>,
    not_captured: BTreeMap<String, String>,
    truncated: BTreeSet<String>,
    notes: Vec<(String, String)>,
    listed: BTreeSet<String>,
    conf_bytes: usize,
    conf_files: usize,
    is_snapshot: bool,
}

impl Work {
    fn new(raw: &NodeFiles, defaults: &Defaults) -> Work {
        let is_snapshot = raw.files.keys().any(|path| {
            path == META || ["cni/", "host/", "runtime/", "logs/"].iter().any(|root| path.starts_with(root))
        });
        let said = raw.files.get(DIRS).and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
        let said = said.as_ref().and_then(|dirs| dirs["confDir"].as_str()).map(|dir| dir.trim_end_matches('/'));
        let conf_dir = said.filter(|dir| files::is_plain_dir(dir)).unwrap_or(&defaults.conf_dir).to_owned();
        Work {
            files: BTreeMap::new(),
            conf_dir,
            read: Vec::new(),
            not_captured: BTreeMap::new(),
            truncated: BTreeSet::new(),
            notes: Vec::new(),
            listed: BTreeSet::new(),
            conf_bytes: 0,
            conf_files: 0,
            is_snapshot,
        }
    }

    fn note(&mut self, path: &str, why: impl Into<String>) {
        if self.notes.len() < MAX_NOTES {
            let shown: String = path.escape_debug().to_string().chars().take(200).collect();
            self.notes.push((shown, why.into()));
        }
    }

    /// Each raw file under its snapshot path; unusable names are noted and left out.
    fn placed<'a>(&mut self, raw: &'a NodeFiles) -> Vec<(String, &'a [u8])> {
        let mut placed = BTreeMap::new();
        for (path, bytes) in &raw.files {
            let relative = path.strip_prefix("./").unwrap_or(path);
            // A name that contains a token would carry it into every path that is shown.
            if !relative.split('/').all(files::is_plain_name) || redact::text(relative) != relative {
                self.note(path, "the name is not used, because it is not a plain relative path");
                continue;
            }
            let target = if self.is_snapshot { Some(relative.to_owned()) } else { self.place_bare(relative) };
            if let Some(target) = target {
                placed.entry(target).or_insert(bytes.as_slice());
            }
        }
        // A copy of directories, even if structured like a snapshot: missing files did not exist.
        let copied = !raw.files.contains_key(META) && !raw.files.contains_key(INDEX);
        if copied {
            self.listed = placed.keys().filter_map(|path| self.dir_of(path)).collect();
        }
        placed.into_iter().collect()
    }

    /// The snapshot path of a file of a bare copy: from `net.d` itself, or from a tree that contains one.
    fn place_bare(&self, path: &str) -> Option<String> {
        let Some((dir, name)) = path.rsplit_once('/') else { return Some(format!("{NET_D}{path}")) };
        match dir {
            "net.d" | "cni/net.d" | "etc/cni/net.d" => Some(format!("{NET_D}{name}")),
            "etc" | "usr/lib" if name == "os-release" => Some("host/os-release".to_owned()),
            _ if dir.ends_with("net.d") => {
                let absolute = match dir.strip_prefix("multus/") {
                    Some(rest) => format!("/etc/cni/multus/{rest}"),
                    None => format!("/{dir}"),
                };
                Some(if absolute == self.conf_dir {
                    format!("{NET_D}{name}")
                } else {
                    format!("{OTHER}{}/{name}", files::escape_dir(&absolute))
                })
            }
            _ => None,
        }
    }

    /// The node's directory for a snapshot path.
    fn dir_of(&self, path: &str) -> Option<String> {
        if path.starts_with(NET_D) {
            return Some(self.conf_dir.clone());
        }
        let (dir, _) = path.strip_prefix(OTHER)?.split_once('/')?;
        Some(files::unescape_dir(dir))
    }

    fn file(&mut self, path: &str, bytes: &[u8]) {
        match path {
            META => {}
            FACTS => self.bounded(path, bytes, MAX_FACTS),
            _ if JSON_FILES.contains(&path) => self.bounded(path, bytes, MAX_FACTS),
            _ if TEXT_FILES.contains(&path) => {
                let kept = &bytes[..bytes.len().min(MAX_TEXT)];
                if kept.len() < bytes.len() {
                    self.truncated.insert(path.to_owned());
                }
                self.files.insert(path.to_owned(), redact::bytes(kept).into_owned());
            }
            _ if LOGS.contains(&path) => {
                let filtered = logs::filter(bytes, &logs::JOURNAL_WORDS);
                if filtered.cut {
                    self.truncated.insert(path.to_owned());
                }
                self.files.insert(path.to_owned(), filtered.bytes);
            }
            _ => match self.conf_name(path) {
                Some(name) => self.conf(path, &name, bytes),
                None => self.note(path, "not a file of the snapshot format"),
            },
        }
    }

    /// The bare name, if the path is that of a copied configuration file.
    fn conf_name(&self, path: &str) -> Option<String> {
        if let Some(name) = path.strip_prefix(NET_D) {
            return (!name.contains('/')).then(|| name.to_owned());
        }
        let (dir, name) = path.strip_prefix(OTHER)?.split_once('/')?;
        (!name.contains('/') && files::is_plain_dir(&files::unescape_dir(dir))).then(|| name.to_owned())
    }

    fn bounded(&mut self, path: &str, bytes: &[u8], limit: usize) {
        if bytes.len() > limit {
            self.note(path, format!("{} bytes exceed the limit of {limit}", bytes.len()));
        } else {
            self.files.insert(path.to_owned(), redact::fact_bytes(bytes).into_owned());
        }
    }

    /// A file of a configuration directory: a configuration, a kubeconfig, or another file.
    fn conf(&mut self, path: &str, name: &str, bytes: &[u8]) {
        let loadable = files::has_loadable_extension(name);
        if kubeconfig::is_kubeconfig(name, &bytes[..bytes.len().min(MAX_CONF)]) {
            if let Some(dir) = self.dir_of(path) {
                self.read.push(kubeconfig::facts(&format!("{dir}/{name}"), bytes));
            }
            // A raw kubeconfig is never kept; with a configuration's extension, the runtime treats it as a
            // configuration.
            if !loadable {
                return;
            }
        }
        let over = if bytes.len() > MAX_CONF {
            Some(format!("{} bytes exceed the limit of {MAX_CONF}", bytes.len()))
        } else if self.conf_files >= MAX_CONF_FILES || self.conf_bytes + bytes.len() > MAX_CONF_ALL {
            Some(format!("beyond the limit of {MAX_CONF_FILES} files or {MAX_CONF_ALL} bytes in total"))
        } else {
            None
        };
        if let Some(why) = over {
            if self.not_captured.len() < MAX_ROWS {
                self.not_captured.insert(path.to_owned(), why);
            } else if let Some(dir) = self.dir_of(path) {
                self.listed.remove(&dir);
            }
            return;
        }
        let clean = redact::config_bytes(bytes).into_owned();
        if files::is_worth_copying(name, &clean) {
            self.conf_bytes += bytes.len();
            self.conf_files += 1;
            self.files.insert(path.to_owned(), clean);
        }
    }

    /// Merges facts from copies into provided facts, which were taken on the node and take precedence.
    fn facts(&mut self) {
        if self.read.is_empty() {
            return;
        }
        let brought = self.files.get(FACTS).map(|bytes| serde_json::from_slice::<Vec<Value>>(bytes));
        let mut rows = match brought {
            None => Vec::new(),
            Some(Ok(rows)) => rows,
            Some(Err(error)) => {
                self.note(FACTS, format!("replaced, because it is not a JSON array: {error}"));
                Vec::new()
            }
        };
        let read = std::mem::take(&mut self.read);
        for facts in read {
            let taken = serde_json::to_value(&facts).expect("facts are plain strings and numbers");
            match rows.iter_mut().find(|row| row["path"].as_str() == Some(&facts.path)) {
                None => rows.push(taken),
                Some(row) => complete(row, taken),
            }
        }
        self.insert_json(FACTS, &Value::Array(rows));
    }

    /// A copy of a directory that the caller named keeps that name.
    fn dirs(&mut self, defaults: &Defaults) {
        let named = defaults.conf_dir != DEFAULT_CONF_DIR && self.listed.contains(&defaults.conf_dir);
        if named && !self.files.contains_key(DIRS) {
            let dir = &defaults.conf_dir;
            let dirs = json!({"confDir": dir, "source": "flag", "dirs": [{"path": dir, "exists": true}]});
            self.insert_json(DIRS, &dirs);
        }
    }

    fn insert_json(&mut self, path: &str, value: &Value) {
        let mut bytes = serde_json::to_vec_pretty(value).expect("a JSON value always serialises");
        bytes.push(b'\n');
        self.files.insert(path.to_owned(), redact::fact_bytes(&bytes).into_owned());
    }

    /// `meta.json`: unchanged if nothing was left out, else with the files that were left out.
    fn meta(&mut self, node: &str, brought: Option<&[u8]>, defaults: &Defaults) {
        let parsed = brought.filter(|bytes| bytes.len() <= MAX_FACTS).map(serde_json::from_slice::<Map<String, Value>>);
        let mut meta = match parsed {
            Some(Ok(meta)) => meta,
            Some(Err(error)) => {
                self.note(META, format!("not a JSON object: {error}"));
                Map::new()
            }
            None => Map::new(),
        };
        let before = meta.clone();
        if !meta.contains_key("schema") {
            meta.insert("schema".to_owned(), json!("node-snapshot/1"));
        }
        if !meta.contains_key("node") {
            meta.insert("node".to_owned(), json!(node));
        }
        if let (false, Some(at)) = (meta.contains_key("collectedAt"), defaults.collected_at) {
            meta.insert("collectedAt".to_owned(), json!(at.to_string()));
        }
        let notes = std::mem::take(&mut self.notes);
        add_rows(&mut meta, "errors", notes.into_iter().map(|(path, error)| json!({"path": path, "error": error})));
        let left = std::mem::take(&mut self.not_captured);
        add_rows(&mut meta, "notCaptured", left.into_iter().map(|(path, why)| json!({"path": path, "why": why})));
        add_rows(&mut meta, "truncated", std::mem::take(&mut self.truncated).into_iter().map(Value::String));
        add_rows(&mut meta, "listed", std::mem::take(&mut self.listed).into_iter().map(Value::String));
        match brought {
            Some(bytes) if meta == before => {
                self.files.insert(META.to_owned(), redact::fact_bytes(bytes).into_owned());
            }
            _ => self.insert_json(META, &Value::Object(meta)),
        }
    }
}

/// Adds facts from a copy to unknown fields of a provided row: a shell can extract a token's claims, and
/// leaves other facts to the copy, in which the token is masked.
fn complete(row: &mut Value, taken: Value) {
    let (Value::Object(row), Value::Object(taken)) = (row, taken) else { return };
    let says = |key: &str| row.get(key).is_some_and(|value| !value.is_null());
    // If the original could not be parsed, its copy is not better, although masking may have made it
    // readable.
    if says("parseError") {
        return;
    }
    let was_read = ["server", "currentContext", "tokenClaims"].into_iter().any(says);
    let has_claims = says("tokenClaims");
    for (key, value) in taken {
        if key == "tokenError" && has_claims || key == "parseError" && was_read {
            continue;
        }
        let known = row.entry(key).or_insert(Value::Null);
        if known.is_null() {
            *known = value;
        }
    }
}

/// Appends missing rows.
fn add_rows(meta: &mut Map<String, Value>, key: &str, rows: impl Iterator<Item = Value>) {
    let rows: Vec<Value> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let known = meta.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    if !known.is_array() {
        *known = Value::Array(Vec::new());
    }
    if let Value::Array(known) = known {
        for row in rows {
            if !known.contains(&row) {
                known.push(row);
            }
        }
    }
}
