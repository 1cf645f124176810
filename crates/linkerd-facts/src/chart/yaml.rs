//! YAML as Linkerd reads its chart values, through JSON: of duplicate keys the last applies, of several documents the
//! first; merge keys (`<<`) are merged; values that JSON cannot represent are rejected.

use std::fmt;

use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_yaml::{Mapping, Value};

use crate::yaml::{go, guard};

/// The first document of a text; `None` if there is none, or Linkerd rejects it.
pub fn read(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    guard(text.as_bytes()).ok()?;
    let document = serde_yaml::Deserializer::from_str(text).next()?;
    let AsJson(mut value) = AsJson::deserialize(document).ok()?;
    go::correct_values(&mut value, text).ok()?;
    value.apply_merge().ok()?;
    Some(value)
}

struct AsJson(Value);

impl<'de> Deserialize<'de> for AsJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AsJson, D::Error> {
        deserializer.deserialize_any(YamlReader).map(AsJson)
    }
}

struct YamlReader;

impl<'de> Visitor<'de> for YamlReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.is_finite() { Ok(value.into()) } else { Err(E::custom("not a JSON number")) }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(AsJson(value)) = list.next_element()? {
            read.push(value);
        }
        Ok(Value::Sequence(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut read = Mapping::new();
        while let Some((AsJson(key), AsJson(value))) = map.next_entry()? {
            if !matches!(key, Value::String(_) | Value::Number(_) | Value::Bool(_)) {
                return Err(A::Error::custom("not a JSON key"));
            }
            read.insert(key, value);
        }
        Ok(Value::Mapping(read))
    }

    /// A tagged value; the tag is ignored.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_, value): (String, _) = tagged.variant()?;
        value.newtype_variant().map(|AsJson(value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_linkerd_reads_them() {
        for (text, read_as) in [
            ("a: 1\nb: {c: [x, null, 0.5, true]}", Some("a: 1\nb: {c: [x, null, 0.5, true]}")),
            ("a: 1\nb: 2\na: 3", Some("a: 3\nb: 2")),
            ("a: 1\n---\na: 2", Some("a: 1")),
            ("---\na: 1\n...\n", Some("a: 1")),
            ("\u{feff}a: 1", Some("a: 1")),
            ("a: !x y", Some("a: 'y'")),
            ("a: y\nb: 'y'\nc: 0o17", Some("a: true\nb: 'y'\nc: 15")),
            ("5: x\ntrue: y", Some("5: x\ntrue: y")),
            ("a: &b {c: d}\ne: *b", Some("a: {c: d}\ne: {c: d}")),
            ("a: &b {c: d}\ne: {<<: *b, f: g}", Some("a: {c: d}\ne: {c: d, f: g}")),
            ("a: &b {c: d}\ne: {<<: [*b], c: g}", Some("a: {c: d}\ne: {c: g}")),
            ("<<: x", None),
            ("~: x", None),
            ("? [a, b]\n: x", None),
            ("a: .nan", None),
            ("a: -.inf", None),
            ("a: [b", None),
        ] {
            let expected = read_as.map(|text| serde_yaml::from_str::<Value>(text).expect(text));
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
