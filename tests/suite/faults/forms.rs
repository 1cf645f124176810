//! Lists in protobuf: requested if supported, with the same errors as other lists, and JSON from servers
//! without protobuf.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use meshdoctor::collect::{Options, Unobserved, collect};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind};
use meshdoctor::objects::Pod;

use super::server::{ReceivedRequest, Reply, Server};
use super::{live, names, page};

/// A field with bytes.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(value);
    out
}

/// A pod with nothing but names, and bytes behind them.
fn pod(name: &str, more: &[u8]) -> Vec<u8> {
    let metadata = [field(1, name.as_bytes()), field(3, b"shop")].concat();
    [field(1, &metadata), field(2, b""), more.to_vec()].concat()
}

/// A list as an API server writes it.
fn list(kind: &str, next: &str, items: &[Vec<u8>]) -> Reply {
    let kind = [field(1, b"v1"), field(2, kind.as_bytes())].concat();
    let items = items.iter().flat_map(|item| field(2, item));
    let list: Vec<u8> = field(1, &field(3, next.as_bytes())).into_iter().chain(items).collect();
    let body = [b"k8s\0".to_vec(), field(1, &kind), field(2, &list), field(3, b""), field(4, b"")].concat();
    Reply::bytes("application/vnd.kubernetes.protobuf", body)
}

fn plain(from: usize, to: usize, next: &str) -> Reply {
    list("PodList", next, &names(from, to).iter().map(|name| pod(name, b"")).collect::<Vec<_>>())
}

/// Collects this server's pods in a whole run. Returns the outcome and the names in order.
async fn collected(server: &Server) -> (Fetched, Vec<String>) {
    let live = live(server).await;
    let items = BTreeSet::from([Item::List(Kind::Pod)]);
    let collected = collect(&live, &items, &Options::default(), None, &Unobserved).await;
    let (_, answer) = collected.cluster.answers().next().unwrap();
    let names = answer.objects::<Pod>().iter().map(|pod| pod.metadata.name.clone()).collect();
    (answer.fetched.clone(), names)
}

fn sorted(from: usize, to: usize) -> Vec<String> {
    let mut names = names(from, to);
    names.sort();
    names
}

fn asked_for_protobuf(asked: &ReceivedRequest) {
    assert_eq!(asked.header("accept"), "application/vnd.kubernetes.protobuf, application/json");
}

#[tokio::test]
async fn pages_come_in_protobuf_packed_or_not() {
    for packed in [false, true] {
        let server = Server::start(move |asked| {
            asked_for_protobuf(asked);
            let page = match asked.query("continue") {
                None => plain(0, 500, "next"),
                Some(_) => plain(500, 620, ""),
            };
            if packed { page.gzip() } else { page }
        })
        .await;
        assert_eq!(collected(&server).await, (Fetched::Complete, sorted(0, 620)));
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_server_that_knows_only_json_is_understood() {
    let server = Server::start(|asked| {
        asked_for_protobuf(asked);
        Reply::json(&page(0, 3, ""))
    })
    .await;
    assert_eq!(collected(&server).await, (Fetched::Complete, sorted(0, 3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_breaks_off_is_asked_for_again_and_each_pod_counts_once() {
    let tries = AtomicUsize::new(0);
    let server = Server::start(move |asked| match (asked.query("continue"), tries.fetch_add(1, Ordering::SeqCst)) {
        (None, 0) => plain(0, 500, "next").reset_after(5_000),
        (None, _) => plain(0, 500, "next"),
        (Some(_), 0..=3) => plain(500, 620, "").reset_after(1_000),
        (Some(_), _) => plain(500, 620, ""),
    })
    .await;
    assert_eq!(collected(&server).await, (Fetched::Complete, sorted(0, 620)));
}

#[tokio::test]
async fn a_list_that_ends_early_is_partial_with_what_was_whole() {
    let server = Server::start(|_| plain(0, 10, "").cut(200)).await;
    let (fetched, names) = collected(&server).await;
    let Fetched::Partial { reasons } = &fetched else { panic!("{fetched:?}") };
    assert_eq!(reasons[0].to_string(), "could not be read: the response is truncated at byte 200");
    assert!(!names.is_empty() && names.len() < 10, "{names:?}");
}

#[tokio::test]
async fn a_broken_pod_is_named_and_spoils_only_itself() {
    // Its status is a number.
    let pods = [pod("pod-0", b""), pod("pod-1", &[3 << 3, 1]), pod("pod-2", b"")];
    let server = Server::start(move |_| list("PodList", "", &pods)).await;
    let (fetched, names) = collected(&server).await;
    let Fetched::Partial { reasons } = &fetched else { panic!("{fetched:?}") };
    let [reason] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(reason.to_string(), "could not be read: shop/pod-1: broken protobuf in Pod");
    assert_eq!(names, ["pod-0", "pod-2"]);
}

#[tokio::test]
async fn what_is_no_list_of_pods_is_never_an_empty_one() {
    let refused = async |reply: fn() -> Reply| {
        let server = Server::start(move |_| reply()).await;
        match collected(&server).await {
            (Fetched::Missing { reason: Why::Malformed { message } }, names) if names.is_empty() => message,
            other => panic!("{other:?}"),
        }
    };
    let other = refused(|| list("ServiceList", "", &[pod("service", b"")])).await;
    assert_eq!(other, "the response is protobuf, but not a PodList");
    let json = || Reply::text(200, "application/vnd.kubernetes.protobuf", &page(0, 3, "").to_string());
    assert_eq!(refused(json).await, "the response is invalid protobuf, at byte 0");
}

#[tokio::test]
async fn a_token_that_expires_begins_the_list_again() {
    let tries = AtomicUsize::new(0);
    let server = Server::start(move |asked| match (asked.query("continue"), tries.fetch_add(1, Ordering::SeqCst)) {
        (None, _) => plain(0, 500, "next"),
        (Some(_), 0..=1) => Reply::status(410, "Expired", "too old"),
        (Some(_), _) => plain(500, 620, ""),
    })
    .await;
    assert_eq!(collected(&server).await, (Fetched::Complete, sorted(0, 620)));
}

#[tokio::test]
async fn a_refusal_in_protobuf_is_told_in_the_servers_words() {
    let message =
        "pods is forbidden: User \"eve\" cannot list resource \"pods\" in API group \"\" at the cluster scope";
    let server = Server::start(move |_| {
        let kind = [field(1, b"v1"), field(2, b"Status")].concat();
        let status =
            [field(1, b""), field(2, b"Failure"), field(3, message.as_bytes()), field(4, b"Forbidden"), field(5, b"")];
        let body = [b"k8s\0".to_vec(), field(1, &kind), field(2, &status.concat()), field(3, b""), field(4, b"")];
        Reply::bytes("application/vnd.kubernetes.protobuf", body.concat()).with_status(403)
    })
    .await;
    let denied = Why::Denied { message: message.to_owned() };
    assert_eq!(collected(&server).await, (Fetched::Missing { reason: denied }, Vec::new()));
}
