//! Guards the YAML parser against malicious text. The parser is slow for nested flow collections (`[[[[`), expands
//! every alias, and compares every `%TAG` with all others: a few kilobytes can take hours. Such texts are rejected
//! before parsing.
//!
//! Text with few brackets and no aliases, which is almost all, needs only one scan. Other text is validated by a second
//! parser with limits, which stores nothing.
//!
//! Parsers: `serde_yaml` reads Kubernetes objects like libyaml does; `granit-parser` finds positions in a text and is
//! used here; `serde-saphyr`, based on it, reads hand-written files with line numbers in errors, and formats that only
//! it and kubectl accept (`yes` in a kubeconfig). The Kubernetes client depends on the last two anyway.

pub mod go;
pub mod node;

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, options};
use serde::de::DeserializeOwned;

/// Maximum nesting of collections, the same as in serde.
const MAX_DEPTH: usize = 128;
/// Maximum number of nodes from aliases, in addition to one per byte of text.
const FREE_NODES: usize = 100_000;
/// Maximum number of lines that start like a directive.
const MAX_DIRECTIVES: usize = 64;

/// Reason for rejecting a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nested lists or maps in flow style.
    #[error("collections are nested more than {MAX_DEPTH} deep")]
    TooDeep {
        /// The line, counted from 1.
        line: usize,
    },
    /// Alias expansion is out of proportion to the text.
    #[error("its aliases expand to far more data than the text has")]
    TooMany {
        /// The line, counted from 1.
        line: usize,
    },
    /// `%TAG`
    #[error("more than {MAX_DIRECTIVES} directives")]
    Directives,
    /// It cannot be parsed, so its nesting is unknown.
    #[error("{why}")]
    Broken {
        /// The line, counted from 1.
        line: usize,
        /// The error.
        why: String,
    },
}

impl Refused {
    /// Line of the error, counted from 1.
    pub fn line(&self) -> usize {
        match self {
            Refused::TooDeep { line } | Refused::TooMany { line } | Refused::Broken { line, .. } => *line,
            Refused::Directives => 1,
        }
    }
}

/// Parses a text unless it is rejected.
///
/// # Errors
/// It is rejected, or has another structure; the message does not quote it.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    guard(text.as_bytes()).map_err(|refused| refused.to_string())?;
    serde_yaml::from_str(text).map_err(|_| "the YAML does not have the expected structure".to_owned())
}

/// Parses a document as kubectl applies it ([`go`]): `NO` is a boolean.
///
/// # Errors
/// As those of [`parse`], or a number that JSON does not have.
pub fn parse_applied(text: &str) -> Result<serde_json::Value, String> {
    let mut value = parse(text)?;
    go::correct(&mut value, text)?;
    Ok(value)
}

/// Whether a text is safe to parse.
///
/// # Errors
/// It is rejected.
pub fn guard(text: &[u8]) -> Result<(), Refused> {
    if memchr::memchr_iter(b'%', text).filter(|at| *at == 0 || text[at - 1] == b'\n').count() > MAX_DIRECTIVES {
        return Err(Refused::Directives);
    }
    let few = memchr::memchr2_iter(b'[', b'{', text).nth(MAX_DEPTH).is_none();
    if few && !(has_sign(text, b'&') && has_sign(text, b'*')) {
        return Ok(());
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        let line = memchr::memchr_iter(b'\n', &text[..error.valid_up_to()]).count() + 1;
        Refused::Broken { line, why: "it is not UTF-8".to_owned() }
    })?;
    // The two parsers disagree on whether these characters end a line.
    if !few && text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return Err(Refused::Broken { line: 1, why: "uncommon line ends among many brackets".to_owned() });
    }
    walk(text)
}

/// Whether an anchor or alias may start here: the sign at the start of a word.
fn has_sign(text: &[u8], sign: u8) -> bool {
    memchr::memchr_iter(sign, text).any(|at| {
        let begins = at == 0 || matches!(text[at - 1], b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{' | b',' | b':');
        begins && text.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace())
    })
}

fn walk(text: &str) -> Result<(), Refused> {
    let limits = options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    let mut left = FREE_NODES + text.len();
    // Size of each anchor's expansion, and the open collections: anchor, and nodes so far.
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for event in Parser::new_from_str_with_options(text, limits) {
        let (event, span) = event.map_err(|error| {
            let line = error.marker().line();
            match error.kind() {
                ErrorKind::RecursionLimitExceeded => Refused::TooDeep { line },
                _ => Refused::Broken { line, why: error.info() },
            }
        })?;
        let (anchor, size) = match event {
            Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _) => {
                open.push((anchor, 1));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().unwrap_or_default(),
            Event::Scalar(_, _, anchor, _) => (anchor, 1),
            // An incomplete anchor expands endlessly.
            Event::Alias(anchor) => (0, sizes.get(&anchor).copied().unwrap_or(usize::MAX)),
            _ => continue,
        };
        if anchor > 0 {
            sizes.insert(anchor, size);
        }
        match open.last_mut() {
            Some((_, nodes)) => *nodes = nodes.saturating_add(size),
            None => open.clear(),
        }
        // Collections were counted with their contents.
        let added = if matches!(event, Event::Alias(_)) { size } else { 1 };
        left = left.checked_sub(added).ok_or(Refused::TooMany { line: span.start.line() })?;
    }
    Ok(())
}

/// Whether a document begins with a line: after its sign, the line may hold a part of the document.
pub fn begins_document(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
}

/// Whether a line separates documents and holds nothing else but a comment. A document may also begin on such a line.
pub fn is_separator(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("---") else { return false };
    let said = rest.trim();
    said.is_empty() || (rest.starts_with([' ', '\t']) && said.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use serde_yaml::Value;

    use super::*;

    #[test]
    fn separators_may_have_comments() {
        for line in ["---", "--- ", "---\r\n", "---\t# Source: a.yaml\n", "--- # web"] {
            assert!(is_separator(line), "{line:?}");
        }
        for line in ["----", "---#", "--- {a: b}", " ---", "a: ---"] {
            assert!(!is_separator(line), "{line:?}");
        }
    }

    #[test]
    fn only_deep_nesting_is_rejected_early() {
        let deep = |open: &str, close: &str, n: usize| format!("a: {}{}\n", open.repeat(n), close.repeat(n));
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{a: ", "}]")] {
            for n in [200, 100_000] {
                assert!(matches!(guard(deep(open, close, n).as_bytes()), Err(Refused::TooDeep { line: 1 })), "{open}");
                assert!(matches!(guard(deep(open, "", n).as_bytes()), Err(Refused::TooDeep { .. })), "{open}");
            }
            assert_eq!(guard(deep(open, close, 50).as_bytes()), Ok(()));
        }
        // Brackets that are not collections, or are closed again.
        for text in [
            format!("a: {}\n", "[], ".repeat(5000).replace(", ", "\nb: ")).replace("b: \n", ""),
            format!("a: '{}'\n", "[".repeat(5000)),
            format!("a: |\n  {}\nb: x{}\n", "{".repeat(5000), "[".repeat(5000)),
            format!("# {}\na: 1\n", "[".repeat(5000)),
        ] {
            assert_eq!(guard(text.as_bytes()), Ok(()), "{}", &text[..20]);
        }
    }

    #[test]
    fn expanding_aliases_are_rejected() {
        let many = format!("a: &a [{}]\nb: [{}]\n", "1, ".repeat(20_000), "*a, ".repeat(20_000));
        assert!(matches!(guard(many.as_bytes()), Err(Refused::TooMany { line: 2 })));
        assert!(matches!(guard(b"a: &a [*a]\n"), Err(Refused::TooMany { .. })));
        let usual = "base: &base {a: 1}\none: *base\ntwo:\n  <<: *base\n";
        assert_eq!(guard(usual.as_bytes()), Ok(()));
        assert!(parse::<Value>(usual).is_ok());
    }

    #[test]
    fn directives_and_broken_brackets_are_rejected() {
        let tags = "%TAG !a! x\n".repeat(1000);
        assert_eq!(guard(tags.as_bytes()), Err(Refused::Directives));
        let mut text = format!("a: {}\n", "[], ".repeat(500)).into_bytes();
        assert!(matches!(guard(&text), Err(Refused::Broken { .. })));
        text.push(0xFF);
        assert!(guard(&text).is_err());
        assert_eq!(guard(b"a: [\n"), Ok(()), "the parser reports it");
        assert!(parse::<Value>("a: [\n").is_err_and(|why| !why.contains("a: [")));
    }
}
