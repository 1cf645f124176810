//! A text of bounded length: parts in order, and a line that names the parts that did not fit.

use super::super::text::{count, some_of};

/// Maximum number of named parts that were omitted.
const NAMED: usize = 8;

/// A part of the text.
pub(super) struct TextPart {
    pub text: String,
    /// Its rank: parts of higher ranks are omitted first.
    pub rank: u8,
    /// Its name, if it is omitted.
    pub name: String,
}

impl TextPart {
    /// A part that is omitted last.
    pub(super) fn first(text: String) -> TextPart {
        TextPart { text, rank: 0, name: String::new() }
    }
}

/// The parts that fit into `most` bytes, in their order. The last parts of the highest rank are omitted
/// first.
pub(super) fn join(parts: Vec<TextPart>, most: usize) -> String {
    let whole: usize = parts.iter().map(|part| part.text.len()).sum();
    if whole <= most {
        return parts.into_iter().map(|part| part.text).collect();
    }
    // Room for the line that names them.
    let most = most.saturating_sub(1_000);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| parts[at].rank);
    let mut taken = 0;
    let mut is_kept = vec![false; parts.len()];
    let mut is_full = None;
    for at in order {
        let rank = parts[at].rank;
        // After the first part that does not fit, its rank is closed, so that no later part takes its place.
        if taken + parts[at].text.len() <= most && is_full.is_none_or(|full| full < rank) {
            taken += parts[at].text.len();
            is_kept[at] = true;
        } else {
            is_full = Some(rank);
        }
    }
    let left_out: Vec<&str> = parts
        .iter()
        .zip(&is_kept)
        .filter(|(part, is_kept)| !**is_kept && !part.name.is_empty())
        .map(|(part, _)| part.name.as_str())
        .collect();
    let mut text: String =
        parts.iter().zip(&is_kept).filter(|(_, is_kept)| **is_kept).map(|(part, _)| part.text.as_str()).collect();
    text.push_str(&format!(
        "\n**Left out, because comments are limited in length:** {} ({}). `-o html` and `-o json` have everything.\n",
        count(left_out.len(), "part", "parts"),
        some_of(&left_out, NAMED)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_parts_of_the_highest_rank_are_left_out_and_named() {
        let part = |name: &str, rank, length| TextPart { text: "x".repeat(length), rank, name: name.to_owned() };
        let parts = || vec![part("head", 0, 100), part("a", 2, 900), part("b", 2, 900), part("plan", 1, 500)];
        assert_eq!(join(parts(), 5_000).len(), 2_400);
        let text = join(parts(), 2_300);
        assert!(text.len() <= 2_300 && text.contains("2 parts (a, b)"), "{text}");
        assert_eq!(text.matches('x').count(), 600);
    }
}
