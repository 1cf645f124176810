//! `check --publish` with faults of the server, the network or a tenant: one object never stops the others, a
//! lost answer is recognized, and objects of other writers are not changed.

use std::sync::atomic::{AtomicBool, Ordering};

use meshdoctor::report_api::Published;
use serde_json::{Value, json};

use super::server::{ReceivedRequest, Reply, Server};
use super::{live, shown};

const REPORTS: &str = "/apis/openreports.io/v1alpha1";

fn report(namespace: &str) -> Value {
    let mut report = json!({
        "apiVersion": "openreports.io/v1alpha1", "kind": "Report",
        "metadata": {"name": "meshdoctor", "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "meshdoctor"}},
        "summary": {"fail": 1}, "results": [{"policy": "issuer-expired"}],
    });
    if namespace.is_empty() {
        report["kind"] = json!("ClusterReport");
        report["metadata"].as_object_mut().unwrap().remove("namespace");
    }
    report
}

fn wanted(namespaces: &[&str]) -> Published {
    let reports = namespaces.iter().map(|name| ((*name).to_owned(), report(name))).collect();
    Published { reports, events: Vec::new() }
}

/// The object in a request.
fn sent_object(asked: &ReceivedRequest) -> Value {
    serde_json::from_slice(&asked.body).unwrap_or_default()
}

fn list(items: &[Value]) -> Reply {
    Reply::json(&json!({"apiVersion": "openreports.io/v1alpha1", "kind": "ReportList", "metadata": {}, "items": items}))
}

fn is_list(asked: &ReceivedRequest) -> bool {
    asked.method == "GET" && asked.query("labelSelector").is_some()
}

fn sent(server: &Server, method: &str) -> Vec<String> {
    server.requests().into_iter().filter(|asked| asked.method == method).map(|asked| asked.path).collect()
}

#[tokio::test]
async fn foreign_report_does_not_stop_the_others() {
    let server = Server::start(|asked| match asked {
        asked if is_list(asked) => list(&[]),
        asked if asked.path.contains("/namespaces/a/") && asked.method == "POST" => {
            Reply::status(409, "AlreadyExists", "it exists")
        }
        asked if asked.path.contains("/namespaces/a/") => {
            let mut foreign = report("a");
            foreign["metadata"]["labels"] = json!({});
            Reply::json(&foreign)
        }
        asked if asked.path.contains("/namespaces/b/") => Reply::status(403, "Forbidden", "not here"),
        asked => Reply::json(&sent_object(asked)).with_status(201),
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let done = live.publish(&standing, &wanted(&["", "a", "b", "c"])).await;
    assert_eq!(done.written, 2, "{:?}", done.errors);
    let errors: Vec<String> = done.errors.iter().map(shown).collect();
    assert!(errors[0].contains("Report a/meshdoctor exists but is not meshdoctor's"), "{errors:?}");
    assert!(errors[1].contains("create Report b/meshdoctor"), "{errors:?}");
    assert!(sent(&server, "PUT").is_empty());
}

#[tokio::test]
async fn lost_answer_is_recognized() {
    let made = std::sync::Arc::new(AtomicBool::new(false));
    let server = Server::start(move |asked| match asked.method.as_str() {
        "GET" if is_list(asked) => list(&[]),
        "POST" if !made.swap(true, Ordering::SeqCst) => Reply::json(&report("a")).reset_after(10),
        "POST" => Reply::status(409, "AlreadyExists", "it exists"),
        _ => Reply::json(&report("a")),
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let done = live.publish(&standing, &wanted(&["a"])).await;
    assert!(done.errors.is_empty(), "{:?}", done.errors);
    assert_eq!((done.written, sent(&server, "POST").len(), sent(&server, "PUT").len()), (1, 2, 0));
}

#[tokio::test]
async fn conflict_with_an_own_report_is_resolved() {
    let server = Server::start(|asked| {
        let mut older = report("a");
        older["results"] = json!([]);
        older["metadata"]["resourceVersion"] = json!("1");
        match asked.method.as_str() {
            "GET" if is_list(asked) && asked.path.ends_with("/reports") => list(&[older]),
            "GET" if is_list(asked) => list(&[]),
            "GET" => {
                older["metadata"]["resourceVersion"] = json!("2");
                Reply::json(&older)
            }
            "PUT" if !String::from_utf8_lossy(&asked.body).contains("\"resourceVersion\":\"2\"") => {
                Reply::status(409, "Conflict", "the object has been modified")
            }
            _ => Reply::json(&report("a")),
        }
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let done = live.publish(&standing, &wanted(&["a"])).await;
    assert!(done.errors.is_empty() && done.written == 1, "{:?}", done.errors);
}

#[tokio::test]
async fn lasting_conflict_names_another_run() {
    let server = Server::start(|asked| {
        let mut older = report("a");
        older["results"] = json!([]);
        match asked.method.as_str() {
            "GET" if is_list(asked) && asked.path.ends_with("/reports") => list(&[older]),
            "GET" if is_list(asked) => list(&[]),
            "GET" => Reply::json(&older),
            _ => Reply::status(409, "Conflict", "the object has been modified"),
        }
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let done = live.publish(&standing, &wanted(&["a"])).await;
    let errors: Vec<String> = done.errors.iter().map(shown).collect();
    assert_eq!(errors, ["update Report a/meshdoctor: another run changed it meanwhile"]);
}

#[tokio::test]
async fn report_of_another_name_is_left_alone() {
    let server = Server::start(|asked| {
        let mut planted = report("a");
        planted["metadata"]["name"] = json!("planted");
        match asked.method.as_str() {
            "GET" if asked.path.ends_with("/reports") => list(&[planted.clone()]),
            "GET" => list(&[]),
            _ => Reply::json(&sent_object(asked)).with_status(201),
        }
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    assert!(standing.reports.is_empty());
    let done = live.publish(&standing, &wanted(&["a"])).await;
    assert!(done.errors.is_empty() && done.written == 1, "{:?}", done.errors);
    assert_eq!(sent(&server, "POST"), [format!("{REPORTS}/namespaces/a/reports")]);
    assert!(sent(&server, "DELETE").is_empty() && sent(&server, "PUT").is_empty());
}

#[tokio::test]
async fn failure_with_status_200_is_an_error() {
    let failure = || Reply::status(500, "InternalError", "etcd is away").with_status(200);
    let server = Server::start(move |_| failure()).await;
    let error = live(&server).await.published().await.err().unwrap();
    assert!(shown(&error).contains("etcd is away"), "{error}");
    let server = Server::start(move |asked| if is_list(asked) { list(&[]) } else { failure() }).await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let done = live.publish(&standing, &wanted(&["", "a"])).await;
    assert_eq!((done.written, done.errors.len()), (0, 2), "{:?}", done.errors);
}

#[tokio::test]
async fn answer_that_is_no_list_is_an_error() {
    let server = Server::start(|_| Reply::json(&json!({}))).await;
    let error = live(&server).await.published().await.err().unwrap();
    assert!(shown(&error).contains("the response is not a list"), "{error}");
}

/// The errors of publishing reports for the cluster and namespace `a`, with this answer to each request that writes.
async fn errors_of(standing: &[Value], answer: fn(&ReceivedRequest) -> Reply) -> (usize, usize, Vec<String>) {
    let standing = standing.to_vec();
    let server = Server::start(move |asked| match asked {
        asked if is_list(asked) && asked.path.ends_with("/reports") => list(&standing),
        asked if is_list(asked) => list(&[]),
        asked => answer(asked),
    })
    .await;
    let live = live(&server).await;
    let standing = live.published().await.unwrap();
    let mut wanted = wanted(&["", "a"]);
    wanted.events = vec![json!({"kind": "Event", "metadata": {"name": "e", "namespace": "a"}})];
    let done = live.publish(&standing, &wanted).await;
    (done.written, done.removed + done.events, done.errors.iter().map(shown).collect())
}

#[tokio::test]
async fn success_without_the_stored_report_is_an_error() {
    let other = "the response is another object than the one that was sent";
    type Answer = fn(&ReceivedRequest) -> Reply;
    let cases: [(Answer, &str, &str); 4] = [
        (|_| Reply::json(&json!({})).with_status(201), other, other),
        (|_| Reply::text(201, "text/html", "<html>ok</html>"), "the response is not JSON", "the response is not JSON"),
        (|_| Reply::json(&report("kube-system")).with_status(201), other, other),
        (
            |asked| {
                let mut object = sent_object(asked);
                object["results"] = json!([]);
                Reply::json(&object).with_status(201)
            },
            "the stored report has 0 of its 1 results",
            "",
        ),
    ];
    for (answer, why, of_event) in cases {
        let (written, other, errors) = errors_of(&[], answer).await;
        let mut wanted =
            vec![format!("create ClusterReport meshdoctor: {why}"), format!("create Report a/meshdoctor: {why}")];
        wanted.extend((!of_event.is_empty()).then(|| format!("create an event in a: {of_event}")));
        assert_eq!((written, errors), (0, wanted));
        assert_eq!(other, usize::from(of_event.is_empty()));
    }
    let stored = |asked: &ReceivedRequest| Reply::json(&sent_object(asked)).with_status(201);
    assert_eq!(errors_of(&[], stored).await, (2, 1, Vec::new()));
    // A report of a namespace that needs none any more.
    let (_, removed, errors) = errors_of(&[report("gone")], |asked| match asked.method.as_str() {
        "DELETE" => Reply::json(&json!({})),
        _ => Reply::json(&sent_object(asked)).with_status(201),
    })
    .await;
    assert_eq!((removed, errors), (1, vec![format!("delete Report gone/meshdoctor: {other}")]));
}

#[tokio::test]
async fn denial_of_a_quota_is_not_one_of_rights() {
    use meshdoctor::source::live::PublishError;
    let quota = "reports.openreports.io \"meshdoctor\" is forbidden: exceeded quota: reports, requested: 1";
    let webhook = "admission webhook \"v.acme.io\" denied the request: no";
    let rights = "reports.openreports.io is forbidden: User \"u\" cannot create resource";
    for (message, is_expected) in [
        (quota, (|error| matches!(error, PublishError::Quota { .. })) as fn(&PublishError) -> bool),
        (webhook, |error| matches!(error, PublishError::Refused { .. })),
        (rights, |error| matches!(error, PublishError::Denied { .. })),
    ] {
        let server = Server::start(
            move |asked| {
                if is_list(asked) { list(&[]) } else { Reply::status(403, "Forbidden", message) }
            },
        )
        .await;
        let live = live(&server).await;
        let standing = live.published().await.unwrap();
        let done = live.publish(&standing, &wanted(&["a"])).await;
        assert!(done.errors.len() == 1 && done.errors.iter().all(is_expected), "{:?}", done.errors);
    }
}
