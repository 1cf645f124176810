//! `redaction.yaml`: which fields of which objects and files may leave, and as what. Here the table is read and checked; what
//! it means for a text is the sanitizer's business. No directory replaces it: whoever hands a bundle on relies on the build.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_yaml::Value;

use super::file::KnowledgeFile;

/// The table of what passes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Redaction {
    source: String,
    date: jiff::civil::Date,
    /// Annotations of other tools that pass.
    pub annotations: Vec<String>,
    /// Keys of CNI configurations whose texts pass.
    pub cni_configuration: Vec<String>,
    /// Keys of a node snapshot's own files whose texts pass.
    pub node_facts: Vec<String>,
    /// Those of them whose texts are sentences that a program wrote.
    pub node_sentences: Vec<String>,
    /// Fields that several kinds share, each after those that it refers to.
    pub parts: Fields,
}

/// Fields by name, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Fields(pub Vec<(String, Field)>);

/// What may stand in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// A text of this sort.
    Holds(Sort),
    /// What a part of this name holds.
    Part(String),
    /// The same under every key.
    Each(Box<Field>),
    /// Fields of its own.
    Fields(Fields),
}

/// Sorts of text that pass; the head of the file says what each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// `text`
    Text,
    /// `sentence`
    Sentence,
    /// `word`
    Word,
    /// `certificates`
    Certificates,
    /// `checksum`
    Checksum,
    /// `environment`
    Environment,
    /// `labels`
    Labels,
    /// `annotations`
    Annotations,
}

const SORTS: [(&str, Sort); 8] = [
    ("text", Sort::Text),
    ("sentence", Sort::Sentence),
    ("word", Sort::Word),
    ("certificates", Sort::Certificates),
    ("checksum", Sort::Checksum),
    ("environment", Sort::Environment),
    ("labels", Sort::Labels),
    ("annotations", Sort::Annotations),
];
/// Any key.
const ANY: &str = "*";

impl TryFrom<Value> for Fields {
    type Error = String;

    fn try_from(value: Value) -> Result<Fields, String> {
        let Value::Mapping(map) = value else { return Err("fields: a map of field names".to_owned()) };
        let mut fields = Vec::with_capacity(map.len());
        for (name, value) in map {
            let Value::String(name) = name else { return Err(format!("{name:?} is no name of a field")) };
            let field = Field::read(value).map_err(|(path, reason)| format!("{name}{path}: {reason}"))?;
            fields.push((name, field));
        }
        Ok(Fields(fields))
    }
}

impl Field {
    /// What is wrong comes with the path below the field.
    fn read(value: Value) -> Result<Field, (String, String)> {
        let here = |reason: &str| (String::new(), reason.to_owned());
        match value {
            Value::String(word) => Ok(match SORTS.iter().find(|(name, _)| *name == word) {
                Some((_, sort)) => Field::Holds(*sort),
                None => Field::Part(word),
            }),
            Value::Mapping(map) if map.is_empty() => Err(here("no field is named")),
            Value::Mapping(mut map) if map.contains_key(ANY) => match (map.remove(ANY), map.is_empty()) {
                (Some(each), true) => {
                    let each =
                        Field::read(each).map_err(|(path, reason)| (format!(".{ANY}{path}"), reason))?;
                    Ok(Field::Each(Box::new(each)))
                }
                _ => Err(here("\"*\" is any key, and stands alone")),
            },
            map @ Value::Mapping(_) => {
                let fields = Fields::try_from(map).map_err(|inner| match inner.split_once(": ") {
                    Some((path, reason)) => (format!(".{path}"), reason.to_owned()),
                    None => (String::new(), inner),
                })?;
                Ok(Field::Fields(fields))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Sequence(_) | Value::Tagged(_) => {
                Err(here("a sort of text, the name of a part, or a map of fields"))
            }
        }
    }

    /// Refuses what refers to a part that is not among `known`, and notes what is referred to.
    fn refers<'a>(&'a self, known: &[&str], used: &mut BTreeSet<&'a str>) -> Result<(), String> {
        match self {
            Field::Holds(_) => Ok(()),
            Field::Each(each) => each.refers(known, used),
            Field::Fields(fields) => fields.refer(known, used),
            Field::Part(name) if known.contains(&name.as_str()) => {
                used.insert(name);
                Ok(())
            }
            Field::Part(name) => {
                let words = known.iter().copied().chain(SORTS.iter().map(|(word, _)| *word));
                let near = words.map(|word| (strsim::damerau_levenshtein(name, word), word)).min();
                let near = near.filter(|(slips, _)| *slips <= 2);
                let hint = near.map(|(_, word)| format!("; did you mean {word}?")).unwrap_or_default();
                Err(format!(": {name:?} is no sort of text and no part that is named before it{hint}"))
            }
        }
    }
}

impl Fields {
    fn refer<'a>(&'a self, known: &[&str], used: &mut BTreeSet<&'a str>) -> Result<(), String> {
        for (name, field) in &self.0 {
            field.refers(known, used).map_err(|error| format!(".{name}{error}"))?;
        }
        Ok(())
    }
}

impl KnowledgeFile for Redaction {
    const NAME: &'static str = "redaction.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/redaction.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        let mut known: Vec<&str> = Vec::new();
        let mut used = BTreeSet::new();
        for (name, field) in &self.parts.0 {
            if SORTS.iter().any(|(word, _)| word == name) {
                return Err(format!("parts.{name}: that is a sort of text"));
            }
            field.refers(&known, &mut used).map_err(|error| format!("parts.{name}{error}"))?;
            known.push(name);
        }
        if !known.contains(&META) {
            return Err(format!("parts: no {META}, which every kind has"));
        }
        Ok(())
    }
}

impl Redaction {
    /// The fields of a kind, as the kind writes them: `{spec: {providerID: text}}`.
    ///
    /// # Errors
    /// It is no map of fields, or one of them names neither a sort of text nor a part of the table.
    pub fn fields(&self, passes: &str) -> Result<Fields, String> {
        if passes.is_empty() {
            return Ok(Fields(Vec::new()));
        }
        let value: Value = serde_yaml::from_str(passes).map_err(|error| error.to_string())?;
        let fields = Fields::try_from(value)?;
        let known: Vec<&str> = self.parts.0.iter().map(|(name, _)| name.as_str()).collect();
        fields.refer(&known, &mut BTreeSet::new())?;
        Ok(fields)
    }

    /// Parts that neither another part nor any of these refers to.
    pub fn unused(&self, kinds: &[Fields]) -> Vec<&str> {
        let known: Vec<&str> = self.parts.0.iter().map(|(name, _)| name.as_str()).collect();
        let mut used = BTreeSet::from([META]);
        for fields in kinds.iter().chain([&self.parts]) {
            // What refers to nothing was refused when it was read.
            _ = fields.refer(&known, &mut used);
        }
        known.into_iter().filter(|name| !used.contains(name)).collect()
    }
}

/// The part that is the metadata of every kind.
pub const META: &str = "meta";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file::parse;
    use super::*;

    #[test]
    fn what_is_wrong_in_the_table_is_said_with_its_place() {
        let whole = Redaction::EMBEDDED;
        for (written, instead, said) in [
            (
                "  quantities: {\"*\": word}",
                "  quantities: {\"*\": pod-spec}",
                "parts.quantities: \"pod-spec\" is no sort",
            ),
            ("node-facts:", "node-fact:", "unknown field `node-fact`"),
            ("phase: word", "phase: word\n    phase: text", "duplicate"),
        ] {
            assert!(whole.contains(written), "{written}");
            let error = parse::<Redaction>(Path::new("redaction.yaml"), &whole.replacen(written, instead, 1));
            let error = error.expect_err(instead).to_string();
            assert!(error.starts_with("redaction.yaml") && error.contains(said), "{instead}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_in_the_fields_of_a_kind_is_said_with_its_place() {
        let table: Redaction = parse(Path::new("redaction.yaml"), Redaction::EMBEDDED).expect("the table");
        for (passes, said) in [
            ("{spec: {providerID: txt}}", ".spec.providerID: \"txt\" is no sort of text"),
            ("{spec: {providerID: txt}}", "did you mean text?"),
            ("{spec: {providerID: 7}}", "spec.providerID: a sort of text, the name of a part"),
            ("{spec: {providerID: {}}}", "spec.providerID: no field is named"),
            ("{spec: {'*': meta, x: word}}", "stands alone"),
            ("{spec: {a: word, a: text}}", "duplicate"),
            ("word", "a map of field names"),
            ("{spec: [", "did not find expected"),
        ] {
            let error = table.fields(passes).expect_err(passes);
            assert!(error.contains(said), "{passes}: {error}");
        }
        assert_eq!(table.fields("").map(|fields| fields.0), Ok(Vec::new()));
        let all = table.unused(&[]);
        assert!(all.contains(&"pod-status") && !all.contains(&META), "{all:?}");
    }
}
