//! Positions of the objects of a dump in the given files, down to a field: file, line and column for messages.

use std::collections::BTreeMap;
use std::io::Read;

use super::ObjectKey;
use crate::archive::spool::Blob;
use crate::finding::ManifestLocation;
use crate::item::Kind;
use crate::yaml::begins_document;
use crate::yaml::node::{Holds, Node, tree};

/// Maximum size of a document to search for a field; in a larger one, the start of the object is used.
const MOST: u64 = 8 << 20;

/// Positions of objects.
#[derive(Debug, Default)]
pub struct Places {
    files: Vec<(String, Blob)>,
    objects: BTreeMap<(Kind, ObjectKey), ObjectPlace>,
    /// An earlier place of an object that is in the files more than once.
    earlier: BTreeMap<(Kind, ObjectKey), ObjectPlace>,
    /// The objects that are filed as another kind, by the kind in the file.
    by_written_kind: BTreeMap<(String, ObjectKey), Kind>,
}

/// File of an object, and the first line of its document or item, from 1.
#[derive(Debug, Clone)]
struct ObjectPlace {
    file: usize,
    line: u64,
    /// The kind in the file, if it is filed as another one.
    of_kind: Option<String>,
}

impl Places {
    /// Records an object, and its kind in the file if that is another one.
    pub(super) fn note(
        &mut self,
        (kind, of_kind): (Kind, Option<String>),
        key: ObjectKey,
        name: &str,
        blob: &Blob,
        line: u64,
    ) {
        let file = match self.files.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                self.files.push((name.to_owned(), blob.clone()));
                self.files.len() - 1
            }
        };
        if let Some(of_kind) = &of_kind {
            self.by_written_kind.insert((of_kind.clone(), key.clone()), kind);
        }
        let of = (kind, key);
        let place = ObjectPlace { file, line, of_kind };
        let earlier = self.objects.insert(of.clone(), place);
        if let Some(earlier) = earlier.filter(|earlier| (earlier.file, earlier.line) != (file, line)) {
            self.earlier.insert(of, earlier);
        }
    }

    /// File and line of an earlier object of this name, if the files have several.
    pub fn earlier(&self, kind: &str, namespace: &str, name: &str) -> Option<(&str, u64)> {
        let mut kinds = Kind::all().filter(|known| known.info().kind == kind);
        let place = kinds.find_map(|kind| self.earlier.get(&(kind, (namespace.into(), name.into()))))?;
        Some((self.files[place.file].0.as_str(), place.line))
    }

    /// The kind in the file of an object that is filed as another kind: a Rollout of Argo, filed as a Deployment.
    pub fn written_kind(&self, kind: &str, namespace: &str, name: &str) -> Option<&str> {
        let kind = Kind::all().find(|known| known.info().kind == kind)?;
        self.objects.get(&(kind, (namespace.into(), name.into())))?.of_kind.as_deref()
    }

    /// Position of an object or of one of its fields, in the notation of evidence:
    /// `spec.template.metadata.annotations[KEY]`. `None` if the files contain no such object.
    pub fn find(&self, kind: &str, namespace: &str, name: &str, path: Option<&str>) -> Option<ManifestLocation> {
        let held = self.held(kind, namespace, name)?;
        let kind = held.of_kind.as_deref().unwrap_or(kind);
        let (file, blob) = &self.files[held.file];
        let object = if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") };
        let mut written =
            ManifestLocation { object, path: None, file: file.clone(), line: held.line, column: 1, source: None };
        let Some((text, offset)) = document(blob, held.line) else { return Some(written) };
        written.source = source_of(&text);
        let Some(root) = tree(&text) else { return Some(written) };
        let Some(node) = object_in(&root, kind, name) else { return Some(written) };
        written.line = offset + node.line;
        written.column = node.column;
        written.source = written.source.or_else(|| origin(node));
        if let Some(path) = path
            && let Some(place) = node.at(path)
        {
            written.path = Some(path.to_owned());
            written.line = offset + place.0;
            written.column = place.1;
        }
        Some(written)
    }

    /// The text of a scalar as the file has it, without quotes: `1.10`, which is read as the number 1.1. `None` if the
    /// files contain no such object, or the object no such scalar.
    pub(super) fn scalar(&self, kind: &str, namespace: &str, name: &str, path: &str) -> Option<String> {
        let held = self.held(kind, namespace, name)?;
        let (text, _) = document(&self.files[held.file].1, held.line)?;
        let root = tree(&text)?;
        match &object_in(&root, held.of_kind.as_deref().unwrap_or(kind), name)?.find(path)?.holds {
            Holds::Text(text, _) => Some(text.clone()),
            Holds::Map(_) | Holds::List(_) => None,
        }
    }

    fn held(&self, kind: &str, namespace: &str, name: &str) -> Option<&ObjectPlace> {
        let mut kinds = Kind::all().filter(|known| known.info().kind == kind);
        let key = || -> ObjectKey { (namespace.into(), name.into()) };
        let rewritten = || {
            let filed = self.by_written_kind.get(&(kind.to_owned(), key()))?;
            self.objects.get(&(*filed, key()))
        };
        kinds.find_map(|kind| self.objects.get(&(kind, key()))).or_else(rewritten)
    }
}

/// The document that contains a line, and the number of lines before it.
fn document(blob: &Blob, line: u64) -> Option<(String, u64)> {
    if blob.len() > MOST {
        return None;
    }
    let mut text = String::new();
    blob.reader().ok()?.read_to_string(&mut text).ok()?;
    let at = usize::try_from(line.saturating_sub(1)).ok()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first =
        (0..=at.min(lines.len().saturating_sub(1))).rev().find(|at| begins_document(lines[*at])).map_or(0, |at| at + 1);
    let last = (first..lines.len()).find(|at| begins_document(lines[*at])).unwrap_or(lines.len());
    Some((lines.get(first..last)?.concat(), first as u64))
}

/// The comment that Helm writes above its output.
fn source_of(text: &str) -> Option<String> {
    let comments = text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty());
    comments.filter_map(|line| line.strip_prefix("# Source:")).map(|source| source.trim().to_owned()).next()
}

/// The object with that kind and name: the document, or an item of its list.
fn object_in<'n>(root: &'n Node, kind: &str, name: &str) -> Option<&'n Node> {
    let is = |node: &Node| {
        node.text(&["metadata", "name"]) == Some(name) && node.text(&["kind"]).is_none_or(|other| other == kind)
    };
    match root.get("items").map(|(node, _)| &node.holds) {
        Some(Holds::List(items)) => items.iter().find(|item| is(item)),
        Some(Holds::Map(_) | Holds::Text(..)) | None => Some(root).filter(|node| is(node)),
    }
}

/// The origin of an object according to kustomize.
fn origin(node: &Node) -> Option<String> {
    let origin = node.text(&["metadata", "annotations", "config.kubernetes.io/origin"])?;
    origin.lines().find_map(|line| line.trim().strip_prefix("path:")).map(|path| path.trim().to_owned())
}
