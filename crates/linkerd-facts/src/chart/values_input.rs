//! Values for a chart (`--values`): files as for Helm, where later ones override earlier ones. Parses and merges; the
//! accepted values are in the release data.

use serde_yaml::{Mapping, Value};

pub use super::stored_values::ValuePositions;
use super::values::Values;
use super::yaml;
use crate::finding::{ValueAction, ValueEdit, ValuesForm, ValuesPlace};
use crate::version::LinkerdVersion;
use crate::yaml::node::{Spot, spot, tree};

/// Values for a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuesInput {
    /// The name of the chart.
    pub chart: String,
    /// The release of the chart, if given.
    pub release: Option<LinkerdVersion>,
    /// The files, in order: later ones override earlier ones.
    pub files: Vec<ValuesFile>,
    /// The object that installs the chart, if any, and its release: field and text.
    pub by: Option<(String, Option<(String, String)>)>,
    /// Whether some values are missing: they may set what no file sets.
    pub partial: bool,
}

/// The values of a chart, with the object that installs it.
pub fn values_of(chart: &str, by: Option<&str>) -> String {
    let by = by.map_or_else(String::new, |object| format!(", {object}"));
    format!("values of {chart}{by}")
}

/// A values file, or values in an object of another tool.
#[derive(Debug, Clone)]
pub struct ValuesFile {
    /// Name in evidence: the given path, or the object.
    pub name: String,
    pub text: String,
    root: Mapping,
    held: Option<ValuePositions>,
    /// Paths that another chart reads too.
    shared: Vec<String>,
}

impl PartialEq for ValuesFile {
    fn eq(&self, other: &ValuesFile) -> bool {
        (&self.name, &self.text, &self.held) == (&other.name, &other.text, &other.held)
    }
}

impl Eq for ValuesFile {}

/// Reason why a text is not a values file.
#[derive(Debug, thiserror::Error)]
pub enum NoValues {
    /// It is not YAML.
    #[error("{name}: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// The error, with line and column.
        reason: String,
    },
    /// It is YAML, but not a map.
    #[error("{name} is not a map of values")]
    NoMap {
        /// The file.
        name: String,
    },
}

/// A value that is set, with its path.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'v> {
    /// The keys, from the outermost.
    pub names: Vec<&'v str>,
    /// The value; an empty map is also one.
    pub value: &'v Value,
}

impl Leaf<'_> {
    /// The keys joined by dots, as Helm writes them.
    pub fn path(&self) -> String {
        self.names.join(".")
    }

    /// The path as in evidence: keys that contain dots are in brackets.
    pub fn place(&self) -> String {
        let mut place = String::new();
        for name in &self.names {
            match name.contains('.') {
                true => place.push_str(&format!("[{name}]")),
                false if place.is_empty() => place.push_str(name),
                false => place.push_str(&format!(".{name}")),
            }
        }
        place
    }

    /// A description without secrets.
    pub fn describe(&self) -> String {
        match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(_) => "a text".to_owned(),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) | Value::Tagged(_) => "a map".to_owned(),
        }
    }
}

impl ValuesFile {
    /// Reads a values file. An empty one is valid.
    ///
    /// # Errors
    /// It is not YAML, or not a map.
    pub fn read(name: &str, text: &str) -> Result<ValuesFile, NoValues> {
        let file = |root: Mapping| ValuesFile {
            name: name.to_owned(),
            text: text.to_owned(),
            root,
            held: None,
            shared: Vec::new(),
        };
        let malformed = |reason: String| NoValues::Malformed { name: name.to_owned(), reason };
        crate::yaml::guard(text.as_bytes()).map_err(|error| malformed(error.to_string()))?;
        if let Err(error) = serde_yaml::from_str::<Value>(text) {
            // Helm also rejects a file with duplicate keys.
            return Err(malformed(error.to_string()));
        }
        match yaml::read(text) {
            Some(Value::Mapping(root)) => Ok(file(root)),
            Some(Value::Null) | None => Ok(file(Mapping::new())),
            Some(_) => Err(NoValues::NoMap { name: name.to_owned() }),
        }
    }

    /// Values in an object, and the text in which their positions are searched.
    pub(super) fn in_object(name: &str, text: String, root: Mapping, held: ValuePositions) -> ValuesFile {
        ValuesFile { name: name.to_owned(), text, root, held: Some(held), shared: Vec::new() }
    }

    /// The file, if another chart reads these paths too; an empty path stands for all values.
    pub(super) fn shared_with_parent(self, shared: Vec<String>) -> ValuesFile {
        ValuesFile { shared, ..self }
    }

    /// Whether another chart reads a value, a value below it, or a map above it.
    pub fn is_shared(&self, path: &str) -> bool {
        let is_below = |one: &str, other: &str| {
            other.is_empty() || one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.shared.iter().any(|shared| is_below(path, shared) || is_below(shared, path))
    }

    /// Whether another tool may replace parts before the chart gets them.
    pub fn is_written_for_others(&self) -> bool {
        self.held.is_some()
    }

    /// The file that contains them.
    pub fn file(&self) -> &str {
        self.held.as_ref().map_or(&self.name, |held| &held.file)
    }

    /// Path of a value, as in evidence.
    pub fn field(&self, place: &str) -> String {
        self.held.as_ref().map_or_else(|| place.to_owned(), |held| held.field(place))
    }

    /// The edit of a value where it is set; `None` if its place cannot be named.
    pub fn edit(&self, keys: &[&str], action: ValueAction) -> Option<ValueEdit> {
        let (line, (path, form)) = match &self.held {
            None => (tree(&self.text)?.line, (Vec::new(), ValuesForm::Map)),
            Some(held) => (held.line, held.form()?),
        };
        let field = self.field(&Leaf { names: keys.to_vec(), value: &Value::Null }.place());
        let line = self.find(&field).map_or(line, |(_, (line, _))| line);
        let (object, file) = (self.name.clone(), self.file().to_owned());
        let place = ValuesPlace { object, file, line: usize::try_from(line).ok()?, path, form };
        Some(ValueEdit { place, keys: keys.iter().map(|key| (*key).to_owned()).collect(), action })
    }

    /// Position of a value that evidence names by this field: path, line and column from 1.
    pub fn find(&self, field: &str) -> Option<(String, Spot)> {
        match &self.held {
            None => Some((field.to_owned(), spot(&self.text, field)?)),
            Some(held) => held.find(&self.text, field),
        }
    }

    /// The values that are set. Values removed by `null` are not included.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        gather(&self.root)
    }

    /// The value at a path.
    pub fn at(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.root.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name))
    }
}

impl ValuesInput {
    /// The value at a path in the last file that sets it, and that file; also `None` if it is `null`.
    pub fn at(&self, path: &str) -> Option<(&ValuesFile, &Value)> {
        let found = self.files.iter().rev().find_map(|file| Some((file, file.at(path)?)));
        found.filter(|(_, value)| !value.is_null())
    }

    /// Merges these values over others, as Helm does: maps recursively, other values by replacement.
    pub fn over(&self, values: &Values) -> Values {
        self.files.iter().fold(values.clone(), |values, file| values.overlaid(&file.root))
    }
}

/// The values that a map sets, with their paths.
pub(super) fn gather(root: &Mapping) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    go_down(root, &mut Vec::new(), &mut leaves);
    leaves
}

fn go_down<'v>(map: &'v Mapping, names: &mut Vec<&'v str>, leaves: &mut Vec<Leaf<'v>>) {
    for (name, value) in map {
        let Some(name) = name.as_str() else { continue };
        names.push(name);
        match value {
            Value::Mapping(inner) if !inner.is_empty() => go_down(inner, names, leaves),
            Value::Null => {}
            value => leaves.push(Leaf { names: names.clone(), value }),
        }
        names.pop();
    }
}

/// Merges a map over another recursively; `null` removes.
pub(super) fn lay(over: &Mapping, on: &mut Mapping) {
    for (name, value) in over {
        match (value, on.get_mut(name)) {
            (Value::Null, _) => {
                on.remove(name);
            }
            (Value::Mapping(over), Some(Value::Mapping(on))) => lay(over, on),
            (value, _) => {
                on.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_file_wins_and_null_removes() {
        let file = |name: &str, text: &str| ValuesFile::read(name, text).expect("values");
        let first = file("a.yaml", "proxy: {cores: 1, logLevel: warn}\nclusterNetworks: x");
        let second = file("b.yaml", "proxy: {cores: 2, logLevel: null}\n\"proxy.cores\": 3");
        let places: Vec<String> = second.leaves().iter().map(Leaf::place).collect();
        assert_eq!(places, ["proxy.cores", "[proxy.cores]"]);
        let given =
            ValuesInput { chart: "x".to_owned(), release: None, files: vec![first, second], by: None, partial: false };
        let at = |path: &str| given.at(path).map(|(file, value)| (file.name.clone(), value.as_u64()));
        assert_eq!(at("proxy.cores"), Some(("b.yaml".to_owned(), Some(2))));
        assert_eq!((at("proxy.logLevel"), at("clusterNetworks")), (None, Some(("a.yaml".to_owned(), None))));
        let base = Values::read("proxy: {logLevel: info, uid: 1}").expect("values");
        let over = given.over(&base);
        assert_eq!((over.number("proxy.cores"), over.number("proxy.uid")), (Some(2), Some(1)));
        assert_eq!(over.text("proxy.logLevel"), None);
    }

    #[test]
    fn words_of_older_yaml_are_booleans_without_quotes() {
        let file =
            ValuesFile::read("v.yaml", "proxy: {a: off, b: 'off', c: \"No\", d: Yes}\ne: [on, x]").expect("values");
        let at = |path: &str| file.at(path).cloned().expect("a value");
        assert_eq!((at("proxy.a"), at("proxy.b")), (Value::Bool(false), Value::from("off")));
        assert_eq!((at("proxy.c"), at("proxy.d")), (Value::from("No"), Value::Bool(true)));
        assert_eq!(at("e"), Value::from(vec![Value::Bool(true), Value::from("x")]));
    }

    #[test]
    fn non_map_is_rejected_by_name() {
        let refused = |text: &str| ValuesFile::read("v.yaml", text).expect_err("refused").to_string();
        assert_eq!(refused("- a"), "v.yaml is not a map of values");
        assert!(refused("a: [").starts_with("v.yaml: "), "{}", refused("a: ["));
        assert!(refused("a: 1\na: 2").contains("duplicate"), "{}", refused("a: 1\na: 2"));
        for empty in ["", "# nothing\n", "{}"] {
            assert!(ValuesFile::read("v.yaml", empty).expect("fine").leaves().is_empty());
        }
    }
}
