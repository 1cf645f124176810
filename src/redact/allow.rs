//! Which fields of which objects pass the sanitizer, and as what: `redaction.yaml`, made into rules that are followed field by
//! field. A field passes because it is known to hold names, numbers, enumerations, versions or a sentence that Kubernetes or
//! Linkerd wrote; even there nothing of a secret's shape passes. Text in any other field is replaced; keys, lists and types stay.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::keys;
use super::memo::Memo;
use crate::annotations::may_be_linkerds;
use crate::knowledge::{Field, Fields, Knowledge, META, Redaction, Sort};

/// What may stand in a field.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Nothing is known of it: texts are replaced.
    Other,
    /// A name, a version, a time.
    Text,
    /// Free text that another program wrote: what is known to be harmless of it.
    Sentence,
    /// One word: an enumeration, a quantity, a number written as text.
    Word,
    /// Certificates: PEM, or PEM in base64. Anything else in it goes.
    Certificates,
    /// A checksum of something public.
    Checksum,
    /// The name or the value of an environment variable; which of them pass is decided where the container is known.
    Env,
    /// Labels: names by name.
    Labels,
    /// Annotations: those that may be meant for Linkerd, and those of tools that are known.
    Annotations,
    /// The same under every key.
    Map(&'static Rule),
    /// All of it, whatever it is: it has passed before.
    Clean,
    /// Fields by name.
    Fields(&'static Names),
}

/// Fields by name, in few and short rows: every key of every object is looked up here.
#[derive(Debug)]
pub struct Names([Vec<(&'static str, Rule)>; Names::ROWS]);

impl Names {
    const ROWS: usize = 64;

    fn of(fields: Vec<(&'static str, Rule)>) -> &'static Names {
        let mut rows = [const { Vec::new() }; Names::ROWS];
        for (name, rule) in fields {
            rows[Names::row(name)].push((name, rule));
        }
        Box::leak(Box::new(Names(rows)))
    }

    #[inline]
    fn row(name: &str) -> usize {
        let byte = |at: Option<&u8>| at.map_or(0, |byte| usize::from(*byte));
        let bytes = name.as_bytes();
        (bytes.len() * 7 + byte(bytes.first()) * 3 + byte(bytes.last())) % Names::ROWS
    }

    #[inline]
    fn get(&self, name: &str) -> Option<&Rule> {
        self.0[Names::row(name)].iter().find(|(known, _)| *known == name).map(|(_, rule)| rule)
    }
}

static OTHER: Rule = Rule::Other;
static TEXT: Rule = Rule::Text;
static CHECKSUM: Rule = Rule::Checksum;
/// For what was redacted whole before.
pub static CLEAN: Rule = Rule::Clean;

impl Rule {
    /// What may stand in a part of it.
    #[inline]
    pub(super) fn child(&'static self, key: &str) -> &'static Rule {
        match self {
            Rule::Fields(fields) => fields.get(key).unwrap_or(&OTHER),
            Rule::Map(rule) => rule,
            Rule::Clean => &CLEAN,
            Rule::Labels => of_label(key),
            Rule::Annotations => {
                ANNOTATIONS.with(|known| known.known(key, |key| Some(of_annotation(key)))).unwrap_or(&OTHER)
            }
            Rule::Other
            | Rule::Text
            | Rule::Sentence
            | Rule::Word
            | Rule::Certificates
            | Rule::Checksum
            | Rule::Env => &OTHER,
        }
    }

    /// Whether its keys are names of fields, of which there are not many, and not names that somebody gave.
    #[inline]
    pub(super) fn has_fields(&self) -> bool {
        matches!(self, Rule::Fields(_) | Rule::Clean)
    }
}

thread_local! {
    /// What was found of annotations.
    static ANNOTATIONS: Memo<Option<&'static Rule>> = Memo::of(256);
}

fn of_annotation(key: &str) -> &'static Rule {
    match key {
        // A checksum that Linkerd writes of what is public.
        _ if key.starts_with("linkerd.io/") && key.ends_with("sha256") => &CHECKSUM,
        _ if may_be_linkerds(key) => of_label(key),
        _ if data().annotations.iter().any(|known| known == key) => &TEXT,
        _ => &OTHER,
    }
}

fn of_label(key: &str) -> &'static Rule {
    let (domain, name) = key.rsplit_once('/').unwrap_or(("", key));
    let linkerds = domain.ends_with("linkerd.io") || domain == "meshdoctor.io";
    if !linkerds && keys::is_secret_in_text(name) { &OTHER } else { &TEXT }
}

fn data() -> &'static Redaction {
    Knowledge::embedded().redaction()
}

/// Keys of CNI configurations whose texts are names, addresses, paths or enumerations.
pub(super) fn configuration() -> &'static [String] {
    &data().cni_configuration
}

/// Keys of the files of a node snapshot that its collector writes itself.
pub(super) fn facts() -> &'static [String] {
    &data().node_facts
}

/// Keys of these files whose texts are sentences.
pub(super) fn sentences() -> &'static [String] {
    &data().node_sentences
}

/// What passes of a kind, from its own words (see [`Redaction::fields`]); it stays as long as the process.
///
/// # Errors
/// The words cannot be read, or name a part that is not in `redaction.yaml`.
pub fn rule(passes: &str) -> Result<Rule, String> {
    let read: &'static Fields = Box::leak(Box::new(data().fields(passes)?));
    let parts = parts();
    let mut fields = vec![("apiVersion", Rule::Word), ("kind", Rule::Word)];
    fields.extend(listed(read, parts));
    if fields.iter().all(|(name, _)| *name != "metadata") {
        fields.push(("metadata", parts.get(META).copied().unwrap_or(Rule::Other)));
    }
    Ok(Rule::Fields(Names::of(fields)))
}

/// What passes of an object of a kind that is not known.
pub fn unknown() -> &'static Rule {
    static UNKNOWN: OnceLock<Rule> = OnceLock::new();
    UNKNOWN.get_or_init(|| rule("").unwrap_or(Rule::Other))
}

/// The fields that several kinds share. They are made once, and stay as long as the process.
fn parts() -> &'static HashMap<&'static str, Rule> {
    static PARTS: OnceLock<HashMap<&str, Rule>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let mut parts = HashMap::new();
        for (name, field) in &data().parts.0 {
            let rule = made(field, &parts);
            parts.insert(name.as_str(), rule);
        }
        parts
    })
}

fn made(field: &'static Field, parts: &HashMap<&str, Rule>) -> Rule {
    match field {
        Field::Holds(Sort::Text) => Rule::Text,
        Field::Holds(Sort::Sentence) => Rule::Sentence,
        Field::Holds(Sort::Word) => Rule::Word,
        Field::Holds(Sort::Certificates) => Rule::Certificates,
        Field::Holds(Sort::Checksum) => Rule::Checksum,
        Field::Holds(Sort::Environment) => Rule::Env,
        Field::Holds(Sort::Labels) => Rule::Labels,
        Field::Holds(Sort::Annotations) => Rule::Annotations,
        // The loader refuses parts that are not there; what is not known is replaced.
        Field::Part(name) => parts.get(name.as_str()).copied().unwrap_or(Rule::Other),
        Field::Each(each) => Rule::Map(Box::leak(Box::new(made(each, parts)))),
        Field::Fields(fields) => Rule::Fields(Names::of(listed(fields, parts))),
    }
}

fn listed(fields: &'static Fields, parts: &HashMap<&str, Rule>) -> Vec<(&'static str, Rule)> {
    fields.0.iter().map(|(name, field)| (name.as_str(), made(field, parts))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::MANAGERS;

    #[test]
    fn what_says_who_manages_an_object_passes() {
        for key in MANAGERS {
            assert!(matches!(Rule::Annotations.child_of(key), Rule::Text), "{key}");
        }
    }

    impl Rule {
        fn child_of(self, key: &str) -> &'static Rule {
            Box::leak(Box::new(self)).child(key)
        }
    }
}
