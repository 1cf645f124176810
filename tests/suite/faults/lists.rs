//! Lists and single objects: pages, refusals, broken and missing answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use meshdoctor::collect::{Options, Unobserved, collect};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::request::Request;
use meshdoctor::source::{ObjectSink, Source};

use super::server::{ReceivedRequest, Reply, Server};
use super::{Taken, fetch, live, live_with, names, page, pods};

/// Three pages of pods: 0-499, 500-999, 1000-1199.
fn three_pages(asked: &ReceivedRequest) -> Reply {
    assert_eq!(asked.path, "/api/v1/pods");
    assert_eq!(asked.query("limit"), Some("500"));
    Reply::json(&match asked.query("continue") {
        None => page(0, 500, "second/+="),
        Some("second%2F%2B%3D") => page(500, 1000, "third"),
        Some("third") => page(1000, 1200, ""),
        Some(other) => panic!("{other}"),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_come_in_order_and_each_is_asked_for_once() {
    // These lists have `metadata.continue` last, API servers have it first: both orders work.
    let server = Server::start(|asked| three_pages(asked).gzip()).await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.names), (Fetched::Complete, names(0, 1200)));
    let asked = server.requests();
    assert_eq!(asked.len(), 3);
    for asked in &asked {
        assert_eq!(asked.header("user-agent"), format!("meshdoctor/{}", env!("CARGO_PKG_VERSION")));
        assert_eq!((asked.header("accept"), asked.header("accept-encoding")), ("application/json", "gzip"));
        assert_eq!(asked.header("authorization"), format!("Bearer {}", super::CANARY));
    }
    let [(request, traffic)] = &live.traffic()[..] else { panic!("one item was asked for") };
    assert_eq!((request.to_string().as_str(), traffic.requests, traffic.retries), ("pods", 3, 0));
    assert!(traffic.wire_bytes * 5 < traffic.body_bytes, "{traffic:?}");
    assert_eq!(live.greeting().requests, 1);
}

#[tokio::test]
async fn compression_can_be_turned_off() {
    let server = Server::start(three_pages).await;
    let live = live_with(&server, |connect| connect.disable_compression = true).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.names.len()), (Fetched::Complete, 1200));
    assert!(server.requests().iter().all(|asked| asked.header("accept-encoding").is_empty()));
    let traffic = live.traffic()[0].1;
    assert_eq!(traffic.wire_bytes, traffic.body_bytes);
}

/// Accepts no object until the server received a request for a second page.
struct Waiting<'a> {
    server: &'a Server,
    came: usize,
}

impl ObjectSink for Waiting<'_> {
    fn object(&mut self, _: &[u8]) {
        let begun = Instant::now();
        while self.came == 0 && self.server.requests().len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(20), "the next page is not requested");
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.came == 0 {
            // While the first page is not consumed, a third one would only use memory.
            std::thread::sleep(Duration::from_millis(300));
            assert_eq!(self.server.requests().len(), 2);
        }
        self.came += 1;
    }
    fn node(&mut self, _: NodeFiles) {}
    fn restart(&mut self) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_page_is_on_its_way_while_this_one_is_taken_in_and_no_third() {
    let server = Server::start(|asked| {
        let number: usize = asked.query("continue").map_or(0, |token| token.parse().unwrap());
        let next = if number < 3 { (number + 1).to_string() } else { String::new() };
        let mut page = page(number * 500, number * 500 + 500, &next);
        for item in page["items"].as_array_mut().unwrap() {
            item["spec"] = serde_json::json!({ "padding": "x".repeat(8_000) });
        }
        Reply::list(&page)
    })
    .await;
    let live = live(&server).await;
    let mut waiting = Waiting { server: &server, came: 0 };
    let fetched = live.fetch(&Request::new(Item::List(Kind::Pod)), &mut waiting).await;
    assert_eq!((fetched, waiting.came), (Fetched::Complete, 2000));
}

#[tokio::test]
async fn forbidden_is_denied_in_the_servers_words_and_not_asked_again() {
    let message =
        "pods is forbidden: User \"eve\" cannot list resource \"pods\" in API group \"\" at the cluster scope";
    let server = Server::start(move |_| Reply::status(403, "Forbidden", message)).await;
    let live = live(&server).await;
    let (fetched, _) = pods(&live).await;
    assert_eq!(fetched, Fetched::Missing { reason: Why::Denied { message: message.to_owned() } });
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_kind_nobody_serves_and_an_object_that_is_not_there_are_different() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/api/v1/namespaces/linkerd/configmaps/absent" => {
            let body = serde_json::json!({
                "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404,
                "message": "configmaps \"absent\" not found", "details": { "name": "absent", "kind": "configmaps" },
            });
            Reply::text(404, "application/json", &body.to_string())
        }
        "/api/v1/namespaces/linkerd/configmaps/there" => {
            Reply::json(&serde_json::json!({ "kind": "ConfigMap", "metadata": { "name": "there" } }))
        }
        _ => Reply::text(404, "text/plain", "404 page not found\n"),
    })
    .await;
    let live = live(&server).await;
    let not_served = Fetched::Missing { reason: Why::NotServed };
    assert_eq!(pods(&live).await.0, not_served);
    let named = |name: &str| Request {
        item: Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: name.to_owned() },
        namespace: Some("linkerd".to_owned()),
    };
    let (fetched, taken) = fetch(&live, named("absent")).await;
    assert_eq!((fetched, taken.names.len()), (Fetched::Complete, 0));
    let (fetched, taken) = fetch(&live, named("there")).await;
    assert_eq!((fetched, taken.names), (Fetched::Complete, vec!["there".to_owned()]));
    assert_eq!(fetch(&live, named("elsewhere")).await.0, not_served);
}

#[tokio::test]
async fn an_expired_token_begins_the_list_again() {
    let server = Server::start(|asked| match (asked.query("continue"), asked.time) {
        (Some("third"), 1) => Reply::status(410, "Expired", "The provided continue parameter is too old"),
        _ => match asked.query("continue") {
            Some("second%2F%2B%3D") => Reply::json(&page(500, 1000, "third")),
            _ => three_pages(asked),
        },
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.restarts, taken.names), (Fetched::Complete, 1, names(0, 1200)));
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_token_that_always_expires_ends_in_one_list_without_pages() {
    let server = Server::start(|asked| match (asked.query("limit"), asked.query("continue")) {
        (None, None) => Reply::json(&page(0, 700, "")),
        (Some("500"), None) => Reply::json(&page(0, 500, "next")),
        _ => Reply::status(410, "Expired", "The provided continue parameter is too old"),
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.restarts, taken.names), (Fetched::Complete, 3, names(0, 700)));
    assert_eq!(server.requests().len(), 7);
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let server = Server::start(|asked| match asked.time {
        1 => Reply::status(429, "TooManyRequests", "too many requests").header("retry-after", "1"),
        _ => Reply::json(&page(0, 3, "")),
    })
    .await;
    let live = live(&server).await;
    let begun = Instant::now();
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.names.len()), (Fetched::Complete, 3));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!((live.traffic()[0].1.requests, live.traffic()[0].1.retries), (2, 1));
}

#[tokio::test]
async fn a_failing_server_is_asked_three_times() {
    let server = Server::start(|asked| match (asked.path.as_str(), asked.time) {
        ("/api/v1/pods", 1..=2) => Reply::status(500, "InternalError", "etcdserver: leader changed"),
        ("/api/v1/pods", _) => Reply::json(&page(0, 3, "")),
        _ => Reply::status(503, "ServiceUnavailable", "etcdserver: no leader"),
    })
    .await;
    let live = live(&server).await;
    assert_eq!(pods(&live).await.0, Fetched::Complete);
    assert_eq!(server.requests().len(), 3);
    let (fetched, _) = fetch(&live, Request::new(Item::List(Kind::Event))).await;
    let message = "HTTP 503: etcdserver: no leader".to_owned();
    assert_eq!(fetched, Fetched::Missing { reason: Why::Failed { message } });
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn silence_is_a_time_out_wherever_it_begins() {
    let server = Server::start(|asked| match (asked.path.as_str(), asked.query("continue")) {
        ("/api/v1/pods", None) => Reply::json(&page(0, 500, "next")),
        ("/api/v1/pods", _) => Reply::silence(),
        ("/api/v1/events", _) => Reply::json(&page(0, 500, "")).silent_after(3_000),
        _ => Reply::silence(),
    })
    .await;
    let live = live_with(&server, |connect| connect.request_timeout = Duration::from_secs(1)).await;
    let timed_out = Why::TimedOut { seconds: 1 };
    let (fetched, taken) = pods(&live).await;
    assert_eq!(fetched, Fetched::Partial { reasons: vec![timed_out.clone()] });
    assert_eq!(taken.names, names(0, 500));
    let (fetched, taken) = fetch(&live, Request::new(Item::List(Kind::Event))).await;
    assert_eq!(fetched, Fetched::Partial { reasons: vec![timed_out.clone()] });
    // Objects that arrived before the server fell silent are kept.
    assert!((1..500).contains(&taken.names.len()), "{}", taken.names.len());
    assert_eq!(taken.names, names(0, taken.names.len()));
    let (fetched, _) = fetch(&live, Request::new(Item::List(Kind::Service))).await;
    assert_eq!(fetched, Fetched::Missing { reason: timed_out });
    // A list that timed out is not requested again.
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_broken_connection_is_tried_again_and_nothing_comes_twice() {
    let server = Server::start(|asked| match (asked.query("continue"), asked.time) {
        (None, 1) => Reply::json(&page(0, 500, "next")).reset_after(20_000),
        (None, _) => Reply::json(&page(0, 500, "next")),
        (Some(_), 1..=2) => Reply::json(&page(500, 600, "")).reset_after(3_000),
        (Some(_), _) => Reply::json(&page(500, 600, "")),
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    assert_eq!((fetched, taken.names), (Fetched::Complete, names(0, 600)));
    assert_eq!(live.traffic()[0].1.retries, 3);
}

#[tokio::test]
async fn a_connection_that_always_breaks_leaves_what_came_before() {
    let server = Server::start(|asked| match asked.query("continue") {
        None => Reply::json(&page(0, 500, "next")),
        Some(_) => Reply::json(&page(500, 600, "")).reset_after(3_000),
    })
    .await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    let message = "the connection ended in the middle of the response".to_owned();
    assert_eq!(fetched, Fetched::Partial { reasons: vec![Why::Failed { message }] });
    // Each try returns the same few objects of the second page, which count once.
    assert!((501..600).contains(&taken.names.len()), "{}", taken.names.len());
    assert_eq!(taken.names, names(0, taken.names.len()));
}

#[tokio::test]
async fn an_answer_that_stops_in_the_middle_keeps_its_whole_items() {
    let text = page(0, 10, "").to_string();
    let cut = text.find("pod-7").unwrap();
    let server = Server::start(move |_| Reply::json(&page(0, 10, "")).cut(cut)).await;
    let live = live(&server).await;
    let (fetched, taken) = pods(&live).await;
    let message = format!("the response is truncated at byte {cut}");
    assert_eq!(fetched, Fetched::Partial { reasons: vec![Why::Malformed { message }] });
    // Keys are sorted: the metadata of the list comes last, so only its items arrived.
    assert_eq!(taken.names, names(0, 7));
}

#[tokio::test]
async fn one_malformed_object_spoils_only_itself() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/api/v1/pods" => {
            let mut list = page(0, 3, "");
            list["items"][1]["metadata"]["labels"] = 5.into();
            Reply::json(&list)
        }
        _ => Reply::json(&page(0, 0, "")),
    })
    .await;
    let live = live(&server).await;
    let items = BTreeSet::from([Item::List(Kind::Pod)]);
    let collected = collect(&live, &items, &Options::default(), None, &Unobserved).await;
    let (_, answer) = collected.cluster.answers().next().unwrap();
    let Fetched::Partial { reasons } = &answer.fetched else { panic!("{:?}", answer.fetched) };
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].to_string().starts_with("could not be read: shop/pod-1: "), "{}", reasons[0]);
    let names: Vec<&str> =
        answer.objects::<meshdoctor::objects::Pod>().iter().map(|pod| pod.metadata.name.as_str()).collect();
    assert_eq!(names, ["pod-0", "pod-2"]);
}

#[tokio::test]
async fn pages_of_proxies_are_no_lists() {
    let login = "<!DOCTYPE html><html>log in with session=hunter2</html>";
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/api/v1/pods" => Reply::text(200, "text/html", login),
        "/api/v1/events" => Reply::text(302, "text/html", login)
            .header("location", &format!("https://sso.example.org/login?state={}", super::CANARY)),
        "/api/v1/services" => Reply::text(502, "text/html", login),
        _ => Reply::status(401, "Unauthorized", "Unauthorized"),
    })
    .await;
    let live = live(&server).await;
    let reason = async |kind| match fetch(&live, Request::new(Item::List(kind))).await.0 {
        Fetched::Missing { reason } => reason.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(Kind::Pod).await, "the response is an HTML page, possibly the login page of a proxy");
    assert_eq!(reason(Kind::Event).await, "HTTP 302: redirected to https://sso.example.org; a proxy requires a login");
    assert_eq!(reason(Kind::Service).await, "HTTP 502 Bad Gateway");
    assert_eq!(reason(Kind::Node).await, "the API server rejects the credentials (HTTP 401)");
}

#[tokio::test]
async fn broken_compression_is_malformed() {
    let server = Server::start(|_| Reply::json(&page(0, 3, "")).header("content-encoding", "gzip")).await;
    let live = live(&server).await;
    let (fetched, _) = pods(&live).await;
    let Fetched::Missing { reason: Why::Malformed { message } } = fetched else { panic!("{fetched:?}") };
    assert!(message.starts_with("the compressed response is damaged"), "{message}");
}

#[tokio::test]
async fn what_the_deadline_cuts_off_is_timed_out_and_the_rest_is_there() {
    let server = Server::start(|asked| match (asked.path.as_str(), asked.query("continue")) {
        ("/api/v1/pods", None) => Reply::json(&page(0, 500, "next")),
        ("/api/v1/namespaces", _) => Reply::json(&page(0, 2, "")),
        _ => Reply::silence(),
    })
    .await;
    let live = live(&server).await.with_deadline(Instant::now() + Duration::from_secs(2));
    let items = [Kind::Pod, Kind::Namespace, Kind::Event].map(Item::List);
    let begun = Instant::now();
    let collected = collect(&live, &BTreeSet::from(items.clone()), &Options::default(), None, &Unobserved).await;
    assert!(begun.elapsed() < Duration::from_secs(15));
    let fetched = items.map(|item| {
        let (_, answer) = collected.cluster.answers().find(|(held, _)| **held == item).unwrap();
        answer.fetched.clone()
    });
    let Fetched::Partial { reasons } = &fetched[0] else { panic!("{:?}", fetched[0]) };
    assert!(matches!(reasons[..], [Why::TimedOut { .. }]), "{reasons:?}");
    assert_eq!(fetched[1], Fetched::Complete);
    assert!(matches!(fetched[2], Fetched::Missing { reason: Why::TimedOut { .. } }), "{:?}", fetched[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_given_up_asks_for_no_more_pages() {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let server = Server::start(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let next = count.to_string();
        drop(count);
        std::thread::sleep(Duration::from_millis(20));
        Reply::json(&page(0, 25, &next))
    })
    .await;
    let live = live(&server).await;
    let mut taken = Taken::default();
    let request = Request::new(Item::List(Kind::Pod));
    let given_up = tokio::time::timeout(Duration::from_millis(300), live.fetch(&request, &mut taken)).await;
    assert!(given_up.is_err());
    tokio::time::sleep(Duration::from_millis(200)).await;
    let then = *asked.lock().unwrap();
    assert!(then > 1);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(*asked.lock().unwrap(), then);
}
