//! Headers and query parameters by which routes match requests: a value after a sensitive name is replaced.

use std::borrow::Cow;

use serde_json::Value;

use super::free_text::is_sensitive;
use super::object::{Counts, masked, replace};

/// The value of a header or query parameter.
pub fn matched_value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if announces(name) { masked(value) } else { Cow::Borrowed(value) }
}

/// Whether a header or parameter of this name carries a secret.
fn announces(name: &str) -> bool {
    is_sensitive(name) || name.to_ascii_lowercase().contains("authorization")
}

/// Applies this to an HTTPRoute or GRPCRoute.
pub(super) fn matches(route: &mut Value, counts: &mut Counts) {
    let rules = route.pointer_mut("/spec/rules").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten() {
        let matches = rule.get_mut("matches").and_then(Value::as_array_mut);
        for one in matches.into_iter().flatten() {
            for field in ["headers", "queryParams"] {
                for pair in one.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
                    let sensitive = pair["name"].as_str().is_some_and(announces);
                    if let Some(Value::String(value)) = pair.get_mut("value").filter(|_| sensitive) {
                        replace(value, counts);
                    }
                }
            }
        }
    }
}
