//! Writes what `collect` saw. Objects go to an unnamed temporary file as they come, so a bundle is never in memory; the
//! target appears under its name when it is whole, and not at all if anything fails or the run is interrupted.

mod ahead;
mod pack;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;

use self::ahead::Ahead;
use self::pack::{Content, parent};
use crate::source::bundle::manifest::{
    ClusterRecord, ItemRecord, MANIFEST, Manifest, NodeRecord, RedactionRecord, SCHEMA, Tool, folder,
    named_file, segment,
};

pub use self::pack::{Form, SaveError, ready, save, stream};

use crate::archive;
use crate::archive::spool::Spool;
use crate::collect::{Collected, Saver};
use crate::command::Rerun;
use crate::fetched::Fetched;
use crate::item::{Item, Kind, Namespaces};
use crate::node_files::NodeFiles;
use crate::redact::Sanitized;
use crate::request::Request;
use crate::source::Uncollected;

/// A page ends with so many objects.
const PAGE_OBJECTS: usize = 500;
/// Or with so many bytes: that much is in memory for each item that is under way.
const PAGE_BYTES: usize = 2 << 20;

/// What a bundle says beside what was collected.
#[derive(Debug, Clone)]
pub struct Closing {
    /// The moment of judgement of the run that is saved: the same evidence, replayed, is judged at the same moment.
    pub captured_at: Timestamp,
    /// The kubeconfig context, or what else the operator calls the cluster.
    pub cluster: Option<String>,
    /// Where the control plane and linkerd-cni were looked for.
    pub namespaces: Namespaces,
    /// The operator's CLI, where a flag said it; else what the source answered is kept.
    pub cli_version: Option<String>,
    /// What was held of kinds that no check reads.
    pub uncollected: Uncollected,
    /// In how many objects and files the border replaced or dropped something.
    pub redacted: usize,
    /// What it takes to ask the same again.
    pub rerun: Rerun,
}

impl Closing {
    /// What a collected cluster says.
    pub fn of(collected: &Collected, cluster: Option<String>, cli_version: Option<String>) -> Closing {
        Closing {
            captured_at: collected.cluster.at,
            cluster,
            namespaces: collected.cluster.namespaces.clone(),
            cli_version,
            uncollected: collected.uncollected.clone(),
            redacted: collected.redaction.touched,
            rerun: Rerun::default(),
        }
    }
}

/// A bundle that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Where.
    pub path: PathBuf,
    /// How large, in bytes.
    pub bytes: u64,
    /// How many objects.
    pub objects: usize,
    /// Evidence of how many nodes.
    pub nodes: usize,
}

/// Takes what is collected, and writes it when it is whole.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    form: Form,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    spool: Spool,
    ahead: Ahead,
    items: BTreeMap<Request, Pages>,
    ended: BTreeMap<Request, Fetched>,
    nodes: BTreeMap<String, Vec<(String, Place)>>,
    server_version: Option<Value>,
    cli_version: Option<String>,
    cli_extensions: Option<Vec<String>>,
    uid: Option<String>,
    error: Option<String>,
}

/// Where something lies in the spool: offset and length.
type Place = (u64, u64);

/// A page that is full.
#[derive(Debug, Clone, Copy)]
enum Full {
    Spooled(Place),
    /// Which of those that are packed ahead.
    Packed(usize),
}

/// The objects of one item.
#[derive(Debug, Default)]
struct Pages {
    page: Vec<u8>,
    in_page: usize,
    full: Vec<Full>,
    objects: usize,
}

impl Writer {
    /// Gets ready to write to `path`, and finds out whether that can work before anything is collected.
    ///
    /// # Errors
    /// The name says no form, something is in the way, or the folder cannot be written to.
    pub fn create(path: &Path) -> Result<Writer, SaveError> {
        let form = pack::ready(path)?;
        let state = State {
            spool: Spool::within(parent(path)),
            ahead: Ahead::of(form, parent(path)),
            items: BTreeMap::new(),
            ended: BTreeMap::new(),
            nodes: BTreeMap::new(),
            server_version: None,
            cli_version: None,
            cli_extensions: None,
            uid: None,
            error: None,
        };
        Ok(Writer { path: path.to_owned(), form, state: Mutex::new(state) })
    }

    /// Writes the bundle.
    ///
    /// # Errors
    /// It could not be written, or something could not be kept while it was collected.
    pub fn finish(self, closing: Closing) -> Result<Saved, SaveError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(what) = state.error {
            return Err(SaveError::Content { path: self.path, what });
        }
        let nodes = state.nodes.len();
        let seconds = pack::seconds(closing.captured_at);
        let written = |error| SaveError::Write { path: self.path.clone(), error };
        let (files, objects) = state.files(closing).map_err(written)?;
        let bytes = pack::write(&self.path, self.form, &files, seconds)
            .map_err(|error| SaveError::Write { path: self.path.clone(), error })?;
        Ok(Saved { path: self.path, bytes, objects, nodes })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does it unless something failed before, and remembers if it fails.
    fn attempt(&self, work: impl FnOnce(&mut State) -> Result<(), String>) {
        let mut state = self.state();
        if state.error.is_none() {
            state.error = work(&mut state).err();
        }
    }
}

impl Saver for Writer {
    fn object(&self, request: &Request, object: &Sanitized) {
        self.attempt(|state| match &request.item {
            Item::ServerVersion => {
                state.server_version = Some(object.value().map_err(|error| error.to_string())?);
                Ok(())
            }
            Item::CliVersion => {
                let object = object.value().map_err(|error| error.to_string())?;
                state.cli_version = object.get("version").and_then(Value::as_str).map(str::to_owned);
                let extensions = object.get("extensions").cloned().unwrap_or_default();
                state.cli_extensions = serde_json::from_value(extensions).unwrap_or_default();
                Ok(())
            }
            Item::NodeFiles => Ok(()),
            Item::List(kind) | Item::Named { kind, .. } => {
                if *kind == Kind::Namespace {
                    let object = object.value().map_err(|error| error.to_string())?;
                    let said = |field: &str| object["metadata"][field].as_str();
                    if said("name") == Some("kube-system") {
                        state.uid = said("uid").map(str::to_owned);
                    }
                }
                state.add(request, object).map_err(|error| error.to_string())
            }
            _ => state.add(request, object).map_err(|error| error.to_string()),
        });
    }

    fn restart(&self, request: &Request) {
        let mut state = self.state();
        state.items.remove(request);
        if request.item == Item::NodeFiles {
            state.nodes.clear();
        }
    }

    fn node(&self, files: &NodeFiles) {
        self.attempt(|state| {
            let mut kept = Vec::new();
            for (path, bytes) in &files.files {
                if archive::clean(path.as_bytes()).as_deref() != Ok(path.as_str()) {
                    return Err(format!("node {}: {path:?} is no name for a file", files.node));
                }
                let place = state.put(bytes).map_err(|error| error.to_string())?;
                kept.push((path.clone(), place));
            }
            state.nodes.insert(files.node.clone(), kept);
            Ok(())
        });
    }

    fn ended(&self, request: &Request, fetched: &Fetched) {
        self.attempt(|state| {
            state.close(request).map_err(|error| error.to_string())?;
            state.ended.insert(request.clone(), fetched.clone());
            Ok(())
        });
    }
}

/// Kind and version of the objects of an item that has several.
fn list_of(item: &Item) -> Option<(&'static str, String)> {
    match item {
        Item::List(kind) => Some((kind.info().kind, kind.api_version())),
        Item::Logs => Some(("Log", "meshdoctor.io/v1".to_owned())),
        _ => None,
    }
}

impl State {
    fn put(&mut self, bytes: &[u8]) -> io::Result<Place> {
        let begin = self.spool.len();
        self.spool.write_all(bytes)?;
        Ok((begin, bytes.len() as u64))
    }

    fn add(&mut self, request: &Request, object: &Sanitized) -> io::Result<()> {
        let pages = self.items.entry(request.clone()).or_default();
        match list_of(&request.item) {
            Some((kind, version)) if pages.in_page == 0 => {
                let begin = format!(
                    "{{\"kind\":\"{kind}List\",\"apiVersion\":\"{version}\",\"metadata\":{{}},\"items\":[\n"
                );
                pages.page.extend_from_slice(begin.as_bytes());
            }
            Some(_) => pages.page.extend_from_slice(b",\n"),
            None => {}
        }
        pages.page.extend_from_slice(object.json());
        pages.in_page += 1;
        pages.objects += 1;
        let full = pages.in_page >= PAGE_OBJECTS || pages.page.len() >= PAGE_BYTES;
        if full { self.close(request) } else { Ok(()) }
    }

    /// Ends the page that is open.
    fn close(&mut self, request: &Request) -> io::Result<()> {
        let Some(pages) = self.items.get_mut(request).filter(|pages| pages.in_page > 0) else {
            return Ok(());
        };
        let ending: &[u8] = if list_of(&request.item).is_some() { b"\n]}\n" } else { b"\n" };
        pages.page.extend_from_slice(ending);
        pages.in_page = 0;
        let page = std::mem::take(&mut pages.page);
        let full = match self.ahead.take(page)? {
            Ok(number) => Full::Packed(number),
            Err(page) => Full::Spooled(self.put(&page)?),
        };
        if let Some(pages) = self.items.get_mut(request) {
            pages.full.push(full);
        }
        Ok(())
    }

    /// Every file, the manifest first; and how many objects they hold.
    fn files(self, closing: Closing) -> io::Result<(Vec<(String, Content)>, usize)> {
        let whole = self.spool.finish();
        let packed = self.ahead.finish()?;
        let mut files = BTreeMap::new();
        let mut records = Vec::new();
        let mut total = 0;
        let cli_version = closing.cli_version.or(self.cli_version);
        let mut ended = self.ended;
        if cli_version.is_some() {
            ended.insert(Request::of(Item::CliVersion), Fetched::Complete);
        }
        for (request, fetched) in ended {
            let mut names = Vec::new();
            let mut objects = 0;
            if let Some(pages) = self.items.get(&request) {
                objects = pages.objects;
                for (at, full) in pages.full.iter().enumerate() {
                    let name = match (named_file(&request), folder(&request.item)) {
                        (Some(name), _) => name,
                        (None, Some(folder)) => format!("{folder}/{:04}.json", at + 1),
                        (None, None) => continue,
                    };
                    let content = match *full {
                        Full::Spooled((offset, len)) => Content::Blob(whole.slice(offset, len)),
                        Full::Packed(number) => packed
                            .get(number)
                            .cloned()
                            .ok_or_else(|| io::Error::other("a page was not packed"))?,
                    };
                    files.insert(name.clone(), content);
                    names.push(name);
                }
            }
            total += objects;
            let item = request.item.to_string();
            records.push(ItemRecord { item, namespace: request.namespace, fetched, objects, files: names });
        }
        let mut nodes = Vec::new();
        for (node, kept) in self.nodes {
            let folder = format!("nodes/{}", segment(&node));
            nodes.push(NodeRecord { node, folder: folder.clone(), files: kept.len() });
            for (path, (offset, len)) in kept {
                files.insert(format!("{folder}/{path}"), Content::Blob(whole.slice(offset, len)));
            }
        }
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "meshdoctor".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            captured_at: closing.captured_at,
            cluster: ClusterRecord { name: closing.cluster, uid: self.uid },
            namespaces: (&closing.namespaces).into(),
            server_version: self.server_version,
            cli_version,
            cli_extensions: self.cli_extensions,
            items: records,
            nodes,
            uncollected: closing.uncollected,
            redaction: RedactionRecord { touched: closing.redacted },
            rerun: closing.rerun,
        };
        let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest has only text keys");
        text.push(b'\n');
        let manifest = (MANIFEST.to_owned(), Content::Bytes(text));
        Ok((std::iter::once(manifest).chain(files).collect(), total))
    }
}
