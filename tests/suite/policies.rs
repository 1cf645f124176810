//! Answers of the real policy controllers of two releases for each port of small recorded clusters, compared
//! with the model. The recordings are outside the repository (`MESHDOCTOR_POLICY_RECORDINGS`, else next to
//! it); without them the tests are skipped with a message.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::policy::status::{ParentAnswer, Refused, StatusObjects, Statuses, Writes};
use meshdoctor::model::policy::{
    Controller, Index, Objects, OutboundIndex, OutboundObjects, Quirks, RouteKind, Workload, outbound_to_json, to_json,
};
use meshdoctor::objects::{
    Condition, EgressNetwork, ExternalWorkload, HTTPLocalRateLimitPolicy, Meta, POLICY_CONTROLLER, Pod, Route, Service,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::skip::{Need, skipped};

/// The recordings, in order.
pub(crate) fn recordings() -> Vec<PathBuf> {
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
    let of_kind = |object: &&Value| object["kind"] == kind && object["apiVersion"].as_str().unwrap().starts_with(group);
    let read = |object: &Value| serde_json::from_value(object.clone()).unwrap_or_else(|e| panic!("{e}: {object}"));
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

/// A recorded cluster: its objects, the controller's answers, and the controller's settings.
struct Recorded {
    name: String,
    truth: Value,
    cluster: Value,
    controller: Controller,
}

impl Recorded {
    fn all() -> impl Iterator<Item = Recorded> {
        recordings().into_iter().map(|folder| {
            let truth = read(&folder.join("truth.json"));
            let cluster = read(&folder.join("cluster.json.gz"));
            // The controller recorded as 2.20 was built from that branch, and includes the changes of
            // edge-26.6.2.
            let version = if truth["linkerd"] == "2.18" { "edge-25.4.4" } else { "edge-26.6.2" };
            let quirks = Quirks::from_version(Some(&version.parse().unwrap()), Knowledge::embedded());
            let deployments = objects(&cluster, "Deployment", "apps/");
            let controller = Controller::find(&deployments, "linkerd", quirks).unwrap();
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            Recorded { name, truth, cluster, controller }
        })
    }

    fn recorded_objects<T: DeserializeOwned>(&self, kind: &str, group: &str) -> Vec<T> {
        objects(&self.cluster, kind, group)
    }
}

const LINKERD: &str = "policy.linkerd.io/";
const GATEWAY: &str = "gateway.networking.k8s.io/";

#[test]
fn every_port_has_the_policy_that_the_controller_gives_it() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for recorded in Recorded::all() {
        let (name, truth) = (&recorded.name, &recorded.truth);
        // Answers that depend on earlier state cannot be derived from objects; those of a fresh controller
        // can.
        let inbound = truth.get("inbound_after_restart").unwrap_or(&truth["inbound"]);
        let servers = recorded.recorded_objects("Server", LINKERD);
        let server_authorizations = recorded.recorded_objects("ServerAuthorization", LINKERD);
        let authorization_policies = recorded.recorded_objects("AuthorizationPolicy", LINKERD);
        let mesh_tls_authentications = recorded.recorded_objects("MeshTLSAuthentication", LINKERD);
        let network_authentications = recorded.recorded_objects("NetworkAuthentication", LINKERD);
        let rate_limits = recorded.recorded_objects("HTTPLocalRateLimitPolicy", LINKERD);
        let http_routes = recorded.recorded_objects("HTTPRoute", GATEWAY);
        let linkerd_http_routes = recorded.recorded_objects("HTTPRoute", LINKERD);
        let grpc_routes = recorded.recorded_objects("GRPCRoute", GATEWAY);
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
        let index = Index::new(recorded.controller.clone(), objects_of_policy);
        let quirks = recorded.controller.quirks;
        let pods: Vec<Pod> = recorded.recorded_objects("Pod", "v1");
        let external: Vec<ExternalWorkload> = recorded.recorded_objects("ExternalWorkload", "workload.linkerd.io/");
        let nothing = Value::Null;
        for (of, answers) in [("pod", inbound), ("external", truth.get("external_workloads").unwrap_or(&nothing))] {
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
    assert!(compared > 50 || recordings().is_empty(), "only {compared} answers were compared");
    assert!(wrong.is_empty(), "{} of {compared} answers differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_call_gets_what_the_controller_gives_it() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for recorded in Recorded::all() {
        let services: Vec<Service> = recorded.recorded_objects("Service", "v1");
        let egress_networks: Vec<EgressNetwork> = recorded.recorded_objects("EgressNetwork", LINKERD);
        let lists = [
            (RouteKind::Http, recorded.recorded_objects::<Route>("HTTPRoute", GATEWAY)),
            (RouteKind::LinkerdHttp, recorded.recorded_objects("HTTPRoute", LINKERD)),
            (RouteKind::Grpc, recorded.recorded_objects("GRPCRoute", GATEWAY)),
            (RouteKind::Tls, recorded.recorded_objects("TLSRoute", GATEWAY)),
            (RouteKind::Tcp, recorded.recorded_objects("TCPRoute", GATEWAY)),
        ];
        let objects = OutboundObjects {
            services: &services,
            egress_networks: &egress_networks,
            routes: lists.iter().map(|(kind, list)| (*kind, list.as_slice())).collect(),
        };
        let index = OutboundIndex::new(recorded.controller.clone(), &objects);
        for asked in recorded.truth["outbound"].as_array().into_iter().flatten() {
            compared += 1;
            let query = &asked["query"];
            let from = query["source_ns"].as_str().unwrap();
            let answer = match query["ip"].as_str() {
                Some(ip) => {
                    let port = u16::try_from(query["port"].as_u64().unwrap()).unwrap();
                    index.of_address(SocketAddr::new(ip.parse().unwrap(), port), from)
                }
                None => {
                    let (host, port) = query["authority"].as_str().unwrap().rsplit_once(':').unwrap();
                    let mut words = host.split('.');
                    let (name, namespace) = (words.next().unwrap(), words.next().unwrap());
                    Some(index.of_service((namespace, name), port.parse().unwrap(), from))
                }
            };
            let ours = match &answer {
                Some(outbound) => outbound_to_json(outbound, &recorded.controller.cluster_domain),
                None => serde_json::json!({"error": "NOT_FOUND", "details": "No such service"}),
            };
            if ours != asked["policy"] {
                let theirs = &asked["policy"];
                wrong.push(format!("{} {query}\n  ours   {ours}\n  theirs {theirs}", recorded.name));
            }
        }
    }
    assert!(compared > 50 || recordings().is_empty(), "only {compared} answers were compared");
    assert!(wrong.is_empty(), "{} of {compared} answers differ\n{}", wrong.len(), wrong.join("\n"));
}

/// A status in the form of a recording, without times.
fn written(conditions: &[Condition]) -> Value {
    let one = |c: &Condition| {
        serde_json::json!({
            "type": c.kind.as_str(), "status": c.status.as_str(), "reason": c.reason.as_str(), "message": c.message.as_str()
        })
    };
    conditions.iter().map(one).collect()
}

fn of_parent(answer: &ParentAnswer<'_>) -> Value {
    let parent = &answer.parent;
    let mut named = serde_json::json!({
        "group": parent.group(), "kind": parent.kind.info().kind, "namespace": parent.namespace, "name": parent.name
    });
    if let Some(port) = parent.port {
        named["port"] = port.into();
    }
    serde_json::json!({
        "controllerName": POLICY_CONTROLLER, "parentRef": named, "conditions": written(&answer.conditions())
    })
}

/// Removes times from a recorded answer.
fn timeless(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(timeless),
        Value::Object(fields) => {
            fields.remove("lastTransitionTime");
            fields.values_mut().for_each(timeless);
        }
        _ => {}
    }
}

#[test]
fn every_status_is_the_one_that_the_controller_writes() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let recordings = recordings();
    for recording in &recordings {
        let name = recording.file_name().unwrap().to_string_lossy().into_owned();
        let truth = read(&recording.join("truth.json"));
        let Some(statuses) = truth["status"].as_array().filter(|all| !all.is_empty()) else { continue };
        let cluster = read(&recording.join("cluster.json.gz"));
        let version = if truth["linkerd"] == "2.18" { "edge-25.4.4" } else { "edge-26.5.5" };
        let version = version.parse().unwrap();
        let quirks = Quirks::from_version(Some(&version), Knowledge::embedded());
        let controller = Controller::find(&objects(&cluster, "Deployment", "apps/"), "linkerd", quirks).unwrap();
        let servers = objects(&cluster, "Server", LINKERD);
        let services = objects(&cluster, "Service", "v1");
        let egress_networks: Vec<EgressNetwork> = objects(&cluster, "EgressNetwork", LINKERD);
        let rate_limits: Vec<HTTPLocalRateLimitPolicy> = objects(&cluster, "HTTPLocalRateLimitPolicy", LINKERD);
        let http_routes = objects(&cluster, "HTTPRoute", GATEWAY);
        let linkerd_http_routes = objects(&cluster, "HTTPRoute", LINKERD);
        let grpc_routes = objects(&cluster, "GRPCRoute", GATEWAY);
        let tls_routes = objects(&cluster, "TLSRoute", GATEWAY);
        let tcp_routes = objects(&cluster, "TCPRoute", GATEWAY);
        let objects = StatusObjects {
            servers: &servers,
            services: &services,
            egress_networks: &egress_networks,
            rate_limits: &rate_limits,
            http_routes: &http_routes,
            linkerd_http_routes: &linkerd_http_routes,
            grpc_routes: &grpc_routes,
            tls_routes: &tls_routes,
            tcp_routes: &tcp_routes,
        };
        let writes = Writes::from_version(Some(&version), Knowledge::embedded());
        let ours = Statuses::new(writes, &controller.cluster_networks, objects);
        for said in statuses {
            let key = (said["namespace"].as_str().unwrap(), said["name"].as_str().unwrap());
            let is_it = |meta: &Meta| key == (meta.namespace.as_str(), meta.name.as_str());
            let of_conditions = |answer: Option<Result<(), Refused<'_>>>| match answer {
                None => Value::Null,
                Some(answer) => written(&[answer.err().map_or_else(taken, |refused| refused.condition())]),
            };
            let (ours, field) = match said["kind"].as_str().unwrap() {
                "EgressNetwork" => {
                    let it = egress_networks.iter().find(|it| is_it(&it.metadata)).unwrap();
                    (of_conditions(ours.of_egress_network(it)), "conditions")
                }
                "HTTPLocalRateLimitPolicy" => {
                    let it = rate_limits.iter().find(|it| is_it(&it.metadata)).unwrap();
                    (of_conditions(ours.of_rate_limit(it)), "conditions")
                }
                kind => {
                    let group = said["apiVersion"].as_str().unwrap().split('/').next().unwrap();
                    let mut of_kind = objects
                        .routes()
                        .into_iter()
                        .filter(|(known, _)| known.kind().info().kind == kind && known.group() == group);
                    let (kind, routes) = of_kind.next().unwrap();
                    let route = routes.iter().find(|it| is_it(&it.metadata)).unwrap();
                    let answers = ours.of_route(kind, route);
                    let all: Vec<Value> = answers.iter().map(of_parent).collect();
                    (if all.is_empty() { Value::Null } else { all.into() }, "parents")
                }
            };
            let mut theirs = said["status"].get(field).cloned().unwrap_or_default();
            timeless(&mut theirs);
            compared += 1;
            if ours != theirs {
                wrong.push(format!("{name} {} {key:?}\n  ours   {ours}\n  theirs {theirs}", said["kind"]));
            }
        }
    }
    assert!(compared > 40 || recordings.is_empty(), "{compared} statuses compared");
    assert!(wrong.is_empty(), "{} of {compared} statuses differ\n{}", wrong.len(), wrong.join("\n"));
}

fn taken() -> Condition {
    Condition::new("Accepted", "True", "Accepted", "")
}
