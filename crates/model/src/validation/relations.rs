//! Rules of schemas that relate several fields, as CRDs state them in `x-kubernetes-validations`.

use serde_json::Value;

use super::known;
use crate::knowledge::go_duration;
use crate::knowledge::{Schema, SchemaRule};

/// The path of a field, and the reason.
type FieldFault = (String, String);

/// Adds the faults of a value with respect to its own fields or items.
pub(super) fn faults(schema: &Schema, value: &Value, path: &str, found: &mut Vec<FieldFault>) {
    found.extend(union_faults(schema, value, path));
    found.extend(repeated(schema, value, path));
    for rule in &schema.rules {
        let fault = match rule {
            SchemaRule::ServicePort => service_port(value, path),
            SchemaRule::RedirectOrBackends => redirect_or_backends(value, path),
            SchemaRule::RedirectOrRewrite => redirect_or_rewrite(value, path),
            SchemaRule::PrefixNeedsPrefixMatch => prefix_needs_prefix_match(value, path),
            SchemaRule::AbsolutePath => absolute_path(value, path),
            SchemaRule::BackendTimeout => backend_timeout(value, path),
            SchemaRule::MethodOrService => method_or_service(value, path),
        };
        found.extend(fault);
    }
}

fn fault(path: impl Into<String>, why: impl Into<String>) -> Option<FieldFault> {
    Some((path.into(), why.into()))
}

fn is_set(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|field| !field.is_null())
}

fn items<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Fields that do not fit the `type`.
fn union_faults(schema: &Schema, value: &Value, path: &str) -> Vec<FieldFault> {
    let Some(of_type) = value["type"].as_str().and_then(known) else { return Vec::new() };
    let faults = schema.union.iter().filter_map(|(kind, field)| match (kind == of_type, is_set(value, field)) {
        (true, false) => fault(format!("{path}.{field}"), format!("the type {kind} requires it")),
        (false, true) => fault(format!("{path}.{field}"), format!("only the type {kind} has it, not {of_type}")),
        _ => None,
    });
    faults.collect()
}

/// Types that a list may contain only once, and contains more often.
fn repeated(schema: &Schema, value: &Value, path: &str) -> Vec<FieldFault> {
    let Some(items) = value.as_array().filter(|_| !schema.unique.is_empty()) else { return Vec::new() };
    let faults = schema.unique.iter().filter_map(|kind| {
        let mut of_kind = items.iter().enumerate().filter(|(_, item)| item["type"] == **kind);
        let (second, _) = of_kind.nth(1)?;
        fault(format!("{path}[{second}].type"), format!("{kind} must not occur twice"))
    });
    faults.collect()
}

fn service_port(reference: &Value, path: &str) -> Option<FieldFault> {
    let is_service = reference["group"].as_str().is_none_or(str::is_empty)
        && reference["kind"].as_str().is_none_or(|kind| kind == "Service");
    let lacks_port = is_service && !is_set(reference, "port");
    lacks_port.then(|| fault(format!("{path}.port"), "a reference to a Service requires it"))?
}

fn has_filter(list: &[Value], field: &str) -> bool {
    list.iter().any(|filter| is_set(filter, field))
}

fn redirect_or_backends(rule: &Value, path: &str) -> Option<FieldFault> {
    let is_both = has_filter(items(rule, "filters"), "requestRedirect") && !items(rule, "backendRefs").is_empty();
    let why = "a rule with a RequestRedirect must not have backendRefs";
    is_both.then(|| fault(format!("{path}.backendRefs"), why))?
}

fn redirect_or_rewrite(filters: &Value, path: &str) -> Option<FieldFault> {
    let has = |kind: &str| filters.as_array().is_some_and(|list| list.iter().any(|one| one["type"] == kind));
    let is_both = has("RequestRedirect") && has("URLRewrite");
    is_both.then(|| fault(path, "RequestRedirect and URLRewrite must not be combined"))?
}

/// A prefix can only be replaced if exactly one match, by PathPrefix, determines it.
fn prefix_needs_prefix_match(rule: &Value, path: &str) -> Option<FieldFault> {
    // Without matches, the default is one match with the prefix "/".
    let matches = match &rule["matches"] {
        Value::Null => return None,
        _ => items(rule, "matches"),
    };
    let is_by_prefix =
        |one: &Value| is_set(one, "path") && one["path"]["type"].as_str().is_none_or(|kind| kind == "PathPrefix");
    if let [one] = matches
        && is_by_prefix(one)
    {
        return None;
    }
    let of_backends = items(rule, "backendRefs").iter().flat_map(|backend| items(backend, "filters"));
    let mut filters = items(rule, "filters").iter().chain(of_backends);
    let replaces = |filter: &Value| {
        ["requestRedirect", "urlRewrite"].iter().any(|field| {
            let path = &filter[*field]["path"];
            path["type"] == "ReplacePrefixMatch" && is_set(path, "replacePrefixMatch")
        })
    };
    let why = "a filter that replaces the prefix needs exactly one match, by PathPrefix";
    filters.any(replaces).then(|| fault(format!("{path}.matches"), why))?
}

fn absolute_path(matched: &Value, path: &str) -> Option<FieldFault> {
    if matched["type"].as_str().is_some_and(|kind| !matches!(kind, "Exact" | "PathPrefix")) {
        return None;
    }
    let text = matched["value"].as_str().and_then(known)?;
    let place = format!("{path}.value");
    if !text.starts_with('/') {
        return fault(place, format!("{text:?} must begin with a slash"));
    }
    let inner = ["//", "/./", "/../", "%2f", "%2F", "#"].into_iter().find(|part| text.contains(part));
    let last = ["/..", "/."].into_iter().find(|part| text.ends_with(part));
    if let Some(part) = inner.or(last) {
        return fault(place, format!("{text:?} must not contain {part}"));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-/._~!$&'()*+,;=:@%".contains(c);
    let invalid = text.chars().find(|c| !is_plain(*c))?;
    fault(place, format!("{text:?} must not contain the character {invalid:?}"))
}

fn backend_timeout(timeouts: &Value, path: &str) -> Option<FieldFault> {
    let limit = |field: &str| timeouts[field].as_str().and_then(known).and_then(go_duration);
    let (request, of_backend) = (limit("request")?, limit("backendRequest")?);
    let is_longer = !request.is_zero() && of_backend > request;
    let why = "backendRequest must not be greater than request";
    is_longer.then(|| fault(format!("{path}.backendRequest"), why))?
}

fn method_or_service(matched: &Value, path: &str) -> Option<FieldFault> {
    let has_none = !is_set(matched, "service") && !is_set(matched, "method");
    has_none.then(|| fault(path, "at least one of service and method must be set"))?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prefix_replacement_needs_one_prefix_match() {
        let rule = |matches: Value| {
            let replace = json!({"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"});
            json!({"matches": matches, "filters": [{"type": "URLRewrite", "urlRewrite": {"path": replace}}]})
        };
        let is_valid = |matches: Value| prefix_needs_prefix_match(&rule(matches), "spec.rules[0]").is_none();
        assert!(is_valid(Value::Null), "the default is the prefix /");
        assert!(is_valid(json!([{"path": {"value": "/a"}}])), "PathPrefix is the default type");
        assert!(!is_valid(json!([{"path": {"type": "Exact", "value": "/a"}}])));
        assert!(!is_valid(json!([{"path": {"value": "/a"}}, {"path": {"value": "/b"}}])));
        assert!(!is_valid(json!([{"method": "GET"}])));
    }

    #[test]
    fn paths_are_absolute_and_normalized() {
        let is_valid = |kind: &str, value: &str| {
            absolute_path(&json!({"type": kind, "value": value}), "spec.rules[0].matches[0].path").is_none()
        };
        for value in ["/", "/a", "/a/b.c", "/a%20b", "/a;b=c"] {
            assert!(is_valid("Exact", value), "{value}");
        }
        for value in ["a", "", "/a//b", "/a/./b", "/a/..", "/a#b", "/a%2fb", "/a b"] {
            assert!(!is_valid("PathPrefix", value), "{value}");
            assert!(is_valid("RegularExpression", value), "{value}");
        }
    }
}
