//! Finds the end of a replaced value: its closing quote, a blank, or the start of another key.

use crate::marker::Marker;

/// Signs between tokens.
pub(super) fn separates(c: char) -> bool {
    c.is_whitespace()
        || super::templates::is_place(c)
        || matches!(
            c,
            '"' | '`'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | ','
                | ';'
                | '='
                | '|'
                | '&'
                | '\\'
                | '…'
                | '“'
                | '”'
                | '‘'
                | '’'
                | '—'
                | '–'
                | '•'
                | '→'
                | '\u{1b}'
        )
}

/// End of a value without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The next blank.
    Blank,
    /// The start of another key with a value, or the end of the line.
    Pair,
}

impl Until {
    pub(super) fn end(self, value: &str) -> usize {
        if self == Until::Blank {
            return blank(value);
        }
        let mut at = 0;
        while at < value.len() {
            at += blank(&value[at..]);
            let next = value[at..].trim_start_matches([' ', '\t']);
            let word = &next[..blank(next)];
            let key = word.find([':', '=']).map_or("", |sign| &word[..sign]);
            if !key.is_empty() && is_key(key.trim_start_matches(['-', '"', '\''])) || next.is_empty() {
                break;
            }
            at = value.len() - next.len();
        }
        at
    }
}

/// A value without trailing punctuation of its context.
pub(super) fn without_signs(value: &str) -> &str {
    let mut value = value;
    while let Some(less) = value.strip_suffix(['"', '\'', '`', '\\', '.', ',', ';', ')', '}', ']', '>']) {
        let marker = value.rfind("REDACTED(").and_then(|at| Marker::at(value.as_bytes(), at));
        if marker.is_some_and(|marker| marker.end == value.len()) {
            break;
        }
        value = less;
    }
    value
}

/// The first blank.
fn blank(text: &str) -> usize {
    text.find([' ', '\t']).unwrap_or(text.len())
}

/// The closing quote of a value: one without a following letter. Without one, the value ends with the line.
pub(super) fn closing(value: &str, start: usize) -> usize {
    let quote = value[..start].chars().next_back().unwrap_or('"');
    let mut from = start;
    while let Some(at) = value[from..].find(quote).map(|at| from + at) {
        let behind = value[at + quote.len_utf8()..].trim_start_matches(['"', '\'', '`', '\\']);
        if behind.starts_with(|c: char| separates(c) || matches!(c, ':' | '.')) || behind.is_empty() {
            return at;
        }
        from = at + quote.len_utf8();
    }
    value.len()
}

pub(super) fn is_key(key: &str) -> bool {
    key.bytes().any(|byte| byte.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
}
