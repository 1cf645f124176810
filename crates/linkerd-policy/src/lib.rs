//! Linkerd's policy as its controller evaluates it. Inbound: the Server or default that takes a pod's port,
//! the authorized clients, and the objects without effect. Outbound: the destinations of calls. The results
//! equal the controller's answers to proxies, for the installed release; recorded answers of real
//! controllers are the tests.
//!
//! Depends only on objects and settings. Checks decide whether a result is a problem.

mod answer;
mod authentication;
mod by_target;
mod controller;
mod default;
mod expression;
mod faults;
mod index;
mod ineffective;
mod json;
mod matches;
mod outbound;
mod parse;
mod read;
mod request;
mod routes;
pub mod status;
#[cfg(test)]
mod tests;
mod workload;

pub use answer::{Authorization, AuthorizedBy, Inbound, Protocol, RateLimit, TakenBy, Who};
pub use authentication::{IdentityMatch, NetworkMatch};
pub use controller::{Controller, NotReadable, Quirks};
pub use default::DefaultPolicy;
pub use faults::{
    RouteAnnotations, annotations_fault, filter_content_fault, filter_type_fault, match_fault, modifier_fault,
    parse_network, profile_pattern_fault, proxy_protocol_fault, redirect_fault, selector_fault, server_port_fault,
};
pub use index::{Ignored, Index, Objects, ReadServer};
pub use json::{inbound as to_json, outbound as outbound_to_json};
pub use outbound::{
    Accrual, Backend, Destination, GrpcStatus, Outbound, OutboundIndex, OutboundObjects, OutboundRoute, OutboundRule,
    Parent, Penalty, Retry, RetryOn, Spoken, SuccessRate, Timeouts,
};
pub use read::qualified;
pub use request::{Client, Entry};
pub use routes::{InboundRoute, ROUTES, RouteKind, is_of_the_mesh};
pub use workload::{Ports, Probed, REQUIRE_IDENTITY, Workload, http_probe, listed_ports, probe_port, probes_of};

use linkerd_facts::{chart, knowledge};
use meshdoctor_core::{names, version};
use meshdoctor_objects as objects;
use objects::Kind;

/// The kinds that decide inbound policy, in addition to pods and the control plane.
pub const POLICY_KINDS: [Kind; 10] = [
    Kind::Server,
    Kind::ServerAuthorization,
    Kind::AuthorizationPolicy,
    Kind::MeshTLSAuthentication,
    Kind::NetworkAuthentication,
    Kind::HTTPLocalRateLimitPolicy,
    Kind::HTTPRoute,
    Kind::LinkerdHTTPRoute,
    Kind::GRPCRoute,
    Kind::ExternalWorkload,
];

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct LinkerdPolicyReadme;
