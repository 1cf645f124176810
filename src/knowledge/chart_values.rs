//! `chart-values.yaml`: of which type the values in `linkerd-config` have to be, so that the injector can read them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::file::KnowledgeFile;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartValues {
    source: String,
    date: jiff::civil::Date,
    counts: Vec<String>,
    integers: Vec<String>,
    booleans: Vec<String>,
    texts: Vec<String>,
}

/// What a chart value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartType {
    /// A whole number from 0.
    Count,
    /// A whole number.
    Integer,
    /// true or false.
    Boolean,
    /// A text; numbers and booleans are taken as theirs.
    Text,
    /// Named values.
    Map,
}

impl ChartType {
    /// As a sentence calls it.
    pub fn in_words(self) -> &'static str {
        match self {
            ChartType::Count => "a whole number from 0",
            ChartType::Integer => "a whole number",
            ChartType::Boolean => "true or false",
            ChartType::Text => "a text",
            ChartType::Map => "a map",
        }
    }
}

impl ChartValues {
    /// Every value with a known type, by its path, and the maps that they are in.
    pub fn types(&self) -> BTreeMap<&str, ChartType> {
        let lists = [
            (&self.counts, ChartType::Count),
            (&self.integers, ChartType::Integer),
            (&self.booleans, ChartType::Boolean),
            (&self.texts, ChartType::Text),
        ];
        let values =
            lists.into_iter().flat_map(|(paths, kind)| paths.iter().map(move |path| (path.as_str(), kind)));
        let maps = lists.into_iter().flat_map(|(paths, _)| paths).flat_map(|path| maps_of(path));
        maps.map(|path| (path, ChartType::Map)).chain(values).collect()
    }

    /// Where the facts are from, and when they were read.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

/// The maps that a value is in: `proxy` and `proxy.image` of `proxy.image.name`.
fn maps_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.').map(|(at, _)| &path[..at])
}

impl KnowledgeFile for ChartValues {
    const NAME: &'static str = "chart-values.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/chart-values.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let mut known = BTreeSet::new();
        let all = || [&self.counts, &self.integers, &self.booleans, &self.texts].into_iter().flatten();
        if let Some(twice) = all().find(|path| !known.insert(path.as_str())) {
            return Err(format!("{twice} is listed twice"));
        }
        match all().flat_map(|path| maps_of(path)).find(|map| known.contains(map)) {
            Some(map) => Err(format!("{map} is a value and a map of values")),
            None => Ok(()),
        }
    }
}
