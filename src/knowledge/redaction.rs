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
    /// Fields that several kinds share, each after those that it refers to.
    pub parts: Fields,
    /// Kinds, and their fields beside `apiVersion`, `kind` and `metadata`.
    pub kinds: Vec<KindFields>,
}

/// Kinds that have the same fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindFields {
    /// `Pod`
    pub kinds: Vec<String>,
    /// What passes of them.
    pub fields: Fields,
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

const SORTS: [(&str, Sort); 7] = [
    ("text", Sort::Text),
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
        let mut used = BTreeSet::from([META]);
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
        let mut kinds: BTreeSet<&str> = BTreeSet::new();
        for row in &self.kinds {
            for kind in &row.kinds {
                if !kinds.insert(kind) {
                    return Err(format!("kinds: {kind} is listed twice"));
                }
            }
            row.fields
                .refer(&known, &mut used)
                .map_err(|error| format!("{}{error}", row.kinds.join(", ")))?;
        }
        match known.iter().find(|name| !used.contains(*name)) {
            Some(name) => Err(format!("parts.{name}: nothing refers to it")),
            None => Ok(()),
        }
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
            ("providerID: text", "providerID: txt", "Node.spec.providerID: \"txt\" is no sort of text"),
            ("providerID: text", "providerID: txt", "did you mean text?"),
            ("providerID: text", "providerID: 7", "spec.providerID: a sort of text, the name of a part"),
            ("providerID: text", "providerID: {}", "spec.providerID: no field is named"),
            ("jobTemplate: {metadata: meta,", "jobTemplate: {\"*\": meta,", "stands alone"),
            ("kinds: [Node]", "kinds: [Node, Pod]", "Pod is listed twice"),
            (
                "  quantities: {\"*\": word}",
                "  quantities: {\"*\": pod-spec}",
                "parts.quantities: \"pod-spec\" is no sort",
            ),
            (
                "  quantities: {\"*\": word}",
                "  quantities: {\"*\": word}\n  odd: word",
                "parts.odd: nothing refers to it",
            ),
            ("node-facts:", "node-fact:", "unknown field `node-fact`"),
            ("podCIDR: word", "podCIDR: word\n      podCIDR: text", "duplicate"),
        ] {
            assert!(whole.contains(written), "{written}");
            let error = parse::<Redaction>(Path::new("redaction.yaml"), &whole.replacen(written, instead, 1));
            let error = error.expect_err(instead).to_string();
            assert!(error.starts_with("redaction.yaml") && error.contains(said), "{instead}: {error}");
        }
    }
}
