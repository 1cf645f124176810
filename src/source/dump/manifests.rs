//! What filing knows of manifests that it need not know of dumps: nobody applied them yet, so that templates, placeholders and
//! encrypted objects stand among them, and objects that are named only once they are created.

use serde_json::Value;

use super::aside::{self, Aside, Unfit};
use super::filing::Filing;
use super::peek::{Peek, kind_of};
use super::waiting::Line;
use crate::item::Kind;

/// What stands for the letters that the API server puts behind `generateName`.
const GENERATED: &str = "xxxxx";

impl Filing<'_> {
    /// Whether a text that could not be read is a template, which is set aside then.
    pub(super) fn is_template(&mut self, text: Option<&[u8]>, line: Line) -> bool {
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

    /// What keeps an object from being filed.
    pub(super) fn unfit(&self, peek: &Peek<'_>, json: &[u8]) -> Option<Unfit> {
        self.builder.places.as_ref()?;
        aside::unfit(json, kind_of(peek)?)
    }

    /// Whether a kustomization has an object be of another namespace than it says.
    pub(super) fn is_moved(&self, peek: &Peek<'_>) -> bool {
        let Some((into, kind)) = self.builder.moved.as_deref().zip(kind_of(peek)) else { return false };
        match kind {
            Kind::Namespace => !peek.is_nameless() && peek.name() != into,
            kind => kind.info().namespaced && peek.namespace() != into,
        }
    }

    /// The object as the kustomization has it: with the namespace, or of a namespace the name.
    pub(super) fn moved(&mut self, peek: &Peek<'_>, json: &[u8]) -> Option<(Vec<u8>, u64)> {
        let into = self.builder.moved.clone()?;
        let mut object: Value = serde_json::from_slice(json).ok()?;
        let field = if kind_of(peek)? == Kind::Namespace { "name" } else { "namespace" };
        object.get_mut("metadata")?.as_object_mut()?.insert(field.to_owned(), Value::String(into));
        self.convert(&object)
    }

    /// An object without a name that asks for one, with a name like the one that it gets when it is created.
    pub(super) fn generated(&mut self, peek: &Peek<'_>, json: &[u8]) -> Option<(Vec<u8>, u64)> {
        self.builder.places.as_ref()?;
        kind_of(peek)?;
        let mut object: Value = serde_json::from_slice(json).ok()?;
        let begins = object.pointer("/metadata/generateName")?.as_str().filter(|name| !name.is_empty())?;
        object["metadata"]["name"] = Value::String(format!("{begins}{GENERATED}"));
        self.convert(&object)
    }
}
