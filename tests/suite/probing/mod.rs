//! `check --probe` with the real binary, against a played API server whose pods have played programs behind their ports:
//! the same verdict live and from the bundle, whatever comes back; never a pass where nothing could be learned, never much
//! longer than allowed, and no secret in what is kept.

mod certificates;
mod cluster;
mod destination;
mod logs;
mod metrics;
mod program;
mod prometheus;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use futures::StreamExt;
use meshdoctor::finding::Severity;
use meshdoctor::render::document::{Document, Outcome};
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};
use tokio_rustls::rustls::ServerConfig;

use crate::binary::meshdoctor;
use crate::canary;
use cluster::{Cluster, Server};
use program::Says;
use world::{LINKED_TOKEN, World, base64, certificate, linked};

/// The checks that query running programs, and the queries of each.
const ASKING: [&str; 5] = [
    "viz-self-check-failing",
    "viz-metrics-missing",
    "gateway-probe-failing",
    "link-anchors-differ",
    "webhook-certificate-stale",
];
/// The reports of two runs: live, and from the bundle that the first one saved.
struct Ran {
    document: Document,
    status: i32,
    took: Duration,
    outcomes: BTreeMap<String, Outcome>,
}

impl Ran {
    fn outcomes(&self, of: &[&str]) -> Vec<(String, Outcome)> {
        of.iter().map(|id| ((*id).to_owned(), self.outcomes[*id])).collect()
    }

    /// The gaps of a check, in full.
    fn gaps(&self, id: &str) -> Vec<String> {
        let gaps = self.document.coverage.gaps.iter().filter(|gap| gap.checks.iter().any(|check| check == id));
        gaps.map(|gap| format!("{gap:?}")).collect()
    }

    /// The reason for missing evidence of programs, as the report states it.
    fn reasons(&self, id: &str) -> Vec<String> {
        let gaps = self.document.coverage.gaps.iter().filter(|gap| gap.checks.iter().any(|check| check == id));
        gaps.map(|gap| gap.message.clone()).collect()
    }
}

fn all(outcome: Outcome) -> Vec<(String, Outcome)> {
    ASKING.iter().map(|id| ((*id).to_owned(), outcome)).collect()
}

const PROBE: [&str; 3] = ["--probe", "--request-timeout", "3s"];
const AT: &str = "2026-01-15T12:00:00Z";

/// A kubeconfig that leads to a server, in a folder.
fn kubeconfig(folder: &Path, server: &Server) -> PathBuf {
    let path = folder.join("kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{ "name": "here", "cluster": { "server": server.url } }],
        "contexts": [{ "name": "here", "context": { "cluster": "here", "user": "me" } }],
        "users": [{ "name": "me", "user": {} }],
    });
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

/// Runs the binary live and on what that kept. Their reports must be equal and contain no secret.
async fn twice(server: &Server, secrets: &[String], words: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = kubeconfig(folder.path(), server);
    let bundle = folder.path().join("saved");
    let [config, saved] = [&kubeconfig, &bundle].map(|path| path.to_str().unwrap().to_owned());
    let target = format!("{saved}/");
    let live = ["check", "--kubeconfig", &config, "--linkerd-cli", "edge-25.4.4", "--at", AT, "--save", &target];
    // The played linked cluster is on this machine, to which no link of a cluster may lead.
    let skip = ["--skip", "link-credentials-unusable"];
    let began = Instant::now();
    let (live, status) = run(&[&live[..], &skip, &["-v", "-o", "json"], words].concat()).await;
    let took = began.elapsed();
    let (again, status_again) = run(&[&["check", "--bundle", &saved, "-v", "-o", "json"], &skip[..]].concat()).await;
    for part in ["verdict", "coverage", "checks", "findings", "causes"] {
        assert_eq!(live[part], again[part], "{words:?}: {part}, live and from the bundle");
    }
    assert_eq!(status, status_again);
    clean(&bundle, secrets);
    let document: Document = serde_json::from_value(live).unwrap();
    let outcomes = document.checks.iter().map(|check| (check.id.clone(), check.outcome)).collect();
    Ran { document, status, took, outcomes }
}

async fn run(words: &[&str]) -> (Value, i32) {
    let mut command = meshdoctor(words);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    canary::clean("what is said", &[output.stdout.clone(), output.stderr].concat());
    for text in [&said, &String::from_utf8_lossy(&output.stdout).into_owned()] {
        assert!(!text.contains(LINKED_TOKEN), "{text}");
        assert!(!text.contains("panicked"), "{text}");
    }
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}\n{said}"));
    (document, output.status.code().unwrap())
}

/// No file of a bundle holds one of these.
fn clean(bundle: &Path, secrets: &[String]) {
    let mut files = 0;
    for entry in walkdir::WalkDir::new(bundle) {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        files += 1;
        let bytes = std::fs::read(entry.path()).unwrap();
        let place = entry.path().display().to_string();
        canary::clean(&place, &bytes);
        let text = String::from_utf8_lossy(&bytes);
        for secret in secrets.iter().map(String::as_str).chain([LINKED_TOKEN]) {
            for form in [secret.to_owned(), base64(secret)[..20].to_owned()] {
                assert!(!text.contains(&form), "{place} holds {form}");
            }
        }
    }
    assert!(files > 20, "a bundle of {files} files");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_programs_say_is_judged_alike_live_and_from_the_bundle() {
    let (server, keys) = World::well().start(&linked(None).await).await;
    let ran = twice(&server, &keys, &PROBE).await;
    let loud: Vec<_> = ran.document.findings.iter().filter(|finding| finding.severity >= Severity::Warning).collect();
    assert!(loud.is_empty(), "{loud:#?}");
    assert_eq!(ran.outcomes(&ASKING), all(Outcome::Pass), "{:#?}", ran.document.coverage);

    let (_, _, other) = certificate("linkerd-proxy-injector");
    let (anchors, _, _) = certificate("root.linkerd.cluster.local");
    let token = format!("failed to sign in with Bearer {}", canary::token());
    let world = World::well()
        .answering("linkerd-proxy-injector", 8443, Says::Tls(other))
        .answering("metrics-api", 9995, Says::http(500, &token))
        .answering("controller-east", 9999, Says::http(200, "# TYPE\ngateway_alive{target_cluster_name=\"east\"} 0\n"))
        .answering("prometheus", 9090, Says::http(200, r#"{"status":"success","data":{"result":[]}}"#));
    let (server, keys) = world.start(&linked(Some(&anchors)).await).await;
    let ran = twice(&server, &keys, &PROBE).await;
    assert_eq!(ran.outcomes(&ASKING), all(Outcome::Findings), "{:#?}", ran.document.coverage);
    assert_eq!(ran.status, 1);
}

/// A server may close what the client keeps open at any time, and a way through it that does so once is no way that is
/// closed. One that does so always is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_before_the_answer_is_made_again() {
    for (breaks, outcome) in [(2, Outcome::Pass), (usize::MAX, Outcome::NotChecked)] {
        let well = Says::http(200, "ok\n");
        let broken = Says::After(Arc::new(AtomicUsize::new(breaks)), Box::new(well));
        let world = World::well().answering("metrics-api", 9995, broken);
        let (server, keys) = world.start(&linked(None).await).await;
        let ran = twice(&server, &keys, &PROBE).await;
        assert_eq!(ran.outcomes["viz-self-check-failing"], outcome, "{:#?}", ran.document.coverage);
        let told = ran.reasons("viz-self-check-failing").join("; ");
        assert_eq!(told.contains("the connection ended"), outcome == Outcome::NotChecked, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_flag_nobody_is_asked_and_the_flag_is_named() {
    let other = linked(None).await;
    let (server, keys) = World::well().start(&other).await;
    let ran = twice(&server, &keys, &[]).await;
    assert_eq!(ran.outcomes(&ASKING), all(Outcome::NotChecked));
    assert!(!server.requested_paths().iter().any(|path| path.contains("portforward")));
    assert_eq!(other.requested_paths(), Vec::<String>::new());
    for id in ASKING {
        let gaps: Vec<_> =
            ran.document.coverage.gaps.iter().filter(|gap| gap.checks.iter().any(|check| check == id)).collect();
        assert!(!gaps.is_empty(), "{id}");
        for gap in gaps {
            assert!(!gap.asked_for && gap.close.contains("--probe"), "{id}: {gap:?}");
        }
    }
    assert_eq!(ran.status, 0, "nobody asked for it");
}

/// Nothing that a port can do passes for an answer, or takes longer than it may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_port_forward_does_nothing_is_learned_from_it_and_it_ends() {
    // An answer without its length may be incomplete.
    let half = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok\n".to_vec();
    let plays = [
        (Says::Silence, "no response within 3 s"),
        (Says::Hangs, "no response within 3 s"),
        (Says::Page, "200"),
        (Says::Refuses(401, "you are nobody"), "denied: you are nobody"),
        (Says::Refuses(403, "you may not create pods/portforward"), "denied: you may not"),
        (Says::Refuses(503, "error dialing backend: no kubelet"), "no kubelet"),
        (Says::NoWebsocket, ""),
        (Says::OtherPort, ""),
        (Says::Kubelet("connection refused on the port"), ""),
        (Says::Ends(Vec::new()), ""),
        (Says::Ends(half), ""),
        (Says::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec()), ""),
        (Says::Bytes(vec![0; 200_000]), ""),
        (Says::Endless, ""),
    ];
    futures::stream::iter(plays).for_each_concurrent(2, |(says, reason)| learns_nothing(says, reason)).await;
}

async fn learns_nothing(says: Says, reason: &str) {
    let (server, keys) = World::all_say(&says).start(&linked(None).await).await;
    let ran = twice(&server, &keys, &PROBE).await;
    // The linked cluster is asked another way; whether it answers in time here is another test's matter.
    let linked = ran.outcomes["link-anchors-differ"];
    for (id, outcome) in ran.outcomes(&ASKING).into_iter().filter(|(id, _)| id != "link-anchors-differ") {
        assert_eq!(outcome, Outcome::NotChecked, "{reason}: {id}: {:#?}", ran.document.findings);
    }
    assert_eq!(ran.status, if linked == Outcome::Findings { 1 } else { 4 }, "{reason}: it was asked for");
    assert!(ran.took < Duration::from_secs(90), "{reason}: {:?}", ran.took);
    for id in ASKING.iter().filter(|id| **id != "link-anchors-differ") {
        let reasons = ran.reasons(id);
        assert!(reasons.iter().any(|said| said.contains(reason)), "{id}: {reasons:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linked_cluster_that_is_not_reached_is_told_and_all_else_is_judged() {
    let silent = Server::silent().await;
    let [theirs, ours] = [(); 2].map(|()| certificate("kubernetes"));
    let address = behind_tls(theirs.2).await;
    let authority = base64(&ours.0);
    let strange = json!({ "server": address, "certificate-authority-data": authority });
    for (cluster, words) in [
        (json!({ "server": silent.url }), "no response within 3 s"),
        (json!({ "server": "http://127.0.0.1:1" }), "the connection was refused"),
        (strange, "the server's certificate is not trusted"),
    ] {
        let (server, keys) = World::well().linked_to(cluster).await;
        let ran = twice(&server, &keys, &PROBE).await;
        let found = ran.document.findings.iter().find(|finding| finding.check == "link-anchors-differ");
        let found = format!("{:#?}", found.expect("it is told"));
        assert!(found.contains(words), "{words}: {found}");
        assert_eq!((ran.outcomes["link-anchors-differ"], ran.status), (Outcome::Findings, 1), "{words}");
        assert_eq!(ran.outcomes["gateway-probe-failing"], Outcome::Pass, "{words}");
    }
}

/// The address of a server that shows a certificate, and takes what follows for nothing.
async fn behind_tls(config: Arc<ServerConfig>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(config);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    format!("https://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_run_ends_when_it_must() {
    let (server, keys) = World::all_say(&Says::Hangs).start(&Server::silent().await).await;
    let ran = twice(&server, &keys, &["--probe", "--request-timeout=0", "--timeout=3s"]).await;
    assert_eq!(ran.outcomes(&ASKING), all(Outcome::NotChecked));
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
}

/// What is collected before an installation is judged elsewhere as it would be here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_collected_before_an_installation_is_judged_alike_elsewhere() {
    let mut memory = Memory::default();
    for name in ["kube-system", "default"] {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "uid": name } });
        memory.add(&object).unwrap();
    }
    let denied = vec!["create secrets", "create clusterroles"];
    let server = Server::start(Cluster { memory, denied, ..Cluster::default() }).await;
    let folder = tempfile::tempdir().unwrap();
    let config = kubeconfig(folder.path(), &server);
    let way = ["--kubeconfig", config.to_str().unwrap(), "--linkerd-cli", "edge-25.4.4"];
    for moment in ["--pre", "--crds"] {
        let bundle = folder.path().join(format!("saved{moment}.tar.gz"));
        let bundle = bundle.to_str().unwrap();
        let mut collect = meshdoctor(&[&["collect", moment, "-o", bundle], &way[..]].concat());
        let output = tokio::task::spawn_blocking(move || collect.output().unwrap()).await.unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let (live, status) = run(&[&["check", moment, "-o", "json"], &way[..]].concat()).await;
        let (again, elsewhere) = run(&["check", moment, "-o", "json", "--bundle", bundle]).await;
        for part in ["verdict", "coverage", "checks", "findings", "causes"] {
            assert_eq!(live[part], again[part], "{moment}: {part}");
        }
        assert_eq!(status, elsewhere, "{moment}");
        let denied = live["findings"].as_array().unwrap().iter().filter(|finding| {
            finding["check"].as_str().is_some_and(|id| id.starts_with("install-") && id.ends_with("-rights-missing"))
        });
        assert_eq!(denied.count() > 0, moment == "--pre", "{:#}", live["findings"]);
    }
}
