//! `protocol-not-detected`: proxies wait for the client to send, on a port whose protocol nothing names.

use std::collections::BTreeSet;

use super::exposed::{Mesh, Treated};
use super::opaque_port_missing::{QUOTED, Timeout, is_server_first, remedy, timeouts};
use crate::checks::policy::defined;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Finding, Severity, Subject};
use crate::item::Kind;
use crate::objects::{Pod, Server, Service, ServicePort};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    ctx.logs()?;
    ctx.partial_list::<Pod>()?;
    let services = ctx.partial_list::<Service>()?;
    let mesh = Mesh::from_context(ctx)?;
    let timeouts = timeouts(ctx);
    if timeouts.is_empty() {
        return Ok(Verdict::fine());
    }
    let mut findings = Vec::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        for port in service.spec.tcp_ports() {
            let of_port = timeouts
                .iter()
                .filter(|(to, ..)| service.spec.has_address(to.ip()) && to.port() == port.port);
            let observed: Vec<&Timeout> = of_port.take(QUOTED).collect();
            let is_other = || is_server_first(ctx, service, port, &mesh.behind(ctx, service, port));
            if !observed.is_empty() && mesh.treats(service, port) == Treated::Detected && !is_other() {
                findings.push(finding(ctx, (service, port), &observed, &mesh));
            }
        }
    }
    if !findings.is_empty() {
        // A Server may set the protocol of the port.
        ctx.or_note(defined::<Server>(ctx));
    }
    Ok(findings.into())
}

fn finding(
    ctx: &Context<'_>,
    (service, port): (&Service, &ServicePort),
    observed: &[&Timeout],
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
        .evidences(observed.iter().map(|(_, evidence, _)| evidence.clone()))
        .remedy(remedy(service, &mesh.default, &BTreeSet::from([port.port])));
    // A client of HTTP may open connections that it does not need yet.
    let finding = if is_http(port) { finding.severity(Severity::Info) } else { finding };
    finding.likely()
}

/// Whether the port is declared as HTTP.
fn is_http(port: &ServicePort) -> bool {
    let words = [port.name.to_ascii_lowercase(), port.app_protocol.to_ascii_lowercase()];
    words.iter().any(|word| ["http", "grpc", "web"].iter().any(|http| word.contains(http)))
}
