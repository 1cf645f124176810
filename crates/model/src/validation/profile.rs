//! The sp-validator webhook: ServiceProfiles, field by field.

use serde_json::{Map, Value};

use super::{Denied, quoted};
use crate::knowledge::{AdmissionRule, go_duration};

type Checked = Result<(), Denied>;

fn denied(path: &str, why: impl Into<String>) -> Checked {
    Err(Denied::new(AdmissionRule::Profile, path, why))
}

pub(super) fn validate(profile: &Value) -> Checked {
    let name = profile["metadata"]["name"].as_str().unwrap_or_default();
    if !is_subdomain(name) {
        return denied("metadata.name", format!("{name:?} is not a DNS name in lower case"));
    }
    let spec = object(&profile["spec"], "spec", &["routes", "opaquePorts", "retryBudget", "dstOverrides"])?;
    let Some(spec) = spec else { return Ok(()) };
    for (at, item) in list(spec.get("routes"), "spec.routes")?.iter().enumerate() {
        route(item, &format!("spec.routes[{at}]"))?;
    }
    for (at, item) in list(spec.get("dstOverrides"), "spec.dstOverrides")?.iter().enumerate() {
        object(item, &format!("spec.dstOverrides[{at}]"), &["authority", "weight"])?;
    }
    budget(spec.get("retryBudget").unwrap_or(&Value::Null))
}

fn route(item: &Value, path: &str) -> Checked {
    let known_fields = ["name", "condition", "isRetryable", "timeout", "responseClasses"];
    let Some(route) = object(item, path, &known_fields)? else {
        return denied(path, "a route must not be null");
    };
    if text(route, path, "name")?.is_empty() {
        return denied(path, "a route must have a name");
    }
    duration(text(route, path, "timeout")?, &format!("{path}.timeout"))?;
    let condition = route.get("condition").unwrap_or(&Value::Null);
    if condition.is_null() {
        return denied(path, "a route must have a condition");
    }
    request_match(condition, &format!("{path}.condition"))?;
    let classes = format!("{path}.responseClasses");
    for (at, item) in list(route.get("responseClasses"), &classes)?.iter().enumerate() {
        let path = format!("{classes}[{at}]");
        let class = object(item, &path, &["condition", "isFailure"])?;
        let condition = class.and_then(|class| class.get("condition")).filter(|one| !one.is_null());
        match condition {
            Some(condition) => response_match(condition, &format!("{path}.condition"))?,
            None => return denied(&path, "a response class must have a condition"),
        }
    }
    Ok(())
}

fn request_match(item: &Value, path: &str) -> Checked {
    let Some(fields) = object(item, path, &["all", "any", "not", "method", "pathRegex"])? else {
        return denied(path, "a condition must not be null");
    };
    let nested = nested(fields, path, request_match)?;
    let has_text = !text(fields, path, "method")?.is_empty() | !text(fields, path, "pathRegex")?.is_empty();
    if nested || has_text { Ok(()) } else { denied(path, "a condition must have a field") }
}

fn response_match(item: &Value, path: &str) -> Checked {
    let Some(fields) = object(item, path, &["all", "any", "not", "status"])? else {
        return denied(path, "a condition must not be null");
    };
    let nested = nested(fields, path, response_match)?;
    let status = fields.get("status").filter(|status| !status.is_null());
    if let Some(status) = status {
        let path = format!("{path}.status");
        object(status, &path, &["min", "max"])?;
        status_range(status, &path)?;
    }
    if nested || status.is_some() { Ok(()) } else { denied(path, "a condition must have a field") }
}

/// Validates the conditions within another one, and returns whether it has any.
fn nested(fields: &Map<String, Value>, path: &str, each: fn(&Value, &str) -> Checked) -> Result<bool, Denied> {
    let mut some = false;
    for name in ["all", "any"] {
        let path = format!("{path}.{name}");
        some |= fields.get(name).is_some_and(|list| !list.is_null());
        for (at, item) in list(fields.get(name), &path)?.iter().enumerate() {
            each(item, &format!("{path}[{at}]"))?;
        }
    }
    match fields.get("not").filter(|not| !not.is_null()) {
        Some(not) => each(not, &format!("{path}.not")).map(|()| true),
        None => Ok(some),
    }
}

fn status_range(status: &Value, path: &str) -> Checked {
    let bound = |name: &str| match whole(&status[name], &format!("{path}.{name}"))? {
        Some(0) | None => Ok(None),
        number => Ok(number),
    };
    let (least, most) = (bound("min")?, bound("max")?);
    for (name, number) in [("min", least), ("max", most)] {
        if number.is_some_and(|number| !(100..=599).contains(&number)) {
            return denied(&format!("{path}.{name}"), "a status must be between 100 and 599");
        }
    }
    match (least, most) {
        (Some(least), Some(most)) if most < least => {
            denied(&format!("{path}.max"), "the maximum must not be smaller than the minimum")
        }
        _ => Ok(()),
    }
}

fn budget(written: &Value) -> Checked {
    let path = "spec.retryBudget";
    let Some(fields) = object(written, path, &["retryRatio", "minRetriesPerSecond", "ttl"])? else {
        return Ok(());
    };
    whole(&written["minRetriesPerSecond"], "spec.retryBudget.minRetriesPerSecond")?;
    if written["retryRatio"].as_f64().is_some_and(|ratio| ratio < 0.0) {
        return denied("spec.retryBudget.retryRatio", "it must not be negative");
    }
    match text(fields, path, "ttl")? {
        "" => denied(path, "a retry budget must have a ttl"),
        ttl => duration(ttl, "spec.retryBudget.ttl"),
    }
}

fn duration(written: &str, path: &str) -> Checked {
    match go_duration(written) {
        None if !written.is_empty() => {
            denied(path, format!("{} is not a duration such as 250ms or 10s", quoted(written)))
        }
        _ => Ok(()),
    }
}

/// The fields of an object, if it has no others than the given ones; `None` for null.
fn object<'v>(value: &'v Value, path: &str, fields: &[&str]) -> Result<Option<&'v Map<String, Value>>, Denied> {
    let wrong = |path: &str, why: String| Denied::new(AdmissionRule::Profile, path, why);
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => match map.keys().find(|name| !fields.contains(&name.as_str())) {
            Some(other) => Err(wrong(&format!("{path}.{other}"), "unknown field".to_owned())),
            None => Ok(Some(map)),
        },
        _ => Err(wrong(path, "it must be an object".to_owned())),
    }
}

fn list<'v>(value: Option<&'v Value>, path: &str) -> Result<&'v [Value], Denied> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(Denied::new(AdmissionRule::Profile, path, "it must be a list")),
    }
}

/// The text of a field, empty if it is missing or null.
fn text<'v>(fields: &'v Map<String, Value>, path: &str, name: &str) -> Result<&'v str, Denied> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Denied::new(AdmissionRule::Profile, format!("{path}.{name}"), "it must be a string")),
    }
}

/// The whole number of a field, which is not negative.
fn whole(value: &Value, path: &str) -> Result<Option<u32>, Denied> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let why = || Denied::new(AdmissionRule::Profile, path, format!("{value} is not a whole number from 0"));
    number.map(Some).ok_or_else(why)
}

/// Whether it is a DNS name in lower case, as names of objects must be.
fn is_subdomain(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        label.starts_with(is_plain) && label.ends_with(is_plain) && label.chars().all(|c| is_plain(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}
