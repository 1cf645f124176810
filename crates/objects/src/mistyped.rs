//! Values of the wrong type in objects that are to be applied. The API server rejects such an object, because it
//! cannot decode it (kinds of Kubernetes) or because the schema of its CRD forbids the value.

use crate::{Kind, rule};

/// A value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistyped {
    /// Kind of the object.
    pub kind: Kind,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The field, such as `spec.rules[0].timeouts.request`.
    pub path: String,
    /// What its value must be: `must be a string, not a number`.
    pub why: String,
    /// The string that its value means, if that is certain.
    pub meant: Option<String>,
}

impl Mistyped {
    /// The field as a JSON pointer: `/metadata/annotations/a~1b` of `metadata.annotations[a/b]`.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        let mut rest = self.path.as_str();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
                Some(bracketed) => bracketed,
                None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
            };
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        pointer
    }

    /// Whether it is in this object.
    pub fn is_of(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.kind == kind && self.namespace == namespace && self.name == name
    }
}

/// The field of a value of the wrong type, and what its value must be. `None` if the object can be decoded, if its
/// error is another one, or if the kind belongs to another project, whose types may be wider than those read here.
pub fn mistyped(kind: Kind, json: &[u8]) -> Option<(String, String)> {
    let group = kind.info().group;
    if group.contains('.') && !group.ends_with(".k8s.io") && !group.ends_with("linkerd.io") {
        return None;
    }
    let (path, error) = kind.store().fault(json, rule(kind))?;
    let why = describe(&error.to_string())?;
    // A field inside of a flattened structure has no name.
    let path = path.split('?').next().unwrap_or_default().trim_end_matches(['.', '[']).to_owned();
    (!path.is_empty()).then_some((path, why))
}

/// A decoder's error about a type, in words. Fractions are left out, because some decoders accept `5.0` as an integer,
/// and so is `null`, which means the default.
fn describe(error: &str) -> Option<String> {
    let (found, rest) = error.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let expected = rest.rsplit_once(" at line ").map_or(rest, |(expected, _)| expected);
    let found = match found.split(' ').next()? {
        "integer" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        "map" => "an object",
        "sequence" => "a list",
        _ => return None,
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => "a number",
        "a boolean" => "a boolean",
        "a string" | "a borrowed string" | "string" => "a string",
        "a sequence" => "a list",
        "a map" => "an object",
        text if text.starts_with("struct ") => "an object",
        _ => return None,
    };
    (found != expected).then(|| format!("must be {expected}, not {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_types_are_named_with_their_field() {
        let cases = [
            (
                Kind::Service,
                r#"{"metadata":{"name":"a"},"spec":{"ports":[{"port":"eighty"}]}}"#,
                Some(("spec.ports[0].port", "must be a number, not a string")),
            ),
            (
                Kind::HTTPRoute,
                r#"{"metadata":{"name":"a"},"spec":{"rules":[{"timeouts":{"request":5}}]}}"#,
                Some(("spec.rules[0].timeouts.request", "must be a string, not a number")),
            ),
            (
                Kind::Deployment,
                r#"{"metadata":{"name":"a"},"spec":{"replicas":"two"}}"#,
                Some(("spec.replicas", "must be a number, not a string")),
            ),
            (Kind::Deployment, r#"{"metadata":{"name":"a"},"spec":{"replicas":null}}"#, None),
            (Kind::Deployment, r#"{"metadata":{"name":"a"},"spec":{"replicas":2}}"#, None),
        ];
        for (kind, json, wanted) in cases {
            let wanted = wanted.map(|(path, why)| (path.to_owned(), why.to_owned()));
            assert_eq!(mistyped(kind, json.as_bytes()), wanted, "{json}");
        }
    }

    #[test]
    fn the_pointer_of_a_field_escapes_its_names() {
        let field = |path: &str| Mistyped {
            kind: Kind::Deployment,
            namespace: String::new(),
            name: String::new(),
            path: path.to_owned(),
            why: String::new(),
            meant: None,
        };
        assert_eq!(field("spec.rules[0].b").pointer(), "/spec/rules/0/b");
        assert_eq!(field("metadata.annotations[a.b/c~d]").pointer(), "/metadata/annotations/a.b~1c~0d");
    }

    #[test]
    fn other_errors_are_not_about_a_type() {
        for error in
            ["missing field `spec`", "invalid value: integer, expected u16", "invalid type: null, expected u16"]
        {
            assert_eq!(describe(error), None, "{error}");
        }
    }
}
