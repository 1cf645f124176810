//! Secrets recognized by preceding text: a name, a header, an option, the user of a URL.

use std::ops::Range;

use super::keys;
use super::marker::{Marker, find};
use super::shapes::{is_url_safe, run};
use super::text::Names;

/// Maximum length of a quoted value in bytes.
const QUOTED: usize = 16 << 10;

/// `user:password@` in URLs and in addresses without a scheme, but not image digests
/// (`docker-pullable://nginx@sha256:...`).
pub(super) fn userinfo(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(sign) = find(input, b"@", at) {
        at = sign + 1;
        if input[at..].starts_with(b"sha256:") {
            continue;
        }
        let ends =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'@');
        let word = input[..sign].iter().rposition(ends).map_or(0, |before| before + 1);
        let start = find(&input[..sign], b"://", word).map(|scheme| scheme + 3);
        let user = &input[start.unwrap_or(word)..sign];
        let authority = user.split(|byte| matches!(byte, b'/' | b'?' | b'#' | b',')).next().unwrap_or_default();
        let whole = authority.len() == user.len();
        let has_password = authority.iter().position(|byte| *byte == b':').is_some_and(|colon| {
            let (user, password) = (&authority[..colon], &authority[colon + 1..]);
            // `host:443/path@x` contains a port.
            let port = !password.is_empty() && password.iter().all(u8::is_ascii_digit) && user.contains(&b'.');
            !user.is_empty() && !port || user.is_empty() && !password.is_empty()
        });
        // `[::1]:443/a@b` starts with an address.
        let has_password = has_password && !authority.starts_with(b"[");
        // If there are two signs, the first belongs to the password.
        let again = word > 0 && input[word - 1] == b'@' && hits.last().is_some_and(|hit| hit.end + 1 == word);
        match start {
            // The account of all Git servers.
            Some(start)
                if user == b"git"
                    && input[..start].ends_with(b"ssh://")
                    && !input[at..]
                        .iter()
                        .take_while(|byte| **byte == b'@' || !ends(byte))
                        .any(|byte| *byte == b'@') => {}
            Some(start) if whole || has_password => hits.push(start..sign),
            None if again => {
                if let Some(hit) = hits.last_mut() {
                    hit.end = sign;
                }
            }
            None if has_password && host_follows(input, at) => hits.push(word..sign),
            _ => {}
        }
    }
}

fn host_follows(input: &[u8], at: usize) -> bool {
    input.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[' || *byte == b'(')
}

/// Bearer tokens, and the credentials in an `Authorization` header.
pub(super) fn bearer(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let token68 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
    for (word, any) in [(b"bearer".as_slice(), false), (b"authorization".as_slice(), true)] {
        let mut at = 0;
        while let Some(start) = find_caseless(input, word, at) {
            at = start + word.len();
            let mut value =
                run(input, at, |byte| matches!(byte, b' ' | b'\t' | b':' | b'"' | b'\'' | b'[' | b'\\' | b'='));
            if value == at {
                continue;
            }
            if any {
                // `Authorization: Basic eHl6`: the scheme stays, the rest is replaced.
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
                || candidate.len() >= 8 && candidate.iter().any(|byte| !byte.is_ascii_alphabetic() && *byte != b'.');
            if any || telling {
                hits.push(value..end);
            }
        }
    }
}

fn find_caseless(input: &[u8], word: &[u8], from: usize) -> Option<usize> {
    let last = input.len().checked_sub(word.len())?;
    let first = *word.first()?;
    (from..=last)
        .find(|at| input[*at].to_ascii_lowercase() == first && input[*at..*at + word.len()].eq_ignore_ascii_case(word))
}

/// Values after a sensitive name: `"token": "..."` also with escaped quotes, `password=...`, `X-Api-Key: ...`,
/// `--password ...`.
pub(super) fn mark_values(input: &[u8], names: Names, hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < input.len() {
        if !is_url_safe(input[at]) {
            at += 1;
            continue;
        }
        let end = run(input, at, is_url_safe);
        let (start, whole) = (at, &input[at..end]);
        at = end;
        let Some(separator) = separator_after(input, start, end) else { continue };
        let word = std::str::from_utf8(whole).unwrap_or_default();
        let word = word.trim_start_matches('-');
        let telling = match names {
            Names::Text | Names::Own => keys::is_secret_in_text(word),
            Names::File => keys::is_secret(word),
        };
        // `/etc/passwd: not found` is a file name.
        let is_file = start > 0 && matches!(input[start - 1], b'/' | b'.') && input[separator] == b':';
        let is_sentence = (names == Names::Own || names == Names::Text && is_file)
            && input[separator..].starts_with(b": ")
            && !input[separator + 2..].starts_with(b"\"");
        if telling
            && !is_sentence
            && let Some(value) = value_after(input, separator, names)
        {
            at = at.max(value.end);
            hits.push(value);
        }
    }
}

/// The `:` or `=` after a name, past a closing quote and blanks on the same line; for an option also the blank.
fn separator_after(input: &[u8], start: usize, end: usize) -> Option<usize> {
    let quote = run(input, end, |byte| matches!(byte, b'\\' | b'"' | b'\''));
    let blank = run(input, quote, |byte| byte == b' ' || byte == b'\t');
    if matches!(input.get(blank), Some(b':' | b'=')) {
        return Some(blank);
    }
    let option = input[start] == b'-' && (start == 0 || !is_url_safe(input[start - 1]));
    (option && blank > end && quote == end).then_some(blank - 1)
}

fn value_after(input: &[u8], separator: usize, names: Names) -> Option<Range<usize>> {
    let blank = run(input, separator + 1, |byte| byte == b' ' || byte == b'\t');
    let slashes = run(input, blank, |byte| byte == b'\\');
    let value = match input.get(slashes) {
        Some(quote @ (b'"' | b'\'')) => {
            let start = slashes + 1;
            let mut close = input[blank..slashes].to_vec();
            close.push(*quote);
            start..closing(input, start, &close)
        }
        _ => {
            let stop = |byte: u8| {
                byte.is_ascii_whitespace()
                    || matches!(byte, b',' | b'}' | b']' | b'"' | b'\'' | b'\\' | b'&' | b';' | b')' | b'`')
            };
            let end = run(input, blank, |byte| !stop(byte));
            let sure = names == Names::File || (input[separator] == b'=' && blank == separator + 1);
            if !sure && (blank == separator + 1 && input[separator] == b':' || is_prose(&input[blank..end])) {
                return None;
            }
            blank..goes_on(input, blank, end)
        }
    };
    if Marker::at(input, value.start).is_some_and(|marker| marker.end >= value.end) {
        return None;
    }
    let content = &input[value.clone()];
    (!keys::is_harmless(content)).then_some(value)
}

/// End of an unquoted value with quoted parts, as in `password=one"two three"four`: after the last part. A quote that
/// closes the surrounding text is not followed by a letter.
fn goes_on(input: &[u8], start: usize, end: usize) -> usize {
    let goes_on_at = |at: usize| input.get(at).is_some_and(|byte| is_url_safe(*byte));
    let mut end = end;
    loop {
        let slashes = run(input, end, |byte| byte == b'\\');
        let Some(quote @ (b'"' | b'\'')) = input.get(slashes) else { return end };
        if end == start || !goes_on_at(slashes + 1) {
            return end;
        }
        let close = [&input[end..slashes], &[*quote]].concat();
        let closed = closing(input, slashes + 1, &close);
        let behind = closed + close.len();
        if !input[closed..].starts_with(&close) || !goes_on_at(behind) {
            return closed;
        }
        end = run(input, behind, is_url_safe);
    }
}

/// Words after `token:` in a sentence about a token, and options.
fn is_prose(word: &[u8]) -> bool {
    const WORDS: [&str; 32] = [
        "a",
        "an",
        "and",
        "bad",
        "cannot",
        "context",
        "could",
        "denied",
        "error",
        "expired",
        "failed",
        "forbidden",
        "get",
        "has",
        "in",
        "internal",
        "invalid",
        "is",
        "it",
        "missing",
        "no",
        "none",
        "not",
        "of",
        "open",
        "post",
        "rpc",
        "the",
        "timeout",
        "unauthorized",
        "unexpected",
        "unable",
    ];
    let word = std::str::from_utf8(word).unwrap_or_default().trim_end_matches(['.', ':', '!']);
    word.is_empty()
        || word.starts_with(super::free_text::is_place)
        || word.starts_with(['-', '{', '['])
        || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The closing quote: the first that is not escaped more deeply than the opening one, on this line or, in wrapped
/// files, a following one. Without one, the value ends with the line.
fn closing(input: &[u8], start: usize, close: &[u8]) -> usize {
    let limit = input.len().min(start + QUOTED);
    let line = run(&input[..limit], start, |byte| byte != b'\n' && byte != b'\r');
    if let Some(at) = closed(&input[..line], start, close) {
        return at;
    }
    // A next line with its own quotes and a colon in them is not part of the value.
    match closed(&input[..limit], start, close) {
        Some(at) if !looks_new(&input[line..at]) => at,
        _ => line,
    }
}

/// Whether something new starts before the next quote: a name with a value, an object.
fn looks_new(between: &[u8]) -> bool {
    between.iter().any(|byte| matches!(byte, b'{' | b'}' | b'['))
        || between.split(|byte| *byte == b'\n').any(|line| line.ends_with(b":") || find(line, b": ", 0).is_some())
}

fn closed(text: &[u8], start: usize, close: &[u8]) -> Option<usize> {
    let mut from = start;
    while let Some(at) = find(text, close, from) {
        let slashes = text[start..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 || close.len() > 1 {
            return Some(at);
        }
        from = at + 1;
    }
    None
}
