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

fn list(items: &[Value]) -> Reply {
    Reply::json(
        &json!({"apiVersion": "openreports.io/v1alpha1", "kind": "ReportList", "metadata": {}, "items": items}),
    )
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
        _ => Reply::json(&report("c")).with_status(201),
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
            _ => Reply::json(&report("a")).with_status(201),
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
