//! Writes bundles. Objects go to an unnamed temporary file as they arrive, so memory stays small; the target appears
//! only when it is complete, and never after a failure or an interruption.

mod ahead;
mod metadata;
mod pack;
mod packed;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use self::ahead::SavePlan;
use self::pack::{Content, parent};
use crate::source::bundle::manifest::{
    ClusterRecord, ItemRecord, LeftOut, MANIFEST, Manifest, NodeRecord, RedactionRecord, SCHEMA, Tool, folder,
    named_file, segment,
};

pub use self::metadata::{ClosingEntries, Contents};
pub use self::pack::{Form, SaveError, ready, save, stream};
pub use self::packed::{BundleEntry, Packed};

use crate::archive;
use crate::archive::spool::{Blob, Spool};
use crate::collect::Saver;
use crate::fetched::Fetched;
use crate::item::{Item, Kind};
use crate::node_files::NodeFiles;
use crate::redact::Sanitized;
use crate::request::Request;

/// Maximum number of objects per page.
const PAGE_OBJECTS: usize = 500;
/// Maximum number of bytes per page; each item in progress holds that much in memory.
const PAGE_BYTES: usize = 2 << 20;

/// A written bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of objects.
    pub objects: usize,
    /// Number of nodes with evidence.
    pub nodes: usize,
}

/// Receives collected objects, and writes the bundle at the end.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    form: Form,
    state: Mutex<SaverState>,
}

#[derive(Debug)]
struct SaverState {
    spool: Spool,
    ahead: SavePlan,
    items: BTreeMap<Request, Pages>,
    ended: BTreeMap<Request, Fetched>,
    nodes: BTreeMap<String, Vec<(String, SpoolPosition)>>,
    server_version: Option<Value>,
    cli_version: Option<String>,
    cli_extensions: Option<Vec<String>>,
    uid: Option<String>,
    error: Option<String>,
}

/// Position in the spool: offset and length.
type SpoolPosition = (u64, u64);

/// A full page.
#[derive(Debug, Clone, Copy)]
struct Full {
    place: PagePlace,
    objects: usize,
    redacted: usize,
}

/// Position of a page.
#[derive(Debug, Clone, Copy)]
enum PagePlace {
    Spooled(SpoolPosition),
    /// Number of a page that was compressed ahead.
    Packed(usize),
}

impl PagePlace {
    /// The page, from the whole spool or the pages that were compressed ahead.
    fn content(self, spool: &Blob, packed: &[Content]) -> io::Result<Content> {
        match self {
            PagePlace::Spooled((offset, len)) => Ok(Content::Blob(spool.slice(offset, len))),
            PagePlace::Packed(number) => {
                packed.get(number).cloned().ok_or_else(|| io::Error::other("a page was not packed"))
            }
        }
    }
}

/// Objects of one item.
#[derive(Debug, Default)]
struct Pages {
    page: Vec<u8>,
    in_page: usize,
    full: Vec<Full>,
    objects: usize,
}

impl Writer {
    /// Prepares to write to `path`, and tests that before anything is collected.
    ///
    /// # Errors
    /// The name has no known format, something is in the way, or the folder is not writable.
    pub fn create(path: &Path) -> Result<Writer, SaveError> {
        let form = pack::ready(path)?;
        Ok(Writer::within(parent(path), form, path))
    }

    /// Prepares to write `.tar.gz` to a stream, or nowhere.
    pub fn unnamed() -> Writer {
        Writer::within(&std::env::temp_dir(), Form::TarGz, Path::new("-"))
    }

    /// Temporary data is stored in `folder`.
    fn within(folder: &Path, form: Form, path: &Path) -> Writer {
        let state = SaverState {
            spool: Spool::within(folder),
            ahead: SavePlan::new(form, folder),
            items: BTreeMap::new(),
            ended: BTreeMap::new(),
            nodes: BTreeMap::new(),
            server_version: None,
            cli_version: None,
            cli_extensions: None,
            uid: None,
            error: None,
        };
        Writer { path: path.to_owned(), form, state: Mutex::new(state) }
    }

    /// Writes the bundle.
    ///
    /// # Errors
    /// It could not be written, or an object could not be stored during collection.
    pub fn finish(self, closing: ClosingEntries) -> Result<Saved, SaveError> {
        self.pack(closing, Contents::default())?.write()
    }

    /// Assembles the bundle without writing it.
    ///
    /// # Errors
    /// An object could not be stored during collection.
    pub fn pack(self, closing: ClosingEntries, contents: Contents) -> Result<Packed, SaveError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(what) = state.error {
            return Err(SaveError::Content { path: self.path, what });
        }
        let nodes = match contents.left_out.contains(&Request::new(Item::NodeFiles)) {
            true => 0,
            false => state.nodes.len(),
        };
        let seconds = pack::seconds(closing.captured_at.unwrap_or_else(jiff::Timestamp::now));
        let (files, objects) =
            state.files(closing, contents).map_err(|error| SaveError::Write { path: self.path.clone(), error })?;
        Ok(Packed { path: self.path, form: self.form, files, seconds, objects, nodes })
    }

    fn state(&self) -> MutexGuard<'_, SaverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an operation unless an earlier one failed, and records failures.
    fn attempt(&self, work: impl FnOnce(&mut SaverState) -> Result<(), String>) {
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
                    return Err(format!("node {}: {path:?} is not a valid file name", files.node));
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

/// Kind and version of the objects of a list item.
fn list_of(item: &Item) -> Option<(&'static str, String)> {
    match item {
        Item::List(kind) => Some((kind.info().kind, kind.api_version())),
        Item::Logs | Item::Diagnostics => Some((item.answers(), "meshdoctor.io/v1".to_owned())),
        _ => None,
    }
}

impl SaverState {
    fn put(&mut self, bytes: &[u8]) -> io::Result<SpoolPosition> {
        let begin = self.spool.len();
        self.spool.write_all(bytes)?;
        Ok((begin, bytes.len() as u64))
    }

    fn add(&mut self, request: &Request, object: &Sanitized) -> io::Result<()> {
        let pages = self.items.entry(request.clone()).or_default();
        match list_of(&request.item) {
            Some((kind, version)) if pages.in_page == 0 => {
                let begin =
                    format!("{{\"kind\":\"{kind}List\",\"apiVersion\":\"{version}\",\"metadata\":{{}},\"items\":[\n");
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

    /// Finishes the current page.
    fn close(&mut self, request: &Request) -> io::Result<()> {
        let Some(pages) = self.items.get_mut(request).filter(|pages| pages.in_page > 0) else {
            return Ok(());
        };
        let ending: &[u8] = if list_of(&request.item).is_some() { b"\n]}\n" } else { b"\n" };
        pages.page.extend_from_slice(ending);
        let objects = std::mem::take(&mut pages.in_page);
        let page = std::mem::take(&mut pages.page);
        let redacted = packed::markers(&page);
        let place = match self.ahead.take(page)? {
            Ok(number) => PagePlace::Packed(number),
            Err(page) => PagePlace::Spooled(self.put(&page)?),
        };
        let full = Full { place, objects, redacted };
        if let Some(pages) = self.items.get_mut(request) {
            pages.full.push(full);
        }
        Ok(())
    }

    /// All files, the manifest first, and the number of their objects.
    fn files(self, closing: ClosingEntries, contents: Contents) -> io::Result<(Vec<(BundleEntry, Content)>, usize)> {
        let whole = self.spool.finish();
        let packed = self.ahead.finish()?;
        let mut files = BTreeMap::new();
        let mut records = Vec::new();
        let mut left_out = Vec::new();
        let mut total = 0;
        let cli_version = closing.cli_version.or(self.cli_version);
        let mut ended = self.ended;
        if cli_version.is_some() {
            ended.insert(Request::new(Item::CliVersion), Fetched::Complete);
        }
        for (request, fetched) in ended {
            let pages = self.items.get(&request);
            let objects = pages.map_or(0, |pages| pages.objects);
            let item = request.item.to_string();
            if contents.left_out.contains(&request) {
                left_out.push(LeftOut { item, namespace: request.namespace, objects });
                continue;
            }
            let mut names = Vec::new();
            for (at, full) in pages.map_or(&[][..], |pages| pages.full.as_slice()).iter().enumerate() {
                let name = match (named_file(&request), folder(&request.item)) {
                    (Some(name), _) => name,
                    (None, Some(folder)) => format!("{folder}/{:04}.json", at + 1),
                    (None, None) => continue,
                };
                let content = full.place.content(&whole, &packed)?;
                let entry = BundleEntry::new(&name, &content, full.objects, full.redacted);
                files.insert(name.clone(), (entry, content));
                names.push(name);
            }
            total += objects;
            records.push(ItemRecord { item, namespace: request.namespace, fetched, objects, files: names });
        }
        let mut nodes = Vec::new();
        let without_nodes = contents.left_out.contains(&Request::new(Item::NodeFiles));
        for (node, kept) in self.nodes.into_iter().filter(|_| !without_nodes) {
            let folder = format!("nodes/{}", segment(&node));
            nodes.push(NodeRecord { node, folder: folder.clone(), files: kept.len() });
            for (path, (offset, len)) in kept {
                let blob = whole.slice(offset, len);
                let redacted = packed::markers(&blob.bytes(u64::MAX)?);
                let (name, content) = (format!("{folder}/{path}"), Content::Blob(blob));
                files.insert(name.clone(), (BundleEntry::new(&name, &content, 0, redacted), content));
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
            left_out,
            nodes,
            uncollected: closing.uncollected,
            redaction: RedactionRecord { touched: closing.redacted },
            rerun: closing.rerun,
            asked: closing.asked,
        };
        let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest has only text keys");
        text.push(b'\n');
        let first = std::iter::once((MANIFEST.to_owned(), text)).chain(contents.beside);
        let first = first.map(|(name, bytes)| {
            let redacted = packed::markers(&bytes);
            let content = Content::Bytes(bytes);
            (BundleEntry::new(&name, &content, 0, redacted), content)
        });
        Ok((first.chain(files.into_values()).collect(), total))
    }
}
