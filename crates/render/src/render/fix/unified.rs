//! Line differences of edited files: unified diffs, and replacements of whole lines.

use std::ops::Range;

use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The unified diff of a file; empty if nothing changed.
pub fn diff(file: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    TextDiff::from_lines(old, new).unified_diff().context_radius(CONTEXT).header(file, file).to_string()
}

/// A replacement of whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The first replaced line, from 1.
    pub first: usize,
    /// The last replaced line.
    pub last: usize,
    /// The new lines, without the end of the last one.
    pub text: String,
    /// The first line that differs, which a neighbor may precede; `None` behind the last line.
    pub changed: Option<usize>,
}

/// The replacements that change `old` into `new`. Inserted and removed lines take an unchanged neighbor with them, so
/// that each replacement has at least one line before and after.
pub fn replacements(old: &str, new: &str) -> Vec<Replacement> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut changes: Vec<(Range<usize>, Range<usize>, usize)> = Vec::new();
    for change in capture_diff_slices(Algorithm::Myers, &before, &after) {
        if change.tag() == DiffTag::Equal {
            continue;
        }
        let (mut old, mut new) = (change.old_range(), change.new_range());
        let first = old.start;
        if old.is_empty() || new.is_empty() {
            match old.start {
                0 => (old.end, new.end) = ((old.end + 1).min(before.len()), (new.end + 1).min(after.len())),
                _ => (old.start, new.start) = (old.start - 1, new.start - 1),
            }
        }
        match changes.last_mut().filter(|(last, ..)| last.end > old.start) {
            Some((last_old, last_new, _)) => (last_old.end, last_new.end) = (old.end, new.end),
            None => changes.push((old, new, first)),
        }
    }
    let replacement = |(old, new, first): (Range<usize>, Range<usize>, usize)| {
        let text = after[new].concat();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let changed = (first < before.len()).then_some(first + 1);
        Replacement { first: old.start + 1, last: old.end, text: text.to_owned(), changed }
    };
    changes.into_iter().map(replacement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_changes_have_their_own_hunks() {
        let old: String = (1..=20).map(|n| format!("l{n}\n")).collect();
        let new = old.replace("l2\n", "l2\nnew\n").replace("l18\n", "x\n");
        assert_eq!(
            diff("f", &old, &new),
            "--- f\n+++ f\n@@ -1,5 +1,6 @@\n l1\n l2\n+new\n l3\n l4\n l5\n@@ -15,6 +16,6 @@\n l15\n l16\n l17\n-l18\n+x\n l19\n l20\n"
        );
        assert_eq!(diff("f", &old, &old), "");
    }

    #[test]
    fn missing_line_end_is_marked() {
        assert_eq!(diff("f", "a", "a\nb\n"), "--- f\n+++ f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n");
    }

    /// The text with the replacements, from the last to the first.
    fn replaced(old: &str, replacements: &[Replacement]) -> String {
        let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
        for one in replacements.iter().rev() {
            let new: Vec<String> = one.text.split('\n').map(str::to_owned).collect();
            lines.splice(one.first - 1..one.last, new);
        }
        lines.join("\n") + "\n"
    }

    #[test]
    fn replacements_have_a_line_before_and_after() {
        let old = "a\nb\nc\nd\ne\n";
        for new in ["x\na\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\nx\n", "b\nc\nd\ne\n", "a\nb\nd\n", "a\nB\nc\nx\nd\ne\n"] {
            let replacements = replacements(old, new);
            assert!(replacements.iter().all(|one| one.first <= one.last && !one.text.is_empty()), "{new}");
            assert_eq!(replaced(old, &replacements), new);
        }
    }
}
