//! A request to a source.

use std::fmt;

use crate::item::Item;

/// An [`Item`] with its namespace filled in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// The requested item.
    pub item: Item,
    /// Namespace of a named, namespaced object, or of an access review.
    pub namespace: Option<String>,
}

impl Request {
    /// A list or another item without a namespace.
    pub fn new(item: Item) -> Request {
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
            (item, namespace) => match item.query().filter(|asked| asked.is_one_of_many()) {
                Some(asked) => f.write_str(&asked.describe(namespace.as_deref())),
                None => write!(f, "{item}"),
            },
        }
    }
}
