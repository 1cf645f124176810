//! Redacts a JSON file, valid or not, without moving a line.
//!
//! Replaces only content of string literals (found by [`lexer`]), so that lines stay (and columns, by the length in the
//! marker). Text is kept after keys known to contain names and similar; otherwise it is replaced. Invalid JSON is also
//! redacted by the rules for plain text.

mod lexer;
mod literal;
mod utf16;

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use self::utf16::Utf16Reader;
use super::free_text::free_text;
use super::{allow, shapes, text};

/// Maximum number of rounds; two suffice for all known inputs.
const ROUNDS: usize = 6;

/// A CNI configuration.
pub fn config(input: &[u8]) -> Cow<'_, [u8]> {
    either(input, allow::configuration())
}

/// A file of a node snapshot, written by its collector.
pub fn facts(input: &[u8]) -> Cow<'_, [u8]> {
    match sentences(input) {
        None => either(input, allow::facts()),
        Some(clean) => Cow::Owned(either(&clean, allow::facts()).into_owned()),
    }
}

/// A file in which sentences of programs are redacted; `None` if nothing changes. If the file is not JSON, no key marks
/// sentences.
fn sentences(input: &[u8]) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(input).ok()?;
    let mut touched = false;
    shorten(&mut value, false, &mut touched);
    touched.then(|| serde_json::to_vec_pretty(&value).ok())?
}

fn shorten(value: &mut Value, is_sentence: bool, touched: &mut bool) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                shorten(value, allow::sentences().contains(key), touched);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| shorten(value, is_sentence, touched)),
        Value::String(content) if is_sentence => {
            if let Cow::Owned(clean) = free_text(content) {
                *content = clean;
                *touched = true;
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// UTF-16 files are decoded and keep their encoding: runtimes reject them, but their secrets are real.
fn either<'a>(input: &'a [u8], keys: &'static [String]) -> Cow<'a, [u8]> {
    if let Some(wide) = Utf16Reader::new(input) {
        let narrow = wide.decode(input);
        return match settle(narrow.as_bytes(), keys) {
            Cow::Borrowed(_) => Cow::Borrowed(input),
            Cow::Owned(clean) => Cow::Owned(wide.encode(&String::from_utf8_lossy(&clean))),
        };
    }
    settle(input, keys)
}

fn settle<'a>(input: &'a [u8], keys: &'static [String]) -> Cow<'a, [u8]> {
    let mut current = Cow::Borrowed(input);
    for _ in 0..ROUNDS {
        match sweep(&current, keys) {
            None => return current,
            Some(next) => current = Cow::Owned(next),
        }
    }
    current
}

/// One round; `None` if nothing changes.
fn sweep(input: &[u8], keys: &'static [String]) -> Option<Vec<u8>> {
    let (mut hits, digits) = lexer::found(input, keys);
    // In the same round: if a word in a key's first line were taken for a value, the rest would not look like a key.
    shapes::private_keys(input, &mut hits);
    let mut current = Cow::Borrowed(input);
    if !digits.is_empty() {
        let masked = current.to_mut();
        for digit in digits {
            masked[digit] = b'1';
        }
    }
    if let Some(next) = text::replace(&current, hits) {
        current = Cow::Owned(next);
    }
    let broken = serde_json::from_slice::<IgnoredAny>(&current).is_err();
    let swept = if broken { text::yaml_bytes(&current) } else { text::bytes(&current) };
    if let Cow::Owned(next) = swept {
        current = Cow::Owned(next);
    }
    (*current != *input).then(|| current.into_owned())
}
