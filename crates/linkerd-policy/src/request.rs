//! Decides whether a request is allowed: its route and the authorized clients, as the proxy decides with
//! the controller's answer.

use std::net::IpAddr;

use super::answer::{Authorization, Inbound, Protocol};
use super::expression;
use super::routes::InboundRoute;
use crate::objects::{MethodMatch, RouteMatch};

/// The result of a request or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Allowed.
    Admitted,
    /// Not authorized: status 403, or a closed connection.
    Refused,
    /// No matching route: status 404.
    NoRoute,
}

/// A client as policy models it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client<'c> {
    /// Its mesh identity; `None` for clients without a proxy.
    pub identity: Option<&'c str>,
    /// Its address; an unknown one counts as a match.
    pub address: Option<IpAddr>,
}

impl Inbound<'_> {
    /// The result of `GET path` without headers that a route requires.
    pub fn get(&self, path: &str, client: Client<'_>) -> Entry {
        let admits = |one: &Authorization<'_>| one.admits(client.identity, client.address);
        let at_port = self.authorizations.iter().any(admits);
        if matches!(self.protocol, Protocol::Opaque | Protocol::Tls) {
            return if at_port { Entry::Admitted } else { Entry::Refused };
        }
        // Of the matching routes, the most specific one; probes match exactly.
        let taking = self.routes.iter().filter_map(|route| Some((special(route, path)?, route)));
        let Some((_, route)) = taking.max_by_key(|(special, _)| *special) else { return Entry::NoRoute };
        if at_port || route.authorizations.iter().any(admits) { Entry::Admitted } else { Entry::Refused }
    }

    /// The result of a connection with unknown requests: whether the port or any route allows it.
    pub fn connect(&self, client: Client<'_>) -> Entry {
        let by_route = self.routes.iter().filter(|route| route.probe_paths.is_empty());
        let mut all = self.authorizations.iter().chain(by_route.flat_map(|route| &route.authorizations));
        if all.any(|one| one.admits(client.identity, client.address)) { Entry::Admitted } else { Entry::Refused }
    }
}

/// The specificity of a route's match for a path: exact paths before prefixes, longer prefixes first;
/// `None` without a match.
fn special(route: &InboundRoute<'_>, path: &str) -> Option<usize> {
    let Some((_, object)) = route.route else {
        return match route.probe_paths.as_slice() {
            [] => Some(1),
            paths => paths.iter().any(|known| known == path).then_some(usize::MAX),
        };
    };
    let rules = object.spec.rules.iter();
    let each = rules.filter_map(|rule| match rule.matches.as_slice() {
        // A rule without matches matches everything.
        [] => Some(1),
        matches => matches.iter().filter_map(|one| matched(one, path)).max(),
    });
    each.max()
}

fn matched(one: &RouteMatch, path: &str) -> Option<usize> {
    let method = match &one.method {
        None => true,
        Some(MethodMatch::Http(method)) => method == "GET",
        Some(MethodMatch::Grpc { .. }) => false,
    };
    if !method || !one.headers.is_empty() || !one.query_params.is_empty() {
        return None;
    }
    let Some(wanted) = &one.path else { return Some(1) };
    let value = wanted.value.as_deref().unwrap_or("/");
    match wanted.kind.as_deref() {
        Some("Exact") => (value == path).then_some(usize::MAX),
        Some("RegularExpression") => expression::matches_whole(value, path).then_some(value.len() + 1),
        _ => {
            let prefix = value.trim_end_matches('/');
            let rest = path.strip_prefix(prefix)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(prefix.len() + 1)
        }
    }
}
