//! The door to the YAML parser for text of others. The parser takes its time for each level of flow collections that is
//! open (`[[[[`), it puts in an alias as often as it stands there, and it compares every `%TAG` with every other: a few
//! kilobytes can keep it busy for hours. Here such a text is refused before it is parsed; what it means is not looked at.
//!
//! Text with few brackets and no aliases, which is nearly all there is, passes at the cost of being searched once. Any
//! other is walked through by a second parser that has limits, and that keeps nothing.
//!
//! Who reads what: `serde_yaml` everything that has the shape of Kubernetes objects, in the way of the libyaml that others
//! write it for; `granit-parser` places in a text, and what this page says; `serde-saphyr`, which stands on it, what people
//! write by hand and must hear of by line, or in a form that only it and kubectl take (`yes` in a kubeconfig). The client of
//! Kubernetes brings the last two in any case.

pub(crate) mod node;

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, options};
use serde::de::DeserializeOwned;

/// How deep collections may be nested: serde goes no deeper either.
const MAX_DEPTH: usize = 128;
/// So many nodes may come of aliases, besides one for each byte of the text.
const FREE_NODES: usize = 100_000;
/// So many lines may begin like a directive.
const MAX_DIRECTIVES: usize = 64;

/// Why a text is not given to the parser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Lists or maps in one another, in flow style.
    #[error("collections are nested more than {MAX_DEPTH} deep")]
    TooDeep {
        /// The line, counted from 1.
        line: usize,
    },
    /// What it unfolds to has nothing to do with its size.
    #[error("its aliases unfold to far more than is there")]
    TooMany {
        /// The line, counted from 1.
        line: usize,
    },
    /// `%TAG`
    #[error("more than {MAX_DIRECTIVES} directives")]
    Directives,
    /// It cannot be followed, so nobody knows how deep it is.
    #[error("{why}")]
    Broken {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

impl Refused {
    /// The line that it was noticed on, counted from 1.
    pub fn line(&self) -> usize {
        match self {
            Refused::TooDeep { line } | Refused::TooMany { line } | Refused::Broken { line, .. } => *line,
            Refused::Directives => 1,
        }
    }
}

/// Parses a text, if it is not refused.
///
/// # Errors
/// It is refused, or not what is wanted; the words quote nothing of it.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    guard(text.as_bytes()).map_err(|refused| refused.to_string())?;
    serde_yaml::from_str(text).map_err(|_| "it is not the YAML that is expected".to_owned())
}

/// Whether the parser can be given a text.
///
/// # Errors
/// It is refused.
pub fn guard(text: &[u8]) -> Result<(), Refused> {
    if memchr::memchr_iter(b'%', text).filter(|at| *at == 0 || text[at - 1] == b'\n').count() > MAX_DIRECTIVES
    {
        return Err(Refused::Directives);
    }
    let few = memchr::memchr2_iter(b'[', b'{', text).nth(MAX_DEPTH).is_none();
    if few && !(has_sign(text, b'&') && has_sign(text, b'*')) {
        return Ok(());
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        let line = memchr::memchr_iter(b'\n', &text[..error.valid_up_to()]).count() + 1;
        Refused::Broken { line, why: "it is no UTF-8".to_owned() }
    })?;
    // The two parsers do not agree on whether these end a line.
    if !few && text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return Err(Refused::Broken { line: 1, why: "uncommon line ends among many brackets".to_owned() });
    }
    walk(text)
}

/// Whether an anchor or an alias may stand somewhere: the sign, at the beginning of a word.
fn has_sign(text: &[u8], sign: u8) -> bool {
    memchr::memchr_iter(sign, text).any(|at| {
        let begins =
            at == 0 || matches!(text[at - 1], b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{' | b',' | b':');
        begins && text.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace())
    })
}

fn walk(text: &str) -> Result<(), Refused> {
    let limits = options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    let mut left = FREE_NODES + text.len();
    // What each anchor unfolds to, and the collections that are open: anchor, and the nodes so far.
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
            // One that is not complete yet unfolds without end.
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
        // Collections were counted with what is in them.
        let added = if matches!(event, Event::Alias(_)) { size } else { 1 };
        left = left.checked_sub(added).ok_or(Refused::TooMany { line: span.start.line() })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_yaml::Value;

    #[test]
    fn what_is_too_deep_is_refused_before_it_is_parsed_and_nothing_else() {
        let deep = |open: &str, close: &str, n: usize| format!("a: {}{}\n", open.repeat(n), close.repeat(n));
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{a: ", "}]")] {
            for n in [200, 100_000] {
                assert!(
                    matches!(guard(deep(open, close, n).as_bytes()), Err(Refused::TooDeep { line: 1 })),
                    "{open}"
                );
                assert!(
                    matches!(guard(deep(open, "", n).as_bytes()), Err(Refused::TooDeep { .. })),
                    "{open}"
                );
            }
            assert_eq!(guard(deep(open, close, 50).as_bytes()), Ok(()));
        }
        // Brackets that are no collections, or that are closed again.
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
    fn aliases_that_unfold_to_more_than_is_there_are_refused() {
        let many = format!("a: &a [{}]\nb: [{}]\n", "1, ".repeat(20_000), "*a, ".repeat(20_000));
        assert!(matches!(guard(many.as_bytes()), Err(Refused::TooMany { line: 2 })));
        assert!(matches!(guard(b"a: &a [*a]\n"), Err(Refused::TooMany { .. })));
        let usual = "base: &base {a: 1}\none: *base\ntwo:\n  <<: *base\n";
        assert_eq!(guard(usual.as_bytes()), Ok(()));
        assert!(parse::<Value>(usual).is_ok());
    }

    #[test]
    fn directives_and_broken_texts_with_many_brackets_are_refused() {
        let tags = "%TAG !a! x\n".repeat(1000);
        assert_eq!(guard(tags.as_bytes()), Err(Refused::Directives));
        let mut text = format!("a: {}\n", "[], ".repeat(500)).into_bytes();
        assert!(matches!(guard(&text), Err(Refused::Broken { .. })));
        text.push(0xFF);
        assert!(guard(&text).is_err());
        assert_eq!(guard(b"a: [\n"), Ok(()), "that is for the parser to say");
        assert!(parse::<Value>("a: [\n").is_err_and(|why| !why.contains("a: [")));
    }
}
