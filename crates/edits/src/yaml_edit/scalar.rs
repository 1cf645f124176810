//! Values as YAML text.

use serde_json::Value;

/// A key of a map.
pub(super) fn key(text: &str) -> String {
    scalar(text)
}

/// A value that is neither a list nor a map.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A value with the quotes of another one.
pub(super) fn like(old: &str, value: &Value) -> String {
    match value {
        Value::String(text) if old.starts_with('\'') && !text.contains(['\'', '\n']) => format!("'{text}'"),
        Value::String(text) if old.starts_with('"') => quoted(text),
        value => plain(value),
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// A text without quotes if every YAML reader reads it as this text.
fn scalar(text: &str) -> String {
    const OTHER_TYPES: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./@~".contains(letter);
    let is_safe = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.chars().all(is_plain)
        && !OTHER_TYPES.contains(&text.to_ascii_lowercase().as_str())
        && !matches!(text.to_ascii_lowercase().as_str(), "null");
    if is_safe { text.to_owned() } else { quoted(text) }
}

/// A value in one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(name, value)| format!("{}: {}", key(name), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        value => plain(value),
    }
}

/// The entries or items of a value in lines.
pub(super) fn block(value: &Value, column: usize, lines: &mut String) {
    let indent = " ".repeat(column);
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                lines.push_str(&format!("{indent}{}:", key(name)));
                behind(value, column + 2, lines);
            }
        }
        Value::Array(items) => items.iter().for_each(|each| item(each, column, lines)),
        value => lines.push_str(&format!("{indent}{}\n", plain(value))),
    }
}

/// A value behind a colon.
fn behind(value: &Value, column: usize, lines: &mut String) {
    let is_block = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    match is_block {
        true => {
            lines.push('\n');
            block(value, column, lines);
        }
        false => lines.push_str(&format!(" {}\n", flow(value))),
    }
}

/// An item of a list, with its dash in a column.
pub(super) fn item(value: &Value, column: usize, lines: &mut String) {
    let indent = " ".repeat(column);
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut entries = String::new();
            block(value, column + 2, &mut entries);
            lines.push_str(&format!("{indent}- {}", &entries[column + 2..]));
        }
        value => lines.push_str(&format!("{indent}- {}\n", flow(value))),
    }
}
