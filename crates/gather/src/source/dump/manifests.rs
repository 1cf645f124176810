//! Filing of manifests, in contrast to dumps: they are not applied yet, so they may contain templates, placeholders,
//! encrypted objects, and objects that get their name at creation.

use serde_json::Value;

use super::aside::{self, Aside, Unfit};
use super::filing::Filing;
use super::read_header::{Peek, kind_of};
use super::waiting::FileLine;
use crate::item::Kind;

/// Replacement for the letters that the API server appends to `generateName`.
const GENERATED: &str = "xxxxx";

impl Filing<'_> {
    /// Whether an unparsable text is a template, which is set aside.
    pub(super) fn is_template(&mut self, text: Option<&[u8]>, line: FileLine) -> bool {
        if self.builder.places.is_none() {
            return false;
        }
        if !text.is_some_and(aside::is_template) {
            self.builder.of_kubernetes |= text.is_none_or(aside::is_manifest);
            return false;
        }
        let place = self.place_of(line);
        self.builder.set_aside(Aside::Template, &place);
        true
    }

    /// Reason why an object is not filed.
    pub(super) fn unfit(&self, peek: &Peek<'_>, json: &[u8]) -> Option<Unfit> {
        self.builder.places.as_ref()?;
        aside::unfit(json, kind_of(peek)?)
    }

    /// Whether a kustomization overrides the namespace of an object.
    pub(super) fn is_moved(&self, peek: &Peek<'_>) -> bool {
        let Some((into, kind)) = self.builder.moved.as_deref().zip(kind_of(peek)) else { return false };
        match kind {
            Kind::Namespace => !peek.is_nameless() && peek.name() != into,
            kind => kind.info().namespaced && peek.namespace() != into,
        }
    }

    /// The object with the kustomization's namespace; for a Namespace, with its name.
    pub(super) fn moved(&mut self, peek: &Peek<'_>, json: &[u8]) -> Option<(Vec<u8>, u64)> {
        let into = self.builder.moved.clone()?;
        let mut object: Value = serde_json::from_slice(json).ok()?;
        let field = if kind_of(peek)? == Kind::Namespace { "name" } else { "namespace" };
        object.get_mut("metadata")?.as_object_mut()?.insert(field.to_owned(), Value::String(into));
        self.convert(&object)
    }

    /// An object with `generateName` and a placeholder name.
    pub(super) fn generated(&mut self, peek: &Peek<'_>, json: &[u8]) -> Option<(Vec<u8>, u64)> {
        self.builder.places.as_ref()?;
        kind_of(peek)?;
        let mut object: Value = serde_json::from_slice(json).ok()?;
        let begins = object.pointer("/metadata/generateName")?.as_str().filter(|name| !name.is_empty())?;
        object["metadata"]["name"] = Value::String(format!("{begins}{GENERATED}"));
        self.convert(&object)
    }
}
