//! The API of a simulated cluster, on a port of 127.0.0.1: lists in pages, objects by name, gzip for clients
//! that accept it. Responses are encoded on request and streamed. It counts requests and sent bytes.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;

use crate::world::World;

/// Bytes that are encoded before they are sent.
const PIECE: usize = 64 * 1024;

/// A server that ends when it is dropped.
pub(crate) struct Server {
    address: std::net::SocketAddr,
    counts: Arc<Counts>,
    _runtime: tokio::runtime::Runtime,
}

/// Requests and sent bytes since [`Server::begin`].
#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
    lists: Mutex<BTreeSet<String>>,
}

impl Server {
    pub(crate) fn start(world: World) -> anyhow::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0)))?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let (world, all_counts) = (Arc::new(world), Arc::clone(&counts));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (world, counts) = (Arc::clone(&world), Arc::clone(&all_counts));
                let service = hyper::service::service_fn(move |request| {
                    let answer = match request.uri().path().ends_with("/portforward") {
                        true => forwarded(&counts, request),
                        false => answer(&world, &counts, &request),
                    };
                    async { Ok::<_, Infallible>(answer) }
                });
                tokio::spawn(async move {
                    // A client that hangs up is its own affair.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .with_upgrades()
                        .await;
                });
            }
        });
        Ok(Server { address, counts, _runtime: runtime })
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Resets the counters.
    pub(crate) fn begin(&self) {
        self.counts.requests.store(0, Ordering::Relaxed);
        self.counts.bytes.store(0, Ordering::Relaxed);
        self.counts.lists.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Requests and bytes since then.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (self.counts.requests.load(Ordering::Relaxed), self.counts.bytes.load(Ordering::Relaxed))
    }

    /// The paths of the lists that were requested since then.
    pub(crate) fn lists(&self) -> Vec<String> {
        self.counts.lists.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

type Answer = Response<Either<Full<Bytes>, Page>>;

/// The start of a port-forward to a proxy.
fn forwarded(counts: &Arc<Counts>, request: Request<Incoming>) -> Answer {
    counts.requests.fetch_add(1, Ordering::Relaxed);
    let counts = Arc::clone(counts);
    let sent = move |bytes| _ = counts.bytes.fetch_add(bytes, Ordering::Relaxed);
    crate::forward::answer(request, sent).map(|()| Either::Left(Full::new(Bytes::new())))
}

fn answer(world: &Arc<World>, counts: &Arc<Counts>, request: &Request<Incoming>) -> Answer {
    counts.requests.fetch_add(1, Ordering::Relaxed);
    let path = request.uri().path();
    if path == "/version" {
        return whole(StatusCode::OK, br#"{"major":"1","minor":"31","gitVersion":"v1.31.5-eks-5d632ec"}"#.to_vec());
    }
    let Some(list) = world.list(path) else {
        return match world.named(path) {
            Some(object) => whole(StatusCode::OK, object.to_string().into_bytes()),
            None => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let status = serde_json::json!({ "kind": "Status", "status": "Failure", "reason": "NotFound",
                    "message": format!("{name:?} not found"), "details": { "name": name }, "code": 404 });
                whole(StatusCode::NOT_FOUND, status.to_string().into_bytes())
            }
        };
    };
    counts.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    let query = |key: &str| {
        let pairs = request.uri().query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == key).find_map(|(_, value)| value.parse::<usize>().ok())
    };
    let at = query("continue").unwrap_or(0).min(list.len());
    let end = query("limit").map_or(list.len(), |limit| (at + limit).min(list.len()));
    let left = list.len() - end;
    let next = if left == 0 { String::new() } else { format!(r#","continue":"{end}","remainingItemCount":{left}"#) };
    let head = format!(
        r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"987654321"{next}}},"items":["#,
        list.kind, list.api_version
    );
    let takes = request.headers().get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let gzip = takes.is_some_and(|takes| takes.contains("gzip"));
    let mut page = Page {
        world: Arc::clone(world),
        counts: Arc::clone(counts),
        path: path.to_owned(),
        at,
        end,
        begun: false,
        over: false,
        // The level that API servers use.
        gzip: gzip.then(|| GzEncoder::new(Vec::new(), Compression::new(1))),
        plain: Vec::with_capacity(PIECE + PIECE / 2),
    };
    page.plain.extend_from_slice(head.as_bytes());
    let mut response = Response::new(Either::Right(page));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    if gzip {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
    }
    response
}

fn whole(status: StatusCode, body: Vec<u8>) -> Answer {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    response
}

/// A page of a list, encoded piece by piece.
struct Page {
    world: Arc<World>,
    counts: Arc<Counts>,
    path: String,
    at: usize,
    end: usize,
    begun: bool,
    over: bool,
    gzip: Option<GzEncoder<Vec<u8>>>,
    plain: Vec<u8>,
}

impl Page {
    /// The next piece; empty at the end.
    fn piece(&mut self) -> std::io::Result<Vec<u8>> {
        let mut piece = Vec::new();
        while piece.is_empty() && !self.over {
            let list = self.world.list(&self.path).expect("the list existed at the time of the request");
            while self.plain.len() < PIECE && self.at < self.end {
                if std::mem::replace(&mut self.begun, true) {
                    self.plain.push(b',');
                }
                self.world.encode(list, self.at, &mut self.plain);
                self.at += 1;
            }
            if self.at == self.end {
                self.plain.extend_from_slice(b"]}");
                self.over = true;
            }
            let plain = std::mem::replace(&mut self.plain, Vec::with_capacity(PIECE + PIECE / 2));
            piece = match &mut self.gzip {
                None => plain,
                Some(gzip) => {
                    gzip.write_all(&plain)?;
                    if self.over {
                        gzip.try_finish()?;
                    }
                    std::mem::take(gzip.get_mut())
                }
            };
        }
        Ok(piece)
    }
}

impl Body for Page {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.piece() {
            Ok(piece) if piece.is_empty() => Poll::Ready(None),
            Ok(piece) => {
                self.counts.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from(piece)))))
            }
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }
}
