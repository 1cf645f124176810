//! Decodes string literals of JSON, and detects secrets hidden by escapes.

use std::borrow::Cow;

use crate::text;

/// Whether an escape (`\u0065yJ...`) hides a secret from the scan of the raw bytes.
pub(super) fn hides_secret(content: &[u8]) -> bool {
    if !content.contains(&b'\\') {
        return false;
    }
    let plain = decode(content);
    let Cow::Owned(clean) = text::text(&plain) else { return false };
    // Also visible to the scan of the raw bytes, which replaces only the secret.
    decode(&text::bytes(content)) != clean
}

/// Text of a literal; invalid escapes stay.
pub(super) fn decode(content: &[u8]) -> String {
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
        let code =
            rest.strip_prefix('u').and_then(|hex| hex.get(..4)).and_then(|hex| u32::from_str_radix(hex, 16).ok());
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
