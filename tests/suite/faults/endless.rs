//! Servers with endless or missing answers: every run ends, and names the limit that ended it.

use std::time::{Duration, Instant};

use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::request::Request;
use meshdoctor::source::live::{ConnectError, Live};

use super::server::{ReceivedRequest, Reply, Server};
use super::{Kubeconfig, fetch, live, live_with, names, page, pods};

/// The reason why a list is incomplete.
fn partly(fetched: Fetched) -> String {
    match fetched {
        Fetched::Partial { reasons } if reasons.len() == 1 => reasons[0].to_string(),
        other => panic!("{other:?}"),
    }
}

fn number(asked: &ReceivedRequest) -> usize {
    asked.query("continue").map_or(0, |token| token.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_continue_token_ends_the_list() {
    let server = Server::start(|asked| match asked.query("continue") {
        None => Reply::list(&page(0, 3, "AAA")),
        Some(_) => Reply::list(&page(3, 6, "AAA")),
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!(partly(fetched), "the API server repeated a continue token; stopped after page 2");
    assert_eq!(taken.names[..3], names(0, 3));
    assert!(server.requests().len() <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn cycle_of_continue_tokens_ends_the_list() {
    let server = Server::start(|asked| {
        let next = (number(asked) + 1) % 4;
        Reply::list(&page(0, 1, &next.to_string()))
    })
    .await;
    let live = live(&server).await;
    let reason = partly(pods(&live).await.0);
    assert!(reason.starts_with("the API server repeated a continue token"), "{reason}");
    assert!(server.requests().len() <= 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tokens_with_empty_pages_end_the_list() {
    let server = Server::start(|asked| {
        let number = number(asked);
        Reply::list(&page(0, usize::from(number == 0), &(number + 1).to_string()))
    })
    .await;
    let live = live(&server).await;
    let reason = partly(pods(&live).await.0);
    let sparse = "the API server sent 10 pages in a row with fewer than 25 objects; the rest was not read";
    assert_eq!(reason, sparse);
    assert!(server.requests().len() <= 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tokens_with_single_objects_end_the_list() {
    let server = Server::start(|asked| {
        let number = number(asked);
        Reply::list(&page(number, number + 1, &(number + 1).to_string()))
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    let sparse = "the API server sent 10 pages in a row with fewer than 25 objects; the rest was not read";
    assert_eq!(partly(fetched), sparse);
    assert_eq!(taken.names, names(0, 10));
    assert!(server.requests().len() <= 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn list_without_an_object_and_without_an_end_is_missing() {
    let server = Server::start(|asked| Reply::list(&page(0, 0, &(number(asked) + 1).to_string()))).await;
    let live = live(&server).await;
    let (fetched, _) = pods(&live).await;
    assert!(matches!(fetched, Fetched::Missing { reason: Why::Failed { .. } }), "{fetched:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_pages_end_at_the_limit_of_pages() {
    let server = Server::start(|asked| {
        let number = number(asked);
        Reply::list(&page(25 * number, 25 * (number + 1), &(number + 1).to_string()))
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!(partly(fetched), "the list has more than 2000 pages; the rest was not read");
    assert!((47_500..=50_000).contains(&taken.names.len()), "{}", taken.names.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn list_in_one_piece_has_no_second_page() {
    let server = Server::start(|asked| match (asked.query("limit"), asked.query("continue")) {
        (None, None) => Reply::list(&page(0, 7, "more")),
        (Some(_), None) => Reply::list(&page(0, 5, "next")),
        _ => Reply::status(410, "Expired", "The provided continue parameter is too old"),
    })
    .await;
    let live = live(&server).await;
    let reason = partly(pods(&live).await.0);
    assert_eq!(reason, "the API server announced another page of an unpaged list");
    assert_eq!(server.requests().len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_objects_and_versions_are_refused_while_they_come() {
    let large = || Reply::bytes("application/json", vec![b' '; 40 << 20]);
    let server = Server::raw(None, move |asked| match asked.path.as_str() {
        "/version" if asked.time == 1 => super::server::version(),
        _ => large(),
    })
    .await;
    let live = live(&server).await;
    let request = Request {
        item: Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: "x".to_owned() },
        namespace: Some("linkerd".to_owned()),
    };
    let (fetched, _) = fetch(&live, request).await;
    let message = "the response is larger than 16 MB".to_owned();
    assert_eq!(fetched, Fetched::Missing { reason: Why::Failed { message } });
    let read = live.traffic()[0].1.wire_bytes;
    assert!(read < 20 << 20, "{read} bytes were read");

    let kubeconfig = Kubeconfig::new(&server.url(), &serde_json::json!({}));
    let error = Live::connect(kubeconfig.connect()).await.err().unwrap();
    assert!(error.to_string().contains("the response is larger than 64 KB"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_server_is_given_up_after_some_requests() {
    let server = Server::start(|_| Reply::silence()).await;
    let live = live_with(&server, |connect| connect.request_timeout = Duration::from_secs(1)).await;
    let begun = Instant::now();
    for _ in 0..8 {
        let (fetched, _) = pods(&live).await;
        assert_eq!(fetched, Fetched::Missing { reason: Why::TimedOut { seconds: 1 } });
    }
    let first = begun.elapsed();
    for _ in 0..100 {
        let (fetched, _) = fetch(&live, Request::new(Item::List(Kind::Event))).await;
        let message = "not requested: 8 requests to the API server timed out".to_owned();
        assert_eq!(fetched, Fetched::Missing { reason: Why::Failed { message } });
    }
    assert!(begun.elapsed() - first < Duration::from_secs(2));
    assert_eq!(server.requests().len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_answers_and_give_nothing_up() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/api/v1/pods" => Reply::silence(),
        _ => Reply::status(403, "Forbidden", "no"),
    })
    .await;
    let live = live_with(&server, |connect| connect.request_timeout = Duration::from_secs(1)).await;
    for _ in 0..7 {
        let (fetched, _) = pods(&live).await;
        assert_eq!(fetched, Fetched::Missing { reason: Why::TimedOut { seconds: 1 } });
        let (fetched, _) = fetch(&live, Request::new(Item::List(Kind::Event))).await;
        assert!(matches!(fetched, Fetched::Missing { reason: Why::Denied { .. } }), "{fetched:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_pause_that_a_server_asks_for_is_cut() {
    let server =
        Server::start(|_| Reply::status(429, "TooManyRequests", "too many requests").header("retry-after", "3600"))
            .await;
    let live = live(&server).await;
    let begun = Instant::now();
    let (fetched, _) = pods(&live).await;
    let message = "HTTP 429: too many requests".to_owned();
    assert_eq!(fetched, Fetched::Missing { reason: Why::Failed { message } });
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_proxy_is_named_instead_of_the_cluster() {
    let nothing = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", nothing.local_addr().unwrap());
    drop(nothing);
    let cluster = serde_json::json!({ "server": "https://api.example.org:6443", "proxy-url": proxy });
    let kubeconfig = Kubeconfig::with_cluster(&cluster, &serde_json::json!({}));
    let error = Live::connect(kubeconfig.connect()).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("the proxy {proxy} does not connect to https://api.example.org:6443: the connection was refused")
    );
    assert!(matches!(error, ConnectError::Proxy { .. }));
    assert!(error.next_step().contains("NO_PROXY"), "{}", error.next_step());

    let refusing = Server::raw(None, |_| Reply::text(403, "text/plain", "no")).await;
    let cluster = serde_json::json!({ "server": "https://api.example.org:6443", "proxy-url": refusing.url() });
    let kubeconfig = Kubeconfig::with_cluster(&cluster, &serde_json::json!({}));
    let error = Live::connect(kubeconfig.connect()).await.err().unwrap();
    assert!(matches!(error, ConnectError::Proxy { .. }), "{error}");
}

/// Lists from the cache: one request, with the rest of the run's lists as ever.
async fn cached(server: &Server) -> Live {
    live_with(server, |connect| connect.from_cache = true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_cache_is_read_in_one_list() {
    let server = Server::start(|asked| match (asked.path.as_str(), asked.query("resourceVersion")) {
        ("/api/v1/pods", Some("0")) => Reply::list(&page(0, 1_200, "")),
        ("/api/v1/services", None) => Reply::list(&page(0, 3, "")),
        _ => panic!("{asked:?}"),
    })
    .await;
    let live = cached(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.names), (Fetched::Complete, names(0, 1_200)));
    assert_eq!(fetch(&live, Request::new(Item::List(Kind::Service))).await.0, Fetched::Complete);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn server_without_a_watch_cache_sends_pages() {
    let server = Server::start(|asked| match (asked.query("resourceVersion"), asked.query("continue")) {
        (Some("0"), None) => Reply::list(&page(0, 500, "next")),
        (None, Some("next")) => Reply::list(&page(500, 600, "")),
        _ => panic!("{asked:?}"),
    })
    .await;
    let (fetched, taken) = pods(&cached(&server).await).await;
    assert_eq!((fetched, taken.names), (Fetched::Complete, names(0, 600)));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_watch_cache_is_left_aside() {
    for status in [400, 410, 504] {
        let server = Server::start(move |asked| match asked.query("resourceVersion") {
            Some(_) => Reply::status(status, "Expired", "Too large resource version"),
            None => Reply::list(&page(0, 3, "")),
        })
        .await;
        let (fetched, taken) = pods(&cached(&server).await).await;
        assert_eq!((fetched, taken.names), (Fetched::Complete, names(0, 3)), "{status}");
    }
    let server = Server::start(|_| Reply::status(403, "Forbidden", "no")).await;
    assert!(matches!(pods(&cached(&server).await).await.0, Fetched::Missing { reason: Why::Denied { .. } }));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn announced_objects_without_a_page_are_a_gap() {
    let server = Server::start(|_| {
        let mut list = page(0, 3, "");
        list["metadata"]["remainingItemCount"] = 5.into();
        Reply::list(&list)
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    let wanted = "the API server announced 5 more objects, but no page that contains them";
    assert_eq!((partly(fetched).as_str(), taken.names), (wanted, names(0, 3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_object_than_the_requested_one_is_a_gap() {
    let other = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "linkerd-identity-trust-roots", "namespace": "linkerd"},
    });
    let server = Server::start(move |_| Reply::json(&other)).await;
    let live = live(&server).await;
    for (kind, name) in [(Kind::ConfigMap, "linkerd-config"), (Kind::Secret, "linkerd-identity-trust-roots")] {
        let item = Item::Named { kind, scope: Scope::ControlPlane, name: name.to_owned() };
        let request = Request { item, namespace: Some("linkerd".to_owned()) };
        let (fetched, taken) = fetch(&live, request).await;
        let is_gap = matches!(fetched, Fetched::Missing { reason: Why::Malformed { .. } });
        assert!(is_gap && taken.names.is_empty(), "{name}: {fetched:?}");
    }
}
