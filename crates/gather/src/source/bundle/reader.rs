//! Reads a bundle: each item has the outcome that it had at collection time. Damage (a truncated archive, a broken
//! page) is reported with file and line.

mod nodes;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::index::Index;
use super::manifest::{ItemRecord, LeftOut, MANIFEST, MAX_MANIFEST, Manifest};
use super::page::{self, Taken};
use crate::archive::spool::Blob;
use crate::archive::{self, Budget, Tree, Unpacked};
use crate::fetched::{Fetched, Why};
use crate::item::{Access, Item, Kind, Namespaces, Query, Scope};
use crate::names::{is_label, quoted};
use crate::request::Request;
use crate::source::error::LoadError;
use crate::source::folder;
use crate::source::json::{self, Head, JsonSink};
use crate::source::{ObjectSink, Origin, Source, Uncollected};

#[derive(Debug)]
pub struct Bundle {
    /// Path, as given.
    pub name: String,
    tree: Tree,
    manifest: Manifest,
    records: BTreeMap<Request, usize>,
    /// Positions of the objects of lists from which an object was requested by name.
    indexes: Mutex<BTreeMap<Kind, Arc<Index>>>,
}

/// A request independent of its form in the card: the namespace matters, not the scope that it came from.
fn request_for(item: &Item, namespace: Option<&str>) -> Request {
    let (item, namespace) = match item {
        Item::Named { kind, name, .. } => (Item::named(*kind, Scope::Cluster, name.clone()), namespace),
        Item::Access(access) => (Item::Access(Access { scope: Scope::Cluster, ..access.clone() }), namespace),
        Item::Served(_) | Item::Probe(_) => (item.clone(), namespace),
        Item::List(_) | Item::ServerVersion | Item::CliVersion | Item::NodeFiles | Item::Logs | Item::Diagnostics => {
            (item.clone(), None)
        }
    };
    Request { item, namespace: namespace.map(str::to_owned) }
}

impl Bundle {
    /// A bundle in a tree; `None` if the tree is not a bundle.
    ///
    /// # Errors
    /// It is a bundle of a newer version, or its manifest is damaged.
    pub fn open(tree: Tree, name: &str) -> Option<Result<Bundle, LoadError>> {
        let unreadable = |reason: String| LoadError::Unreadable { path: format!("{name}: {MANIFEST}"), reason };
        let text = tree.files.get(MANIFEST)?.bytes(MAX_MANIFEST).ok()?;
        let manifest = match Manifest::parse(&text)? {
            Ok(manifest) => manifest,
            Err(reason) => return Some(Err(unreadable(reason))),
        };
        let namespaces = [&manifest.namespaces.control_plane, &manifest.namespaces.cni];
        if let Some(name) = namespaces.into_iter().find(|name| !is_label(name)) {
            return Some(Err(unreadable(format!("{} is not a valid Kubernetes namespace name", quoted(name)))));
        }
        // Items of later versions are ignored.
        let records = manifest
            .items
            .iter()
            .enumerate()
            .filter_map(|(at, record)| {
                let item: Item = record.item.parse().ok()?;
                Some((request_for(&item, record.namespace.as_deref()), at))
            })
            .collect();
        Some(Ok(Bundle { name: name.to_owned(), tree, manifest, records, indexes: Mutex::default() }))
    }

    /// The bundle at a path: a folder, or an archive of one.
    ///
    /// # Errors
    /// The path does not exist, or is not a bundle.
    pub fn load(path: &Path) -> Result<Bundle, LoadError> {
        let name = path.display().to_string();
        let open = |error| LoadError::Open { path: name.clone(), error };
        let mut budget = Budget::default();
        let tree = if path.is_dir() {
            folder::tree(path, &mut budget).map_err(open)?
        } else {
            match archive::unpack(&Blob::file(path).map_err(open)?, &mut budget, |_| false).map_err(open)? {
                Unpacked::Tree(tree) => tree,
                Unpacked::Plain(..) => Tree::default(),
            }
        };
        let none =
            || LoadError::Unreadable { path: name.clone(), reason: format!("not a bundle: it has no {MANIFEST}") };
        Bundle::open(tree, &name).ok_or_else(none)?
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Namespaces of the control plane and linkerd-cni at collection time.
    pub fn namespaces(&self) -> Namespaces {
        let record = &self.manifest.namespaces;
        // Extensions are found by the labels of their namespaces, which are in the bundle.
        Namespaces { control_plane: record.control_plane.clone(), cni: record.cni.clone(), ..Namespaces::default() }
    }

    /// Problems of the whole bundle, for a warning.
    pub fn trouble(&self) -> Vec<String> {
        let all = self.tree.trouble.iter().chain(&self.tree.notes);
        all.map(|(path, why)| self.place(path, why)).collect()
    }

    /// What was left out on purpose, so that a rerun sees less than the original run.
    pub fn without(&self) -> Option<String> {
        let kind = |left_out: &LeftOut| match left_out.item.parse::<Item>().ok().and_then(|item| item.kind()) {
            Some(kind) => kind.resource(),
            None => format!("{} {}", left_out.item, left_out.namespace.as_deref().unwrap_or_default()),
        };
        let kinds: BTreeSet<String> = self.manifest.left_out.iter().map(kind).collect();
        let kinds = match kinds.len() {
            0 => return None,
            1 => "1 kind".to_owned(),
            many => format!("{many} kinds"),
        };
        Some(format!(
            "{}: this ticket omits the objects of {kinds} that no finding needs, so checks that read them are not \
             checked; see report.txt in it for the full report",
            self.name
        ))
    }

    /// Answers a request, except for node files: each object, and the outcome.
    pub fn answer(&self, request: &Request, take: &mut dyn FnMut(&[u8])) -> Fetched {
        self.found(request, &mut |found| {
            if let BundleObject::Whole { json, .. } = found {
                take(json);
            }
            None
        })
    }

    /// The same, for callers that decode while reading.
    pub(in crate::source) fn fill(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        self.found(request, &mut |found| match found {
            BundleObject::Begun(text) => sink.begun(text),
            BundleObject::Whole { json, .. } => {
                sink.object(json);
                None
            }
        })
    }

    fn found(&self, request: &Request, take: Take<'_>) -> Fetched {
        let whole = |take: Take<'_>, json: &[u8]| take(BundleObject::Whole { path: MANIFEST, offset: 0, json });
        let asked = request_for(&request.item, request.namespace.as_deref());
        if let Some(record) = self.record(&asked) {
            match request.item {
                Item::ServerVersion => {
                    if let Some(version) = &self.manifest.server_version {
                        whole(take, version.to_string().as_bytes());
                    }
                    return record.fetched.clone();
                }
                Item::CliVersion => {
                    if let Some(version) = &self.manifest.cli_version {
                        let extensions = &self.manifest.cli_extensions;
                        let answer = serde_json::json!({ "version": version, "extensions": extensions });
                        whole(take, answer.to_string().as_bytes());
                    }
                    return record.fetched.clone();
                }
                _ => return self.placed(record, take),
            }
        }
        // The object was not requested by name, but the whole list was.
        if let Item::Named { kind, name, .. } = &request.item
            && let Some(record) = self.record(&Request::new(Item::List(*kind)))
        {
            let key = (request.namespace.as_deref(), name.as_str());
            return self.index(*kind, record).pick(&self.tree, key, &mut |json| _ = whole(&mut *take, json));
        }
        // Objects that the cluster does not have may be missing from the saved run.
        let reason = request.item.query().map_or(Why::NotCaptured, Query::absent);
        Fetched::Missing { reason }
    }

    fn record(&self, asked: &Request) -> Option<&ItemRecord> {
        self.records.get(asked).and_then(|at| self.manifest.items.get(*at))
    }

    /// The objects of a record, its outcome, and new damage.
    fn placed(&self, record: &ItemRecord, take: Take<'_>) -> Fetched {
        let mut damage = Vec::new();
        if self.tree.corrupt {
            damage.extend(self.tree.trouble.iter().map(|(path, why)| self.malformed(path, why)));
        }
        let mut count = 0;
        let mut read = BTreeSet::new();
        let mut quick = true;
        let mut buffer = Vec::new();
        for path in &record.files {
            if !read.insert(path) {
                damage.push(self.malformed(path, "it is listed twice in the manifest"));
                continue;
            }
            let Some(blob) = self.tree.files.get(path) else {
                let why = self.tree.trouble.iter().find(|(of, _)| of.is_empty());
                let why = why.map_or_else(String::new, |(_, why)| format!(": {why}"));
                damage.push(self.malformed(path, &format!("the file is missing{why}")));
                continue;
            };
            let begun = match quick {
                true => page::take(blob, &mut buffer, &mut |text| take(BundleObject::Begun(text))),
                false => Taken::default(),
            };
            if begun.whole {
                count += begun.objects;
                continue;
            }
            quick = begun.objects > 0;
            let mut take = |offset: u64, json: &[u8]| _ = take(BundleObject::Whole { path, offset, json });
            let mut objects = NewObjects { take: &mut take, known: begun.objects, count: 0, too_large: Vec::new() };
            match scan(blob, &mut objects) {
                Ok(()) => {}
                Err((offset, why)) => {
                    damage.push(self.malformed(&located(path, blob, offset), &why));
                    // The position of the damage shows how many objects are lost.
                    count = record.objects;
                }
            }
            count += objects.count;
            for offset in objects.too_large {
                damage.push(self.malformed(&located(path, blob, offset), "an object is too large"));
            }
        }
        if damage.is_empty() && count != record.objects {
            let place = record.files.first().map_or(MANIFEST, String::as_str);
            let lost = format!("the manifest lists {} objects, but only {count} exist", record.objects);
            damage.push(self.malformed(place, &lost));
        }
        with(record.fetched.clone(), damage)
    }

    /// Positions of the objects of a list: read once, for any number of requests by name.
    fn index(&self, kind: Kind, record: &ItemRecord) -> Arc<Index> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let index = indexes.entry(kind).or_insert_with(|| Arc::new(self.indexed(record)));
        Arc::clone(index)
    }

    fn indexed(&self, record: &ItemRecord) -> Index {
        Index::read(|file| {
            self.placed(record, &mut |found| {
                if let BundleObject::Whole { path, offset, json } = found {
                    file(path, offset, json);
                }
                None
            })
        })
    }

    fn place(&self, path: &str, why: &str) -> String {
        if path.is_empty() { format!("{}: {why}", self.name) } else { format!("{}: {path}: {why}", self.name) }
    }

    fn malformed(&self, path: &str, why: &str) -> Why {
        Why::Malformed { message: self.place(path, why) }
    }
}

impl Source for Bundle {
    fn origin(&self) -> Origin {
        Origin { kind: "bundle".to_owned(), name: self.name.clone() }
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        match request.item {
            Item::NodeFiles => self.nodes(&mut |files| sink.node(files)),
            _ => self.fill(request, sink),
        }
    }

    fn captured_at(&self) -> Option<Timestamp> {
        self.manifest.captured_at
    }

    fn uncollected(&self) -> Uncollected {
        self.manifest.uncollected.clone()
    }

    fn already_redacted(&self) -> usize {
        self.manifest.redaction.touched
    }
}

/// An outcome with damage added.
fn with(fetched: Fetched, damage: Vec<Why>) -> Fetched {
    if damage.is_empty() {
        return fetched;
    }
    match fetched {
        Fetched::Complete => Fetched::Partial { reasons: damage },
        Fetched::Partial { reasons } => Fetched::Partial { reasons: [reasons, damage].concat() },
        missing @ Fetched::Missing { .. } => missing,
    }
}

fn located(path: &str, blob: &Blob, offset: u64) -> String {
    blob.line_at(offset).map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

fn scan(blob: &Blob, objects: &mut NewObjects<'_>) -> Result<(), (u64, String)> {
    let reader = blob.reader().map_err(|error: io::Error| (0, error.to_string()))?;
    json::scan(reader, objects).map_err(|broken| (broken.offset, broken.why.to_string()))
}

/// An object in a bundle.
enum BundleObject<'a> {
    /// The text from the start of an object; see [`ObjectSink::begun`].
    Begun(&'a str),
    /// A complete object, with its file and position.
    Whole { path: &'a str, offset: u64, json: &'a [u8] },
}

/// Consumes objects; for the start of an object, returns its length if it was consumed.
type Take<'a> = &'a mut dyn FnMut(BundleObject<'_>) -> Option<usize>;

/// Passes objects on and counts them, except for the first ones, which are already known.
struct NewObjects<'a> {
    take: &'a mut dyn FnMut(u64, &[u8]),
    known: usize,
    count: usize,
    too_large: Vec<u64>,
}

impl JsonSink for NewObjects<'_> {
    fn item(&mut self, offset: u64, json: &[u8]) {
        self.count += 1;
        if self.count > self.known {
            (self.take)(offset, json);
        }
    }

    fn list(&mut self, _: Head) {}

    fn object(&mut self, offset: u64, json: &[u8]) {
        self.count += 1;
        if self.count > self.known {
            (self.take)(offset, json);
        }
    }

    fn too_large(&mut self, offset: u64) {
        self.count += 1;
        self.too_large.push(offset);
    }
}
