//! Room on the stack: the crate parses and evaluates by recursion, and a stack that is too small ends the process. How deep an
//! expression is nested is bounded before it is parsed, and what is deep gets a stack of its own.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// How deep brackets may stand in one another; so many choices (`?`) there may be.
const BRACKETS: usize = 64;
/// How deep the parts of an expression may stand in one another; a chain of operators counts each.
pub(super) const DEEPEST: u32 = 256;
/// What is nested deeper is evaluated on a stack of its own.
pub(super) const SHALLOW: u32 = 16;
/// The size of that stack, of which only what is used takes memory.
const STACK: usize = 128 << 20;

/// Does something with room on the stack; `None` where the system gives none.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    scope(|threads| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(threads, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Whether brackets and choices of a text are nested too deep to be parsed.
pub(super) fn is_too_deep(text: &str) -> bool {
    let (mut open, mut deepest, mut choices) = (0_usize, 0, 0);
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(_), '\\') => _ = letters.next(),
            (Some(begin), _) if c == begin => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') => open = open.saturating_sub(1),
            (None, '?') => choices += 1,
            (None, _) => {}
        }
        deepest = deepest.max(open);
    }
    deepest > BRACKETS || choices > BRACKETS
}
