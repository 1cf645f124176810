//! The policy of a port in the form in which the controller sends it to the server's proxy.

use serde_json::{Value, json};

use super::super::answer::{Authorization, AuthorizedBy, Inbound, Protocol, RateLimit, TakenBy, Who};
use super::super::authentication::{IdentityMatch, NetworkMatch};
use super::super::routes::{InboundRoute, RouteKind};
use super::route::{host, matched, modified, put, redirected};
use super::{DETECT_TIMEOUT, GROUP};
use crate::objects::{RouteFilter, RouteRule};

/// One answer.
pub fn answer(inbound: &Inbound<'_>) -> Value {
    let mut answer = json!({ "protocol": protocol(inbound), "labels": labels(inbound) });
    put(&mut answer, "authorizations", inbound.authorizations.iter().map(authorization).collect());
    answer
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
    let mut value = json!({
        "authentication": authentication(&authorization.who), "labels": labels, "metadata": metadata,
    });
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
            value[name] = requests(u32::try_from(said.requests_per_second).unwrap_or_default());
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
            put(&mut value, "hosts", object.spec.hostnames.iter().map(|name| host(name)).collect());
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

fn rule(kind: RouteKind, rule: &RouteRule) -> Value {
    let mut value = json!({});
    put(&mut value, "matches", rule.matches.iter().map(|said| matched(kind, said)).collect());
    put(&mut value, "filters", rule.filters.iter().filter_map(|said| filter(kind, said)).collect());
    value
}

/// A filter; filters for responses are not sent to servers.
fn filter(kind: RouteKind, said: &RouteFilter) -> Option<Value> {
    if let Some(modifier) = &said.request_header_modifier {
        return Some(json!({ "request_header_modifier": modified(modifier) }));
    }
    let redirect = said.request_redirect.as_ref().filter(|_| kind.is_http())?;
    Some(json!({ "redirect": redirected(redirect) }))
}
