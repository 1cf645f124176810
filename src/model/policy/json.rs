//! An answer in the form in which the policy controller gives it to proxies: protobuf written as JSON, names as in the protocol,
//! defaults left out. For comparing with a controller, not for reading.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::answer::{Authorization, AuthorizedBy, Inbound, Protocol, RateLimit, TakenBy, Who};
use super::authentication::{IdentityMatch, NetworkMatch};
use super::routes::{InboundRoute, RouteKind};
use crate::objects::{
    Header, HeaderModifier, MethodMatch, Redirect, RouteFilter, RouteMatch, RouteRule, ValueMatch,
};

/// How long the proxy waits for what clients send before it takes a connection as opaque.
const DETECT_TIMEOUT: &str = "10s";
/// Linkerd's own group.
const GROUP: &str = "policy.linkerd.io";

/// One answer.
pub fn answer(inbound: &Inbound<'_>) -> Value {
    let mut answer = json!({ "protocol": protocol(inbound), "labels": labels(inbound) });
    put(&mut answer, "authorizations", inbound.authorizations.iter().map(authorization).collect());
    answer
}

/// Puts a list that is not empty.
fn put(object: &mut Value, name: &str, list: Vec<Value>) {
    if !list.is_empty() {
        object[name] = Value::Array(list);
    }
}

fn labels(inbound: &Inbound<'_>) -> Value {
    match inbound.taken_by {
        TakenBy::Server(server) => json!({"group": GROUP, "kind": "server", "name": server.metadata.name}),
        TakenBy::Default(policy) => json!({"group": "", "kind": "default", "name": policy.as_str()}),
    }
}

fn protocol(inbound: &Inbound<'_>) -> Value {
    let routes: Vec<Value> = inbound.routes.iter().map(|each| route(each, inbound.protocol)).collect();
    let limit = inbound.rate_limit.as_ref().map(rate_limit);
    let with = |start: Value, routes_as: &str, limit_as: &str| {
        let mut object = start;
        put(&mut object, routes_as, routes.clone());
        if let Some(limit) = &limit {
            object[limit_as] = limit.clone();
        }
        object
    };
    match inbound.protocol {
        Protocol::Detect => {
            json!({"detect": with(json!({"timeout": DETECT_TIMEOUT}), "http_routes", "http_local_rate_limit")})
        }
        Protocol::Http1 => json!({"http1": with(json!({}), "routes", "local_rate_limit")}),
        Protocol::Http2 => json!({"http2": with(json!({}), "routes", "local_rate_limit")}),
        Protocol::Grpc => json!({"grpc": with(json!({}), "routes", "")}),
        Protocol::Opaque => json!({"opaque": {}}),
        Protocol::Tls => json!({"tls": {}}),
    }
}

fn authorization(authorization: &Authorization<'_>) -> Value {
    let name = authorization.by.name();
    let kind = match authorization.by {
        AuthorizedBy::Default(_) | AuthorizedBy::Probe => None,
        AuthorizedBy::Policy(_) => Some("authorizationpolicy"),
        AuthorizedBy::Server(_) => Some("serverauthorization"),
    };
    let (labels, metadata) = match kind {
        None => (json!({"group": "", "kind": "default", "name": name}), json!({ "default": name })),
        Some(kind) => {
            let resource = json!({"group": GROUP, "kind": kind, "name": name});
            (resource.clone(), json!({ "resource": resource }))
        }
    };
    let mut value = json!({ "authentication": authentication(&authorization.who), "labels": labels, "metadata": metadata });
    put(&mut value, "networks", authorization.networks.iter().map(network).collect());
    value
}

fn network(network: &NetworkMatch) -> Value {
    let mut value = json!({ "net": network.net.to_string() });
    put(&mut value, "except", network.except.iter().map(|net| json!(net.to_string())).collect());
    value
}

fn authentication(who: &Who) -> Value {
    let matches = match who {
        Who::Anybody => return json!({"unauthenticated": {}}),
        Who::Meshed => return json!({"meshTLS": {"unauthenticated": {}}}),
        Who::Identities(matches) => matches,
    };
    let (mut identities, mut suffixes) = (Vec::new(), Vec::new());
    for known in matches {
        match known {
            IdentityMatch::Exact(name) if name.is_empty() => identities.push(json!({})),
            IdentityMatch::Exact(name) => identities.push(json!({ "name": name })),
            IdentityMatch::Suffix(parts) if parts.is_empty() => suffixes.push(json!({})),
            IdentityMatch::Suffix(parts) => suffixes.push(json!({ "parts": parts })),
        }
    }
    let mut value = json!({});
    put(&mut value, "identities", identities);
    put(&mut value, "suffixes", suffixes);
    json!({"meshTLS": {"identities": value}})
}

fn rate_limit(limit: &RateLimit<'_>) -> Value {
    let requests = |number: u32| if number == 0 { json!({}) } else { json!({ "requestsPerSecond": number }) };
    let by = &limit.by;
    let resource = json!({"group": GROUP, "kind": "HTTPLocalRateLimitPolicy", "name": by.metadata.name});
    let mut value = json!({ "metadata": { "resource": resource } });
    for (name, said) in [("total", &by.spec.total), ("identity", &by.spec.identity)] {
        if let Some(said) = said {
            value[name] = requests(said.requests_per_second);
        }
    }
    let overrides = limit.overrides.iter().map(|(number, clients)| {
        let mut named = json!({});
        put(&mut named, "identities", clients.iter().map(|name| json!({ "name": name })).collect());
        json!({ "limit": requests(*number), "clients": named })
    });
    put(&mut value, "overrides", overrides.collect());
    value
}

fn route(route: &InboundRoute<'_>, protocol: Protocol) -> Value {
    let mut value = match route.route {
        Some((kind, object)) => {
            let (group, name) = (kind.group(), &object.metadata.name);
            let resource = json!({"group": group, "kind": kind.kind().info().kind, "name": name});
            let mut value = json!({"metadata": {"resource": resource}});
            put(&mut value, "hosts", object.spec.hostnames.iter().map(|host| self::host(host)).collect());
            put(&mut value, "rules", object.spec.rules.iter().map(|rule| self::rule(kind, rule)).collect());
            value
        }
        None if !route.probe_paths.is_empty() => {
            let get = |path: &String| json!({"path": {"exact": path}, "method": {"registered": "GET"}});
            let matches: Vec<Value> = route.probe_paths.iter().map(get).collect();
            json!({"metadata": {"default": "probe"}, "rules": [{ "matches": matches }]})
        }
        None if protocol == Protocol::Grpc => {
            json!({"metadata": {"default": "default"}, "rules": [{"matches": [{"rpc": {}}]}]})
        }
        None => {
            json!({"metadata": {"default": "default"}, "rules": [{"matches": [{"path": {"prefix": "/"}}]}]})
        }
    };
    put(&mut value, "authorizations", route.authorizations.iter().map(authorization).collect());
    value
}

fn host(host: &str) -> Value {
    match host.strip_prefix("*.") {
        Some(rest) => json!({"suffix": {"reverse_labels": rest.rsplit('.').collect::<Vec<_>>()}}),
        None => json!({ "exact": host }),
    }
}

fn rule(kind: RouteKind, rule: &RouteRule) -> Value {
    let mut value = json!({});
    put(&mut value, "matches", rule.matches.iter().map(|said| matched(kind, said)).collect());
    put(&mut value, "filters", rule.filters.iter().filter_map(|said| filter(kind, said)).collect());
    value
}

fn matched(kind: RouteKind, said: &RouteMatch) -> Value {
    let mut value = json!({});
    put(&mut value, "headers", said.headers.iter().map(header).collect());
    if kind == RouteKind::Grpc {
        if let Some(MethodMatch::Grpc { service, method, .. }) = &said.method {
            let parts = [("method", method), ("service", service)];
            let said =
                parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), json!(part.as_ref()?))));
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

fn one(name: &str, value: impl Into<Value>) -> Value {
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

/// A filter; those that change answers are not given to servers.
fn filter(kind: RouteKind, said: &RouteFilter) -> Option<Value> {
    if let Some(modifier) = &said.request_header_modifier {
        return Some(json!({ "request_header_modifier": modified(modifier) }));
    }
    let redirect = said.request_redirect.as_ref().filter(|_| kind.is_http())?;
    Some(json!({ "redirect": redirected(redirect) }))
}

fn modified(modifier: &HeaderModifier) -> Value {
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

fn redirected(redirect: &Redirect) -> Value {
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
