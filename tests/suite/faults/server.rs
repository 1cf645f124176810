//! An API server on loopback with scripted answers that records its requests.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{Error, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Number of requests with this path and query so far, this one included.
    pub time: usize,
}

impl ReceivedRequest {
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// An answer of the server.
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    end: End,
    after: Duration,
}

/// The end of an answer.
enum End {
    Whole,
    /// The connection breaks after the body.
    Reset,
    /// Nothing more follows the body.
    Silence,
    /// Not even a status is sent.
    Nothing,
}

impl Reply {
    pub fn json(body: &serde_json::Value) -> Reply {
        Reply::text(200, "application/json", &body.to_string())
    }

    /// A list in the order in which API servers write it: its own metadata before its items.
    pub fn list(list: &serde_json::Value) -> Reply {
        let [metadata, items] = ["metadata", "items"].map(|key| &list[key]);
        let body = format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{metadata},"items":{items}}}"#);
        Reply::text(200, "application/json", &body)
    }

    pub fn text(status: u16, kind: &str, body: &str) -> Reply {
        Reply::bytes(kind, body.as_bytes().to_vec()).with_status(status)
    }

    pub fn bytes(kind: &str, body: Vec<u8>) -> Reply {
        let headers = vec![("content-type", kind.to_owned())];
        Reply { status: 200, headers, body, end: End::Whole, after: Duration::ZERO }
    }

    /// A Status object, as the API server writes it.
    pub fn status(status: u16, reason: &str, message: &str) -> Reply {
        let body = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": status,
        });
        Reply::text(status, "application/json", &body.to_string())
    }

    pub fn silence() -> Reply {
        Reply { status: 200, headers: Vec::new(), body: Vec::new(), end: End::Nothing, after: Duration::ZERO }
    }

    /// The same, with another status than 200.
    pub fn with_status(mut self, status: u16) -> Reply {
        self.status = status;
        self
    }

    /// The same, later.
    pub fn after(mut self, pause: Duration) -> Reply {
        self.after = pause;
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Reply {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Only the first `length` bytes, as if that were all.
    pub fn cut(mut self, length: usize) -> Reply {
        self.body.truncate(length);
        self
    }

    /// Only the first `length` bytes, and then the connection breaks.
    pub fn reset_after(mut self, length: usize) -> Reply {
        self.body.truncate(length);
        self.end = End::Reset;
        self
    }

    /// Only the first `length` bytes, and then nothing.
    pub fn silent_after(mut self, length: usize) -> Reply {
        self.body.truncate(length);
        self.end = End::Silence;
        self
    }

    pub fn gzip(mut self) -> Reply {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&self.body).unwrap();
        self.body = encoder.finish().unwrap();
        self.header("content-encoding", "gzip")
    }

    async fn into_response(self) -> Response<UnsyncBoxBody<Bytes, Error>> {
        tokio::time::sleep(self.after).await;
        let body = Bytes::from(self.body);
        let stream = |end| {
            let first = futures::stream::iter([Ok(Frame::data(body.clone()))]);
            match end {
                // The written data must be sent before the connection closes.
                End::Reset => StreamBody::new(first.chain(futures::stream::once(async {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Err(Error::other("reset"))
                })))
                .boxed_unsync(),
                _ => StreamBody::new(first.chain(futures::stream::pending())).boxed_unsync(),
            }
        };
        let body = match self.end {
            End::Whole => Full::new(body).map_err(|never| match never {}).boxed_unsync(),
            end @ (End::Reset | End::Silence) => stream(end),
            End::Nothing => std::future::pending().await,
        };
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(body).unwrap()
    }
}

type Script = Arc<dyn Fn(&ReceivedRequest) -> Reply + Send + Sync>;

/// A running server; it ends with its runtime.
pub struct Server {
    pub address: SocketAddr,
    pub tls: bool,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// Starts a server. `/version` is answered for the script.
    pub async fn start(script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Server {
        Server::raw(None, move |asked| match asked.path.as_str() {
            "/version" => version(),
            _ => script(asked),
        })
        .await
    }

    /// Starts a server, with TLS if an acceptor is given, that answers only from the script.
    pub async fn raw(
        tls: Option<tokio_rustls::TlsAcceptor>,
        script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, log): (Script, _) = (Arc::new(script), Arc::clone(&asked));
        let server = Server { address, tls: tls.is_some(), asked };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, log, tls) = (Arc::clone(&script), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(TokioIo::new(stream), script, log).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(TokioIo::new(stream), script, log).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.address)
    }

    /// All requests except those for `/version`, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.everything_asked().into_iter().filter(|asked| asked.path != "/version").collect()
    }

    pub fn everything_asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

pub fn version() -> Reply {
    Reply::json(&serde_json::json!({ "major": "1", "minor": "31", "gitVersion": "v1.31.5-eks-abcdef0" }))
}

async fn serve<I>(io: I, script: Script, log: Arc<Mutex<Vec<ReceivedRequest>>>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
{
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let (script, log) = (Arc::clone(&script), Arc::clone(&log));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let query: BTreeMap<String, String> = parts
                .uri
                .query()
                .unwrap_or_default()
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            let reply = {
                let mut log = log.lock().unwrap();
                let path = parts.uri.path().to_owned();
                let time = 1 + log.iter().filter(|a| a.path == path && a.query == query).count();
                let method = parts.method.to_string();
                let asked = ReceivedRequest { method, path, query, headers: parts.headers, body, time };
                log.push(asked.clone());
                drop(log);
                script(&asked)
            };
            Ok::<_, Infallible>(reply.into_response().await)
        }
    });
    // A connection that a script broke is as it should be.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
}
