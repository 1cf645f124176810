//! The policy-validator webhook for every kind but routes.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Denied, Validation, known, networks, quoted, read};
use crate::item::Kind;
use crate::knowledge::AdmissionRule as Rule;
use crate::objects::{
    AuthorizationPolicy, EgressNetwork, HTTPLocalRateLimitPolicy, LabelSelector, MeshTLSAuthentication,
    NetworkAuthentication, Server, ServerAuthorization, TargetRef,
};
use crate::policy::{self, DefaultPolicy, qualified};

const LINKERD: &str = "policy.linkerd.io";
const GATEWAY: &str = "gateway.networking.k8s.io";

pub(super) fn validate(of: &Validation<'_>, kind: Kind, object: &Value) -> Result<(), Denied> {
    match kind {
        Kind::Server => read(object).as_ref().map_or(Ok(()), server),
        Kind::ServerAuthorization => read(object).as_ref().map_or(Ok(()), server_authorization),
        Kind::AuthorizationPolicy => read(object).map_or(Ok(()), |policy| authorization_policy(of, &policy)),
        Kind::MeshTLSAuthentication => read(object).as_ref().map_or(Ok(()), mesh_tls),
        Kind::NetworkAuthentication => read(object).map_or(Ok(()), |object: NetworkAuthentication| {
            some_network(Some(object.spec.networks.len()))?;
            networks::validate(&object.spec.networks, "spec.networks")
        }),
        Kind::EgressNetwork => read(object).map_or(Ok(()), |object: EgressNetwork| {
            let named = object.spec.networks.as_deref();
            some_network(named.map(<[_]>::len))?;
            networks::validate(named.unwrap_or_default(), "spec.networks")
        }),
        Kind::HTTPLocalRateLimitPolicy => read(object).as_ref().map_or(Ok(()), rate_limit),
        _ => Ok(()),
    }
}

fn some_network(number: Option<usize>) -> Result<(), Denied> {
    match number {
        Some(0) => Err(Denied::new(Rule::NetworksEmpty, "spec.networks", "at least one network must be specified")),
        _ => Ok(()),
    }
}

fn server(server: &Server) -> Result<(), Denied> {
    let spec = &server.spec;
    if spec.pod_selector.is_none() && spec.external_workload_selector.is_none() {
        let why = "it has neither podSelector nor externalWorkloadSelector";
        return Err(Denied::new(Rule::ServerUnreadable, "spec", why));
    }
    let selectors =
        [("spec.podSelector", &spec.pod_selector), ("spec.externalWorkloadSelector", &spec.external_workload_selector)];
    for (path, selector) in selectors {
        labels(Rule::ServerUnreadable, path, selector.as_ref())?;
    }
    Denied::at(Rule::ServerUnreadable, "spec.port", policy::server_port_fault(server))?;
    let fault = spec.proxy_protocol.as_deref().map_or(Ok(()), policy::proxy_protocol_fault);
    Denied::at(Rule::ServerUnreadable, "spec.proxyProtocol", fault)?;
    match spec.access_policy.as_deref() {
        Some(mode) if mode.parse::<DefaultPolicy>().is_err() => {
            let why = format!("invalid accessPolicy: {} is not a mode", quoted(mode));
            Err(Denied::new(Rule::ServerAccessPolicy, "spec.accessPolicy", why))
        }
        _ => Ok(()),
    }
}

fn labels(rule: Rule, path: &str, selector: Option<&LabelSelector>) -> Result<(), Denied> {
    let fault = selector.map_or(Ok(()), policy::selector_fault);
    Denied::at(rule, &format!("{path}.matchLabels"), fault)
}

fn server_authorization(object: &ServerAuthorization) -> Result<(), Denied> {
    let client = &object.spec.client;
    labels(Rule::Client, "spec.server.selector", object.spec.server.selector.as_ref())?;
    if let Some(mesh_tls) = &client.mesh_tls {
        if client.unauthenticated {
            let why = "unauthenticated must be false if meshTLS is set";
            return Err(Denied::new(Rule::Client, "spec.client.unauthenticated", why));
        }
        let named = mesh_tls.identities.len() + mesh_tls.service_accounts.len();
        if mesh_tls.unauthenticated_tls && named > 0 {
            let why = "unauthenticatedTLS must be false if identities or serviceAccounts are set";
            return Err(Denied::new(Rule::Client, "spec.client.meshTLS.unauthenticatedTLS", why));
        }
    }
    networks::validate(&client.networks, "spec.client.networks")
}

fn authorization_policy(of: &Validation<'_>, policy: &AuthorizationPolicy) -> Result<(), Denied> {
    let target = &policy.spec.target_ref;
    if target.is_a("", "Namespace") && target.name != policy.metadata.namespace {
        let why = format!("it cannot target another namespace: {}", target.name);
        return Err(Denied::new(Rule::TargetNamespace, "spec.targetRef.name", why));
    }
    let required = &policy.spec.required_authentication_refs;
    let count = |group: &str, kind: &str| required.iter().filter(|one| one.is_a(group, kind)).count();
    let (mesh_tls, accounts) = (count(LINKERD, "MeshTLSAuthentication"), count("", "ServiceAccount"));
    let networks = count(LINKERD, "NetworkAuthentication");
    let denied = |why: String| Err(Denied::new(Rule::Authentications, "spec.requiredAuthenticationRefs", why));
    for (number, kind) in
        [(mesh_tls, "MeshTLSAuthentication"), (accounts, "ServiceAccount"), (networks, "NetworkAuthentication")]
    {
        if number > 1 {
            return denied(format!("only a single {kind} may be set"));
        }
    }
    if mesh_tls + accounts > 1 {
        return denied("a MeshTLSAuthentication and a ServiceAccount may not be set together".to_owned());
    }
    if mesh_tls + accounts + networks < required.len() {
        let is_known = |one: &&TargetRef| {
            one.is_a(LINKERD, "MeshTLSAuthentication")
                || one.is_a(LINKERD, "NetworkAuthentication")
                || one.is_a("", "ServiceAccount")
        };
        let others: Vec<String> = required
            .iter()
            .filter(|one| !is_known(one))
            .map(|one| {
                let said = qualified(&one.kind, &one.group);
                match one.kind.as_str() {
                    "MeshTLSAuthentication" | "NetworkAuthentication" => {
                        format!("{said}, which needs group: {LINKERD}")
                    }
                    "ServiceAccount" => format!("{said}, which needs an empty group"),
                    _ => said,
                }
            })
            .collect();
        return denied(format!("unsupported authentication kinds: {}", others.join("; ")));
    }
    target_kind(of, target)
}

fn target_kind(of: &Validation<'_>, target: &TargetRef) -> Result<(), Denied> {
    let always = [(LINKERD, "Server"), ("", "Namespace"), (LINKERD, "HTTPRoute")];
    if always.iter().any(|(group, kind)| target.is_a(group, kind)) {
        return Ok(());
    }
    let rule = if target.is_a(GATEWAY, "HTTPRoute") {
        Rule::TargetHttpRoute
    } else if target.is_a(GATEWAY, "GRPCRoute") {
        Rule::TargetGrpcRoute
    } else {
        Rule::TargetKind
    };
    if !of.holds(rule) {
        return Ok(());
    }
    let why = format!("policies cannot target {}", qualified(&target.kind, &target.group));
    Err(Denied::new(rule, "spec.targetRef.kind", why))
}

fn mesh_tls(object: &MeshTLSAuthentication) -> Result<(), Denied> {
    for (at, text) in object.spec.identities.iter().enumerate() {
        let fault = known(text).map_or(Ok(()), identity);
        Denied::at(Rule::Identity, &format!("spec.identities[{at}]"), fault)?;
    }
    for (at, reference) in object.spec.identity_refs.iter().enumerate() {
        let path = format!("spec.identityRefs[{at}]");
        if reference.is_a("", "ServiceAccount") {
            continue;
        }
        if !reference.is_a("", "Namespace") {
            let why = format!("invalid kind of identity: {}", qualified(&reference.kind, &reference.group));
            return Err(Denied::new(Rule::IdentityReference, format!("{path}.kind"), why));
        }
        if reference.namespace.is_some() {
            let why = "a reference to a Namespace cannot have a namespace";
            return Err(Denied::new(Rule::IdentityReference, format!("{path}.namespace"), why));
        }
    }
    Ok(())
}

/// Whether an identity has the form of a DNS name, with an optional wildcard in front, or of a SPIFFE id.
fn identity(text: &str) -> Result<(), String> {
    static DNS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").ok());
    let invalid = |why: &str| Err(format!("identity {text:?} is invalid: {why}"));
    let Some(rest) = text.strip_prefix("spiffe://") else {
        let is_dns = DNS.as_ref().is_some_and(|dns| dns.is_match(text));
        return if is_dns { Ok(()) } else { invalid("it is neither a DNS name nor a SPIFFE id") };
    };
    let is_plain = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    let (domain, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if domain.is_empty() {
        return invalid("the trust domain is missing");
    }
    if !domain.chars().all(|c| c.is_ascii_lowercase() || is_plain(c)) {
        return invalid("the trust domain has other characters than a-z, 0-9, dots, dashes and underscores");
    }
    for segment in path.split('/').skip(1) {
        match segment {
            "" => return invalid("a path segment is empty"),
            "." | ".." => return invalid("a path segment consists of dots"),
            _ if segment.chars().all(|c| c.is_ascii_alphabetic() || is_plain(c)) => {}
            _ => return invalid("a path segment has characters that SPIFFE ids cannot have"),
        }
    }
    Ok(())
}

fn rate_limit(object: &HTTPLocalRateLimitPolicy) -> Result<(), Denied> {
    let spec = &object.spec;
    let total = spec.total.as_ref().map(|limit| limit.requests_per_second);
    let identity = spec.identity.as_ref().map(|limit| limit.requests_per_second);
    let overrides = spec.overrides.iter().enumerate();
    let overrides = overrides.map(|(at, one)| (format!("spec.overrides[{at}]"), one.requests_per_second));
    let numbers: Vec<(String, i64)> = [("spec.total", total), ("spec.identity", identity)]
        .into_iter()
        .filter_map(|(path, number)| Some((path.to_owned(), number?)))
        .chain(overrides)
        .map(|(path, number)| (format!("{path}.requestsPerSecond"), number))
        .collect();
    let number = |path: &str, why: String| Err(Denied::new(Rule::RateLimitNumber, path, why));
    for (path, value) in &numbers {
        if u32::try_from(*value).is_err() {
            return number(path, format!("{value} is not between 0 and {}", u32::MAX));
        }
    }
    if !spec.target_ref.is_a(LINKERD, "Server") {
        let target = qualified(&spec.target_ref.kind, &spec.target_ref.group);
        let why = format!("its target must be a Server, not {target}");
        return Err(Denied::new(Rule::RateLimitTarget, "spec.targetRef.kind", why));
    }
    for (path, value) in &numbers {
        if *value == 0 {
            return number(path, "it must be greater than 0".to_owned());
        }
        if total.is_some_and(|total| *value > total) {
            return number(path, format!("{value} is more than total.requestsPerSecond"));
        }
    }
    for (at, one) in spec.overrides.iter().enumerate() {
        if let Some(client) = one.client_refs.iter().find(|client| !client.is_a("", "ServiceAccount")) {
            let why = format!("clients must be ServiceAccounts, not {}", qualified(&client.kind, &client.group));
            return Err(Denied::new(Rule::RateLimitClient, format!("spec.overrides[{at}].clientRefs"), why));
        }
    }
    Ok(())
}

/// The denial of a Server because of one that takes the same port.
pub(super) fn taken(server: &Value, other: &Value) -> Denied {
    let port = &server["spec"]["port"];
    let why = format!(
        "Server {} already takes port {} of pods that this one selects",
        other["metadata"]["name"].as_str().unwrap_or_default(),
        port.as_str().map_or_else(|| port.to_string(), str::to_owned),
    );
    Denied::new(Rule::ServerOverlap, "spec.port", why)
}
