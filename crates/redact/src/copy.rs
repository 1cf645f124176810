//! Redacts an object from JSON to JSON in one pass without a tree, by the rules of [`super::object`], if its fields are
//! in the order of an API server. In another order (for example, if the owner is known only after the containers), a
//! tree is built. `state` writes the output and tracks known facts; `again` caches results.

mod memo;
mod state;

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::allow::Rule;
use super::component::{Owner, argument, setting};
use super::object::{holds_a_copy, leaf, masked};
use super::{controller_setting, keys};
use state::{Copy, PlainKey, TELLING, unfit};

/// Most objects are smaller; larger copies grow on demand.
const LIKELY: usize = 32 << 10;

/// The redacted object as JSON, and whether anything was replaced or dropped. `alone`: version and kind for objects
/// without them. `None` if a tree is needed, or it is not JSON.
pub(super) fn copied(
    kind: &str,
    rule: &'static Rule,
    json: &str,
    alone: Option<(&str, &str)>,
) -> Option<(Vec<u8>, bool)> {
    let (copy, length) = first_copied(kind, rule, json, alone)?;
    json[length..].bytes().all(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')).then_some(copy)
}

/// The same for the object at the start of `text`, with its length. Also `None` if it is incomplete.
pub(super) fn first_copied(
    kind: &str,
    rule: &'static Rule,
    text: &str,
    alone: Option<(&str, &str)>,
) -> Option<((Vec<u8>, bool), usize)> {
    if matches!(kind, "Secret" | "ConfigMap" | "HTTPRoute" | "GRPCRoute") {
        return None;
    }
    let mut copy = Copy { out: Vec::with_capacity(text.len().min(LIKELY) / 2), ..Copy::default() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let root = CopiedValue { copy: &mut copy, rule, key: "", place: Place::Root, owner: Owner::Other, within: true };
    root.deserialize(&mut deserializer).ok()?;
    let length = deserializer.into_iter::<IgnoredAny>().byte_offset();
    let Copy { mut out, touched, said, .. } = copy;
    if out.first() != Some(&b'{') {
        return None;
    }
    if let Some((version, kind)) = alone {
        for (field, text, there) in [("apiVersion", version, said.version), ("kind", kind, said.kind)] {
            if !there {
                out.pop()?;
                let comma = if out.len() > 1 { "," } else { "" };
                out.extend_from_slice(format!("{comma}\"{field}\":\"{text}\"}}").as_bytes());
            }
        }
    }
    Some(((out, touched), length))
}

/// Position of a value, as far as relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Kind,
    /// Of a field of metadata, or of any other.
    Field,
    Metadata,
    Namespace,
    Labels,
    Label,
    Annotations,
    /// A list of containers, one of them, its name, its image.
    Containers,
    Container,
    Name,
    Image,
    /// A command or its arguments, and a word of that.
    Words(bool),
    Word(bool),
    /// An environment, one of its variables, the variable's name, its value.
    Env(bool),
    Variable(bool),
    VariableName,
    Setting(bool),
}

/// Type of a value, to detect commands and environments of unexpected types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
    List,
    Map,
}

impl Place {
    /// Whether a value of this type is unexpected here.
    fn is_malformed(self, shape: Shape) -> bool {
        match self {
            Place::Words(_) | Place::Env(_) => shape != Shape::List,
            Place::Word(_) | Place::Setting(_) => shape != Shape::Text,
            Place::Variable(_) => shape != Shape::Map,
            _ => false,
        }
    }

    /// The place of a field's value in a map at this place. `keeps`: whether the container's texts are kept;
    /// `within`: see [`CopiedValue`].
    fn of_field(self, key: &str, keeps: bool, within: bool) -> Place {
        match (self, key) {
            (Place::Container, "name") => Place::Name,
            (Place::Container, "image") => Place::Image,
            (Place::Variable(_), "name") => Place::VariableName,
            (Place::Container, "command" | "args") => Place::Words(keeps),
            (Place::Container, "env") => Place::Env(keeps),
            (Place::Variable(keeps), "value") => Place::Setting(keeps),
            (Place::Root, "kind") => Place::Kind,
            (Place::Metadata, "namespace") => Place::Namespace,
            (Place::Metadata, "labels") => Place::Labels,
            (Place::Metadata, "annotations") => Place::Annotations,
            (Place::Labels, _) => Place::Label,
            (Place::Root, "apiVersion") => Place::Field,
            (_, "metadata") => Place::Metadata,
            (_, "containers" | "initContainers" | "ephemeralContainers") if within => Place::Containers,
            _ => Place::Field,
        }
    }

    /// Whether a field of a map at this place is dropped.
    fn drops(self, key: &str) -> bool {
        match self {
            Place::Metadata => key == "managedFields",
            Place::Annotations => holds_a_copy(key),
            _ => false,
        }
    }
}

/// One value.
struct CopiedValue<'a, 'k, 'de> {
    copy: &'a mut Copy<'de>,
    rule: &'static Rule,
    key: &'k str,
    place: Place,
    /// Owner of the containers in it, as far as known.
    owner: Owner,
    /// Whether lists of containers in it are real ones: not inside a container.
    within: bool,
}

impl Copy<'_> {
    /// Begins a map at a place.
    fn enter<E: Error>(&mut self, place: Place) -> Result<(), E> {
        match place {
            Place::Containers | Place::Label => return Err(unfit()),
            Place::Container => {
                self.name.clear();
                self.image.clear();
            }
            Place::Variable(_) => self.variable.clear(),
            _ => {}
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for CopiedValue<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> CopiedValue<'_, '_, 'de> {
    /// A text; `plain`: without escapes in the input.
    fn text<E: Error>(self, content: &str, plain: bool) -> Result<(), E> {
        if self.place.is_malformed(Shape::Text) {
            return Err(unfit());
        }
        let copy = self.copy;
        match self.place {
            Place::Kind if content == "Secret" => return Err(unfit()),
            Place::Namespace => copy.marks.namespace = Some(content.to_owned()),
            Place::Label => {
                if let Some(known) = TELLING.into_iter().find(|known| *known == self.key) {
                    copy.marks.labels.push((known, content.to_owned()));
                }
            }
            Place::Name => content.clone_into(&mut copy.name),
            Place::Image => content.clone_into(&mut copy.image),
            Place::VariableName => content.clone_into(&mut copy.variable),
            _ => {}
        }
        let known = match self.place {
            Place::Word(keeps) => {
                let clean = argument(&copy.before, content, keeps);
                content.clone_into(&mut copy.before);
                clean
            }
            Place::Setting(true) => setting(&copy.variable, content),
            Place::Setting(false) if controller_setting::is_variable(&copy.variable, content) => Cow::Borrowed(content),
            Place::Setting(false) => masked(content),
            _ => Cow::Borrowed(content),
        };
        let changed = match leaf(self.rule, &known) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => match known {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            },
        };
        match changed {
            Some(clean) => {
                copy.touched = true;
                copy.escaped(&clean)
            }
            None if plain => {
                copy.plain(content);
                Ok(())
            }
            None => copy.escaped(content),
        }
    }

    /// A part of a container; the result depends only on its text, rule and position.
    fn raw(self, raw: &'de RawValue) -> serde_json::Result<()> {
        let CopiedValue { copy, rule, key, place, owner, .. } = self;
        let raw = raw.get();
        if let Some(touched) = memo::copied(raw, rule, place, &mut copy.out) {
            copy.touched |= touched;
            return Ok(());
        }
        let (begun, touched) = (copy.out.len(), std::mem::take(&mut copy.touched));
        let part = CopiedValue { copy: &mut *copy, rule, key, place, owner, within: false };
        part.deserialize(&mut serde_json::Deserializer::from_str(raw))?;
        memo::keep(raw, rule, place, &copy.out[begun..], copy.touched);
        copy.touched |= touched;
        Ok(())
    }

    /// Whether a number is replaced: one in an unknown field with a sensitive name.
    fn is_secret(&self) -> bool {
        matches!(self.rule, Rule::Other) && keys::is_secret(self.key)
    }

    fn zero(self) {
        self.copy.touched = true;
        self.copy.out.push(b'0');
    }
}

impl<'de> Visitor<'de> for CopiedValue<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.copy.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        if self.place.is_malformed(Shape::Number) {
            return Err(unfit());
        }
        if value != 0 && self.is_secret() {
            self.zero();
            return Ok(());
        }
        self.copy.number(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        if self.place.is_malformed(Shape::Number) {
            return Err(unfit());
        }
        if value != 0 && self.is_secret() {
            self.zero();
            return Ok(());
        }
        self.copy.number(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if self.place.is_malformed(Shape::Number) {
            return Err(unfit());
        }
        if self.is_secret() {
            self.zero();
            return Ok(());
        }
        self.copy.number(value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.copy.out.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, content: &'de str) -> Result<(), E> {
        self.text(content, true)
    }

    fn visit_str<E: Error>(self, content: &str) -> Result<(), E> {
        self.text(content, false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let CopiedValue { copy, rule, key, place, owner, mut within } = self;
        if place.is_malformed(Shape::List) {
            return Err(unfit());
        }
        let place = match place {
            Place::Root | Place::Label => return Err(unfit()),
            Place::Containers => {
                copy.lists += 1;
                within = false;
                Place::Container
            }
            Place::Words(keeps) => {
                copy.before.clear();
                Place::Word(keeps)
            }
            Place::Env(keeps) => Place::Variable(keeps),
            _ => Place::Field,
        };
        copy.out.push(b'[');
        let mut first = true;
        loop {
            let end = copy.out.len();
            if !first {
                copy.out.push(b',');
            }
            let item = CopiedValue { copy: &mut *copy, rule, key, place, owner, within };
            if items.next_element_seed(item)?.is_none() {
                copy.out.truncate(end);
                break;
            }
            first = false;
        }
        copy.out.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let CopiedValue { copy, rule, place, mut owner, within, .. } = self;
        if place.is_malformed(Shape::Map) {
            return Err(unfit());
        }
        copy.enter(place)?;
        let base = copy.keys.len();
        let lists = copy.lists;
        let mut first = true;
        let (mut named, mut pictured) = (false, false);
        let mut late: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        copy.out.push(b'{');
        while let Some(key) = fields.next_key_seed(PlainKey)? {
            copy.reject_duplicate(base, key.clone())?;
            match place {
                Place::Annotations | Place::Labels => copy.marks.key(&key),
                _ => {}
            }
            if place.drops(&key) {
                fields.next_value::<IgnoredAny>()?;
                copy.touched = true;
                continue;
            }
            if matches!(rule.key(&key), Cow::Owned(_)) {
                return Err(unfit());
            }
            let keeps = place == Place::Container && owner.keeps(&copy.name, &copy.image);
            let ready = named && (place != Place::Container || pictured);
            match (place, &*key) {
                (Place::Container, "command" | "args" | "env") if !ready => {
                    late.push((key, fields.next_value::<&'de RawValue>()?));
                    continue;
                }
                (Place::Variable(_), "value") if !named => return Err(unfit()),
                (Place::Root, "apiVersion") => copy.said.version = true,
                (Place::Root, "kind") => copy.said.kind = true,
                _ => {}
            }
            let inner = place.of_field(&key, keeps, within);
            copy.begin(&mut first, key.clone())?;
            let outer = (inner == Place::Metadata).then(|| std::mem::take(&mut copy.marks));
            let (rule, key) = (rule.child(&key), &*key);
            let value = CopiedValue { copy: &mut *copy, rule, key, place: inner, owner, within };
            if place == Place::Container && !matches!(inner, Place::Name | Place::Image) {
                value.raw(fields.next_value::<&'de RawValue>()?).map_err(A::Error::custom)?;
                continue;
            }
            fields.next_value_seed(value)?;
            match inner {
                Place::Name | Place::VariableName => named = true,
                Place::Image => pictured = true,
                Place::Metadata => {
                    // Containers preceded the fields that identify their owner.
                    if copy.lists != lists {
                        return Err(unfit());
                    }
                    let marks = std::mem::replace(&mut copy.marks, outer.unwrap_or_default());
                    if place == Place::Root {
                        copy.namespace = marks.namespace.clone().unwrap_or_default();
                    }
                    if within {
                        owner = owner.max(marks.owner(&copy.namespace));
                    }
                }
                _ => {}
            }
        }
        let keeps = owner.keeps(&copy.name, &copy.image);
        for (key, raw) in late {
            copy.begin(&mut first, key.clone())?;
            let inner = if key == "env" { Place::Env(keeps) } else { Place::Words(keeps) };
            let (rule, key) = (rule.child(&key), &*key);
            let value = CopiedValue { copy: &mut *copy, rule, key, place: inner, owner, within };
            value.raw(raw).map_err(A::Error::custom)?;
        }
        copy.keys.truncate(base);
        copy.out.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests;
