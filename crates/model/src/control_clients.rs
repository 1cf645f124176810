//! A proxy's own clients of the control plane, as its metrics show them.

use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{ControlEndpoints, ControlGateOpenedAt, ControlGateShutAt, ControlResponses};

/// The components that each proxy connects to: the label of the metrics.
pub const CLIENTS: [&str; 3] = ["destination", "policy", "identity"];

/// A component that each proxy connects to.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// The label of the client in metrics.
    pub client: &'static str,
    /// The name in texts.
    pub name: &'static str,
    /// The label of its pods.
    pub component: &'static str,
    /// Its Deployment.
    pub deployment: &'static str,
    /// Its container.
    pub container: &'static str,
    /// The begin of its addresses in metrics.
    address: &'static str,
}

/// These components.
pub const SERVED: [Served; 3] = [
    Served {
        client: "destination",
        name: "destination",
        component: "destination",
        deployment: "linkerd-destination",
        container: "destination",
        address: "linkerd-dst",
    },
    Served {
        client: "identity",
        name: "identity",
        component: "identity",
        deployment: "linkerd-identity",
        container: "identity",
        address: "linkerd-identity",
    },
    Served {
        client: "policy",
        name: "the policy controller",
        component: "destination",
        deployment: "linkerd-destination",
        container: "policy",
        address: "linkerd-policy",
    },
];

impl Served {
    /// Whether a proxy needs its answers to find a new destination.
    pub fn is_for_discovery(&self) -> bool {
        self.client != "identity"
    }
}

/// The number of failed requests between two reads from which a client without a successful one fails.
const FAILING: u64 = 3;

/// The number of requests that failed as unavailable from which a client without a successful one gets no answer.
const UNANSWERED: u64 = 10;
/// The status codes of gRPC of a component that does not answer: DeadlineExceeded and Unavailable. Destination and the
/// policy controller return neither (linkerd2 `controller/api/destination/server.go`, `policy-controller/grpc`); the
/// proxies at both ends do.
const UNAVAILABLE: [&str; 2] = ["4", "14"];

/// The state of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientState {
    /// It has a ready endpoint.
    Connected,
    /// It was connected, and has had no request since: identity between two renewals.
    Idle,
    /// It is connected, but its requests failed between two reads and none succeeded: the component behind
    /// the connection does not work, or has just restarted.
    Failing,
    /// It is connecting, and has no ready endpoint.
    Connecting,
    /// It is in fail-fast, or all its endpoints were pending in both reads.
    CutOff,
    /// The metrics do not show it.
    Unknown,
}

/// A client of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlClient {
    pub state: ClientState,
    /// Number of replicas to which it has a connection. A proxy connects to every replica that the Service lists, and
    /// sends each request to one of them.
    pub connected: u64,
    /// Seconds since it connected, or since it was cut off; `None` if unknown.
    pub since: Option<i64>,
}

impl ControlClient {
    /// The client with this label.
    pub fn new(metrics: &ProxyMetrics, client: &str) -> ControlClient {
        let state = ClientState::from_metrics(metrics, client);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let age = |meaning| {
            let of_client = |series: &&Series| series.label("client") == client && series.value > 0.0;
            let at = metrics.series(meaning).find(of_client)?.value as i64;
            Some(metrics.read_at?.saturating_sub(at)).filter(|age| *age >= 0)
        };
        let since = match state {
            ClientState::Connected | ClientState::Failing => age(ControlGateOpenedAt),
            ClientState::CutOff => age(ControlGateShutAt),
            ClientState::Idle | ClientState::Connecting | ClientState::Unknown => None,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let connected = metrics
            .series(ControlEndpoints)
            .filter(|series| series.label("client") == client && series.label("endpoint_state") == "ready")
            .map(|series| series.value as u64)
            .sum();
        ControlClient { state, connected, since }
    }
}

impl ClientState {
    /// The state of a client with this label.
    pub fn from_metrics(metrics: &ProxyMetrics, client: &str) -> ClientState {
        let time = |meaning| {
            let of_client = |series: &&Series| series.label("client") == client;
            metrics.series(meaning).find(of_client).map_or(0.0, |series| series.value)
        };
        let endpoints = |state: &str| {
            metrics
                .series(ControlEndpoints)
                .find(|series| series.label("client") == client && series.label("endpoint_state") == state)
                .map_or((0.0, Some(0.0)), |series| (series.value, series.before))
        };
        let (ready, ready_before) = endpoints("ready");
        let (pending, pending_before) = endpoints("pending");
        let has_opened = time(ControlGateOpenedAt) > 0.0;
        let is_shut = time(ControlGateShutAt) > 0.0 && !has_opened;
        let stays_pending = metrics.period.is_some()
            && (ready, ready_before) == (0.0, Some(0.0))
            && pending > 0.0
            && pending_before.is_some_and(|before| before > 0.0);
        match () {
            () if is_shut || stays_pending => ClientState::CutOff,
            () if ready > 0.0 && is_failing(metrics, client) => ClientState::Failing,
            () if ready > 0.0 => ClientState::Connected,
            () if pending > 0.0 => ClientState::Connecting,
            () if has_opened => ClientState::Idle,
            () => ClientState::Unknown,
        }
    }
}

fn is_failing(metrics: &ProxyMetrics, client: &str) -> bool {
    let grown = |classification: &str| responses(metrics, client, classification, |_| true);
    grown("failure") >= FAILING && grown("success") == 0
}

/// The number of requests of a connected client that were not answered between two reads, if there are many and none
/// succeeded. Streams that stay open are not counted, so a component that restarted meanwhile shows the same.
pub fn unanswered(metrics: &ProxyMetrics, client: &str) -> Option<u64> {
    let is_unavailable = |series: &Series| UNAVAILABLE.contains(&series.label("grpc_status"));
    let failed = responses(metrics, client, "failure", is_unavailable);
    let is_connected = ClientState::from_metrics(metrics, client) == ClientState::Failing;
    (is_connected && failed >= UNANSWERED).then_some(failed)
}

/// The responses of a classification between two reads.
fn responses(metrics: &ProxyMetrics, client: &str, classification: &str, is_counted: impl Fn(&Series) -> bool) -> u64 {
    let Some(served) = SERVED.iter().find(|served| served.client == client) else { return 0 };
    let own = metrics.grown(ControlResponses).filter(|(series, _)| {
        series.label("addr").starts_with(served.address)
            && series.label("classification") == classification
            && is_counted(series)
    });
    own.map(|(_, growth)| growth).sum()
}
