//! What is written of a copy and what is known so far of the object: its keys, whose it says it is, the container that is being
//! read. It writes what it is told; what passes is for [`super::Part`] to say.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::super::component::Owner;

/// An object with more keys in one place is for the tree, which finds a key that stands there twice faster.
const MAX_KEYS: usize = 200;
/// What of labels tells whose a pod is.
pub(super) const TELLING: [&str; 5] = [
    "linkerd.io/control-plane-ns",
    "linkerd.io/control-plane-component",
    "linkerd.io/cni-resource",
    "k8s-app",
    "linkerd.io/extension",
];

/// The copy, and what is known so far.
#[derive(Default)]
pub(super) struct Copy<'de> {
    pub(super) out: Vec<u8>,
    pub(super) touched: bool,
    /// The keys of all objects that are open, one after the other.
    pub(super) keys: Vec<Cow<'de, str>>,
    /// Where the object lives.
    pub(super) namespace: String,
    /// What the metadata that is being read says.
    pub(super) marks: Marks,
    /// How many lists of containers have passed.
    pub(super) lists: usize,
    /// The name of the container that is being read.
    pub(super) name: String,
    /// The name of the variable that is being read.
    pub(super) variable: String,
    /// The word of a command before this one.
    pub(super) before: String,
    pub(super) said: Said,
}

/// What the object says of itself.
#[derive(Default)]
pub(super) struct Said {
    pub(super) version: bool,
    pub(super) kind: bool,
}

/// What metadata says of whose a pod is.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) labels: Vec<(&'static str, String)>,
    /// A key that the injector leaves.
    pub(super) injected: bool,
    pub(super) namespace: Option<String>,
}

impl Marks {
    pub(super) fn key(&mut self, key: &str) {
        self.injected |= key.starts_with("linkerd.io/") || key.starts_with("config.linkerd.io/");
    }

    pub(super) fn owner(&self, namespace: &str) -> Owner {
        let label = |name: &str| {
            self.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
        };
        // Any key that begins so is as good as another.
        let key = self.injected.then_some("linkerd.io/");
        Owner::of(label, key.into_iter(), namespace)
    }
}

/// Only a tree tells.
pub(super) fn unfit<E: Error>() -> E {
    E::custom("out of order")
}

impl<'de> Copy<'de> {
    /// Notes a key of the object whose first key is at `base`.
    pub(super) fn once<E: Error>(&mut self, base: usize, key: Cow<'de, str>) -> Result<(), E> {
        let before = &self.keys[base..];
        if before.len() >= MAX_KEYS || before.contains(&key) {
            return Err(unfit());
        }
        self.keys.push(key);
        Ok(())
    }

    pub(super) fn begin<E: Error>(&mut self, first: &mut bool, key: Cow<'de, str>) -> Result<(), E> {
        if !std::mem::take(first) {
            self.out.push(b',');
        }
        match key {
            // It stood there without an escape.
            Cow::Borrowed(key) => self.plain(key),
            Cow::Owned(key) => self.escaped(&key)?,
        }
        self.out.push(b':');
        Ok(())
    }

    pub(super) fn plain(&mut self, text: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    pub(super) fn escaped<E: Error>(&mut self, text: &str) -> Result<(), E> {
        serde_json::to_writer(&mut self.out, text).map_err(E::custom)
    }

    pub(super) fn number<E: Error>(&mut self, number: impl serde::Serialize) -> Result<(), E> {
        serde_json::to_writer(&mut self.out, &number).map_err(E::custom)
    }
}

/// A key, as it stands in the text where nothing in it is escaped.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}
