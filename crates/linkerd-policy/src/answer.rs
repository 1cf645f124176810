//! The policy of one port: the Server or default policy that takes it, its protocol, and the authorized
//! clients.

use super::authentication::{IdentityMatch, NetworkMatch};
use super::default::DefaultPolicy;
use super::routes::InboundRoute;
use crate::objects::{AuthorizationPolicy, HTTPLocalRateLimitPolicy, Server, ServerAuthorization};

/// The policy of one port of a workload.
#[derive(Debug, Clone)]
pub struct Inbound<'a> {
    /// The Server or default policy that takes the port.
    pub taken_by: TakenBy<'a>,
    /// Whether an annotation of the workload restricts the default policy of this port to meshed clients.
    pub identity_required: bool,
    pub protocol: Protocol,
    /// Authorizations for the whole port, in the order of their names.
    pub authorizations: Vec<Authorization<'a>>,
    /// Its routes; the first match decides. They apply only if the protocol is HTTP, gRPC or detected.
    pub routes: Vec<InboundRoute<'a>>,
    /// Its rate limit; applies only if the protocol is HTTP or detected.
    pub rate_limit: Option<RateLimit<'a>>,
}

/// The object or default that takes a port.
#[derive(Debug, Clone, Copy)]
pub enum TakenBy<'a> {
    Server(&'a Server),
    /// No Server: the default policy, as modified by the workload's annotations.
    Default(DefaultPolicy),
}

/// The protocol of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Detected from the client's first bytes.
    Detect,
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    Grpc,
    /// Not parsed.
    Opaque,
    /// The application's own TLS.
    Tls,
}

impl Protocol {
    /// Whether all connections are read as HTTP.
    pub fn is_http(self) -> bool {
        matches!(self, Protocol::Http1 | Protocol::Http2 | Protocol::Grpc)
    }

    /// The text in reports.
    pub fn label(self) -> &'static str {
        match self {
            Protocol::Detect => "detected",
            Protocol::Http1 => "HTTP/1",
            Protocol::Http2 => "HTTP/2",
            Protocol::Grpc => "gRPC",
            Protocol::Opaque => "opaque",
            Protocol::Tls => "TLS",
        }
    }
}

/// An authorization of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Authorization<'a> {
    /// The object or default that authorizes them.
    pub by: AuthorizedBy<'a>,
    /// The networks that clients come from.
    pub networks: Vec<NetworkMatch>,
    /// The required identity.
    pub who: Who,
}

/// The source of an authorization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AuthorizedBy<'a> {
    /// A default policy, or the access policy of a Server.
    Default(DefaultPolicy),
    /// The controller itself, for the kubelet's probes.
    Probe,
    /// An AuthorizationPolicy.
    Policy(&'a AuthorizationPolicy),
    /// A ServerAuthorization.
    Server(&'a ServerAuthorization),
}

/// The identity that an authorization requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// None.
    Anybody,
    /// Any identity of the mesh.
    Meshed,
    /// One of these identities.
    Identities(Vec<IdentityMatch>),
}

/// The rate limit of a port.
#[derive(Debug, Clone)]
pub struct RateLimit<'a> {
    /// The object that sets it.
    pub by: &'a HTTPLocalRateLimitPolicy,
    /// Limits for named clients: requests per second, and their identities.
    pub overrides: Vec<(u32, Vec<String>)>,
}

impl AuthorizedBy<'_> {
    pub fn name(&self) -> &str {
        match self {
            AuthorizedBy::Default(policy) => policy.as_str(),
            AuthorizedBy::Probe => "probe",
            AuthorizedBy::Policy(policy) => &policy.metadata.name,
            AuthorizedBy::Server(authorization) => &authorization.metadata.name,
        }
    }
}

impl Authorization<'_> {
    /// Whether any client can meet it: its networks have an address, and its identities are not blank.
    pub fn admits_any(&self) -> bool {
        let is_blank = |known: &IdentityMatch| *known == IdentityMatch::Exact(String::new());
        let shown = match &self.who {
            Who::Anybody | Who::Meshed => true,
            Who::Identities(matches) => !matches.iter().all(is_blank),
        };
        shown && !self.networks.iter().all(NetworkMatch::is_empty)
    }

    /// Whether it authorizes a client by identity, if it has one, and address. An unknown address counts as
    /// a match.
    pub fn admits(&self, identity: Option<&str>, address: Option<std::net::IpAddr>) -> bool {
        let from = address.is_none_or(|address| self.networks.iter().any(|network| network.contains(address)));
        let shows = match &self.who {
            Who::Anybody => true,
            Who::Meshed => identity.is_some(),
            Who::Identities(matches) => {
                identity.is_some_and(|identity| matches.iter().any(|known| known.matches(identity)))
            }
        };
        from && shows
    }
}
