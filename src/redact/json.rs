//! Secrets in a JSON file, whole or broken, without moving a line.
//!
//! It replaces only what lies inside a string literal ([`lexer`] finds it), so that everything around keeps its line (and, by the
//! length in the marker, its column). A text stays behind keys that are known to hold names and the like; behind any other it
//! goes. What strict parsers would refuse is swept once more by the rules for plain text.

mod lexer;
mod literal;
mod wide;

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use self::wide::Wide;
use super::free_text::free_text;
use super::{allow, shapes, text};

/// How often a result is swept again; two rounds settle everything met so far.
const ROUNDS: usize = 6;

/// A CNI configuration.
pub fn config(input: &[u8]) -> Cow<'_, [u8]> {
    either(input, allow::configuration())
}

/// A file of a node snapshot that its collector wrote.
pub fn facts(input: &[u8]) -> Cow<'_, [u8]> {
    match sentences(input) {
        None => either(input, allow::facts()),
        Some(clean) => Cow::Owned(either(&clean, allow::facts()).into_owned()),
    }
}

/// A file in which the sentences of programs are replaced by what passes of them; `None` if all of it does. Of a file that is
/// not JSON no key says what is a sentence.
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

/// UTF-16 files are read as such and keep their encoding: runtimes refuse them, secrets in them are as real.
fn either<'a>(input: &'a [u8], keys: &'static [String]) -> Cow<'a, [u8]> {
    if let Some(wide) = Wide::of(input) {
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

/// One round; `None` when nothing was left to replace.
fn sweep(input: &[u8], keys: &'static [String]) -> Option<Vec<u8>> {
    let (mut hits, digits) = lexer::found(input, keys);
    // In the same round: where a word of a key's first line is taken for a value, the rest would no longer look like a key.
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
