//! Probes of running programs (`--probe`): sent only if allowed, answered through a port-forward, and every
//! kind of failure is reported.

use std::time::{Duration, Instant};

use base64::Engine as _;
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Probe, Program};
use meshdoctor::request::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::server::{Reply, Server};
use super::{CANARY, Kubeconfig, fetch, live};

fn prometheus() -> Request {
    let probe = Probe { program: Program::Prometheus, pod: "prometheus-0".to_owned() };
    Request { item: Item::Probe(probe), namespace: Some("linkerd-viz".to_owned()) }
}

#[tokio::test]
async fn nobody_is_asked_without_the_flag() {
    let server = Server::start(|_| Reply::text(200, "text/plain", "x")).await;
    let live = live(&server).await;
    assert_eq!(fetch(&live, prometheus()).await.0, Fetched::Missing { reason: Why::NotOffered });
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_port_forward_that_is_refused_says_why() {
    let server = Server::start(|asked| {
        assert_eq!(asked.path, "/api/v1/namespaces/linkerd-viz/pods/prometheus-0/portforward");
        assert_eq!(asked.query("ports"), Some("9090"));
        match asked.time {
            1 => Reply::status(403, "Forbidden", "pods \"prometheus-0\" is forbidden: no portforward"),
            2 => Reply::status(503, "ServiceUnavailable", "error dialing backend: no kubelet"),
            // An invalid answer, such as a login page.
            _ => Reply::text(200, "text/html", "<html>login</html>"),
        }
    })
    .await;
    let live = live(&server).await.with_probes(true);
    let (fetched, _) = fetch(&live, prometheus()).await;
    let Fetched::Missing { reason: Why::Denied { message } } = fetched else { panic!("{fetched:?}") };
    assert!(message.contains("no portforward"), "{message}");
    for words in ["no kubelet", "200"] {
        let (fetched, _) = fetch(&live, prometheus()).await;
        let Fetched::Missing { reason: Why::Failed { message } } = fetched else { panic!("{fetched:?}") };
        assert!(message.starts_with("port-forward: ") && message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_costs_no_more_than_the_time_allowed() {
    let server = Server::start(|_| Reply::silence()).await;
    let deadline = Instant::now() + Duration::from_secs(1);
    let live = live(&server).await.with_probes(true).with_deadline(deadline);
    let (fetched, _) = fetch(&live, prometheus()).await;
    assert_eq!(fetched, Fetched::Missing { reason: Why::TimedOut { seconds: 1 } });
}

/// An API server that forwards to a program with this answer, and never ends a stream.
async fn forwarding(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, answer));
        }
    });
    format!("http://{address}")
}

async fn serve(mut stream: TcpStream, answer: &[u8]) -> Option<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).ok()?;
        if !head.contains("portforward") {
            let body = r#"{"gitVersion":"v1.31.5"}"#;
            let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(text.as_bytes()).await.ok()?;
            continue;
        }
        let key = head.lines().find(|l| l.to_ascii_lowercase().starts_with("sec-websocket-key:"))?;
        let key = key.split_once(':')?.1.trim().to_owned() + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
        let accept = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
        let accept = base64::engine::general_purpose::STANDARD.encode(accept);
        let upgrade = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \
             {accept}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n"
        );
        stream.write_all(upgrade.as_bytes()).await.ok()?;
        // Each channel begins with the port that it is for.
        let port = Program::Prometheus.port().to_le_bytes();
        for channel in [0, 1] {
            frame(&mut stream, channel, &port).await?;
        }
        let mut asked = [0; 16];
        stream.read_exact(&mut asked).await.ok()?;
        for part in answer.chunks(100) {
            frame(&mut stream, 0, part).await?;
        }
        std::future::pending::<()>().await;
    }
}

/// A binary message on a channel.
async fn frame(stream: &mut TcpStream, channel: u8, data: &[u8]) -> Option<()> {
    let length = u8::try_from(data.len() + 1).unwrap();
    assert!(length < 126);
    stream.write_all(&[0x82, length, channel]).await.ok()?;
    stream.write_all(data).await.ok()
}

async fn probe(answer: &'static [u8]) -> (Fetched, Vec<serde_json::Value>) {
    struct Kept(Vec<serde_json::Value>);
    impl meshdoctor::source::ObjectSink for Kept {
        fn object(&mut self, json: &[u8]) {
            self.0.push(serde_json::from_slice(json).unwrap());
        }
        fn node(&mut self, _: meshdoctor::node_files::NodeFiles) {}
        fn restart(&mut self) {}
    }
    let url = forwarding(answer).await;
    let kubeconfig = Kubeconfig::new(&url, &serde_json::json!({ "token": CANARY }));
    let live = meshdoctor::source::live::Live::connect(kubeconfig.connect()).await.unwrap().with_probes(true);
    let mut kept = Kept(Vec::new());
    let fetched = meshdoctor::source::Source::fetch(&live, &prometheus(), &mut kept).await;
    (fetched, kept.0)
}

#[tokio::test]
async fn what_a_program_says_is_reduced_to_facts() {
    let (fetched, kept) = probe(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2f\r\n{\"status\":\"success\",\"data\":{\"result\":[{\"metric\"\r\n\
          37\r\n:{\"namespace\":\"shop\",\"pod\":\"web-1\"},\"value\":[1,\"2\"]}]}}\r\n0\r\n\r\n",
    )
    .await;
    assert_eq!(fetched, Fetched::Complete);
    assert_eq!(kept[0]["metadata"]["name"], "prometheus-0");
    assert_eq!(kept[0]["answer"], serde_json::json!({"status": 200, "pods": ["shop/web-1"]}));
}

#[tokio::test]
async fn a_program_that_is_not_well_says_so() {
    let (fetched, kept) =
        probe(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 20\r\n\r\nService Unavailable\n").await;
    assert_eq!(fetched, Fetched::Complete);
    assert_eq!(kept[0]["answer"], serde_json::json!({"status": 503, "trouble": "Service Unavailable"}));
}
