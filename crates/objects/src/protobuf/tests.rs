//! Objects from protobuf equal those from JSON, and no type requests a field without a number.

use std::cell::RefCell;

use proptest::prelude::*;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value, json};

use super::schema::{Field, Holds, Schema};
use super::*;
use crate::Kind;
use crate::{Job, Pod, Workload};

/// A sample value for a field that its type preserves.
fn sample(field: &Field) -> Value {
    match field.holds {
        Holds::Text => match field.name {
            "podIP" => json!("10.1.2.3"),
            "value" => json!("a value"),
            _ => json!("DEST_CNI_NET_DIR"),
        },
        Holds::Number => json!(field.number),
        Holds::Bool => json!(true),
        Holds::Time => json!(format!("2026-01-01T00:00:{:02}Z", field.number)),
        Holds::One(schema) => full(schema),
        Holds::Many(schema) => json!([full(schema), {}, full(schema)]),
        Holds::Texts => json!(["one", "", "two"]),
        Holds::Map => json!({ "linkerd.io/a": "1", "linkerd.io/b": "", "c": "3" }),
        Holds::Quantities => json!({ "cpu": "100m", "memory": "20Mi", "pods": "" }),
        Holds::NumberOrText => json!("http"),
        Holds::Inline(_) => Value::Null,
    }
}

/// The fields of the JSON form, including those of inline messages.
fn flat(schema: &'static Schema) -> Vec<&'static Field> {
    let each = |field: &'static Field| match field.holds {
        Holds::Inline(inner) => flat(inner),
        _ => vec![field],
    };
    schema.fields.iter().flat_map(each).collect()
}

/// An object with every known field.
fn full(schema: &'static Schema) -> Value {
    flat(schema).into_iter().map(|field| (field.name.to_owned(), sample(field))).collect()
}

fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn number(field: u64, value: u64, to: &mut Vec<u8>) {
    varint(field << 3, to);
    varint(value, to);
}

/// Writes a field with bytes in the wire format.
pub fn bytes(field: u64, value: &[u8], to: &mut Vec<u8>) {
    varint(field << 3 | 2, to);
    varint(value.len() as u64, to);
    to.extend_from_slice(value);
}

/// Encodes an object like an API server: also empty texts and times, and unknown fields.
fn encoded(schema: &Schema, object: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    number(1000, u64::MAX, &mut out);
    bytes(1001, b"\xff\xff", &mut out);
    varint(1002 << 3 | 1, &mut out);
    out.extend([7; 8]);
    for Field { number: at, name, holds } in schema.fields {
        let text = |value: &Value| value.as_str().unwrap_or_default().as_bytes().to_vec();
        let value = &object[*name];
        match holds {
            Holds::Text => bytes(*at, &text(value), &mut out),
            Holds::Time => {
                let mut time = Vec::new();
                if let Some(text) = value.as_str() {
                    number(1, text.parse::<jiff::Timestamp>().unwrap().as_second().cast_unsigned(), &mut time);
                    number(2, 5, &mut time);
                }
                bytes(*at, &time, &mut out);
            }
            Holds::Inline(inner) => bytes(*at, &encoded(inner, object), &mut out),
            _ if value.is_null() => {}
            Holds::NumberOrText => {
                let mut either = Vec::new();
                number(1, u64::from(value.is_string()), &mut either);
                number(2, value.as_i64().unwrap_or_default().cast_unsigned(), &mut either);
                bytes(3, &text(value), &mut either);
                bytes(*at, &either, &mut out);
            }
            Holds::Number => number(*at, value.as_i64().unwrap().cast_unsigned(), &mut out),
            Holds::Bool => number(*at, u64::from(value.as_bool().unwrap()), &mut out),
            Holds::One(schema) => bytes(*at, &encoded(schema, value), &mut out),
            Holds::Many(schema) => {
                value.as_array().unwrap().iter().for_each(|v| bytes(*at, &encoded(schema, v), &mut out));
            }
            Holds::Texts => value.as_array().unwrap().iter().for_each(|v| bytes(*at, &text(v), &mut out)),
            Holds::Quantities => {
                for (key, value) in value.as_object().unwrap() {
                    let (mut entry, mut quantity) = (Vec::new(), Vec::new());
                    bytes(1, &text(value), &mut quantity);
                    bytes(1, key.as_bytes(), &mut entry);
                    bytes(2, &quantity, &mut entry);
                    bytes(*at, &entry, &mut out);
                }
            }
            Holds::Map => {
                for (key, value) in value.as_object().unwrap() {
                    let mut entry = Vec::new();
                    bytes(1, key.as_bytes(), &mut entry);
                    bytes(2, &text(value), &mut entry);
                    bytes(*at, &entry, &mut out);
                }
            }
        }
    }
    varint(1003 << 3 | 5, &mut out);
    out.extend([7; 4]);
    out
}

fn schema(kind: Kind) -> &'static Schema {
    kind.info().message.unwrap()
}

fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug>(kind: Kind, object: &Value) {
    let message = encoded(schema(kind), object);
    let read = T::deserialize(Message::new(schema(kind), &message)).unwrap();
    assert_eq!(read, T::deserialize(object).unwrap(), "{object}");
}

const WORKLOADS: [Kind; 4] = [Kind::Deployment, Kind::ReplicaSet, Kind::DaemonSet, Kind::StatefulSet];

#[test]
fn full_and_empty_objects_are_read_as_their_json() {
    let empty = json!({ "metadata": {}, "spec": {}, "status": {} });
    for object in [full(schema(Kind::Pod)), empty.clone()] {
        same::<Pod>(Kind::Pod, &object);
    }
    for kind in WORKLOADS {
        same::<Workload>(kind, &full(schema(kind)));
        same::<Workload>(kind, &empty);
    }
    same::<Job>(Kind::Job, &full(schema(Kind::Job)));
    same::<Job>(Kind::Job, &empty);
    let mut negative = full(schema(Kind::Pod));
    negative["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] = json!(-1);
    same::<Pod>(Kind::Pod, &negative);
}

/// An object without the fields that `gone` selects.
fn without(object: &Value, gone: &mut impl FnMut() -> bool) -> Value {
    match object {
        Value::Object(map) => map
            .iter()
            .filter_map(|(key, value)| if gone() { None } else { Some((key.clone(), without(value, gone))) })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(list) => list.iter().map(|value| without(value, gone)).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn an_object_that_lacks_any_fields_is_read_as_its_json(gone in prop::collection::vec(0..4_u8, 400)) {
        for kind in [Kind::Pod, Kind::Deployment, Kind::Job] {
            let mut picks = gone.iter().cycle();
            let mut object = without(&full(schema(kind)), &mut || picks.next() == Some(&0));
            for part in ["metadata", "spec", "status"] {
                // They are in every object.
                let whole = object.as_object_mut().unwrap();
                whole.entry(part).or_insert_with(|| json!({}));
            }
            match kind {
                Kind::Pod => same::<Pod>(kind, &object),
                Kind::Job => same::<Job>(kind, &object),
                _ => same::<Workload>(kind, &object),
            }
        }
    }

    #[test]
    fn arbitrary_and_broken_bytes_are_read_whole_or_not_at_all(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        cut in any::<prop::sample::Index>(),
        flip in any::<prop::sample::Index>(),
    ) {
        let read = |message: &[u8]| Pod::deserialize(Message::new(schema(Kind::Pod), message));
        let whole = encoded(schema(Kind::Pod), &full(schema(Kind::Pod)));
        let (head, tail) = whole.split_at(cut.index(whole.len()));
        // If a prefix is valid, it ends with a field, so the rest is valid too.
        prop_assert!(read(head).is_err() || read(tail).is_ok());
        let mut flipped = whole.clone();
        let at = flip.index(flipped.len());
        flipped[at] ^= 0xff;
        for message in [&noise, &flipped] {
            // Invalid bytes at the end are never ignored. (More bytes may complete a truncated message.)
            prop_assert!(read(message).is_err() || read(&[message.as_slice(), b"\x0b"].concat()).is_err());
        }
    }
}

#[test]
fn what_is_broken_is_refused() {
    let read = |message: &[u8]| Pod::deserialize(Message::new(schema(Kind::Pod), message));
    assert_eq!(read(b"").unwrap(), Pod::default());
    assert_eq!(read(b"\x0a\x05ab").unwrap_err(), Broken::Wire("Pod"));
    assert_eq!(read(b"\x0b").unwrap_err(), Broken::Wire("Pod"));
    // `metadata` as a number; its name as one.
    assert_eq!(read(b"\x08\x01").unwrap_err(), Broken::Wire("Pod"));
    assert_eq!(read(b"\x0a\x02\x08\x01").unwrap_err(), Broken::Wire("ObjectMeta"));
    let twice = read(b"\x0a\x03\x0a\x01a\x0a\x03\x0a\x01b").unwrap_err();
    assert_eq!(twice.to_string(), "duplicate field `metadata`");
    let mut port = Vec::new();
    number(3, 70_000, &mut port);
    let message = [6, 2, 2].iter().fold(port, |inner, field| {
        let mut outer = Vec::new();
        bytes(*field, &inner, &mut outer);
        outer
    });
    assert!(read(&message).unwrap_err().to_string().contains("70000"), "{:?}", read(&message));
}

#[test]
fn bytes_that_are_no_text_are_told_as_json_tells_them() {
    let mut meta = Vec::new();
    bytes(1, b"a\xffb", &mut meta);
    let mut message = Vec::new();
    bytes(1, &meta, &mut message);
    let pod = Pod::deserialize(Message::new(schema(Kind::Pod), &message)).unwrap();
    assert_eq!(pod.metadata.name, "a\u{fffd}b");
}

/// Deserializes into samples, and records the requested fields without a number.
#[derive(Clone, Copy)]
struct FieldRecorder<'a> {
    schema: &'static Schema,
    lacking: &'a RefCell<Vec<String>>,
    /// The number of fields returned so far.
    next: usize,
}

/// The value of one field.
#[derive(Clone, Copy)]
struct Answer<'a> {
    field: &'static Field,
    asked: FieldRecorder<'a>,
    given: bool,
}

type Error = serde_json::Error;

impl<'de> Deserializer<'de> for FieldRecorder<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        for name in fields {
            if !flat(self.schema).iter().any(|field| field.name == *name) {
                self.lacking.borrow_mut().push(format!("{}.{name}", self.schema.name));
            }
        }
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for FieldRecorder<'_> {
    type Error = Error;

    fn next_key_seed<K: serde::de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(field) = flat(self.schema).get(self.next).copied() else { return Ok(None) };
        seed.deserialize(serde::de::value::BorrowedStrDeserializer::new(field.name)).map(Some)
    }

    fn next_value_seed<S: serde::de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let field = flat(self.schema)[self.next];
        self.next += 1;
        seed.deserialize(Answer { field, asked: *self, given: false })
    }
}

impl<'a> Answer<'a> {
    fn within(&self, schema: &'static Schema) -> FieldRecorder<'a> {
        FieldRecorder { schema, next: 0, ..self.asked }
    }
}

impl<'de> Deserializer<'de> for Answer<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.field.holds {
            Holds::One(schema) => self.within(schema).deserialize_any(visitor),
            Holds::Many(_) => visitor.visit_seq(self),
            _ => sample(self.field).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.field.holds {
            Holds::One(schema) => self.within(schema).deserialize_struct(name, fields, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Answer<'_> {
    type Error = Error;

    fn next_element_seed<S: serde::de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Holds::Many(schema) = self.field.holds else { return Ok(None) };
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        seed.deserialize(self.within(schema)).map(Some)
    }
}

/// The fields that a type requests and that have no number. Also compares it with a full object.
fn unnumbered_fields<T: DeserializeOwned>(kind: Kind) -> Vec<String> {
    let lacking = RefCell::new(Vec::new());
    T::deserialize(FieldRecorder { schema: schema(kind), lacking: &lacking, next: 0 }).unwrap();
    let mut lacking = lacking.into_inner();
    lacking.sort();
    lacking.dedup();
    lacking
}

#[test]
fn a_slim_type_reads_nothing_that_has_no_number() {
    assert_eq!(unnumbered_fields::<Pod>(Kind::Pod), [""; 0]);
    assert_eq!(unnumbered_fields::<Job>(Kind::Job), [""; 0]);
    // One type reads four kinds, and some fields only exist in some of them.
    let without = |kind: &str, others: &[&str]| {
        let of_daemon_sets = ["currentNumberScheduled", "desiredNumberScheduled", "numberReady"];
        let of_status = of_daemon_sets.map(|name| format!("{kind}Status.{name}"));
        let mut lacking: Vec<String> = others.iter().map(ToString::to_string).chain(of_status).collect();
        lacking.sort();
        lacking
    };
    let deployment = ["DeploymentSpec.updateStrategy", "RollingUpdateDeployment.partition"];
    assert_eq!(unnumbered_fields::<Workload>(Kind::Deployment), without("Deployment", &deployment));
    let replica_set = ["ReplicaSetSpec.paused", "ReplicaSetSpec.strategy", "ReplicaSetSpec.updateStrategy"];
    assert_eq!(unnumbered_fields::<Workload>(Kind::ReplicaSet), without("ReplicaSet", &replica_set));
    let stateful_set =
        ["RollingUpdateStatefulSetStrategy.maxUnavailable", "StatefulSetSpec.paused", "StatefulSetSpec.strategy"];
    assert_eq!(unnumbered_fields::<Workload>(Kind::StatefulSet), without("StatefulSet", &stateful_set));
    let of_others = [
        "DaemonSetSpec.paused",
        "DaemonSetSpec.replicas",
        "DaemonSetSpec.strategy",
        "DaemonSetStatus.availableReplicas",
        "DaemonSetStatus.readyReplicas",
        "DaemonSetStatus.replicas",
        "RollingUpdateDaemonSet.partition",
    ];
    assert_eq!(unnumbered_fields::<Workload>(Kind::DaemonSet), of_others);
}

#[test]
fn no_number_and_no_name_stands_twice() {
    fn look(schema: &Schema) {
        for (at, field) in schema.fields.iter().enumerate() {
            let same = |other: &Field| other.number == field.number || other.name == field.name;
            assert!(!schema.fields[at + 1..].iter().any(same), "{}.{}", schema.name, field.name);
            if let Holds::One(schema) | Holds::Many(schema) | Holds::Inline(schema) = field.holds {
                look(schema);
            }
        }
    }
    Kind::ALL.iter().filter_map(|kind| kind.info().message).for_each(look);
}
