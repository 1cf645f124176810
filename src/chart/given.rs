//! Values that are about to be given to a chart (`--values`): files as Helm takes them, a later one over an earlier one. Reads
//! and lays over one another; what a chart takes is the knowledge's business.

use serde_yaml::{Mapping, Value};

pub use super::held::Held;
use super::values::{Values, as_go_reads};
use crate::version::LinkerdVersion;
use crate::yaml::node::{Spot, spot};

/// Values that are about to be given to a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The name of the chart.
    pub chart: String,
    /// The release that the chart is of, where that was said.
    pub release: Option<LinkerdVersion>,
    /// The files, in the order in which they were given: of two that say something of a value the later counts.
    pub files: Vec<ValuesFile>,
    /// The object of a tool that installs the chart, where one gives them, and where it says the release: field and text.
    pub by: Option<(String, Option<(String, String)>)>,
    /// Whether some of the values are not here: what no file says may be said there.
    pub partial: bool,
}

/// A file of values, or values that an object of another tool holds.
#[derive(Debug, Clone)]
pub struct ValuesFile {
    /// What evidence calls it: its path as given, or the object.
    pub name: String,
    /// Its text.
    pub text: String,
    root: Mapping,
    held: Option<Held>,
}

impl PartialEq for ValuesFile {
    fn eq(&self, other: &ValuesFile) -> bool {
        (&self.name, &self.text, &self.held) == (&other.name, &other.text, &other.held)
    }
}

impl Eq for ValuesFile {}

/// Why a text is no file of values.
#[derive(Debug, thiserror::Error)]
pub enum NoValues {
    /// It is no YAML.
    #[error("{name}: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// It is YAML, and no map.
    #[error("{name} holds no values by their names")]
    NoMap {
        /// The file.
        name: String,
    },
}

/// A value that somebody set, with the names on the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'v> {
    /// The names, from the outermost.
    pub names: Vec<&'v str>,
    /// The value; an empty map is one as well.
    pub value: &'v Value,
}

impl Leaf<'_> {
    /// The names with dots between them, as Helm writes them.
    pub fn path(&self) -> String {
        self.names.join(".")
    }

    /// The path as evidence writes it: names that hold dots in brackets.
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

    /// What it is, in words that tell nothing secret.
    pub fn said(&self) -> String {
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
    /// Reads a file of values. An empty one holds none, which is fine.
    ///
    /// # Errors
    /// It is no YAML, or no map.
    pub fn read(name: &str, text: &str) -> Result<ValuesFile, NoValues> {
        let file =
            |root: Mapping| ValuesFile { name: name.to_owned(), text: text.to_owned(), root, held: None };
        let malformed = |reason: String| NoValues::Malformed { name: name.to_owned(), reason };
        crate::yaml::guard(text.as_bytes()).map_err(|error| malformed(error.to_string()))?;
        if let Err(error) = serde_yaml::from_str::<Value>(text) {
            // Of two equal keys Helm refuses the file as well.
            return Err(malformed(error.to_string()));
        }
        match as_go_reads(text) {
            Some(Value::Mapping(root)) => Ok(file(root)),
            Some(Value::Null) | None => Ok(file(Mapping::new())),
            Some(_) => Err(NoValues::NoMap { name: name.to_owned() }),
        }
    }

    /// Values that an object holds, and the text that their places are looked up in.
    pub(super) fn held(name: &str, text: String, root: Mapping, held: Held) -> ValuesFile {
        ValuesFile { name: name.to_owned(), text, root, held: Some(held) }
    }

    /// Whether another tool may put something in the place of what is written, before the chart sees it.
    pub fn is_written_for_others(&self) -> bool {
        self.held.is_some()
    }

    /// The file that they stand in.
    pub fn file(&self) -> &str {
        self.held.as_ref().map_or(&self.name, |held| &held.file)
    }

    /// A value's path as evidence writes it.
    pub fn field(&self, place: &str) -> String {
        self.held.as_ref().map_or_else(|| place.to_owned(), |held| held.field(place))
    }

    /// Where the value stands that evidence names by this field: its path, with line and column from 1.
    pub fn find(&self, field: &str) -> Option<(String, Spot)> {
        match &self.held {
            None => Some((field.to_owned(), spot(&self.text, field)?)),
            Some(held) => held.find(&self.text, field),
        }
    }

    /// What it sets. What it takes away by `null` is not among it.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        gather(&self.root)
    }

    /// What stands at a path.
    pub fn at(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.root.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name))
    }
}

impl Given {
    /// What stands at a path, in the last file that says something of it, and that file; `None` also where that is `null`.
    pub fn at(&self, path: &str) -> Option<(&ValuesFile, &Value)> {
        let found = self.files.iter().rev().find_map(|file| Some((file, file.at(path)?)));
        found.filter(|(_, value)| !value.is_null())
    }

    /// These values over others, as Helm lays them: maps within each other, anything else in the place of what was there.
    pub fn over(&self, values: &Values) -> Values {
        self.files.iter().fold(values.clone(), |values, file| values.overlaid(&file.root))
    }
}

/// What a map sets, with the names on the way to it.
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

/// Lays a map over another: maps within each other; `null` takes away.
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
    fn a_later_file_counts_and_null_takes_away() {
        let file = |name: &str, text: &str| ValuesFile::read(name, text).expect("values");
        let first = file("a.yaml", "proxy: {cores: 1, logLevel: warn}\nclusterNetworks: x");
        let second = file("b.yaml", "proxy: {cores: 2, logLevel: null}\n\"proxy.cores\": 3");
        let places: Vec<String> = second.leaves().iter().map(Leaf::place).collect();
        assert_eq!(places, ["proxy.cores", "[proxy.cores]"]);
        let given = Given {
            chart: "x".to_owned(),
            release: None,
            files: vec![first, second],
            by: None,
            partial: false,
        };
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
        let file = ValuesFile::read("v.yaml", "proxy: {a: off, b: 'off', c: \"No\", d: Yes}\ne: [on, x]")
            .expect("values");
        let at = |path: &str| file.at(path).cloned().expect("a value");
        assert_eq!((at("proxy.a"), at("proxy.b")), (Value::Bool(false), Value::from("off")));
        assert_eq!((at("proxy.c"), at("proxy.d")), (Value::from("No"), Value::Bool(true)));
        assert_eq!(at("e"), Value::from(vec![Value::Bool(true), Value::from("x")]));
    }

    #[test]
    fn what_is_no_map_of_values_is_refused_by_name() {
        let refused = |text: &str| ValuesFile::read("v.yaml", text).expect_err("refused").to_string();
        assert_eq!(refused("- a"), "v.yaml holds no values by their names");
        assert!(refused("a: [").starts_with("v.yaml: "), "{}", refused("a: ["));
        assert!(refused("a: 1\na: 2").contains("duplicate"), "{}", refused("a: 1\na: 2"));
        for empty in ["", "# nothing\n", "{}"] {
            assert!(ValuesFile::read("v.yaml", empty).expect("fine").leaves().is_empty());
        }
    }
}
