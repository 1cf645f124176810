//! Parses an object for redaction without building a tree of dropped parts: managed fields are half of it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Like `serde_json::from_slice`, with `null` for managed fields, so that their presence stays visible.
///
/// # Errors
/// It is not JSON.
pub fn parse(json: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = Tree { metadata: false }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct Tree {
    /// Whether it is the value of `metadata`.
    metadata: bool,
}

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Tree { metadata: false })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            let value = if self.metadata && key == "managedFields" {
                fields.next_value::<IgnoredAny>()?;
                Value::Null
            } else {
                fields.next_value_seed(Tree { metadata: key == "metadata" })?
            };
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_managed_fields_are_dropped() {
        let text = r#"{"a":[1,-2,1.5,true,null,"x\u00e9"],"managedFields":[1],"metadata":{"name":"n","managedFields":[{"f:a":{}}]},
            "spec":{"template":{"metadata":{"managedFields":{},"labels":{}}}}}"#;
        let mut whole: Value = serde_json::from_str(text).expect("it is JSON");
        whole["metadata"]["managedFields"] = Value::Null;
        whole["spec"]["template"]["metadata"]["managedFields"] = Value::Null;
        assert_eq!(parse(text.as_bytes()).expect("it is JSON"), whole);
        for broken in [r#"{"a":1} x"#, r#"{"a":"#, r#"{"metadata":{"managedFields":[}}"#] {
            assert!(parse(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
