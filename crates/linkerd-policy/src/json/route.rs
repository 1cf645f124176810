//! The parts of routes in the form in which the controller sends them to proxies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::routes::RouteKind;
use crate::objects::{Header, HeaderModifier, MethodMatch, Redirect, RouteMatch, ValueMatch};

/// Inserts a list unless it is empty.
pub(super) fn put(object: &mut Value, name: &str, list: Vec<Value>) {
    if !list.is_empty() {
        object[name] = Value::Array(list);
    }
}

/// The match for a host name.
pub(super) fn host(host: &str) -> Value {
    match host.strip_prefix("*.") {
        Some(rest) => json!({"suffix": {"reverse_labels": rest.rsplit('.').collect::<Vec<_>>()}}),
        None => json!({ "exact": host }),
    }
}

/// The match for requests.
pub(super) fn matched(kind: RouteKind, said: &RouteMatch) -> Value {
    let mut value = json!({});
    put(&mut value, "headers", said.headers.iter().map(header).collect());
    if kind == RouteKind::Grpc {
        if let Some(MethodMatch::Grpc { service, method, .. }) = &said.method {
            let parts = [("method", method), ("service", service)];
            let said = parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), json!(part.as_ref()?))));
            value["rpc"] = Value::Object(said.filter(|(_, part)| part != "").collect());
        }
        return value;
    }
    if let Some(path) = &said.path {
        let by = match path.kind.as_deref() {
            Some("Exact") => "exact",
            Some("RegularExpression") => "regex",
            _ => "prefix",
        };
        value["path"] = one(by, path.value.as_deref().unwrap_or("/"));
    }
    put(&mut value, "query_params", said.query_params.iter().map(parameter).collect());
    if let Some(MethodMatch::Http(method)) = &said.method {
        value["method"] = json!({ "registered": method });
    }
    value
}

/// An object with one field.
pub(super) fn one(name: &str, value: impl Into<Value>) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value.into())]))
}

fn header(said: &ValueMatch) -> Value {
    let value = said.value.as_deref().unwrap_or_default();
    match said.kind.as_deref() {
        Some("RegularExpression") => json!({ "name": said.name.to_lowercase(), "regex": value }),
        _ => json!({ "name": said.name.to_lowercase(), "exact": STANDARD.encode(value) }),
    }
}

fn parameter(said: &ValueMatch) -> Value {
    let value = said.value.as_deref().unwrap_or_default();
    match said.kind.as_deref() {
        Some("RegularExpression") => json!({ "name": said.name, "regex": value }),
        _ => json!({ "name": said.name, "exact": value }),
    }
}

/// A header modifier.
pub(super) fn modified(modifier: &HeaderModifier) -> Value {
    let headers = |headers: &[Header]| {
        let mut value = json!({});
        let each = |header: &Header| {
            let mut one = json!({ "name": header.name.to_lowercase() });
            if !header.value.is_empty() {
                one["value"] = json!(STANDARD.encode(&header.value));
            }
            one
        };
        put(&mut value, "headers", headers.iter().map(each).collect());
        value
    };
    let mut value = json!({ "add": headers(&modifier.add), "set": headers(&modifier.set) });
    put(&mut value, "remove", modifier.remove.iter().map(|name| json!(name.to_lowercase())).collect());
    value
}

/// A redirect.
pub(super) fn redirected(redirect: &Redirect) -> Value {
    let mut value = json!({ "status": redirect.status_code.unwrap_or(200) });
    if let Some(scheme) = &redirect.scheme {
        value["scheme"] = json!({ "registered": scheme.to_uppercase() });
    }
    if let Some(host) = redirect.hostname.as_ref().filter(|host| !host.is_empty()) {
        value["host"] = json!(host);
    }
    if let Some(port) = redirect.port.filter(|port| *port != 0) {
        value["port"] = json!(port);
    }
    if let Some(path) = &redirect.path {
        value["path"] = match (&path.replace_full_path, &path.replace_prefix_match) {
            (Some(full), _) => json!({ "full": full }),
            (None, prefix) => json!({ "prefix": prefix }),
        };
    }
    value
}
