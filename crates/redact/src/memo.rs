//! Caches results for texts: thousands of pods have the same texts, apart from names, addresses and times.

use std::borrow::Cow;
use std::cell::RefCell;

/// Longer texts are not cached.
const LONGEST: usize = 16 << 10;

/// Results by text. Of texts with the same slot, the latest stays.
pub(super) struct Memo<V>(RefCell<Vec<(String, V)>>);

impl<V: Default> Memo<V> {
    /// A cache for this number of texts.
    pub(super) fn with_slots(slots: usize) -> Memo<V> {
        Memo(RefCell::new(std::iter::repeat_with(Default::default).take(slots).collect()))
    }

    #[inline]
    pub(super) fn get(&self, text: &str) -> Option<V>
    where
        V: Copy,
    {
        self.find(text, |answer| Some(*answer))
    }

    /// The cached result, or that of `look`.
    pub(super) fn known(&self, text: &str, look: impl FnOnce(&str) -> V) -> V
    where
        V: Copy,
    {
        self.get(text).unwrap_or_else(|| {
            let answer = look(text);
            self.put(text, answer);
            answer
        })
    }

    /// A value derived from the result, if there is one.
    #[inline]
    pub(super) fn find<R>(&self, text: &str, made: impl FnOnce(&V) -> Option<R>) -> Option<R> {
        let known = self.0.borrow();
        let (of, answer) = &known[slot(text, known.len())];
        if !text.is_empty() && of == text { made(answer) } else { None }
    }

    pub(super) fn put(&self, text: &str, answer: V) {
        if text.len() <= LONGEST {
            let mut known = self.0.borrow_mut();
            let slots = known.len();
            let (of, kept) = &mut known[slot(text, slots)];
            text.clone_into(of);
            *kept = answer;
        }
    }
}

impl Memo<()> {
    /// The redacted text, from a function that borrows a text which it keeps unchanged. Only such texts are cached.
    #[inline]
    pub(super) fn unchanged<'a>(&self, text: &'a str, redact: impl FnOnce(&'a str) -> Cow<'a, str>) -> Cow<'a, str> {
        if self.get(text).is_some() {
            return Cow::Borrowed(text);
        }
        let redacted = redact(text);
        if matches!(redacted, Cow::Borrowed(_)) {
            self.put(text, ());
        }
        redacted
    }
}

/// Hashes eight bytes at a time, because it runs for nearly every text. Collisions only cost time.
#[inline]
fn slot(text: &str, slots: usize) -> usize {
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    usize::try_from((mix(hash, last) >> 32) % slots as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memo_requires_the_exact_text() {
        let memo = Memo::with_slots(2);
        for (text, answer) in [("a", 1), ("b", 2), ("linkerd-proxy", 3), ("linkerd-proxx", 4)] {
            assert_eq!(memo.get(text), None, "{text}");
            memo.put(text, answer);
            assert_eq!(memo.get(text), Some(answer));
        }
        assert_eq!(memo.get(""), None);
        let long = "x".repeat(LONGEST + 1);
        memo.put(&long, 5);
        assert_eq!(memo.get(&long), None);
    }
}
