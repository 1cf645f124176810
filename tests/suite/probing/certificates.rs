//! `check --proxies`: the certificates that proxies serve, and the trust anchors of the control plane's proxies, read
//! through port-forwards, live and from the bundle.

use std::collections::BTreeMap;

use meshdoctor::item::Kind;
use meshdoctor::render::document::Outcome;
use meshdoctor::source::memory::Memory;
use serde_json::json;

use super::cluster::{Cluster, Server, change, mesh};
use super::program::Says;
use super::world::certificate;
use super::{Ran, twice};
use crate::canary;

const OLD_ISSUER: &str = "proxy-certificate-of-old-issuer";
const OLD_ANCHORS: &str = "running-anchors-outdated";
const READ: [&str; 3] = ["--proxies=1s", "--request-timeout", "3s"];
const WEB: &str = "web-5d9f8c7b66-kd82n";
const IDENTITY: &str = "linkerd-identity-6d8f7b5c94-v7k4m";

/// A mesh in which one proxy of a workload and one of the control plane know their names.
fn running() -> Memory {
    let mut memory = mesh();
    let names: Vec<String> = memory.objects[&Kind::Pod].iter().map(|held| held.name.clone()).collect();
    for name in names {
        change(&mut memory, Kind::Pod, &name, |pod| pod["status"]["phase"] = "Running".into());
    }
    let name = json!({ "name": "LINKERD2_PROXY_IDENTITY_LOCAL_NAME",
        "value": "$(_pod_sa).$(_pod_ns).serviceaccount.identity.linkerd.cluster.local" });
    let anchors = json!({ "name": "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS",
        "valueFrom": { "configMapKeyRef": { "name": "linkerd-identity-trust-roots", "key": "ca-bundle.crt" } } });
    for (pod, variables) in [(WEB, vec![name.clone()]), (IDENTITY, vec![name, anchors])] {
        change(&mut memory, Kind::Pod, pod, |pod| {
            let containers = pod["spec"]["containers"].as_array_mut().unwrap();
            let proxy = containers.iter_mut().find(|one| one["name"] == "linkerd-proxy").unwrap();
            let mut env = proxy["env"].as_array().cloned().unwrap_or_default();
            env.retain(|one| !variables.iter().any(|variable| variable["name"] == one["name"]));
            env.extend(variables.clone());
            proxy["env"] = env.into();
        });
    }
    memory
}

async fn ran(web: Says, identity: Says) -> Ran {
    let programs = BTreeMap::from([((WEB.to_owned(), 4191), web), ((IDENTITY.to_owned(), 4191), identity)]);
    let server = Server::start(Cluster { memory: running(), programs, ..Cluster::default() }).await;
    twice(&server, &[canary::token()], &READ).await
}

fn proxy(name: &str, environment: &str) -> Says {
    let metrics = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1768294900\n\
                   process_clock_time_seconds 1768478280\n";
    let http = |body: &str| super::cluster::http(200, body).into_bytes();
    Says::Proxy(certificate(name).2, http(metrics), http(environment))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_running_proxies_are_compared() {
    let (anchors, _, _) = certificate("root.linkerd.cluster.local");
    let environment = json!({ "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS": anchors, "OTHER": canary::token() });
    let identity = proxy("linkerd-identity.linkerd", &environment.to_string());
    let ran = ran(proxy("default.shop.serviceaccount.identity.linkerd.cluster.local", "{}"), identity).await;
    for id in [OLD_ISSUER, OLD_ANCHORS] {
        assert_eq!(ran.outcomes(&[id])[0].1, Outcome::Findings, "{id}: {:#?}", ran.document.coverage);
    }
    let found = format!("{:?}", ran.document.findings);
    for part in ["TLS of the proxy, Pod shop/web-5d9f8c7b66-kd82n", "environment of the proxy, Pod linkerd/"] {
        assert!(found.contains(part), "{part}: {found}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_certificates_of_proxies_are_gaps() {
    let identity = proxy("linkerd-identity.linkerd", "{\"LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS\": \"no\"}");
    let ran = ran(Says::http(200, "process_open_fds 7\n"), identity).await;
    let gaps = ran.gaps(OLD_ISSUER);
    let is_it = |gap: &String| ["certificates served by", WEB, "TLS"].iter().all(|part| gap.contains(part));
    assert!(gaps.iter().any(is_it), "{gaps:?}");
}
