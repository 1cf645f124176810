//! `check --proxies`: metrics of the control plane and of a sample of proxies, read twice through port-forwards, live and from
//! the bundle, whatever the programs answer.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use meshdoctor::finding::Severity;
use meshdoctor::item::Kind;
use meshdoctor::render::document::Outcome;
use meshdoctor::source::memory::Memory;

use super::cluster::{Cluster, Server, change, mesh};
use super::program::Says;
use super::{run, twice};

const SHED: &str = "inbound-requests-shed";
const EXPIRED: &str = "proxy-certificate-expired";
const READ: [&str; 3] = ["--proxies=1s", "--request-timeout", "3s"];
/// A request of a client that must not be kept.
const PRIVATE: &str = "orders.private.example";

/// Metrics of a proxy at a moment.
fn metrics(at: i64, shed: u64) -> String {
    format!(
        "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1768294900\nprocess_clock_time_seconds {at}\n\
         control_identity_cert_expiration_timestamp_seconds 1799999999.0\n\
         request_total{{authority=\"{PRIVATE}\"}} 9\n\
         inbound_http_errors_total{{error=\"loadshed\",target_ip=\"10.42.1.7\",target_port=\"8080\"}} {shed}\n"
    )
}

fn gzipped(body: &str) -> Says {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(body.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
    Says::Bytes([head.into_bytes(), packed].concat())
}

/// The first answer, then the second.
fn in_turn(first: Says, second: Says) -> Says {
    Says::InTurn(Arc::new(AtomicUsize::new(0)), vec![first, second])
}

/// A mesh whose pods run.
fn running() -> Memory {
    let mut memory = mesh();
    let names: Vec<String> = memory.objects[&Kind::Pod].iter().map(|held| held.name.clone()).collect();
    for name in names {
        change(&mut memory, Kind::Pod, &name, |pod| pod["status"]["phase"] = "Running".into());
    }
    memory
}

/// A mesh in which every proxy answers with this.
async fn started(says: &Says) -> Server {
    let memory = running();
    let programs: BTreeMap<(String, u16), Says> = memory.objects[&Kind::Pod]
        .iter()
        .map(|held| {
            let says = match says {
                Says::InTurn(_, all) => Says::InTurn(Arc::default(), all.clone()),
                other => other.clone(),
            };
            ((held.name.clone(), 4191), says)
        })
        .collect();
    Server::start(Cluster { memory, programs, ..Cluster::default() }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn growth_between_two_reads_is_judged_live_and_from_the_bundle() {
    let plain = |at, shed| Says::http(200, &metrics(at, shed));
    for says in [
        in_turn(plain(1_768_478_280, 4), plain(1_768_478_310, 9)),
        in_turn(gzipped(&metrics(1_768_478_280, 4)), gzipped(&metrics(1_768_478_310, 9))),
    ] {
        let server = started(&says).await;
        let ran = twice(&server, &[PRIVATE.to_owned()], &READ).await;
        assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
        assert_eq!(ran.outcomes(&[EXPIRED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
        let quoted = format!("{:?}", ran.document.findings);
        assert!(quoted.contains("5 requests shed within 30 seconds"), "{quoted}");
        let forwards = server.requested_paths().iter().filter(|path| path.contains("portforward")).count();
        let pods = server
            .requested_paths()
            .iter()
            .filter(|path| path.contains("/web-5d9f8c7b66-") && path.contains("portforward"))
            .count();
        assert!(pods == 2 && forwards > pods, "one pod of two is read, twice: {forwards}, {pods}");
    }
    let quiet = in_turn(plain(1_768_478_280, 9), plain(1_768_478_310, 9));
    let ran = twice(&started(&quiet).await, &[PRIVATE.to_owned()], &READ).await;
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
}

/// A server of these objects whose proxies answer with the same metrics twice.
async fn served(memory: Memory, more: &[(&str, u16, Says)]) -> Server {
    let both = |at| Says::http(200, &metrics(at, 4));
    let mut programs: BTreeMap<(String, u16), Says> = memory.objects[&Kind::Pod]
        .iter()
        .map(|held| ((held.name.clone(), 4191), in_turn(both(1_768_478_280), both(1_768_478_310))))
        .collect();
    for (pod, port, says) in more {
        programs.insert(((*pod).to_owned(), *port), says.clone());
    }
    Server::start(Cluster { memory, programs, ..Cluster::default() }).await
}

/// How often a port of a pod was forwarded.
fn forwards(server: &Server, pod: &str) -> usize {
    let asked = server.requested_paths();
    asked.iter().filter(|path| path.contains(pod) && path.contains("portforward")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pod_with_a_finding_is_read_too() {
    let mut memory = running();
    change(&mut memory, Kind::Pod, "web-5d9f8c7b66-4xq7p", |pod| {
        pod["status"]["conditions"][0]["status"] = "False".into();
        pod["status"]["containerStatuses"][0]["ready"] = false.into();
    });
    let server = served(memory, &[]).await;
    let ran = twice(&server, &[], &READ).await;
    let affected = ran.document.findings.iter().any(|finding| finding.severity >= Severity::Warning);
    assert!(affected, "{:#?}", ran.document.findings);
    assert_eq!(forwards(&server, "web-5d9f8c7b66-4xq7p"), 2);
    assert_eq!(forwards(&server, "web-5d9f8c7b66-kd82n"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_beyond_the_limit_are_named() {
    let server = served(running(), &[]).await;
    let ran = twice(&server, &[], &[&READ[..], &["--max-proxies", "1"]].concat()).await;
    let gaps = format!("{:?}", ran.document.coverage.gaps);
    assert!(gaps.contains("more proxies, beyond the limits of a sample: "), "{gaps}");
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::NotChecked, "{gaps}");
    let without = served(running(), &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let config = super::kubeconfig(folder.path(), &without).display().to_string();
    let words = ["check", "--kubeconfig", &config, "--max-proxies", "1", "-o", "json"];
    let (document, status) = run(&words).await;
    assert!(status == 2 && document.to_string().contains("--proxies"), "{status}: {document}");
    assert_eq!(without.requested_paths(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_container_loses_only_its_own_metrics() {
    let destination = "linkerd-destination-7c9d5f6b48-q2w8z";
    let mut memory = running();
    change(&mut memory, Kind::Pod, destination, |pod| {
        let containers = pod["spec"]["containers"].as_array_mut().unwrap();
        containers.push(serde_json::json!({ "name": "sp-validator", "ports": [
            { "name": "spval-admin", "containerPort": 9997 }] }));
    });
    let server = served(memory, &[(destination, 9997, Says::http(404, "no"))]).await;
    let ran = twice(&server, &[], &READ).await;
    assert!(forwards(&server, destination) >= 3);
    let gaps = ran.document.coverage.gaps.iter().filter(|gap| gap.checks.iter().any(|id| id == EXPIRED));
    let gaps = format!("{:?}", gaps.collect::<Vec<_>>());
    assert!(!gaps.contains(destination), "{gaps}");
    assert_eq!(ran.outcomes(&[EXPIRED])[0].1, Outcome::Pass, "{gaps}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_failed_read_has_its_own_reason() {
    let slow = ("linkerd-identity-6d8f7b5c94-v7k4m", 4191, Says::http(503, "no"));
    let hangs = ("web-5d9f8c7b66-kd82n", 4191, Says::Hangs);
    let server = served(running(), &[slow, hangs]).await;
    let ran = twice(&server, &[], &READ).await;
    let of = |pod: &str| {
        let gaps = ran.document.coverage.gaps.iter();
        let gap = gaps.filter(|gap| gap.checks.iter().any(|id| id == EXPIRED));
        let gap: Vec<String> = gap.map(|gap| format!("{gap:?}")).filter(|gap| gap.contains(pod)).collect();
        gap.join("\n")
    };
    assert!(of("linkerd-identity").contains("response to /metrics is an error"), "{}", of("linkerd-identity"));
    assert!(!of("kd82n").is_empty() && !of("kd82n").contains("is an error"), "{}", of("kd82n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_answers_are_never_a_pass() {
    let broken = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!";
    for says in [
        Says::http(503, "no"),
        Says::Bytes(broken.as_bytes().to_vec()),
        Says::Bytes(b"HTTP/1.1 200 OK\r\n\r\nprocess_open_fds 7\n".to_vec()),
        Says::Refuses(403, "pods \"web\" is forbidden: cannot create resource \"pods/portforward\""),
        Says::Hangs,
        Says::Endless,
        Says::NoWebsocket,
    ] {
        let server = started(&says).await;
        let ran = twice(&server, &[], &READ).await;
        for (id, outcome) in ran.outcomes(&[SHED, EXPIRED]) {
            assert_eq!(outcome, Outcome::NotChecked, "{id}: {:#?}", ran.document.coverage);
        }
        assert_ne!(ran.status, 0, "{:#?}", ran.document.coverage);
        assert!(ran.took.as_secs() < 60, "{:?}", ran.took);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_second_read_is_a_gap_of_growth_only() {
    let says = in_turn(Says::http(200, &metrics(1_768_478_280, 4)), Says::http(503, "no"));
    let ran = twice(&started(&says).await, &[], &READ).await;
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::NotChecked, "{:#?}", ran.document.coverage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_flag_no_port_is_forwarded() {
    let server = started(&Says::http(200, &metrics(1_768_478_280, 4))).await;
    let folder = tempfile::tempdir().unwrap();
    let config = super::kubeconfig(folder.path(), &server).display().to_string();
    let words = ["check", "--kubeconfig", &config, "--linkerd-cli", "none", "-o", "json", "--only", SHED];
    let (_, status) = run(&words).await;
    assert!(status != 1 && !server.requested_paths().iter().any(|path| path.contains("portforward")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sync_samples_proxies_of_the_selected_namespace_only() {
    let says = in_turn(Says::http(200, &metrics(1_768_478_280, 4)), Says::http(200, &metrics(1_768_478_310, 4)));
    let server = started(&says).await;
    let folder = tempfile::tempdir().unwrap();
    let config = super::kubeconfig(folder.path(), &server).display().to_string();
    let words = ["sync", "--kubeconfig", &config, "--linkerd-cli", "none", "-o", "json", "--proxies=1s"];
    let states = |document: &serde_json::Value| -> BTreeMap<String, String> {
        let pods = document["pods"].as_array().unwrap().iter();
        pods.map(|pod| (pod["namespace"].to_string(), pod["certificate"]["state"].to_string())).collect()
    };
    let (document, status) = run(&words).await;
    assert_eq!(states(&document).get("\"shop\""), Some(&"\"valid\"".to_owned()), "{document:#}");
    // The clients of the control plane are not in these metrics.
    assert_eq!(status, 4, "{document:#}");
    assert!(server.requested_paths().iter().any(|path| path.contains("portforward") && path.contains("/shop/")));
    let other = started(&says).await;
    let config = super::kubeconfig(folder.path(), &other).display().to_string();
    let words = [&words[..2], &[&config], &words[3..], &["-n", "linkerd"]].concat();
    let (document, _) = run(&words).await;
    assert!(states(&document).keys().all(|namespace| namespace == "\"linkerd\""), "{document:#}");
    assert!(!other.requested_paths().iter().any(|path| path.contains("portforward") && path.contains("/shop/")));
}
