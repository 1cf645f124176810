//! Linkerd's policy as its controller decides it: inbound, which Server or default takes a port of a pod, who is let in by
//! what, and what of that which people wrote counts for nothing; outbound, where calls go. The answer is the one that the controller would give the
//! proxy, for the release that runs; recorded answers of real controllers are the test.
//!
//! Pure over objects and settings. Whether that is what people meant is for checks to say.

mod answer;
mod authentication;
mod controller;
mod default;
mod index;
mod json;
mod outbound;
mod parse;
mod read;
mod request;
mod routes;
pub mod status;
#[cfg(test)]
mod tests;
mod void;
mod workload;

pub use answer::{Authorization, AuthorizedBy, Inbound, Protocol, RateLimit, TakenBy, Who};
pub use authentication::{IdentityMatch, NetworkMatch};
pub use controller::{Controller, NotReadable, Quirks};
pub use default::DefaultPolicy;
pub use index::{Ignored, Index, Objects, ReadServer};
pub use json::{inbound as to_json, outbound as outbound_to_json};
pub use outbound::{
    Accrual, Backend, Destination, GrpcStatus, Outbound, OutboundIndex, OutboundObjects, OutboundRoute,
    OutboundRule, Parent, Penalty, Retry, RetryOn, Spoken, SuccessRate, Timeouts, go_duration,
};
pub use request::{Client, Entry};
pub use routes::{InboundRoute, ROUTES, RouteKind, is_of_the_mesh};
pub use workload::{Ports, Probed, Workload, listed_ports, probes_of};
