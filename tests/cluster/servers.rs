//! The harness itself: behavior that the other tests rely on.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::{ADMIN, write_kubeconfig};
use crate::harness::{Api, Cluster, Options};

/// One cluster for all checks of the harness, because they do not affect each other.
#[test]
fn a_server_behaves_as_the_tests_expect() {
    const VERSION: &str = "v1.27.16-eks-abcdef0";
    let options = Options::still().presenting(VERSION).pages_from_etcd().user("reader");
    let Some(mut cluster) = Cluster::start(options) else { return };
    assert_eq!(cluster.api.get("/version")["gitVersion"], kubernetes_version());
    assert_eq!(cluster.api_of("reader").get("/version")["gitVersion"], VERSION);
    assert_eq!(cluster.api_of("reader").get("/version")["minor"], "27");
    users_may_do_what_roles_grant(&mut cluster);
    page_tokens_expire(&cluster);

    let watcher = cluster.api_of("reader");
    drop(cluster);
    assert!(get(&watcher, "/version").is_err(), "the server is still there after its cluster was dropped");
}

fn users_may_do_what_roles_grant(cluster: &mut Cluster) {
    let reader = cluster.api_of("reader");
    assert_eq!(get(&reader, "/api/v1/nodes").map(|(status, _)| status), Ok(403));
    cluster.grant("reader", &json!([{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["list"] }]));
    assert_eq!(get(&reader, "/api/v1/nodes").map(|(status, _)| status), Ok(200));
    assert_eq!(get(&reader, "/api/v1/pods").map(|(status, _)| status), Ok(403));
    cluster.grant("reader", &json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["list"] }]));
    assert_eq!(get(&reader, "/api/v1/nodes").map(|(status, _)| status), Ok(403));
}

/// History is forgotten between the first page and the second, by a front that sees the request for it.
fn page_tokens_expire(cluster: &Cluster) {
    let etcd = cluster.etcd.clone();
    let second_page = |request: &http::request::Parts| request.uri.query().unwrap_or("").contains("continue=");
    let rule = move |request: &http::request::Parts| {
        if second_page(request) {
            etcd.compact();
        }
        None
    };
    let (_front, context) = cluster.context_behind(ADMIN, Arc::new(rule));
    let api = context.api();
    let list = "/api/v1/namespaces?limit=1";
    let next = |page: &Value| format!("{list}&continue={}", page["metadata"]["continue"].as_str().unwrap());
    let page = api.get(list);
    assert_eq!(get(&cluster.api, &next(&page)).map(|(status, _)| status), Ok(200));
    let (status, body) = get(&api, &next(&page)).unwrap();
    assert_eq!((status, body["reason"].as_str()), (410, Some("Expired")));
}

fn get(api: &Api, path: &str) -> Result<(u16, Value), String> {
    api.call("GET", path, "application/json", Vec::new()).map(|answer| (answer.status, answer.body))
}

#[test]
fn two_servers_go_into_one_kubeconfig() {
    let Some((one, other)) = Cluster::start_two(Options::still(), Options::still()) else { return };
    let identity = |api: &Api| api.get("/api/v1/namespaces/kube-system")["metadata"]["uid"].clone();
    assert_ne!(identity(&one.api), identity(&other.api));

    let path = one.folder().join("both.kubeconfig");
    write_kubeconfig(&path, &[("one", one.context(ADMIN)), ("other", other.context(ADMIN))]);
    let both = kube::config::Kubeconfig::read_from(&path).unwrap();
    let contexts: Vec<_> = both.contexts.iter().map(|context| context.name.as_str()).collect();
    assert_eq!((contexts, both.current_context.as_deref()), (vec!["one", "other"], Some("one")));
    let servers: Vec<_> = both.clusters.iter().map(|named| named.cluster.clone().unwrap().server).collect();
    assert_ne!(servers[0], servers[1]);
}
