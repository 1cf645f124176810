//! Dumps: output of `kubectl get`, `kubectl version` and `kubectl cluster-info dump`, in any combination of files, as
//! one cluster.
//!
//! Opening reads everything once and records the position of each object; answering reads the objects of one item. What
//! a dump does not contain was not captured, and its lists may be incomplete unless the operator declares them
//! complete. This module files objects; it neither redacts nor checks.

mod answer;
pub mod aside;
pub mod detect_format;
mod filing;
pub mod layout;
mod manifests;
mod places;
mod read_header;
mod repeated;
mod rewritten;
pub mod sysdump;
mod versions;
mod waiting;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};

use jiff::Timestamp;
use serde_json::Value;

use self::aside::{Aside, SetAside};
pub use self::places::Places;
use self::repeated::Repeated;
use super::Completeness;
use super::bounded_errors::BoundedErrors;
use super::diagnostics::{self, Diagnostics, UnusedText};
use super::kept::ObjectCount;
use crate::archive::spool::{Blob, Spool};
use crate::item::Kind;
use crate::objects::mistyped::Mistyped;
use crate::redact;

/// The objects of all dumps of a run.
#[derive(Debug)]
pub struct Dump {
    completeness: Completeness,
    objects: BTreeMap<Kind, BTreeMap<ObjectKey, ObjectPosition>>,
    /// The bytes; the first entry contains converted data.
    blobs: Vec<Blob>,
    /// Objects of kinds that no check reads, by resource.
    unread: BTreeMap<&'static str, BTreeSet<ObjectKey>>,
    /// Errors, by the affected kind; without a kind, any kind may be affected.
    trouble: BTreeMap<Option<Kind>, BoundedErrors>,
    server_version: Option<Value>,
    /// Values of the wrong type in manifests.
    pub mistyped: Vec<Mistyped>,
    /// Objects of manifests that differ between folders, so that none of them is held.
    pub apart: BTreeSet<(Kind, ObjectKey)>,
    /// Contained output of `linkerd diagnostics`.
    diagnostics: Diagnostics,
    /// Uids of the namespace `kube-system`, with the first file that has each.
    pub uids: BTreeMap<String, String>,
    pub warnings: Vec<String>,
    /// Parts of manifests that cannot be applied as they are.
    pub set_aside: SetAside,
}

/// Namespace (empty for cluster-scoped objects) and name.
type ObjectKey = (Box<str>, Box<str>);

/// Position of an object.
#[derive(Debug, Clone, Copy)]
struct ObjectPosition {
    blob: usize,
    offset: u64,
    len: u64,
    age: Age,
}

/// Age of a state of an object; the higher is the later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Age {
    version: u64,
    created: Option<Timestamp>,
}

/// Number of bytes that show whether a file is output of `linkerd diagnostics`.
const HEAD: u64 = 2048;

/// Reads files, one after another.
#[derive(Debug)]
pub struct Builder {
    dump: Dump,
    converted: Spool,
    /// Namespace of objects that name none.
    into: String,
    /// Positions of objects in files, if requested.
    places: Option<Places>,
    /// Objects of manifests seen so far.
    repeated: Repeated,
    /// Namespace that a kustomization sets for the current file.
    moved: Option<String>,
    /// Number of recognized lists, objects and versions, including kinds that are never read.
    recognised: usize,
    /// A broken part of the current file was meant to be a Kubernetes object.
    of_kubernetes: bool,
    /// Number of times that something was set aside.
    aside: usize,
    /// The objects in all files.
    kept: ObjectCount,
}

/// Result of reading a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// It contains evidence of a cluster.
    Read,
    /// It is valid but contains no evidence, for this reason; it may not be a dump at all.
    Nothing(String),
    /// It could not be read, and contained no evidence up to the error.
    Broken(String),
    /// It cannot be applied as it is, which is recorded.
    SetAside,
}

impl Builder {
    /// Starts with the operator's declaration of completeness.
    pub fn new(completeness: Completeness) -> Builder {
        let dump = Dump {
            completeness,
            objects: BTreeMap::new(),
            blobs: vec![Spool::new().finish()],
            unread: BTreeMap::new(),
            trouble: BTreeMap::new(),
            server_version: None,
            mistyped: Vec::new(),
            apart: BTreeSet::new(),
            diagnostics: Diagnostics::default(),
            uids: BTreeMap::new(),
            warnings: Vec::new(),
            set_aside: SetAside::default(),
        };
        Builder {
            dump,
            converted: Spool::new(),
            into: "default".to_owned(),
            places: None,
            repeated: Repeated::default(),
            moved: None,
            recognised: 0,
            of_kubernetes: false,
            aside: 0,
            kept: ObjectCount::default(),
        }
    }

    /// Sets the namespace of objects that name none.
    pub fn into_namespace(&mut self, namespace: Option<String>) {
        if let Some(namespace) = namespace {
            self.into = namespace;
        }
    }

    /// Sets the namespace of objects in the next file, as in a kustomization; without one, their own applies.
    pub fn moved_to(&mut self, namespace: Option<&str>) {
        self.moved = namespace.map(str::to_owned);
    }

    /// Enables recording of positions.
    pub fn with_places(&mut self) {
        self.places = Some(Places::default());
    }

    /// The recorded positions, if enabled.
    pub fn places(&mut self) -> Option<Places> {
        self.places.take()
    }

    /// Declares lists of these kinds as complete.
    pub fn complete(&mut self, kinds: BTreeSet<Kind>) {
        match &mut self.dump.completeness {
            Completeness::All => {}
            Completeness::Kinds(known) => known.extend(kinds),
            Completeness::Unstated if kinds.is_empty() => {}
            unstated @ Completeness::Unstated => *unstated = Completeness::Kinds(kinds),
        }
    }

    /// Reads a decompressed file. Errors in it are recorded, unless it contains no evidence.
    ///
    /// # Errors
    /// It cannot be read, or converted data cannot be stored.
    pub fn file(&mut self, name: &str, blob: Blob) -> io::Result<Taken> {
        let blob = detect_format::utf8(blob)?;
        let text = detect_format::sniff(&blob)?;
        match self.diagnosed(&blob)? {
            Ok(0) | Err(UnusedText::Other) => {}
            Ok(answers) => {
                self.recognised += answers;
                return Ok(Taken::Read);
            }
            Err(UnusedText::Of(why) | UnusedText::NotUsed(why)) => return Ok(Taken::Nothing(why.to_owned())),
        }
        // Errors in a file without evidence are not errors of the dump.
        let earlier = std::mem::take(&mut self.dump.trouble);
        let before = self.recognised;
        let aside = self.aside;
        self.of_kubernetes = false;
        let filed = match text {
            // kubectl apply ignores an empty file; a dump may have failed to write its content.
            detect_format::Text::Empty if self.places.is_some() => {
                Ok(Some(Taken::Nothing("the file is empty".to_owned())))
            }
            detect_format::Text::Empty => Ok(Some(Taken::Broken("the file is empty".to_owned()))),
            detect_format::Text::Neither(_) | detect_format::Text::Json if self.begins_template(&blob)? => {
                self.set_aside(Aside::Template, name);
                Ok(Some(Taken::SetAside))
            }
            detect_format::Text::Neither(why) => Ok(Some(Taken::Nothing(why))),
            detect_format::Text::Json => filing::json(self, name, blob).map(|()| None),
            detect_format::Text::Yaml => filing::yaml(self, name, &blob).map(|()| None),
        };
        let found = std::mem::replace(&mut self.dump.trouble, earlier);
        if let Some(taken) = filed? {
            return Ok(taken);
        }
        if self.recognised > before {
            for (kind, few) in found {
                self.dump.trouble.entry(kind).or_default().merge(few);
            }
            return Ok(Taken::Read);
        }
        if self.aside > aside {
            if self.of_kubernetes {
                for (kind, few) in found {
                    self.dump.trouble.entry(kind).or_default().merge(few);
                }
            }
            return Ok(Taken::SetAside);
        }
        let is_foreign = self.places.is_some() && !self.of_kubernetes;
        Ok(match found.into_values().next().and_then(|few| few.messages.into_iter().next()) {
            // A file of another tool with its own YAML or JSON.
            Some(message) if is_foreign => Taken::Nothing(message),
            Some(message) => Taken::Broken(message),
            None => Taken::Nothing("it contains no Kubernetes objects".to_owned()),
        })
    }

    /// Reads output of `linkerd diagnostics`, unless manifests are read.
    fn diagnosed(&mut self, blob: &Blob) -> io::Result<Result<usize, UnusedText>> {
        if self.places.is_some() || blob.len() > diagnostics::MOST || !diagnostics::may_begin(&blob.head(HEAD)?) {
            return Ok(Err(UnusedText::Other));
        }
        let mut text = Vec::new();
        blob.reader()?.read_to_end(&mut text)?;
        Ok(self.dump.diagnostics.read(&String::from_utf8_lossy(&text), None))
    }

    /// Whether a manifest begins with template marks, which are neither JSON nor YAML.
    fn begins_template(&self, blob: &Blob) -> io::Result<bool> {
        if self.places.is_none() {
            return Ok(false);
        }
        let head = blob.head(4096)?;
        let text = String::from_utf8_lossy(&head);
        let first =
            text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
        Ok(first.is_some_and(|line| line.starts_with("{{")))
    }

    /// Sets the version of the API server, from a file that contains nothing else.
    pub fn server_version(&mut self, name: &str, git_version: &str) {
        self.recognised += 1;
        self.version(name, serde_json::json!({ "gitVersion": git_version }));
    }

    /// Records that something of unknown kind could not be read.
    pub fn trouble(&mut self, message: String) {
        self.note(None, message);
    }

    /// Records something in manifests that cannot be applied as it is.
    pub fn set_aside(&mut self, why: Aside, what: &str) {
        self.aside += 1;
        self.dump.set_aside.add(why, what);
    }

    /// Number of recognized objects.
    pub fn recognised(&self) -> usize {
        self.recognised
    }

    /// Finishes the dump.
    pub fn finish(mut self) -> Dump {
        self.more_repeated();
        self.dump.blobs[0] = self.converted.finish();
        self.dump
    }

    fn note(&mut self, kind: Option<Kind>, message: String) {
        // serde quotes the invalid value.
        self.dump.trouble.entry(kind).or_default().add(|| redact::own_words(&message).into_owned());
    }

    /// Whether further errors of a kind are only counted.
    fn is_full(&self, kind: Option<Kind>) -> bool {
        self.dump.trouble.get(&kind).is_some_and(BoundedErrors::is_full)
    }

    /// Adds to the number of errors that are not listed.
    fn note_more(&mut self, kind: Option<Kind>, more: usize) {
        if more > 0 {
            self.dump.trouble.entry(kind).or_default().more += more;
        }
    }

    /// Stores the text of an object that does not exist as JSON; returns its position.
    fn convert(&mut self, json: &[u8]) -> io::Result<u64> {
        let begin = self.converted.len();
        self.converted.write_all(json)?;
        Ok(begin)
    }

    /// Files an object; if it exists, keeps the later state.
    fn hold(&mut self, kind: Kind, key: ObjectKey, held: ObjectPosition) {
        let of_kind = self.dump.objects.entry(kind).or_default();
        match of_kind.get_mut(&key) {
            Some(earlier) if earlier.age >= held.age => {}
            Some(earlier) => *earlier = held,
            None => _ = of_kind.insert(key, held),
        }
    }

    fn version(&mut self, name: &str, version: Value) {
        let git = |value: &Value| value["gitVersion"].as_str().unwrap_or_default().to_owned();
        match &self.dump.server_version {
            Some(earlier) if git(earlier) != git(&version) => self.dump.warnings.push(format!(
                "{name}: the API server is {}, but another file states {}; the first one is used",
                git(&version),
                git(earlier),
            )),
            Some(_) => {}
            None => self.dump.server_version = Some(version),
        }
    }
}
