//! Secrets recognized by their shape in any context: tokens, private keys, prefixed keys of clouds and services, and
//! long random runs of letters and digits. [`super::sensitive_names`] handles names that announce a secret.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::marker::find;

/// Shorter runs of letters and digits are names.
const OPAQUE: usize = 20;
/// Shorter hexadecimal runs are abbreviated hashes.
const HEX: usize = 32;
/// Minimum length of a line of wrapped base64, except for the last.
const WRAPPED: usize = 40;

/// Prefixes of keys of clouds and services, with the minimum number of following characters.
const PREFIXES: [(&str, usize); 40] = [
    ("AKIA", 6),
    ("ASIA", 6),
    ("AROA", 12),
    ("AIDA", 12),
    ("ABIA", 12),
    ("ACCA", 12),
    ("AIza", 6),
    ("ya29.", 6),
    ("ghp_", 4),
    ("gho_", 4),
    ("ghu_", 4),
    ("ghs_", 4),
    ("ghr_", 4),
    ("github_pat_", 4),
    ("glpat-", 4),
    ("gldt-", 4),
    ("glrt-", 4),
    ("glsa_", 4),
    ("glc_", 6),
    ("xoxa-", 4),
    ("xoxb-", 4),
    ("xoxe-", 4),
    ("xoxo-", 4),
    ("xoxp-", 4),
    ("xoxr-", 4),
    ("xoxs-", 4),
    ("xapp-", 4),
    ("sk_live_", 4),
    ("sk_test_", 4),
    ("rk_live_", 4),
    ("sk-", 20),
    ("SG.", 16),
    ("npm_", 10),
    ("pypi-", 10),
    ("dop_v1_", 4),
    ("dckr_pat_", 4),
    ("shpat_", 4),
    ("hvs.", 4),
    ("hvb.", 4),
    ("AGE-SECRET-KEY-", 4),
];

/// Words before 64 hexadecimal digits that mark an id or a checksum.
const IDS: [&[u8]; 9] =
    [b"sha", b"sandbox", b"container", b"digest", b"image", b"fingerprint", b"://", b"cri-", b"netns"];

pub(super) fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// End of the matching bytes from `from` on.
pub(super) fn run(input: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    from + input[from..].iter().take_while(|byte| wanted(**byte)).count()
}

/// Separator of token parts: a dot, or a URL-escaped dot. Returns its length.
fn joint(input: &[u8], at: usize) -> Option<usize> {
    match input.get(at..)? {
        [b'.', ..] => Some(1),
        [b'%', b'2', b'e' | b'E', ..] => Some(3),
        _ => None,
    }
}

/// End of the joined base64url runs from `start`, and their number.
fn dotted(input: &[u8], start: usize) -> (usize, usize) {
    let mut end = run(input, start, is_url_safe);
    let mut parts = 1;
    while let Some(length) = joint(input, end) {
        let next = run(input, end + length, is_url_safe);
        if next == end + length {
            break;
        }
        end = next;
        parts += 1;
    }
    (end, parts)
}

/// Whether this is exactly one JWT: three base64url runs joined by dots, the first starting with `eyJ`.
pub(super) fn is_jwt(input: &[u8]) -> bool {
    input.starts_with(b"eyJ") && dotted(input, 0) == (input.len(), 3)
}

/// Whether a base64url run is a token header whose JSON contains blanks.
fn is_head(part: &[u8]) -> bool {
    let decoded = URL_SAFE_NO_PAD.decode(&part[..part.len() / 4 * 4]).unwrap_or_default();
    let text = decoded.trim_ascii_start();
    text.starts_with(b"{") && text[1..].trim_ascii_start().starts_with(b"\"")
}

/// JWTs anywhere, and at the start of a base64 run also truncated ones and encoded JSON.
pub(super) fn tokens(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut public: Option<Vec<Range<usize>>> = None;
    while let Some(start) = find(input, b"e", at) {
        at = start + 1;
        let usual = input[start..].starts_with(b"eyJ");
        let spaced = !usual
            && matches!(input.get(start + 1), Some(b'w'..=b'z' | b'0'..=b'9'))
            && (start == 0 || !in_run(input[start - 1]));
        if !usual && !spaced {
            continue;
        }
        let first = run(input, start, is_url_safe);
        if spaced && (first - start < 8 || !is_head(&input[start..first])) {
            continue;
        }
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
        // Certificates are public, and their lines may start with any letters.
        let public = public.get_or_insert_with(|| certificates(input));
        if public.iter().any(|block| block.contains(&start)) {
            continue;
        }
        let end = run(input, start, |byte| is_base64(byte) || byte == b'.');
        let end = wrapped(input, start, end);
        hits.push(start..end);
        at = end;
    }
}

/// Keys by their prefix.
pub(super) fn prefixed(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < input.len() {
        let boundary = at == 0 || !input[at - 1].is_ascii_alphanumeric();
        let first = input[at];
        if !boundary || !matches!(first, b'A' | b'S' | b'g' | b'h' | b'x' | b's' | b'r' | b'n' | b'p' | b'd' | b'y') {
            at += 1;
            continue;
        }
        let rest = &input[at..];
        let found = PREFIXES.iter().find_map(|(prefix, more)| {
            rest.starts_with(prefix.as_bytes()).then_some(())?;
            let end = run(input, at + prefix.len(), |byte| is_base64(byte) || byte == b'.');
            (end - at - prefix.len() >= *more).then_some(end)
        });
        match found {
            Some(end) => {
                hits.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
}

/// A PEM block with any number of dashes and in any case: its range (up to a quote or the end of the input if the last
/// line is missing), and its label.
fn pem_blocks(input: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut blocks = Vec::new();
    let mut at = 0;
    // The next quote, searched only when passed: many blocks may follow without one.
    let mut quote = 0;
    while let Some(dashes) = find(input, b"--", at) {
        let word = run(input, dashes, |byte| byte == b'-');
        let word = run(input, word, |byte| byte == b' ');
        at = word;
        let begins = |word: usize, what: &[u8]| {
            input.get(word..word + what.len()).is_some_and(|found| found.eq_ignore_ascii_case(what))
        };
        if !begins(word, b"BEGIN") {
            continue;
        }
        let label_at = word + 5;
        let label = run(input, label_at, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
        if !input[label..].starts_with(b"--") {
            continue;
        }
        if quote <= label {
            let step = memchr::memchr3(b'"', b'\'', b'`', &input[label..]);
            quote = step.map_or(input.len(), |step| label + step);
        }
        let limit = quote;
        let mut end = limit;
        let mut from = run(input, label, |byte| byte == b'-');
        while let Some(dashes) = find(&input[..limit], b"--", from) {
            let word = run(&input[..limit], dashes, |byte| byte == b'-');
            let word = run(&input[..limit], word, |byte| byte == b' ');
            from = word;
            if word + 3 <= limit && begins(word, b"END") {
                let tail = run(&input[..limit], word, |byte| byte != b'-' && byte != b'\n');
                end = run(&input[..limit], tail, |byte| byte == b'-');
                break;
            }
        }
        blocks.push((dashes..end, label_at..label));
        at = end.max(label);
    }
    blocks
}

/// Ranges of certificates: blocks whose content matches their label.
pub(super) fn certificates(input: &[u8]) -> Vec<Range<usize>> {
    let public = |(block, label): &(Range<usize>, Range<usize>)| {
        if input[label.clone()].trim_ascii() != b"CERTIFICATE" {
            return false;
        }
        let text = String::from_utf8_lossy(&input[block.clone()]);
        // PEM in a JSON string.
        let text = text.replace("\\n", "\n").replace("\\r", "");
        let blocks = super::certificate::blocks(text.as_bytes());
        blocks.first().is_some_and(|block| looks_certified(&block.der))
    };
    pem_blocks(input).into_iter().filter(public).map(|(block, _)| block).collect()
}

/// Whether bytes start like a certificate, even a damaged one: a sequence in a sequence, with a version or number. Keys
/// start differently.
pub(super) fn looks_certified(der: &[u8]) -> bool {
    let inner = |der: &[u8]| match *der {
        [0x30, length, ..] if length & 0x80 == 0 => Some(2),
        [0x30, length, ..] if length & 0x7f <= 4 => Some(2 + usize::from(length & 0x7f)),
        _ => None,
    };
    let Some(first) = inner(der) else { return false };
    let Some(second) = der.get(first..).and_then(inner) else { return false };
    matches!(der.get(first + second), Some(0xa0 | 0x02))
}

/// Private keys as PEM. [`opaque`] finds those that are additionally base64-encoded.
pub(super) fn private_keys(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let private = |label: &[u8]| find(&label.to_ascii_uppercase(), b"PRIVATE", 0).is_some();
    hits.extend(
        pem_blocks(input).into_iter().filter(|(_, label)| private(&input[label.clone()])).map(|(block, _)| block),
    );
    let mut at = 0;
    // `-----BEGIN` in base64, too short for a run of its own.
    while let Some(start) = find(input, b"LS0tLS1", at) {
        let end = run(input, start, |byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
        at = end;
        let whole = start + (end - start) / 4 * 4;
        let holds_key =
            STANDARD.decode(&input[start..whole]).is_ok_and(|decoded| find(&decoded, b"PRIVATE", 0).is_some());
        if holds_key {
            at = run(input, end, |byte| byte == b'=');
            hits.push(start..at);
        }
    }
}

/// Long random-looking runs: base64 of keys, tokens, certificate requests, whole files; hexadecimal keys. Ranges in
/// `known` (sorted, disjoint) are skipped.
pub(super) fn opaque(input: &[u8], hits: &mut Vec<Range<usize>>) {
    let mut public: Option<Vec<Range<usize>>> = None;
    let known = std::mem::take(hits);
    let (mut at, mut next) = (0, 0);
    let mut found = Vec::new();
    while at < input.len() {
        while known.get(next).is_some_and(|hit: &Range<usize>| hit.end <= at) {
            next += 1;
        }
        if let Some(hit) = known.get(next)
            && hit.start <= at
        {
            at = hit.end;
            continue;
        }
        if !in_run(input[at]) {
            at += 1;
            continue;
        }
        let limit = known.get(next).map_or(input.len(), |hit| hit.start);
        let end = run(&input[..limit], at, in_run);
        let start = at;
        at = end;
        if end - start < OPAQUE || !(is_random(&input[start..end]) || is_hex_key(input, start..end)) {
            continue;
        }
        let public = public.get_or_insert_with(|| certificates(input));
        if public.iter().any(|block| block.contains(&start)) {
            continue;
        }
        let end = run(input, end, |byte| byte == b'=');
        let end = wrapped(input, start, end);
        found.push(start..end);
        at = end;
    }
    *hits = known;
    hits.extend(found);
}

fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Whether a run is random: capitals, small letters and digits change frequently.
fn is_random(run: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'A'..=b'Z' => 1u8,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 4,
        _ => 0,
    };
    let (mut all, mut changes, mut before) = (0, 0, 0);
    for byte in run {
        let class = class(*byte);
        all |= class;
        changes += usize::from(class != before && class != 0 && before != 0);
        before = class;
    }
    match all {
        7 => changes * 10 >= run.len() * 3,
        3 => run.len() >= WRAPPED && changes * 3 >= run.len(),
        _ => false,
    }
}

/// Whether a part of a run is a hexadecimal key, and not a container id or checksum.
fn is_hex_key(input: &[u8], range: Range<usize>) -> bool {
    let mut start = range.start;
    let is_key = |part: &[u8], start: usize| {
        let lower = part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let upper = part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
        let mixed = part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic);
        if part.len() < HEX || !(lower || upper) || !mixed {
            return false;
        }
        let before = input[start.saturating_sub(24)..start].to_ascii_lowercase();
        !(part.len() == 64 && IDS.iter().any(|word| find(&before, word, 0).is_some()))
    };
    for part in input[range].split(|byte| !byte.is_ascii_alphanumeric()) {
        if is_key(part, start) {
            return true;
        }
        start += part.len() + 1;
    }
    false
}

/// End of a run that continues on the following lines with the same kind of text.
fn wrapped(input: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    let mut length = end - start;
    loop {
        let Some(line) = next_line(input, end) else { return end };
        let line = run(input, line, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'|' | b'>'));
        let stop = run(input, line, |byte| is_base64(byte) || byte == b'.');
        let next = stop - line;
        let alone = stop == input.len() || matches!(input[stop], b'\r' | b'\n' | b'"' | b'\'' | b'\\' | b',');
        let telling = next >= 8 && input[line..stop].iter().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
        if next == 0 || next > length || !alone || length < WRAPPED && !(length >= 12 && telling) {
            return end;
        }
        (end, length) = (stop, next);
    }
}

/// Start of the next line after `end`; a line may also end with an escaped `\n`.
fn next_line(input: &[u8], end: usize) -> Option<usize> {
    match input.get(end..)? {
        [b'\n', ..] => Some(end + 1),
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => Some(end + 2),
        [b'\\', b'r', b'\\', b'n', ..] => Some(end + 4),
        _ => None,
    }
}
