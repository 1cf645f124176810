//! Sends queries to a Prometheus server: directly, or to a pod through a port-forward. Errors name the server without
//! credentials, the query and the next step.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use http::StatusCode;
use kube::config::{AuthInfo, Cluster};
use tokio::time::Instant;

use super::super::api_client::{ApiClient, RequestError};
use super::super::call::Call;
use super::super::connection_lost::ConnectionError;
use super::super::path::encode;
use super::super::quote::quote_answer;
use super::super::traffic::Meter;
use super::super::{forward, kubeconfig};
use super::response::{self, InvalidResponse, MOST_LABELS, MOST_SERIES, QueryResult};
use super::{BUDGET, Prometheus};
use crate::fetched::Why;

/// Maximum size of a response, before and after decompression.
const MOST: usize = 128 << 20;
/// Maximum length of a quoted text of the server.
const QUOTED: usize = 200;

/// A failed query, as one sentence.
#[derive(Debug)]
pub(super) struct QueryError(pub(super) String);

/// The way to the server.
pub(super) enum PrometheusServer<'a> {
    Url {
        /// The client.
        api: Box<ApiClient>,
        /// The URL, without credentials.
        url: String,
    },
    /// A port of a pod.
    Pod {
        /// The client of the API server.
        api: &'a ApiClient,
        /// The pod's namespace.
        namespace: String,
        pod: String,
        port: u16,
    },
}

impl<'a> PrometheusServer<'a> {
    /// A client for a URL, with the time limits of the API server's.
    ///
    /// # Errors
    /// The URL or the certificate authority cannot be used.
    pub(super) fn connect(url: &str, from: &Prometheus, api: &'a ApiClient) -> Result<PrometheusServer<'a>, String> {
        let cluster = Cluster {
            server: Some(url.to_owned()),
            certificate_authority: from.certificate_authority.as_ref().map(|path| path.display().to_string()),
            ..Cluster::default()
        };
        let user = AuthInfo { token: from.token.clone(), ..AuthInfo::default() };
        let unusable = |what: &str| format!("Prometheus {url}: {what}; check the URL and the certificate authority");
        let config = kubeconfig::configure(&cluster, user, |name| std::env::var(name).ok());
        let mut config = config.map_err(|error| unusable(&error.to_string()))?;
        config.default_retry = false;
        config.disable_compression = true;
        config.connect_timeout = Some(api.patience(forward::PATIENCE));
        let client = kube::Client::try_from(config).map_err(|error| unusable(&error.to_string()))?;
        let api = ApiClient::new(client, Some(api.patience(BUDGET / 4)), true);
        Ok(PrometheusServer::Url { api: Box::new(api), url: url.to_owned() })
    }
}

/// A client of the server's HTTP API.
pub(super) struct PrometheusClient<'a> {
    server: PrometheusServer<'a>,
    until: Instant,
    meter: Meter,
    warning: Mutex<Option<String>>,
}

impl<'a> PrometheusClient<'a> {
    /// A client that stops at a time.
    pub(super) fn new(server: PrometheusServer<'a>, until: Instant) -> PrometheusClient<'a> {
        PrometheusClient { server, until, meter: Meter::default(), warning: Mutex::default() }
    }

    /// The server, for messages.
    pub(super) fn name(&self) -> String {
        match &self.server {
            PrometheusServer::Url { url, .. } => format!("Prometheus {url}"),
            PrometheusServer::Pod { namespace, pod, .. } => format!("Prometheus Pod {namespace}/{pod}"),
        }
    }

    /// The first warning of the server that results may be incomplete.
    pub(super) fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The series of an expression at the server's present time. `about` names the query in errors.
    pub(super) async fn instant(&self, expression: &str, about: &str) -> Result<QueryResult, QueryError> {
        let path = format!("/api/v1/query?query={}&limit={MOST_SERIES}", encode(expression));
        self.query(&path, about).await
    }

    /// The series of an expression at two times.
    pub(super) async fn range(
        &self,
        expression: &str,
        about: &str,
        (start, end): (f64, f64),
    ) -> Result<QueryResult, QueryError> {
        let (query, step) = (encode(expression), end - start);
        let path = format!(
            "/api/v1/query_range?query={query}&start={start:.3}&end={end:.3}&step={step:.3}&limit={MOST_SERIES}"
        );
        self.query(&path, about).await
    }

    /// Whether the server's configuration shows that these jobs store every series that they scrape.
    pub(super) async fn keeps_every_series(&self, jobs: &BTreeSet<String>) -> bool {
        let body = self.get("/api/v1/status/config").await;
        body.is_ok_and(|body| response::keeps_every_series(&body, jobs))
    }

    async fn query(&self, path: &str, about: &str) -> Result<QueryResult, QueryError> {
        let result = self.get(path).await.and_then(parsed);
        let result = result.map_err(|what| self.error(about, &what))?;
        if let Some(warning) = result.warnings.first() {
            let what = format!("the result may be incomplete: {}", quote_answer(warning, QUOTED));
            let QueryError(warning) = self.error(about, &what);
            self.warning.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(warning);
        }
        Ok(result)
    }

    pub(super) fn error(&self, about: &str, what: &str) -> QueryError {
        QueryError(format!("{}, query of {about}: {what}", self.name()))
    }

    /// The body of a response, or the reason why there is none and the next step.
    async fn get(&self, path: &str) -> Result<Vec<u8>, String> {
        let until = self.until;
        let late = || {
            let limit = BUDGET.as_secs();
            format!("not finished within {limit} s for all queries; select fewer pods with -n NAMESPACE")
        };
        tokio::time::timeout_at(until, self.send(path)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn send(&self, path: &str) -> Result<Vec<u8>, String> {
        match &self.server {
            PrometheusServer::Url { api, .. } => {
                if let Some(reason) = api.gave_up() {
                    return Err(reason.replace("the API server", "Prometheus"));
                }
                let call = Call { most: MOST, ..Call::get(path) };
                let answer = api.send(&call, &self.meter, true).await.map_err(|error| described(&error))?;
                answer.whole(&self.meter, MOST).map_err(|_| TOO_LARGE.to_owned())
            }
            PrometheusServer::Pod { api, namespace, pod, port } => {
                let answer = forward::get(api, (namespace, pod), *port, path).await;
                match answer.map_err(|why: Why| why.to_string())? {
                    (200, body) => Ok(body),
                    (status, _) => Err(format!("HTTP {status}; see the logs of the pod")),
                }
            }
        }
    }
}

const TOO_LARGE: &str = "the response is broken or larger than 128 MB; select fewer pods with -n NAMESPACE";

fn parsed(body: Vec<u8>) -> Result<QueryResult, String> {
    QueryResult::parse(body).map_err(|error| match error {
        InvalidResponse::Html => "the response is an HTML page; check the path of the URL, and whether a proxy \
             requires a login"
            .to_owned(),
        InvalidResponse::Other => {
            "the response is not one of the Prometheus HTTP API; check the path of the URL".to_owned()
        }
        InvalidResponse::TooMany => {
            format!("more than {MOST_SERIES} series; select fewer pods with -n NAMESPACE")
        }
        InvalidResponse::TooWide => format!(
            "a series has more than {MOST_LABELS} labels, or labels of more than 64 kB; check that the URL is that of \
             Prometheus"
        ),
        InvalidResponse::Failed(message) => {
            format!("the server reports an error: {}; see its logs", quote_answer(&message, QUOTED))
        }
    })
}

/// The reason of a failed request, and the next step.
fn described(error: &RequestError) -> String {
    match error {
        RequestError::TimedOut { seconds } => {
            format!("no response within {seconds} s; select fewer pods with -n NAMESPACE, or raise --request-timeout")
        }
        RequestError::Broken(ConnectionError::TooLarge { .. }) => TOO_LARGE.to_owned(),
        RequestError::Broken(ConnectionError::Certificate { .. }) => {
            "the server's certificate is not trusted; name its authority with --prometheus-ca FILE".to_owned()
        }
        RequestError::Broken(broken) => format!("{}; check host and port of the URL", broken.words()),
        RequestError::Refused(refusal) => {
            let next = match refusal.status {
                StatusCode::UNAUTHORIZED => "give a valid bearer token with --prometheus-token-file FILE",
                StatusCode::FORBIDDEN => "give a token that may query with --prometheus-token-file FILE",
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "check the path of the URL",
                status if status.is_redirection() => "give the final URL, or a token for the proxy in front",
                StatusCode::TOO_MANY_REQUESTS => {
                    "the server limits queries: wait, or select fewer pods with -n NAMESPACE"
                }
                _ => "see the logs of the server",
            };
            format!("{}; {next}", refusal.words())
        }
    }
}
