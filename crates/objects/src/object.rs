//! Common behavior of slim types: a valid name, and redaction after decoding.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

use crate::names;

/// A slim object type.
pub trait Object: DeserializeOwned + Clone + Send + Sync + 'static {
    /// Rule for its name.
    const NAMES: names::NameRule = names::NameRule::Subdomain;

    /// Namespace and name, for sorting and for messages.
    fn key(&self) -> (&str, &str);

    /// The value of an annotation, of types whose metadata is kept.
    fn annotation(&self, _name: &str) -> Option<&str> {
        None
    }

    /// Reason why its names are invalid, if they are.
    fn refused(&self) -> Option<String> {
        let (namespace, name) = self.key();
        names::refused(Self::NAMES, namespace, name)
    }

    /// Redacts fields right after decoding.
    fn trim(&mut self) {}

    /// Shares equal parts with the previous object: lists are sorted, so replicas are adjacent.
    fn share(&mut self, _before: &Self) {}
}

/// Methods of `impl Object` for types with metadata and further methods.
#[macro_export]
#[doc(hidden)]
macro_rules! by_metadata {
    () => {
        fn key(&self) -> (&str, &str) {
            self.metadata.key()
        }

        fn annotation(&self, name: &str) -> Option<&str> {
            self.metadata.annotation(name)
        }
    };
}

/// Implements `Object` for a type with metadata, optionally with another name rule than a subdomain.
macro_rules! object {
    ($type:ty $(, $names:expr)?) => {
        impl $crate::Object for $type {
            $( const NAMES: $crate::names::NameRule = $names; )?
            $crate::by_metadata!();
        }
    };
}
pub(super) use object;

/// An object of a kind that no check reads: only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread;

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unread, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Unread)
    }
}

impl Object for Unread {
    fn key(&self) -> (&str, &str) {
        ("", "")
    }

    /// Its name is not used.
    fn refused(&self) -> Option<String> {
        None
    }
}
