//! What somebody may have meant by a word that is none.

/// The candidate most like a word, if any is like it at all; of two that are, the first by the alphabet.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.cmp(x)))
        .map(|(_, name)| name.to_owned())
}
