//! Suggestions for unknown words.

use std::borrow::Cow;

/// Maximum number of characters of a word that is compared or quoted; no known word is nearly as long.
const LONGEST: usize = 120;

/// A word for a message, shortened if it is much longer than any known word.
pub fn brief(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(word),
        Some((end, _)) => Cow::Owned(format!("{}...", &word[..end])),
    }
}

/// The most similar candidate, if it differs by a few characters or one is a prefix or suffix of the other. Of several,
/// the first in alphabetical order.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if word.len() > 4 * LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|(likeness, name)| (*likeness > 0.75 || is_typo(word, name)) && is_near(word, name))
        .max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.cmp(x)))
        .map(|(_, name)| name.to_owned())
}

/// Whether one letter differs, or two neighbouring ones are swapped; of short words, the likeness says little.
fn is_typo(word: &str, name: &str) -> bool {
    word.chars().count() >= 3 && strsim::osa_distance(word, name) == 1
}

/// Whether a word is most likely a slip for a name, so that it may be replaced without a question: two neighbouring
/// letters are swapped, or a letter inside one of its longer parts differs. Names that differ in their last letters, in
/// a short part or in digits (`http` and `https`, `web-a` and `web-b`) may both be meant.
pub fn is_slip(word: &str, name: &str) -> bool {
    let parts = |text: &'_ str| text.split(['-', '_', '.', '/']).map(str::to_owned).collect::<Vec<_>>();
    let (words, names) = (parts(word), parts(name));
    let mut differing = words.iter().zip(&names).filter(|(one, other)| one != other);
    words.len() == names.len()
        && differing.next().is_some_and(|(one, other)| is_slip_of_part(one, other))
        && differing.next().is_none()
}

/// Whether one part of a name is a slip for another.
fn is_slip_of_part(word: &str, name: &str) -> bool {
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut word.iter().zip(&name));
    let after = same(&mut word[before..].iter().rev().zip(name[before..].iter().rev()));
    let (left, right) = (&word[before..word.len() - after], &name[before..name.len() - after]);
    if left.iter().chain(right).any(char::is_ascii_digit) {
        return false;
    }
    let is_swap = matches!((left, right), ([a, b], [c, d]) if a == d && b == c);
    let is_letter = left.len() <= 1 && right.len() <= 1 && before > 0 && after > 0;
    is_swap || (is_letter && name.len() >= 5)
}

/// Whether enough of a word matches.
fn is_near(word: &str, name: &str) -> bool {
    let (short, long) = if word.len() < name.len() { (word, name) } else { (name, word) };
    let part = short.len() >= 3 && (long.starts_with(short) || long.ends_with(short));
    part || strsim::osa_distance(word, name) <= 1 + long.chars().count() / 4
}

#[cfg(test)]
mod tests {
    use super::{closest, is_slip};

    #[test]
    fn a_slip_changes_one_letter_inside_a_part_and_no_digit() {
        assert!(is_slip("authros-get-route", "authors-get-route") && is_slip("wbe", "web"));
        assert!(is_slip("payements-http", "payments-http") && is_slip("athors", "authors"));
        for (word, name) in [("web-https", "web-http"), ("web-b", "web-a"), ("rediss", "redis"), ("a-on", "a-in")] {
            assert!(!is_slip(word, name), "{word} may be meant, not {name}");
        }
        assert!(!is_slip("authors-dont-route", "authors-get-route") && !is_slip("not-authors", "authors"));
        assert!(!is_slip("web-1", "web-2") && !is_slip("api", "web"));
    }

    #[test]
    fn distant_word_is_not_suggested() {
        let known = ["orange-marmalade", "lemon-curd", "pods"];
        let of = |word: &str| closest(word, known);
        assert_eq!(of("podz").as_deref(), Some("pods"));
        assert_eq!(of("orange-marmelade").as_deref(), Some("orange-marmalade"));
        assert_eq!(of("orange").as_deref(), Some("orange-marmalade"));
        assert_eq!(closest("wbe", ["api", "web"]).as_deref(), Some("web"));
        assert_eq!(closest("wb", ["a", "ab"]), None);
        assert_eq!(of("marmalade-orange"), None);
        assert_eq!(of("orange-lemonades"), None);
    }
}
