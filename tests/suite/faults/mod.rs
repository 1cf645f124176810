//! The live source against a server that misbehaves: every failure has the right outcome, earlier results are
//! kept, and no text that leaves the source contains a token.

mod access;
mod connect;
mod endless;
mod exec;
mod forms;
mod lists;
mod node_pods;
mod probes;
mod publishing;
pub mod server;

use std::path::PathBuf;
use std::time::Duration;

use meshdoctor::fetched::Fetched;
use meshdoctor::item::{Item, Kind};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::request::Request;
use meshdoctor::source::live::{Cli, Connect, ConnectError, Live};
use meshdoctor::source::{ObjectSink, Source};

use server::Server;

/// A credential that must never be seen in a text. It looks like those of `aws eks get-token`.
const CANARY: &str = "k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtd2VzdC0xLmFtYXpvbmF3cy5jb20vP0NhbmFyeTE5ODQ";

/// A text that is safe to show: one line, without the canary or any large part of it.
fn shown(text: &impl ToString) -> String {
    let text = text.to_string();
    assert!(!text.contains('\n'), "{text}");
    let (_, secret) = CANARY.split_once('.').unwrap();
    for piece in secret.as_bytes().windows(12) {
        let piece = std::str::from_utf8(piece).unwrap();
        assert!(!text.contains(piece), "{text}");
    }
    text
}

/// The printed parts of an error: cause and next step, both safe to show.
fn printed_error(error: &ConnectError) -> (String, String) {
    shown(&format!("{error:?}"));
    let (cause, next) = (shown(error), shown(&error.next_step()));
    assert!(!next.is_empty());
    (cause, next)
}

/// A kubeconfig with one context, in a folder of its own.
struct Kubeconfig {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Kubeconfig {
    fn new(server: &str, user: &serde_json::Value) -> Kubeconfig {
        Kubeconfig::with_cluster(&serde_json::json!({ "server": server }), user)
    }

    fn with_cluster(cluster: &serde_json::Value, user: &serde_json::Value) -> Kubeconfig {
        Kubeconfig::parse(
            &serde_json::json!({
                "apiVersion": "v1", "kind": "Config", "current-context": "prod-eu",
                "clusters": [{ "name": "c", "cluster": cluster }],
                "users": [{ "name": "u", "user": user }],
                "contexts": [{ "name": "prod-eu", "context": { "cluster": "c", "user": "u" } }],
            })
            .to_string(),
        )
    }

    fn parse(text: &str) -> Kubeconfig {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, text).unwrap();
        Kubeconfig { path, _folder: folder }
    }

    fn connect(&self) -> Connect {
        Connect {
            kubeconfig: Some(self.path.clone()),
            request_timeout: Duration::from_secs(20),
            cli: Cli::None,
            terminal: false,
            ..Connect::default()
        }
    }
}

/// Connects to a server with a token that is the canary.
async fn live(server: &Server) -> Live {
    live_with(server, |_| {}).await
}

async fn live_with(server: &Server, change: impl FnOnce(&mut Connect)) -> Live {
    let kubeconfig = Kubeconfig::new(&server.url(), &serde_json::json!({ "token": CANARY }));
    let mut connect = kubeconfig.connect();
    change(&mut connect);
    Live::connect(connect).await.unwrap()
}

/// The objects that one request delivered.
#[derive(Default)]
struct Taken {
    names: Vec<String>,
    restarts: usize,
}

impl ObjectSink for Taken {
    fn object(&mut self, json: &[u8]) {
        let object: serde_json::Value = serde_json::from_slice(json).unwrap();
        self.names.push(object["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    }

    fn node(&mut self, _: NodeFiles) {
        unreachable!("the API server has no node files")
    }

    fn restart(&mut self) {
        self.names.clear();
        self.restarts += 1;
    }
}

async fn pods(live: &Live) -> (Fetched, Taken) {
    fetch(live, Request::new(Item::List(Kind::Pod))).await
}

async fn fetch(live: &Live, request: Request) -> (Fetched, Taken) {
    let mut taken = Taken::default();
    let fetched = live.fetch(&request, &mut taken).await;
    let reasons = match &fetched {
        Fetched::Complete => Vec::new(),
        Fetched::Partial { reasons } => reasons.clone(),
        Fetched::Missing { reason } => vec![reason.clone()],
    };
    reasons.iter().for_each(|why| drop((shown(why), shown(&format!("{why:?}")))));
    (fetched, taken)
}

/// A page of pods `from..to`, and the token for the next one.
fn page(from: usize, to: usize, next: &str) -> serde_json::Value {
    let items: Vec<_> = (from..to)
        .map(|n| serde_json::json!({ "metadata": { "name": format!("pod-{n}"), "namespace": "shop" } }))
        .collect();
    serde_json::json!({
        "kind": "PodList", "apiVersion": "v1",
        "metadata": { "resourceVersion": "1", "continue": next }, "items": items,
    })
}

fn names(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("pod-{n}")).collect()
}
