//! What a source is really asked: the word that everybody uses for one question with its place.

use std::fmt;

use crate::item::Item;

/// An [`Item`] with its namespace filled in: what a source is really asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// What is asked for.
    pub item: Item,
    /// The namespace of a named, namespaced object, or the one that access is asked for.
    pub namespace: Option<String>,
}

impl Request {
    /// A list or another item that needs no namespace.
    pub fn of(item: Item) -> Request {
        Request { item, namespace: None }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.item, &self.namespace) {
            (Item::Named { kind, name, .. }, Some(namespace)) => {
                write!(f, "{} {namespace}/{name}", kind.resource())
            }
            (Item::Named { kind, name, .. }, None) => write!(f, "{} {name}", kind.resource()),
            (item, namespace) => match item.asked().filter(|asked| asked.is_one_of_many()) {
                Some(asked) => f.write_str(&asked.in_words(namespace.as_deref())),
                None => write!(f, "{item}"),
            },
        }
    }
}
