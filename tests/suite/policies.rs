//! What the real policy controllers of two releases answered for each port of small recorded clusters, beside what the model of
//! them says. The recordings lie outside the repository (`MESHDOCTOR_POLICY_RECORDINGS`, else beside it); where there are none,
//! that is said.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::policy::{Controller, Index, Objects, Quirks, Workload, to_json};
use meshdoctor::objects::{ExternalWorkload, Pod};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::skip::{Need, skipped};

/// The recordings, in order.
fn recordings() -> Vec<PathBuf> {
    let named = std::env::var_os("MESHDOCTOR_POLICY_RECORDINGS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/policy-recordings");
    let folder = named.unwrap_or_else(beside);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        skipped(Need::Recordings, &format!("no recorded policies in {}", folder.display()));
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.join("truth.json").is_file());
    found.sort();
    assert!(!found.is_empty(), "{}: no recordings", folder.display());
    found
}

fn read(path: &Path) -> Value {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = Vec::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::MultiGzDecoder::new(&file[..]).read_to_end(&mut text).unwrap();
    } else {
        text = file;
    }
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn objects<T: DeserializeOwned>(cluster: &Value, kind: &str, group: &str) -> Vec<T> {
    let of_kind =
        |object: &&Value| object["kind"] == kind && object["apiVersion"].as_str().unwrap().starts_with(group);
    let read =
        |object: &Value| serde_json::from_value(object.clone()).unwrap_or_else(|e| panic!("{e}: {object}"));
    cluster["items"].as_array().unwrap().iter().filter(of_kind).map(read).collect()
}

/// Lists whose order means nothing, in order.
fn in_order(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(in_order),
        Value::Object(fields) => {
            for (name, field) in fields {
                in_order(field);
                if let ("authorizations", Value::Array(items)) = (name.as_str(), field) {
                    items.sort_by_key(Value::to_string);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_port_has_the_policy_that_the_controller_gives_it() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for recording in recordings() {
        let name = recording.file_name().unwrap().to_string_lossy().into_owned();
        let truth = read(&recording.join("truth.json"));
        // What depends on what was there before cannot be told from objects; what a fresh controller says, can.
        let inbound = truth.get("inbound_after_restart").unwrap_or(&truth["inbound"]);
        let cluster = read(&recording.join("cluster.json.gz"));
        let version = if truth["linkerd"] == "2.18" { "edge-25.4.4" } else { "edge-26.5.5" };
        let quirks = Quirks::of(Some(&version.parse().unwrap()), Knowledge::embedded());
        let controller =
            Controller::of(&objects(&cluster, "Deployment", "apps/"), "linkerd", quirks).unwrap();
        const LINKERD: &str = "policy.linkerd.io/";
        const GATEWAY: &str = "gateway.networking.k8s.io/";
        let servers = objects(&cluster, "Server", LINKERD);
        let server_authorizations = objects(&cluster, "ServerAuthorization", LINKERD);
        let authorization_policies = objects(&cluster, "AuthorizationPolicy", LINKERD);
        let mesh_tls_authentications = objects(&cluster, "MeshTLSAuthentication", LINKERD);
        let network_authentications = objects(&cluster, "NetworkAuthentication", LINKERD);
        let rate_limits = objects(&cluster, "HTTPLocalRateLimitPolicy", LINKERD);
        let http_routes = objects(&cluster, "HTTPRoute", GATEWAY);
        let linkerd_http_routes = objects(&cluster, "HTTPRoute", LINKERD);
        let grpc_routes = objects(&cluster, "GRPCRoute", GATEWAY);
        let objects_of_policy = Objects {
            servers: &servers,
            server_authorizations: &server_authorizations,
            authorization_policies: &authorization_policies,
            mesh_tls_authentications: &mesh_tls_authentications,
            network_authentications: &network_authentications,
            rate_limits: &rate_limits,
            http_routes: &http_routes,
            linkerd_http_routes: &linkerd_http_routes,
            grpc_routes: &grpc_routes,
        };
        let index = Index::new(controller, objects_of_policy);
        let pods: Vec<Pod> = objects(&cluster, "Pod", "v1");
        let external: Vec<ExternalWorkload> = objects(&cluster, "ExternalWorkload", "workload.linkerd.io/");
        let nothing = Value::Null;
        for (of, answers) in
            [("pod", inbound), ("external", truth.get("external_workloads").unwrap_or(&nothing))]
        {
            for (key, ports) in answers.as_object().into_iter().flatten() {
                let (namespace, workload) = key.split_once('/').unwrap();
                let is_it = |at: (&str, &str)| at == (namespace, workload);
                let found = if of == "pod" {
                    let pod = pods.iter().find(|pod| is_it((&pod.metadata.namespace, &pod.metadata.name)));
                    pod.and_then(|pod| Workload::of_pod(pod, quirks))
                } else {
                    let it = external.iter().find(|it| is_it((&it.metadata.namespace, &it.metadata.name)));
                    it.map(Workload::of_external)
                };
                for (port, said) in ports.as_object().unwrap() {
                    compared += 1;
                    let mut ours = match &found {
                        Some(workload) => to_json(&index.inbound(workload, port.parse().unwrap())),
                        None => serde_json::json!({"error": "NOT_FOUND"}),
                    };
                    let mut theirs = said.clone();
                    in_order(&mut ours);
                    in_order(&mut theirs);
                    if ours != theirs {
                        wrong.push(format!("{name} {of} {key}:{port}\n  ours   {ours}\n  theirs {theirs}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} answers differ\n{}", wrong.len(), wrong.join("\n"));
}
