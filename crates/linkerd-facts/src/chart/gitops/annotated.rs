//! Keys of Linkerd in the values of other charts, in every form in which a set of manifests contains values:
//! maps, texts with YAML, single values by path, and values files.

use super::set::names;
use super::{Document, Holds, Installed, MARKS, Node, Set, Text, is_read};
use crate::finding::{ValuesForm, ValuesPlace};
use crate::knowledge::{Annotations, Knowledge, WrittenBy};

/// Values with keys of Linkerd. Only the rendered chart shows whether they have an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotated {
    /// The object or file, with the position of the first key.
    pub place: String,
    /// Whether the values are those of a chart of Linkerd.
    pub is_of_linkerd: bool,
    /// Whether they are in a kustomization or one of its patches.
    pub is_of_kustomize: bool,
    pub keys: Vec<ValueKey>,
}

/// A key of Linkerd in values, or one that is meant to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueKey {
    /// The object with the values, or the values file.
    pub object: String,
    pub file: String,
    /// Line and column, from 1.
    pub spot: (u64, u64),
    /// Its path in the object or file: `spec.values.podAnnotations[linkerd.io/inject]`.
    pub field: String,
    pub key: String,
    /// Its value, if that is a text.
    pub value: Option<String>,
    /// Where to edit it, and its path there; `None` if no edit can be described.
    pub edit: Option<(ValuesPlace, Vec<String>)>,
    /// For the `path` of a JSON patch, the part of it above the key.
    pub pointer: Option<String>,
}

/// Nesting of texts with YAML in texts with YAML.
const DEPTH: usize = 3;

/// Objects and values files with keys of Linkerd. `known` are the installations of Linkerd's charts.
pub fn annotated(texts: &[Text], known: &[Installed]) -> Vec<Annotated> {
    let set = Set { texts, charts: &[] };
    let mut found = of_patches(&set);
    for text in texts.iter().filter(|text| is_relevant(&text.text)) {
        for document in set.documents(text) {
            let Some((part, is_values)) = part(&document) else { continue };
            let Some(values) = part.map_or(Some(&document.root), |part| document.root.find(part)) else {
                continue;
            };
            let object = if is_values { text.name.clone() } else { document.kind_and_name() };
            let is_of_linkerd = known
                .iter()
                .any(|one| one.object == object || one.files.iter().any(|file| is_values && file.name == text.name));
            let at = Cursor::new(part.into_iter().map(str::to_owned));
            let mut keys = Keys { object, file: text.name.clone(), found: Vec::new() };
            keys.walk(values, &at, DEPTH);
            found.extend(keys.annotated(is_of_linkerd).map(|one| Annotated {
                is_of_kustomize: document.is_kustomization() && part != Some("helmCharts"),
                ..one
            }));
            found.extend(referenced(&set, &document, is_of_linkerd));
        }
    }
    // Several objects may name one ConfigMap.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| seen.insert(one.place.clone()));
    found
}

/// The files with patches that kustomizations name.
fn of_patches(set: &Set<'_>) -> Vec<Annotated> {
    let kustomizations = set.texts.iter().filter(|text| text.text.contains("patches"));
    let documents = kustomizations.flat_map(|text| set.documents(text)).filter(Document::is_kustomization);
    let patches = documents.flat_map(|document| {
        let listed = |key: &str, path: &str| {
            let items = document.items(key).into_iter();
            items.filter_map(|item| document.text(&format!("{item}{path}"))).collect::<Vec<_>>()
        };
        let merged = listed("patchesStrategicMerge", "");
        let paths = [listed("patches", ".path"), listed("patchesJson6902", ".path"), merged].concat();
        paths.into_iter().filter_map(|path| set.beside(document.of, &path)).collect::<Vec<_>>()
    });
    let mut found = Vec::new();
    for text in patches.filter(|text| text.text.contains("linkerd")) {
        for document in set.documents(text) {
            let mut keys = Keys { object: text.name.clone(), file: text.name.clone(), found: Vec::new() };
            keys.walk(&document.root, &Cursor::new([]), DEPTH);
            found.extend(keys.annotated(false).map(|one| Annotated { is_of_kustomize: true, ..one }));
        }
    }
    found
}

impl Document<'_> {
    /// Whether kustomize or Flux reads it, for patches. It may have no kind.
    fn is_kustomization(&self) -> bool {
        let text = |key| self.root.text(&[key]).unwrap_or_default();
        let patches = ["patches", "patchesJson6902", "patchesStrategicMerge"];
        match (text("kind"), text("apiVersion").split('/').next().unwrap_or_default()) {
            ("Kustomization" | "Component", "" | "kustomize.config.k8s.io" | "kustomize.toolkit.fluxcd.io") => true,
            ("", "") => patches.iter().any(|key| self.root.find(key).is_some()),
            _ => false,
        }
    }
}

/// Whether a text may contain keys of Linkerd in values.
fn is_relevant(text: &str) -> bool {
    let is_object = |line: &str| line.starts_with("kind:") || line.starts_with('{');
    text.contains("linkerd")
        && (text.contains("kustomize.") || MARKS.iter().any(|mark| text.contains(mark)) || !text.lines().any(is_object))
}

/// The part of a document that contains values, or all of it, and whether it is a file instead of an object.
fn part(document: &Document<'_>) -> Option<(Option<&'static str>, bool)> {
    let root = &document.root;
    // A kustomization may have no kind.
    if root.find("helmCharts").is_some() {
        return Some((Some("helmCharts"), true));
    }
    let part = |key| root.text(&[key]).unwrap_or_default();
    match (part("kind"), part("apiVersion")) {
        ("", "") => Some((None, true)),
        ("Kustomization", api) if api.starts_with("kustomize.toolkit.fluxcd.io/") => Some((Some("spec"), false)),
        ("Kustomization" | "Component", api) if api.starts_with("kustomize.config.k8s.io/") => Some((None, true)),
        (kind, _) if is_read(kind) => Some((Some("spec"), false)),
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
        let mut keys = Keys { object: map.kind_and_name(), file: map.of.name.clone(), found: Vec::new() };
        let (value, (line, _)) = map.root.within(&["data"])?.get(&key)?;
        keys.text(value, line, &Cursor::new(["data".to_owned(), key]), DEPTH);
        keys.annotated(is_of_linkerd)
    };
    document.items("spec.valuesFrom").into_iter().filter_map(of).collect()
}

/// The lines of a node in the file.
#[derive(Debug, Clone, Copy)]
enum NodeLines {
    /// Those of the document.
    Own,
    /// Those of a literal text, below this line.
    Below(u64),
    /// All on one line.
    One(u64),
}

impl NodeLines {
    fn at(self, line: u64) -> u64 {
        match self {
            NodeLines::Own => line,
            NodeLines::Below(above) => above + line,
            NodeLines::One(line) => line,
        }
    }
}

/// A step to a node: a key, or the position in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NodeStep {
    Key(String),
    Item(usize),
}

impl NodeStep {
    fn name(&self) -> String {
        match self {
            NodeStep::Key(name) => name.clone(),
            NodeStep::Item(at) => at.to_string(),
        }
    }
}

/// The position of a node: the steps to each text with YAML that contains it, and the steps in the innermost one.
#[derive(Debug, Clone)]
struct Cursor {
    texts: Vec<Vec<NodeStep>>,
    steps: Vec<NodeStep>,
    lines: NodeLines,
}

impl Cursor {
    fn new(steps: impl IntoIterator<Item = String>) -> Cursor {
        let steps = steps.into_iter().map(NodeStep::Key).collect();
        Cursor { texts: Vec::new(), steps, lines: NodeLines::Own }
    }

    fn below(&self, step: NodeStep) -> Cursor {
        let mut below = self.clone();
        below.steps.push(step);
        below
    }

    /// The root of the text at this position.
    fn inside(&self, lines: NodeLines) -> Cursor {
        let mut texts = self.texts.clone();
        texts.push(self.steps.clone());
        Cursor { texts, steps: Vec::new(), lines }
    }

    /// The path of a key at this position: `spec.values: podAnnotations[linkerd.io/inject]`.
    fn field(&self, key: &str) -> String {
        let own: Vec<NodeStep> = self.steps.iter().cloned().chain([NodeStep::Key(key.to_owned())]).collect();
        let each = self.texts.iter().chain([&own]).map(|steps| path(steps));
        each.collect::<Vec<_>>().join(": ")
    }

    /// Where a key in the map at this position is edited, with its path there.
    fn map(&self, key: &str) -> Option<(Vec<String>, ValuesForm, Vec<String>)> {
        let names = |steps: &[NodeStep]| steps.iter().map(NodeStep::name).collect::<Vec<_>>();
        let is_item = |step: &NodeStep| matches!(step, NodeStep::Item(_));
        let key = [key.to_owned()];
        match &self.texts[..] {
            [] => {
                // The maps of the path may become empty by an edit, the items of a list not.
                let first = usize::from(matches!(self.steps.first(), Some(NodeStep::Key(_))) && !self.is_whole());
                let start = self.steps.iter().rposition(is_item).map_or(first, |last| last + 1);
                let (above, within) = self.steps.split_at(start);
                Some((names(above), ValuesForm::Map, [names(within), key.to_vec()].concat()))
            }
            [text] => Some((names(text), ValuesForm::Text, [names(&self.steps), key.to_vec()].concat())),
            _ => None,
        }
    }

    /// Whether the document is a values file as a whole.
    fn is_whole(&self) -> bool {
        !matches!(self.steps.first(), Some(NodeStep::Key(name)) if name == "spec" || name == "helmCharts")
    }

    /// Where a single value is edited that the map or list at this position sets by its path.
    fn single(&self, value: &str) -> Option<(Vec<String>, ValuesForm, Vec<String>)> {
        let above = self.steps.iter().map(NodeStep::name).collect();
        self.texts.is_empty().then(|| (above, ValuesForm::Single, names(value).0))
    }

    /// The list of the item at this position.
    fn above(&self) -> Cursor {
        let mut above = self.clone();
        above.steps.pop();
        above
    }
}

/// `a.b[c.d/e][0]`
fn path(steps: &[NodeStep]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            NodeStep::Key(name) if name.contains(['.', '/']) => path.extend(["[", name, "]"]),
            NodeStep::Key(name) if path.is_empty() => path.push_str(name),
            NodeStep::Key(name) => path.extend([".", name]),
            NodeStep::Item(at) => path.extend(["[", &at.to_string(), "]"]),
        }
    }
    path
}

/// The keys of Linkerd that were found in an object or file.
struct Keys {
    object: String,
    file: String,
    found: Vec<ValueKey>,
}

/// Where to edit a value: the steps to the values, their form, and the path of the value there.
type EditPlace = (Vec<String>, ValuesForm, Vec<String>);

impl Keys {
    fn walk(&mut self, node: &Node, at: &Cursor, depth: usize) {
        match &node.holds {
            Holds::Map(entries) => {
                self.operation(node, at);
                for (key, (line, column), value) in entries {
                    let text = match &value.holds {
                        Holds::Text(text, _) => Some(text.clone()),
                        Holds::Map(_) | Holds::List(_) => None,
                    };
                    let edit = if key.contains('\\') { at.single(key) } else { at.map(key) };
                    self.key(last(key), text, at.field(key), (at, *line, *column), edit);
                    let below = at.below(NodeStep::Key(key.clone()));
                    match value.holds {
                        Holds::Text(..) if key == "name" => {
                            self.parameter(value, node.text(&["value"]), at, (*line, *column));
                        }
                        Holds::Text(..) => self.text(value, *line, &below, depth),
                        Holds::Map(_) | Holds::List(_) => self.walk(value, &below, depth),
                    }
                }
            }
            Holds::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    let below = at.below(NodeStep::Item(number));
                    match item.holds {
                        Holds::Text(..) => self.text(item, item.line, &below, depth),
                        Holds::Map(_) | Holds::List(_) => self.walk(item, &below, depth),
                    }
                }
            }
            Holds::Text(..) => self.text(node, node.line, at, depth),
        }
    }

    /// A JSON patch of a single key: `path: /metadata/annotations/linkerd.io~1inject`.
    fn operation(&mut self, node: &Node, at: &Cursor) {
        let (Some("add" | "replace"), Some(path)) = (node.text(&["op"]), node.text(&["path"])) else {
            return;
        };
        if let Some((above, name)) = path.rsplit_once('/').filter(|(_, name)| name.contains("~1"))
            && let Some((line, column)) = node.at("path")
        {
            let key = name.replace("~1", "/").replace("~0", "~");
            let value = node.text(&["value"]).map(str::to_owned);
            let known = self.found.len();
            self.key(key, value, at.field("path"), (at, line, column), at.map("path"));
            self.found.iter_mut().skip(known).for_each(|one| one.pointer = Some(above.to_owned()));
        }
    }

    /// A text that contains values as YAML.
    fn text(&mut self, node: &Node, line: u64, at: &Cursor, depth: usize) {
        let Holds::Text(text, literal) = &node.holds else { return };
        if depth == 0 || !text.contains("linkerd") || super::guard(text.as_bytes()).is_err() {
            return;
        }
        let Some(inner) = super::tree(text).filter(|inner| !matches!(inner.holds, Holds::Text(..))) else {
            return;
        };
        let line = at.lines.at(line);
        let lines = if *literal { NodeLines::Below(line) } else { NodeLines::One(line) };
        self.walk(&inner, &at.inside(lines), depth - 1);
    }

    /// A single value by its path: `podAnnotations.linkerd\.io/inject`.
    fn parameter(&mut self, name: &Node, value: Option<&str>, at: &Cursor, (line, column): (u64, u64)) {
        if let Holds::Text(path, _) = &name.holds
            && path.contains('\\')
        {
            let edit = at.above().single(path);
            self.key(last(path), value.map(str::to_owned), at.field("name"), (at, line, column), edit);
        }
    }

    fn key(
        &mut self,
        key: String,
        value: Option<String>,
        field: String,
        (at, line, column): (&Cursor, u64, u64),
        edit: Option<EditPlace>,
    ) {
        if !is_linkerds(&key) {
            return;
        }
        let line = at.lines.at(line);
        // The columns of a text are not those of the file.
        let column = if matches!(at.lines, NodeLines::Own) { column } else { 1 };
        let (object, file) = (self.object.clone(), self.file.clone());
        let edit = edit.and_then(|(path, form, keys)| {
            let line = usize::try_from(line).ok()?;
            Some((ValuesPlace { object: object.clone(), file: file.clone(), line, path, form }, keys))
        });
        self.found.push(ValueKey { object, file, spot: (line, column), field, key, value, edit, pointer: None });
    }

    fn annotated(self, is_of_linkerd: bool) -> Option<Annotated> {
        let line = self.found.iter().map(|found| found.spot.0).min()?;
        let place = match self.object == self.file {
            true => format!("{}:{line}", self.file),
            false => format!("{} ({}:{line})", self.object, self.file),
        };
        Some(Annotated { place, is_of_linkerd, is_of_kustomize: false, keys: self.found })
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
