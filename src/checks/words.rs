//! Words that many findings use.

use std::fmt::Display;

/// The first of many: `a, b, c and 4 more`.
pub(super) fn some<T: Display>(all: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut all = all.into_iter();
    let shown: Vec<String> = all.by_ref().take(most).map(|one| one.to_string()).collect();
    format!("{}{}", shown.join(", "), and_more(all.count()))
}

/// What follows the first of many: ` and 4 more`, and nothing where none is left.
pub(super) fn and_more(left: usize) -> String {
    if left > 0 { format!(" and {left} more") } else { String::new() }
}

/// The text with a capital first letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
