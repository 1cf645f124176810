//! Whether a request gets in: the route that it takes, and who that lets in, as the proxy decides with what the controller told it.

use std::net::IpAddr;

use regex::Regex;

use super::answer::{Authorization, Inbound, Protocol};
use super::routes::InboundRoute;
use crate::objects::{MethodMatch, RouteMatch};

/// What comes of a request or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It is let in.
    Admitted,
    /// Nothing lets it in: status 403, or the connection ends.
    Refused,
    /// No route takes it: status 404.
    NoRoute,
}

/// A client as far as policy looks at it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client<'c> {
    /// Its identity in the mesh; `None` for clients without a proxy.
    pub identity: Option<&'c str>,
    /// Where it comes from; what is not known counts as what fits.
    pub address: Option<IpAddr>,
}

impl Inbound<'_> {
    /// What comes of `GET path` without a header that a route asks for.
    pub fn get(&self, path: &str, client: Client<'_>) -> Entry {
        let admits = |one: &Authorization<'_>| one.admits(client.identity, client.address);
        let at_port = self.authorizations.iter().any(admits);
        if matches!(self.protocol, Protocol::Opaque | Protocol::Tls) {
            return if at_port { Entry::Admitted } else { Entry::Refused };
        }
        // Of the routes that take it, the one with the most special match; probes are named exactly.
        let taking = self.routes.iter().filter_map(|route| Some((special(route, path)?, route)));
        let Some((_, route)) = taking.max_by_key(|(special, _)| *special) else { return Entry::NoRoute };
        if at_port || route.authorizations.iter().any(admits) { Entry::Admitted } else { Entry::Refused }
    }

    /// What comes of a connection on which nothing is known of requests: whether any route or the port itself lets it in.
    pub fn connect(&self, client: Client<'_>) -> Entry {
        let by_route = self.routes.iter().filter(|route| route.probe_paths.is_empty());
        let mut all = self.authorizations.iter().chain(by_route.flat_map(|route| &route.authorizations));
        if all.any(|one| one.admits(client.identity, client.address)) {
            Entry::Admitted
        } else {
            Entry::Refused
        }
    }
}

/// How special the match is by which a route takes a path: an exact path before prefixes, longer ones first; `None` where it does not.
fn special(route: &InboundRoute<'_>, path: &str) -> Option<usize> {
    let Some((_, object)) = route.route else {
        return match route.probe_paths.as_slice() {
            [] => Some(1),
            paths => paths.iter().any(|known| known == path).then_some(usize::MAX),
        };
    };
    let rules = object.spec.rules.iter();
    let each = rules.filter_map(|rule| match rule.matches.as_slice() {
        // A rule that says nothing takes everything.
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
        Some("RegularExpression") => {
            let whole = Regex::new(&format!("^(?:{value})$")).is_ok_and(|pattern| pattern.is_match(path));
            whole.then_some(value.len() + 1)
        }
        _ => {
            let prefix = value.trim_end_matches('/');
            let rest = path.strip_prefix(prefix)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(prefix.len() + 1)
        }
    }
}
