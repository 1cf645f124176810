//! `server-http-on-tls-port`: a Server declares HTTP for a port on which the application serves TLS.

use std::collections::{BTreeMap, BTreeSet};

use super::backend_policy::behind;
use super::survey::{Survey, about, field, on, survey};
use crate::checks::prelude::*;
use crate::checks::words::{and_more, workload_of};
use crate::model::policy::{Client, Entry, Inbound, Protocol, TakenBy, Workload, probe_port};
use crate::model::refusal::LINKERDS;
use crate::model::skipped::{IN, skipped};
use crate::objects::{Server, ServicePort};

/// A port of a Server on which the application serves TLS.
struct Port<'a> {
    server: &'a Server,
    /// Whether a probe shows it; else only the name of a Service port does.
    is_probed: bool,
    /// Whether clients without an identity are authorized, such as the kubelet.
    admits_nodes: bool,
    workloads: BTreeSet<String>,
    seen: Vec<Evidence>,
}

/// The ports, by the key of their Server and their number.
type PortsByServer<'a> = BTreeMap<(&'a str, &'a str, u16), Port<'a>>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.partial_list::<Service>()?;
    let mut ports = PortsByServer::new();
    // Ports of workloads with an unencrypted probe, whatever their names.
    let owners = ctx.owners();
    let mut plain: BTreeSet<(Owner, u16)> = BTreeSet::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        for (port, is_https) in probed(pod) {
            if is_https {
                let seen = Evidence::field(
                    pod.described(),
                    "spec.containers[].probes",
                    format!("httpGet over HTTPS, port {port}"),
                );
                add(ctx, &mut ports, survey, (pod, workload, port), true, seen);
            } else {
                plain.insert((owners.owner(pod), port));
            }
        }
    }
    for (service, port) in services.iter().flat_map(|service| of_https(service).map(move |port| (service, port))) {
        for (pod, workload, number) in behind(survey, service, port) {
            if ctx.judges(&pod.metadata.namespace) && !plain.contains(&(owners.owner(pod), number)) {
                let seen = Evidence::field(service.metadata.described("Service"), "spec.ports", describe(port));
                add(ctx, &mut ports, survey, (pod, workload, number), false, seen);
            }
        }
    }
    Ok(ports.iter().map(|((_, _, number), port)| finding(ctx, *number, port)).collect())
}

/// The ports of a pod's HTTP probes, and whether they are sent over TLS.
pub(super) fn probed(pod: &Pod) -> impl Iterator<Item = (u16, bool)> {
    let own = pod.spec.all_containers().filter(|container| !LINKERDS.contains(&container.name.as_str()));
    own.flat_map(|container| {
        let probes = container.http_probes();
        probes.filter_map(|probe| Some((probe_port(container, probe)?, probe.is_https())))
    })
}

/// The ports of a Service that are declared as HTTPS.
fn of_https(service: &Service) -> impl Iterator<Item = &ServicePort> {
    service.spec.tcp_ports().filter(|port| is_https(port))
}

/// Whether a Service port is declared as HTTPS.
pub(super) fn is_https(port: &ServicePort) -> bool {
    match port.app_protocol.as_str() {
        "" => port.name == "https" || port.name.starts_with("https-"),
        protocol => protocol.eq_ignore_ascii_case("https"),
    }
}

/// The name or protocol by which a port is declared as HTTPS.
pub(super) fn describe(port: &ServicePort) -> String {
    match port.app_protocol.as_str() {
        "" => format!("name {}, port {}", port.name, port.port),
        protocol => format!("appProtocol {protocol}, port {}", port.port),
    }
}

/// Adds a port, if a Server declares HTTP for it.
fn add<'a>(
    ctx: &Context<'a>,
    ports: &mut PortsByServer<'a>,
    survey: &Survey<'a>,
    (pod, workload, number): (&'a Pod, &Workload<'a>, u16),
    is_probed: bool,
    seen: Evidence,
) {
    let inbound: Inbound<'a> = survey.index.inbound(workload, number);
    let TakenBy::Server(server) = inbound.taken_by else { return };
    let is_http = matches!(inbound.protocol, Protocol::Http1 | Protocol::Http2 | Protocol::Grpc);
    if !is_http || skipped(pod, IN, ctx.cni_skips()).is_some_and(|ports| ports.holds(number)) {
        return;
    }
    let (namespace, name) = server.metadata.key();
    let port = ports.entry((namespace, name, number)).or_insert_with(|| Port {
        server,
        is_probed,
        admits_nodes: inbound.connect(Client::default()) == Entry::Admitted,
        workloads: BTreeSet::new(),
        seen: Vec::new(),
    });
    // A probe proves more than a name.
    if port.is_probed == is_probed {
        port.workloads.insert(workload_of(&pod.metadata));
        if port.seen.is_empty() {
            port.seen.push(seen);
        }
    }
}

fn finding(ctx: &Context<'_>, number: u16, port: &Port<'_>) -> Finding {
    let meta = &port.server.metadata;
    let protocol = port.server.spec.proxy_protocol.clone().unwrap_or_default();
    let first = port.workloads.first().cloned().unwrap_or_default();
    let more = and_more(port.workloads.len().saturating_sub(1));
    let message = match port.is_probed {
        true => format!(
            "The Server declares {protocol} for port {number} of {first}{more}, which serves TLS: the proxy cannot \
             parse the application's TLS and closes these connections, probes of the kubelet among them"
        ),
        false => format!(
            "The Server declares {protocol} for port {number} of {first}{more}, which a Service calls HTTPS: if \
             clients use TLS of their own, the proxy cannot parse it and closes these connections"
        ),
    };
    let declare = on("patch", Kind::Server, meta).words("--type=merge -p").arg(r#"{"spec":{"proxyProtocol":"TLS"}}"#);
    let text = match port.is_probed {
        true => "Declare TLS in the Server",
        false => "If the application serves TLS on the port, declare it in the Server",
    };
    let remedy = Remedy::new().command(text, declare);
    let remedy = match port.admits_nodes || !port.is_probed {
        true => remedy,
        false => remedy.note(
            "Authorize the nodes' addresses on the port with a NetworkAuthentication: probes of TLS ports are not \
             authorized automatically",
        ),
    };
    let finding = about(ctx, Kind::Server, meta, message)
        .parameter(number.to_string())
        .evidence(field(Kind::Server, meta, "spec.proxyProtocol", protocol))
        .evidences(port.seen.iter().cloned())
        .remedy(remedy);
    if port.is_probed { finding } else { finding.severity(Severity::Info).likely() }
}
