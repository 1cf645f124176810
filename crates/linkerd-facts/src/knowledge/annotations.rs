//! `annotations.yaml`: the table of annotation and label keys, and lookups in it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::KnowledgeFile;
use super::key::{Key, KeyKind};
use super::nearest::{self, Suggestion};

/// Every annotation and label key that Linkerd reads or writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Annotations {
    source: String,
    date: jiff::civil::Date,
    keys: Vec<Key>,
    mistaken: Vec<Mistaken>,
    not_keys: Vec<NotAKey>,
    #[serde(skip)]
    by_key: BTreeMap<String, Vec<usize>>,
}

/// Keys that users write although no release reads them, with the intended key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Mistaken {
    pub(super) wrong: Vec<String>,
    #[serde(default)]
    pub(super) right: Vec<String>,
    pub(super) advice: Option<String>,
}

/// A string in Linkerd's domains that is a value and not a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NotAKey {
    /// The string.
    pub text: String,
    /// Its use.
    #[serde(rename = "use")]
    pub used_as: String,
}

impl Annotations {
    /// A key, if Linkerd knows it. If it is both annotation and label, the annotation.
    pub fn get(&self, key: &str) -> Option<&Key> {
        self.rows(key).min_by_key(|row| row.kind)
    }

    /// The key as annotation or as label.
    pub fn get_as(&self, key: &str, kind: KeyKind) -> Option<&Key> {
        self.rows(key).find(|row| row.kind == kind)
    }

    /// All keys, in the order of the file.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Use of a string in Linkerd's domains that is not a key.
    pub fn not_a_key(&self, text: &str) -> Option<&NotAKey> {
        self.not_keys.iter().find(|row| row.text == text)
    }

    /// Whether the key's domain is Linkerd's: no release reads such a key if it is not in the table. Other domains with
    /// the same ending do not count.
    pub fn is_linkerds(&self, key: &str) -> bool {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        domain == "linkerd.io" || domain.ends_with(".linkerd.io")
    }

    /// The key that was probably meant by `key`, among those that `pool` accepts: pass the keys that the installed
    /// release reads, so that advice never suggests a key without effect. `pool` may also restrict scope and kind.
    pub fn nearest(&self, key: &str, pool: impl Fn(&Key) -> bool) -> Option<&Key> {
        nearest::nearest(&self.keys, &self.mistaken, key, pool)
    }

    /// Like [`Annotations::nearest`], with advice for keys that never had a counterpart.
    pub fn suggest(&self, key: &str, pool: impl Fn(&Key) -> bool) -> Option<Suggestion<'_>> {
        nearest::suggest(&self.keys, &self.mistaken, key, pool)
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }

    fn rows<'a, 'k>(&'a self, key: &'k str) -> impl Iterator<Item = &'a Key> + use<'a, 'k> {
        let exact = self.by_key.get(key).into_iter().flatten().map(|at| &self.keys[*at]);
        let prefixed = self.keys.iter().filter(move |row| row.is_prefix() && row.is(key));
        exact.chain(prefixed)
    }
}

impl KnowledgeFile for Annotations {
    const NAME: &'static str = "annotations.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/annotations.yaml");

    fn finish(&mut self) -> Result<(), String> {
        for row in &mut self.keys {
            row.core = nearest::core(row.key.split_once('/').map_or(row.key.as_str(), |(_, name)| name));
        }
        for (at, row) in self.keys.iter().enumerate() {
            let rows = self.by_key.entry(row.key.clone()).or_default();
            if rows.iter().any(|other| self.keys[*other].kind == row.kind) {
                return Err(format!("the {} {} is listed twice", row.kind, row.key));
            }
            if row.works.is_empty() || row.scopes.is_empty() {
                return Err(format!("{} needs at least one scope and one range of releases", row.key));
            }
            rows.push(at);
        }
        for name in self.keys.iter().flat_map(|row| row.successor.iter().chain(&row.needs)) {
            if !self.by_key.contains_key(name) {
                return Err(format!("{name} is referenced but not listed"));
            }
        }
        for row in &self.mistaken {
            if let Some(name) = row.right.iter().find(|name| !self.by_key.contains_key(*name)) {
                return Err(format!("{name} is suggested but not listed"));
            }
            if row.right.is_empty() && row.advice.is_none() {
                return Err(format!("{:?} needs a correct key or advice", row.wrong));
            }
        }
        Ok(())
    }
}
