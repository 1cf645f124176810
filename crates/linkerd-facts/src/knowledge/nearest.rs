//! Suggestions for unknown keys by edit distance. The caller's pool ensures that a suggestion works in the installed
//! release.

use super::annotations::Mistaken;
use super::key::Key;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suggestion<'a> {
    /// The key that was probably meant; `None` if no key has the intended effect.
    pub key: Option<&'a Key>,
    /// Further advice, in words.
    pub advice: Option<&'a str>,
}

pub(super) fn nearest<'a>(
    keys: &'a [Key],
    mistaken: &'a [Mistaken],
    key: &str,
    pool: impl Fn(&Key) -> bool,
) -> Option<&'a Key> {
    suggest(keys, mistaken, key, pool).and_then(|suggestion| suggestion.key)
}

pub(super) fn suggest<'a>(
    keys: &'a [Key],
    mistaken: &'a [Mistaken],
    key: &str,
    pool: impl Fn(&Key) -> bool,
) -> Option<Suggestion<'a>> {
    let pool = |row: &Key| !row.is_prefix() && row.key != key && pool(row);
    if let Some(seen) = mistaken.iter().find(|row| row.wrong.iter().any(|wrong| wrong == key)) {
        let right = seen.right.iter().find_map(|name| keys.iter().filter(|row| pool(row)).find(|row| row.key == *name));
        if right.is_some() || seen.advice.is_some() {
            return Some(Suggestion { key: right, advice: seen.advice.as_deref() });
        }
    }
    let written = UnknownKey::parse(key)?;
    // Few keys are similar, so the expensive test comes last.
    let best = keys
        .iter()
        .filter_map(|row| Some((written.distance(row)?, row)))
        .filter(|(_, row)| pool(row))
        .min_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.key.cmp(&right.key)))?;
    Some(Suggestion { key: Some(best.1), advice: None })
}

/// An unknown key, parsed once.
struct UnknownKey<'a> {
    domain: &'a str,
    name: String,
    core: String,
    /// Whether it has capital letters.
    case: usize,
}

impl<'a> UnknownKey<'a> {
    fn parse(key: &'a str) -> Option<UnknownKey<'a>> {
        let (domain, name) = split(key);
        let lower = name.to_ascii_lowercase();
        let case = usize::from(lower != name);
        (!name.is_empty()).then(|| UnknownKey { domain, core: core(&lower), name: lower, case })
    }

    /// Distance to a known key; smaller is nearer, `None` if too far.
    fn distance(&self, known: &Key) -> Option<usize> {
        let (known_domain, known_name) = split(&known.key);
        // One edit in a short name, two in a longer one.
        let slips = |text: &str| if letters(text) < 8 { 1 } else { 2 };
        let domains = || 2 * edit_distance(self.domain, known_domain, 3).unwrap_or(4);
        if let Some(by_name) = edit_distance(&self.name, known_name, slips(known_name))
            && by_name < letters(known_name)
        {
            return Some(3 * by_name + domains() + self.case);
        }
        let known_core = &known.core;
        if letters(known_core) < 5 {
            return None;
        }
        let by_core = edit_distance(&self.core, known_core, slips(known_core))?;
        Some(4 + 3 * by_core + domains() + self.case)
    }
}

/// Edit distance of two words, if at most `most`. Cheap tests of length and letters come first, because untrusted input
/// may have many words.
pub fn edit_distance(one: &str, other: &str, most: usize) -> Option<usize> {
    if letters(one).abs_diff(letters(other)) > most || letters_apart(one, other) > 2 * most {
        return None;
    }
    let slips = strsim::damerau_levenshtein(one, other);
    (slips <= most).then_some(slips)
}

/// Length of a word in characters, with a fast path for ASCII.
fn letters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Number of letters that only one word has. An edit changes at most two.
fn letters_apart(one: &str, other: &str) -> usize {
    let mut counts = [0_i32; 64];
    // Collisions only hide a difference.
    let place = |letter: char| letter as usize % 64;
    one.chars().for_each(|letter| counts[place(letter)] += 1);
    other.chars().for_each(|letter| counts[place(letter)] -= 1);
    counts.iter().map(|count| count.unsigned_abs() as usize).sum()
}

/// A name without words that people add, omit and reorder.
pub(super) fn core(name: &str) -> String {
    let filler = ["proxy", "enable", "enabled", "linkerd", "config"];
    let mut words: Vec<&str> = name
        .split(['-', '_', '.'])
        .filter(|word| !filler.contains(word))
        .map(|word| if word.len() > 3 { word.strip_suffix('s').unwrap_or(word) } else { word })
        .collect();
    words.sort_unstable();
    words.concat()
}

fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_filter_never_hides_a_similar_word() {
        let words = ["proxy-cpu-limit", "proxy-cpu-limt", "proxy-cpu-limti", "porxy-cpu-limit", "ühere", "here", ""];
        for (one, other) in words.iter().flat_map(|one| words.iter().map(move |other| (one, other))) {
            for most in 0..4 {
                let slips = strsim::damerau_levenshtein(one, other);
                assert_eq!(edit_distance(one, other, most), (slips <= most).then_some(slips), "{one} {other} {most}");
            }
        }
        assert!(letters_apart("proxy-cpu-limit", "proxy-memory-limit") > 4);
    }

    #[test]
    fn pool_is_tested_only_for_similar_keys() {
        let known = crate::knowledge::Knowledge::embedded();
        let asked = std::cell::Cell::new(0);
        let found = known.annotations().suggest("config.linkerd.io/proxy-cpu-limt", |_| {
            asked.set(asked.get() + 1);
            true
        });
        assert_eq!(
            found.and_then(|found| found.key).map(|row| row.key.as_str()),
            Some("config.linkerd.io/proxy-cpu-limit")
        );
        assert!(asked.get() < 10, "{}", asked.get());
    }
}
