//! `protocol-not-detected`: proxies wait for the client to send, on a port whose protocol nothing names.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::connect_failures::{failed_connections, quoted, repeated};
use super::exposed::{Mesh, Treated};
use super::opaque::{ANNOTATION, in_force_for};
use super::opaque_port_missing::{QUOTED, Timeout, is_server_first, remedy, timeouts};
use crate::checks::control_plane::installation::values;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, meshed};
use crate::checks::rewrite;
use crate::model::endpoints::selects;
use crate::model::injection::LISTENERS;
use crate::model::networks::Network;
use crate::model::skipped::OUT;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{EndpointSlice, Server, ServicePort};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    ctx.logs()?;
    ctx.partial_list::<Pod>()?;
    let services = ctx.partial_list::<Service>()?;
    let mesh = Mesh::from_context(ctx)?;
    let timeouts = timeouts(ctx);
    let mut findings = Vec::new();
    // The ports of pods whose findings are about a Service, or belong to `opaque-port-missing`.
    let mut covered: BTreeSet<(Owner, u16)> = BTreeSet::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        for port in service.spec.tcp_ports() {
            let behind = mesh.behind(ctx, service, port);
            let is_detected = mesh.treats(service, port) == Treated::Detected;
            let is_other = is_detected && is_server_first(ctx, service, port, &behind);
            let of_port =
                timeouts.iter().filter(|one| service.spec.has_address(one.to.ip()) && one.to.port() == port.port);
            let observed: Vec<&Timeout<'_>> = of_port.take(QUOTED).collect();
            let is_reported = !observed.is_empty() && is_detected && !is_other;
            if is_reported {
                findings.push(finding(ctx, (service, port), &observed, &mesh));
            }
            if is_reported || is_other {
                covered.extend(behind.into_iter().map(|(owner, _, number)| (owner, number)));
            }
        }
    }
    let waiting = servers(ctx, &mesh);
    let waiting = waiting.into_iter().filter(|(of, _)| ctx.judges(&of.0.namespace) && !covered.contains(of));
    findings.extend(waiting.map(|((owner, port), seen)| of_server(ctx, (&owner, port), &seen, &mesh)));
    findings.extend(elsewhere(ctx, services, &timeouts));
    if !findings.is_empty() {
        // A Server may set the protocol of the port.
        ctx.or_note(defined::<Server>(ctx));
    }
    Ok(findings.into())
}

fn finding(
    ctx: &Context<'_>,
    (service, port): (&Service, &ServicePort),
    observed: &[&Timeout<'_>],
    mesh: &Mesh<'_>,
) -> Finding {
    let meta = &service.metadata;
    let message = format!(
        "Clients connect to port {} and send nothing for ten seconds, in which their proxies wait to detect the \
         protocol. Most likely the server sends first, so each connection is delayed",
        port.port
    );
    let finding = ctx
        .finding(Subject::object(Kind::Service, &meta.namespace, &meta.name), message)
        .parameter(port.port.to_string())
        .evidences(observed.iter().map(|one| one.evidence.clone()))
        .remedy(remedy(service, &mesh.default, &BTreeSet::from([port.port])));
    // A client of HTTP may open connections that it does not need yet.
    let finding = if is_http(port) { finding.severity(Severity::Info) } else { finding };
    finding.likely()
}

/// Whether the port is declared as HTTP.
fn is_http(port: &ServicePort) -> bool {
    speaks_http(&port.name) || speaks_http(&port.app_protocol)
}

/// Whether the name of a port or protocol is one of HTTP.
fn speaks_http(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["http", "grpc", "web", "/ws"].iter().any(|http| word.contains(http))
}

/// The proxies of servers that waited in vain for clients to send, by workload and port.
fn servers<'a>(ctx: &Context<'a>, mesh: &Mesh<'_>) -> BTreeMap<(Owner, u16), Vec<(&'a Pod, Evidence)>> {
    let mut found: BTreeMap<(Owner, u16), Vec<(&Pod, Evidence)>> = BTreeMap::new();
    let row = ctx.knowledge.mesh_logs().get("inbound-detection-timed-out");
    let (Some(row), Ok(pods)) = (row, meshed(ctx)) else { return found };
    let logs = ctx.log_hints();
    for pod in pods {
        let Some(log) = log_of(logs, pod, PROXY_CONTAINER) else { continue };
        let lines = failed_connections(ctx, log, pod, row);
        let repeated = repeated::<u16>(lines, "server{port=", row.times);
        // A Server may be newer than the lines.
        let is_marked = |port: u16| in_force_for(pod, &mesh.default, &BTreeSet::from([port])).marks(port);
        let is_own = |port: u16| LISTENERS.iter().any(|(.., own)| *own == port);
        let open = |port: u16| !is_own(port) && !is_marked(port) && !mesh.is_told(pod, port);
        for (port, lines) in repeated.filter(|(port, _)| open(*port)) {
            let evidence = lines.first().map(|line| (pod, quoted(pod, &lines, line)));
            found.entry((ctx.owners().owner(pod), port)).or_default().extend(evidence);
        }
    }
    found
}

/// A port of a workload whose own proxies wait, most often because only the Service marks the port.
fn of_server(ctx: &Context<'_>, (owner, port): (&Owner, u16), seen: &[(&Pod, Evidence)], mesh: &Mesh<'_>) -> Finding {
    let names = seen.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let message = format!(
        "Clients connect to port {port} and send nothing for ten seconds, in which the proxies of the server wait \
         to detect the protocol. Most likely the server sends first, so each connection is delayed"
    );
    let ports = BTreeSet::from([port]);
    let list = seen.first().map(|(pod, _)| in_force_for(pod, &mesh.default, &ports));
    let (before, list) = list.map_or_else(Default::default, |list| (list.list(), list.with(&ports)));
    let act = "Mark the port as opaque, together with all other opaque ports (the list replaces the default list),";
    let change = (ANNOTATION, Some(list.as_str()));
    let remedy = rewrite::of_owner(ctx, Remedy::new(), act, owner, &[change]);
    let remedy = rewrite::of_owners_list(remedy, owner, change, &before);
    let remedy = remedy.note("Set the same annotation on the Services of these pods");
    let finding = ctx
        .finding(owner.subject(names), message)
        .parameter(port.to_string())
        .evidences(seen.iter().take(QUOTED).map(|(_, evidence)| evidence.clone()))
        .remedy(remedy)
        .likely();
    let declared = seen.iter().flat_map(|(pod, _)| pod.spec.all_containers()).flat_map(|one| &one.ports);
    let mut declared = declared.filter(|one| one.container_port == port).map(|one| one.name.as_str());
    let is_http = declared.any(speaks_http) || http_behind(ctx, seen, port);
    // A client of HTTP may open connections that it does not need yet.
    if is_http { finding.severity(Severity::Info) } else { finding }
}

/// Whether a Service declares the port of these pods as HTTP.
fn http_behind(ctx: &Context<'_>, seen: &[(&Pod, Evidence)], port: u16) -> bool {
    let services = ctx.partial_list::<Service>().unwrap_or_default();
    services.iter().any(|service| {
        let leads = |one: &ServicePort, pod: &Pod| is_http(one) && one.leads_to(pod) == Some(port);
        seen.iter()
            .any(|(pod, _)| selects(service, &pod.metadata) && service.spec.tcp_ports().any(|one| leads(one, pod)))
    })
}

/// Ports of HTTP, whose clients may open connections that they do not need yet.
const HTTP: [u16; 4] = [80, 443, 8080, 8443];

/// Whether an address is that of a node, or of a pod network: pods may have ended since.
fn is_of_nodes(ctx: &Context<'_>, address: IpAddr) -> bool {
    let nodes = ctx.optional_list::<Node>();
    let private = match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    };
    // Without the nodes, a private address may be in a pod network.
    nodes.is_empty() && private
        || nodes.iter().any(|node| {
            let networks = node.spec.pod_cidrs.iter().chain([&node.spec.pod_cidr]);
            let mut networks = networks.filter_map(|text| text.parse::<Network>().ok());
            networks.any(|network| network.contains(address))
                || node.status.addresses.iter().any(|one| one.address.parse() == Ok(address))
        })
}

/// Clients of addresses that belong to no Service and no pod, by workload and port.
fn elsewhere(ctx: &Context<'_>, services: &[Service], timeouts: &[Timeout<'_>]) -> Vec<Finding> {
    let pods = ctx.optional_list::<Pod>();
    let is_known = |to: &SocketAddr| {
        services.iter().any(|service| service.spec.has_address(to.ip()))
            || pods.iter().any(|pod| pod.has_address(to.ip()))
            || HTTP.contains(&to.port())
            || is_of_nodes(ctx, to.ip())
            || ctx
                .optional_list::<EndpointSlice>()
                .iter()
                .flat_map(|slice| &slice.endpoints)
                .any(|endpoint| endpoint.addresses.iter().any(|address| address.parse() == Ok(to.ip())))
    };
    // An annotation replaces the list of the chart.
    let chart = values(ctx).ok();
    let chart = chart.as_ref().and_then(|values| values.text("proxyInit.ignoreOutboundPorts"));
    let mut by_port: BTreeMap<(Owner, u16), Vec<&Timeout<'_>>> = BTreeMap::new();
    // Without all Services, an address may be that of one that is not listed.
    let is_complete = ctx.complete_list::<Service>().is_ok();
    for one in timeouts.iter().filter(|one| is_complete && !is_known(&one.to)) {
        if ctx.judges(&one.client.metadata.namespace) {
            by_port.entry((ctx.owners().owner(one.client), one.to.port())).or_default().push(one);
        }
    }
    let findings = by_port.into_iter().map(|((owner, port), seen)| {
        let names = seen.iter().map(|one| one.client.metadata.name.clone()).collect::<BTreeSet<_>>();
        let message = format!(
            "The application connects to port {port} outside of the cluster's Services and sends nothing for ten \
             seconds, in which its proxy waits. Most likely the server sends first"
        );
        let annotation = OUT.annotation();
        let own = seen.first().and_then(|one| one.client.metadata.annotation(annotation));
        let own = own.or(chart).filter(|list| !list.is_empty());
        let skipped = own.map_or_else(|| port.to_string(), |own| format!("{own},{port}"));
        let act = format!("Skip outbound port {port}");
        let change = (annotation, Some(skipped.as_str()));
        let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, &owner, &[change]);
        let remedy = rewrite::of_owners_list(remedy, &owner, change, own.unwrap_or_default());
        let or = "Or add the port to the chart value proxy.opaquePorts, so that it is opaque for all workloads";
        ctx.finding(owner.subject(names.into_iter().collect()), message)
            .parameter(port.to_string())
            .evidences(seen.iter().take(QUOTED).map(|one| one.evidence.clone()))
            .remedy(remedy.note(or))
            .likely()
    });
    findings.collect()
}
