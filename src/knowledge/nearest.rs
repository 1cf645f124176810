//! Which known key was probably meant by an unknown one. Distances only; whether the result helps in the installed
//! release is for the caller's pool to say.

use super::annotations::Mistaken;
use super::key::Key;

/// What to write instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suggestion<'a> {
    /// The key that was probably meant; `None` where no key does what was wanted.
    pub key: Option<&'a Key>,
    /// What to do instead or besides, in words.
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
    let pool = |row: &&Key| !row.is_prefix() && row.key != key && pool(row);
    if let Some(seen) = mistaken.iter().find(|row| row.wrong.iter().any(|wrong| wrong == key)) {
        let right = seen.right.iter().find_map(|name| keys.iter().filter(pool).find(|row| row.key == *name));
        if right.is_some() || seen.advice.is_some() {
            return Some(Suggestion { key: right, advice: seen.advice.as_deref() });
        }
    }
    let best = keys
        .iter()
        .filter(pool)
        .filter_map(|row| Some((distance(key, &row.key)?, row)))
        .min_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.key.cmp(&right.key)))?;
    Some(Suggestion { key: Some(best.1), advice: None })
}

/// How far a known key is from the written one; smaller is nearer, `None` too far to be meant.
fn distance(written: &str, known: &str) -> Option<usize> {
    let (domain, name) = split(written);
    let (known_domain, known_name) = split(known);
    if name.is_empty() {
        return None;
    }
    let letters = |text: &str| text.chars().count();
    // One slip in a short name, two in a longer one.
    let slips = |text: &str| if letters(text) < 8 { 1 } else { 2 };
    let domains = || 2 * apart(domain, known_domain, 3).unwrap_or(4);
    let lower = name.to_ascii_lowercase();
    let case = usize::from(lower != name);
    if let Some(by_name) = apart(&lower, known_name, slips(known_name))
        && by_name < letters(known_name)
    {
        return Some(3 * by_name + domains() + case);
    }
    let (core, known_core) = (core(&lower), core(known_name));
    if letters(&known_core) < 5 {
        return None;
    }
    let by_core = apart(&core, &known_core, slips(&known_core))?;
    Some(4 + 3 * by_core + domains() + case)
}

/// By how many slips two words differ, if by no more than `most`. To count them takes far longer than to see that one is
/// too long, and a stranger may write any number of words.
pub(crate) fn apart(one: &str, other: &str, most: usize) -> Option<usize> {
    if one.chars().count().abs_diff(other.chars().count()) > most {
        return None;
    }
    let slips = strsim::damerau_levenshtein(one, other);
    (slips <= most).then_some(slips)
}

/// A name without the words that people add, leave out and reorder.
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
