//! `opaque-port-speaks-http`: an opaque port carries HTTP, according to its name or attached routes.

use super::exposed::{Because, Mesh, Treated};
use super::opaque::{self, ANNOTATION};
use crate::checks::policy::{defined, removal};
use crate::checks::port_list;
use crate::checks::prelude::*;
use crate::finding::ListChange;
use crate::objects::{GRPCRoute, HTTPRoute, LinkerdHTTPRoute, ParentRef, Route, ServicePort};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>();
    let mesh = Mesh::from_context(ctx)?;
    let routes: Vec<(&str, &Route)> = [
        ("HTTPRoute", ctx.or_note(defined::<HTTPRoute>(ctx)).unwrap_or_default()),
        ("HTTPRoute", ctx.or_note(defined::<LinkerdHTTPRoute>(ctx)).unwrap_or_default()),
        ("GRPCRoute", ctx.or_note(defined::<GRPCRoute>(ctx)).unwrap_or_default()),
    ]
    .into_iter()
    .flat_map(|(kind, routes)| routes.iter().map(move |route| (kind, route)))
    .collect();
    let mut findings = Vec::new();
    for service in services?.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        if service.spec.cluster_ip.is_none() {
            continue;
        }
        for port in service.spec.tcp_ports() {
            let Treated::Opaque(because) = mesh.treats(service, port) else { continue };
            let attached: Vec<&(&str, &Route)> =
                routes.iter().filter(|(_, route)| is_attached(route, service, port)).collect();
            if attached.is_empty() && !speaks_http(port) {
                continue;
            }
            findings.push(finding(ctx, &mesh, (service, port), because, &attached));
        }
    }
    Ok(findings.into())
}

/// The opaque ports of a mesh, for checks of other categories.
pub(in crate::checks) struct OpaquePorts<'a>(Mesh<'a>);

impl<'a> OpaquePorts<'a> {
    /// Reads the mesh's settings from the cluster.
    pub(in crate::checks) fn from_context(ctx: &Context<'a>) -> Result<OpaquePorts<'a>, Unjudged> {
        Mesh::from_context(ctx).map(OpaquePorts)
    }

    /// Why clients' proxies treat a port as opaque, and the steps that end it; `None` if they do not.
    pub(in crate::checks) fn cause(
        &self,
        ctx: &Context<'_>,
        service: &Service,
        port: &ServicePort,
    ) -> Option<(Evidence, Remedy)> {
        match self.0.treats(service, port) {
            Treated::Opaque(because) => Some(cause(ctx, &self.0, (service, port), because)),
            Treated::Detected | Treated::Http => None,
        }
    }
}

/// Whether the port's name or appProtocol indicates HTTP that a proxy can read. TLS is excluded.
fn speaks_http(port: &ServicePort) -> bool {
    let is = |text: &str| {
        let text = text.to_ascii_lowercase();
        let word = text.rsplit('/').next().unwrap_or_default().split(['-', '_']).next().unwrap_or_default().to_owned();
        matches!(word.as_str(), "http" | "http1" | "http2" | "h2c" | "grpc" | "ws")
    };
    is(&port.name) || is(&port.app_protocol)
}

fn is_attached(route: &Route, service: &Service, port: &ServicePort) -> bool {
    route.spec.parent_refs.iter().any(|parent| {
        is_of_service(route, parent, service) && parent.port.is_none_or(|number| number == i64::from(port.port))
    })
}

/// Whether a reference of a route names a Service.
pub(super) fn is_of_service(route: &Route, parent: &ParentRef, service: &Service) -> bool {
    // The core group is the empty string, or `core` in older routes.
    (parent.is_a("", "Service") || parent.is_a("core", "Service"))
        && parent.name == service.metadata.name
        && parent.namespace.as_deref().unwrap_or(&route.metadata.namespace) == service.metadata.namespace
}

/// Whether an appProtocol names HTTP/2 or gRPC.
fn is_http2(port: &ServicePort) -> bool {
    let said = port.app_protocol.to_ascii_lowercase();
    matches!(said.rsplit('/').next().unwrap_or_default(), "grpc" | "http2" | "h2" | "h2c")
}

fn finding(
    ctx: &Context<'_>,
    mesh: &Mesh<'_>,
    (service, port): (&Service, &ServicePort),
    because: Because,
    attached: &[&(&str, &Route)],
) -> Finding {
    let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
    let object = format!("Service {namespace}/{name}");
    let number = port.port;
    let message = match attached.is_empty() {
        false => format!(
            "routes are attached to port {number}, which is opaque. Proxies forward its bytes unchanged, so \
             the routes have no effect"
        ),
        true => format!(
            "port {number} is declared as HTTP and is opaque. Proxies forward its bytes unchanged, without HTTP \
             metrics, routes, retries or balancing by request"
        ),
    };
    let (why, remedy) = cause(ctx, mesh, (service, port), because);
    let finding = ctx
        .finding(Subject::object(Kind::Service, namespace, name), message)
        .parameter(number.to_string())
        .evidence(why)
        .evidence(Evidence::field(
            &object,
            format!("spec.ports[{number}].name"),
            if port.name.is_empty() { "not set" } else { &port.name },
        ))
        .evidences(attached.iter().take(3).map(|(kind, route)| {
            Evidence::field(
                format!("{kind} {}/{}", route.metadata.namespace, route.metadata.name),
                "spec.parentRefs[].name",
                name,
            )
        }))
        .remedy(remedy);
    // All requests of a connection stay at one of several pods.
    let is_unbalanced = because == Because::AppProtocol && is_http2(port) && mesh.selects_several(service);
    match attached.is_empty() {
        false => finding,
        true if is_unbalanced => finding.likely(),
        // A name shows an intention, not the protocol in use.
        true => finding.severity(Severity::Info).likely(),
    }
}

/// Why a port is opaque, and the steps that end it.
fn cause(
    ctx: &Context<'_>,
    mesh: &Mesh<'_>,
    (service, port): (&Service, &ServicePort),
    because: Because,
) -> (Evidence, Remedy) {
    let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
    let object = format!("Service {namespace}/{name}");
    let home = &ctx.namespaces().control_plane;
    let number = port.port;
    match because {
        Because::List => {
            let list = service.metadata.annotation(ANNOTATION).unwrap_or_default();
            let left = port_list::without(list, number);
            (
                Evidence::field(&object, format!("metadata.annotations[{ANNOTATION}]"), list),
                Remedy::new()
                    .run(
                        StepKind::Annotation,
                        format!(
                            "If port {number} carries HTTP, remove it from the list, here and in the pod \
                         templates behind the Service. Without a list, the default list applies"
                        ),
                        kubectl()
                            .namespace(namespace)
                            .words("annotate --overwrite service")
                            .operand(name)
                            .operand(operand(left.as_deref())),
                    )
                    .list(ListChange::new(object, ANNOTATION, list, left.as_deref())),
            )
        }
        Because::Default => (
            Evidence::field(
                format!("ConfigMap {home}/linkerd-config"),
                "data.values: proxy.opaquePorts",
                &mesh.default_text,
            ),
            Remedy::new()
                .run(
                    StepKind::Annotation,
                    format!(
                        "If port {number} carries HTTP, give the Service and the pod templates behind it a list \
                     without the port"
                    ),
                    kubectl()
                        .namespace(namespace)
                        .words("annotate --overwrite service")
                        .operand(name)
                        .operand(operand(Some(&others(mesh, service, number)))),
                )
                .list(ListChange::new(
                    object,
                    ANNOTATION,
                    &opaque::in_force(service, &mesh.default).list(),
                    Some(&others(mesh, service, number)),
                )),
        ),
        Because::AppProtocol => by_app_protocol(service, port),
    }
}

/// The field that makes a port opaque, and the step that removes it.
fn by_app_protocol(service: &Service, port: &ServicePort) -> (Evidence, Remedy) {
    let (namespace, name) = service.metadata.key();
    let at = service.spec.ports.iter().position(|known| std::ptr::eq(known, port)).unwrap_or_default();
    let patch = serde_json::json!([removal(format!("/spec/ports/{at}/appProtocol"))]);
    let field = format!("spec.ports[{}].appProtocol", port.port);
    let call = kubectl().namespace(namespace).words("patch service").operand(name);
    let remedy = Remedy::new()
        .command("Remove appProtocol, so that proxies detect HTTP", call.words("--type=json -p").arg(patch.to_string()))
        .note(
            "Or set it to http (HTTP/1) or kubernetes.io/h2c (HTTP/2 and gRPC): any other value makes the port opaque",
        );
    (Evidence::field(format!("Service {namespace}/{name}"), field, &port.app_protocol), remedy)
}

/// The change of a Service's list; `None` removes it.
fn operand(list: Option<&str>) -> String {
    match list {
        Some(list) => format!("{ANNOTATION}={list}"),
        None => format!("{ANNOTATION}-"),
    }
}

/// The default opaque ports of a Service except one.
fn others(mesh: &Mesh<'_>, service: &Service, number: u16) -> String {
    let marked =
        service.spec.tcp_ports().map(|port| port.port).filter(|port| *port != number && mesh.default.marks(*port));
    opaque::Opaque::default().with(&marked.collect())
}
