//! Removes secrets from free text: by their shape ([`shapes`]) and by preceding names ([`named`]).
//!
//! Works on bytes, line by line: a marker never spans lines, so line numbers stay. Cost is linear.

use std::borrow::Cow;
use std::ops::Range;

use super::marker::{Marker, stand_in};
use super::memo::Memo;
use super::{sensitive_names, shapes};

thread_local! {
    /// Cache of texts without secrets.
    static CLEAN: Memo<()> = Memo::with_slots(2048);
}

/// Removes secrets from a text: an event message, a log line, an annotation.
#[inline]
pub fn text(input: &str) -> Cow<'_, str> {
    CLEAN.with(|known| {
        known.unchanged(input, |input| match scrub(input.as_bytes(), Names::Text) {
            None => Cow::Borrowed(input),
            // Every match starts and ends at an ASCII byte, so the rest stays valid.
            Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        })
    })
}

/// Like [`text`], for bytes in any encoding that contains ASCII.
pub fn bytes(input: &[u8]) -> Cow<'_, [u8]> {
    scrub(input, Names::Text).map_or(Cow::Borrowed(input), Cow::Owned)
}

/// Like [`text`], for messages of this program, in which a path may end in `token` before a colon.
pub fn own_words(input: &str) -> Cow<'_, str> {
    match scrub(input.as_bytes(), Names::Own) {
        None => Cow::Borrowed(input),
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
    }
}

/// Like [`text`], for YAML, truncated JSON and similar: also unquoted values after a sensitive name.
pub fn yaml_bytes(input: &[u8]) -> Cow<'_, [u8]> {
    scrub(input, Names::File).map_or(Cow::Borrowed(input), Cow::Owned)
}

/// Context of names that announce a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Prose: a word after a colon may continue the sentence.
    Text,
    /// A message of this program, which continues after a colon.
    Own,
    /// A file of names and values.
    File,
}

/// Maximum number of rounds: a replacement can reveal another value.
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
    if names == Names::Text && is_plain(input) {
        return None;
    }
    shapes::tokens(input, &mut hits);
    shapes::prefixed(input, &mut hits);
    shapes::private_keys(input, &mut hits);
    // Names, uids, times: most texts are one word, which contains none of the following.
    let one_word = !input.iter().any(|byte| matches!(byte, b' ' | b'=' | b'@' | b':' | b'"' | b'\'' | b'\n'));
    if names == Names::File || !one_word {
        sensitive_names::userinfo(input, &mut hits);
        sensitive_names::bearer(input, &mut hits);
        sensitive_names::mark_values(input, names, &mut hits);
    }
    let mut hits = merged(hits);
    shapes::opaque(input, &mut hits);
    replace(input, hits)
}

/// Too short for a recognizable secret without a name, or one lower-case word, as object names are: nearly every text
/// of a cluster.
fn is_plain(input: &[u8]) -> bool {
    let mut longest = 0;
    let mut run = 0;
    for byte in input {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => run += 1,
            b'.' | b'/' | b'-' => run = 0,
            _ => return false,
        }
        longest = longest.max(run);
    }
    longest < 20
        && !(input.starts_with(b"xox")
            || input.starts_with(b"gl")
            || input.starts_with(b"hv")
            || input.starts_with(b"sk-"))
        && (input.len() < 12
            || !input.windows(4).any(|w| {
                matches!(
                    w,
                    b"xoxb"
                        | b"xoxp"
                        | b"xapp"
                        | b"glpa"
                        | b"gldt"
                        | b"glrt"
                        | b"pypi"
                        | b"hvs."
                        | b"hvb."
                        | b"/sk-"
                        | b".sk-"
                        | b"-sk-"
                )
            }))
}

/// Sorted, with overlapping ranges merged.
fn merged(mut hits: Vec<Range<usize>>) -> Vec<Range<usize>> {
    hits.retain(|hit| !hit.is_empty());
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => merged.push(hit),
        }
    }
    merged
}

/// Replaces the ranges (which may overlap) by markers, line by line; `None` if there are none.
pub(super) fn replace(input: &[u8], hits: Vec<Range<usize>>) -> Option<Vec<u8>> {
    let merged = merged(hits);
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
