//! Questions to programs in pods, through the API server and the kubelet, as `kubectl port-forward` goes: to the pod's own
//! loopback, past the proxy and its policies. One GET, bounded in time and size, whatever answers.

use std::time::Duration;

use kube::api::{ObjectMeta, Portforward, Portforwarder};
use kube::core::NamespaceResourceScope;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::api_client::{ApiClient, TRIES, pause};
use super::broken::broken;
use super::quote::quote;
use crate::fetched::Why;

/// How long a program has to answer: as long as the linkerd command gives it, or as one answer of the API server may take
/// where that is less.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes: the metrics of a cluster with ten thousand pods take two million.
const MOST: usize = 16 * 1024 * 1024;
/// The longest head of an answer, in bytes.
const HEAD: usize = 64 * 1024;

/// A pod, as far as its ports are asked for.
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

/// GETs a path of a port of a pod: the HTTP status and the body.
pub(super) async fn get(
    api: &ApiClient,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
) -> Result<(u16, Vec<u8>), Why> {
    let patience = api.patience(PATIENCE);
    let asking = exchange(api.client(), (namespace, pod), port, path);
    tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| Err(too_late(patience)))
}

/// That nothing came in time.
pub(super) fn too_late(patience: Duration) -> Why {
    Why::TimedOut { seconds: patience.as_secs().max(1) }
}

/// A way to a port of a pod, tried again where the connection to the API server ended before an answer: what the client
/// keeps open may be closed by the other side just then. Whoever takes it aborts it in the end.
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

async fn exchange(
    client: &kube::Client,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
) -> Result<(u16, Vec<u8>), Why> {
    let mut forwarder = open(client, (namespace, pod), port).await?;
    let error = forwarder.take_error(port);
    let Some(mut stream) = forwarder.take_stream(port) else { return Err(failed("no stream for the port")) };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nUser-Agent: meshdoctor\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| failed(&error.to_string()))?;
    let mut answer = Vec::new();
    let heard = listen(&mut stream, &mut answer).await;
    let said = match error {
        // Only where nothing came is it worth waiting for what the kubelet says.
        Some(error) if answer.is_empty() => {
            tokio::time::timeout(Duration::from_secs(1), error).await.ok().flatten()
        }
        _ => None,
    };
    forwarder.abort();
    heard.map_err(|wrong| failed(said.as_deref().unwrap_or(wrong)))
}

/// Reads an answer to its end. A kubelet need not end the stream when the pod does, and a stream that ends may be one that
/// broke, so the answer itself has to say where it ends.
async fn listen(
    stream: &mut (impl AsyncRead + Unpin),
    answer: &mut Vec<u8>,
) -> Result<(u16, Vec<u8>), &'static str> {
    loop {
        let read = stream.read_buf(answer).await;
        match parse(answer) {
            Heard::Whole(status, body) => return Ok((status, body)),
            Heard::Wrong(what) => return Err(what),
            Heard::More => {}
        }
        match read {
            Ok(1..) if answer.len() > MOST => return Err(TOO_LARGE),
            Ok(1..) => {}
            Ok(0) | Err(_) if answer.is_empty() => return Err("nothing came back"),
            Ok(0) | Err(_) => return Err("the answer broke off"),
        }
    }
}

fn failed(words: &str) -> Why {
    Why::Failed { message: format!("port-forward: {}", quote(words, 200)) }
}

fn refused(error: kube::Error) -> Why {
    match error {
        kube::Error::Api(status) if matches!(status.code, 401 | 403) => {
            Why::Denied { message: quote(&status.message, 400) }
        }
        kube::Error::Service(_) | kube::Error::HyperError(_) => failed(&broken(&error).words()),
        other => failed(&other.to_string()),
    }
}

const NO_HTTP: &str = "what answers on the port does not speak HTTP";
const TOO_LARGE: &str = "the answer is larger than 16 MB";

/// What was heard so far.
#[derive(Debug, PartialEq)]
enum Heard {
    /// An answer: status and body.
    Whole(u16, Vec<u8>),
    /// Not enough of one yet.
    More,
    /// Something that will not become one.
    Wrong(&'static str),
}

/// Reads an HTTP/1 answer.
fn parse(answer: &[u8]) -> Heard {
    let beginning = answer.iter().zip(b"HTTP/1.");
    if beginning.clone().any(|(is, should)| is != should) {
        return Heard::Wrong(NO_HTTP);
    }
    let top = answer.get(..HEAD).unwrap_or(answer);
    let Some(end) = top.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if answer.len() < HEAD { Heard::More } else { Heard::Wrong(NO_HTTP) };
    };
    let Ok(head) = std::str::from_utf8(&answer[..end]) else { return Heard::Wrong(NO_HTTP) };
    let head = head.to_ascii_lowercase();
    let body = &answer[end + 4..];
    let status = head.lines().next().and_then(|line| line.split_ascii_whitespace().nth(1));
    let Some(status) = status.and_then(|status| status.parse().ok()) else { return Heard::Wrong(NO_HTTP) };
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    };
    if header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        return joined(body).map_or(Heard::More, |body| Heard::Whole(status, body));
    }
    match header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) if length > MOST => Heard::Wrong(TOO_LARGE),
        Some(Ok(length)) => {
            body.get(..length).map_or(Heard::More, |body| Heard::Whole(status, body.to_vec()))
        }
        Some(Err(_)) => Heard::Wrong(NO_HTTP),
        None => Heard::Wrong("the answer does not say where it ends"),
    }
}

/// The chunks of a body, joined; `None` while the last has not come.
fn joined(mut body: &[u8]) -> Option<Vec<u8>> {
    // Looked for from the end first: a long answer comes in many pieces.
    if !body.ends_with(b"0\r\n\r\n") {
        return None;
    }
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let line = body.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&body[..line]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        body = &body[line + 2..];
        whole.extend_from_slice(body.get(..size)?);
        body = body.get(size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(status: u16, body: &str) -> Heard {
        Heard::Whole(status, body.as_bytes().to_vec())
    }

    #[test]
    fn an_answer_says_where_it_ends() {
        let heard = |text: &str| parse(text.as_bytes());
        assert_eq!(heard("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"), whole(200, "ok\n"));
        assert_eq!(heard("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok\n"), Heard::More);
        let chunked =
            "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x\r\n0\r\n\r\n0\r\n\r\n";
        assert_eq!(heard(chunked), whole(503, "ok0\r\n"));
        for cut in [0, 1, 12, 40, chunked.len() - 5] {
            assert_eq!(heard(&chunked[..cut]), Heard::More, "{cut}");
        }
    }

    #[test]
    fn an_answer_that_a_broken_stream_could_have_cut_is_none() {
        let heard = parse(b"HTTP/1.0 200 OK\r\n\r\ngateway_alive");
        assert_eq!(heard, Heard::Wrong("the answer does not say where it ends"));
    }

    #[test]
    fn what_is_no_http_is_no_answer() {
        for junk in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"\x15\x03\x01\x00\x02\x02\x16",
            b"HTTP/2 200 OK\r\n\r\n",
            b"HTTP/1.0 what\r\n\r\n",
            b"HTTP/1.1 200\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200\r\nX: \xff\r\n\r\n",
            &[&b"HTTP/1.1 200 "[..], &[b'x'; HEAD]].concat(),
        ] {
            assert_eq!(parse(junk), Heard::Wrong(NO_HTTP));
        }
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", MOST + 1);
        assert_eq!(parse(huge.as_bytes()), Heard::Wrong(TOO_LARGE));
        // Nothing that a chunk claims is believed before it has come.
        for chunk in ["ffffffffffffffff", "fffffffffffffffff", "\u{ff}", "-1"] {
            let text = format!("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}\r\n0\r\n\r\n");
            assert_eq!(parse(text.as_bytes()), Heard::More, "{chunk}");
        }
    }

    #[tokio::test]
    async fn an_endless_answer_ends() {
        let mut endless =
            (&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..]).chain(tokio::io::repeat(b'x'));
        assert_eq!(listen(&mut endless, &mut Vec::new()).await, Err(TOO_LARGE));
        for (text, said) in [("", "nothing came back"), ("HTTP/1.1 200 OK\r\n", "the answer broke off")] {
            assert_eq!(listen(&mut text.as_bytes(), &mut Vec::new()).await, Err(said));
        }
    }
}
