//! Redacts free text: messages of events and conditions, termination messages, journals, logs, errors. Keeps tokens
//! known to be harmless: words of messages (`free-text.yaml`), numbers, times, addresses, versions, and names in places
//! for names. Structure stays; every other token becomes a marker. Values of keys follow the rules of the key.
//!
//! Shapes of secrets ([`super::text`]) come first: they span lines, and tokens keep their hash.

mod characters;
mod keys;
mod line;
mod places;
mod plain;
mod templates;
mod typed;
mod value;
mod words;

use std::borrow::Cow;

use templates::MaskedText;

use super::memo::Memo;
use super::text;
use crate::knowledge::Knowledge;

pub(super) use plain::{address, environment, header, identifier, is_brief, path, plain, setting};
pub(super) use templates::is_place;

/// Maximum number of rounds until the result is stable.
const ROUNDS: usize = 4;

thread_local! {
    /// Cache of texts that are kept unchanged.
    static CLEAN: Memo<()> = Memo::with_slots(2048);
}

/// Redacts the text of another program.
pub fn free_text(input: &str) -> Cow<'_, str> {
    CLEAN.with(|known| known.unchanged(input, until_stable))
}

fn until_stable(input: &str) -> Cow<'_, str> {
    let mut current = Cow::Borrowed(input);
    for _ in 0..ROUNDS {
        match judged(&current) {
            Some(next) => current = Cow::Owned(next),
            None => break,
        }
    }
    current
}

/// Like [`free_text`], for the bytes of a file.
pub fn free_bytes(input: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(input) {
        Cow::Borrowed(plain) => match free_text(plain) {
            Cow::Borrowed(_) => Cow::Borrowed(input),
            Cow::Owned(clean) => Cow::Owned(clean.into_bytes()),
        },
        Cow::Owned(plain) => Cow::Owned(free_text(&plain).into_owned().into_bytes()),
    }
}

/// Whether a name or a word announces a secret.
pub(super) fn is_sensitive(name: &str) -> bool {
    keys::is_sensitive(Knowledge::embedded().free_text(), name)
}

/// Whether a text consists of words of messages, without numbers.
pub(super) fn is_words(text: &str) -> bool {
    words::is_words(Knowledge::embedded().free_text(), text, false)
}

/// Whether a text consists of numbers, durations, addresses and versions between commas.
pub(super) fn is_typed_list(text: &str) -> bool {
    text.split(',').all(|part| typed::is_typed(part, typed::Numbers::Usual))
}

/// One round; `None` if nothing changes.
fn judged(input: &str) -> Option<String> {
    let visible = characters::visible(input);
    let clean = around_known_parts(&visible);
    (clean != input).then_some(clean)
}

/// Redacts the text around the known parts of messages, and these parts too if they are the value of a secret.
fn around_known_parts(visible: &str) -> String {
    let rest = |text: &str| line::lines(&text::text(text));
    let mut lost: Vec<&str> = Vec::new();
    for _ in 0..ROUNDS {
        let Some(kept) = MaskedText::take(visible, &lost) else { break };
        match kept.restore(&rest(&kept.text)) {
            Ok(clean) => return clean,
            Err(more) => lost.extend(more),
        }
    }
    rest(visible)
}

#[cfg(test)]
mod tests;
