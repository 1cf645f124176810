//! Secrets in free text: JWTs, private keys, URL userinfo, bearer tokens, and values behind a telling name.
//!
//! Works on bytes, line for line: a marker never crosses a line end, so line numbers stay.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::keys;
use super::marker::{Marker, find, stand_in};

/// Removes every secret from a text: an event message, a log line, an annotation.
pub fn text(input: &str) -> Cow<'_, str> {
    match scrub(input.as_bytes(), Names::Text) {
        None => Cow::Borrowed(input),
        // Every hit begins and ends at an ASCII byte, so what stays is as valid as it was.
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
    }
}

/// As [`text`], for bytes in any encoding that contains ASCII.
pub fn bytes(input: &[u8]) -> Cow<'_, [u8]> {
    scrub(input, Names::Text).map_or(Cow::Borrowed(input), Cow::Owned)
}

/// As [`text`], for YAML, half-written JSON and the like: also unquoted values behind a telling name.
pub fn yaml_bytes(input: &[u8]) -> Cow<'_, [u8]> {
    scrub(input, Names::File).map_or(Cow::Borrowed(input), Cow::Owned)
}

/// How names announce a secret here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Prose around them: only quoted values, or `name=value`.
    Text,
    /// A file of names and values.
    File,
}

/// How often a result is scanned again: a replaced value can lay bare where the next one begins.
const ROUNDS: usize = 8;

fn scrub(input: &[u8], names: Names) -> Option<Vec<u8>> {
    let mut clean = scrub_once(input, names)?;
    for _ in 1..ROUNDS {
        match scrub_once(&clean, names) {
            Some(next) => clean = next,
            None => break,
        }
    }
    Some(clean)
}

fn scrub_once(input: &[u8], names: Names) -> Option<Vec<u8>> {
    let mut hits = Vec::new();
    tokens(input, &mut hits);
    private_keys(input, &mut hits);
    // Names, uids, times: most texts of an object are one word, which holds none of the following.
    let one_word = !input.iter().any(|byte| matches!(byte, b' ' | b'=' | b'@' | b'"' | b'\'' | b'\n'));
    if names == Names::File || !one_word {
        userinfo(input, &mut hits);
        bearer(input, &mut hits);
        named(input, names, &mut hits);
    }
    replace(input, hits)
}

/// Replaces the ranges (which may overlap) by markers, line by line; `None` if there is nothing to do.
pub(super) fn replace(input: &[u8], mut hits: Vec<Range<usize>>) -> Option<Vec<u8>> {
    hits.retain(|hit| !hit.is_empty());
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => merged.push(hit),
        }
    }
    let mut output = Vec::with_capacity(input.len());
    let mut done = 0;
    for hit in merged {
        output.extend_from_slice(&input[done..hit.start]);
        for (index, line) in input[hit.clone()].split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                output.push(b'\n');
            }
            let (line, carriage_return) = match line.strip_suffix(b"\r") {
                Some(line) => (line, true),
                None => (line, false),
            };
            let indent = line.iter().take_while(|byte| **byte == b' ' || **byte == b'\t').count();
            output.extend_from_slice(&line[..indent]);
            let secret = &line[indent..];
            if secret.is_empty() || Marker::whole(secret).is_some() {
                output.extend_from_slice(secret);
            } else {
                output.extend_from_slice(stand_in(secret).as_bytes());
            }
            if carriage_return {
                output.push(b'\r');
            }
        }
        done = hit.end;
    }
    output.extend_from_slice(&input[done..]);
    (output != input).then_some(output)
}

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

fn run(input: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    from + input[from..].iter().take_while(|byte| wanted(**byte)).count()
}

/// The end of the dot-joined base64url runs that begin at `start`, and how many there are.
fn dotted(input: &[u8], start: usize) -> (usize, usize) {
    let mut end = run(input, start, is_url_safe);
    let mut parts = 1;
    while input.get(end) == Some(&b'.') {
        let next = run(input, end + 1, is_url_safe);
        if next == end + 1 {
            break;
        }
        end = next;
        parts += 1;
    }
    (end, parts)
}

/// Is this exactly one JWT: three dot-joined base64url runs, the first beginning with `eyJ`?
pub(super) fn is_jwt(input: &[u8]) -> bool {
    input.starts_with(b"eyJ") && dotted(input, 0) == (input.len(), 3)
}

/// JWTs anywhere, and at the start of a base64 run also pieces of one (a cut event) and encoded JSON.
fn tokens(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut public: Option<Vec<Range<usize>>> = None;
    while let Some(start) = find(input, b"eyJ", at) {
        let (end, parts) = dotted(input, start);
        if parts >= 3 {
            hits.push(start..end);
            at = end;
            continue;
        }
        at = start + 3;
        let before = start.checked_sub(1).map(|index| input[index]);
        let escape = start >= 2 && input[start - 2] == b'\\' && matches!(before, Some(b'n' | b't' | b'r'));
        if before.is_some_and(is_base64) && !escape && before != Some(b'=') {
            continue;
        }
        // Certificates are public, and their lines may begin with any letters.
        let public = public.get_or_insert_with(|| public_blocks(input));
        if public.iter().any(|block| block.contains(&start)) {
            continue;
        }
        let end = run(input, start, |byte| is_base64(byte) || byte == b'.');
        hits.push(start..end);
        at = end;
    }
}

/// A PEM block: its extent (up to a quote or the end of the input when its last line is missing).
fn pem_blocks(input: &[u8], private: bool) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(start) = find(input, b"-----BEGIN ", at) {
        let label_at = start + 11;
        let label =
            run(input, label_at, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
        at = label;
        let is_private = find(&input[label_at..label], b"PRIVATE", 0).is_some();
        if is_private != private {
            continue;
        }
        let quote = input[label..].iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let limit = quote.map_or(input.len(), |step| label + step);
        let end = match find(&input[..limit], b"-----END ", label) {
            None => limit,
            Some(end) => {
                let label = run(&input[..limit], end + 9, |byte| byte != b'-' && byte != b'\n');
                run(&input[..limit], label, |byte| byte == b'-')
            }
        };
        blocks.push(start..end);
        at = end.max(label);
    }
    blocks
}

fn public_blocks(input: &[u8]) -> Vec<Range<usize>> {
    pem_blocks(input, false)
}

/// Private keys as PEM, and PEM wrapped in base64 once more (as Secrets and kubeconfigs hold it).
pub(super) fn private_keys(input: &[u8], hits: &mut Vec<Range<usize>>) {
    hits.extend(pem_blocks(input, true));
    let mut at = 0;
    while let Some(start) = find(input, b"LS0tLS1", at) {
        let end = run(input, start, |byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
        at = end;
        let whole = start + (end - start) / 4 * 4;
        let holds_key = STANDARD_NO_PAD
            .decode(&input[start..whole])
            .is_ok_and(|decoded| find(&decoded, b"PRIVATE", 0).is_some());
        if holds_key {
            at = run(input, end, |byte| byte == b'=');
            hits.push(start..at);
        }
    }
}

/// `user:password@` of URLs. An image digest (`docker-pullable://nginx@sha256:...`) is none.
fn userinfo(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(scheme) = find(input, b"://", at) {
        let start = scheme + 3;
        at = start;
        let end = run(input, start, |byte| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b',')
        });
        let Some(sign) = input[start..end].iter().rposition(|byte| *byte == b'@').map(|step| start + step)
        else {
            continue;
        };
        if !input[sign + 1..].starts_with(b"sha256:") {
            hits.push(start..sign);
        }
        at = end;
    }
}

/// Bearer tokens, and whatever follows an `Authorization` header's scheme.
fn bearer(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let token68 = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    for (word, any) in [(b"bearer".as_slice(), false), (b"authorization".as_slice(), true)] {
        let mut at = 0;
        while let Some(start) = find_caseless(input, word, at) {
            at = start + word.len();
            let mut value = run(input, at, |byte| {
                matches!(byte, b' ' | b'\t' | b':' | b'"' | b'\'' | b'[' | b'\\' | b'=')
            });
            if value == at {
                continue;
            }
            if any {
                // `Authorization: Basic eHl6`: the scheme stays, what follows goes.
                if !input[at..value].iter().any(|byte| matches!(byte, b':' | b'=')) {
                    continue;
                }
                let scheme = run(input, value, |byte| byte.is_ascii_alphabetic());
                if input.get(scheme) == Some(&b' ') {
                    value = run(input, scheme, |byte| byte == b' ');
                }
            }
            if Marker::at(input, value).is_some() {
                continue;
            }
            let end = run(input, value, token68);
            let candidate = &input[value..end];
            let telling = candidate.len() >= 20
                || candidate.len() >= 8
                    && candidate.iter().any(|byte| !byte.is_ascii_alphabetic() && *byte != b'.');
            if any || telling {
                hits.push(value..end);
            }
        }
    }
}

fn find_caseless(input: &[u8], word: &[u8], from: usize) -> Option<usize> {
    let last = input.len().checked_sub(word.len())?;
    let first = *word.first()?;
    (from..=last).find(|at| {
        input[*at].to_ascii_lowercase() == first && input[*at..*at + word.len()].eq_ignore_ascii_case(word)
    })
}

/// Values behind a telling name: `"token": "..."` also with escaped quotes, `password=...`.
fn named(input: &[u8], names: Names, hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < input.len() {
        if !is_url_safe(input[at]) {
            at += 1;
            continue;
        }
        let end = run(input, at, is_url_safe);
        let word = &input[at..end];
        at = end;
        let Some(separator) = separator_after(input, end) else { continue };
        let word = std::str::from_utf8(word).unwrap_or_default();
        let word = word.trim_start_matches('-');
        let telling = match names {
            Names::Text => keys::is_secret_in_text(word),
            Names::File => keys::is_secret(word),
        };
        if telling && let Some(value) = value_after(input, separator, names) {
            at = at.max(value.end);
            hits.push(value);
        }
    }
}

/// The `:` or `=` that follows a name, past a closing quote and blanks on the same line.
fn separator_after(input: &[u8], end: usize) -> Option<usize> {
    let quote = run(input, end, |byte| matches!(byte, b'\\' | b'"' | b'\''));
    let blank = run(input, quote, |byte| byte == b' ' || byte == b'\t');
    matches!(input.get(blank), Some(b':' | b'=')).then_some(blank)
}

fn value_after(input: &[u8], separator: usize, names: Names) -> Option<Range<usize>> {
    let blank = run(input, separator + 1, |byte| byte == b' ' || byte == b'\t');
    let slashes = run(input, blank, |byte| byte == b'\\');
    let value = match input.get(slashes) {
        Some(quote @ (b'"' | b'\'')) => {
            let start = slashes + 1;
            let mut close = input[blank..slashes].to_vec();
            close.push(*quote);
            let line_end = run(input, start, |byte| byte != b'\n' && byte != b'\r');
            start..closing(&input[..line_end], start, &close)
        }
        _ if names == Names::File || (input[separator] == b'=' && blank == separator + 1) => {
            let stop = |byte: u8| {
                byte.is_ascii_whitespace()
                    || matches!(byte, b',' | b'}' | b']' | b'"' | b'\'' | b'\\' | b'&' | b';' | b')' | b'`')
            };
            blank..run(input, blank, |byte| !stop(byte))
        }
        _ => return None,
    };
    if Marker::at(input, value.start).is_some_and(|marker| marker.end >= value.end) {
        return None;
    }
    let content = &input[value.clone()];
    (!keys::is_harmless(content)).then_some(value)
}

/// Where the closing quote is: the first that is not escaped more deeply than the opening one.
fn closing(line: &[u8], start: usize, close: &[u8]) -> usize {
    let mut from = start;
    while let Some(at) = find(line, close, from) {
        let slashes = line[start..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 || close.len() > 1 {
            return at;
        }
        from = at + 1;
    }
    line.len()
}
