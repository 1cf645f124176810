//! Texts of a rule that are not CEL: `variables.NAME` as bound, and field paths.

use serde_json::Value;

/// How a variable is bound: by a name of its own, since a map of all variables would require each to have a
/// value.
pub(super) fn bound(variable: &str) -> String {
    format!("variables_{variable}")
}

/// Replaces each `variables.NAME` in an expression, outside of string literals and longer names; columns
/// stay the same.
pub(super) fn plain(text: &str) -> String {
    const WRITTEN: &str = "variables.";
    let mut plain = String::with_capacity(text.len());
    let (mut quote, mut before) = (None, ' ');
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let within = before.is_ascii_alphanumeric() || "_.".contains(before);
        if quote.is_none() && !within && rest.starts_with(WRITTEN) {
            plain.push_str("variables_");
            rest = &rest[WRITTEN.len()..];
            before = '_';
            continue;
        }
        let mut length = c.len_utf8();
        match quote {
            Some(_) if c == '\\' => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => {}
        }
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
        before = c;
    }
    plain
}

/// Restores the author's spelling in a message about an expression.
pub(super) fn as_written(message: &str) -> String {
    message.replace("variables_", "variables.")
}

/// A step of a field path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Field(String),
    Item(usize),
    /// Any item: `containers[]`, `containers[*]`. It only names a location and has no value.
    Any,
}

/// A field path: `spec.replicas`, `spec.containers[0].image`, `metadata.annotations[linkerd.io/inject]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldPath {
    written: String,
    steps: Vec<PathStep>,
}

impl FieldPath {
    /// Parses a path from a card that leads to a value.
    ///
    /// # Errors
    /// It is not such a path.
    pub(super) fn parse(written: &str) -> Result<FieldPath, String> {
        let path = FieldPath::naming(written)?;
        match path.steps.contains(&PathStep::Any) {
            true => Err(format!(
                "{written:?} does not name a single item: use an index as in spec.containers[0].image, or \
                 expression to state the quoted value"
            )),
            false => Ok(path),
        }
    }

    /// Parses a path that only names the location of an expression's value; it may match any item
    /// (`spec.containers[].image`).
    ///
    /// # Errors
    /// It is not a path.
    pub(super) fn naming(written: &str) -> Result<FieldPath, String> {
        let wrong = |why: &str| {
            format!(
                "{written:?} is not a field path{why}: use one such as spec.containers[0].image or \
                 metadata.annotations[linkerd.io/inject]"
            )
        };
        let (mut steps, mut rest) = (Vec::new(), written);
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = bracketed(inner).ok_or_else(|| wrong(""))?;
                steps.push(step);
                rest = after;
            } else {
                let name = match steps.is_empty() {
                    true => rest,
                    false => rest.strip_prefix('.').ok_or_else(|| wrong(""))?,
                };
                let end = name.find(['.', '[']).unwrap_or(name.len());
                if !is_field(&name[..end]) {
                    return Err(wrong(""));
                }
                steps.push(PathStep::Field(name[..end].to_owned()));
                rest = &name[end..];
            }
        }
        match steps.first() {
            Some(PathStep::Field(first)) if first == "object" && steps.len() > 1 => {
                Err(wrong("; it starts within the object, without object"))
            }
            Some(PathStep::Field(_)) => Ok(FieldPath { written: written.to_owned(), steps }),
            _ => Err(wrong("")),
        }
    }

    /// The first field of the path.
    pub(super) fn first(&self) -> &str {
        match self.steps.first() {
            Some(PathStep::Field(name)) => name,
            _ => "",
        }
    }

    /// The path as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.written
    }

    /// The value at the path; `absent` if there is no such field.
    pub(super) fn in_object(&self, object: &Value) -> String {
        let found = self.steps.iter().try_fold(object, |value, step| match step {
            PathStep::Field(name) => value.get(name.as_str()),
            PathStep::Item(at) => value.get(at),
            PathStep::Any => None,
        });
        match found {
            None => "absent".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// Whether a field can have this name.
fn is_field(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// The content of a bracket, and the rest after it: a key, an item by its number, or any item.
fn bracketed(inner: &str) -> Option<(PathStep, &str)> {
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if let Some(quote @ ('\'' | '"')) = inner.chars().next() {
        let (key, after) = inner[1..].split_once(quote)?;
        return (!key.is_empty()).then_some((PathStep::Field(key.to_owned()), after.strip_prefix(']')?));
    }
    let (key, after) = inner.split_once(']')?;
    let step = match key {
        "" | "*" => PathStep::Any,
        _ if is_key(key) => key.parse().map_or_else(|_| PathStep::Field(key.to_owned()), PathStep::Item),
        _ => return None,
    };
    Some((step, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_named_only_where_they_are_meant() {
        for (text, expected) in [
            ("variables.a == variables.b", "variables_a == variables_b"),
            ("'variables.a' == \"variables.b\"", "'variables.a' == \"variables.b\""),
            (r"'it\'s variables.a' + variables.b", r"'it\'s variables.a' + variables_b"),
            ("object.variables.a", "object.variables.a"),
            ("my_variables.a", "my_variables.a"),
            ("'ä' + variables.a", "'ä' + variables_a"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn a_path_leads_to_keys_with_dots_and_into_lists() {
        let object = json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled", "0": "x"}}, "spec": {"all": [{"a": 1}]}});
        for (path, expected) in [
            ("metadata.annotations[linkerd.io/inject]", "enabled"),
            ("metadata.annotations['linkerd.io/inject']", "enabled"),
            ("metadata.annotations[\"0\"]", "x"),
            ("spec.all[0].a", "1"),
            ("spec.all[1].a", "absent"),
            ("spec.more", "absent"),
        ] {
            assert_eq!(FieldPath::parse(path).expect(path).in_object(&object), expected, "{path}");
        }
        let wrong = [
            "",
            "spec.",
            "spec..a",
            "spec[",
            "spec['a]",
            "spec[0]a",
            ".spec",
            "[0]",
            "spec.a b",
            "spec/a",
            "$.spec",
            "spec.*",
            "spec[a b]",
            "spec['']",
            "spec.0",
            "object.spec",
        ];
        for path in wrong {
            FieldPath::parse(path).expect_err(path);
            FieldPath::naming(path).expect_err(path);
        }
        // A path without an expression has to name a single item.
        for path in ["spec.all[].a", "spec.all[*].a"] {
            FieldPath::parse(path).expect_err(path);
            FieldPath::naming(path).expect(path);
        }
    }
}
