//! Files the objects in a text: kind, position and age. Objects of kinds that are never read are dropped here; objects
//! without a kind do not belong to a cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use serde_json::Value;

use super::aside::{Aside, Unfit};
use super::read_header::{Peek, Unquoted, is_typed, item_kind, kind_of, listed};
use super::versions::VersionsFile;
use super::waiting::{FileLine, Waiting};
use super::{Age, Builder, ObjectPosition, yaml};
use crate::archive::spool::{Blob, Lines};
use crate::item::Kind;
use crate::knowledge::Knowledge;
use crate::names::with_article;
use crate::objects::mistyped::Mistyped;
use crate::source::bounded_errors::MOST;
use crate::source::json::{self, Head};
use crate::source::kept::{self, FEWER};

/// Maximum size of a text to search for template marks.
const MOST_OF_TEXT: u64 = 4 << 20;
/// Number of sorts of nameless items to distinguish in a list.
const SORTS: usize = 100;

pub(super) struct Filing<'a> {
    pub(super) builder: &'a mut Builder,
    name: &'a str,
    blob: &'a Blob,
    /// Positions of objects that need no conversion.
    place: usize,
    waiting: Vec<Waiting>,
    /// Nameless items of the current list.
    nameless: BTreeMap<Kindred, Nameless>,
    /// Line index, once a message needs it.
    lines: Option<Lines>,
    failed: Option<io::Error>,
    /// Whether hidden Secret values were already reported for this file.
    hides: bool,
    /// Whether a limit was already reported for this file.
    limited: bool,
}

/// Version and kind of an item.
type Kindred = (Option<String>, Option<String>);

/// Nameless items of the same kind: they cannot be filed, and there may be millions.
#[derive(Default)]
struct Nameless {
    /// Positions of the first ones.
    lines: Vec<FileLine>,
    more: usize,
}

/// Files JSON.
pub(super) fn json(builder: &mut Builder, name: &str, blob: Blob) -> io::Result<()> {
    let place = builder.dump.blobs.len();
    builder.dump.blobs.push(blob.clone());
    let reader = blob.reader()?;
    let mut filing = Filing::new(builder, name, &blob, place);
    let outcome = json::scan(reader, &mut filing);
    if let Err(broken) = outcome {
        let text = blob.bytes(MOST_OF_TEXT).ok();
        if filing.is_template(text.as_deref(), FileLine::Of(broken.offset)) {
            return filing.failed.map_or(Ok(()), Err);
        }
        // The part of a list before an error is kept.
        let head = broken.within.unwrap_or_default();
        let inside = head.kind.clone();
        filing.end_list(&head);
        let kind = inside.as_deref().and_then(|kind| item_kind(&head, None, Some(kind)));
        filing.trouble(kind, FileLine::Of(broken.offset), &broken.why.to_string());
    }
    filing.failed.map_or(Ok(()), Err)
}

/// Files YAML.
pub(super) fn yaml(builder: &mut Builder, name: &str, blob: &Blob) -> io::Result<()> {
    let scalars = match builder.places {
        Some(_) => yaml::Scalars::Applied,
        None => yaml::Scalars::Written,
    };
    let mut filing = Filing::new(builder, name, blob, 0);
    yaml::scan(blob, scalars, &mut filing)?;
    filing.failed.map_or(Ok(()), Err)
}

impl json::JsonSink for Filing<'_> {
    fn item(&mut self, offset: u64, json: &[u8]) {
        if self.admit(json.len(), FileLine::Of(offset)) {
            self.wait(json, self.place, offset, FileLine::Of(offset));
        }
    }

    fn list(&mut self, head: Head) {
        self.end_list(&head);
    }

    fn object(&mut self, offset: u64, json: &[u8]) {
        if self.admit(json.len(), FileLine::Of(offset)) {
            self.single(json, self.place, offset, FileLine::Of(offset));
        }
    }

    fn too_large(&mut self, offset: u64) {
        let why = format!("an object larger than {} MiB", json::MAX_OBJECT >> 20);
        self.trouble(None, FileLine::Of(offset), &why);
    }
}

impl yaml::YamlSink for Filing<'_> {
    fn item(&mut self, line: u64, object: Value) {
        if let Some((text, offset)) = self.convert(&object)
            && self.admit(text.len(), FileLine::Is(line))
        {
            self.wait(&text, 0, offset, FileLine::Is(line));
        }
    }

    fn list(&mut self, head: Head, broken: Vec<yaml::Bad>) {
        let kind = head.kind.as_deref().and_then(|kind| item_kind(&head, None, Some(kind)));
        self.end_list(&head);
        for bad in broken {
            self.trouble(kind, FileLine::Is(bad.line), &bad.why);
        }
    }

    fn forget(&mut self) {
        let excess = self.waiting.iter().map(|one| kept::excess(usize::try_from(one.len).unwrap_or(0))).sum();
        self.builder.kept.discard(self.waiting.len(), excess);
        self.waiting.clear();
        self.nameless.clear();
    }

    fn object(&mut self, line: u64, object: Value) {
        if let Some((text, offset)) = self.convert(&object)
            && self.admit(text.len(), FileLine::Is(line))
        {
            self.single(&text, 0, offset, FileLine::Is(line));
        }
    }

    fn bad(&mut self, bad: yaml::Bad, text: Option<&[u8]>) {
        if self.is_template(text, FileLine::Is(bad.line)) {
            return;
        }
        self.trouble(None, FileLine::Is(bad.line), &bad.why);
    }
}

impl<'a> Filing<'a> {
    fn new(builder: &'a mut Builder, name: &'a str, blob: &'a Blob, place: usize) -> Filing<'a> {
        let (waiting, nameless) = Default::default();
        let (hides, limited) = (false, false);
        Filing { builder, name, blob, place, waiting, nameless, lines: None, failed: None, hides, limited }
    }

    fn line_at(&mut self, offset: u64) -> Option<u64> {
        self.lines.get_or_insert_with(|| Lines::new(self.blob)).line_at(offset)
    }

    pub(super) fn place_of(&mut self, line: FileLine) -> String {
        let line = match line {
            FileLine::Is(line) => Some(line),
            FileLine::Of(offset) => self.line_at(offset),
        };
        line.map_or_else(|| self.name.to_owned(), |line| format!("{}:{line}", self.name))
    }

    pub(super) fn convert(&mut self, object: &Value) -> Option<(Vec<u8>, u64)> {
        let text = object.to_string().into_bytes();
        match self.builder.convert(&text) {
            Ok(offset) => Some((text, offset)),
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn trouble(&mut self, kind: Option<Kind>, line: FileLine, why: &str) {
        if self.builder.is_full(kind) {
            return self.builder.note_more(kind, 1);
        }
        let place = self.place_of(line);
        self.builder.note(kind, format!("{place}: {}", crate::redact::error(&why)));
    }

    /// Whether an object may be kept; the first one beyond a limit is reported. Later ones may be of any kind.
    fn admit(&mut self, size: usize, line: FileLine) -> bool {
        let Err(limit) = self.builder.kept.admit(size) else { return true };
        if !std::mem::replace(&mut self.limited, true) {
            self.builder.recognised += 1;
            self.trouble(None, line, &format!("{limit}; the rest is not read: {FEWER}"));
        }
        false
    }

    /// An item, until the kind of its list is known.
    fn wait(&mut self, json: &[u8], blob: usize, offset: u64, line: FileLine) {
        let peek = match serde_json::from_slice::<Peek<'_>>(json) {
            Ok(peek) => peek,
            Err(error) => return self.malformed(line, &error),
        };
        if let Some((rewritten, offset)) = self.rewritten(&peek, json) {
            self.wait(&rewritten, 0, offset, line);
        } else if self.is_moved(&peek) {
            if let Some((moved, offset)) = self.moved(&peek, json) {
                self.wait(&moved, 0, offset, line);
            }
        } else if peek.is_nameless() {
            match self.generated(&peek, json) {
                Some((named, offset)) => self.wait(&named, 0, offset, line),
                None => self.nameless(peek, line),
            }
        } else {
            let waiting = self.waiting(peek, blob, offset, json, line);
            self.waiting.push(waiting);
        }
    }

    /// The parsed head of an object; for manifests also the reason not to file it, and its hash.
    fn waiting(&self, peek: Peek<'_>, blob: usize, offset: u64, json: &[u8], line: FileLine) -> Waiting {
        let unfit = self.unfit(&peek, json);
        let content = self.builder.places.is_some().then(|| super::repeated::content(json));
        let is_of_mesh = content.is_some() && kind_of(&peek).is_none() && super::rewritten::is_of_mesh(&peek, json);
        let may_be_secret = peek.kind.as_deref().is_none_or(|kind| kind == "Secret");
        let meta = peek.metadata.unwrap_or_default();
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let age = Age {
            version: meta.resource_version.and_then(|version| version.parse().ok()).unwrap_or_default(),
            created: meta.creation_timestamp.and_then(|time| time.parse::<Timestamp>().ok()),
        };
        Waiting {
            api_version: owned(peek.api_version),
            kind: owned(peek.kind),
            namespace: owned(meta.namespace),
            name: owned(meta.name).unwrap_or_default(),
            uid: owned(meta.uid).filter(|uid| !uid.is_empty()),
            age,
            blob,
            offset,
            len: json.len() as u64,
            line,
            hidden: may_be_secret && super::layout::hides(json),
            unfit,
            content,
            rewritten: peek.rewritten,
            is_of_mesh,
        }
    }

    fn nameless(&mut self, peek: Peek<'_>, line: FileLine) {
        let kindred = (peek.api_version.map(Cow::into_owned), peek.kind.map(Cow::into_owned));
        if !self.nameless.contains_key(&kindred) && self.nameless.len() >= SORTS {
            // Their kinds are no longer known, so any kind may be incomplete.
            return self.trouble(None, line, "an item without a name");
        }
        let nameless = self.nameless.entry(kindred).or_default();
        match nameless.lines.len() {
            ..MOST => nameless.lines.push(line),
            _ => nameless.more += 1,
        }
    }

    fn malformed(&mut self, line: FileLine, error: &serde_json::Error) {
        if self.builder.is_full(None) {
            return self.builder.note_more(None, 1);
        }
        // The error counts lines from the start of the object.
        let said = error.to_string();
        let why = said.split(" at line ").next().unwrap_or(&said);
        let line = match line {
            FileLine::Of(offset) => {
                let begin = self.line_at(offset).unwrap_or(1);
                FileLine::Is(begin + error.line().saturating_sub(1) as u64)
            }
            converted @ FileLine::Is(_) => converted,
        };
        self.trouble(None, line, why);
    }

    fn end_list(&mut self, head: &Head) {
        let waiting = std::mem::take(&mut self.waiting);
        let nameless = std::mem::take(&mut self.nameless);
        let list = head.kind.as_deref().is_some_and(|kind| kind.ends_with("List"));
        if head.kind.is_some() && !list {
            // Another kind of object that has items.
            self.builder.recognised += 1;
            return;
        }
        self.builder.recognised += usize::from(list);
        if head.goes_on() {
            let kind = item_kind(head, None, None);
            let why = "the list is only one of several pages (metadata.continue is set)";
            let lines = nameless.values().flat_map(|nameless| nameless.lines.first());
            let first = waiting.first().map(|first| &first.line).or(lines.min_by_key(|line| line.place()));
            let first = first.copied().unwrap_or(FileLine::Is(1));
            self.trouble(kind, first, why);
        }
        for object in waiting {
            self.file(head, object);
        }
        for ((version, kind), nameless) in nameless {
            self.refuse(head, version.as_deref(), kind, &nameless);
        }
    }

    /// Nameless items: they cannot be filed, so their kind is incomplete.
    fn refuse(&mut self, head: &Head, version: Option<&str>, kind: Option<String>, nameless: &Nameless) {
        let (kind, why) = match kind.or_else(|| listed(head)) {
            // An array of other values.
            None if head.kind.is_none() => return,
            None => (None, "an item without a kind".to_owned()),
            Some(name) => {
                self.builder.recognised += 1;
                let Some(kind) = item_kind(head, version, Some(&name)) else { return };
                (Some(kind), without_name(kind))
            }
        };
        nameless.lines.iter().for_each(|line| self.trouble(kind, *line, &why));
        self.builder.note_more(kind, nameless.more);
    }

    fn file(&mut self, head: &Head, object: Waiting) {
        let Some(kind_name) = object.kind.clone().or_else(|| listed(head)) else {
            if head.kind.is_some() {
                self.trouble(None, object.line, "an item without a kind");
            }
            return;
        };
        self.builder.recognised += 1;
        let api_version = object.api_version.as_deref().or(head.api_version.as_deref()).unwrap_or_default();
        let kind = item_kind(head, object.api_version.as_deref(), Some(&kind_name));
        let unread = Knowledge::embedded().unread().of_manifest(api_version, &kind_name);
        if let Some(unread) = unread.filter(|_| kind.is_none()) {
            let key = (object.namespace.as_deref().unwrap_or_default().into(), object.name.as_str().into());
            self.builder.dump.unread.entry(&unread.resource).or_default().insert(key);
        }
        let of = object.namespace.as_deref().map_or_else(String::new, |namespace| format!("{namespace}/"));
        let of_kind = object.rewritten.of_kind.clone();
        let Some(kind) = kind else {
            let is_known = unread.is_some() || self.builder.places.is_none();
            if let Some(why) = unknown_kind(api_version, &kind_name).filter(|_| !is_known) {
                let place = self.place_of(object.line);
                self.builder.set_aside(Aside::UnknownKind, &format!("{of}{} ({place}): {why}", object.name));
            } else if object.is_of_mesh {
                let place = self.place_of(object.line);
                self.builder.set_aside(Aside::OtherKind, &format!("{kind_name} {of}{} ({place})", object.name));
            }
            return;
        };
        let what = format!("{} {of}{}", of_kind.as_deref().unwrap_or(kind.info().kind), object.name);
        if let Some(unfit) = object.unfit {
            return match unfit {
                Unfit::SetAside(why) => {
                    let place = self.place_of(object.line);
                    self.builder.set_aside(why, &format!("{what} ({place})"));
                }
                Unfit::Broken(why, wrong) => {
                    self.trouble(Some(kind), object.line, &format!("{what}: {why}"));
                    let key = self.key(kind, object.namespace.as_deref(), &object.name);
                    if let Some((path, why)) = wrong.filter(|_| of_kind.is_none() && !object.name.is_empty()) {
                        self.note_place((kind, None), &key, object.line);
                        self.mistyped(kind, &key, path, why, None);
                    }
                }
            };
        }
        if object.name.is_empty() {
            return self.trouble(Some(kind), object.line, &without_name(kind));
        }
        if kind == Kind::Secret && object.hidden {
            // A length is not a key, and the hidden value may be valid.
            if !std::mem::replace(&mut self.hides, true) {
                let why = "Secrets with hidden values (as in must-gather) are not read";
                self.trouble(Some(kind), object.line, why);
            }
            return;
        }
        let key = self.key(kind, object.namespace.as_deref(), &object.name);
        if let (Kind::Namespace, "kube-system", Some(uid)) = (kind, object.name.as_str(), object.uid) {
            self.builder.dump.uids.entry(uid).or_insert_with(|| self.name.to_owned());
        }
        if let Some(content) = object.content {
            let line = self.line_of(object.line);
            let place = (self.name, format!("{}:{line}", self.name));
            if !self.builder.is_to_be_held(kind, &key, place, content) {
                return;
            }
            self.note_place((kind, of_kind), &key, FileLine::Is(line));
        }
        self.note_unquoted(kind, &key, (&what, object.line), &object.rewritten.unquoted);
        let held = ObjectPosition { blob: object.blob, offset: object.offset, len: object.len, age: object.age };
        self.builder.hold(kind, key, held);
    }

    /// Namespace and name of an object.
    fn key(&self, kind: Kind, namespace: Option<&str>, name: &str) -> super::ObjectKey {
        let namespace = match (kind.info().namespaced, namespace) {
            (false, _) => "",
            (true, None | Some("")) => self.builder.into.as_str(),
            (true, Some(namespace)) => namespace,
        };
        (namespace.into(), name.into())
    }

    fn line_of(&mut self, line: FileLine) -> u64 {
        match line {
            FileLine::Is(line) => line,
            FileLine::Of(offset) => self.line_at(offset).unwrap_or(1),
        }
    }

    /// Records the position of an object, if positions are recorded.
    fn note_place(&mut self, kind: (Kind, Option<String>), key: &super::ObjectKey, line: FileLine) {
        let line = self.line_of(line);
        if let Some(places) = &mut self.builder.places {
            places.note(kind, key.clone(), self.name, self.blob, line);
        }
    }

    fn mistyped(&mut self, kind: Kind, key: &super::ObjectKey, path: String, why: String, meant: Option<String>) {
        let (namespace, name) = (key.0.to_string(), key.1.to_string());
        self.builder.dump.mistyped.push(Mistyped { kind, namespace, name, path, why, meant });
    }

    /// Notes annotations and labels that are not strings, which the API server rejects.
    fn note_unquoted(
        &mut self,
        kind: Kind,
        key: &super::ObjectKey,
        (what, line): (&str, FileLine),
        unquoted: &[Unquoted],
    ) {
        for Unquoted { path, sort, text } in unquoted {
            let places = self.builder.places.as_ref();
            let found = places.and_then(|places| places.find(kind.info().kind, &key.0, &key.1, Some(path)));
            let line = found.map_or(line, |written| FileLine::Is(written.line));
            let cure = match sort.as_ref() {
                "a list" => "separate its items by commas",
                _ => "put its value in quotes",
            };
            self.trouble(Some(kind), line, &format!("{what}: {path} is {sort}: {cure}"));
            let why = format!("must be a string, not {sort}");
            // A number as it is read has lost zeros, and a key that is not a string has another name.
            let meant = match (&self.builder.places, sort.as_ref()) {
                (Some(places), "a number" | "a boolean") => places.scalar(kind.info().kind, &key.0, &key.1, path),
                _ => Some(text.clone()),
            };
            self.mistyped(kind, key, path.clone(), why, meant);
        }
    }

    /// A standalone object, or the response of a version request.
    fn single(&mut self, json: &[u8], blob: usize, offset: u64, line: FileLine) {
        let peek = match serde_json::from_slice::<Peek<'_>>(json) {
            Ok(peek) => peek,
            Err(error) => {
                // An object of Kubernetes whose name is not a string, not a file of another tool.
                self.builder.recognised += usize::from(is_typed(json));
                return self.malformed(line, &error);
            }
        };
        if let Some(name) = &peek.kind {
            // A list whose items are not an array.
            if name.ends_with("List") && !peek.has_no_items() {
                let head = Head::new(peek.api_version.as_deref(), name);
                let kind = item_kind(&head, None, None);
                if kind.is_some() || name == "List" {
                    self.builder.recognised += 1;
                    self.trouble(kind, line, &format!("the items of {} are not a list", with_article(name)));
                }
                return;
            }
            if peek.api_version.is_some() {
                if let Some((rewritten, offset)) = self.rewritten(&peek, json) {
                    return self.single(&rewritten, 0, offset, line);
                }
                if self.is_moved(&peek) {
                    if let Some((moved, offset)) = self.moved(&peek, json) {
                        self.single(&moved, 0, offset, line);
                    }
                    return;
                }
                if peek.is_nameless()
                    && let Some((named, offset)) = self.generated(&peek, json)
                {
                    return self.single(&named, 0, offset, line);
                }
                let waiting = self.waiting(peek, blob, offset, json, line);
                self.file(&Head::default(), waiting);
            }
            return;
        }
        match VersionsFile::parse(json) {
            Some(VersionsFile::Server(server)) => {
                self.builder.recognised += 1;
                self.builder.version(self.name, server);
            }
            Some(VersionsFile::KubectlAlone) => {
                let warning = format!("{}: it contains only kubectl's version, not the API server's", self.name);
                self.builder.dump.warnings.push(warning);
            }
            None => {}
        }
    }
}

/// The problem of an object without a name.
fn without_name(kind: Kind) -> String {
    format!("{} without a name", with_article(&kind.to_string()))
}

/// Why a manifest of a group of Linkerd or of the Gateway API has a kind that does not exist there:
/// `kind Servr is unknown in policy.linkerd.io; did you mean Server?`. The Gateway API has kinds that are not known
/// here, so of its group only a misspelt kind counts.
fn unknown_kind(api_version: &str, kind: &str) -> Option<String> {
    const GATEWAY_API: &str = "gateway.networking.k8s.io";
    let (group, _) = api_version.split_once('/')?;
    let is_of_group = |known: &Kind| known.info().group == group;
    let is_linkerds = group == "linkerd.io" || group.ends_with(".linkerd.io");
    let kinds: Vec<&str> = Kind::ALL.iter().filter(|known| is_of_group(known)).map(|known| known.info().kind).collect();
    if kinds.is_empty() || !is_linkerds && group != GATEWAY_API || kind.ends_with("List") {
        return None;
    }
    let near = crate::nearest::closest(kind, kinds.iter().copied());
    match near {
        Some(near) => Some(format!("kind {kind} is unknown in {group}; did you mean {near}?")),
        None => is_linkerds.then(|| format!("kind {kind} is unknown in {group}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::archive::spool::Spool;
    use crate::source::Completeness;
    use crate::source::kept::{Limit, MOST_OBJECTS};

    fn dumped(text: &str, earlier: usize) -> (usize, Vec<String>) {
        let mut builder = Builder::new(Completeness::All);
        (0..earlier).for_each(|_| builder.kept.admit(1).expect("room"));
        let mut spool = Spool::new();
        spool.write_all(text.as_bytes()).expect("written");
        builder.file("pods.json", spool.finish()).expect("read");
        let dump = builder.finish();
        let held = dump.objects.get(&Kind::Pod).map_or(0, std::collections::BTreeMap::len);
        (held, dump.trouble().into_iter().collect())
    }

    #[test]
    fn objects_beyond_the_limit_are_a_gap_of_every_kind() {
        let pod = |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}}}}"#);
        let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{},{}]}}"#, pod("a"), pod("b"));
        let yaml = format!("---\n{}\n---\n{}\n", pod("a"), pod("b"));
        for text in [list, yaml] {
            assert_eq!(dumped(&text, 0), (2, Vec::new()));
            assert_eq!(dumped(&text, MOST_OBJECTS - 2), (2, Vec::new()));
            for (earlier, left) in [(1, 1), (0, 0)] {
                let (held, trouble) = dumped(&text, MOST_OBJECTS - earlier);
                assert_eq!(held, left);
                let [one] = trouble.as_slice() else { panic!("{trouble:?}") };
                let said = format!("{}; the rest is not read: {FEWER}", Limit::Objects);
                assert!(one.starts_with("pods.json:") && one.ends_with(&said), "{one}");
            }
        }
    }
}
