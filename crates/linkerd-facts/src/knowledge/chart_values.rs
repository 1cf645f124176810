//! `chart-values.yaml`: types of values in `linkerd-config` that the injector can parse.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::version::EdgeTag;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ChartValues {
    source: String,
    date: jiff::civil::Date,
    counts: Vec<String>,
    integers: Vec<String>,
    numbers: Vec<String>,
    booleans: Vec<String>,
    texts: Vec<String>,
    maps: Vec<String>,
    text_maps: Vec<String>,
    lists: Vec<String>,
    text_lists: Vec<String>,
    map_lists: Vec<String>,
    read: Vec<Read>,
}

/// Releases that read values that others do not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    since: Option<EdgeTag>,
    until: Option<EdgeTag>,
    paths: Vec<String>,
}

impl Read {
    fn is_about(&self, path: &str) -> bool {
        let within =
            |of: &String| path.strip_prefix(of.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.paths.iter().any(within)
    }

    fn holds_at(&self, edge: EdgeTag) -> bool {
        self.since.is_none_or(|since| since <= edge) && self.until.is_none_or(|until| edge <= until)
    }
}

/// Expected type of a chart value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartType {
    /// A whole number from 0.
    Count,
    /// A whole number.
    Integer,
    /// true or false.
    Boolean,
    /// A text; numbers and booleans are accepted.
    Text,
    /// A number, also with a fraction.
    Number,
    /// A map of anything.
    Map,
    TextMap,
    /// A list of anything.
    List,
    TextList,
    MapList,
}

impl ChartType {
    /// Name in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            ChartType::Count => "a whole number of 0 or more",
            ChartType::Integer => "a whole number",
            ChartType::Boolean => "true or false",
            ChartType::Text => "a string",
            ChartType::Number => "a number",
            ChartType::Map => "a map",
            ChartType::TextMap => "a map of strings",
            ChartType::List => "a list",
            ChartType::TextList => "a list of strings",
            ChartType::MapList => "a list of maps",
        }
    }
}

impl ChartValues {
    /// Every value with a known type, by path, and the maps that contain them. `release` is the edge that reads them;
    /// if it is unknown, only values that all releases read.
    pub fn types(&self, release: Option<EdgeTag>) -> BTreeMap<&str, ChartType> {
        let is_read = |path: &str| {
            let mut said = self.read.iter().filter(|read| read.is_about(path));
            said.all(|read| release.is_some_and(|edge| read.holds_at(edge)))
        };
        let values = || {
            let listed =
                self.lists().into_iter().flat_map(|(paths, kind)| paths.iter().map(move |path| (path.as_str(), kind)));
            listed.filter(|(path, _)| is_read(path))
        };
        let maps = values().flat_map(|(path, _)| maps_of(path)).map(|path| (path, ChartType::Map));
        maps.chain(values()).collect()
    }

    fn lists(&self) -> [(&[String], ChartType); 10] {
        [
            (&self.counts, ChartType::Count),
            (&self.integers, ChartType::Integer),
            (&self.numbers, ChartType::Number),
            (&self.booleans, ChartType::Boolean),
            (&self.texts, ChartType::Text),
            (&self.maps, ChartType::Map),
            (&self.text_maps, ChartType::TextMap),
            (&self.lists, ChartType::List),
            (&self.text_lists, ChartType::TextList),
            (&self.map_lists, ChartType::MapList),
        ]
    }

    /// Whether any release reads a value at this path, or a map that contains it.
    pub fn has(&self, path: &str) -> bool {
        self.lists()
            .into_iter()
            .flat_map(|(paths, _)| paths)
            .any(|known| path.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Source of the facts, and date of reading.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

/// The maps that contain a value: `proxy` and `proxy.image` of `proxy.image.name`.
fn maps_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.').map(|(at, _)| &path[..at])
}

impl KnowledgeFile for ChartValues {
    const NAME: &'static str = "chart-values.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/chart-values.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let mut known = BTreeSet::new();
        let all = || self.lists().into_iter().flat_map(|(paths, _)| paths);
        if let Some(twice) = all().find(|path| !known.insert(path.as_str())) {
            return Err(format!("{twice} is listed twice"));
        }
        if let Some(map) = all().flat_map(|path| maps_of(path)).find(|map| known.contains(map)) {
            return Err(format!("{map} is a value and a map of values"));
        }
        let about = |path: &String| all().any(|value| value == path || value.starts_with(&format!("{path}.")));
        match self.read.iter().flat_map(|read| &read.paths).find(|path| !about(path)) {
            Some(path) => Err(format!("{path} is limited to some releases but has no type")),
            None => Ok(()),
        }
    }
}
