//! Keys of Linkerd in the values of other charts, in every form in which a set of manifests contains values:
//! maps, texts with YAML, single values by path, and values files.

use super::set::names;
use super::{Document, Holds, Installed, MARKS, Node, Set, TEMPLATE, Text, is_read};
use crate::knowledge::{Annotations, Knowledge, WrittenBy};

/// Values with keys of Linkerd. Only the rendered chart shows whether they have an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotated {
    /// The object or file, with the position of the first key.
    pub place: String,
    /// Keys that no release knows, and values that none accepts, with the position of each.
    pub wrong: Vec<String>,
}

/// Nesting of texts with YAML in texts with YAML.
const DEPTH: usize = 3;
/// Number of wrong keys to list per object.
const MOST: usize = 5;

/// Objects and values files with keys of Linkerd for other charts. `known` are the installations of
/// Linkerd's charts, for which only wrong keys are reported.
pub fn annotated(texts: &[Text], known: &[Installed]) -> Vec<Annotated> {
    let set = Set { texts, charts: &[] };
    let mut found = Vec::new();
    for text in texts.iter().filter(|text| is_relevant(&text.text)) {
        for document in set.documents(text) {
            let Some((values, is_values)) = values(&document) else { continue };
            let object = if is_values { text.name.clone() } else { document.kind_and_name() };
            let mut keys = Keys { found: Vec::new() };
            keys.walk(values, &NodeLines::Own, DEPTH);
            let is_of_linkerd = known.iter().any(|one| {
                one.object == object || one.files.iter().any(|file| is_values && file.name == text.name)
            });
            found.extend(keys.annotated(&object, &text.name, is_of_linkerd));
            found.extend(referenced(&set, &document, is_of_linkerd));
        }
    }
    found
}

/// Whether a text may contain keys of Linkerd in values.
fn is_relevant(text: &str) -> bool {
    let is_object = |line: &str| line.starts_with("kind:") || line.starts_with('{');
    text.contains("linkerd") && (MARKS.iter().any(|mark| text.contains(mark)) || !text.lines().any(is_object))
}

/// The part of a document that contains values, and whether it is a file instead of an object.
fn values<'d>(document: &'d Document<'_>) -> Option<(&'d Node, bool)> {
    let root = &document.root;
    // A kustomization may have no kind.
    if let Some(charts) = root.find("helmCharts") {
        return Some((charts, true));
    }
    let part = |key| root.text(&[key]).unwrap_or_default();
    match (part("kind"), part("apiVersion")) {
        ("", "") => Some((root, true)),
        (kind, _) if is_read(kind) => Some((root.find("spec")?, false)),
        _ => None,
    }
}

/// The values in ConfigMaps of the set that a `HelmRelease` names.
fn referenced(set: &Set<'_>, document: &Document<'_>, is_of_linkerd: bool) -> Vec<Annotated> {
    let namespace = document.text("metadata.namespace").unwrap_or_default();
    let of = |entry: String| {
        let text = |key: &str| document.text(&format!("{entry}.{key}"));
        let name = text("name").filter(|_| text("kind").as_deref() == Some("ConfigMap"))?;
        let key = text("valuesKey").unwrap_or_else(|| "values.yaml".to_owned());
        let map = set.object("ConfigMap", &namespace, &name)?;
        let mut keys = Keys { found: Vec::new() };
        let (value, (line, _)) = map.root.within(&["data"])?.get(&key)?;
        keys.text(value, line, &NodeLines::Own, DEPTH);
        keys.annotated(&map.kind_and_name(), &map.of.name, is_of_linkerd)
    };
    document.items("spec.valuesFrom").into_iter().filter_map(of).collect()
}

/// The lines of a node in the file.
enum NodeLines {
    /// Those of the document.
    Own,
    /// Those of a literal text, below this line.
    Below(u64),
    /// All on one line.
    One(u64),
}

impl NodeLines {
    fn at(&self, line: u64) -> u64 {
        match self {
            NodeLines::Own => line,
            NodeLines::Below(above) => above + line,
            NodeLines::One(line) => *line,
        }
    }
}

/// The keys of Linkerd that were found.
struct Keys {
    /// Line, key, and value if it is a text.
    found: Vec<(u64, String, Option<String>)>,
}

impl Keys {
    fn walk(&mut self, node: &Node, lines: &NodeLines, depth: usize) {
        match &node.holds {
            Holds::Map(entries) => {
                for (key, (line, _), value) in entries {
                    let text = match &value.holds {
                        Holds::Text(text, _) => Some(text.clone()),
                        Holds::Map(_) | Holds::List(_) => None,
                    };
                    self.key(last(key), text, lines.at(*line));
                    match value.holds {
                        Holds::Text(..) if key == "name" => {
                            self.parameter(value, node.text(&["value"]), lines.at(*line));
                        }
                        Holds::Text(..) => self.text(value, *line, lines, depth),
                        Holds::Map(_) | Holds::List(_) => self.walk(value, lines, depth),
                    }
                }
            }
            Holds::List(items) => {
                for item in items {
                    match item.holds {
                        Holds::Text(..) => self.text(item, item.line, lines, depth),
                        Holds::Map(_) | Holds::List(_) => self.walk(item, lines, depth),
                    }
                }
            }
            Holds::Text(..) => self.text(node, node.line, lines, depth),
        }
    }

    /// A text that contains values as YAML.
    fn text(&mut self, node: &Node, line: u64, lines: &NodeLines, depth: usize) {
        let Holds::Text(text, literal) = &node.holds else { return };
        if depth == 0 || !text.contains("linkerd") || super::guard(text.as_bytes()).is_err() {
            return;
        }
        let Some(inner) = super::tree(text).filter(|inner| !matches!(inner.holds, Holds::Text(..))) else {
            return;
        };
        let line = lines.at(line);
        let within = if *literal { NodeLines::Below(line) } else { NodeLines::One(line) };
        self.walk(&inner, &within, depth - 1);
    }

    /// A single value by its path: `podAnnotations.linkerd\.io/inject`.
    fn parameter(&mut self, name: &Node, value: Option<&str>, line: u64) {
        if let Holds::Text(path, _) = &name.holds
            && path.contains('\\')
        {
            self.key(last(path), value.map(str::to_owned), line);
        }
    }

    fn key(&mut self, key: String, value: Option<String>, line: u64) {
        if is_linkerds(&key) {
            self.found.push((line, key, value));
        }
    }

    fn annotated(self, object: &str, file: &str, is_of_linkerd: bool) -> Option<Annotated> {
        let line = self.found.iter().map(|(line, ..)| *line).min()?;
        let place_of = |line: u64| match object == file {
            true => format!("{file}:{line}"),
            false => format!("{object} ({file}:{line})"),
        };
        let wrong = |(line, key, value): &(u64, String, Option<String>)| {
            Some(format!("{}: {}", place_of(*line), wrong(key, value.as_deref())?))
        };
        let wrong: Vec<String> = self.found.iter().filter_map(wrong).take(MOST).collect();
        (!is_of_linkerd || !wrong.is_empty()).then(|| Annotated { place: place_of(line), wrong })
    }
}

/// The last part of a path with escaped dots; a plain key is its own.
fn last(path: &str) -> String {
    match path.contains('\\') {
        true => names(path).0.pop().unwrap_or_default(),
        false => path.to_owned(),
    }
}

/// Whether a key is one of Linkerd, or meant to be one.
fn is_linkerds(key: &str) -> bool {
    let Some((domain, name)) = key.split_once('/') else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let all = Knowledge::embedded().annotations();
    domain.contains("linkerd")
        && domain.contains('.')
        && !name.is_empty()
        && (domain.chars().all(plain) && name.chars().all(plain))
        && (all.get(key).is_some() || domain.ends_with("linkerd.io") || nearest(all, key).is_some())
}

fn nearest<'a>(all: &'a Annotations, key: &str) -> Option<&'a str> {
    all.nearest(key, |row| row.set_by == WrittenBy::User).map(|row| row.key.as_str())
}

/// What is wrong with a key or its value.
fn wrong(key: &str, value: Option<&str>) -> Option<String> {
    let knowledge = Knowledge::embedded();
    let all = knowledge.annotations();
    let Some(row) = all.get(key) else {
        return Some(match nearest(all, key) {
            Some(near) => format!("no release knows {key}; did you mean {near}?"),
            None => format!("no release knows {key}"),
        });
    };
    let value =
        value.filter(|value| !value.is_empty() && !value.contains(TEMPLATE) && !value.contains("${"))?;
    let expected = row.check_value(value, None, knowledge.minors()).err()?;
    Some(format!("{key} is not valid, expected {expected}"))
}
