//! Answers in the form in which the policy controller sends them to proxies: protobuf as JSON, with the
//! protocol's names and without defaults. For comparison with a controller.

mod inbound;
mod outbound;
mod route;

pub use inbound::answer as inbound;
pub use outbound::answer as outbound;

/// How long the proxy waits for the client's first bytes before it treats a connection as opaque.
const DETECT_TIMEOUT: &str = "10s";
/// Linkerd's own group.
const GROUP: &str = "policy.linkerd.io";
