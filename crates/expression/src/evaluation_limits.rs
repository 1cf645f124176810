//! Stack space: the CEL crate parses and evaluates recursively, and a stack overflow ends the process. Nesting is
//! limited before parsing, and deep expressions get a separate stack.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Maximum nesting of brackets, and maximum number of conditionals (`?`).
const BRACKETS: usize = 64;
/// Maximum nesting of parts; each operator of a chain counts.
pub(super) const DEEPEST: u32 = 256;
/// Nesting from which a separate stack is used.
pub(super) const SHALLOW: u32 = 16;
/// Size of that stack; only used pages take memory.
const STACK: usize = 128 << 20;

/// Runs something with enough stack; `None` if the system provides none.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    scope(|threads| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(threads, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Whether brackets and conditionals are nested too deeply to parse.
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
