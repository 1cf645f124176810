//! Access reviews: one question posted, one answer taken in.

use std::collections::BTreeSet;

use meshdoctor::collect::{Options, Unobserved, collect};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::Item;

use super::live;
use super::server::{Reply, Server};

fn answered(question: &[u8], allowed: bool) -> Reply {
    let mut review: serde_json::Value = serde_json::from_slice(question).unwrap();
    review["status"] = serde_json::json!({ "allowed": allowed });
    Reply::json(&review)
}

/// The outcome of asking for `create deployments.apps` in the control plane's namespace.
async fn ask(server: &Server) -> Fetched {
    let item: Item = "access/create/deployments.apps/control-plane".parse().unwrap();
    let items = BTreeSet::from([item.clone()]);
    let collected = collect(&live(server).await, &items, &Options::default(), None, &Unobserved).await;
    collected.cluster.answer(&item).unwrap().fetched.clone()
}

#[tokio::test]
async fn a_review_is_posted_with_what_is_asked_and_nothing_else() {
    let server = Server::start(|asked| match asked.method.as_str() {
        "POST" => answered(&asked.body, true),
        _ => Reply::json(&serde_json::json!({ "kind": "List", "items": [] })),
    })
    .await;
    assert_eq!(ask(&server).await, Fetched::Complete);
    let posted: Vec<_> = server.requests().into_iter().filter(|asked| asked.method != "GET").collect();
    let [review] = posted.as_slice() else { panic!("one review: {posted:?}") };
    assert_eq!(review.path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let body: serde_json::Value = serde_json::from_slice(&review.body).unwrap();
    let attributes = serde_json::json!({
        "namespace": "linkerd", "verb": "create", "group": "apps", "resource": "deployments",
    });
    assert_eq!(body["spec"], serde_json::json!({ "resourceAttributes": attributes }));
}

#[tokio::test]
async fn who_may_not_even_ask_is_denied_and_what_breaks_is_asked_again() {
    let server = Server::start(|asked| match (asked.method.as_str(), asked.time) {
        ("POST", 1) => Reply::status(500, "InternalError", "etcd is not there"),
        ("POST", _) => Reply::status(403, "Forbidden", "you may not ask"),
        _ => Reply::json(&serde_json::json!({ "kind": "List", "items": [] })),
    })
    .await;
    let denied = Why::Denied { message: "you may not ask".to_owned() };
    assert_eq!(ask(&server).await, Fetched::Missing { reason: denied });
}
