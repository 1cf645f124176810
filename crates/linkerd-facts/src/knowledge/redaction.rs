//! `redaction.yaml`: fields of objects and files that are kept, and their type of text. This file parses and validates
//! the table; the sanitizer applies it. A directory cannot replace it, because recipients of bundles rely on the build.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_yaml::Value;

use super::file::KnowledgeFile;

/// The table of kept fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Redaction {
    source: String,
    date: jiff::civil::Date,
    /// Annotations of other tools that are kept.
    pub annotations: Vec<String>,
    /// Keys of CNI configurations whose texts are kept.
    pub cni_configuration: Vec<String>,
    /// Keys of a node snapshot's own files whose texts are kept.
    pub node_facts: Vec<String>,
    /// Keys among them with sentences of programs.
    pub node_sentences: Vec<String>,
    /// Field groups that several kinds share, each after those that it refers to.
    pub parts: Fields,
}

/// Fields by name, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Fields(pub Vec<(String, Field)>);

/// Rule for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// A text of this sort.
    Holds(Sort),
    /// A shared field group.
    Part(String),
    /// The same under every key.
    Each(Box<Field>),
    /// Nested fields.
    Fields(Fields),
}

/// Types of kept text; the head of the file describes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// `text`
    Text,
    /// `object`
    Object,
    /// `label`
    Label,
    /// `image`
    Image,
    /// `selectors`
    Selectors,
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
    /// `variable`
    Variable,
    /// `name`
    Name,
    /// `path`
    Path,
    /// `address`
    Address,
    /// `id`
    Id,
    /// `header`
    Header,
    /// `labels`
    Labels,
    /// `annotations`
    Annotations,
}

const SORTS: [(&str, Sort); 18] = [
    ("text", Sort::Text),
    ("object", Sort::Object),
    ("label", Sort::Label),
    ("image", Sort::Image),
    ("selectors", Sort::Selectors),
    ("sentence", Sort::Sentence),
    ("word", Sort::Word),
    ("certificates", Sort::Certificates),
    ("checksum", Sort::Checksum),
    ("environment", Sort::Environment),
    ("variable", Sort::Variable),
    ("name", Sort::Name),
    ("path", Sort::Path),
    ("address", Sort::Address),
    ("id", Sort::Id),
    ("header", Sort::Header),
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
            let Value::String(name) = name else { return Err(format!("{name:?} is not a field name")) };
            let field = Field::read(value).map_err(|(path, reason)| format!("{name}{path}: {reason}"))?;
            fields.push((name, field));
        }
        Ok(Fields(fields))
    }
}

impl Field {
    /// Errors start with the path below the field.
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
                    let each = Field::read(each).map_err(|(path, reason)| (format!(".{ANY}{path}"), reason))?;
                    Ok(Field::Each(Box::new(each)))
                }
                _ => Err(here("\"*\" matches any key and must be the only one")),
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

    /// Rejects references to unknown field groups, and records references.
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
                Err(format!(": {name:?} is neither a sort of text nor an earlier part{hint}"))
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
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/redaction.yaml");

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
            return Err(format!("parts: {META} is missing"));
        }
        Ok(())
    }
}

impl Redaction {
    /// Parses the fields of a kind: `{spec: {providerID: text}}`.
    ///
    /// # Errors
    /// It is not a map of fields, or a field has neither a type of text nor a field group of the table.
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

    /// Field groups without references.
    pub fn unused(&self, kinds: &[Fields]) -> Vec<&str> {
        let known: Vec<&str> = self.parts.0.iter().map(|(name, _)| name.as_str()).collect();
        let mut used = BTreeSet::from([META]);
        for fields in kinds.iter().chain([&self.parts]) {
            // Invalid references were rejected when it was parsed.
            _ = fields.refer(&known, &mut used);
        }
        known.into_iter().filter(|name| !used.contains(name)).collect()
    }
}

/// The field group for the metadata of every kind.
pub const META: &str = "meta";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file::parse;
    use super::*;

    #[test]
    fn table_error_has_its_position() {
        let whole = Redaction::EMBEDDED;
        for (written, instead, said) in [
            (
                "  quantities: {\"*\": word}",
                "  quantities: {\"*\": pod-spec}",
                "parts.quantities: \"pod-spec\" is neither a sort",
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
    fn field_error_has_its_path() {
        let table: Redaction = parse(Path::new("redaction.yaml"), Redaction::EMBEDDED).expect("the table");
        for (passes, said) in [
            ("{spec: {providerID: txt}}", ".spec.providerID: \"txt\" is neither a sort of text"),
            ("{spec: {providerID: txt}}", "did you mean text?"),
            ("{spec: {providerID: 7}}", "spec.providerID: a sort of text, the name of a part"),
            ("{spec: {providerID: {}}}", "spec.providerID: no field is named"),
            ("{spec: {'*': meta, x: word}}", "must be the only one"),
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
