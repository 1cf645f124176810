//! The live cluster: the only module that uses the Kubernetes client. [`Live::connect`] verifies the connection once;
//! later problems are outcomes of the affected item ([`Why`]), never errors.
//!
//! It reads lists over all namespaces in pages, and single objects by name. It never watches, never lists Secrets or
//! ConfigMaps, and never logs headers or bodies. It never writes, except for [`node_pods`] and [`publish`] on explicit
//! request. Ports are forwarded ([`served`], [`metrics`], [`destination`], [`certificates`]) and a Prometheus server is
//! queried ([`prometheus`]) only on request. An access review is posted, but the API server does not store it.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use self::api_client::{ApiClient, ApiResponse, RequestError};
use self::call::{Call, OBJECT_BODY};
use self::fetch_error::{ended, why};
use self::traffic::{Account, Ledger, Meter};
use crate::fetched::{Fetched, Why};
use crate::item::answer::{Response, object};
use crate::item::{Item, Kind, Probe, Program};
use crate::node_files::NodeFiles;
use crate::protobuf::Message;
use crate::request::Request;
use crate::source::{ObjectSink, Origin, Source};

mod api_client;
mod call;
mod certificates;
mod cli;
mod connect;
mod connection_lost;
mod destination;
mod error;
mod exec;
mod fetch_error;
mod flow;
mod forward;
mod kubeconfig;
mod linked;
mod list;
mod metrics;
pub mod node_pods;
mod overrides;
mod path;
mod pod_logs;
mod process;
mod prometheus;
mod proxy;
mod publish;
mod quote;
mod served;
mod split;
mod traffic;

pub use cli::Cli;
pub use connect::{Connect, contexts, current_context};
pub use error::ConnectError;
pub use overrides::ConnectionOverrides;
pub use prometheus::{Prometheus, PrometheusAddress, WantedPods};
pub use publish::{Done, PublishError};
pub use traffic::Traffic;

/// Path for access reviews.
const ACCESS_REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// A connected cluster.
pub struct Live {
    api: Arc<ApiClient>,
    context: String,
    server: String,
    cli: Cli,
    /// `/version`, requested when connecting.
    version: Result<Vec<u8>, Why>,
    deadline: Option<Instant>,
    /// Whether running programs may be queried.
    probing: bool,
    started: Instant,
    greeting: Traffic,
    ledger: Ledger,
}

impl Live {
    /// Sets the deadline. Later responses end as [`Why::TimedOut`]; the report is still written.
    #[must_use]
    pub fn with_deadline(mut self, at: Instant) -> Live {
        self.deadline = Some(at);
        self
    }

    /// Enables queries of running programs (`--probe`).
    #[must_use]
    pub fn with_probes(mut self, probing: bool) -> Live {
        self.probing = probing;
        self
    }

    /// Name of the context; `in-cluster` inside a pod.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// The API server's address: scheme, host and port.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Cost of each item so far, in order.
    pub fn traffic(&self) -> Vec<(Request, Traffic)> {
        self.ledger.items()
    }

    async fn answer(&self, request: &Request, meter: &Arc<Meter>, sink: &mut dyn ObjectSink) -> Fetched {
        match &request.item {
            Item::List(kind) => list::list(&self.api, *kind, meter, sink).await,
            Item::Named { kind, name, .. } => {
                self.read_object(*kind, request.namespace.as_deref(), name, meter, sink).await
            }
            Item::Probe(probe) if self.probing => {
                self.probe(probe, request.namespace.as_deref().unwrap_or_default(), sink).await
            }
            Item::Access(access) => self.access(&access.review(request.namespace.as_deref()), meter, sink).await,
            Item::Served(server) => match request.namespace.as_deref().filter(|_| self.probing) {
                Some(namespace) => served::served(&self.api, *server, namespace, meter, sink).await,
                None => Fetched::Missing { reason: Why::NotOffered },
            },
            Item::ServerVersion => match &self.version {
                Ok(body) => {
                    sink.object(body);
                    Fetched::Complete
                }
                Err(reason) => Fetched::Missing { reason: reason.clone() },
            },
            Item::CliVersion => match cli::version(&self.cli).await {
                Ok(version) => {
                    let answer = serde_json::json!({
                        "version": version.as_str(), "extensions": cli::extensions(&self.cli),
                    });
                    sink.object(answer.to_string().as_bytes());
                    Fetched::Complete
                }
                Err(reason) => Fetched::Missing { reason },
            },
            // Another source adds node evidence and logs.
            Item::Probe(_) | Item::NodeFiles | Item::Logs | Item::Diagnostics => {
                Fetched::Missing { reason: Why::NotOffered }
            }
        }
    }

    async fn probe(&self, probe: &Probe, namespace: &str, sink: &mut dyn ObjectSink) -> Fetched {
        let Probe { program, pod } = probe;
        let answer = match program {
            Program::LinkedCluster => linked::config(&self.api, (namespace, pod)).await,
            Program::MetricsApi | Program::Prometheus | Program::ServiceMirror => {
                forward::get(&self.api, (namespace, pod), program.port(), program.path())
                    .await
                    .map(|(status, body)| Response::read(*program, status, &body))
            }
        };
        match answer {
            Ok(said) => {
                sink.object(object(*program, (namespace, pod), &said).to_string().as_bytes());
                Fetched::Complete
            }
            Err(reason) => Fetched::Missing { reason },
        }
    }

    async fn read_object(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        meter: &Arc<Meter>,
        sink: &mut dyn ObjectSink,
    ) -> Fetched {
        let missing = |reason| Fetched::Missing { reason };
        let Some(path) = path::object(kind, namespace, name) else {
            return missing(Why::Failed { message: format!("no namespace is known for {name}") });
        };
        match self.api.get(&path, meter, true).await {
            Ok(answer) => one(answer, meter, Some((kind, name)), sink),
            Err(RequestError::Refused(refusal)) if refusal.status == StatusCode::NOT_FOUND => {
                // A Status about the object means that it does not exist; any other 404, that the kind is unknown.
                match refusal.object.as_deref() {
                    Some(object) if object == name => Fetched::Complete,
                    _ => missing(Why::NotServed),
                }
            }
            Err(trouble) => missing(why(&trouble)),
        }
    }

    /// Requests a review of the operator's permissions.
    async fn access(&self, review: &serde_json::Value, meter: &Arc<Meter>, sink: &mut dyn ObjectSink) -> Fetched {
        match self.api.send(&Call::post(ACCESS_REVIEWS, review), meter, true).await {
            Ok(answer) => one(answer, meter, None, sink),
            Err(RequestError::Refused(refusal)) if refusal.status == StatusCode::NOT_FOUND => {
                Fetched::Missing { reason: Why::NotServed }
            }
            Err(trouble) => Fetched::Missing { reason: why(&trouble) },
        }
    }
}

/// Reads a response that is one object.
/// Passes on the object of a response, which must be the requested one if there is one.
fn one(answer: ApiResponse, meter: &Arc<Meter>, requested: Option<(Kind, &str)>, sink: &mut dyn ObjectSink) -> Fetched {
    let malformed = |message: &str| Fetched::Missing { reason: Why::Malformed { message: message.to_owned() } };
    let Ok(body) = answer.whole(meter, OBJECT_BODY) else {
        return malformed("the response is broken or endless");
    };
    let Ok(head) = serde_json::from_slice::<Identity>(&body) else {
        return match body.trim_ascii_start().starts_with(b"<") {
            true => Fetched::Missing { reason: Why::html_page() },
            false => malformed("the response is not JSON"),
        };
    };
    if let Some((kind, name)) = requested
        && (head.kind.is_some_and(|other| other != kind.info().kind)
            || head.metadata.name.is_some_and(|other| other != name))
    {
        return malformed("the API server answered with another object");
    }
    sink.object(&body);
    Fetched::Complete
}

/// The identity of an object in a response.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Identity {
    kind: Option<String>,
    metadata: IdentityMeta,
}

/// Its metadata.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct IdentityMeta {
    name: Option<String>,
}

impl Source for Live {
    fn origin(&self) -> Origin {
        Origin { kind: "live".to_owned(), name: self.context.clone() }
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let account = Account::open(&self.ledger, request);
        let asks_server =
            matches!(request.item, Item::List(_) | Item::Named { .. } | Item::Access(_) | Item::Served(_));
        if asks_server && let Some(message) = self.api.gave_up() {
            return Fetched::Missing { reason: Why::Failed { message } };
        }
        let Some(deadline) = self.deadline else { return self.answer(request, &account.meter, sink).await };
        let mut counted = ArrivalSink { sink, arrived: 0 };
        let answer = self.answer(request, &account.meter, &mut counted);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Ok(fetched) => fetched,
            Err(_) => {
                let seconds = deadline.saturating_duration_since(self.started).as_secs().max(1);
                ended(Why::TimedOut { seconds }, counted.arrived)
            }
        }
    }
}

/// A sink that records whether anything arrived, in case the request is cancelled.
struct ArrivalSink<'a> {
    sink: &'a mut dyn ObjectSink,
    arrived: usize,
}

impl ObjectSink for ArrivalSink<'_> {
    fn object(&mut self, json: &[u8]) {
        self.arrived += 1;
        self.sink.object(json);
    }

    fn begun(&mut self, text: &str) -> Option<usize> {
        let length = self.sink.begun(text)?;
        self.arrived += 1;
        Some(length)
    }

    fn takes_messages(&self) -> bool {
        self.sink.takes_messages()
    }

    fn message(&mut self, message: Message<'_>) -> bool {
        self.arrived += 1;
        self.sink.message(message)
    }

    fn node(&mut self, files: NodeFiles) {
        self.arrived += 1;
        self.sink.node(files);
    }

    fn restart(&mut self) {
        self.arrived = 0;
        self.sink.restart();
    }
}
