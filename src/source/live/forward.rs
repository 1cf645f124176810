//! Questions to programs in pods, through the API server and the kubelet, as `kubectl port-forward` goes: to the pod's own
//! loopback, past the proxy and its policies. One GET, bounded in time and size.

use std::time::Duration;

use kube::api::{ObjectMeta, Portforward};
use kube::core::NamespaceResourceScope;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::quote::quote;
use crate::source::Why;

/// How long a program has to answer: as long as the linkerd command gives it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes: the metrics of a cluster with ten thousand pods take two million.
const MOST: u64 = 16 * 1024 * 1024;

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
    client: &kube::Client,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
) -> Result<(u16, Vec<u8>), Why> {
    let asking = exchange(client, (namespace, pod), port, path);
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or(Err(Why::TimedOut { seconds: PATIENCE.as_secs() }))
}

async fn exchange(
    client: &kube::Client,
    (namespace, pod): (&str, &str),
    port: u16,
    path: &str,
) -> Result<(u16, Vec<u8>), Why> {
    let pods: kube::Api<Ports> = kube::Api::namespaced(client.clone(), namespace);
    let mut forwarder = pods.portforward(pod, &[port]).await.map_err(refused)?;
    let error = forwarder.take_error(port);
    let Some(mut stream) = forwarder.take_stream(port) else { return Err(failed("no stream for the port")) };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nUser-Agent: meshdoctor\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| failed(&error.to_string()))?;
    let mut answer = Vec::new();
    // A kubelet need not end the stream when the pod does, so the answer itself has to say where it ends.
    let found = loop {
        let read = (&mut stream).take(MOST).read_buf(&mut answer).await;
        let ended = !matches!(read, Ok(1..));
        if let Some(found) = parse(&answer, ended) {
            break Some(found);
        }
        if ended || answer.len() as u64 > MOST {
            break None;
        }
    };
    let said = match (&found, error) {
        // Only where nothing came is it worth waiting for what the kubelet says.
        (None, Some(error)) if answer.is_empty() => {
            tokio::time::timeout(Duration::from_secs(1), error).await.ok().flatten()
        }
        _ => None,
    };
    forwarder.abort();
    match (found, said) {
        (Some(found), _) => Ok(found),
        (None, Some(said)) => Err(failed(&said)),
        (None, None) if answer.is_empty() => Err(failed("nothing came back")),
        (None, None) => Err(failed("what answers on the port does not speak HTTP, or broke off")),
    }
}

fn failed(words: &str) -> Why {
    Why::Failed { message: format!("port-forward: {}", quote(words, 200)) }
}

fn refused(error: kube::Error) -> Why {
    match error {
        kube::Error::Api(status) if status.code == 403 => {
            Why::Denied { message: quote(&status.message, 400) }
        }
        other => failed(&other.to_string()),
    }
}

/// Status and body of an HTTP/1 answer; `None` while it is not whole, or when it is none.
fn parse(answer: &[u8], ended: bool) -> Option<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?.to_ascii_lowercase();
    let body = &answer[end + 4..];
    let mut lines = head.lines();
    let mut words = lines.next()?.split_ascii_whitespace();
    words.next().filter(|version| version.starts_with("http/1."))?;
    let status = words.next()?.parse().ok()?;
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    };
    if header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        return Some((status, joined(body)?));
    }
    match header("content-length").and_then(|length| length.parse::<usize>().ok()) {
        Some(length) => Some((status, body.get(..length)?.to_vec())),
        None => ended.then(|| (status, body.to_vec())),
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

    #[test]
    fn an_answer_says_where_it_ends() {
        let whole = |text: &str| parse(text.as_bytes(), false);
        assert_eq!(whole("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"), Some((200, b"ok\n".to_vec())));
        assert_eq!(whole("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok\n"), None);
        let chunked =
            "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x\r\n0\r\n\r\n0\r\n\r\n";
        assert_eq!(whole(chunked), Some((503, b"ok0\r\n".to_vec())));
        assert_eq!(whole(&chunked[..chunked.len() - 5]), None);
        assert_eq!(whole("HTTP/1.0 200 OK\r\n\r\nmore"), None);
        assert_eq!(parse(b"HTTP/1.0 200 OK\r\n\r\nmore", true), Some((200, b"more".to_vec())));
    }

    #[test]
    fn what_is_no_http_is_no_answer() {
        for junk in [
            &b""[..],
            b"SSH-2.0-OpenSSH\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n",
            b"HTTP/1.0 what\r\n\r\n",
            b"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n0\r\n\r\n",
            b"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n\xff\r\n0\r\n\r\n",
        ] {
            assert_eq!(parse(junk, true), None);
        }
    }
}
