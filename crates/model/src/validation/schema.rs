//! Structural schemas: types, required fields, permitted values, patterns and limits.

use serde_json::Value;

use meshdoctor_core::nearest::closest;

use super::{known, quoted, relations};
use crate::knowledge::{Schema, SchemaType, go_duration};

/// Maximum number of errors of one object.
const MOST: usize = 20;

/// The invalid fields of a spec, each with the reason.
pub(super) fn invalid(schema: &Schema, spec: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(schema, spec, "spec", &mut found);
    found.truncate(MOST);
    found
}

/// The fields of a spec that the schema does not have, each with the reason. The API server drops them,
/// unless the client requests strict validation.
pub(super) fn unknown_fields(schema: &Schema, spec: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    find_unknown(schema, spec, "spec", &mut found);
    found.truncate(MOST);
    found
}

fn find_unknown(schema: &Schema, value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    if found.len() >= MOST {
        return;
    }
    match value {
        Value::Object(fields) if !schema.fields.is_empty() => {
            for (name, field) in fields.iter().filter(|(_, field)| !field.is_null()) {
                let path = format!("{path}.{name}");
                match schema.fields.get(name) {
                    Some(of_field) => find_unknown(of_field, field, &path, found),
                    None => {
                        let unset = schema.fields.keys().filter(|known| !fields.contains_key(*known));
                        found.push((path, unknown(name, unset.map(String::as_str))));
                    }
                }
            }
        }
        Value::Array(items) => {
            let Some(of_item) = &schema.items else { return };
            for (at, item) in items.iter().enumerate() {
                find_unknown(of_item, item, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

/// Why a field is unknown, with the nearest of the known ones.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match closest(name, known) {
        Some(near) => format!("unknown field {name}; did you mean {near}?"),
        None => format!("unknown field {name}"),
    }
}

fn walk(schema: &Schema, value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    if found.len() >= MOST {
        return;
    }
    if let Some(wanted) = schema.of_type.filter(|wanted| !is_of_type(*wanted, value)) {
        found.push((path.to_owned(), format!("it must be {}, not {}", described(wanted), shown(value))));
        return;
    }
    relations::faults(schema, value, path, found);
    match value {
        Value::Object(fields) => {
            // A null counts as absent.
            let is_set = |name: &String| fields.get(name).is_some_and(|field| !field.is_null());
            for name in schema.required.iter().filter(|name| !is_set(name)) {
                found.push((format!("{path}.{name}"), "it is required".to_owned()));
            }
            let choice = &schema.one_of;
            if !choice.is_empty() && choice.iter().filter(|name| is_set(name)).count() != 1 {
                found.push((path.to_owned(), format!("it must have exactly one of {}", choice.join(" and "))));
            }
            for (name, field) in fields.iter().filter(|(_, field)| !field.is_null()) {
                if let Some(of_field) = schema.fields.get(name) {
                    walk(of_field, field, &format!("{path}.{name}"), found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(why) = outside(items.len(), schema.count, "item") {
                found.push((path.to_owned(), why));
            }
            if let Some(of_item) = &schema.items {
                for (at, item) in items.iter().enumerate() {
                    walk(of_item, item, &format!("{path}[{at}]"), found);
                }
            }
        }
        Value::String(text) => {
            found.extend(text_fault(schema, text).map(|why| (path.to_owned(), why)));
        }
        Value::Number(number) => {
            let (least, most) = schema.range;
            let number = number.as_i64();
            let too_small = least.is_some_and(|least| number.is_some_and(|number| number < least));
            let too_great = most.is_some_and(|most| number.is_none_or(|number| number > most));
            if too_small || too_great {
                let bounds =
                    [least.map(|least| format!("at least {least}")), most.map(|most| format!("at most {most}"))];
                let bounds: Vec<String> = bounds.into_iter().flatten().collect();
                found.push((path.to_owned(), format!("{value} must be {}", bounds.join(" and "))));
            }
            let numbers = &schema.numbers;
            if !numbers.is_empty() && number.is_none_or(|number| !numbers.contains(&number)) {
                let all: Vec<String> = numbers.iter().map(i64::to_string).collect();
                found.push((path.to_owned(), format!("{value} is not one of {}", all.join(", "))));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn text_fault(schema: &Schema, text: &str) -> Option<String> {
    if !schema.texts.is_empty() && !schema.texts.iter().any(|known| known == text) {
        return Some(format!("{} is not one of {}", quoted(text), schema.texts.join(", ")));
    }
    // Other patterns are those of names, which may be redacted although they are valid.
    let is_duration_pattern =
        schema.pattern.as_ref().is_some_and(|pattern| pattern.is_match("10s") && !pattern.is_match("a"));
    if known(text).is_none() && !is_duration_pattern {
        return None;
    }
    if let Some(why) = outside(text.chars().count(), schema.length, "character") {
        return Some(why);
    }
    if schema.is_duration && !is_duration(text) {
        return Some(format!("{text:?} is not a duration such as 3s or 250ms"));
    }
    let pattern = schema.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
    Some(format!("{} does not match {pattern}", quoted(text)))
}

/// Whether the API server accepts a text as a duration: Go's form, or a number with a unit of Scala such as `3 seconds`
/// anywhere in it.
fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 18] = [
        "ns", "us", "\u{b5}s", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "micro", "milli", "sec", "min",
        "hour", "day",
    ];
    let is_unit = |unit: &str| {
        let unit = unit.to_lowercase();
        // Words may have an ending: `seconds`, `weeks`.
        UNITS.contains(&unit.as_str())
            || UNITS.iter().chain(&["week"]).any(|known| known.len() > 2 && unit.starts_with(known))
    };
    let with_unit = |at: usize| {
        let rest = text[at..].trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        is_unit(rest.split(|c: char| !c.is_ascii_alphabetic() && c != '\u{b5}').next().unwrap_or_default())
    };
    go_duration(text).is_some() || text.match_indices(|c: char| c.is_ascii_digit()).any(|(at, _)| with_unit(at))
}

/// Why a number of things is outside of its limits.
fn outside(number: usize, (least, most): (Option<usize>, Option<usize>), what: &str) -> Option<String> {
    let plural = |limit: usize| if limit == 1 { "" } else { "s" };
    match (least, most) {
        (Some(least), _) if number < least => Some(format!("it must have at least {least} {what}{}", plural(least))),
        (_, Some(most)) if number > most => Some(format!("it must have at most {most} {what}{}", plural(most))),
        _ => None,
    }
}

fn is_of_type(wanted: SchemaType, value: &Value) -> bool {
    let is_integer = || value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    match wanted {
        SchemaType::String => value.is_string(),
        SchemaType::Integer => is_integer(),
        SchemaType::Number => value.is_number(),
        SchemaType::Boolean => value.is_boolean(),
        SchemaType::Object => value.is_object(),
        SchemaType::Array => value.is_array(),
        SchemaType::IntegerOrString => value.is_string() || is_integer(),
    }
}

fn described(wanted: SchemaType) -> &'static str {
    match wanted {
        SchemaType::String => "a string",
        SchemaType::Integer => "an integer",
        SchemaType::Number => "a number",
        SchemaType::Boolean => "true or false",
        SchemaType::Object => "an object",
        SchemaType::Array => "a list",
        SchemaType::IntegerOrString => "an integer or a string",
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if known(text).is_none() => "a string".to_owned(),
        simple => simple.to_string(),
    }
}
