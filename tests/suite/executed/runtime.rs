//! The runtime state of processes that started again: their metrics, and the answers of a new controller.

use meshdoctor::certificates::from_bundle;
use meshdoctor::collect::collect_now;
use meshdoctor::inspect::evidence::{PolicyEvidence, policy_items};
use meshdoctor::inspect::policy::{Target, as_controller};
use meshdoctor::item::Kind;
use meshdoctor::item::diagnostic::{
    Answer, Diagnostic, Endpoint, InboundAnswer, PortPolicy, ProxyCertificates, ReplicaProfile, ServiceEndpoints,
};
use meshdoctor::item::proxy_metrics::{ProxyMetrics, Series};
use meshdoctor::knowledge::{Knowledge, MetricMeaning};
use meshdoctor::scene::Scene;
use meshdoctor::source::diagnostics::Diagnostics;
use serde_json::{Value, json};

use super::world::World;

/// Lifetime of a proxy's certificate, in seconds.
const LIFETIME: i64 = 86_400;
/// The Lease for writing statuses of routes.
const LEASE: &str = "policy-controller-write";

/// The outputs of `linkerd diagnostics` after the commands.
pub fn diagnostics(world: &World, scene: &Scene) -> Diagnostics {
    let mut answers = Vec::new();
    scene.memory.diagnostics.answer(&mut |json| {
        let one: Diagnostic = serde_json::from_slice(json).unwrap();
        answers.push(one.said);
    });
    let mut after = Diagnostics::default();
    for answer in &answers {
        let answer = match answer {
            Answer::ProxyMetrics(old) if is_new(world, &old.pod) => Answer::ProxyMetrics(started(world, old, &answers)),
            // Destination sends the identities of meshed pods, so connections to them use mutual TLS from now on.
            Answer::ProxyMetrics(old) if is_restarted(world, "linkerd-destination") => {
                let mut now = old.clone();
                for series in &mut now.series {
                    if series.meaning == MetricMeaning::PlaintextConnections {
                        series.before = series.before.map(|_| series.value);
                    }
                }
                Answer::ProxyMetrics(now)
            }
            Answer::ProxyCertificates(old) if is_new(world, &old.pod) => {
                Answer::ProxyCertificates(certificates(world, old))
            }
            // Every replica reads the same ServiceProfile again.
            Answer::Profile(old) if is_restarted(world, "linkerd-destination") => {
                let profile = answers.iter().find_map(Answer::of_profile).map_or(old.profile, |one| one.profile);
                Answer::Profile(ReplicaProfile { profile, again: Some(profile), ..old.clone() })
            }
            // The endpoints of a replica are those of EndpointSlices again.
            Answer::Endpoints(old) if is_new(world, &old.replica) => Answer::Endpoints(listed(world, old)),
            Answer::Endpoints(old) if is_restarted(world, "linkerd-destination") => {
                let is_known = !old.replica.is_empty();
                Answer::Endpoints(if is_known { listed(world, old) } else { endpoints(world, old) })
            }
            Answer::Policy(old) if is_restarted(world, "linkerd-destination") => {
                Answer::Policy(policy(world, scene, old))
            }
            other => other.clone(),
        };
        after.add(answer);
    }
    after
}

/// Whether a pod was created again; the linkerd command does not print its namespace.
fn is_new(world: &World, name: &str) -> bool {
    world.begin_pods().any(|pod| pod["metadata"]["name"] == name && world.is_new(pod))
}

fn is_restarted(world: &World, deployment: &str) -> bool {
    world.started.iter().any(|(kind, (_, name))| *kind == Kind::Deployment && name == deployment)
}

/// The metrics of a new process: counters begin at 0, and gauges show the objects that it read when it started.
fn started(world: &World, old: &ProxyMetrics, all: &[Answer]) -> ProxyMetrics {
    // Metrics that were read before the process started are of an earlier one.
    let read_at = old.read_at.map(|at| at.max(world.seconds + old.period.unwrap_or_default()));
    let mut new = ProxyMetrics {
        namespace: old.namespace.clone(),
        pod: old.pod.clone(),
        container: old.container.clone(),
        read_at,
        started_at: Some(world.seconds),
        period: old.period,
        exported: old.exported.clone(),
        ..ProxyMetrics::default()
    };
    let issuer = issuer_ends(world);
    new.expires_at = old.expires_at.map(|_| match (read_at, issuer) {
        (Some(at), Some(end)) if at < end => end.min(at + LIFETIME),
        _ => 0,
    });
    let mut gauge = |meaning, labels, value: f64| {
        let before = old.period.map(|_| value);
        new.series.push(Series { meaning, labels, value, before });
    };
    for series in old.series(MetricMeaning::IssuerLifetime) {
        if let (Some(at), Some(end)) = (read_at, issuer) {
            #[allow(clippy::cast_precision_loss, reason = "seconds of some years")]
            gauge(series.meaning, series.labels.clone(), (end - at) as f64);
        }
    }
    for series in old.series(MetricMeaning::CertificateRefreshedAt) {
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970")]
        gauge(series.meaning, series.labels.clone(), world.seconds as f64);
    }
    for series in old.series(MetricMeaning::BalancerEndpoints) {
        let value = match series.label("endpoint_state") {
            "ready" => ready(world, series.label("backend_namespace"), series.label("backend_name")),
            _ => 0.0,
        };
        gauge(series.meaning, series.labels.clone(), value);
    }
    // The same traffic needs the same memory.
    for series in old.series(MetricMeaning::ResidentMemory) {
        gauge(series.meaning, series.labels.clone(), series.value);
    }
    if old.container == "destination" {
        // It gets the same updates of the API server as the other replicas.
        let other = all
            .iter()
            .filter_map(Answer::of_controller)
            .find(|other| other.container == old.container && other.pod != old.pod && !is_new(world, &other.pod));
        let shared = [MetricMeaning::EndpointUpdates, MetricMeaning::EndpointSubscribers];
        let series = other.into_iter().flat_map(|other| &other.series);
        new.series.extend(series.filter(|series| shared.contains(&series.meaning)).cloned());
    }
    new
}

/// The logs of new processes: without lines about state that ended with the old one, for which a restart is the whole
/// remedy. Others come again.
pub fn logs(scene: &mut Scene, world: &World) {
    let rows = Knowledge::embedded().mesh_logs().rows();
    let ended =
        |line: &str| rows.iter().any(|row| row.matches(line) && (row.general || row.restart && row.remedy.is_empty()));
    let ends = |line: &str| rows.iter().any(|row| row.matches(line) && row.restart && row.remedy.is_empty());
    for log in &mut scene.memory.logs {
        let mut object: Value = serde_json::from_slice(log).unwrap();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let pod = name.split('/').next().unwrap_or_default();
        let text = object["text"].as_str().unwrap_or_default();
        if object["metadata"]["namespace"] != "" && is_new(world, pod) && text.lines().any(ends) {
            let kept: String = text.lines().filter(|line| !ended(line)).map(|line| format!("{line}\n")).collect();
            object["text"] = json!(kept);
            *log = object.to_string().into_bytes();
        }
    }
}

/// The end of the issuer in its Secret.
fn issuer_ends(world: &World) -> Option<i64> {
    let certificates = from_bundle(&issuer(world)?).ok()?;
    Some(certificates.first()?.not_after().as_second())
}

/// The certificate of the issuer in its Secret.
fn issuer(world: &World) -> Option<String> {
    use base64::Engine as _;
    let secret = world.get(Kind::Secret, "linkerd", "linkerd-identity-issuer")?;
    let data = ["crt.pem", "tls.crt"].iter().find_map(|name| secret["data"][*name].as_str())?;
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data).ok()?).ok()
}

/// The certificates of a new proxy: of the current issuer, and the current trust anchors.
fn certificates(world: &World, old: &ProxyCertificates) -> ProxyCertificates {
    const END: &str = "-----END CERTIFICATE-----\n";
    let mut new = old.clone();
    if let Some((own, _)) = old.chain.split_once(END) {
        new.chain = format!("{own}{END}{}", issuer(world).unwrap_or_default());
    }
    let anchors = world.get(Kind::ConfigMap, "linkerd", "linkerd-identity-trust-roots");
    if let (false, Some(anchors)) = (old.anchors.is_empty(), anchors) {
        new.anchors = anchors["data"]["ca-bundle.crt"].as_str().unwrap_or_default().to_owned();
    }
    new
}

/// Number of ready endpoints of a Service.
fn ready(world: &World, namespace: &str, service: &str) -> f64 {
    let is_of = |slice: &&Value| {
        slice["metadata"]["namespace"] == namespace
            && slice["metadata"]["labels"]["kubernetes.io/service-name"] == service
    };
    let endpoints = world.of_kind(Kind::EndpointSlice).filter(is_of).flat_map(|slice| {
        slice["endpoints"].as_array().into_iter().flatten().filter(|one| one["conditions"]["ready"] != false)
    });
    endpoints.map(|_| 1.0).sum()
}

/// The endpoints of a Service that a new destination reads: the addresses of the pods that run.
fn endpoints(world: &World, old: &ServiceEndpoints) -> ServiceEndpoints {
    let service = world.get(Kind::Service, &old.namespace, &old.service);
    let selector = service.and_then(|service| service["spec"]["selector"].as_object());
    let port = old.endpoints.first().map_or(0, |endpoint| endpoint.port);
    let pods = world.of_kind(Kind::Pod).filter(|pod| {
        let labels = &pod["metadata"]["labels"];
        pod["metadata"]["namespace"] == old.namespace.as_str()
            && pod["status"]["phase"] == "Running"
            && selector.is_some_and(|all| all.iter().all(|(name, value)| labels.get(name) == Some(value)))
    });
    let mut endpoints: Vec<Endpoint> = pods
        .filter_map(|pod| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let (pod, ip) = (text(&pod["metadata"]["name"])?, text(&pod["status"]["podIP"])?);
            Some(Endpoint { pod, ip, port, ..Endpoint::default() })
        })
        .collect();
    endpoints.sort();
    ServiceEndpoints { endpoints, ..old.clone() }
}

/// The endpoints of a Service that a new replica of destination reads: those of EndpointSlices, in both reads.
fn listed(world: &World, old: &ServiceEndpoints) -> ServiceEndpoints {
    let port = old.endpoints.first().map_or(0, |endpoint| endpoint.port);
    let slices = world.of_kind(Kind::EndpointSlice).filter(|slice| {
        slice["metadata"]["namespace"] == old.namespace.as_str()
            && slice["metadata"]["labels"]["kubernetes.io/service-name"] == old.service.as_str()
    });
    let ready = slices.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    let mut endpoints: Vec<Endpoint> = ready
        .filter(|one| one["conditions"]["ready"] != false)
        .filter_map(|one| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let (pod, ip) = (text(&one["targetRef"]["name"])?, text(&one["addresses"][0])?);
            Some(Endpoint { pod, ip, port, ..Endpoint::default() })
        })
        .collect();
    endpoints.sort();
    ServiceEndpoints { again: old.again.as_ref().map(|_| endpoints.clone()), endpoints, ..old.clone() }
}

/// The answer of a new policy controller for a port, which follows from the objects that it reads.
fn policy(world: &World, scene: &Scene, old: &PortPolicy) -> PortPolicy {
    let mut memory = scene.memory.clone();
    memory.objects.clear();
    world.objects.values().for_each(|object| memory.add(object).unwrap());
    let collected = collect_now(&memory, &policy_items(), &scene.options, None);
    let evidence = PolicyEvidence::read(&collected.cluster, Knowledge::embedded());
    let Ok(evidence) = evidence.map_err(|_| ()) else { return old.clone() };
    let target = Target { namespace: old.namespace.clone(), workload: Some(old.pod.clone()), port: Some(old.port) };
    let document = as_controller(&evidence, &[target]);
    let answer = &document["inbound"][format!("{}/{}", old.namespace, old.pod)][old.port.to_string()];
    PortPolicy { answer: InboundAnswer::parse(answer).unwrap_or_else(|| old.answer.clone()), ..old.clone() }
}

/// The controller of a link mirrors Services again whose namespace exists now.
fn mirrored(world: &mut World) {
    let namespaces: Vec<Value> = world.of_kind(Kind::Namespace).map(|one| one["metadata"]["name"].clone()).collect();
    for (_, link) in world.objects.iter_mut().filter(|((kind, _), _)| *kind == Kind::Link) {
        for service in link["status"]["mirrorServices"].as_array_mut().into_iter().flatten() {
            let is_there = namespaces.contains(&service["remoteRef"]["namespace"]);
            let condition = &mut service["conditions"][0];
            if is_there && condition["reason"] == "MissingNamespace" {
                *condition = json!({"type": "Mirrored", "status": "True", "reason": "Mirrored", "message": ""});
            }
        }
    }
}

/// A policy controller that starts takes the Lease for writing statuses.
pub fn settle(world: &mut World) {
    mirrored(world);
    if !is_restarted(world, "linkerd-destination") {
        return;
    }
    let at = world.at.clone();
    let leases = world.objects.iter_mut().filter(|((kind, (_, name)), _)| *kind == Kind::Lease && name == LEASE);
    for (_, lease) in leases {
        lease["spec"]["renewTime"] = json!(at);
    }
}
