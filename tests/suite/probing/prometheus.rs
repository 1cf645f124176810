//! `check --prometheus`: metrics of all proxies from a played Prometheus server, live and from the bundle, whatever it answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use meshdoctor::item::Kind;
use meshdoctor::render::document::Outcome;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::cluster::{Cluster, Server, change, http, mesh};
use super::program::Says;
use super::{Ran, twice};

const SHED: &str = "inbound-requests-shed";
const EXPIRED: &str = "proxy-certificate-expired";
const TOKEN: &str = "cHJvbWV0aGV1cy1jYW5hcnktdG9rZW4";
const OTHER_ISSUER: &str = "identity-serves-other-issuer";
const STUCK: &str = "destination-replica-stuck";
/// The times of scrapes.
const SCRAPED_AT: &str = "scraped_at";
/// The server's present time.
const NOW: f64 = 1_768_478_310.0;
/// A configuration without rules that drop series.
const KEEPS: &str = "scrape_configs:\n- job_name: linkerd-proxy\n";
const DROPS: &str = "scrape_configs:\n- job_name: linkerd-proxy\n  metric_relabel_configs: [{action: drop}]\n";

/// The answers of the server.
#[derive(Clone)]
enum Answers {
    /// Series, by name and other labels, with the values at both ends of the window; warnings; and the configuration.
    Series(Vec<(Value, [&'static str; 2])>, Vec<&'static str>, &'static str),
    /// This response to every request.
    Always(String),
    /// Nothing.
    Silence,
    /// A body without an end.
    Endless,
}

/// A played Prometheus server. It remembers the requests.
struct Played {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Played {
    async fn start(answers: Answers) -> Played {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/prometheus", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answers.clone(), Arc::clone(&log)));
            }
        });
        Played { url, asked }
    }

    /// The same over TLS, with this certificate.
    async fn start_tls(answers: Answers, config: Arc<ServerConfig>) -> Played {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/prometheus", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, acceptor) = (Arc::clone(&asked), TlsAcceptor::from(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, answers, log) = (acceptor.clone(), answers.clone(), Arc::clone(&log));
                tokio::spawn(async move { serve(acceptor.accept(stream).await.ok()?, answers, log).await });
            }
        });
        Played { url, asked }
    }

    fn requested_paths(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answers: Answers,
    log: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        log.lock().unwrap().push(head.clone());
        let text = match &answers {
            Answers::Series(series, warnings, config) => http(200, &answer(&head, series, warnings, config)),
            Answers::Always(text) => text.clone(),
            Answers::Silence => return std::future::pending().await,
            Answers::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await.ok()?;
                loop {
                    stream.write_all(&[&b"80000\r\n"[..], &[b' '; 0x80000], b"\r\n"].concat()).await.ok()?;
                }
            }
        };
        stream.write_all(text.as_bytes()).await.ok()?;
    }
}

/// The answer of the HTTP API.
fn answer(head: &str, series: &[(Value, [&'static str; 2])], warnings: &[&str], config: &str) -> String {
    let target = head.split(' ').nth(1).unwrap();
    let target = target.strip_prefix("/prometheus").unwrap_or(target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let params: BTreeMap<&str, String> =
        query.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (name, decoded(value))).collect();
    let number = |name: &str| params[name].parse::<f64>().unwrap();
    let data = match path {
        "/api/v1/status/config" => json!({ "yaml": config }),
        "/api/v1/query" => {
            let query = &params["query"];
            let result = match labels_of_count(query) {
                Some(labels) => counted(selected(query, series), &labels),
                None => selected(query, series)
                    .into_iter()
                    .map(|(metric, [_, last])| json!({ "metric": metric, "value": [NOW, last] }))
                    .collect(),
            };
            json!({ "resultType": "vector", "result": result })
        }
        "/api/v1/query_range" => {
            let times = [number("start"), number("end")];
            let result = selected(&params["query"], series).into_iter().map(|(metric, values)| {
                let values: Vec<Value> = times
                    .iter()
                    .zip(values)
                    .filter(|(_, value)| !value.is_empty())
                    .map(|(t, v)| json!([t, v]))
                    .collect();
                json!({ "metric": metric, "values": values })
            });
            json!({ "resultType": "matrix", "result": result.collect::<Vec<_>>() })
        }
        other => panic!("{other}"),
    };
    json!({ "status": "success", "data": data, "warnings": warnings }).to_string()
}

/// The labels by which a query counts series.
fn labels_of_count(query: &str) -> Option<Vec<String>> {
    let labels = query.strip_prefix("count by (")?.split(')').next()?;
    Some(labels.split(',').map(str::to_owned).collect())
}

/// The numbers of series with the same values of labels.
fn counted(series: Vec<(Value, [&'static str; 2])>, labels: &[String]) -> Vec<Value> {
    let mut counts: BTreeMap<String, (Value, usize)> = BTreeMap::new();
    for (metric, _) in series {
        let mut metric = metric.as_object().unwrap().clone();
        metric.retain(|name, _| labels.contains(name));
        let metric = Value::Object(metric);
        counts.entry(metric.to_string()).or_insert((metric, 0)).1 += 1;
    }
    let each = counts.into_values();
    each.map(|(metric, count)| json!({ "metric": metric, "value": [NOW, count.to_string()] })).collect()
}

/// The series of the names in a query.
fn selected(query: &str, series: &[(Value, [&'static str; 2])]) -> Vec<(Value, [&'static str; 2])> {
    let names: Vec<&str> = query.split("__name__=~\"").nth(1).unwrap().split('"').next().unwrap().split('|').collect();
    // The times of scrapes are played by series of a name that no program exports.
    let names = if query.contains("timestamp(") { vec![SCRAPED_AT] } else { names };
    let is_named = |metric: &Value| names.iter().any(|name| metric["__name__"] == **name);
    series.iter().filter(|(metric, _)| is_named(metric)).cloned().collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'%', [_, _, after @ ..]) => {
                let hex = std::str::from_utf8(&rest[1..3]).unwrap();
                bytes.push(u8::from_str_radix(hex, 16).unwrap());
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8(bytes).unwrap()
}

/// A mesh whose pods run, each with an address.
fn running() -> Memory {
    let mut memory = mesh();
    let names: Vec<String> = memory.objects[&Kind::Pod].iter().map(|held| held.name.clone()).collect();
    for (number, name) in names.iter().enumerate() {
        change(&mut memory, Kind::Pod, name, |pod| {
            pod["status"]["phase"] = "Running".into();
            pod["status"]["podIP"] = format!("10.42.9.{}", number + 1).into();
        });
    }
    memory
}

/// The series of every pod with a proxy, as the job `linkerd-proxy` of viz labels them.
fn fleet(memory: &Memory, shed: [&'static str; 2]) -> Vec<(Value, [&'static str; 2])> {
    let mut all = Vec::new();
    for (number, held) in memory.objects[&Kind::Pod].iter().enumerate() {
        let of = |name: &str| {
            json!({ "__name__": name, "job": "linkerd-proxy", "namespace": held.namespace, "pod": held.name,
                "instance": format!("10.42.9.{}:4191", number + 1) })
        };
        all.push((of("process_start_time_seconds"), ["1768294900.5", "1768294900.5"]));
        all.push((of("process_clock_time_seconds"), ["1768477705", "1768478305"]));
        all.push((of("control_identity_cert_expiration_timestamp_seconds"), ["1799999999", "1799999999"]));
        let mut errors = of("inbound_http_errors_total");
        errors["error"] = "loadshed".into();
        errors["target_port"] = "8080".into();
        all.push((errors, shed));
    }
    all
}

/// The gaps of a check.
fn gaps(ran: &Ran, id: &str) -> String {
    let gaps = ran.document.coverage.gaps.iter().filter(|gap| gap.checks.iter().any(|check| check == id));
    format!("{:?}", gaps.collect::<Vec<_>>())
}

struct Outcomes {
    ran: Ran,
    asked: Vec<String>,
    url: String,
}

async fn checked(memory: Memory, answers: Answers) -> Outcomes {
    let server = Server::start(Cluster { memory, ..Cluster::default() }).await;
    let played = Played::start(answers).await;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
    let words = [
        "--prometheus",
        &format!("{}/", played.url),
        "--prometheus-token-file",
        token.to_str().unwrap(),
        "--request-timeout",
        "2s",
    ];
    let ran = twice(&server, &[TOKEN.to_owned()], &words).await;
    assert!(!server.requested_paths().iter().any(|path| path.contains("portforward")));
    assert!(!format!("{:?}", ran.document).contains(TOKEN));
    Outcomes { ran, asked: played.requested_paths(), url: played.url }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn growth_within_the_window_is_judged_for_all_proxies() {
    let memory = running();
    let series = fleet(&memory, ["4", "9"]);
    let Outcomes { ran, asked, .. } = checked(memory, Answers::Series(series, Vec::new(), KEEPS)).await;
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
    assert_eq!(ran.outcomes(&[EXPIRED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
    let quoted = format!("{:?}", ran.document.findings);
    assert!(quoted.contains("5 requests shed within 600 seconds"), "{quoted}");
    for pod in ["web-5d9f8c7b66-2xkfp", "web-5d9f8c7b66-7hdn4"] {
        assert!(quoted.contains(&format!("Pod shop/{pod}")) || quoted.contains("web-5d9f8c7b66"), "{pod}: {quoted}");
    }
    assert!(asked.len() <= 30, "{}", asked.len());
    for head in asked {
        assert!(head.starts_with("GET /prometheus/api/v1/"), "{head}");
        assert!(head.to_ascii_lowercase().contains(&format!("authorization: bearer {}", TOKEN.to_ascii_lowercase())));
    }
}

/// The labels of a container of the control plane, as a PodMonitor sets them.
fn monitored(memory: &Memory, pod: &str, container: &str, port: u16) -> Value {
    let pods = &memory.objects[&Kind::Pod];
    let number = pods.iter().position(|held| held.name == pod).unwrap();
    json!({ "job": "linkerd/controller", "namespace": "linkerd", "pod": pod, "container": container,
        "instance": format!("10.42.9.{}:{port}", number + 1) })
}

fn series(labels: &Value, name: &str, more: &[(&str, &str)]) -> Value {
    let mut series = labels.clone();
    series["__name__"] = name.into();
    more.iter().for_each(|(label, value)| series[*label] = (*value).into());
    series
}

/// The clock of identity's proxy was scraped 150 seconds before the lifetime of its issuer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lifetime_of_the_issuer_counts_from_its_own_scrape() {
    // The issuer of the mesh expires at this time.
    let issuer = issuer_expires_at(&running());
    for (scraped, outcome) in [(1_768_478_300, Outcome::Pass), (1_768_478_000, Outcome::Findings)] {
        let mut memory = running();
        let pod = "linkerd-identity-6d8f7b5c94-v7k4m";
        change(&mut memory, Kind::Pod, pod, |pod| {
            for container in pod["spec"]["containers"].as_array_mut().unwrap() {
                if container["name"] == "identity" {
                    container["ports"] = json!([{ "name": "ident-admin", "containerPort": 9990 }]);
                }
            }
        });
        let labels = monitored(&memory, pod, "identity", 9990);
        let mut all = fleet(&memory, ["4", "4"]);
        for (metric, values) in &mut all {
            if metric["__name__"] == "process_clock_time_seconds" {
                *values = ["1768477550", "1768478150"];
            }
        }
        let lifetime: &'static str = (issuer - 1_768_478_300).to_string().leak();
        let scraped: &'static str = i64::to_string(&scraped).leak();
        all.push((series(&labels, "process_start_time_seconds", &[]), ["1768294900", "1768294900"]));
        all.push((series(&labels, "issuer_cert_ttl_seconds", &[]), [lifetime, lifetime]));
        all.push((series(&labels, SCRAPED_AT, &[]), [scraped, scraped]));
        let Outcomes { ran, .. } = checked(memory, Answers::Series(all, Vec::new(), KEEPS)).await;
        assert_eq!(ran.outcomes(&[OTHER_ISSUER])[0].1, outcome, "{:#?}", ran.document.coverage);
    }
}

/// Expiry of the issuer of a mesh.
fn issuer_expires_at(memory: &Memory) -> i64 {
    let secrets = &memory.objects[&Kind::Secret];
    let held = secrets.iter().find(|held| held.name == "linkerd-identity-issuer").unwrap();
    let secret: Value = serde_json::from_slice(&held.json).unwrap();
    let text = secret["data"]["crt.pem"].as_str().unwrap();
    let pem = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap();
    let all = meshdoctor::certificates::from_bundle(&String::from_utf8(pem).unwrap()).unwrap();
    all[0].not_after().as_second()
}

/// A PodMonitor adds the namespace of the pod, so that Prometheus renames that of the Service.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn updates_of_destination_are_read_from_pod_monitors() {
    let memory = running();
    let pod = "linkerd-destination-7c9d5f6b48-q2w8z";
    let labels = monitored(&memory, pod, "destination", 9996);
    let own = [("cluster", "local"), ("exported_namespace", "shop"), ("service", "web"), ("port", "80")];
    let mut all = fleet(&memory, ["4", "4"]);
    all.push((series(&labels, "process_start_time_seconds", &[]), ["1768294900", "1768294900"]));
    all.push((series(&labels, "endpoints_updates", &own), ["4", "9"]));
    all.push((series(&labels, "endpoints_subscribers", &own), ["1", "1"]));
    let Outcomes { ran, .. } = checked(memory, Answers::Series(all, Vec::new(), KEEPS)).await;
    let reasons = gaps(&ran, STUCK);
    assert!(!reasons.contains("the updates of endpoints"), "{reasons}");
    assert_ne!(ran.outcomes(&[STUCK])[0].1, Outcome::NotChecked, "{reasons}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_and_values_without_a_number_are_no_growth() {
    for shed in [["9", "9"], ["NaN", "+Inf"], ["4", "NaN"]] {
        let memory = running();
        let series = fleet(&memory, shed);
        let Outcomes { ran, .. } = checked(memory, Answers::Series(series, Vec::new(), KEEPS)).await;
        assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{shed:?}: {:#?}", ran.document.coverage);
    }
    let memory = running();
    let mut series = fleet(&memory, ["4", "9"]);
    series
        .iter_mut()
        .filter(|(metric, _)| metric["__name__"] == "process_start_time_seconds")
        .for_each(|(_, values)| *values = ["1768294900", "1768478100"]);
    let Outcomes { ran, .. } = checked(memory, Answers::Series(series, Vec::new(), KEEPS)).await;
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::NotChecked, "{:#?}", ran.document.coverage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn incomplete_results_are_gaps() {
    let memory = running();
    let series = fleet(&memory, ["9", "9"]);
    let answers = Answers::Series(series.clone(), vec!["a store is unavailable"], KEEPS);
    let Outcomes { ran, .. } = checked(running(), answers).await;
    assert_ne!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
    assert_ne!(ran.status, 0);

    // A server that drops series may have dropped the errors.
    let without: Vec<_> =
        series.iter().filter(|(metric, _)| metric["__name__"] != "inbound_http_errors_total").cloned().collect();
    let Outcomes { ran, .. } = checked(running(), Answers::Series(without.clone(), Vec::new(), DROPS)).await;
    assert_ne!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
    assert!(gaps(&ran, SHED).contains("inbound_http_errors_total"), "{:?}", gaps(&ran, SHED));
    let Outcomes { ran, .. } = checked(running(), Answers::Series(without, Vec::new(), KEEPS)).await;
    assert_eq!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);

    // Each series is stored by two servers, with a label that the scrape does not add.
    let copies = |replica: &str| -> Vec<_> {
        let mut copies = series.clone();
        copies.iter_mut().for_each(|(metric, _)| metric["receive_replica"] = json!(replica));
        copies
    };
    let once = checked(running(), Answers::Series(series.clone(), Vec::new(), KEEPS)).await.ran;
    let both = [copies("a"), copies("b")].concat();
    let twice = checked(running(), Answers::Series(both, Vec::new(), KEEPS)).await.ran;
    // Commands name the temporary files of each run.
    let said = |ran: &Ran| -> Vec<(String, String)> {
        ran.document.findings.iter().map(|one| (one.check.clone(), one.message.clone())).collect()
    };
    assert_eq!(said(&twice), said(&once));
    // Nothing distinguishes them.
    let both = [series.clone(), series.clone()].concat();
    let Outcomes { ran, .. } = checked(running(), Answers::Series(both, Vec::new(), KEEPS)).await;
    assert_ne!(ran.outcomes(&[SHED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);

    // One pod is missing in Prometheus.
    let others: Vec<_> = series.iter().filter(|(metric, _)| metric["instance"] != "10.42.9.1:4191").cloned().collect();
    let Outcomes { ran, .. } = checked(running(), Answers::Series(others, Vec::new(), KEEPS)).await;
    assert!(gaps(&ran, EXPIRED).contains("in Prometheus"), "{:?}", ran.reasons(EXPIRED));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_servers_are_named_and_never_a_pass() {
    let elsewhere = json!({ "__name__": "process_start_time_seconds", "namespace": "shop", "pod": "other-1" });
    let bad = |status: u16, body: &str| Answers::Always(http(status, body));
    let error = r#"{"status":"error","errorType":"execution","error":"query timed out"}"#;
    for (answers, reason) in [
        (Answers::Silence, "no response within 2 s"),
        (Answers::Endless, "larger than 128 MB"),
        (bad(200, "<html>please sign in</html>"), "HTML page"),
        (
            bad(200, r#"{"status":"success","data":{"resultType":"vector","result":[{"metric""#),
            "not one of the Prometheus",
        ),
        (bad(200, error), "reports an error"),
        (bad(401, "no"), "--prometheus-token-file"),
        (bad(403, "no"), "--prometheus-token-file"),
        (bad(404, "404 page not found"), "check the path of the URL"),
        (bad(422, error), "HTTP 422"),
        (Answers::Series(Vec::new(), Vec::new(), KEEPS), "no metrics of pods of this cluster"),
        (Answers::Series(vec![(elsewhere, ["1", "1"])], Vec::new(), KEEPS), "no metrics of pods of this cluster"),
    ] {
        let Outcomes { ran, url, .. } = checked(running(), answers).await;
        for (id, outcome) in ran.outcomes(&[SHED, EXPIRED]) {
            assert_eq!(outcome, Outcome::NotChecked, "{reason}, {id}: {:#?}", ran.document.coverage);
        }
        let reasons = ran.reasons(SHED).join("\n");
        assert!(reasons.contains(reason) && reasons.contains(&url), "{reason}: {reasons}");
        assert_ne!(ran.status, 0);
        assert!(ran.took.as_secs() < 60, "{reason}: {:?}", ran.took);
    }
}

/// A certificate authority in PEM, and a server of this machine with a certificate of it.
fn authority() -> (String, Arc<ServerConfig>) {
    let keys = [(); 2].map(|()| rcgen::KeyPair::generate().unwrap());
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = rcgen::CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(2025, 1, 1);
        params.not_after = rcgen::date_time_ymd(2055, 1, 1);
        params
    };
    let mut root = of(&[]);
    root.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let pem = root.clone().self_signed(&keys[0]).unwrap().pem();
    let issuer = rcgen::Issuer::new(root, &keys[0]);
    let leaf = of(&["127.0.0.1"]).signed_by(&keys[1], &issuer).unwrap();
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(keys[1].serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], private)
        .unwrap();
    (pem, Arc::new(config))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_certificate_authority_is_trusted_only_if_named() {
    let (own, config) = authority();
    let (other, _) = authority();
    let folder = tempfile::tempdir().unwrap();
    let [own, other] = [("own.pem", own), ("other.pem", other)].map(|(name, pem)| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.to_str().unwrap().to_owned()
    });
    for (authority, outcome) in
        [(Some(&own), Outcome::Findings), (Some(&other), Outcome::NotChecked), (None, Outcome::NotChecked)]
    {
        let memory = running();
        let answers = Answers::Series(fleet(&memory, ["4", "9"]), Vec::new(), KEEPS);
        let server = Server::start(Cluster { memory, ..Cluster::default() }).await;
        let played = Played::start_tls(answers, Arc::clone(&config)).await;
        let mut words = vec!["--prometheus", &played.url, "--request-timeout", "2s"];
        words.extend(authority.iter().flat_map(|path| ["--prometheus-ca", path]));
        let ran = twice(&server, &[], &words).await;
        assert_eq!(ran.outcomes(&[SHED])[0].1, outcome, "{authority:?}: {:#?}", ran.document.coverage);
        let reasons = ran.reasons(SHED).join("\n");
        let is_untrusted = reasons.contains("certificate");
        assert_eq!(is_untrusted, outcome == Outcome::NotChecked, "{authority:?}: {reasons}");
        // Nothing is sent to a server that is not trusted.
        assert_eq!(played.requested_paths().is_empty(), outcome == Outcome::NotChecked, "{authority:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_of_viz_is_found_and_read_through_a_port_forward() {
    for (says, outcome) in [
        (None, Outcome::Findings),
        (Some(Says::Refuses(403, "you may not create pods/portforward")), Outcome::NotChecked),
        (Some(Says::Hangs), Outcome::NotChecked),
    ] {
        let memory = running();
        let played = Played::start(Answers::Series(fleet(&memory, ["4", "9"]), Vec::new(), KEEPS)).await;
        let address = played.url.trim_start_matches("http://").trim_end_matches("/prometheus").to_owned();
        let is_reached = says.is_none();
        let says = says.unwrap_or(Says::Relayed(address));
        let programs = BTreeMap::from([(("prometheus".to_owned(), 9090), says)]);
        let server = Server::start(Cluster { memory, programs, ..Cluster::default() }).await;
        let words = ["--prometheus", "viz", "--request-timeout", "3s"];
        let ran = twice(&server, &[], &words).await;
        assert_eq!(ran.outcomes(&[SHED])[0].1, outcome, "{:#?}", ran.document.coverage);
        assert!(server.requested_paths().iter().any(|path| path.contains("portforward")));
        assert_eq!(played.requested_paths().is_empty(), !is_reached);
        assert!(played.requested_paths().iter().all(|head| head.starts_with("GET /api/v1/")));
        // The finding is a warning.
        assert_eq!(ran.status == 0, is_reached);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_server_of_viz_is_a_gap() {
    let mut memory = running();
    let pods = memory.objects.get_mut(&Kind::Pod).unwrap();
    pods.retain(|held| !held.name.starts_with("prometheus"));
    let server = Server::start(Cluster { memory, ..Cluster::default() }).await;
    let ran = twice(&server, &[], &["--prometheus", "viz"]).await;
    for (id, outcome) in ran.outcomes(&[SHED, EXPIRED]) {
        assert_eq!(outcome, Outcome::NotChecked, "{id}: {:#?}", ran.document.coverage);
    }
    assert_ne!(ran.status, 0);
}
