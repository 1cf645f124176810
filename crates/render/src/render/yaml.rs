//! The report as YAML: created from the JSON document, so that both have the same content. Strings that a
//! YAML 1.1 or 1.2 reader, including Kubernetes' own (Go, 1.1), might read as another type are quoted.

use std::fmt::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::document::Failure;
use super::json;
use super::text::without_hashes;
use crate::report::Report;
use crate::terminal::is_hostile;

pub fn report(report: &Report) -> String {
    from_json(&json::report(report))
}

/// A run without a report, with its exit status and the error.
pub fn failure(failure: &Failure) -> String {
    from_json(&json::failure(failure))
}

/// A document of another command.
pub fn document(document: &serde_json::Value) -> String {
    from_json(&json::document(document))
}

fn from_json(json: &str) -> String {
    let value: Value = serde_json::from_str(json).expect("our own JSON is JSON");
    let mut yaml = String::new();
    value.write(0, &mut yaml);
    yaml
}

/// JSON with the order of its fields.
enum Value {
    /// `null`, `true`, `12`: the same in both.
    Plain(String),
    Text(String),
    List(Vec<Value>),
    Fields(Vec<(String, Value)>),
}

impl Value {
    /// Writes the text after `key:` or `-`, including the line break.
    fn write(&self, depth: usize, yaml: &mut String) {
        let indent = "  ".repeat(depth);
        match self {
            Value::Plain(word) => _ = writeln!(yaml, "{word}"),
            Value::Text(text) => _ = writeln!(yaml, "{}", quoted(text)),
            Value::List(values) if values.is_empty() => yaml.push_str("[]\n"),
            Value::Fields(fields) if fields.is_empty() => yaml.push_str("{}\n"),
            Value::List(values) => {
                for value in values {
                    _ = write!(yaml, "{indent}- ");
                    value.beside(depth + 1, yaml);
                }
            }
            Value::Fields(fields) => {
                for (key, value) in fields {
                    _ = write!(yaml, "{indent}{}:", quoted(key));
                    match value {
                        Value::List(items) if !items.is_empty() => yaml.push('\n'),
                        Value::Fields(fields) if !fields.is_empty() => yaml.push('\n'),
                        _ => yaml.push(' '),
                    }
                    value.write(depth + 1, yaml);
                }
            }
        }
    }

    /// Writes an entry of a list: its first line is on the line of the dash.
    fn beside(&self, depth: usize, yaml: &mut String) {
        let start = yaml.len();
        self.write(depth, yaml);
        let indent = "  ".repeat(depth);
        if yaml[start..].starts_with(&indent) {
            yaml.replace_range(start..start + indent.len(), "");
        }
    }
}

/// A string, plain if it cannot be read as anything else.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.'))
        && !["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&text.to_ascii_lowercase().as_str());
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_hostile(c) && (c as u32) > 0xffff => _ = write!(quoted, "\\U{:08x}", c as u32),
            c if is_hostile(c) => _ = write!(quoted, "\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    without_hashes(&quoted, "\\u0023").into_owned()
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(JsonReader)
    }
}

struct JsonReader;

impl<'de> Visitor<'de> for JsonReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Plain("null".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Plain(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Value::Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_string_is_taken_for_anything_else() {
        for text in [
            "",
            "no",
            "On",
            "y",
            "null",
            "~",
            "1e5",
            "0x1f",
            "012",
            "1_000",
            "12:30:45",
            "2026-01-15",
            ".inf",
            "- a",
            "a: b",
            "a #b",
            "{",
            "[",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%",
            "@",
            "`",
            "'",
            "\"",
            "a\nb",
            "\u{1b}[31m",
            "\u{202e}",
            "\u{e0041}",
            "\u{9b}",
            "\u{feff}",
            "=",
            "<<",
            "572e207381",
            "a ",
            " a",
            "v1.31.5",
            "e1",
            "ä",
        ] {
            let json = serde_json::json!({ text: text, "list": [text, { "deep": [text] }, []] });
            let yaml = from_json(&json.to_string());
            let back: serde_json::Value =
                serde_yaml::from_str(&yaml).unwrap_or_else(|e| panic!("{text:?}: {e}\n{yaml}"));
            assert_eq!(back, json, "{yaml}");
            assert!(!yaml.chars().any(|c| is_hostile(c) && c != '\n'), "{yaml:?}");
        }
    }

    #[test]
    fn the_order_of_fields_is_kept() {
        assert_eq!(
            from_json(r#"{"b":1,"a":[{"d":null,"c":"x y"},["z"]],"e":{}}"#),
            "b: 1\na:\n  - d: null\n    c: \"x y\"\n  - - z\ne: {}\n"
        );
    }
}
