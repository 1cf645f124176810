//! The answer for one port: what takes it, what is spoken on it, who is let in.

use super::authentication::{IdentityMatch, NetworkMatch};
use super::default::DefaultPolicy;
use super::routes::InboundRoute;
use crate::objects::{AuthorizationPolicy, HTTPLocalRateLimitPolicy, Server, ServerAuthorization};

/// The policy of one port of a workload.
#[derive(Debug, Clone)]
pub struct Inbound<'a> {
    /// What takes the port.
    pub taken_by: TakenBy<'a>,
    /// What is spoken on it.
    pub protocol: Protocol,
    /// Who is let in to all of it; in the order of their names.
    pub authorizations: Vec<Authorization<'a>>,
    /// The routes of it, the first that fits decides; they count only where HTTP or gRPC is spoken or detected.
    pub routes: Vec<InboundRoute<'a>>,
    /// How much it takes; counts only where HTTP is spoken or detected.
    pub rate_limit: Option<RateLimit<'a>>,
}

/// What takes a port.
#[derive(Debug, Clone, Copy)]
pub enum TakenBy<'a> {
    /// A Server.
    Server(&'a Server),
    /// No Server: the default policy, after what the workload's annotations make of it.
    Default(DefaultPolicy),
}

/// What is spoken on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Found out from what clients send.
    Detect,
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    /// gRPC.
    Grpc,
    /// Not looked into.
    Opaque,
    /// TLS of the application's own.
    Tls,
}

impl Protocol {
    /// As people write it.
    pub fn word(self) -> &'static str {
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

/// Somebody who is let in.
#[derive(Debug, Clone, PartialEq)]
pub struct Authorization<'a> {
    /// What lets them in.
    pub by: AuthorizedBy<'a>,
    /// Where they come from.
    pub networks: Vec<NetworkMatch>,
    /// What they show.
    pub who: Who,
}

/// What lets somebody in.
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

/// What clients show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Nothing.
    Anybody,
    /// That they speak Linkerd's TLS.
    Meshed,
    /// One of these identities.
    Identities(Vec<IdentityMatch>),
}

/// How many requests a port takes.
#[derive(Debug, Clone)]
pub struct RateLimit<'a> {
    /// What says so.
    pub by: &'a HTTPLocalRateLimitPolicy,
    /// For clients that are named: how many requests in a second, and their identities.
    pub overrides: Vec<(u32, Vec<String>)>,
}

impl AuthorizedBy<'_> {
    /// Its name.
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

    /// Whether it lets in a client with an identity, or without one, that comes from an address; an address that is not known
    /// counts as one that fits.
    pub fn admits(&self, identity: Option<&str>, address: Option<std::net::IpAddr>) -> bool {
        let from =
            address.is_none_or(|address| self.networks.iter().any(|network| network.contains(address)));
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
