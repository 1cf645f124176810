//! Port-forwards to simulated proxies: each answers `GET /metrics` with the metrics of a busy proxy, compressed, over a
//! websocket as a kubelet serves it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Lines of metrics of a busy proxy.
const LINES: usize = 20_000;
/// Bytes of one message.
const PIECE: usize = 30_000;

/// Switches the connection of a request for a port-forward to a websocket, and serves one request on it.
pub(crate) fn answer(mut request: Request<Incoming>, sent: impl Fn(u64) + Send + 'static) -> Response<()> {
    let port: u16 = request
        .uri()
        .query()
        .and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("ports=")))
        .and_then(|port| port.parse().ok())
        .unwrap_or_default();
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).map(|key| key.as_bytes().to_vec());
    let key = [&key.unwrap_or_default()[..], b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat();
    let accept = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, &key);
    let accept = base64::engine::general_purpose::STANDARD.encode(accept);
    tokio::spawn(async move {
        let upgraded = hyper::upgrade::on(&mut request).await.ok()?;
        serve(TokioIo::new(upgraded), port, sent).await
    });
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::UPGRADE, "websocket")
        .header(header::CONNECTION, "Upgrade")
        .header(header::SEC_WEBSOCKET_ACCEPT, accept)
        .header(header::SEC_WEBSOCKET_PROTOCOL, "v4.channel.k8s.io");
    response.body(()).expect("all headers are valid")
}

async fn serve(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, port: u16, sent: impl Fn(u64)) -> Option<()> {
    // Each channel begins with its port.
    for channel in [0, 1] {
        frame(&mut stream, channel, &port.to_le_bytes()).await?;
    }
    skip_message(&mut stream).await?;
    let body = metrics();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = [head.into_bytes(), body].concat();
    for part in answer.chunks(PIECE) {
        frame(&mut stream, 0, part).await?;
    }
    stream.flush().await.ok()?;
    sent(answer.len() as u64);
    // The client hangs up.
    stream.read_u8().await.ok()?;
    Some(())
}

/// A binary message on a channel, as a server sends it: unmasked.
async fn frame(stream: &mut (impl AsyncWriteExt + Unpin), channel: u8, data: &[u8]) -> Option<()> {
    let length = u16::try_from(data.len() + 1).ok()?;
    let mut bytes = [&[0x82, 126][..], &length.to_be_bytes(), &[channel]].concat();
    if length < 126 {
        bytes = vec![0x82, length.to_be_bytes()[1], channel];
    }
    bytes.extend_from_slice(data);
    stream.write_all(&bytes).await.ok()
}

/// Reads a masked message of a client.
async fn skip_message(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<()> {
    stream.read_u8().await.ok()?;
    let length = match stream.read_u8().await.ok()? & 0x7f {
        126 => usize::from(stream.read_u16().await.ok()?),
        127 => usize::try_from(stream.read_u64().await.ok()?).ok()?,
        short => usize::from(short),
    };
    let mut data = vec![0; length + 4];
    stream.read_exact(&mut data).await.ok().map(|_| ())
}

/// The metrics of a proxy now: a compressed part with the clock, and one that never changes.
fn metrics() -> Vec<u8> {
    static REST: OnceLock<Arc<Vec<u8>>> = OnceLock::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let head = format!(
        "process_start_time_seconds {}\nprocess_clock_time_seconds {now}\n\
         control_identity_cert_expiration_timestamp_seconds {}\n\
         control_identity_cert_refresh_timestamp_seconds {}\n",
        now - 9_000,
        now + 80_000,
        now - 6_000
    );
    let rest = REST.get_or_init(|| Arc::new(gzip(&families())));
    [gzip(&head), rest.as_ref().clone()].concat()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(6));
    packed.write_all(text.as_bytes()).expect("memory takes all of it");
    packed.finish().expect("memory takes all of it")
}

/// Series as a proxy with many clients exports them.
fn families() -> String {
    let mut text =
        String::from("process_open_fds 120\nprocess_max_fds 1048576\nprocess_resident_memory_bytes 41943040\n");
    for number in 0..LINES / 4 {
        let labels = format!(
            "target_addr=\"10.64.{}.{}:8080\",target_port=\"8080\",tls=\"true\",client_id=\"app-{number:04}.shop.serviceaccount\
             .identity.linkerd.cluster.local\",route_name=\"default\"",
            number >> 8,
            number & 255
        );
        let result = "status_code=\"200\",classification=\"success\"";
        _ = writeln!(text, "response_total{{direction=\"inbound\",{labels},{result}}} {number}");
        _ = writeln!(text, "request_total{{direction=\"inbound\",{labels}}} {number}");
        _ = writeln!(text, "tcp_open_total{{direction=\"inbound\",peer=\"src\",{labels}}} {number}");
        _ = writeln!(text, "response_latency_ms_bucket{{direction=\"inbound\",{labels},le=\"50\"}} {number}");
    }
    text
}
