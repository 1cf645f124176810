//! What people already have: output of `kubectl get`, `kubectl version` and `kubectl cluster-info dump`, in any mixture
//! of files, as one cluster.
//!
//! Opening reads everything once and remembers where each object lies; answering reads the objects of one item. What a
//! dump does not hold is not captured, and what it holds may not be all, unless the operator said so. This module
//! files objects; it redacts and judges nothing.

mod answer;
pub mod aside;
mod filing;
pub mod layout;
mod manifests;
mod peek;
mod places;
mod repeated;
pub mod sniff;
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
use super::diagnostics::{self, Diagnostics, Unread};
use super::few::Few;
use crate::archive::spool::{Blob, Spool};
use crate::item::Kind;
use crate::redact;

/// The objects of all dumps of a run.
#[derive(Debug)]
pub struct Dump {
    completeness: Completeness,
    objects: BTreeMap<Kind, BTreeMap<Key, Held>>,
    /// Where the bytes are; the first holds what had to be converted.
    blobs: Vec<Blob>,
    /// Objects of kinds that no check reads, by resource.
    unread: BTreeMap<&'static str, BTreeSet<Key>>,
    /// What could not be read, by the kind that lacks something; any kind may, if it is not known.
    trouble: BTreeMap<Option<Kind>, Few>,
    server_version: Option<Value>,
    /// Output of `linkerd diagnostics` among it.
    diagnostics: Diagnostics,
    /// Uids of the namespace `kube-system`, with the first file that has each.
    pub uids: BTreeMap<String, String>,
    /// What is worth a warning.
    pub warnings: Vec<String>,
    /// What of manifests cannot be applied as it is.
    pub set_aside: SetAside,
}

/// Namespace (empty for cluster-scoped objects) and name.
type Key = (Box<str>, Box<str>);

/// Where an object lies.
#[derive(Debug, Clone, Copy)]
struct Held {
    blob: usize,
    offset: u64,
    len: u64,
    age: Age,
}

/// Which of two states of an object is the later one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Age {
    version: u64,
    created: Option<Timestamp>,
}

/// How much of a file tells whether it may be output of `linkerd diagnostics`.
const HEAD: u64 = 2048;

/// Takes files in, one after the other.
#[derive(Debug)]
pub struct Builder {
    dump: Dump,
    converted: Spool,
    /// The namespace of objects that name none.
    into: String,
    /// Where objects stand, if anybody wants to know.
    places: Option<Places>,
    /// What of manifests stood before.
    repeated: Repeated,
    /// The namespace that a kustomization gives to what is read.
    moved: Option<String>,
    /// Lists, objects and versions that were recognised, those of kinds that are never read included.
    recognised: usize,
    /// Something broken in the file that is read was to be an object of Kubernetes.
    of_kubernetes: bool,
    /// How often something was set aside.
    aside: usize,
}

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// It holds something of a cluster.
    Read,
    /// It is sound, and holds nothing, for this reason; it may be no dump at all.
    Nothing(String),
    /// It could not be read, and nothing of a cluster was in it up to there.
    Broken(String),
    /// It cannot be applied as it is, which is remembered.
    SetAside,
}

impl Builder {
    /// Begins, with what the operator said of the dumps' completeness.
    pub fn new(completeness: Completeness) -> Builder {
        let dump = Dump {
            completeness,
            objects: BTreeMap::new(),
            blobs: vec![Spool::new().finish()],
            unread: BTreeMap::new(),
            trouble: BTreeMap::new(),
            server_version: None,
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
        }
    }

    /// Has objects that name no namespace be of this one.
    pub fn into_namespace(&mut self, namespace: Option<String>) {
        if let Some(namespace) = namespace {
            self.into = namespace;
        }
    }

    /// Has objects of what is read next be of this namespace, as a kustomization has them; nothing: as they say.
    pub fn moved_to(&mut self, namespace: Option<&str>) {
        self.moved = namespace.map(str::to_owned);
    }

    /// Has it remember where objects stand in their files.
    pub fn with_places(&mut self) {
        self.places = Some(Places::default());
    }

    /// Where objects stand, if it was to remember that.
    pub fn places(&mut self) -> Option<Places> {
        self.places.take()
    }

    /// Says that every object of these kinds is in what is taken in.
    pub fn complete(&mut self, kinds: BTreeSet<Kind>) {
        match &mut self.dump.completeness {
            Completeness::All => {}
            Completeness::Kinds(known) => known.extend(kinds),
            Completeness::Unstated if kinds.is_empty() => {}
            unstated @ Completeness::Unstated => *unstated = Completeness::Kinds(kinds),
        }
    }

    /// Takes a decompressed file in. Trouble in it is remembered, unless nothing in it is of a cluster.
    ///
    /// # Errors
    /// It cannot be read, or what is converted cannot be spooled.
    pub fn file(&mut self, name: &str, blob: Blob) -> io::Result<Taken> {
        let blob = sniff::utf8(blob)?;
        let text = sniff::sniff(&blob)?;
        match self.diagnosed(&blob)? {
            Ok(0) | Err(Unread::Other) => {}
            Ok(answers) => {
                self.recognised += answers;
                return Ok(Taken::Read);
            }
            Err(Unread::Of(why)) => return Ok(Taken::Nothing(why.to_owned())),
        }
        // What is wrong with a file that is none of a cluster is no trouble of the dump.
        let earlier = std::mem::take(&mut self.dump.trouble);
        let before = self.recognised;
        let aside = self.aside;
        self.of_kubernetes = false;
        let filed = match text {
            // To kubectl apply it says nothing; of a dump it may be all that was written.
            sniff::Text::Empty if self.places.is_some() => Ok(Some(Taken::Nothing("it is empty".to_owned()))),
            sniff::Text::Empty => Ok(Some(Taken::Broken("it is empty".to_owned()))),
            sniff::Text::Neither(_) | sniff::Text::Json if self.begins_template(&blob)? => {
                self.set_aside(Aside::Template, name);
                Ok(Some(Taken::SetAside))
            }
            sniff::Text::Neither(why) => Ok(Some(Taken::Nothing(sniff::without_secret(name, why)))),
            sniff::Text::Json => filing::json(self, name, blob).map(|()| None),
            sniff::Text::Yaml => filing::yaml(self, name, &blob).map(|()| None),
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
            // The file of another tool, which has a form of YAML or JSON of its own.
            Some(message) if is_foreign => Taken::Nothing(message),
            Some(message) => Taken::Broken(message),
            None => Taken::Nothing("no Kubernetes objects are in it".to_owned()),
        })
    }

    /// Takes in what `linkerd diagnostics` printed, if a file holds that; manifests are none.
    fn diagnosed(&mut self, blob: &Blob) -> io::Result<Result<usize, Unread>> {
        if self.places.is_some()
            || blob.len() > diagnostics::MOST
            || !diagnostics::may_begin(&blob.head(HEAD)?)
        {
            return Ok(Err(Unread::Other));
        }
        let mut text = Vec::new();
        blob.reader()?.read_to_end(&mut text)?;
        Ok(self.dump.diagnostics.read(&String::from_utf8_lossy(&text), None))
    }

    /// Whether a text of manifests begins with the mark of a template, which is neither JSON nor YAML.
    fn begins_template(&self, blob: &Blob) -> io::Result<bool> {
        if self.places.is_none() {
            return Ok(false);
        }
        let head = blob.head(4096)?;
        let text = String::from_utf8_lossy(&head);
        let first = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
        Ok(first.is_some_and(|line| line.starts_with("{{")))
    }

    /// Takes the version of the API server in, where a file says nothing else.
    pub fn server_version(&mut self, name: &str, git_version: &str) {
        self.recognised += 1;
        self.version(name, serde_json::json!({ "gitVersion": git_version }));
    }

    /// Remembers that something could not be read which may have held objects of any kind.
    pub fn trouble(&mut self, message: String) {
        self.note(None, message);
    }

    /// Remembers that manifests hold something that cannot be applied as it is.
    pub fn set_aside(&mut self, why: Aside, what: &str) {
        self.aside += 1;
        self.dump.set_aside.add(why, what);
    }

    /// How much was recognised.
    pub fn recognised(&self) -> usize {
        self.recognised
    }

    /// The dump.
    pub fn finish(mut self) -> Dump {
        self.more_repeated();
        self.dump.blobs[0] = self.converted.finish();
        self.dump
    }

    fn note(&mut self, kind: Option<Kind>, message: String) {
        // serde quotes the value that is wrong.
        self.dump.trouble.entry(kind).or_default().add(|| redact::own_words(&message).into_owned());
    }

    /// Whether no more is said of what is wrong with a kind.
    fn is_full(&self, kind: Option<Kind>) -> bool {
        self.dump.trouble.get(&kind).is_some_and(Few::is_full)
    }

    /// Remembers that so many more could not be read.
    fn note_more(&mut self, kind: Option<Kind>, more: usize) {
        if more > 0 {
            self.dump.trouble.entry(kind).or_default().more += more;
        }
    }

    /// Keeps the text of an object that does not lie anywhere as JSON; where it is now.
    fn convert(&mut self, json: &[u8]) -> io::Result<u64> {
        let begin = self.converted.len();
        self.converted.write_all(json)?;
        Ok(begin)
    }

    /// Files an object; the later state of one that is there already.
    fn hold(&mut self, kind: Kind, key: Key, held: Held) {
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
                "{name}: the API server is {}, and another file says {}; the first one counts",
                git(&version),
                git(earlier),
            )),
            Some(_) => {}
            None => self.dump.server_version = Some(version),
        }
    }
}
