//! Rules for values after a key, an option or an element name.

use super::words::{camel, is_words, lower};
use crate::keys;
use crate::knowledge::{FreeText, KeyValue};
use crate::memo::Memo;

/// Rule for the text after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    /// The key announces a secret: keep nothing.
    Secret,
    /// The key is unknown: keep words, but no value.
    Unknown,
    /// The key consists of words of messages: keep words, times, addresses and small numbers.
    Usual,
    /// Also keep a name.
    Name,
    /// Also keep a number of at most this many digits.
    Number(usize),
    /// The key ends with `uid`: also keep the uid of an object.
    Uid,
}

/// The rule for this key, with its dashes, dots and capitals.
pub(super) fn announced(known: &FreeText, key: &str) -> Announced {
    let key = key.trim_matches(['-', '.', '/', '$', '@', '*', '?', '%', '+']);
    let plain = lower(key);
    if is_sensitive(known, key) {
        return Announced::Secret;
    }
    let last = key.rsplit(['?', '/']).next().unwrap_or_default();
    match known.key(&plain).or_else(|| known.key(&lower(last))) {
        Some(KeyValue::Name) => Announced::Name,
        Some(KeyValue::Number(digits)) => Announced::Number(digits),
        None if is_uid_key(last) => Announced::Uid,
        None if is_words(known, last, true) && last.len() > 1 => Announced::Usual,
        None => Announced::Unknown,
    }
}

/// Whether a key is the name of a uid: `podUID`, `pod_uid`, `involvedObject.uid`.
fn is_uid_key(key: &str) -> bool {
    let last = key.rsplit(['.', '_', '-']).next().unwrap_or_default();
    lower(last) == "uid" || camel(last).last().is_some_and(|piece| lower(piece) == "uid")
}

thread_local! {
    /// Cache for names and words.
    static SENSITIVE: Memo<bool> = Memo::with_slots(1024);
}

/// Whether a name or a word announces a secret.
pub(super) fn is_sensitive(known: &FreeText, name: &str) -> bool {
    SENSITIVE.with(|answers| answers.known(name, |name| announces(known, name)))
}

fn announces(known: &FreeText, name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(camel);
    keys::is_secret_in_text(name) || !refers(&plain) && known.is_sensitive(&plain, words)
}

/// Parts of words that may announce a secret, in words that are not known.
const STEMS: [&str; 16] = [
    "pass", "pwd", "pswd", "psw", "pin", "code", "key", "auth", "cred", "login", "conn", "wort", "kenn", "clave",
    "parol", "sesame",
];

/// Whether a word that is not known may announce a secret, so that a number after it is one.
pub(super) fn may_announce(name: &str) -> bool {
    let plain = lower(name);
    STEMS.iter().any(|stem| plain.contains(stem))
}

/// Whether a name refers to a secret instead of its content.
fn refers(plain: &str) -> bool {
    ["name", "names", "ref", "refs", "namespace", "path", "file", "files", "dir", "mount", "volume"]
        .iter()
        .any(|end| plain.ends_with(end))
}
