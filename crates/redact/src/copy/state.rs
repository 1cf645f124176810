//! Output of a copy, and known facts about the object: its keys, its owner, the current container.
//! [`super::CopiedValue`] decides what is written.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::super::component::Owner;

/// Objects with more keys in one place use the tree, which detects duplicate keys faster.
const MAX_KEYS: usize = 200;
/// Labels that identify the owner of a pod.
pub(super) const TELLING: [&str; 5] = [
    "linkerd.io/control-plane-ns",
    "linkerd.io/control-plane-component",
    "linkerd.io/cni-resource",
    "k8s-app",
    "linkerd.io/extension",
];

/// The output and known facts.
#[derive(Default)]
pub(super) struct Copy<'de> {
    pub(super) out: Vec<u8>,
    pub(super) touched: bool,
    /// Keys of all open objects, one after another.
    pub(super) keys: Vec<Cow<'de, str>>,
    /// Namespace of the object.
    pub(super) namespace: String,
    /// Facts from the current metadata.
    pub(super) marks: Marks,
    /// Number of container lists so far.
    pub(super) lists: usize,
    /// Name of the current container.
    pub(super) name: String,
    /// Image of the current container.
    pub(super) image: String,
    /// Name of the current variable.
    pub(super) variable: String,
    /// The previous word of a command.
    pub(super) before: String,
    pub(super) said: ObjectType,
}

/// Version and kind of the object.
#[derive(Default)]
pub(super) struct ObjectType {
    pub(super) version: bool,
    pub(super) kind: bool,
}

/// Facts in metadata that identify the owner of a pod.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) labels: Vec<(&'static str, String)>,
    /// An annotation key of the injector.
    pub(super) injected: bool,
    pub(super) namespace: Option<String>,
}

impl Marks {
    pub(super) fn key(&mut self, key: &str) {
        self.injected |= key.starts_with("linkerd.io/") || key.starts_with("config.linkerd.io/");
    }

    pub(super) fn owner(&self, namespace: &str) -> Owner {
        let label = |name: &str| self.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        // Any key with this prefix has the same effect.
        let key = self.injected.then_some("linkerd.io/");
        Owner::from_labels(label, key.into_iter(), namespace)
    }
}

/// Only a tree can decide.
pub(super) fn unfit<E: Error>() -> E {
    E::custom("out of order")
}

impl<'de> Copy<'de> {
    /// Records a key of the object whose first key is at `base`.
    pub(super) fn reject_duplicate<E: Error>(&mut self, base: usize, key: Cow<'de, str>) -> Result<(), E> {
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
            // It had no escapes in the input.
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

/// A key as in the text, if it has no escapes.
pub(super) struct PlainKey;

impl<'de> DeserializeSeed<'de> for PlainKey {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for PlainKey {
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
