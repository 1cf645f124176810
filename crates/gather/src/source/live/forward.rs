//! Requests to programs in pods through API server and kubelet, like `kubectl port-forward`: to the pod's loopback,
//! bypassing the proxy and its policies. One GET, limited in time and size.

use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use kube::api::{ObjectMeta, Portforward, Portforwarder};
use kube::core::NamespaceResourceScope;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};

use super::api_client::{ApiClient, TRIES, pause};
use super::connection_lost::broken;
use super::quote::quote_answer;
use crate::fetched::Why;

/// Time limit for a program: that of the linkerd command, or that of one API server response if less.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes: metrics of a cluster with ten thousand pods have two million.
const MOST: usize = 16 * 1024 * 1024;
/// Maximum size of a response head, in bytes.
const HEAD: usize = 64 * 1024;

/// The pod to forward to.
#[derive(Clone, Deserialize)]
struct Ports {
    metadata: ObjectMeta,
}

impl kube::Resource for Ports {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> std::borrow::Cow<'_, str> {
        "Pod".into()
    }

    fn group((): &()) -> std::borrow::Cow<'_, str> {
        "".into()
    }

    fn version((): &()) -> std::borrow::Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> std::borrow::Cow<'_, str> {
        "pods".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Portforward for Ports {}

/// GETs a path on a port of a pod: the HTTP status and the body.
pub(super) async fn get(
    api: &ApiClient,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
) -> Result<(u16, Vec<u8>), Why> {
    read(api, (namespace, pod), port, path, Whole).await
}

/// GETs a path on a port of a pod, and reads the response with `reader`.
pub(super) async fn read<B: BodyReader>(
    api: &ApiClient,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
    reader: B,
) -> Result<B::Content, Why> {
    let patience = api.patience(PATIENCE);
    let asking = exchange(api.client(), (namespace, pod), port, path, reader);
    tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| Err(too_late(patience)))
}

/// Reads a response of a program.
pub(super) trait BodyReader {
    /// The result.
    type Content;

    /// Encodings of the body that it reads, as in Accept-Encoding.
    const ENCODINGS: &'static str;

    /// Reads the response to its end.
    ///
    /// # Errors
    /// The response cannot be read; contains the reason.
    async fn read(self, answer: http::Response<Incoming>) -> Result<Self::Content, &'static str>;
}

/// The HTTP status and the whole body.
struct Whole;

impl BodyReader for Whole {
    type Content = (u16, Vec<u8>);
    const ENCODINGS: &'static str = "identity";

    async fn read(self, answer: http::Response<Incoming>) -> Result<(u16, Vec<u8>), &'static str> {
        let status = answer.status().as_u16();
        Ok((status, whole(answer).await?))
    }
}

/// The timeout error.
pub(super) fn too_late(patience: Duration) -> Why {
    Why::TimedOut { seconds: patience.as_secs().max(1) }
}

/// Forwards a port of a pod; retries if the connection to the API server ended before a response, because a kept-alive
/// connection may just have been closed. The caller must abort it in the end.
pub(super) async fn open(
    client: &kube::Client,
    (namespace, pod): (&str, &str),
    port: u16,
) -> Result<Portforwarder, Why> {
    let pods: kube::Api<Ports> = kube::Api::namespaced(client.clone(), namespace);
    let mut tried = 1;
    loop {
        match pods.portforward(pod, &[port]).await {
            Err(error) if tried < TRIES && broken(&error).may_pass(true) => {
                tokio::time::sleep(pause(tried)).await;
                tried += 1;
            }
            way => return way.map_err(refused),
        }
    }
}

async fn exchange<B: BodyReader>(
    client: &kube::Client,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
    reader: B,
) -> Result<B::Content, Why> {
    let mut forwarder = open(client, (namespace, pod), port).await?;
    let error = forwarder.take_error(port);
    let Some(stream) = forwarder.take_stream(port) else { return Err(failed("no stream for the port")) };
    let answer = talk(stream, path, reader).await;
    let said = match error {
        // The kubelet's message is relevant only if nothing was received.
        Some(error) if matches!(answer, Err(NOTHING)) => {
            tokio::time::timeout(Duration::from_secs(1), error).await.ok().flatten()
        }
        _ => None,
    };
    forwarder.abort();
    answer.map_err(|wrong| failed(said.as_deref().unwrap_or(wrong)))
}

/// Sends the request to the program, and reads its response.
async fn talk<B: BodyReader>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    path: &str,
    reader: B,
) -> Result<B::Content, &'static str> {
    let request = Request::get(path)
        .header(header::ACCEPT_ENCODING, B::ENCODINGS)
        .header(header::HOST, "localhost")
        .header(header::ACCEPT, "*/*")
        .header(header::USER_AGENT, "meshdoctor")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| "the path is not valid")?;
    let (mut requests, connection) =
        http1::Builder::new().max_buf_size(HEAD).handshake(TokioIo::new(stream)).await.map_err(|_| NOTHING)?;
    let answer = pin!(async {
        let answer = requests.send_request(request).await.map_err(|error| unanswered(&error))?;
        reader.read(answer).await
    });
    // The response also contains the reason for closing the connection.
    let connection = pin!(async {
        _ = connection.await;
        std::future::pending::<()>().await;
    });
    tokio::select! {
        answer = answer => answer,
        () = connection => Err(NOTHING),
    }
}

/// Reads a body to its end. Streams may stay open when the pod ends, or break, so the response must declare its own
/// length.
async fn whole(answer: http::Response<Incoming>) -> Result<Vec<u8>, &'static str> {
    let length = declared_length(&answer)?;
    if length.is_some_and(|length| length > MOST as u64) {
        return Err(TOO_LARGE);
    }
    match Limited::new(answer.into_body(), MOST).collect().await {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
        Err(error) if error.downcast_ref().is_some_and(is_cut) => Err("the response is incomplete"),
        Err(_) => Err(NO_HTTP),
    }
}

/// The length of a response; `None` if each of its chunks declares its own.
///
/// # Errors
/// The response declares none, so its end would look like a broken connection.
pub(super) fn declared_length(answer: &http::Response<Incoming>) -> Result<Option<u64>, &'static str> {
    let length = answer.body().size_hint().exact();
    if length.is_none() && !is_chunked(answer.headers()) {
        return Err("the response does not declare its length");
    }
    Ok(length)
}

/// Reason why a body ended early.
pub(super) fn broken_body(error: &hyper::Error) -> &'static str {
    if is_cut(error) { "the response is incomplete" } else { NO_HTTP }
}

fn is_chunked(headers: &HeaderMap) -> bool {
    let last = headers.get_all(header::TRANSFER_ENCODING).iter().next_back();
    let last = last.and_then(|codings| codings.to_str().ok()?.rsplit(',').next());
    last.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
}

/// Whether the stream ended before the response.
fn is_cut(error: &hyper::Error) -> bool {
    let below = std::error::Error::source(error).and_then(|below| below.downcast_ref::<io::Error>());
    error.is_incomplete_message()
        || error.is_closed()
        || below.is_some_and(|below| {
            below.kind() != io::ErrorKind::InvalidInput && below.kind() != io::ErrorKind::InvalidData
        })
}

/// Reason for a missing response head.
fn unanswered(error: &hyper::Error) -> &'static str {
    if error.is_parse() { NO_HTTP } else { NOTHING }
}

fn failed(words: &str) -> Why {
    Why::Failed { message: format!("port-forward: {}", quote_answer(words, 200)) }
}

fn refused(error: kube::Error) -> Why {
    match error {
        kube::Error::Api(status) if matches!(status.code, 401 | 403) => {
            Why::Denied { message: quote_answer(&status.message, 400) }
        }
        kube::Error::Service(_) | kube::Error::HyperError(_) => failed(&broken(&error).words()),
        other => failed(&other.to_string()),
    }
}

const NOTHING: &str = "no response";
const NO_HTTP: &str = "the program on the port does not use HTTP";
const TOO_LARGE: &str = "the response is larger than 16 MB";

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn ask(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        path: &str,
    ) -> Result<(u16, Vec<u8>), &'static str> {
        talk(stream, path, Whole).await
    }

    /// Reads these bytes, and the end of the stream if `ends`.
    async fn heard(bytes: &[u8], ends: bool) -> Result<(u16, Vec<u8>), &'static str> {
        let (ours, mut theirs) = tokio::io::duplex(256 * 1024);
        let play = async {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(theirs.read_u8().await.unwrap());
            }
            theirs.write_all(bytes).await.unwrap();
            if ends {
                theirs.shutdown().await.unwrap();
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answer = tokio::time::timeout(Duration::from_millis(300), ask(ours, "/metrics")) => answer.unwrap_or(Err(WAITS)),
            () = play => Err(WAITS),
        }
    }

    const WAITS: &str = "it still waits";

    fn whole(status: u16, body: &str) -> Result<(u16, Vec<u8>), &'static str> {
        Ok((status, body.as_bytes().to_vec()))
    }

    #[tokio::test]
    async fn request_uses_localhost() {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let asked = async {
            let mut request = vec![0; 4096];
            let read = theirs.read(&mut request).await.unwrap();
            theirs.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            String::from_utf8_lossy(&request[..read]).to_ascii_lowercase()
        };
        let (answer, asked) = tokio::join!(ask(ours, "/api/v1/query?query=up"), asked);
        assert_eq!(answer, whole(200, ""));
        assert!(asked.starts_with("get /api/v1/query?query=up http/1.1\r\n"), "{asked}");
        for line in ["host: localhost", "connection: close", "user-agent: meshdoctor"] {
            assert!(asked.contains(line), "{line}: {asked}");
        }
    }

    #[tokio::test]
    async fn response_must_declare_its_length() {
        let known = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
        assert_eq!(heard(known.as_bytes(), false).await, whole(200, "ok\n"));
        let chunked = "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x\r\n0\r\n\r\n0\r\n\r\n";
        assert_eq!(heard(chunked.as_bytes(), false).await, whole(503, "ok0\r\n"));
        for (text, cuts) in [(known, [0, 1, 12, 40]), (chunked, [0, 1, 40, chunked.len() - 5])] {
            for cut in cuts {
                assert_eq!(heard(&text.as_bytes()[..cut], false).await, Err(WAITS), "{cut}");
                let cut_off = heard(&text.as_bytes()[..cut], true).await;
                assert!(matches!(cut_off, Err(NOTHING | "the response is incomplete")), "{cut}: {cut_off:?}");
            }
        }
    }

    #[tokio::test]
    async fn possibly_truncated_response_is_an_error() {
        for version in ["1.0", "1.1"] {
            let text = format!("HTTP/{version} 200 OK\r\n\r\ngateway_alive");
            for ends in [true, false] {
                assert_eq!(heard(text.as_bytes(), ends).await, Err("the response does not declare its length"));
            }
        }
        let gzip = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n";
        assert!(heard(gzip, true).await.is_err());
    }

    #[tokio::test]
    async fn non_http_response_is_an_error() {
        for junk in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"\x15\x03\x01\x00\x02\x02\x16",
            b"HTTP/2 200 OK\r\n\r\n",
            b"HTTP/1.0 what\r\n\r\n",
            b"HTTP/1.1 200\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200\r\nX\xff: y\r\n\r\n",
            &[&b"HTTP/1.1 200 "[..], &[b'x'; 2 * HEAD]].concat(),
            &[&b"HTTP/1.1 200\r\nX: "[..], &[b'x'; 2 * HEAD]].concat(),
        ] {
            assert_eq!(heard(junk, false).await, Err(NO_HTTP), "{:?}", String::from_utf8_lossy(&junk[..12]));
        }
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", MOST + 1);
        assert_eq!(heard(huge.as_bytes(), false).await, Err(TOO_LARGE));
        // Nothing that a chunk claims is believed before it has come.
        let chunk = |size: &str| format!("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n0\r\n\r\n");
        for size in ["fffffffffffffffff", "\u{ff}", "-1"] {
            assert_eq!(heard(chunk(size).as_bytes(), false).await, Err(NO_HTTP), "{size}");
        }
        assert_eq!(heard(chunk("ffffffffffffffff").as_bytes(), false).await, Err(WAITS));
    }

    #[tokio::test]
    async fn endless_response_is_cut() {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let endless = async {
            // Who answers has been asked.
            assert!(theirs.read(&mut [0; 1024]).await.is_ok_and(|asked| asked > 0));
            theirs.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await.unwrap();
            while theirs.write_all(&[&b"8000\r\n"[..], &[b'x'; 0x8000], b"\r\n"].concat()).await.is_ok() {}
            std::future::pending::<()>().await;
        };
        let answer = tokio::select! {
            answer = ask(ours, "/") => answer,
            () = endless => Ok((0, Vec::new())),
        };
        assert_eq!(answer, Err(TOO_LARGE));
    }
}
