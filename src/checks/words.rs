//! Words that many findings use.

/// What follows the first of many names: ` and 4 more`, and nothing where none is left.
pub(super) fn and_more(left: usize) -> String {
    if left > 0 { format!(" and {left} more") } else { String::new() }
}
