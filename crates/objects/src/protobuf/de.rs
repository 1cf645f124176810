//! Deserializes a protobuf message with serde.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::schema::{Field, Holds, Schema};
use super::wire::{Fields, InvalidMessage, WireValue};

/// Why a message could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It is not valid protobuf, or a field has another type than expected.
    #[error("broken protobuf in {0}")]
    Wire(&'static str),
    /// The target type expects something else.
    #[error("{0}")]
    Unwanted(String),
}

impl serde::de::Error for Broken {
    fn custom<T: std::fmt::Display>(message: T) -> Broken {
        Broken::Unwanted(message.to_string())
    }
}

/// One message; read it with `T::deserialize`, as its JSON.
#[derive(Debug, Clone, Copy)]
pub struct Message<'de> {
    schema: &'static Schema,
    bytes: &'de [u8],
}

impl<'de> Message<'de> {
    /// A message that takes all of `bytes`.
    pub fn new(schema: &'static Schema, bytes: &'de [u8]) -> Message<'de> {
        Message { schema, bytes }
    }
}

impl<'de> Deserializer<'de> for Message<'de> {
    type Error = Broken;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_map(Object { schema: self.schema, fields: Fields::new(self.bytes), field: None, after: None })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct enum identifier
    }
}

/// The known fields of a message, in order. A repeated field is returned again, which the target type
/// reports.
struct Object<'de> {
    schema: &'static Schema,
    fields: Fields<'de>,
    field: Option<Content<'de>>,
    /// The remaining fields after those of an inline message.
    after: Option<(&'static Schema, Fields<'de>)>,
}

/// The value of a field in the wire format.
#[derive(Clone, Copy)]
struct Content<'de> {
    /// The message that contains the field.
    within: &'static Schema,
    field: &'static Field,
    first: WireValue<'de>,
    /// From the second value on, for a field with several.
    more: Fields<'de>,
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Broken;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Broken> {
        let name = self.schema.name;
        let broken = |_: InvalidMessage| Broken::Wire(name);
        loop {
            let Some(next) = self.fields.next().map_err(broken)? else {
                let Some(outer) = self.after.take() else { return Ok(None) };
                (self.schema, self.fields) = outer;
                continue;
            };
            let Some(field) = self.schema.field(next.number) else { continue };
            if let Holds::Inline(schema) = field.holds {
                let WireValue::Bytes(bytes) = next.value else { return Err(Broken::Wire(self.schema.name)) };
                self.after = Some((self.schema, self.fields));
                (self.schema, self.fields) = (schema, Fields::new(bytes));
                continue;
            }
            if field.holds == Holds::Text && next.value == WireValue::Bytes(b"") {
                continue;
            }
            let more = self.fields;
            if matches!(field.holds, Holds::Many(_) | Holds::Texts | Holds::Map | Holds::Quantities) {
                while self.fields.next_of(next.number).map_err(broken)?.is_some() {}
            }
            self.field = Some(Content { within: self.schema, field, first: next.value, more });
            return seed.deserialize(BorrowedStrDeserializer::new(field.name)).map(Some);
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Broken> {
        match self.field.take() {
            Some(content) => seed.deserialize(content),
            None => Err(Broken::custom("a value before its key")),
        }
    }
}

impl<'de> Content<'de> {
    fn broken(&self) -> Broken {
        Broken::Wire(self.within.name)
    }

    fn number(&self) -> Result<u64, Broken> {
        match self.first {
            WireValue::Number(number) => Ok(number),
            WireValue::Bytes(_) => Err(self.broken()),
        }
    }

    fn bytes(&self) -> Result<&'de [u8], Broken> {
        match self.first {
            WireValue::Bytes(bytes) => Ok(bytes),
            WireValue::Number(_) => Err(self.broken()),
        }
    }

    /// An `IntOrString`: its type (1) selects between number (2) and text (3).
    fn number_or_text(&self) -> Result<Result<i64, Cow<'de, str>>, Broken> {
        let mut fields = Fields::new(self.bytes()?);
        let (mut is_text, mut number, mut said): (bool, i64, &[u8]) = (false, 0, b"");
        while let Some(field) = fields.next().map_err(|_| self.broken())? {
            match (field.number, field.value) {
                (1, WireValue::Number(kind)) => is_text = kind != 0,
                (2, WireValue::Number(value)) => number = value.cast_signed(),
                (3, WireValue::Bytes(bytes)) => said = bytes,
                _ => {}
            }
        }
        Ok(if is_text { Err(text(said)) } else { Ok(number) })
    }

    /// The time, in whole seconds as in JSON; `None` for the zero time.
    fn time(&self) -> Result<Option<String>, Broken> {
        let mut fields = Fields::new(self.bytes()?);
        let mut seconds = 0;
        while let Some(field) = fields.next().map_err(|_| self.broken())? {
            if let (1, WireValue::Number(number)) = (field.number, field.value) {
                seconds = number.cast_signed();
            }
        }
        if seconds == 0 {
            return Ok(None);
        }
        let time = Timestamp::from_second(seconds).map_err(|_| self.broken())?;
        Ok(Some(time.to_string()))
    }
}

impl<'de> Deserializer<'de> for Content<'de> {
    type Error = Broken;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        match self.field.holds {
            Holds::Text => match text(self.bytes()?) {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Holds::Number => visitor.visit_i64(self.number()?.cast_signed()),
            Holds::Bool => visitor.visit_bool(self.number()? != 0),
            Holds::Time => match self.time()? {
                Some(time) => visitor.visit_string(time),
                None => visitor.visit_unit(),
            },
            Holds::One(schema) => Message::new(schema, self.bytes()?).deserialize_any(visitor),
            Holds::Many(_) | Holds::Texts => visitor.visit_seq(Several(Some(self))),
            // Its fields were read as those of the containing message.
            Holds::Inline(_) => Err(self.broken()),
            Holds::NumberOrText => match self.number_or_text()? {
                Ok(number) => visitor.visit_i64(number),
                Err(text) => visitor.visit_string(text.into_owned()),
            },
            Holds::Map | Holds::Quantities => visitor.visit_map(Entries { next: Some(self), value: &[] }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        if self.field.holds == Holds::Time && self.time()?.is_none() {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Broken> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct enum identifier
    }
}

impl<'de> Content<'de> {
    /// The same field with its next value; `None` after the last.
    fn after(mut self) -> Result<Option<Content<'de>>, Broken> {
        match self.more.next_of(self.field.number).map_err(|_| self.broken())? {
            Some(value) => Ok(Some(Content { first: value, ..self })),
            None => Ok(None),
        }
    }
}

/// Several messages or texts: the field with its next value.
struct Several<'de>(Option<Content<'de>>);

impl<'de> SeqAccess<'de> for Several<'de> {
    type Error = Broken;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Broken> {
        let Some(content) = self.0.take() else { return Ok(None) };
        self.0 = content.after()?;
        let bytes = content.bytes()?;
        match content.field.holds {
            Holds::Many(schema) => seed.deserialize(Message::new(schema, bytes)),
            _ => seed.deserialize::<CowStrDeserializer<'_, Broken>>(text(bytes).into_deserializer()),
        }
        .map(Some)
    }
}

/// Texts by name.
struct Entries<'de> {
    next: Option<Content<'de>>,
    value: &'de [u8],
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Broken;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Broken> {
        let Some(content) = self.next.take() else { return Ok(None) };
        self.next = content.after()?;
        let mut fields = Fields::new(content.bytes()?);
        let mut key: &[u8] = &[];
        self.value = &[];
        while let Some(field) = fields.next().map_err(|_| content.broken())? {
            match (field.number, field.value) {
                (1, WireValue::Bytes(bytes)) => key = bytes,
                (2, WireValue::Bytes(bytes)) => self.value = bytes,
                _ => {}
            }
        }
        if content.field.holds == Holds::Quantities {
            let mut fields = Fields::new(std::mem::take(&mut self.value));
            while let Some(field) = fields.next().map_err(|_| content.broken())? {
                if let (1, WireValue::Bytes(bytes)) = (field.number, field.value) {
                    self.value = bytes;
                }
            }
        }
        seed.deserialize::<CowStrDeserializer<'_, Broken>>(text(key).into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Broken> {
        seed.deserialize::<CowStrDeserializer<'_, Broken>>(text(self.value).into_deserializer())
    }
}

/// Text as in JSON: invalid bytes become `U+FFFD`.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
