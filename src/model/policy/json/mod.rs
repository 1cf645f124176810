//! Answers in the form in which the policy controller gives them to proxies: protobuf written as JSON, names as in the protocol,
//! defaults left out. For comparing with a controller, not for reading.

mod inbound;
mod outbound;
mod route;

pub use inbound::answer as inbound;
pub use outbound::answer as outbound;

/// How long the proxy waits for what clients send before it takes a connection as opaque.
const DETECT_TIMEOUT: &str = "10s";
/// Linkerd's own group.
const GROUP: &str = "policy.linkerd.io";
