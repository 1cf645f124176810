//! Words that many findings use.

use std::fmt::Display;

use crate::objects::Meta;

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

/// The name of a pod's Deployment or other owner, or of the pod, with its namespace. Read from the pod alone.
pub(super) fn workload_of(meta: &Meta) -> String {
    let owner = meta.owner_references.iter().find(|owner| owner.controller == Some(true));
    let name = owner.map_or(meta.name.as_str(), |owner| owner.name.as_str());
    let hash = meta.label("pod-template-hash").map(|hash| format!("-{hash}"));
    let name = hash.and_then(|hash| name.strip_suffix(&hash)).unwrap_or(name);
    format!("{}/{name}", meta.namespace)
}
