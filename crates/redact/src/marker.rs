//! The marker that replaces a secret: format, search, and count.
//!
//! `REDACTED(sha256:<12 hex>,len=N)` for a JWT and a token in a label, `REDACTED(len=N)` for everything else; N is
//! the length of the original
//! in bytes.

use crate::token;

const HEAD: &[u8] = b"REDACTED(";
const HASH: &[u8] = b"sha256:";
const LEN: &[u8] = b"len=";
/// Maximum number of digits of a length.
const MAX_DIGITS: usize = 12;

/// A marker found in redacted bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset just after its closing parenthesis.
    pub end: usize,
    /// Number of bytes of the original.
    pub original_len: usize,
    /// First twelve hex digits of the hash, for a JWT or a token in a label.
    pub sha256_prefix: Option<String>,
}

impl Marker {
    /// The marker that begins exactly at `start`.
    pub fn at(bytes: &[u8], start: usize) -> Option<Marker> {
        let mut rest = bytes.get(start..)?.strip_prefix(HEAD)?;
        let mut sha256_prefix = None;
        if let Some(hashed) = rest.strip_prefix(HASH) {
            let hex = hashed.get(..12)?;
            if !hex.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                return None;
            }
            sha256_prefix = Some(String::from_utf8_lossy(hex).into_owned());
            rest = hashed[12..].strip_prefix(b",")?;
        }
        rest = rest.strip_prefix(LEN)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > MAX_DIGITS {
            return None;
        }
        let original_len = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        rest = rest[digits..].strip_prefix(b")")?;
        Some(Marker { start, end: bytes.len() - rest.len(), original_len, sha256_prefix })
    }

    /// The marker that makes up the whole of `bytes`.
    pub fn whole(bytes: &[u8]) -> Option<Marker> {
        Marker::at(bytes, 0).filter(|marker| marker.end == bytes.len())
    }
}

/// All markers, in order.
pub fn markers(bytes: &[u8]) -> Vec<Marker> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = find(bytes, HEAD, at) {
        match Marker::at(bytes, next) {
            Some(marker) => {
                at = marker.end;
                found.push(marker);
            }
            None => at = next + HEAD.len(),
        }
    }
    found
}

/// Whether a text contains redacted parts.
pub fn is_marked(text: &str) -> bool {
    text.contains("REDACTED(") && !markers(text.as_bytes()).is_empty()
}

/// Number of bytes of a redacted text's original.
pub fn original_len(bytes: &[u8]) -> usize {
    markers(bytes).iter().fold(bytes.len(), |len, marker| len - (marker.end - marker.start) + marker.original_len)
}

/// The 1-based byte column in the original line of the 1-based byte column `byte_col` in its redacted form.
///
/// A column inside a marker maps to the start of the secret.
pub fn original_column(line: &[u8], byte_col: usize) -> usize {
    let before = byte_col.saturating_sub(1).min(line.len());
    let within = markers(line).into_iter().find(|marker| marker.start < before && before < marker.end);
    let upto = within.map_or(before, |marker| marker.start);
    // A column past the end of the line (a missing character) stays the same distance past it.
    original_len(&line[..upto]) + byte_col.saturating_sub(before).max(1)
}

/// The replacement of a secret: with a hash only for exactly one JWT.
pub(super) fn stand_in(secret: &[u8]) -> String {
    let len = original_len(secret);
    if super::shapes::is_jwt(secret) { hashed(secret) } else { format!("REDACTED(len={len})") }
}

/// The replacement of a secret with its hash, by which equal ones are recognized.
pub(super) fn hashed(secret: &[u8]) -> String {
    format!("REDACTED(sha256:{},len={})", token::sha256_prefix(secret), original_len(secret))
}

/// Next position of `needle` at or after `from`.
pub(super) fn find(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let first = *needle.first()?;
    let mut at = 0;
    while let Some(step) = rest[at..].iter().position(|byte| *byte == first) {
        at += step;
        if rest[at..].starts_with(needle) {
            return Some(from + at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_after_a_marker_are_those_of_the_original() {
        let original = r#"{"token":"abcdefghijklmnopqrstuvwxyz0123456789","type":"x"}"#;
        let redacted = r#"{"token":"REDACTED(len=36)","type":"x"}"#;
        for word in ["\"type\"", "\"x\"", "}", "\"token\""] {
            let column = redacted.find(word).unwrap() + 1;
            assert_eq!(original_column(redacted.as_bytes(), column), original.find(word).unwrap() + 1, "{word}");
        }
        // Inside the marker: the start of the secret. Past the end: the same distance past it.
        assert_eq!(original_column(redacted.as_bytes(), 15), 11);
        assert_eq!(original_column(redacted.as_bytes(), redacted.len() + 1), original.len() + 1);
        assert_eq!(original_column(b"", 1), 1);
    }

    #[test]
    fn only_the_exact_form_is_a_marker() {
        assert!(Marker::whole(b"REDACTED(len=5)").is_some());
        assert!(Marker::whole(b"REDACTED(sha256:a1b2c3d4e5f6,len=5)").is_some());
        for text in ["REDACTED(len=)", "REDACTED(sha256:hunter2hunte,len=5)", "REDACTED(len=5", "REDACTED(5)"] {
            assert!(Marker::whole(text.as_bytes()).is_none(), "{text}");
        }
    }
}
