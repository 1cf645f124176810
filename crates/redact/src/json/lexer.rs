//! Finds the parts of a JSON file to redact, lexically, so that truncated files are handled like complete ones.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::literal::{decode, hides_secret};
use crate::free_text::plain;
use crate::marker::Marker;
use crate::{allow, keys, text};

/// Plugins whose mention makes an unused file relevant.
const SPOKEN_OF: [&[u8]; 3] = [b"linkerd-cni", b"multus", b"cilium"];
/// Words outside quotes up to this length are punctuation of another format.
const MARKS: usize = 3;

/// Ranges of texts to replace, and positions of single digits to replace. `keys` contain names and similar.
pub(super) fn found(input: &[u8], keys: &'static [String]) -> (Vec<Range<usize>>, Vec<usize>) {
    let mut lexer = Lexer {
        input,
        at: 0,
        keys,
        broken: serde_json::from_slice::<IgnoredAny>(input).is_err(),
        open: Vec::new(),
        pending: None,
        hits: Vec::new(),
        digits: Vec::new(),
    };
    lexer.run();
    (lexer.hits, lexer.digits)
}

/// Classification of a value by its key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueClass {
    /// The key announces a secret, or is below one that does.
    Secret,
    /// The key is known to contain names and similar.
    Known,
    /// The key is known to contain uids, checksums, claims, or sentences that were redacted before.
    Exact,
    /// Any other.
    Other,
}

struct Lexer<'a> {
    input: &'a [u8],
    at: usize,
    keys: &'static [String],
    /// Whether the file is invalid JSON.
    broken: bool,
    /// Class of the values in each open bracket.
    open: Vec<ValueClass>,
    /// Class of the last key, until its value.
    pending: Option<ValueClass>,
    hits: Vec<Range<usize>>,
    /// Digits of numbers after a secret key; replaced individually, since a marker would need quotes.
    digits: Vec<usize>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.input.get(self.at) {
            match byte {
                b'"' => self.literal(),
                b'{' | b'[' => {
                    let inherited = self.behind();
                    self.open.push(inherited);
                    self.pending = None;
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.open.pop();
                    self.pending = None;
                    self.at += 1;
                }
                b',' => {
                    self.pending = None;
                    self.at += 1;
                }
                b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => self.bare(),
            }
        }
    }

    fn behind(&self) -> ValueClass {
        self.pending.or(self.open.last().copied()).unwrap_or(ValueClass::Other)
    }

    /// Class of a key. Kernel settings (`net.ipv4.ip_forward`) are numbers.
    fn said_by(&self, key: &str) -> ValueClass {
        let known = self.keys.iter().any(|known| known.eq_ignore_ascii_case(key));
        if self.open.last() == Some(&ValueClass::Secret) || keys::is_secret(key) && !known {
            ValueClass::Secret
        } else if known && is_exact(key) {
            ValueClass::Exact
        } else if known || key.starts_with("net.") || key.starts_with("fs.") {
            ValueClass::Known
        } else {
            ValueClass::Other
        }
    }

    /// A string literal: a key if a colon follows, else a value. An unclosed one ends with its line.
    fn literal(&mut self) {
        let start = self.at + 1;
        let mut end = start;
        while let Some(byte) = self.input.get(end) {
            match byte {
                b'"' | b'\n' => break,
                b'\\' if self.input.get(end + 1).is_some_and(|next| *next != b'\n') => end += 2,
                _ => end += 1,
            }
        }
        let closed = self.input.get(end) == Some(&b'"');
        self.at = if closed { end + 1 } else { end };
        let content = &self.input[start..end];
        let next = self.input[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if closed && next == Some(&b':') {
            self.pending = Some(self.said_by(&decode(content)));
            if hides_secret(content) {
                self.hits.push(start..end);
            }
            return;
        }
        let content = if closed { content } else { content.trim_ascii_end() };
        let end = start + content.len();
        let passes = self.behind() == ValueClass::Exact
            || self.behind() == ValueClass::Known && is_name(content)
            || keys::is_harmless(content)
            || Marker::whole(content).is_some()
            || self.behind() == ValueClass::Other && is_number(content);
        if !passes || hides_secret(content) {
            self.hits.push(start..end);
        }
        self.pending = None;
    }

    /// A number, `true`, or any other word of an invalid file.
    fn bare(&mut self) {
        let start = self.at;
        let stop =
            |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':');
        self.at += self.input[start..].iter().take_while(|byte| !stop(**byte)).count().max(1);
        let word = &self.input[start..self.at];
        let secret = self.behind() == ValueClass::Secret;
        let unknown = self.broken
            && word.len() > MARKS
            && !is_number(word)
            && !SPOKEN_OF.contains(&word)
            && !self.keys.iter().any(|key| key.as_bytes() == word);
        if (secret || unknown) && !keys::is_harmless(word) {
            if is_number(word) {
                let digits = (start..self.at).filter(|at| self.input[*at].is_ascii_digit());
                self.digits.extend(digits);
            } else if Marker::at(self.input, start).is_none_or(|marker| marker.end < self.at) {
                self.hits.push(start..self.at);
            }
        }
        self.pending = None;
    }
}

/// Whether the values of a key are not names: any form of them is kept that has no shape of a secret.
fn is_exact(key: &str) -> bool {
    let plain = key.to_ascii_lowercase();
    ["sha256", "sha256prefix"].iter().any(|end| plain.ends_with(end))
        || matches!(&*plain, "uid" | "nodeuid" | "poduid" | "sauid" | "iss" | "aud" | "sub")
        || allow::sentences().iter().any(|sentence| sentence == key)
}

/// Whether a text is a name, an address, a path or words, apart from the shapes of secrets, which are replaced anyway.
fn is_name(content: &[u8]) -> bool {
    // A character that is not shown is part of no secret.
    let decoded = decode(content).replace(char::REPLACEMENT_CHARACTER, "-");
    let shaped = text::text(&decoded);
    let is_simple = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
    // The parts of a time are not names.
    matches!(plain(&shaped), Cow::Borrowed(_))
        || shaped
            .split(['/', ':', ',', ' '])
            .all(|part| part.bytes().all(is_simple) || matches!(plain(part), Cow::Borrowed(_)))
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'))
}
