//! Texts of a rule that are no CEL: `variables.NAME` as it is bound, and the paths of fields.

use serde_json::Value;

/// How a variable is bound: a name of its own, as a map that holds all of them would need each to have a value.
pub(super) fn bound(variable: &str) -> String {
    format!("variables_{variable}")
}

/// An expression with each `variables.NAME` as it is bound, outside of texts and of longer names; columns stay what they were.
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

/// What an author wrote for it, in a message about an expression.
pub(super) fn as_written(message: &str) -> String {
    message.replace("variables_", "variables.")
}

/// A step of the path of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Item(usize),
}

/// The path of a field: `spec.replicas`, `spec.containers[0].image`, `metadata.annotations[linkerd.io/inject]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldPath {
    written: String,
    steps: Vec<Step>,
}

impl FieldPath {
    /// Of what a card says.
    ///
    /// # Errors
    /// It is no path.
    pub(super) fn parse(written: &str) -> Result<FieldPath, String> {
        let wrong = || {
            format!(
                "{written:?} is no path of a field: spec.containers[0].image, metadata.annotations[linkerd.io/inject]"
            )
        };
        let (mut steps, mut rest) = (Vec::new(), written);
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (key, after) = match inner.chars().next() {
                    Some(quote @ ('\'' | '"')) => {
                        let (key, after) = inner[1..].split_once(quote).ok_or_else(wrong)?;
                        (key, after.strip_prefix(']').ok_or_else(wrong)?)
                    }
                    _ => inner.split_once(']').ok_or_else(wrong)?,
                };
                let number = key.parse().ok().filter(|_| !inner.starts_with(['\'', '"']));
                steps.push(number.map_or_else(|| Step::Field(key.to_owned()), Step::Item));
                rest = after;
            } else {
                let name = if steps.is_empty() { rest } else { rest.strip_prefix('.').ok_or_else(wrong)? };
                let end = name.find(['.', '[']).unwrap_or(name.len());
                steps.push(Step::Field(name[..end].to_owned()));
                rest = &name[end..];
            }
        }
        let is_whole = !steps.is_empty() && !steps.contains(&Step::Field(String::new()));
        is_whole.then(|| FieldPath { written: written.to_owned(), steps }).ok_or_else(wrong)
    }

    /// The path as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.written
    }

    /// What stands there; `absent` where nothing does.
    pub(super) fn of(&self, object: &Value) -> String {
        let found = self.steps.iter().try_fold(object, |value, step| match step {
            Step::Field(name) => value.get(name.as_str()),
            Step::Item(at) => value.get(at),
        });
        match found {
            None => "absent".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
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
            assert_eq!(FieldPath::parse(path).expect(path).of(&object), expected, "{path}");
        }
        for path in ["", "spec.", "spec..a", "spec[", "spec['a]", "spec[0]a", ".spec"] {
            FieldPath::parse(path).expect_err(path);
        }
    }
}
