//! A cluster of a few nodes that runs pods for a while and records everything: a test reads the remaining
//! pods at the end. The test defines the faults, request by request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use meshdoctor::node_files::NodeFiles;
use meshdoctor::node_log;
use serde_json::{Value, json};

use super::super::server::{ReceivedRequest, Reply, Server};
use super::super::{CANARY, Kubeconfig};

pub const PODS: &str = "/api/v1/namespaces/kube-system/pods";

/// The pods that the server has, with the time of their creation.
#[derive(Default)]
pub struct State {
    pub pods: BTreeMap<String, (Value, Instant)>,
    pub created: usize,
}

pub type Shared = Arc<Mutex<State>>;
/// A fault: an answer in place of the usual one.
pub type Fault = dyn Fn(&ReceivedRequest, &Shared) -> Option<Reply> + Send + Sync;

/// A running cluster.
pub struct Fake {
    pub server: Server,
    pub state: Shared,
    kubeconfig: Kubeconfig,
    folder: tempfile::TempDir,
}

impl Fake {
    /// Starts a cluster with three nodes whose pods run for `runs`, and a fourth with Windows.
    pub async fn start(
        runs: Duration,
        fault: impl Fn(&ReceivedRequest, &Shared) -> Option<Reply> + Send + Sync + 'static,
    ) -> Fake {
        let state = Shared::default();
        let own = Arc::clone(&state);
        let fault: Box<Fault> = Box::new(fault);
        let server = Server::start(move |asked| fault(asked, &own).unwrap_or_else(|| answer(asked, &own, runs))).await;
        let kubeconfig = Kubeconfig::new(&server.url(), &json!({ "token": CANARY }));
        Fake { server, state, kubeconfig, folder: tempfile::tempdir().unwrap() }
    }

    /// Path of the bundle.
    pub fn bundle(&self) -> PathBuf {
        self.folder.path().join("bundle.tar.gz")
    }

    /// `meshdoctor collect --node-pods` with these words.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshdoctor"));
        command
            .args(["collect", "--only", "control-plane-missing", "--linkerd-cli", "none", "--node-pods"])
            .arg("--kubeconfig")
            .arg(&self.kubeconfig.path)
            .arg("--output")
            .arg(self.bundle())
            .args(words)
            .env_clear()
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The same, with an image and without questions.
    pub fn agreed(&self, words: &[&str]) -> Command {
        self.command(&[&["--yes", "--node-image", "registry.example/meshdoctor:1"], words].concat())
    }

    /// Names of the existing pods.
    pub fn pods(&self) -> Vec<String> {
        self.state.lock().unwrap().pods.keys().cloned().collect()
    }

    pub fn created(&self) -> usize {
        self.state.lock().unwrap().created
    }

    /// Nodes in the bundle that was written.
    pub fn collected(&self) -> Vec<String> {
        use meshdoctor::source::nodes::{NodeEvidence, NodesInput};
        let evidence = NodeEvidence::open(&[NodesInput::Several(self.bundle())]).unwrap();
        evidence.nodes().map(str::to_owned).collect()
    }

    /// The requests that would change something.
    pub fn writes(&self) -> Vec<ReceivedRequest> {
        let changes = |asked: &ReceivedRequest| asked.method != "GET" && asked.query("dryRun").is_none();
        self.server.requests().into_iter().filter(changes).collect()
    }
}

/// The result of a run: exit status, standard output and standard error.
pub fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Runs a command to its end, without keeping the server from answering.
pub async fn run(mut command: Command) -> (i32, String, String) {
    ended(tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
}

/// Waits for a command that was started.
pub async fn wait(child: Child) -> (i32, String, String) {
    ended(tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap())
}

/// Sends a signal, `INT` or another.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The log that a pod on this node leaves.
pub fn log_of(node: &str) -> String {
    let meta = format!(r#"{{"schema":"node-snapshot/1","node":"{node}","collectedAt":"2026-01-15T12:00:00Z"}}"#);
    let conflist = r#"{"cniVersion":"0.3.1","name":"x","plugins":[{"type":"cilium-cni"}]}"#;
    let files = [
        ("meta.json".to_owned(), meta.into_bytes()),
        ("cni/net.d/05-cilium.conflist".to_owned(), conflist.as_bytes().to_vec()),
    ];
    let mut log = Vec::new();
    node_log::write(&NodeFiles { node: node.to_owned(), files: files.into() }, &mut log).unwrap();
    String::from_utf8(log).unwrap()
}

/// A pod of another run.
pub fn stranger(run: &str, created: &str, status: &Value) -> (String, Value) {
    let name = format!("meshdoctor-{run}-0");
    let labels = json!({
        "app.kubernetes.io/managed-by": "meshdoctor", "app.kubernetes.io/component": "node-snapshot",
        "meshdoctor.io/run": run,
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "status": status,
        "metadata": {
            "name": name, "namespace": "kube-system", "uid": format!("uid-{run}"),
            "creationTimestamp": created, "labels": labels,
        },
    });
    (name, pod)
}

/// The answers of a healthy cluster.
pub fn answer(asked: &ReceivedRequest, state: &Shared, runs: Duration) -> Reply {
    let list = |items: Vec<Value>| Reply::list(&json!({ "metadata": {}, "items": items }));
    let gone = || Reply::status(404, "NotFound", "not found");
    let named = |path: &str| asked.path.strip_prefix(path).map(str::to_owned);
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/api/v1/nodes") => list(nodes()),
        ("GET", "/api/v1/namespaces") => list(vec![json!({ "metadata": { "name": "kube-system" } })]),
        ("GET", "/api/v1/pods" | PODS) => list(selected(asked, state, runs)),
        ("POST", PODS) => create(asked, state),
        (method, _) => match named(&format!("{PODS}/")) {
            Some(name) => match (method, name.strip_suffix("/log")) {
                ("GET", Some(name)) => {
                    let state = state.lock().unwrap();
                    state.pods.get(name).map_or_else(gone, |(pod, _)| {
                        Reply::text(200, "text/plain", &log_of(pod["spec"]["nodeName"].as_str().unwrap()))
                    })
                }
                ("GET", None) => {
                    let state = state.lock().unwrap();
                    state.pods.get(&name).map_or_else(gone, |entry| Reply::json(&now(entry, runs)))
                }
                ("DELETE", None) if asked.query("dryRun").is_none() => {
                    let taken = state.lock().unwrap().pods.remove(&name);
                    taken.map_or_else(gone, |(pod, _)| Reply::json(&pod))
                }
                _ => gone(),
            },
            None if is_of_one(&asked.path) => {
                let name = asked.path.rsplit('/').next().unwrap_or_default();
                let status = json!({
                    "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404,
                    "message": "not found", "details": { "name": name },
                });
                Reply::json(&status).with_status(404)
            }
            None => list(Vec::new()),
        },
    }
}

/// Whether a path ends in `KIND/NAME`, with or without a namespace.
fn is_of_one(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let version = if parts.first() == Some(&"api") { 2 } else { 3 };
    matches!(parts.len().checked_sub(version), Some(2 | 4))
}

/// Creates the pod that was sent.
pub fn create(asked: &ReceivedRequest, state: &Shared) -> Reply {
    let pod: Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(asked.query("timeout"), Some("10s"));
    if asked.query("dryRun") != Some("All") {
        let mut state = state.lock().unwrap();
        let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
        if state.pods.contains_key(&name) {
            return Reply::status(409, "AlreadyExists", "already exists");
        }
        state.created += 1;
        state.pods.insert(name, (pod.clone(), Instant::now()));
    }
    Reply::text(201, "application/json", &pod.to_string())
}

/// The pod as its kubelet has it by now.
fn now((pod, since): &(Value, Instant), runs: Duration) -> Value {
    let mut pod = pod.clone();
    if pod["status"].is_null() {
        let ended = since.elapsed() >= runs;
        let state = if ended { json!({ "terminated": { "exitCode": 0 } }) } else { json!({ "running": {} }) };
        pod["status"] = json!({
            "phase": if ended { "Succeeded" } else { "Running" },
            "startTime": "2026-01-15T12:00:00Z",
            "containerStatuses": [{ "name": "node-snapshot", "state": state }],
        });
    }
    pod
}

fn selected(asked: &ReceivedRequest, state: &Shared, runs: Duration) -> Vec<Value> {
    let selector =
        asked.query("labelSelector").unwrap_or_default().replace("%3D", "=").replace("%2C", ",").replace("%2F", "/");
    let wanted: Vec<(&str, &str)> = selector.split(',').filter_map(|part| part.split_once('=')).collect();
    let state = state.lock().unwrap();
    let all = state.pods.values().map(|entry| now(entry, runs));
    all.filter(|pod| wanted.iter().all(|(key, value)| pod["metadata"]["labels"][*key] == *value)).collect()
}

fn nodes() -> Vec<Value> {
    let node = |name: &str, system: &str| {
        json!({
            "metadata": { "name": name, "uid": name },
            "status": { "nodeInfo": { "operatingSystem": system, "kubeletVersion": "v1.31.5" } },
        })
    };
    vec![node("w1", "linux"), node("w2", "linux"), node("w3", "linux"), node("win", "windows")]
}

/// The path of a file as a word.
pub fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}
