//! Plain scalars as kubectl, Helm and Linkerd read them. Their library follows YAML 1.1: `yes` and `off` are booleans,
//! `0o17`, `017` and `1_000` are numbers. `serde_yaml` follows YAML 1.2, and its values no longer show which texts
//! were in quotes, so a second parser finds the plain ones.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, options};
use serde_json::{Map, Number, Value};

use super::MAX_DEPTH;

/// A plain scalar that is not a text.
#[derive(Debug, Clone, PartialEq)]
enum Resolved {
    Bool(bool),
    Number(Number),
    /// `.inf`, `.nan`: JSON has no such numbers.
    NotFinite,
}

/// A plain scalar as Go reads it; `None` for a text, and for `null`, which both read alike.
fn resolve(text: &str) -> Option<Resolved> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Some(Resolved::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Some(Resolved::Bool(false));
        }
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Resolved::NotFinite);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    if text.starts_with('.') && !separates_digits(text) {
        return None;
    }
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| float(&digits)).map(Resolved::Number)
}

/// Whether each underscore is between digits.
fn separates_digits(text: &str) -> bool {
    text.split('_').all(|part| !part.is_empty() && part.ends_with(|c: char| c.is_ascii_digit()))
        && text.split('_').skip(1).all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// An integer with the prefixes of Go: `0x`, `0o`, `0b`, and `0` for octal numbers.
fn integer(text: &str) -> Option<Number> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (digits, radix) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&unsigned[2..], 16),
        [b'0', b'o' | b'O', ..] => (&unsigned[2..], 8),
        [b'0', b'b' | b'B', ..] => (&unsigned[2..], 2),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let signed = i64::from_str_radix(&format!("{sign}{digits}"), radix).ok().map(Number::from);
    let is_unsigned = !text.starts_with(['-', '+']);
    signed.or_else(|| u64::from_str_radix(digits, radix).ok().filter(|_| is_unsigned).map(Number::from))
}

/// A decimal number; one that is too large stays a text.
fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", after)) => is_digits(after),
        Some((before, after)) => is_digits(before) && (after.is_empty() || is_digits(after)),
        None => is_digits(mantissa),
    };
    if !is_mantissa || !exponent.is_none_or(is_digits) {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    #[allow(clippy::cast_possible_truncation, reason = "only of whole numbers that fit")]
    match value.fract() == 0.0 && value.abs() < 9e15 {
        // JSON has one form of number.
        true => Some(Number::from(value as i64)),
        false => Number::from_f64(value),
    }
}

/// Whether a text may have plain scalars that YAML 1.2 reads differently. May be wrong in one direction: words of
/// comments and quoted texts count, too.
fn is_ambiguous(text: &str) -> bool {
    let apart = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | ':' | '"' | '\'');
    text.split(apart).any(|word| {
        let is_short = word.len() <= 3 && word.starts_with(['y', 'Y', 'n', 'N', 'o', 'O']);
        let is_number = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
        (is_short || is_number && word.len() > 1) && differs(word)
    })
}

/// Whether Go reads a plain scalar differently from YAML 1.2.
fn differs(word: &str) -> bool {
    match resolve(word) {
        None => false,
        Some(Resolved::Bool(_)) => !matches!(word, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        Some(Resolved::NotFinite) => true,
        Some(Resolved::Number(number)) => number.to_string() != word,
    }
}

/// The plain scalars of a document.
#[derive(Debug)]
enum Shape {
    Plain(String),
    /// A text in quotes, in a block or with a tag.
    Other(String),
    List(Vec<Rc<Shape>>),
    Map(Vec<(Rc<Shape>, Rc<Shape>)>),
}

impl Shape {
    fn text(&self) -> Option<&str> {
        match self {
            Shape::Plain(text) | Shape::Other(text) => Some(text),
            Shape::List(_) | Shape::Map(_) => None,
        }
    }

    /// The first document of a text that [`super::guard`] accepted; `None` if it cannot be read.
    fn parse(text: &str) -> Option<Rc<Shape>> {
        let limits = options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
        let mut anchors: HashMap<usize, Rc<Shape>> = HashMap::new();
        let mut open: Vec<(usize, bool, Vec<Rc<Shape>>)> = Vec::new();
        for event in Parser::new_from_str_with_options(text, limits) {
            let (anchor, done) = match event.ok()?.0 {
                Event::SequenceStart(_, anchor, _) => {
                    open.push((anchor, false, Vec::new()));
                    continue;
                }
                Event::MappingStart(_, anchor, _) => {
                    open.push((anchor, true, Vec::new()));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let (anchor, is_map, parts) = open.pop()?;
                    (anchor, Rc::new(if is_map { Shape::map(parts) } else { Shape::List(parts) }))
                }
                Event::Scalar(text, ScalarStyle::Plain, anchor, None) => {
                    (anchor, Rc::new(Shape::Plain(text.into_owned())))
                }
                Event::Scalar(text, _, anchor, _) => (anchor, Rc::new(Shape::Other(text.into_owned()))),
                Event::Alias(anchor) => (0, Rc::clone(anchors.get(&anchor)?)),
                _ => continue,
            };
            if anchor > 0 {
                anchors.insert(anchor, Rc::clone(&done));
            }
            match open.last_mut() {
                Some((_, _, parts)) => parts.push(done),
                None => return Some(done),
            }
        }
        None
    }

    fn map(parts: Vec<Rc<Shape>>) -> Shape {
        let mut parts = parts.into_iter();
        let mut entries = Vec::new();
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            entries.push((key, value));
        }
        Shape::Map(entries)
    }
}

/// Changes the plain scalars of a document that `serde_yaml` read to those that Go reads.
///
/// # Errors
/// A number that JSON does not have.
pub fn correct(value: &mut Value, text: &str) -> Result<(), &'static str> {
    match is_ambiguous(text).then(|| Shape::parse(text)).flatten() {
        Some(shape) => json(value, &shape),
        None => Ok(()),
    }
}

/// The error of [`correct`].
const NOT_FINITE: &str = ".inf and .nan are not numbers of JSON";

fn json(value: &mut Value, shape: &Shape) -> Result<(), &'static str> {
    match (value, shape) {
        (Value::Array(items), Shape::List(shapes)) if items.len() == shapes.len() => {
            items.iter_mut().zip(shapes).try_for_each(|(item, shape)| json(item, shape))
        }
        (Value::Object(map), Shape::Map(entries)) => {
            let mut renamed: Vec<(&str, String)> = Vec::new();
            // Of duplicate keys the last one applies.
            let last: HashMap<&str, &(Rc<Shape>, Rc<Shape>)> =
                entries.iter().filter_map(|entry| Some((entry.0.text()?, entry))).collect();
            for (text, (key, shape)) in &last {
                if let Some(value) = map.get_mut(*text) {
                    json(value, shape)?;
                    renamed.extend(key_of(key).filter(|key| key != text).map(|key| (*text, key)));
                }
            }
            renamed.sort();
            rename(map, &renamed);
            Ok(())
        }
        (value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)), Shape::Plain(text)) => {
            match resolve(text) {
                Some(Resolved::Bool(bool)) => *value = Value::Bool(bool),
                Some(Resolved::Number(number)) => *value = Value::Number(number),
                Some(Resolved::NotFinite) => return Err(NOT_FINITE),
                None => {}
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The name of a key that is not a text. Fractions are never names of fields.
fn key_of(key: &Shape) -> Option<String> {
    let Shape::Plain(text) = key else { return None };
    match resolve(text)? {
        Resolved::Bool(bool) => Some(bool.to_string()),
        Resolved::Number(number) => number.as_i64().map(|number| number.to_string()),
        Resolved::NotFinite => None,
    }
}

fn rename(map: &mut Map<String, Value>, renamed: &[(&str, String)]) {
    for (old, new) in renamed {
        if let Some(value) = map.remove(*old) {
            map.insert(new.clone(), value);
        }
    }
}

/// The same for chart values, whose keys keep their types.
///
/// # Errors
/// A number that JSON does not have.
pub fn correct_values(value: &mut serde_yaml::Value, text: &str) -> Result<(), &'static str> {
    match is_ambiguous(text).then(|| Shape::parse(text)).flatten() {
        Some(shape) => values(value, &shape),
        None => Ok(()),
    }
}

fn values(value: &mut serde_yaml::Value, shape: &Shape) -> Result<(), &'static str> {
    use serde_yaml::Value as Yaml;
    match (value, shape) {
        (Yaml::Sequence(items), Shape::List(shapes)) if items.len() == shapes.len() => {
            items.iter_mut().zip(shapes).try_for_each(|(item, shape)| values(item, shape))
        }
        (Yaml::Mapping(map), Shape::Map(entries)) => {
            let last: HashMap<&str, &Rc<Shape>> =
                entries.iter().filter_map(|(key, shape)| Some((key.text()?, shape))).collect();
            for (text, shape) in last {
                if let Some(value) = map.get_mut(text) {
                    values(value, shape)?;
                }
            }
            Ok(())
        }
        (value @ (Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::String(_)), Shape::Plain(text)) => {
            match resolve(text) {
                Some(Resolved::Bool(bool)) => *value = Yaml::Bool(bool),
                Some(Resolved::Number(number)) => {
                    *value = serde_yaml::to_value(number).map_err(|_| NOT_FINITE)?;
                }
                Some(Resolved::NotFinite) => return Err(NOT_FINITE),
                None => {}
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, &'static str> {
        let mut value = serde_yaml::from_str(text).expect(text);
        correct(&mut value, text).map(|()| value)
    }

    /// As kubectl 1.34 converts them.
    #[test]
    fn plain_scalars_are_read_as_kubectl_reads_them() {
        for (text, wanted) in [
            ("y", json!(true)),
            ("Yes", json!(true)),
            ("{\"a\":yes,'b':off}", json!({"a": true, "b": false})),
            ("on", json!(true)),
            ("N", json!(false)),
            ("OFF", json!(false)),
            ("yEs", json!("yEs")),
            ("yes sir", json!("yes sir")),
            ("0o17", json!(15)),
            ("017", json!(15)),
            ("-017", json!(-15)),
            ("08", json!(8)),
            ("0x1F", json!(31)),
            ("0b101", json!(5)),
            ("1_000", json!(1000)),
            ("+12", json!(12)),
            ("1_0.5", json!(10.5)),
            ("1.", json!(1)),
            (".5", json!(0.5)),
            (".5_0", json!(0.5)),
            ("._5", json!("._5")),
            (".5e1", json!(5)),
            (".0x1", json!(".0x1")),
            ("0.1p2", json!("0.1p2")),
            ("+0b11", json!(3)),
            ("-0o7", json!(-7)),
            ("0x_1", json!(1)),
            ("1_0e1_0", json!(100_000_000_000_u64)),
            ("0x", json!("0x")),
            ("1e", json!("1e")),
            ("+-1", json!("+-1")),
            ("-.nan", json!("-.nan")),
            ("00", json!(0)),
            ("1e3", json!(1000)),
            ("1.0", json!(1)),
            ("_1", json!("_1")),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("190:20:30", json!("190:20:30")),
            ("572e207381", json!("572e207381")),
            ("2026-01-15", json!("2026-01-15")),
            ("1.2.3", json!("1.2.3")),
            ("10m", json!("10m")),
            ("-", json!("-")),
            ("~", Value::Null),
            ("true", json!(true)),
            ("7", json!(7)),
            ("0.5", json!(0.5)),
        ] {
            let quoted = text == "-";
            let document = if quoted { "a: '-'\n".to_owned() } else { format!("a: {text}\n") };
            assert_eq!(read(&document), Ok(json!({"a": wanted})), "{text}");
        }
        for text in [".inf", "-.Inf", "+.INF", ".NaN"] {
            assert!(read(&format!("a: {text}\n")).is_err(), "{text}");
        }
    }

    #[test]
    fn quoted_and_tagged_texts_stay_texts() {
        let text = "a: 'yes'\nb: \"017\"\nc: |\n  no\nd: !!str on\ne: {f: ['y', y]}\n";
        let wanted = json!({"a": "yes", "b": "017", "c": "no\n", "d": "on", "e": {"f": ["y", true]}});
        assert_eq!(read(text), Ok(wanted));
    }

    #[test]
    fn keys_and_aliases_are_read_alike() {
        let text = "y: 1\n012: x\n'no': z\na: &a {b: yes}\nc: [*a, *a]\nb: no\nb: off\n";
        let mut value = json!({"y": 1, "012": "x", "no": "z", "a": {"b": "yes"}, "c": [{"b": "yes"}, {"b": "yes"}],
            "b": "off"});
        assert_eq!(correct(&mut value, text), Ok(()));
        let b = json!({"b": true});
        let wanted = json!({"true": 1, "10": "x", "no": "z", "a": b, "c": [b, b], "b": false});
        assert_eq!(value, wanted);
    }

    #[test]
    fn values_of_charts_are_read_alike() {
        let text = "a: yes\nb: [off, 'off', 0o17]\n5: n\n";
        let mut value: serde_yaml::Value = serde_yaml::from_str(text).expect("YAML");
        assert_eq!(correct_values(&mut value, text), Ok(()));
        let wanted = "a: true\nb: [false, 'off', 15]\n5: n\n";
        assert_eq!(value, serde_yaml::from_str::<serde_yaml::Value>(wanted).expect("YAML"));
    }
}
