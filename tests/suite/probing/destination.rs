//! `check --proxies`: endpoints of each replica of destination, read twice over gRPC through port-forwards, live and
//! from the bundle, whatever the replicas answer.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures::{Stream, StreamExt};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use linkerd2_proxy_api::destination::destination_server::{Destination, DestinationServer};
use linkerd2_proxy_api::destination::update::Update as Change;
use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, NoEndpoints, Update, WeightedAddr, WeightedAddrSet,
};
use linkerd2_proxy_api::net::TcpAddress;
use meshdoctor::item::Kind;
use meshdoctor::render::document::Outcome;
use meshdoctor::source::memory::Memory;
use serde_json::json;
use tokio::net::TcpListener;
use tonic::{Request, Response, Status};

use super::cluster::{Cluster, Server, change, mesh};
use super::program::Says;
use super::{Ran, twice};
use crate::canary;

const OUTDATED: &str = "destination-replica-outdated";
const READ: [&str; 3] = ["--proxies=10s", "--request-timeout", "3s"];
/// The two replicas.
const FIRST: &str = "linkerd-destination-7c9d5f6b48-q2w8z";
const SECOND: &str = "linkerd-destination-7c9d5f6b48-r7x2n";
/// The Service's pods and their addresses.
const PODS: [(&str, [u8; 4]); 2] = [("web-5d9f8c7b66-4xq7p", [10, 42, 1, 7]), ("web-5d9f8c7b66-kd82n", [10, 42, 2, 8])];
const GONE: (&str, [u8; 4]) = ("web-5d9f8c7b66-gone1", [10, 42, 1, 9]);

/// What a replica sends about every Service; then the stream stays open.
#[derive(Clone)]
enum Play {
    Sends(Vec<Update>),
    /// The same, and this profile.
    WithProfile(Vec<Update>, Box<DestinationProfile>),
    /// The same without an end.
    Repeats(Update),
    Fails(Status),
    Ends,
    Silent,
}

type Updates = Pin<Box<dyn Stream<Item = Result<Update, Status>> + Send>>;

#[tonic::async_trait]
impl Destination for Play {
    type GetStream = Updates;
    type GetProfileStream = Pin<Box<dyn Stream<Item = Result<DestinationProfile, Status>> + Send>>;

    async fn get(&self, request: Request<GetDestination>) -> Result<Response<Updates>, Status> {
        let request = request.into_inner();
        assert_eq!(request.path, "web.shop.svc.cluster.local:80");
        let open = futures::stream::pending();
        Ok(Response::new(match self {
            Play::Sends(updates) | Play::WithProfile(updates, _) => {
                Box::pin(futures::stream::iter(updates.clone().into_iter().map(Ok)).chain(open))
            }
            Play::Repeats(update) => Box::pin(futures::stream::repeat(update.clone()).map(Ok)),
            Play::Fails(status) => return Err(status.clone()),
            Play::Ends => Box::pin(futures::stream::empty()),
            Play::Silent => return std::future::pending().await,
        }))
    }

    async fn get_profile(&self, _: Request<GetDestination>) -> Result<Response<Self::GetProfileStream>, Status> {
        let Play::WithProfile(_, profile) = self else { return Err(Status::unimplemented("not played")) };
        let open = futures::stream::pending();
        Ok(Response::new(Box::pin(futures::stream::iter([Ok(DestinationProfile::clone(profile))]).chain(open))))
    }
}

/// A replica behind a port-forward.
async fn replica(play: Play) -> Says {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(DestinationServer::new(play.clone()));
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
        }
    });
    Says::Relayed(address)
}

fn address((pod, ip): (&str, [u8; 4])) -> WeightedAddr {
    let ip = std::net::IpAddr::from(ip);
    WeightedAddr {
        addr: Some(TcpAddress { ip: Some(ip.into()), port: 8080 }),
        weight: 10_000,
        metric_labels: HashMap::from([("pod".to_owned(), pod.to_owned())]),
        ..WeightedAddr::default()
    }
}

fn adds(all: Vec<WeightedAddr>) -> Update {
    let set = WeightedAddrSet { addrs: all, metric_labels: HashMap::new() };
    Update { update: Some(Change::Add(set)) }
}

fn current() -> Play {
    Play::Sends(vec![adds(PODS.map(address).to_vec())])
}

/// A mesh with two replicas and one meshed Service.
fn running() -> Memory {
    let mut memory = mesh();
    let names: Vec<String> = memory.objects[&Kind::Pod].iter().map(|held| held.name.clone()).collect();
    for name in names {
        change(&mut memory, Kind::Pod, &name, |pod| {
            pod["status"]["phase"] = "Running".into();
            pod["status"]["conditions"] = json!([{ "type": "Ready", "status": "True" }]);
        });
    }
    let services = memory.objects.get_mut(&Kind::Service).unwrap();
    services.retain(|held| held.name != "linkerd-gateway");
    let held = memory.objects[&Kind::Pod].iter().find(|held| held.name == FIRST).unwrap();
    let mut other: serde_json::Value = serde_json::from_slice(&held.json).unwrap();
    other["metadata"]["name"] = SECOND.into();
    other["metadata"]["uid"] = "another".into();
    memory.add(&other).unwrap();
    memory
        .add(&json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web", "namespace": "shop", "uid": "web" },
            "spec": { "clusterIP": "10.43.0.10", "selector": { "app": "web" },
                "ports": [{ "name": "http", "port": 80, "targetPort": 8080 }] },
        }))
        .unwrap();
    let endpoints = PODS.map(|(pod, ip)| {
        json!({ "addresses": [std::net::IpAddr::from(ip).to_string()], "conditions": { "ready": true },
            "targetRef": { "kind": "Pod", "namespace": "shop", "name": pod } })
    });
    memory
        .add(&json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": { "name": "web-x2k4q", "namespace": "shop", "uid": "slice", "generation": 7,
                "labels": { "kubernetes.io/service-name": "web" } },
            "addressType": "IPv4", "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
            "endpoints": endpoints,
        }))
        .unwrap();
    memory
}

async fn ran(first: Says, second: Says, secrets: &[String]) -> (Ran, Server) {
    let memory = running();
    let metrics = |at: i64| {
        Says::http(
            200,
            &format!(
                "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1768294900\nprocess_clock_time_seconds {at}\n"
            ),
        )
    };
    let mut programs: BTreeMap<(String, u16), Says> = memory.objects[&Kind::Pod]
        .iter()
        .map(|held| {
            let both = vec![metrics(1_768_478_280), metrics(1_768_478_290)];
            ((held.name.clone(), 4191), Says::InTurn(Arc::new(AtomicUsize::new(0)), both))
        })
        .collect();
    programs.insert((FIRST.to_owned(), 8086), first);
    programs.insert((SECOND.to_owned(), 8086), second);
    let server = Server::start(Cluster { memory, programs, ..Cluster::default() }).await;
    let ran = twice(&server, secrets, &READ).await;
    (ran, server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outdated_replica_is_found_live_and_in_the_bundle() {
    let stale = Play::Sends(vec![adds(vec![address(PODS[0])]), adds(vec![address(GONE)])]);
    let well = async {
        let (ran, server) = ran(replica(current()).await, replica(current()).await, &[]).await;
        assert_eq!(ran.outcomes(&[OUTDATED])[0].1, Outcome::Pass, "{:#?}", ran.document.coverage);
        let asked = server.requested_paths();
        assert!(!asked.iter().any(|path| path.contains("/namespaces/shop/endpointslices")), "{asked:?}");
        let forwards = asked.iter().filter(|path| path.contains(FIRST) && path.contains("portforward"));
        assert!(forwards.count() >= 2);
    };
    let outdated = async {
        let (ran, server) = ran(replica(current()).await, replica(stale).await, &[]).await;
        assert_eq!(ran.outcomes(&[OUTDATED])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
        let found: Vec<String> = ran
            .document
            .findings
            .iter()
            .filter(|finding| finding.check == OUTDATED)
            .map(|finding| format!("{finding:?}"))
            .collect();
        assert_eq!(found.len(), 1, "{found:#?}");
        for part in [SECOND, "10.42.1.9:8080 (pod web-5d9f8c7b66-gone1)", "neither read: 10.42.2.8:8080"] {
            assert!(found[0].contains(part), "{part}: {}", found[0]);
        }
        let again = |path: &&String| path.contains("/namespaces/shop/endpointslices");
        assert_eq!(server.requested_paths().iter().filter(again).count(), 1);
    };
    tokio::join!(well, outdated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_profiles_of_replicas_are_found() {
    let of = |opaque_protocol| {
        let profile = DestinationProfile { opaque_protocol, ..DestinationProfile::default() };
        Play::WithProfile(vec![adds(PODS.map(address).to_vec())], Box::new(profile))
    };
    let (ran, _) = ran(replica(of(false)).await, replica(of(true)).await, &[]).await;
    assert_eq!(ran.outcomes(&[OUTDATED])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
    let found = format!("{:?}", ran.document.findings);
    assert!(found.contains("opaque true, 0 routes") && found.contains("opaque false, 0 routes"), "{found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_answers_of_replicas_are_gaps() {
    let odd = |change: fn(&mut WeightedAddr)| {
        let mut one = address(PODS[0]);
        change(&mut one);
        Play::Sends(vec![adds(vec![one])])
    };
    let many: Vec<WeightedAddr> = (0..200_000).map(|_| address(PODS[0])).collect();
    let token = format!("failed with Bearer {}", canary::token());
    let grpc = [
        (Play::Silent, "no answer about any Service"),
        (Play::Ends, "the answer ended"),
        (Play::Fails(Status::unavailable(token)), "failed"),
        (Play::Sends(vec![Update { update: None }]), "an empty answer"),
        (Play::Sends(vec![adds(many)]), ""),
        (odd(|one| one.addr = None), "without a valid address"),
        (odd(|one| one.addr.as_mut().unwrap().port = 70_000), "without a valid address"),
    ];
    let mut plays: Vec<(Says, &str)> = Vec::new();
    for (play, reason) in grpc {
        plays.push((replica(play).await, reason));
    }
    plays.extend([
        (Says::http(200, "ok\n"), "does not use gRPC"),
        (Says::Hangs, "no answer about any Service"),
        (Says::Refuses(403, "you may not create pods/portforward"), "you may not"),
        (Says::Endless, ""),
        (Says::Ends(vec![0; 9]), ""),
        (Says::Bytes(vec![0xff; 200_000]), ""),
    ]);
    futures::stream::iter(plays)
        .for_each_concurrent(4, |(says, reason)| async move {
            let (ran, _) = ran(replica(current()).await, says, &[]).await;
            assert_eq!(ran.outcomes(&[OUTDATED])[0].1, Outcome::NotChecked, "{reason}: {:#?}", ran.document.coverage);
            let gaps: Vec<String> = ran.gaps(OUTDATED);
            let is_it = |gap: &String| gap.contains(SECOND) && gap.contains(reason);
            assert!(gaps.iter().any(is_it), "{reason}: {gaps:?}");
            assert!(ran.took < Duration::from_secs(90), "{reason}: {:?}", ran.took);
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_updates_end_and_names_are_not_kept_unchecked() {
    let mut hostile = address(PODS[1]);
    hostile.metric_labels.insert("pod".to_owned(), "../../hostile-name-of-a-pod\u{1b}[2J".to_owned());
    let empty = Update { update: Some(Change::NoEndpoints(NoEndpoints { exists: true })) };
    let repeated = replica(Play::Repeats(adds(PODS.map(address).to_vec()))).await;
    let named = Play::Sends(vec![empty, adds(vec![address(PODS[0]), hostile])]);
    let (ran, _) = ran(repeated, replica(named).await, &["../../hostile-name-of-a-pod".to_owned()]).await;
    // The other replica names the pod of each address.
    assert_eq!(ran.outcomes(&[OUTDATED])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
}
