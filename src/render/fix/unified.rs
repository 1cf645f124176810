//! Unified diffs of edited files.

use std::ops::Range;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Maximum number of cells of the comparison; larger changes are one block.
const CELLS: usize = 4_000_000;

/// The diff of a file; empty if nothing changed.
pub fn diff(file: &str, old: &str, new: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let changes = changes(&before, &after);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {file}\n+++ {file}\n");
    let mut rest = changes.as_slice();
    while let Some(first) = rest.first() {
        // Changes with little between them share a hunk.
        let apart = rest.windows(2).position(|two| two[1].0.start - two[0].0.end > 2 * CONTEXT);
        let (hunk, later) = rest.split_at(apart.map_or(rest.len(), |at| at + 1));
        rest = later;
        let last = &hunk[hunk.len() - 1];
        let begin = first.0.start.saturating_sub(CONTEXT);
        let end = (last.0.end + CONTEXT).min(before.len());
        let new_begin = first.1.start - (first.0.start - begin);
        let new_end = last.1.end + (end - last.0.end);
        text.push_str(&format!("@@ -{} +{} @@\n", range(begin..end), range(new_begin..new_end)));
        let mut at = begin;
        for (old, new) in hunk {
            before[at..old.start].iter().for_each(|line| push(&mut text, ' ', line));
            before[old.clone()].iter().for_each(|line| push(&mut text, '-', line));
            after[new.clone()].iter().for_each(|line| push(&mut text, '+', line));
            at = old.end;
        }
        before[at..end].iter().for_each(|line| push(&mut text, ' ', line));
    }
    text
}

fn range(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn push(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// The changed lines: before and after.
fn changes(before: &[&str], after: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let prefix = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let most = before.len().min(after.len()) - prefix;
    let suffix = before.iter().rev().zip(after.iter().rev()).take(most);
    let suffix = suffix.take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[prefix..before.len() - suffix], &after[prefix..after.len() - suffix]);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > CELLS {
        return vec![(prefix..prefix + old.len(), prefix..prefix + new.len())];
    }
    // Length of the longest common subsequence of the rest of both, by position.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a * width + b] = match old[a] == new[b] {
                true => common[(a + 1) * width + b + 1] + 1,
                false => common[(a + 1) * width + b].max(common[a * width + b + 1]),
            };
        }
    }
    let mut changes: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let removes =
            b == new.len() || a < old.len() && common[(a + 1) * width + b] >= common[a * width + b + 1];
        let (next_a, next_b) = if removes { (a + 1, b) } else { (a, b + 1) };
        match changes.last_mut().filter(|(old, new)| old.end == prefix + a && new.end == prefix + b) {
            Some((old, new)) => (old.end, new.end) = (prefix + next_a, prefix + next_b),
            None => changes.push((prefix + a..prefix + next_a, prefix + b..prefix + next_b)),
        }
        (a, b) = (next_a, next_b);
    }
    changes
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
        assert_eq!(
            diff("f", "a", "a\nb\n"),
            "--- f\n+++ f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
        );
    }
}
