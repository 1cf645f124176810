//! Individual values, as in `helm --set`: `proxy.cores` and its value.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use super::Document;
use crate::chart::stored_values::Spots;
use crate::chart::values_input::{Leaf, ValuesFile};
use crate::yaml::node::Spot;

/// A value, as written.
pub(super) struct RawValue {
    pub(super) path: String,
    pub(super) value: String,
    /// Whether it is always a text.
    pub(super) is_text: bool,
    pub(super) spot: Spot,
}

/// The values of such a list.
pub(super) fn file(document: &Document<'_>, object: &str, list: &str, written: Vec<RawValue>) -> Option<ValuesFile> {
    let mut root = Mapping::new();
    let mut each = BTreeMap::new();
    for RawValue { path, value, is_text, spot } in written {
        let (names, is_item) = names(&path);
        let value = if is_item { Value::Sequence(Vec::new()) } else { read(value, is_text) };
        let leaf = Leaf { names: names.iter().map(String::as_str).collect(), value: &value };
        each.insert(leaf.place(), spot);
        put(&mut root, &names, value);
    }
    (!root.is_empty())
        .then(|| document.values_file(object, (String::new(), root), format!("{list}: "), Spots::Each(each)))
}

/// The parts of a path, with escaped `\.`, and whether it refers to a list item.
pub(super) fn names(path: &str) -> (Vec<String>, bool) {
    let mut names = vec![String::new()];
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        let last = names.len() - 1;
        match letter {
            '\\' => names[last].extend(letters.next()),
            '.' => names.push(String::new()),
            '[' => return (names, true),
            letter => names[last].push(letter),
        }
    }
    (names, false)
}

fn read(text: String, is_text: bool) -> Value {
    match text.as_str() {
        _ if is_text => Value::String(text),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        list if list.starts_with('{') && list.ends_with('}') && !list.starts_with("{{") => Value::Sequence(Vec::new()),
        number => match number.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::String(text),
        },
    }
}

fn put(map: &mut Mapping, names: &[String], value: Value) {
    match names {
        [] => {}
        [name] => _ = map.insert(Value::String(name.clone()), value),
        [name, rest @ ..] => {
            let inner = map.entry(Value::String(name.clone())).or_insert_with(|| Value::Mapping(Mapping::new()));
            if let Value::Mapping(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
