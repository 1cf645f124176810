//! Where the objects of a dump stand in the files that were given, down to a field: what `kubectl apply` is told of manifests,
//! people want to be told by file, line and column.

use std::collections::BTreeMap;
use std::io::Read;

use granit_parser::{Event, Parser, options};

use super::Key;
use crate::archive::spool::Blob;
use crate::finding::Written;
use crate::item::Kind;

/// The largest document that is searched for a field; in a larger one the beginning of the object is named.
const MOST: u64 = 8 << 20;
/// How deep a document may be nested.
const DEPTH: usize = 100;

/// Where objects stand.
#[derive(Debug, Default)]
pub struct Places {
    files: Vec<(String, Blob)>,
    objects: BTreeMap<(Kind, Key), Held>,
}

/// The file of an object, and the line on which its document or its item begins, from 1.
#[derive(Debug, Clone, Copy)]
struct Held {
    file: usize,
    line: u64,
}

impl Places {
    /// Notes an object; where the same one stood before, in words, `FILE:LINE`.
    pub(super) fn note(
        &mut self,
        kind: Kind,
        key: Key,
        name: &str,
        blob: &Blob,
        line: u64,
    ) -> Option<String> {
        let file = match self.files.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                self.files.push((name.to_owned(), blob.clone()));
                self.files.len() - 1
            }
        };
        let before = self.objects.insert((kind, key), Held { file, line })?;
        Some(format!("{}:{}", self.files[before.file].0, before.line))
    }

    /// Where an object stands, and of it a field, written as evidence writes it: `spec.template.metadata.annotations[KEY]`.
    /// `None`: no object of that name is in the files.
    pub fn find(&self, kind: &str, namespace: &str, name: &str, path: Option<&str>) -> Option<Written> {
        let mut kinds = Kind::every().filter(|known| known.info().kind == kind);
        let key = || -> Key { (namespace.into(), name.into()) };
        let held = kinds.find_map(|kind| self.objects.get(&(kind, key())))?;
        let (file, blob) = &self.files[held.file];
        let object = if namespace.is_empty() {
            format!("{kind} {name}")
        } else {
            format!("{kind} {namespace}/{name}")
        };
        let mut written =
            Written { object, path: None, file: file.clone(), line: held.line, column: 1, source: None };
        let Some((text, offset)) = document(blob, held.line) else { return Some(written) };
        written.source = source_of(&text);
        let Some(root) = tree(&text) else { return Some(written) };
        let Some(node) = root.object(kind, name) else { return Some(written) };
        written.line = offset + node.line;
        written.column = node.column;
        written.source = written.source.or_else(|| node.origin());
        if let Some(path) = path
            && let Some(place) = node.at(path)
        {
            written.path = Some(path.to_owned());
            written.line = offset + place.0;
            written.column = place.1;
        }
        Some(written)
    }
}

/// Where a field stands in a text: line and column from 1.
pub fn spot(text: &str, path: &str) -> Option<(u64, u64)> {
    tree(text)?.at(path)
}

/// The document that has a line, and how many lines stand before it.
fn document(blob: &Blob, line: u64) -> Option<(String, u64)> {
    if blob.len() > MOST {
        return None;
    }
    let mut text = String::new();
    blob.reader().ok()?.read_to_string(&mut text).ok()?;
    let at = usize::try_from(line.saturating_sub(1)).ok()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begins =
        |line: &str| line.starts_with("---") && line[3..].chars().next().is_none_or(char::is_whitespace);
    let first = (0..=at.min(lines.len().saturating_sub(1)))
        .rev()
        .find(|at| begins(lines[*at]))
        .map_or(0, |at| at + 1);
    let last = (first..lines.len()).find(|at| begins(lines[*at])).unwrap_or(lines.len());
    Some((lines.get(first..last)?.concat(), first as u64))
}

/// What Helm writes above what it rendered.
fn source_of(text: &str) -> Option<String> {
    let comments = text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty());
    comments.filter_map(|line| line.strip_prefix("# Source:")).map(|source| source.trim().to_owned()).next()
}

/// A line and a column, from 1.
type Spot = (u64, u64);

/// A node of a document, with where it begins: line and column from 1.
#[derive(Debug)]
struct Node {
    line: u64,
    column: u64,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    /// Each key with where it stands.
    Map(Vec<(String, Spot, Node)>),
    List(Vec<Node>),
    Text(String),
}

impl Node {
    fn get(&self, key: &str) -> Option<(&Node, Spot)> {
        let Holds::Map(entries) = &self.holds else { return None };
        entries.iter().find(|(name, _, _)| name == key).map(|(_, place, node)| (node, *place))
    }

    fn text(&self, path: &[&str]) -> Option<&str> {
        let node = path.iter().try_fold(self, |node, key| node.get(key).map(|(node, _)| node))?;
        match &node.holds {
            Holds::Text(text) => Some(text),
            Holds::Map(_) | Holds::List(_) => None,
        }
    }

    /// The object of that kind and name: the document, or an item of the list that it is.
    fn object(&self, kind: &str, name: &str) -> Option<&Node> {
        let is = |node: &Node| {
            node.text(&["metadata", "name"]) == Some(name)
                && node.text(&["kind"]).is_none_or(|other| other == kind)
        };
        if let Some((Node { holds: Holds::List(items), .. }, _)) = self.get("items") {
            return items.iter().find(|item| is(item));
        }
        Some(self).filter(|node| is(node))
    }

    /// Where kustomize says that it is from.
    fn origin(&self) -> Option<String> {
        let origin = self.text(&["metadata", "annotations", "config.kubernetes.io/origin"])?;
        origin.lines().find_map(|line| line.trim().strip_prefix("path:")).map(|path| path.trim().to_owned())
    }

    /// Where a field stands: its key in a map, its value in a list.
    fn at(&self, path: &str) -> Option<Spot> {
        let mut node = self;
        let mut place = (self.line, self.column);
        for step in steps(path)? {
            let (next, at) = match &node.holds {
                Holds::Map(_) => node.get(&step)?,
                Holds::List(items) => {
                    let by_number = step.parse::<usize>().ok().and_then(|at| items.get(at));
                    let by_name = || items.iter().find(|item| item.text(&["name"]) == Some(step.as_str()));
                    let item = by_number.or_else(by_name)?;
                    (item, (item.line, item.column))
                }
                Holds::Text(_) => return None,
            };
            (node, place) = (next, at);
        }
        Some(place)
    }
}

/// The steps of a path: `spec`, `containers`, `app`, `image` for `spec.containers[app].image`.
fn steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = inner.split_once(']')?;
            steps.push(step.trim_matches('"').to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    Some(steps)
}

/// A node that is not complete yet, and in a map the key that waits for its value.
type Open = (Node, Option<(String, Spot)>);

/// The first document of a text, as far as it can be read.
fn tree(text: &str) -> Option<Node> {
    let limits = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str_with_options(text, limits) {
        let (event, span) = event.ok()?;
        let (line, column) = (span.start.line() as u64, span.start.col() as u64 + 1);
        let done = match event {
            Event::MappingStart(..) => {
                open.push((Node { line, column, holds: Holds::Map(Vec::new()) }, None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Node { line, column, holds: Holds::List(Vec::new()) }, None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop()?.0,
            Event::Scalar(text, ..) => Node { line, column, holds: Holds::Text(text.to_string()) },
            Event::Alias(..) => Node { line, column, holds: Holds::Text(String::new()) },
            _ => continue,
        };
        let Some((parent, waiting)) = open.last_mut() else { return Some(done) };
        match &mut parent.holds {
            Holds::List(items) => items.push(done),
            Holds::Map(entries) => match waiting.take() {
                Some((key, place)) => entries.push((key, place, done)),
                None => {
                    let key = match done.holds {
                        Holds::Text(text) => text,
                        Holds::Map(_) | Holds::List(_) => String::new(),
                    };
                    *waiting = Some((key, (done.line, done.column)));
                }
            },
            Holds::Text(_) => return None,
        }
    }
    None
}
