//! What every slim type of an object does: it has a name, which Kubernetes has to accept, and drops what may not stay.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

use crate::names;

/// A slim object type.
pub trait Object: DeserializeOwned + Clone + Send + Sync + 'static {
    /// What Kubernetes asks of its name.
    const NAMES: names::Rule = names::Rule::Subdomain;

    /// Namespace and name, for sorting and for messages.
    fn key(&self) -> (&str, &str);

    /// The value of an annotation, of types whose metadata is kept.
    fn annotation(&self, _name: &str) -> Option<&str> {
        None
    }

    /// Why Kubernetes would not accept the names in it, if it would not.
    fn refused(&self) -> Option<String> {
        let (namespace, name) = self.key();
        names::refused(Self::NAMES, namespace, name)
    }

    /// Drops what may not stay, right after decoding.
    fn trim(&mut self) {}

    /// Takes over what it has in common with the object that came before it: lists are sorted, so replicas are neighbours.
    fn share(&mut self, _before: &Self) {}
}

/// The name of an object, in its `impl Object`, where there is more to say: as its metadata has it.
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
pub(crate) use by_metadata;

/// Makes a type an object with the name that its metadata has, and where it is not a subdomain, what Kubernetes asks of that.
macro_rules! object {
    ($type:ty $(, $names:expr)?) => {
        impl $crate::objects::Object for $type {
            $( const NAMES: $crate::names::Rule = $names; )?
            $crate::objects::by_metadata!();
        }
    };
}
pub(super) use object;

/// An object of a kind that nothing reads yet: it is counted, and nothing of it is kept.
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

    /// Nobody reads its name.
    fn refused(&self) -> Option<String> {
        None
    }
}
