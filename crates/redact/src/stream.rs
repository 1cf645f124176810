//! Decodes directly into slim types with redaction: each text passes the table ([`super::allow`]) between decoder and
//! type. A run that saves nothing therefore reads the same texts as a bundle contains, without building trees.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Visitor};

use super::allow::Rule;
use super::object::leaf;

/// A decoder with redaction.
pub struct Clean<D> {
    inner: D,
    rule: &'static Rule,
}

impl<D> Clean<D> {
    /// Decodes from `inner` by a rule.
    #[inline]
    pub fn new(inner: D, rule: &'static Rule) -> Clean<D> {
        Clean { inner, rule }
    }
}

#[inline]
fn sanitized<'a>(rule: &'static Rule, text: &'a str) -> Cow<'a, str> {
    match rule {
        // Most are dropped unread; the type that keeps one redacts it.
        Rule::Env | Rule::Clean => Cow::Borrowed(text),
        _ => leaf(rule, text),
    }
}

macro_rules! forward {
    ($( $method:ident ),*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(Through { visitor, rule: self.rule })
        }
    )* };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Clean<D> {
    type Error = D::Error;

    forward! {
        deserialize_any, deserialize_bool, deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64,
        deserialize_i128, deserialize_u8, deserialize_u16, deserialize_u32, deserialize_u64, deserialize_u128,
        deserialize_f32, deserialize_f64, deserialize_char, deserialize_str, deserialize_string, deserialize_bytes,
        deserialize_byte_buf, deserialize_option, deserialize_unit, deserialize_seq, deserialize_map,
        deserialize_identifier
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, Through { visitor, rule: self.rule })
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_newtype_struct(name, Through { visitor, rule: self.rule })
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_tuple(len, Through { visitor, rule: self.rule })
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_tuple_struct(name, len, Through { visitor, rule: self.rule })
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_struct(name, fields, Through { visitor, rule: self.rule })
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(name, variants, Through { visitor, rule: self.rule })
    }

    /// Ignored values need no redaction.
    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Passes redacted values to a visitor.
struct Through<V> {
    visitor: V,
    rule: &'static Rule,
}

macro_rules! pass {
    ($( $method:ident: $of:ty ),*) => { $(
        fn $method<E: serde::de::Error>(self, value: $of) -> Result<V::Value, E> {
            self.visitor.$method(value)
        }
    )* };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Through<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.visitor.expecting(f)
    }

    pass! {
        visit_bool: bool, visit_i8: i8, visit_i16: i16, visit_i32: i32, visit_i64: i64, visit_i128: i128,
        visit_u8: u8, visit_u16: u16, visit_u32: u32, visit_u64: u64, visit_u128: u128, visit_f32: f32,
        visit_f64: f64, visit_char: char
    }

    #[inline]
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<V::Value, E> {
        match sanitized(self.rule, text) {
            Cow::Borrowed(text) => self.visitor.visit_str(text),
            Cow::Owned(text) => self.visitor.visit_string(text),
        }
    }

    #[inline]
    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<V::Value, E> {
        match sanitized(self.rule, text) {
            Cow::Borrowed(text) => self.visitor.visit_borrowed_str(text),
            Cow::Owned(text) => self.visitor.visit_string(text),
        }
    }

    #[inline]
    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<V::Value, E> {
        let clean = match sanitized(self.rule, &text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        self.visitor.visit_string(clean.unwrap_or(text))
    }

    #[inline]
    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    #[inline]
    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Clean { inner, rule: self.rule })
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Clean { inner, rule: self.rule })
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Items { inner, rule: self.rule })
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Entries { inner, rule: self.rule, next: self.rule })
    }

    /// Variants of an enumeration are constants.
    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(inner)
    }
}

/// A list uses the rule of its field.
struct Items<A> {
    inner: A,
    rule: &'static Rule,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_element_seed(Seed { seed, rule: self.rule })
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

struct Entries<A> {
    inner: A,
    rule: &'static Rule,
    next: &'static Rule,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Entries<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(KeySeed { seed, rule: self.rule, next: &mut self.next })
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Seed { seed, rule: self.next })
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

struct Seed<S> {
    seed: S,
    rule: &'static Rule,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Clean { inner, rule: self.rule })
    }
}

/// Reads a key, and sets the rule for its value.
struct KeySeed<'a, T> {
    seed: T,
    rule: &'static Rule,
    next: &'a mut &'static Rule,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(KeyOf { inner, rule: self.rule, next: self.next })
    }
}

struct KeyOf<'a, D> {
    inner: D,
    rule: &'static Rule,
    next: &'a mut &'static Rule,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for KeyOf<'_, D> {
    type Error = D::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_str(KeySeed { seed: visitor, rule: self.rule, next: self.next })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for KeySeed<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.seed.expecting(f)
    }

    #[inline]
    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<V::Value, E> {
        *self.next = self.rule.child(key);
        match self.rule.key(key) {
            Cow::Borrowed(key) => self.seed.visit_str(key),
            Cow::Owned(key) => self.seed.visit_string(key),
        }
    }

    #[inline]
    fn visit_borrowed_str<E: serde::de::Error>(self, key: &'de str) -> Result<V::Value, E> {
        *self.next = self.rule.child(key);
        match self.rule.key(key) {
            Cow::Borrowed(key) => self.seed.visit_borrowed_str(key),
            Cow::Owned(key) => self.seed.visit_string(key),
        }
    }
}
