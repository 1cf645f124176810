//! Routes as the policy controller reads them for Servers: readability, parents, and acceptance.

use http::{HeaderName, HeaderValue, StatusCode};

use super::answer::Authorization;
use super::expression;
use super::parse::Broken;
use crate::objects::{
    HeaderModifier, Kind, MethodMatch, POLICY_CONTROLLER, Redirect, Route, RouteFilter, RouteMatch, ValueMatch,
};

/// The kind of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteKind {
    /// `HTTPRoute` of the Gateway API.
    Http,
    /// `HTTPRoute` of Linkerd's own group.
    LinkerdHttp,
    /// `GRPCRoute`.
    Grpc,
    /// `TLSRoute`.
    Tls,
    /// `TCPRoute`.
    Tcp,
}

/// Routes of every kind.
pub const ROUTES: [Kind; 5] =
    [Kind::HTTPRoute, Kind::LinkerdHTTPRoute, Kind::GRPCRoute, Kind::TLSRoute, Kind::TCPRoute];

impl RouteKind {
    /// The kind of the objects.
    pub fn kind(self) -> Kind {
        match self {
            RouteKind::Http => Kind::HTTPRoute,
            RouteKind::LinkerdHttp => Kind::LinkerdHTTPRoute,
            RouteKind::Grpc => Kind::GRPCRoute,
            RouteKind::Tls => Kind::TLSRoute,
            RouteKind::Tcp => Kind::TCPRoute,
        }
    }

    /// Its API group.
    pub fn group(self) -> &'static str {
        self.kind().info().group
    }

    /// Whether it is one of the kinds for HTTP ports.
    pub fn is_http(self) -> bool {
        matches!(self, RouteKind::Http | RouteKind::LinkerdHttp)
    }
}

/// A route of a port.
#[derive(Debug, Clone)]
pub struct InboundRoute<'a> {
    /// The route; `None` for the default without attached routes.
    pub route: Option<(RouteKind, &'a Route)>,
    /// The clients that it authorizes.
    pub authorizations: Vec<Authorization<'a>>,
    /// The paths of kubelet probes if it is the probe route, otherwise empty.
    pub probe_paths: Vec<String>,
}

/// A route that the controller could read completely.
#[derive(Debug, Clone)]
pub(super) struct ReadRoute<'a> {
    pub(super) kind: RouteKind,
    pub(super) route: &'a Route,
    /// The Servers among its parents.
    pub(super) servers: Vec<&'a str>,
    /// The Servers that accept it.
    pub(super) accepted: Vec<&'a str>,
}

impl<'a> ReadRoute<'a> {
    /// Whether it is attached to a Server.
    pub(super) fn is_of(&self, server: &str) -> bool {
        self.servers.contains(&server) && self.accepted.contains(&server)
    }
}

/// Reads a route for the inbound side. The outer error: the object cannot be read at all. The inner error:
/// why the controller ignores it, including valid parents.
pub(super) fn read<'a>(kind: RouteKind, route: &'a Route) -> Result<Result<ReadRoute<'a>, String>, Broken> {
    let filters = || route.spec.rules.iter().flat_map(|rule| &rule.filters);
    match kind {
        RouteKind::LinkerdHttp => filters().try_for_each(has_what_it_says)?,
        _ => filters().try_for_each(|filter| of_known_type(kind, filter))?,
    }
    if !is_of_the_mesh(route) {
        // For a route of Gateways only, Linkerd's limitations do not matter.
        return Ok(Ok(ReadRoute { kind, route, servers: Vec::new(), accepted: Vec::new() }));
    }
    Ok(servers(route).and_then(|servers| {
        for rule in &route.spec.rules {
            rule.matches.iter().try_for_each(|said| matched(kind, said))?;
            rule.filters.iter().try_for_each(|said| filtered(kind, said))?;
        }
        let of_controller = route.status.parents.iter().filter(|parent| parent.controller_name == POLICY_CONTROLLER);
        let accepted = of_controller
            .filter(|parent| parent.parent_ref.kind.as_deref() == Some("Server"))
            .filter(|parent| parent.conditions.iter().any(|c| c.kind == "Accepted" && c.status == "True"))
            .map(|parent| parent.parent_ref.name.as_str());
        Ok(ReadRoute { kind, route, servers, accepted: accepted.collect() })
    }))
}

/// Whether a route has a parent whose traffic Linkerd routes or authorizes.
pub fn is_of_the_mesh(route: &Route) -> bool {
    let kinds = [("", "Service"), ("policy.linkerd.io", "Server"), ("policy.linkerd.io", "EgressNetwork")];
    route.spec.parent_refs.iter().any(|parent| kinds.iter().any(|(group, kind)| parent.is_a(group, kind)))
}

/// The Servers among a route's parents.
fn servers(route: &Route) -> Result<Vec<&str>, String> {
    let mut servers = Vec::new();
    for parent in &route.spec.parent_refs {
        if !parent.is_a("policy.linkerd.io", "Server") || parent.name.is_empty() {
            continue;
        }
        if parent.namespace.as_deref().is_some_and(|namespace| namespace != route.metadata.namespace) {
            return Err(format!("its parent Server {} is in another namespace", parent.name));
        }
        if parent.port.is_some() {
            return Err(format!(
                "it names a port of its parent Server {}, which is not allowed for Servers",
                parent.name
            ));
        }
        if parent.section_name.is_some() {
            return Err(format!(
                "it names a sectionName of its parent Server {}, which Servers do not have",
                parent.name
            ));
        }
        servers.push(parent.name.as_str());
    }
    Ok(servers)
}

pub(super) fn has_what_it_says(filter: &RouteFilter) -> Result<(), Broken> {
    let there = match filter.kind.as_str() {
        "RequestHeaderModifier" => filter.request_header_modifier.is_some(),
        "ResponseHeaderModifier" => filter.response_header_modifier.is_some(),
        "RequestRedirect" => filter.request_redirect.is_some(),
        other => return Err(Broken::new(format!("unknown filter type {other:?}"))),
    };
    if there { Ok(()) } else { Err(Broken::new(format!("its filter {} is empty", filter.kind))) }
}

/// The controller cannot read filter types that newer releases of the Gateway API added, such as `CORS`.
pub(super) fn of_known_type(kind: RouteKind, filter: &RouteFilter) -> Result<(), Broken> {
    let known: &[&str] = match kind {
        RouteKind::Grpc => &["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "ExtensionRef"],
        _ => &[
            "RequestHeaderModifier",
            "ResponseHeaderModifier",
            "RequestMirror",
            "RequestRedirect",
            "URLRewrite",
            "ExtensionRef",
        ],
    };
    if known.contains(&filter.kind.as_str()) {
        return Ok(());
    }
    Err(Broken::new(format!("filter type {:?} is too new for the policy controller", filter.kind)))
}

pub(super) fn pattern(text: &str) -> Result<(), String> {
    if expression::is_valid(text) { Ok(()) } else { Err(format!("{text:?} is not a regular expression")) }
}

fn is_pattern(said: &ValueMatch) -> bool {
    said.kind.as_deref() == Some("RegularExpression")
}

pub(super) fn matched(kind: RouteKind, said: &RouteMatch) -> Result<(), String> {
    if let Some(path) = &said.path {
        let value = path.value.as_deref().unwrap_or("/");
        if is_pattern(path) {
            pattern(value)?;
        } else if !value.starts_with('/') {
            return Err(format!("path {value:?} does not begin with /"));
        }
    }
    for header in &said.headers {
        header_name(&header.name)?;
        let value = header.value.as_deref().unwrap_or_default();
        if is_pattern(header) { pattern(value)? } else { header_value(&header.name, value)? }
    }
    for parameter in &said.query_params {
        if is_pattern(parameter) {
            pattern(parameter.value.as_deref().unwrap_or_default())?;
        }
    }
    match &said.method {
        Some(MethodMatch::Grpc { kind: Some(by), .. }) if kind == RouteKind::Grpc && by == "RegularExpression" => {
            Err("methods cannot be matched by RegularExpression".to_owned())
        }
        _ => Ok(()),
    }
}

pub(super) fn filtered(kind: RouteKind, filter: &RouteFilter) -> Result<(), String> {
    if let Some(modifier) = filter.request_header_modifier.as_ref().or(filter.response_header_modifier.as_ref()) {
        return modified(modifier);
    }
    match (&filter.request_redirect, kind) {
        (Some(redirect), RouteKind::Http | RouteKind::LinkerdHttp) => return redirected(redirect),
        (_, RouteKind::Http | RouteKind::Grpc) => {}
        _ => return Ok(()),
    }
    let unsupported = [
        (filter.request_mirror.is_some(), "RequestMirror"),
        (filter.url_rewrite.is_some(), "URLRewrite"),
        (filter.extension_ref.is_some(), "ExtensionRef"),
    ];
    match unsupported.iter().find(|(there, _)| *there) {
        Some((_, name)) => Err(format!("filter {name} is not supported by Linkerd")),
        None if of_known_type(kind, filter).is_err() => {
            Err(format!("filter {} is not supported by Linkerd", filter.kind))
        }
        None => Err("a filter is empty".to_owned()),
    }
}

pub(super) fn modified(modifier: &HeaderModifier) -> Result<(), String> {
    modifier.remove.iter().try_for_each(|name| header_name(name))?;
    modifier.set.iter().chain(&modifier.add).try_for_each(|header| {
        header_name(&header.name)?;
        header_value(&header.name, &header.value)
    })
}

fn header_name(name: &str) -> Result<(), String> {
    HeaderName::try_from(name).map(drop).map_err(|_| format!("{name:?} is not a valid header name"))
}

fn header_value(name: &str, value: &str) -> Result<(), String> {
    HeaderValue::try_from(value).map(drop).map_err(|_| format!("the value of header {name} is not valid"))
}

pub(super) fn redirected(redirect: &Redirect) -> Result<(), String> {
    if let Some(path) = &redirect.path {
        match path.replace_full_path.as_deref().or(path.replace_prefix_match.as_deref()) {
            None => return Err("a redirect changes the path but does not set the new path".to_owned()),
            Some(path) if !path.starts_with('/') => {
                return Err(format!("it redirects to path {path:?}, which does not begin with /"));
            }
            Some(_) => {}
        }
    }
    let status =
        redirect.status_code.map(|code| u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok()));
    if status == Some(None) { Err("a redirect has a status that is not valid in HTTP".to_owned()) } else { Ok(()) }
}
