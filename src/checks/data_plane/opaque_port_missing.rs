//! `opaque-port-missing`: a Service of a server-first protocol has a port on which proxies wait for the
//! client to send.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::connect_failures::{failed_connections, quoted, repeated};
use super::exposed::{Behind, Mesh, Treated};
use super::opaque::{self, ANNOTATION};
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, meshed};
use crate::checks::rewrite::{self, Act};
use crate::knowledge::{First, KnownProtocol};
use crate::model::annotated::Annotated;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Server, ServicePort};

/// The number of clients whose log lines are quoted.
pub(super) const QUOTED: usize = 3;

/// Evidence for the protocol of a port.
struct Sign<'a> {
    protocol: &'a KnownProtocol,
    evidence: Evidence,
    /// Whether it is only the port number, which other protocols use too.
    weak: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>();
    let mesh = Mesh::from_context(ctx)?;
    let proxied_pods = ctx.optional_list::<Pod>().iter().filter(|pod| pod.spec.proxy().is_some());
    let meshed: BTreeSet<&str> = proxied_pods.map(|pod| pod.metadata.namespace.as_str()).collect();
    let timeouts = timeouts(ctx);
    let mut findings = Vec::new();
    for service in services?.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let mut missing = Vec::new();
        for port in service.spec.tcp_ports() {
            let behind = mesh.behind(ctx, service, port);
            let Some(sign) = sign(ctx, service, port, &behind) else { continue };
            // Default ports that a list leaves out belong to `opaque-defaults-lost`.
            let default = &ctx.knowledge.protocols().default_opaque;
            let told = !behind.is_empty() && behind.iter().all(|(_, pod, number)| mesh.is_told(pod, *number));
            // Without an address, only the pods' settings apply.
            let detected = match *service.spec.cluster_ip {
                Some(_) => mesh.treats(service, port) == Treated::Detected,
                None => behind.iter().any(|(_, pod, number)| {
                    pod.spec.proxy().is_some() && !opaque::of_pod(pod).as_ref().unwrap_or(&mesh.default).marks(*number)
                }),
            };
            if detected && !told && !default.contains(&port.port) {
                missing.push((port, sign));
            }
        }
        // The callers are unknown. If no pod of the namespace is meshed, most likely no client uses a
        // proxy.
        let near = meshed.contains(service.metadata.namespace.as_str());
        if !missing.is_empty() {
            findings.push(finding(ctx, service, &missing, (near, &timeouts), &mesh.default));
        }
    }
    if !findings.is_empty() {
        // A Server may set the protocol of the port.
        ctx.or_note(defined::<Server>(ctx));
    }
    Ok(findings.into())
}

/// Connections to an address for which a client's proxy waited in vain for the client to send.
pub(super) struct Timeout<'a> {
    pub(super) client: &'a Pod,
    pub(super) to: SocketAddr,
    pub(super) evidence: Evidence,
    /// Whether its lines have timestamps.
    is_dated: bool,
}

/// Those that the logs of proxies report repeatedly.
pub(super) fn timeouts<'a>(ctx: &Context<'a>) -> Vec<Timeout<'a>> {
    let row = ctx.knowledge.mesh_logs().get("detection-timed-out");
    let (Some(row), Ok(clients)) = (row, meshed(ctx)) else { return Vec::new() };
    let logs = ctx.log_hints();
    let mut found = Vec::new();
    for pod in clients {
        let Some(log) = log_of(logs, pod, PROXY_CONTAINER) else { continue };
        let lines = failed_connections(ctx, log, pod, row);
        let is_dated = lines.iter().all(|one| one.is_dated);
        for (to, lines) in repeated(lines, "proxy{addr=", row.times) {
            found.extend(lines.first().map(|line| {
                let evidence = quoted(pod, &lines, line);
                Timeout { client: pod, to, evidence, is_dated }
            }));
        }
    }
    found
}

/// Whether a port shows signs of a protocol whose server sends first.
pub(super) fn is_server_first(ctx: &Context<'_>, service: &Service, port: &ServicePort, behind: &[Behind<'_>]) -> bool {
    sign(ctx, service, port, behind).is_some_and(|sign| sign.protocol.first == First::Server)
}

/// Finds evidence that a port carries a protocol that detection delays.
fn sign<'a>(ctx: &Context<'a>, service: &Service, port: &ServicePort, behind: &[Behind<'_>]) -> Option<Sign<'a>> {
    let protocols = &ctx.knowledge.protocols().protocols;
    let object = service.metadata.described("Service");
    let said = |path: &str, said: &str| Evidence::field(&object, format!("spec.ports[{}].{path}", port.port), said);
    for (path, text) in [("appProtocol", &port.app_protocol), ("name", &port.name)] {
        if let Some(protocol) = protocols.iter().find(|known| known.is_named(text)) {
            return Some(Sign { protocol, evidence: said(path, text), weak: false });
        }
    }
    let protocol = protocols.iter().find(|known| {
        known.ports.contains(&port.port) || behind.iter().any(|(_, _, number)| known.ports.contains(number))
    })?;
    // A name of another protocol outweighs the number.
    let http = ["http", "grpc", "web", "metrics", "tls", "https"]
        .iter()
        .any(|word| port.name.starts_with(word) || port.app_protocol.to_ascii_lowercase().contains(word));
    if http {
        return None;
    }
    for (_, pod, _) in behind {
        let mut containers = pod.spec.containers.iter();
        if let Some(container) = containers.find(|container| protocol.is_image(&container.image)) {
            let path = format!("spec.containers[{}].image", container.name);
            return Some(Sign {
                protocol,
                evidence: Evidence::field(pod.described(), path, &container.image),
                weak: false,
            });
        }
    }
    let evidence = match protocol.ports.contains(&port.port) {
        true => said("port", &port.port.to_string()),
        false => {
            let number = behind.iter().map(|(_, _, number)| number).find(|number| protocol.ports.contains(number));
            said("targetPort", &number?.to_string())
        }
    };
    // The number alone is not enough if the client may send first.
    (protocol.first == First::Server).then_some(Sign { protocol, evidence, weak: true })
}

fn finding(
    ctx: &Context<'_>,
    service: &Service,
    missing: &[(&ServicePort, Sign<'_>)],
    (near, timeouts): (bool, &[Timeout<'_>]),
    default: &opaque::Opaque,
) -> Finding {
    let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
    let is_meant = |to: &SocketAddr| {
        let mut ports = missing.iter().filter(|(_, sign)| sign.protocol.first == First::Server);
        service.spec.has_address(to.ip()) && ports.any(|(port, _)| port.port == to.port())
    };
    let observed: Vec<&Timeout<'_>> = timeouts.iter().filter(|one| is_meant(&one.to)).take(QUOTED).collect();
    let sure = missing.iter().any(|(_, sign)| sign.protocol.first == First::Server && !sign.weak);
    let titles: BTreeSet<&str> = missing.iter().map(|(_, sign)| sign.protocol.title.as_str()).collect();
    let titles = titles.into_iter().collect::<Vec<_>>().join(", ");
    let message = match sure {
        true => format!(
            "a port of the Service carries {titles}, in which the server sends first, and is not opaque. \
             Connections of meshed clients wait ten seconds, or hang"
        ),
        false => format!(
            "a port of the Service looks like {titles} and is not opaque. If the server sends first, \
             connections of meshed clients wait ten seconds"
        ),
    };
    let ports: BTreeSet<u16> = missing.iter().map(|(port, _)| port.port).collect();
    let listed = service.metadata.annotation(ANNOTATION).unwrap_or("not set, and not opaque by default");
    let finding = ctx
        .finding(Subject::object(Kind::Service, namespace, name), message)
        .evidences(observed.iter().map(|one| one.evidence.clone()))
        .evidences(missing.iter().map(|(_, sign)| sign.evidence.clone()))
        .evidence(Evidence::field(
            format!("Service {namespace}/{name}"),
            format!("metadata.annotations[{ANNOTATION}]"),
            listed,
        ));
    let severity = if sure && near { Severity::Warning } else { Severity::Info };
    let finding = finding.observed_if(observed.iter().any(|one| one.is_dated));
    finding.severity(severity).remedy(remedy(service, default, &ports))
}

/// Writes the Service's list with these ports. It replaces the mesh's list, so it must also contain the
/// ports of that list.
pub(super) fn remedy(service: &Service, default: &opaque::Opaque, ports: &BTreeSet<u16>) -> Remedy {
    let before = opaque::in_force(service, default);
    let list = before.with(ports);
    let object = Annotated::service(service);
    let change = (ANNOTATION, Some(list.as_str()));
    let act = "Mark the port as opaque, together with all other opaque ports (the list replaces the default list),";
    let remedy = rewrite::own(Remedy::new(), Act::Put(act), &object, &[change]);
    let remedy = rewrite::of_list(remedy, &object, change, &before.list());
    remedy.step(
        crate::finding::StepKind::Note,
        "If the pods behind the Service have a proxy, set the same annotation in their pod templates. Pods \
         read it when they start",
    )
}
