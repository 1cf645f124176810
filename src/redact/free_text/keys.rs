//! What a key, an option or the name of an element says of the value behind it.

use super::words::{camel, is_words, lower};
use crate::knowledge::{FreeText, KeyValue};
use crate::redact::keys;
use crate::redact::memo::Memo;

/// What may follow a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    /// The key announces a secret: nothing.
    Secret,
    /// The key is not known: words alone, and no value.
    Unknown,
    /// The key is made of words of messages: words, times, addresses and small numbers.
    Usual,
    /// A name as well.
    Name,
    /// A number of any length as well.
    Number,
}

/// What may follow this key, as it is written: with its dashes, dots and capitals.
pub(super) fn announced(known: &FreeText, key: &str) -> Announced {
    let key = key.trim_matches(['-', '.', '/', '$', '@', '*', '?', '%', '+']);
    let plain = lower(key);
    if is_sensitive(known, key) {
        return Announced::Secret;
    }
    let last = key.rsplit(['?', '/']).next().unwrap_or_default();
    match known.key(&plain).or_else(|| known.key(&lower(last))) {
        Some(KeyValue::Name) => Announced::Name,
        Some(KeyValue::Number) => Announced::Number,
        None if is_words(known, last, true) && last.len() > 1 => Announced::Usual,
        None => Announced::Unknown,
    }
}

thread_local! {
    /// What was found of names and words.
    static SENSITIVE: Memo<bool> = Memo::of(1024);
}

/// Whether a name or a word announces a secret.
pub(super) fn is_sensitive(known: &FreeText, name: &str) -> bool {
    SENSITIVE.with(|answers| answers.known(name, |name| announces(known, name)))
}

fn announces(known: &FreeText, name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(camel);
    keys::is_secret_in_text(name) || !refers(&plain) && known.is_sensitive(&plain, words)
}

/// Whether a name is that of a reference to a secret, not of its content.
fn refers(plain: &str) -> bool {
    ["name", "names", "ref", "refs", "namespace", "path", "file", "files", "dir", "mount", "volume"]
        .iter()
        .any(|end| plain.ends_with(end))
}
