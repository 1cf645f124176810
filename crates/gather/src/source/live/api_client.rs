//! One request and its response: time limits, retries, byte counts. Never logs headers or bodies. Callers interpret
//! responses.

use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use flate2::read::MultiGzDecoder;
use http::response::Parts;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use kube::client::Body;
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::call::{Accept, Call, is_protobuf};
use super::connection_lost::{ConnectionError, broken};
use super::flow::{Flow, Form};
use super::quote::{quote, quote_answer};
use super::traffic::Meter;
use crate::fetched::Why;
use crate::protobuf::{Message, REFUSAL, in_envelope};

/// Maximum number of attempts per request.
pub(super) const TRIES: u32 = 3;
/// Pause before the second attempt; the third waits four times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Maximum pause that a server can request with Retry-After.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// After this number of timeouts, or of consecutive failures, nothing more is requested: each request would wait as
/// long. Higher than the number of parallel requests, so that one bad moment does not suffice.
const MOST_UNANSWERED: u32 = 8;
/// Number of bytes to read of an error response.
const ERROR_BODY: usize = 64 * 1024;
/// Total time limit of a response that arrives steadily, as a multiple of the limit for one response.
const STEADY: u32 = 4;
/// Minimum number of bytes per second of a response that may take longer than the limit for one response.
const SLOWEST: u64 = 8 * 1024;
/// Maximum number of list pages in parallel, including prefetched ones.
const UNDER_WAY: usize = 6;

/// Total time that a response may take after a number of bytes: the limit, or longer if it arrives steadily.
pub(super) fn allowed(limit: Duration, bytes: usize) -> Duration {
    let steady = Duration::from_secs(bytes as u64 / SLOWEST);
    limit.max(steady.min(limit.saturating_mul(STEADY)))
}

/// The connection to the API server.
pub(super) struct ApiClient {
    client: kube::Client,
    silence: Option<Duration>,
    gzip: bool,
    /// Whether lists may come from the API server's watch cache.
    from_cache: bool,
    /// Receiver for the announcement of a long pause.
    notice: fn(&str),
    announced: AtomicBool,
    /// Number of timeouts. A server without its storage still answers some requests, so responses do not reset it.
    timed_out: AtomicU32,
    /// Number of consecutive requests without a response.
    unanswered: AtomicU32,
    /// Bytes of large objects in all lists.
    excess: AtomicUsize,
    under_way: Arc<Semaphore>,
}

/// Whether a page can wait for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backoff {
    /// It can: it is requested when fewer are in flight.
    Yes,
    /// It must not: prefetched pages wait for it.
    No,
}

/// A successful response, read completely.
pub(super) struct ApiResponse {
    chunks: Vec<Bytes>,
    gzip: bool,
}

/// A response with another status.
#[derive(Debug, Clone)]
pub(super) struct ErrorStatus {
    pub(super) status: StatusCode,
    /// The server's message, redacted; empty if there is none.
    pub(super) message: String,
    /// The object of the Status response.
    pub(super) object: Option<String>,
    /// Target of a redirect: scheme and host only.
    pub(super) location: Option<String>,
}

/// Reason for a failed request.
#[derive(Debug, Clone)]
pub(super) enum RequestError {
    /// No byte arrived within the limit, or not all in time.
    TimedOut { seconds: u64 },
    /// The server responded with an error.
    Refused(Box<ErrorStatus>),
    /// The response was incomplete.
    Broken(ConnectionError),
}

impl ApiClient {
    /// `silence` is the maximum time without a byte; `None` means no limit.
    pub(super) fn new(client: kube::Client, silence: Option<Duration>, gzip: bool) -> ApiClient {
        ApiClient {
            client,
            silence,
            gzip,
            from_cache: false,
            notice: |_| (),
            announced: AtomicBool::new(false),
            timed_out: AtomicU32::new(0),
            unanswered: AtomicU32::new(0),
            excess: AtomicUsize::new(0),
            under_way: Arc::new(Semaphore::new(UNDER_WAY)),
        }
    }

    /// Allows lists of large kinds from the API server's watch cache, at worst seconds old.
    pub(super) fn with_cache(self, from_cache: bool) -> ApiClient {
        ApiClient { from_cache, ..self }
    }

    /// Sets the receiver for the announcement of a long pause.
    pub(super) fn with_notice(self, notice: fn(&str)) -> ApiClient {
        ApiClient { notice, ..self }
    }

    /// The number of bytes of large objects in all lists.
    pub(super) fn excess(&self) -> &AtomicUsize {
        &self.excess
    }

    /// Whether lists may come from the API server's watch cache.
    pub(super) fn reads_cache(&self) -> bool {
        self.from_cache
    }

    /// Reason to request nothing more, if the server has stopped responding.
    pub(super) fn gave_up(&self) -> Option<String> {
        if self.timed_out.load(Ordering::Relaxed) >= MOST_UNANSWERED {
            return Some(format!("not requested: {MOST_UNANSWERED} requests to the API server timed out"));
        }
        let unanswered = self.unanswered.load(Ordering::Relaxed);
        (unanswered >= MOST_UNANSWERED)
            .then(|| format!("not requested: the API server did not answer {MOST_UNANSWERED} requests in a row"))
    }

    /// Records whether the server responded.
    fn count(&self, trouble: Option<&RequestError>) {
        if let Some(RequestError::TimedOut { .. }) = trouble {
            self.timed_out.fetch_add(1, Ordering::Relaxed);
        }
        match trouble {
            Some(trouble) if trouble.is_unanswered() => {
                self.unanswered.fetch_add(1, Ordering::Relaxed);
            }
            Some(_) | None => self.unanswered.store(0, Ordering::Relaxed),
        }
    }

    /// Waits before a retry; returns the error if a retry would not help.
    async fn wait_before_retry(
        &self,
        (trouble, asked): Failed,
        tried: &mut u32,
        meter: &Meter,
        settled: bool,
    ) -> Result<(), RequestError> {
        *tried += 1;
        let may_help = match &trouble {
            RequestError::TimedOut { .. } => false,
            RequestError::Refused(refusal) => refusal.is_of_the_moment(),
            RequestError::Broken(broken) => broken.may_pass(settled),
        };
        if !may_help || *tried == TRIES || self.gave_up().is_some() {
            self.count(Some(&trouble));
            return Err(trouble);
        }
        meter.retried();
        let wait = asked.map_or_else(|| pause(*tried), |asked| asked.min(LONGEST_PAUSE));
        if let Some(asked) = asked.filter(|asked| *asked >= Duration::from_secs(1))
            && !self.announced.swap(true, Ordering::Relaxed)
        {
            let (asked, wait) = (asked.as_secs(), wait.as_secs());
            let again = if asked == wait { String::new() } else { format!("; retrying after {wait} s") };
            (self.notice)(&format!("the API server is busy and requests a pause of {asked} s{again}"));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Time limit for programs other than the API server: the given one, or that of one response if less.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        self.silence.map_or(most, |silence| silence.min(most))
    }

    /// GETs a path without reading the body; retries like [`ApiClient::send`].
    pub(super) async fn open(
        &self,
        path: &str,
        accept: Accept,
        meter: &Meter,
        ahead: Backoff,
    ) -> Result<Flow, RequestError> {
        let permit = match ahead {
            // The semaphore is never closed.
            Backoff::Yes => Arc::clone(&self.under_way).acquire_owned().await.ok(),
            Backoff::No => None,
        };
        let call = Call { accept, ..Call::get(path) };
        let mut tried = 0;
        loop {
            match self.begin(&call, meter).await {
                Ok((parts, body)) => {
                    self.count(None);
                    let form = Form { packed: is_packed(&parts.headers), protobuf: is_protobuf(&parts.headers) };
                    return Ok(Flow::new(body, form, self.silence, permit));
                }
                Err(failed) => self.wait_before_retry(failed, &mut tried, meter, true).await?,
            }
        }
    }

    /// The client, for other kinds of requests.
    pub(super) fn client(&self) -> &kube::Client {
        &self.client
    }

    /// GETs a path; see [`ApiClient::send`].
    pub(super) async fn get(&self, path: &str, meter: &Meter, settled: bool) -> Result<ApiResponse, RequestError> {
        self.send(&Call::get(path), meter, settled).await
    }

    /// Sends a request, and retries if that may help: on 429, 5xx and broken connections. `settled` means that the
    /// server has responded before, so that a refused connection is a restart rather than a wrong address.
    pub(super) async fn send(&self, call: &Call, meter: &Meter, settled: bool) -> Result<ApiResponse, RequestError> {
        let mut tried = 0;
        loop {
            match self.send_once(call, meter).await {
                Ok(answer) => {
                    self.count(None);
                    return Ok(answer);
                }
                Err(failed) => self.wait_before_retry(failed, &mut tried, meter, settled).await?,
            }
        }
    }

    async fn send_once(&self, call: &Call, meter: &Meter) -> Result<ApiResponse, Failed> {
        let began = Instant::now();
        let (parts, body) = self.begin(call, meter).await?;
        self.rest(&parts, body, (call.most, began), meter).await.map_err(plain)
    }

    /// Sends a request and waits for success.
    async fn begin(&self, call: &Call, meter: &Meter) -> Result<(Parts, Body), Failed> {
        let began = Instant::now();
        meter.requested();
        let mut request = http::Request::builder()
            .method(call.method.clone())
            .uri(&call.path)
            .header(header::ACCEPT, call.accept.header());
        if self.gzip {
            request = request.header(header::ACCEPT_ENCODING, "gzip");
        }
        if call.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = call.body.clone().map_or_else(Body::empty, |body| Body::from(body.to_vec()));
        let request = request.body(body).map_err(|error| {
            plain(RequestError::Broken(ConnectionError::Other { message: quote(&error.to_string(), 200) }))
        })?;
        let response = self.within(self.client.send(request), began, 0).await.map_err(plain)?;
        let response = response.map_err(|error| plain(RequestError::Broken(broken(&error))))?;
        let (parts, body) = response.into_parts();
        if parts.status.is_success() {
            return Ok((parts, body));
        }
        let answer = self.rest(&parts, body, (ERROR_BODY, began), meter).await.map_err(plain)?;
        let asked = retry_after(&parts.headers);
        Err((RequestError::Refused(Box::new(refusal(parts.status, &parts.headers, answer))), asked))
    }

    /// The body, up to `limit` bytes, of a request that began at a moment.
    async fn rest(
        &self,
        parts: &Parts,
        mut body: Body,
        (limit, began): (usize, Instant),
        meter: &Meter,
    ) -> Result<ApiResponse, RequestError> {
        let (mut chunks, mut length) = (Vec::new(), 0);
        while let Some(frame) = self.within(body.frame(), began, length).await? {
            let frame = frame.map_err(|error| RequestError::Broken(broken(&error)))?;
            let Ok(chunk) = frame.into_data() else { continue };
            meter.received(chunk.len());
            length += chunk.len();
            chunks.push(chunk);
            if length > limit {
                if parts.status.is_success() {
                    return Err(RequestError::Broken(ConnectionError::TooLarge { limit }));
                }
                break;
            }
        }
        Ok(ApiResponse { chunks, gzip: is_packed(&parts.headers) })
    }

    /// The result of a future, unless the request that began at a moment and received `bytes` takes too long.
    async fn within<T>(
        &self,
        future: impl Future<Output = T>,
        began: Instant,
        bytes: usize,
    ) -> Result<T, RequestError> {
        let Some(silence) = self.silence else { return Ok(future.await) };
        let allowed = allowed(silence, bytes);
        let left = allowed.saturating_sub(began.elapsed());
        tokio::time::timeout(left.min(silence), future).await.map_err(|_| {
            let waited = if left < silence { allowed } else { silence };
            RequestError::TimedOut { seconds: waited.as_secs().max(1) }
        })
    }
}

impl ApiResponse {
    /// The whole body, decompressed; for responses that are one object.
    pub(super) fn whole(self, meter: &Meter, limit: usize) -> Result<Vec<u8>, std::io::Error> {
        let gzip = self.gzip;
        let mut body = Vec::new();
        let most = limit as u64 + 1;
        let chunks = Chunks { chunks: self.chunks.into_iter(), now: Bytes::new() };
        if gzip {
            MultiGzDecoder::new(chunks).take(most).read_to_end(&mut body)?;
        } else {
            chunks.take(most).read_to_end(&mut body)?;
        }
        meter.decoded(body.len());
        if body.len() > limit { Err(std::io::Error::other("too large")) } else { Ok(body) }
    }
}

/// The chunks of a response as a reader.
struct Chunks {
    chunks: std::vec::IntoIter<Bytes>,
    now: Bytes,
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.now.is_empty() {
            match self.chunks.next() {
                Some(chunk) => self.now = chunk,
                None => return Ok(0),
            }
        }
        let length = self.now.len().min(into.len());
        into[..length].copy_from_slice(&self.now[..length]);
        self.now.advance(length);
        Ok(length)
    }
}

/// A failed request, and the pause that the server requested.
type Failed = (RequestError, Option<Duration>);

fn plain(trouble: RequestError) -> Failed {
    (trouble, None)
}

fn is_packed(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding == "gzip")
}

impl RequestError {
    /// Whether the server did not respond, or responded only with an error of its own.
    fn is_unanswered(&self) -> bool {
        match self {
            RequestError::TimedOut { .. } => true,
            RequestError::Refused(refusal) => refusal.is_of_the_moment(),
            RequestError::Broken(broken) => broken.is_unanswered(),
        }
    }

    /// The response was lost for an unknown reason.
    pub(super) fn lost() -> RequestError {
        RequestError::Broken(ConnectionError::Cut)
    }
}

/// The next pause: growing, with jitter, so that clients do not retry together.
pub(super) fn pause(tried: u32) -> Duration {
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish() % 1000;
    let base = FIRST_PAUSE * 4_u32.pow(tried - 1);
    base / 2 + base.mul_f64(f64::from(chance as u32) / 1000.0)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn refusal(status: StatusCode, headers: &HeaderMap, answer: ApiResponse) -> ErrorStatus {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Status {
        /// `error` in responses of Prometheus.
        #[serde(alias = "error")]
        message: String,
        details: Option<Details>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Details {
        name: String,
    }
    let body = answer.whole(&Meter::default(), 2 * ERROR_BODY).unwrap_or_default();
    // Only the message of a Status object is quoted, not a proxy's page.
    let said = if is_protobuf(headers) {
        let status = in_envelope(&body, REFUSAL.name).map(|bytes| Message::new(&REFUSAL, bytes));
        status.and_then(|status| Status::deserialize(status).ok())
    } else {
        serde_json::from_slice(&body).ok()
    };
    let said: Status = said.unwrap_or_default();
    let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).map(|value| {
        match value.parse::<http::Uri>() {
            Ok(uri) => match (uri.scheme_str(), uri.host()) {
                (Some(scheme), Some(host)) => format!("{scheme}://{host}"),
                _ => "another path".to_owned(),
            },
            Err(_) => "another place".to_owned(),
        }
    });
    ErrorStatus {
        status,
        message: quote_answer(&said.message, 400),
        object: said.details.map(|details| details.name).filter(|name| !name.is_empty()),
        location: location.filter(|_| status.is_redirection()),
    }
}

impl ErrorStatus {
    /// Whether the server reports that it cannot respond now.
    fn is_of_the_moment(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS || self.status.is_server_error()
    }

    /// Description, for the request that fails because of it.
    pub(super) fn words(&self) -> String {
        let status = self.status.as_u16();
        match (&self.location, self.message.as_str()) {
            (Some(location), _) => Why::redirected(status, location),
            (None, "") => match self.status.canonical_reason() {
                Some(reason) => format!("HTTP {status} {reason}"),
                None => format!("HTTP {status}"),
            },
            (None, message) => format!("HTTP {status}: {message}"),
        }
    }
}
