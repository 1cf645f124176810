//! `route-ignored-by-protocol`: the appProtocol of a Service port excludes the routes that are attached to it, or says
//! HTTP/1 for gRPC.

use std::collections::BTreeMap;

use super::exposed::Mesh;
use super::opaque_port_speaks_http::is_of_service;
use crate::checks::policy::{defined, put, removal, set};
use crate::checks::prelude::*;
use crate::objects::{GRPCRoute, Route, ServicePort, TCPRoute, TLSRoute};

/// The values for HTTP/1 and HTTP/2.
const HTTP1: &str = "http";
const HTTP2: &str = "kubernetes.io/h2c";
/// The field of a port.
const FIELD: &str = "appProtocol";

/// The harm that an appProtocol does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    /// Clients' proxies speak HTTP/1, so gRPC calls fail.
    FailsGrpc,
    /// The routes have no effect.
    Ignored,
}

/// Routes of a kind.
type Routes<'a> = (Kind, &'a [Route]);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>();
    let mesh = Mesh::from_context(ctx)?;
    let services = services?;
    if !mesh.reads_app_protocol() {
        return Err(Unjudged::not_applicable("the installed release does not read appProtocol"));
    }
    let set = |service: &&Service| service.spec.tcp_ports().any(|port| !port.app_protocol.is_empty());
    let set: Vec<&Service> = services
        .iter()
        .filter(|service| ctx.judges(&service.metadata.namespace) && service.spec.cluster_ip.is_some())
        .filter(set)
        .collect();
    if set.is_empty() {
        return Ok(Verdict::fine());
    }
    let routes: [Routes<'_>; 3] = [
        (Kind::GRPCRoute, ctx.or_note(defined::<GRPCRoute>(ctx)).unwrap_or_default()),
        (Kind::TLSRoute, ctx.or_note(defined::<TLSRoute>(ctx)).unwrap_or_default()),
        (Kind::TCPRoute, ctx.or_note(defined::<TCPRoute>(ctx)).unwrap_or_default()),
    ];
    let mut findings = Vec::new();
    for service in set {
        for (at, port) in service.spec.ports.iter().enumerate().filter(|(_, port)| port.is_tcp()) {
            let dropped = dropped(service, port, &routes);
            let fails_grpc = dropped.contains_key(&Kind::GRPCRoute);
            let fails_grpc = fails_grpc || speaks_grpc(ctx, &mesh, service, port);
            let harm = match (fails_grpc, dropped.is_empty()) {
                (true, _) => Harm::FailsGrpc,
                (false, false) => Harm::Ignored,
                (false, true) => continue,
            };
            findings.push(finding(ctx, service, (at, port), harm, &dropped));
        }
    }
    Ok(findings.into())
}

/// The routes attached to a port that its appProtocol excludes, by kind. With HTTP/2, HTTPRoutes and GRPCRoutes apply;
/// with HTTP/1, HTTPRoutes; with any other value, TCPRoutes (`policy-controller/grpc/src/outbound.rs`). HTTPRoutes and
/// GRPCRoutes on an opaque port are left to another check.
fn dropped<'a>(service: &Service, port: &ServicePort, routes: &[Routes<'a>]) -> BTreeMap<Kind, Vec<&'a Route>> {
    let mut dropped: BTreeMap<Kind, Vec<&Route>> = BTreeMap::new();
    for (kind, routes) in routes {
        if !drops(&port.app_protocol, *kind) {
            continue;
        }
        for route in *routes {
            let mut parents = route.spec.parent_refs.iter();
            let is_dropped = parents.any(|parent| {
                is_of_service(route, parent, service)
                    && match parent.port {
                        Some(number) => number == i64::from(port.port),
                        // It may be meant for another port.
                        None => service.spec.tcp_ports().all(|port| drops(&port.app_protocol, *kind)),
                    }
            });
            if is_dropped {
                dropped.entry(*kind).or_default().push(route);
            }
        }
    }
    dropped
}

/// Whether a port with an appProtocol uses no routes of a kind.
fn drops(app_protocol: &str, kind: Kind) -> bool {
    match (app_protocol.to_ascii_lowercase().as_str(), kind) {
        ("", _) => false,
        (HTTP1, _) | (HTTP2, Kind::TLSRoute | Kind::TCPRoute) => true,
        (HTTP2, _) | (_, Kind::TCPRoute | Kind::GRPCRoute) => false,
        (_, _) => true,
    }
}

/// Whether a port with the appProtocol of HTTP/1 carries gRPC, by its name or by the probe of a pod.
fn speaks_grpc<'a>(ctx: &Context<'a>, mesh: &Mesh<'a>, service: &'a Service, port: &ServicePort) -> bool {
    if !port.app_protocol.eq_ignore_ascii_case(HTTP1) {
        return false;
    }
    let name = port.name.to_ascii_lowercase();
    let word = name.split('-').next().unwrap_or_default();
    let probed = || {
        let behind = mesh.behind(ctx, service, port);
        behind.iter().any(|(_, pod, number)| {
            pod.spec.containers.iter().flat_map(|container| container.grpc_probes()).any(|port| port == *number)
        })
    };
    matches!(word, "grpc" | "h2c") || probed()
}

fn finding(
    ctx: &Context<'_>,
    service: &Service,
    (at, port): (usize, &ServicePort),
    harm: Harm,
    dropped: &BTreeMap<Kind, Vec<&Route>>,
) -> Finding {
    let (namespace, name) = service.metadata.key();
    let number = port.port;
    let said = &port.app_protocol;
    let kinds: Vec<String> = dropped.keys().map(|kind| format!("{kind}s")).collect();
    let message = match harm {
        Harm::FailsGrpc if kinds.is_empty() => format!(
            "port {number} carries gRPC, but appProtocol {said} makes clients' proxies speak only HTTP/1: the calls of \
             meshed clients fail"
        ),
        Harm::FailsGrpc => format!(
            "appProtocol {said} of port {number} makes clients' proxies speak only HTTP/1: gRPC calls of meshed \
             clients fail, and its {} are ignored",
            kinds.join(" and ")
        ),
        Harm::Ignored => format!(
            "the {} of port {number} are accepted, but have no effect: with appProtocol {said}, clients' proxies use \
             other routes",
            kinds.join(" and ")
        ),
    };
    let object = format!("Service {namespace}/{name}");
    let pointer = format!("/spec/ports/{at}/{FIELD}");
    let (act, value) = match harm {
        Harm::FailsGrpc => (format!("Set {FIELD} to {HTTP2}. Change the source manifest too"), Some(HTTP2)),
        Harm::Ignored => {
            (format!("Remove {FIELD}, so that proxies detect the protocol. Change the source manifest too"), None)
        }
    };
    let operation = match value {
        Some(value) => put(pointer, value),
        None => removal(pointer),
    };
    let change = set(Kind::Service, &service.metadata, [operation]);
    let listed = dropped.iter().flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)));
    let finding = ctx
        .finding(Subject::object(Kind::Service, namespace, name), message)
        .parameter(number.to_string())
        .evidence(Evidence::field(&object, format!("spec.ports[{number}].{FIELD}"), said.as_str()))
        .evidences(
            (!port.name.is_empty())
                .then(|| Evidence::field(&object, format!("spec.ports[{number}].name"), port.name.as_str())),
        )
        .evidences(listed.take(3).map(|(kind, route)| {
            let (namespace, name) = route.metadata.key();
            let object = format!("{kind} {namespace}/{name}");
            Evidence::field(object, "spec.parentRefs[].name", service.metadata.name.as_str())
        }))
        .remedy(Remedy::new().command(act, change));
    match harm {
        Harm::FailsGrpc if !dropped.is_empty() => finding,
        // A name or a probe shows an intention, not the protocol in use.
        Harm::FailsGrpc => finding.severity(Severity::Warning).likely(),
        Harm::Ignored => finding.severity(Severity::Warning),
    }
}
