//! Secrets in a JSON file, whole or broken, without moving a line.
//!
//! A lexical pass rather than a parse: it treats half-written files like whole ones, and it replaces only
//! what lies inside a string literal, so that everything around keeps its line (and, by the length in the
//! marker, its column). What strict parsers would refuse is swept once more by the rules for plain text.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::keys;
use super::marker::Marker;
use super::text;

/// How often a result is swept again; two rounds settle everything met so far.
const ROUNDS: usize = 6;

/// Redacts a JSON file: values behind the secret keys at any depth, and tokens, keys and passwords anywhere.
///
/// UTF-16 files are read as such and keep their encoding: runtimes refuse them, secrets in them are as real.
pub fn json_bytes(input: &[u8]) -> Cow<'_, [u8]> {
    if let Some(wide) = Wide::of(input) {
        let narrow = wide.decode(input);
        return match settle(narrow.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(input),
            Cow::Owned(clean) => Cow::Owned(wide.encode(&String::from_utf8_lossy(&clean))),
        };
    }
    settle(input)
}

fn settle(input: &[u8]) -> Cow<'_, [u8]> {
    let mut current = Cow::Borrowed(input);
    for _ in 0..ROUNDS {
        match sweep(&current) {
            None => return current,
            Some(next) => current = Cow::Owned(next),
        }
    }
    current
}

/// One round; `None` when nothing was left to replace.
fn sweep(input: &[u8]) -> Option<Vec<u8>> {
    let mut lexer =
        Lexer { input, at: 0, secret: Vec::new(), pending: false, hits: Vec::new(), digits: Vec::new() };
    lexer.run();
    // In the same round: where a word of a key's first line is taken for a value, the rest would no longer look like a key.
    text::private_keys(input, &mut lexer.hits);
    let mut current = Cow::Borrowed(input);
    if !lexer.digits.is_empty() {
        let masked = current.to_mut();
        for digit in lexer.digits {
            masked[digit] = b'1';
        }
    }
    if let Some(next) = text::replace(&current, lexer.hits) {
        current = Cow::Owned(next);
    }
    let broken = serde_json::from_slice::<IgnoredAny>(&current).is_err();
    let swept = if broken { text::yaml_bytes(&current) } else { text::bytes(&current) };
    if let Cow::Owned(next) = swept {
        current = Cow::Owned(next);
    }
    (*current != *input).then(|| current.into_owned())
}

struct Lexer<'a> {
    input: &'a [u8],
    at: usize,
    /// For each open bracket: does it lie under a secret key?
    secret: Vec<bool>,
    /// The last key was a secret one and its value has not come yet.
    pending: bool,
    hits: Vec<Range<usize>>,
    /// Digits of numbers behind a secret key; replaced one for one, since a marker would need quotes.
    digits: Vec<usize>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.input.get(self.at) {
            match byte {
                b'"' => self.literal(),
                b'{' | b'[' => {
                    let inherited = self.is_secret();
                    self.secret.push(inherited);
                    self.pending = false;
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.secret.pop();
                    self.pending = false;
                    self.at += 1;
                }
                b',' => {
                    self.pending = false;
                    self.at += 1;
                }
                b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => self.bare(),
            }
        }
    }

    fn is_secret(&self) -> bool {
        self.pending || self.secret.last().copied().unwrap_or(false)
    }

    /// A string literal: a key if a colon follows, else a value. One that never closes ends with its line.
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
            self.pending = keys::is_secret(&decode(content));
            if hides_secret(content) {
                self.hits.push(start..end);
            }
            return;
        }
        let content = if closed { content } else { content.trim_ascii_end() };
        let end = start + content.len();
        let secret = self.is_secret() && !keys::is_harmless(content) && Marker::whole(content).is_none();
        if secret || hides_secret(content) {
            self.hits.push(start..end);
        }
        self.pending = false;
    }

    /// A number, `true`, or in a broken file any other word.
    fn bare(&mut self) {
        let start = self.at;
        let stop = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':')
        };
        self.at += self.input[start..].iter().take_while(|byte| !stop(**byte)).count().max(1);
        let word = &self.input[start..self.at];
        if self.is_secret() && !keys::is_harmless(word) {
            let number = word
                .iter()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
            if number {
                let digits = (start..self.at).filter(|at| self.input[*at].is_ascii_digit());
                self.digits.extend(digits);
            } else if Marker::at(self.input, start).is_none_or(|marker| marker.end < self.at) {
                self.hits.push(start..self.at);
            }
        }
        self.pending = false;
    }
}

/// Does an escape (`\u0065yJ...`) hide a secret from the scan of the raw bytes?
fn hides_secret(content: &[u8]) -> bool {
    if !content.contains(&b'\\') {
        return false;
    }
    let plain = decode(content);
    let Cow::Owned(clean) = text::text(&plain) else { return false };
    // Visible to the scan of the raw bytes as well: let that replace just the secret.
    decode(&text::bytes(content)) != clean
}

/// The text of a literal; escapes that are not valid stay as they are.
fn decode(content: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(content);
    if !lossy.contains('\\') {
        return lossy.into_owned();
    }
    match serde_json::from_str::<String>(&format!("\"{lossy}\"")) {
        Ok(plain) => plain,
        Err(_) => decode_leniently(&lossy),
    }
}

fn decode_leniently(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest
            .strip_prefix('u')
            .and_then(|hex| hex.get(..4))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match (code.and_then(char::from_u32), rest.chars().next()) {
            (Some(decoded), _) => {
                plain.push(decoded);
                rest = &rest[5..];
            }
            (None, Some('n')) => {
                plain.push('\n');
                rest = &rest[1..];
            }
            (None, Some(next)) => {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
            (None, None) => plain.push('\\'),
        }
    }
    plain.push_str(rest);
    plain
}

/// Text in two-byte units.
#[derive(Clone, Copy)]
struct Wide {
    big_endian: bool,
}

impl Wide {
    fn of(input: &[u8]) -> Option<Wide> {
        match input {
            [0xFF, 0xFE, ..] => return Some(Wide { big_endian: false }),
            [0xFE, 0xFF, ..] => return Some(Wide { big_endian: true }),
            _ => {}
        }
        // Without a byte-order mark: every other byte of an ASCII text is zero.
        let sample = &input[..input.len().min(4096)];
        let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        let many = sample.len() / 4;
        if many == 0 || even.max(odd) <= many {
            return None;
        }
        Some(Wide { big_endian: even > odd })
    }

    fn decode(self, input: &[u8]) -> String {
        let units = input.chunks(2).map(|pair| match (pair, self.big_endian) {
            ([high, low], true) => u16::from_be_bytes([*high, *low]),
            ([low, high], false) => u16::from_le_bytes([*low, *high]),
            // An odd last byte cannot be a character of its own.
            _ => 0xFFFD,
        });
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    fn encode(self, text: &str) -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| if self.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    }
}
