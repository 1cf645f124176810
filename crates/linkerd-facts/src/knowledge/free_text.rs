//! `free-text.yaml`: words, keys and positions of names that are kept in free text. A directory cannot replace it.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::file::KnowledgeFile;

mod template;

pub use template::{Hole, Template};

/// The vocabulary of messages, journals and logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "RawShapes")]
pub struct FreeText {
    source: String,
    words: HashSet<String>,
    names_after: HashSet<String>,
    quoted_names_after: HashSet<String>,
    after_quoted: HashSet<String>,
    keys: HashMap<String, KeyValue>,
    sensitive_parts: Vec<String>,
    sensitive_words: HashSet<String>,
    near: HashSet<String>,
    codes: HashSet<String>,
    harmless_codes: HashSet<String>,
    options: HashSet<String>,
    users: HashSet<String>,
    /// First words by the second.
    phrases: HashMap<String, Vec<String>>,
    links: HashSet<String>,
    prose: HashSet<String>,
    hosts: HashSet<String>,
    roots: HashSet<String>,
    messages: Vec<Template>,
}

/// The value of a listed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyValue {
    /// The name of an object, or a value that is kept without a key.
    Name,
    /// A number of at most this many digits.
    Number(usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawShapes {
    source: String,
    #[serde(rename = "date")]
    _date: jiff::civil::Date,
    names_after: Vec<String>,
    quoted_names_after: Vec<String>,
    after_quoted: Vec<String>,
    keys: Keys,
    sensitive: Sensitive,
    prose: Vec<String>,
    hosts: Vec<String>,
    roots: Vec<String>,
    messages: Vec<Template>,
    terms: Vec<String>,
    words: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sensitive {
    parts: Vec<String>,
    words: Vec<String>,
    near: Vec<String>,
    codes: Vec<String>,
    harmless_codes: Vec<String>,
    options: Vec<String>,
    users: Vec<String>,
    phrases: Vec<String>,
    links: Vec<String>,
}

impl From<RawShapes> for FreeText {
    fn from(written: RawShapes) -> FreeText {
        let set = |list: Vec<String>| list.into_iter().collect::<HashSet<String>>();
        let names = written.keys.names.into_iter().map(|key| (key, KeyValue::Name));
        let numbers = written.keys.numbers.into_iter().map(|(key, digits)| (key, KeyValue::Number(digits)));
        let words = written.words.split_whitespace();
        let sensitive = &written.sensitive;
        let phrases = sensitive.phrases.iter().flat_map(|phrase| phrase.split(' ')).map(str::to_owned);
        let phrases: Vec<String> = phrases.collect();
        let mut by_second: HashMap<String, Vec<String>> = HashMap::new();
        for (first, second) in sensitive.phrases.iter().filter_map(|phrase| phrase.split_once(' ')) {
            by_second.entry(second.to_owned()).or_default().push(first.to_owned());
        }
        let announcing =
            [&sensitive.parts[..], &sensitive.words, &sensitive.users, &sensitive.codes, &phrases].concat();
        FreeText {
            source: written.source,
            words: words.map(str::to_owned).chain(written.terms).chain(announcing).collect(),
            names_after: set(written.names_after),
            quoted_names_after: set(written.quoted_names_after),
            after_quoted: set(written.after_quoted),
            keys: names.chain(numbers).collect(),
            sensitive_parts: written.sensitive.parts,
            sensitive_words: set(written.sensitive.words),
            near: set(written.sensitive.near),
            codes: set(written.sensitive.codes),
            harmless_codes: set(written.sensitive.harmless_codes),
            options: set(written.sensitive.options),
            users: set(written.sensitive.users),
            phrases: by_second,
            links: set(written.sensitive.links),
            prose: set(written.prose),
            hosts: set(written.hosts),
            roots: set(written.roots),
            messages: written.messages,
        }
    }
}

impl FreeText {
    /// Whether a lower-case word is a word of messages.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether the name of an object follows this word; `quoted`: in quotes.
    pub fn precedes_name(&self, word: &str, quoted: bool) -> bool {
        self.names_after.contains(word) || quoted && self.quoted_names_after.contains(word)
    }

    /// Whether a name after this word counts only before certain other words.
    pub fn needs_more(&self, word: &str) -> bool {
        !self.names_after.contains(word)
    }

    /// Whether numbers and names directly after this lower-case word may be secrets.
    pub fn is_near(&self, word: &str) -> bool {
        self.near.contains(word)
    }

    /// Whether this program option has a user and a password as its value.
    pub fn takes_credentials(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    /// Whether this lower-case word is the name of a common account, so that its password follows a colon.
    pub fn is_account(&self, word: &str) -> bool {
        self.users.contains(word)
    }

    /// Whether a number after this lower-case word may be a one-time code or the number of an account; `before`: the
    /// word in front of it.
    pub fn announces_code(&self, before: &str, word: &str) -> bool {
        self.codes.contains(word) && !self.harmless_codes.contains(before)
    }

    /// Whether these two lower-case words announce a secret.
    pub fn is_phrase(&self, first: &str, second: &str) -> bool {
        self.phrases.get(second).is_some_and(|firsts| firsts.iter().any(|known| known == first))
    }

    /// Whether this lower-case word connects a thing and its value: `the password of the database is ...`.
    pub fn links_value(&self, word: &str) -> bool {
        self.links.contains(word)
    }

    /// Whether a sentence may continue with this word after a quoted name.
    pub fn follows_name(&self, word: &str) -> bool {
        self.after_quoted.contains(word)
    }

    /// Accepted values of a known lower-case key.
    pub fn key(&self, key: &str) -> Option<KeyValue> {
        self.keys.get(key).copied()
    }

    /// Whether a name announces a secret, by a part of it in lower case without dashes, or by one of its words.
    pub fn is_sensitive<'a>(&self, plain: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
        self.sensitive_parts.iter().any(|part| plain.contains(part.as_str()))
            || self.sensitive_words.contains(plain)
            || words.any(|word| self.sensitive_words.contains(&word.to_ascii_lowercase()))
    }

    /// Whether a sentence starts with this lower-case word, so that it is not a value.
    pub fn begins_sentence(&self, word: &str) -> bool {
        self.prose.contains(word)
    }

    /// Whether this is a public host for images, charts or documentation.
    pub fn is_public_host(&self, host: &str) -> bool {
        self.hosts.contains(host)
    }

    /// Parts of messages that are kept unchanged.
    pub fn messages(&self) -> &[Template] {
        &self.messages
    }

    /// Whether paths below this top-level directory may contain names.
    pub fn is_root(&self, directory: &str) -> bool {
        self.roots.contains(directory)
    }
}

impl KnowledgeFile for FreeText {
    const NAME: &'static str = "free-text.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/free-text.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        if let Some(word) = self.words.iter().find(|word| word.bytes().any(|byte| byte.is_ascii_uppercase())) {
            return Err(format!("words: {word} is not in lower case"));
        }
        if let Some(key) = self.keys.keys().find(|key| self.sensitive_words.contains(*key)) {
            return Err(format!("keys: {key} is also under sensitive"));
        }
        Ok(())
    }
}
