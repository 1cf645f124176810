//! `probe-refused`: HTTP, HTTPS or gRPC probes of the kubelet use a port whose policy denies them, or redirects them
//! to a path that policy denies.

use std::collections::BTreeMap;

use super::authorize;
use super::survey::{field, on, rule_of, survey};
use crate::checks::prelude::*;
use crate::model::events;
use crate::model::policy::{Client, Entry, Inbound, Probed, Protocol, TakenBy, http_probe, listed_ports, probes_of};
use crate::model::skipped::IN;
use crate::objects::container::HttpGet;
use crate::objects::{Container, Event, Server};

const SKIPPED: &str = IN.annotation();
const NETWORKS: &str = "Set policyController.probeNetworks to the networks of the nodes, or authorize them \
                        on the port with a NetworkAuthentication";

/// Workload, port, and probe.
type ProbedPort = (Owner, u16, Probed);

/// Pods of one workload whose probe is denied in the same way.
struct DeniedProbe<'a> {
    entry: Entry,
    pods: Vec<&'a Pod>,
    inbound: Inbound<'a>,
    /// The path with its query, if the controller of this release leaves it in its rule for the probe, so that no
    /// request matches it.
    with_query: Option<String>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let mut refused: BTreeMap<ProbedPort, DeniedProbe<'_>> = BTreeMap::new();
    // Result of the previous pod: replicas have the same result and are mostly consecutive.
    let mut before: Option<(&Pod, Vec<ProbedPort>)> = None;
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        if let Some((_, keys)) = before.as_ref().filter(|(known, _)| is_replica(known, pod)) {
            for key in keys {
                refused.entry(key.clone()).and_modify(|refused| refused.pods.push(pod));
            }
            continue;
        }
        let mut keys = Vec::new();
        let skipped = pod.metadata.annotation(SKIPPED).map(listed_ports).unwrap_or_default();
        for (port, probed) in probes_of(pod).into_iter().filter(|(port, _)| !skipped.contains(*port)) {
            let inbound = survey.index.inbound(workload, port);
            let entry = match &probed {
                Probed::Http(..) if is_http2(&inbound) => Entry::Refused,
                Probed::Http(path, _) => inbound.get(path, Client::default()),
                // `server-http-on-tls-port` reports the Server.
                Probed::Https(_) if inbound.protocol.is_http() => Entry::Admitted,
                Probed::Https(_) | Probed::Grpc => inbound.connect(Client::default()),
            };
            // The proxy does not redirect its own probes.
            let elsewhere = match &probed {
                Probed::Http(path, _) if !is_of_proxy(pod, port) => inbound.get(&format!("{path}/"), Client::default()),
                Probed::Http(..) | Probed::Https(_) | Probed::Grpc => Entry::Admitted,
            };
            if entry != Entry::Admitted || elsewhere == Entry::Refused {
                let key = (owners.owner(pod), port, probed);
                keys.push(key.clone());
                let keeps_query = !survey.index.controller.quirks.probe_uris;
                let with_query = keeps_query.then(|| path_with_query(pod, (port, &key.2))).flatten();
                let new = DeniedProbe { entry, pods: Vec::new(), inbound, with_query };
                refused.entry(key).or_insert(new).pods.push(pod);
            }
        }
        before = Some((pod, keys));
    }
    let events = ctx.optional_list::<Event>();
    let findings = refused.into_iter().filter_map(|((owner, port, probed), refused)| match (&refused.entry, &probed) {
        (Entry::Admitted, Probed::Http(path, _)) => redirected(ctx, &owner, (port, path), &refused.pods, events),
        _ => Some(finding(ctx, &owner, (port, &probed), &refused, events)),
    });
    Ok(findings.collect())
}

/// The path of an HTTP probe as written, if it has a query.
fn path_with_query(pod: &Pod, probe: Probe<'_>) -> Option<String> {
    let of = |container: &Container, get: &HttpGet| {
        let path = get.path.as_deref().filter(|path| path.contains('?'))?;
        let is_it = http_probe(container, get).is_some_and(|(port, probed)| (port, &probed) == probe);
        is_it.then(|| path.to_owned())
    };
    let mut all = pod.spec.all_containers();
    all.find_map(|container| container.http_probes().find_map(|get| of(container, get)))
}

/// Whether a port is one of the pod's proxy.
fn is_of_proxy(pod: &Pod, port: u16) -> bool {
    pod.spec.proxy().is_some_and(|proxy| proxy.ports.iter().any(|own| own.container_port == port))
}

/// Whether the proxy reads every connection to the port as HTTP/2, which the kubelet's HTTP probes do not use.
fn is_http2(inbound: &Inbound<'_>) -> bool {
    matches!(inbound.protocol, Protocol::Http2 | Protocol::Grpc)
}

/// The finding about an allowed probe that gets status 403 all the same: only its own path is allowed.
fn redirected(
    ctx: &Context<'_>,
    owner: &Owner,
    (port, path): (u16, &str),
    pods: &[&Pod],
    events: &[Event],
) -> Option<Finding> {
    let unready = |pod: &&Pod| pod.condition("Ready").is_some_and(|condition| condition.status == "False");
    let unready: Vec<&Pod> = pods.iter().copied().filter(unready).collect();
    if !unready.is_empty()
        && let Err(missing) = ctx.partial_list::<Event>()
    {
        ctx.gap(missing);
    }
    let probe = (port, &Probed::Http(path.to_owned(), false));
    let event = answered(events, &unready, probe).filter(|event| event.message.trim_end().ends_with("403"))?;
    // Without the container's name it may be about another probe, but none of the proxy, which never answers 403.
    let of_others = |pod: &&Pod| {
        let others = probes_of(pod).into_iter().filter(|(at, probed)| (*at, probed) != probe);
        let mut others = others.filter(|(at, _)| !is_of_proxy(pod, *at));
        others.any(|(at, probed)| may_be_of(event, pod, (at, &probed)))
    };
    if unready.iter().any(of_others) {
        return None;
    }
    let (namespace, name) = unready.first()?.metadata.key();
    let message = format!(
        "The kubelet's probe GET {path} on port {port} gets status 403, although policy allows this path. Either the \
         program redirects the probe to a path that policy denies, or it answers 403 itself"
    );
    let names = unready.iter().map(|pod| pod.metadata.name.clone()).collect();
    let forward = kubectl().namespace(namespace).words("port-forward").arg(format!("pod/{name}"));
    let remedy = Remedy::new()
        .command(
            "Request the path through a port-forward, which bypasses the proxy, and look for a redirect",
            forward.arg(format!("{port}:{port}")),
        )
        .note("Write the target of the redirect as the path of the probe, often the same path with a slash at the end");
    let finding = ctx
        .finding(owner.subject(names), message)
        .parameter(format!("{port}{path} redirect"))
        .likely()
        .evidence(quoted(event))
        .evidence(Evidence::field(
            format!("Pod {namespace}/{name}"),
            "spec.containers[].probes",
            format!("httpGet {path}, port {port}"),
        ))
        .remedy(remedy);
    Some(finding)
}

/// Whether two pods are equal in everything that this check reads.
fn is_replica(one: &Pod, other: &Pod) -> bool {
    let (meta, others) = (&one.metadata, &other.metadata);
    meta.namespace == others.namespace
        && meta.labels.is_same(&others.labels)
        && meta.annotations.is_same(&others.annotations)
        && meta.owner_references.is_same(&others.owner_references)
        && one.spec.is_same(&other.spec)
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    (port, probed): (u16, &Probed),
    refused: &DeniedProbe<'_>,
    events: &[Event],
) -> Finding {
    let DeniedProbe { pods, inbound, .. } = refused;
    let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let by = rule_of(inbound, port);
    let first = pods.first().map_or_else(String::new, |pod| pod.described());
    let answered = match probed {
        Probed::Http(..) if is_http2(inbound) => {
            unhealthy(events, pods, (port, probed), |message| message.contains("malformed HTTP response"))
        }
        Probed::Http(..) => answered(events, pods, (port, probed)),
        Probed::Https(_) => closed(events, pods, (port, probed)),
        Probed::Grpc => None,
    };
    let declaring = declaring(refused, probed);
    let (message, remedy, said) = effect(ctx, refused, (port, probed), declaring);
    let finding = ctx
        .finding(owner.subject(names), message)
        .parameter(match probed {
            Probed::Http(path, _) => format!("{port}{path}"),
            Probed::Https(path) => format!("{port}{path} https"),
            Probed::Grpc => format!("{port} grpc"),
        })
        .evidence(Evidence::field(first, "spec.containers[].probes", said))
        .evidence(by)
        .evidences(declaring.map(|server| {
            field(
                Kind::Server,
                &server.metadata,
                "spec.proxyProtocol",
                server.spec.proxy_protocol.clone().unwrap_or_default(),
            )
        }))
        .evidences(answered.map(quoted))
        .remedy(remedy);
    // Objects do not show the state before the controller's restart or the target of a redirect; the
    // kubelet's event does.
    let is_certain = answered.is_some() || matches!(probed, Probed::Http(..)) && is_http2(inbound);
    finding.observed_if(is_certain)
}

/// The Server that declares a protocol of the port which probes of the kubelet do not use.
fn declaring<'a>(refused: &DeniedProbe<'a>, probed: &Probed) -> Option<&'a Server> {
    let inbound = &refused.inbound;
    let of_http = matches!(probed, Probed::Http(..));
    match (inbound.taken_by, inbound.protocol) {
        (TakenBy::Server(server), Protocol::Opaque | Protocol::Tls) => Some(server),
        (TakenBy::Server(server), Protocol::Http2 | Protocol::Grpc) if of_http => Some(server),
        _ => None,
    }
}

/// The message about a denied probe, the steps, and the probe as evidence.
fn effect(
    ctx: &Context<'_>,
    refused: &DeniedProbe<'_>,
    (port, probed): (u16, &Probed),
    declaring: Option<&Server>,
) -> (String, Remedy, String) {
    let DeniedProbe { entry, inbound, with_query, .. } = refused;
    let status = match entry {
        Entry::NoRoute => 404,
        Entry::Refused | Entry::Admitted => 403,
    };
    let (asks, because, step) = match with_query {
        Some(path) => of_query(ctx, path),
        None => reason(probed, inbound),
    };
    let (gets, said) = match probed {
        Probed::Http(path, bare) => {
            let path = with_query.as_deref().unwrap_or(&path[usize::from(*bare)..]);
            (format!("gets status {status}"), format!("httpGet {path}, port {port}"))
        }
        Probed::Https(path) => ("is denied".to_owned(), format!("httpGet {path} over HTTPS, port {port}")),
        Probed::Grpc => ("is denied".to_owned(), format!("grpc, port {port}")),
    };
    let is_routed = inbound.routes.iter().any(|route| route.route.is_some());
    let (message, remedy) = match (declaring, probed) {
        (Some(server), Probed::Http(..)) if is_http2(inbound) => (
            format!(
                "The kubelet's probe {asks} on port {port} fails: Server {} declares the port as {}, and the kubelet \
                 uses HTTP/1. The pods become unready or restart",
                server.metadata.name,
                inbound.protocol.label()
            ),
            http2_server(server),
        ),
        (Some(server), Probed::Http(..)) => (
            format!(
                "The probe {asks} on port {port} is denied: Server {} declares the port as {}, and kubelet probes are \
                 allowed only on HTTP ports. The pods become unready or restart",
                server.metadata.name,
                if inbound.protocol == Protocol::Tls { "TLS" } else { "opaque" }
            ),
            opaque_server(server),
        ),
        _ => (
            format!("The kubelet's probe {asks} on port {port} {gets}: {because}"),
            match (inbound.taken_by, probed) {
                (TakenBy::Server(server), Probed::Http(path, false)) if is_routed => {
                    let lines = authorize::probe(&server.metadata, path);
                    Remedy::new().run(StepKind::Command, step, Command::lines(lines).whole())
                }
                (TakenBy::Server(server), Probed::Grpc) => {
                    let lines = authorize::network(&server.metadata, "probes", "NODE_NETWORK");
                    Remedy::new().run(StepKind::Command, step, Command::lines(lines).whole())
                }
                _ => Remedy::new().note(step),
            },
        ),
    };
    (message, remedy, said)
}

/// The parts of [`reason`] for a probe whose path has a query.
fn of_query(ctx: &Context<'_>, path: &str) -> (String, &'static str, String) {
    let first = ctx.knowledge.policy_controller().first_with_probe_uris();
    (
        format!("GET {path}"),
        "the probe's path has a query, which Linkerd's automatic rule of this release includes, so that no request \
         matches it",
        format!("Remove the query from the path of the probe, or upgrade: releases from {first} on leave it out"),
    )
}

/// The request of a probe, why it is denied, and the step that allows it.
fn reason(probed: &Probed, inbound: &Inbound<'_>) -> (String, &'static str, String) {
    let routed = inbound.routes.iter().any(|route| route.route.is_some());
    match probed {
        Probed::Grpc => (
            "over gRPC".to_owned(),
            "only HTTP probes are allowed automatically",
            "Authorize the nodes' addresses on the port with a NetworkAuthentication, or use an HTTP \
             probe"
                .to_owned(),
        ),
        Probed::Https(path) => (
            format!("GET {path} over HTTPS"),
            "the proxy cannot see the path inside TLS, so Linkerd's automatic rule for probes does not apply",
            match inbound.taken_by {
                TakenBy::Server(server) => format!(
                    "Authorize the nodes' addresses with an AuthorizationPolicy for Server {} that requires a \
                     NetworkAuthentication, or set {SKIPPED} on the workload to the port",
                    server.metadata.name
                ),
                TakenBy::Default(_) => format!(
                    "Create a Server for the port, with an AuthorizationPolicy that requires a \
                     NetworkAuthentication of the nodes' addresses, or set {SKIPPED} on the workload to the port"
                ),
            },
        ),
        Probed::Http(path, true) => (
            format!("GET {path}"),
            "the probe's path lacks the leading slash. The kubelet adds it, but Linkerd's automatic rule does not",
            format!("Write the path of the probe as {path}"),
        ),
        Probed::Http(path, false) if routed => (
            format!("GET {path}"),
            "once a Server has a route, its probes need a route and a policy, too",
            match inbound.taken_by {
                TakenBy::Server(server) => format!(
                    "Add an HTTPRoute to Server {} for {path}, with an AuthorizationPolicy for it that \
                     requires a NetworkAuthentication of the nodes' addresses",
                    server.metadata.name
                ),
                TakenBy::Default(_) => NETWORKS.to_owned(),
            },
        ),
        Probed::Http(path, false) => (
            format!("GET {path}"),
            "probes are allowed automatically only on HTTP ports, from the networks in \
             policyController.probeNetworks",
            NETWORKS.to_owned(),
        ),
    }
}

/// The steps if a Server declares another protocol than HTTP for a port with an HTTP probe.
fn opaque_server(server: &Server) -> Remedy {
    let declare = on("patch", Kind::Server, &server.metadata)
        .words("--type=merge -p")
        .arg(r#"{"spec":{"proxyProtocol":"HTTP/1"}}"#);
    let act = "Declare the port as HTTP in the Server, since its probe is HTTP";
    Remedy::new()
        .command(act, declare)
        .note("If it has to stay as it is, authorize the nodes' addresses on the port with a NetworkAuthentication")
}

/// The steps if a Server declares HTTP/2 for a port with an HTTP probe. With detection, both work.
fn http2_server(server: &Server) -> Remedy {
    let detect = on("patch", Kind::Server, &server.metadata)
        .words("--type=merge -p")
        .arg(r#"{"spec":{"proxyProtocol":"unknown"}}"#);
    let act = "Let the proxy detect the protocol: proxyProtocol unknown also serves HTTP/2 and its routes";
    Remedy::new().command(act, detect).note("Or use a tcpSocket probe, which only connects")
}

fn quoted(event: &Event) -> Evidence {
    events::quoted(format!("Pod {}/{}", event.about.namespace, event.about.name), event)
}

/// The port and the request of a probe.
type Probe<'p> = (u16, &'p Probed);

/// The latest event in which the kubelet reports a status with which the proxy denies this probe of one of the pods.
fn answered<'e>(events: &'e [Event], pods: &[&Pod], probe: Probe<'_>) -> Option<&'e Event> {
    unhealthy(events, pods, probe, |message| {
        ["403", "404"].iter().any(|status| message.ends_with(&format!("HTTP probe failed with statuscode: {status}")))
    })
}

/// The latest event in which the kubelet reports that the TLS connection of this probe was closed.
fn closed<'e>(events: &'e [Event], pods: &[&Pod], probe: Probe<'_>) -> Option<&'e Event> {
    let to = format!(":{}", probe.0);
    unhealthy(events, pods, probe, |message| {
        let ends = message.ends_with("EOF") || message.ends_with("connection reset by peer");
        ends && message.contains("\"https://") && message.contains(&to)
    })
}

fn unhealthy<'e>(
    events: &'e [Event],
    pods: &[&Pod],
    probe: Probe<'_>,
    is_meant: impl Fn(&str) -> bool,
) -> Option<&'e Event> {
    let about = |event: &&Event| {
        let is_pod = |pod: &&&Pod| (event.about.namespace.as_str(), event.about.name.as_str()) == pod.metadata.key();
        event.reason == "Unhealthy"
            && is_meant(event.message.trim_end())
            && pods.iter().find(is_pod).is_some_and(|pod| may_be_of(event, pod, probe))
    };
    events.iter().filter(about).max_by_key(|event| event.last)
}

/// Whether an event may be about a probe of a pod. The kubelet names the kind of the probe and its container, but not
/// the port.
fn may_be_of(event: &Event, pod: &Pod, (port, probed): Probe<'_>) -> bool {
    let Some((kind, _)) = event.message.split_once(" probe failed") else { return true };
    let of_event = |container: &&Container| event.about.container().is_none_or(|name| container.name == name);
    pod.spec.all_containers().filter(of_event).any(|container| {
        let request = container.http_probe_of(kind).and_then(|get| http_probe(container, get));
        request.is_some_and(|request| request == (port, probed.clone()))
    })
}
