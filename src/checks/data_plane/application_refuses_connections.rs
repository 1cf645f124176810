//! `application-refuses-connections`: an application does not listen on a port on which its proxy gets
//! connections.

use std::collections::{BTreeMap, BTreeSet};

use super::connect_failures::{FailedConnection, failed_connections, quoted, repeated};
use crate::checks::prelude::*;
use crate::checks::reported::proxy_logs;
use crate::finding::Moment;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// The lines of one proxy about a port.
type RefusedConnections<'a> = (&'a Pod, Vec<FailedConnection<'a>>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut by_port: BTreeMap<(Owner, u16), Vec<RefusedConnections<'_>>> = BTreeMap::new();
    let logs = proxy_logs(ctx)?;
    let Some(row) = ctx.knowledge.mesh_logs().get("inbound-refused-by-application") else {
        return Ok(Vec::new().into());
    };
    for (pod, log) in logs {
        let lines = failed_connections(ctx, log, pod, row);
        for (port, lines) in repeated(lines, "inbound:server{port=", row.times) {
            by_port.entry((ctx.owners().owner(pod), port)).or_default().push((pod, lines));
        }
    }
    let findings = by_port.iter().map(|((owner, port), refused)| finding(ctx, owner, *port, refused));
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, port: u16, refused: &[RefusedConnections<'_>]) -> Finding {
    let is_v6 = refused.iter().all(|(pod, lines)| {
        let is_dual = pod.status.pod_ip.is_some_and(|address| address.is_ipv4());
        is_dual && lines.iter().all(|failed| failed.line.contains("client.addr=["))
    });
    let message = match is_v6 {
        true => format!(
            "The application refuses IPv6 connections on port {port}, so it listens on IPv4 only. Linkerd prefers \
             IPv6 in dual-stack clusters, and clients get status 502"
        ),
        false => format!(
            "The application refuses connections on port {port}: it does not listen there, or only on localhost. \
             Clients get status 502"
        ),
    };
    let names: BTreeSet<String> = refused.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let names = Vec::from_iter(names);
    let is_declared = refused.iter().any(|(pod, _)| {
        let mut ports = pod.spec.all_containers().flat_map(|container| container.ports.iter());
        ports.any(|declared| declared.container_port == port)
    });
    let said = refused.iter().take(QUOTED).filter_map(|(pod, lines)| Some(quoted(pod, lines, lines.last()?)));
    let moments = refused.iter().take(QUOTED).filter_map(|(pod, lines)| {
        let said = format!("the application refuses a connection on port {port}");
        Moment::new(Some(lines.last()?.at), pod.described(), format!("log of {PROXY_CONTAINER}"), said)
    });
    let log = kubectl().namespace(&owner.namespace).words("logs").operand(&names[0]);
    let log = log.option("-c", PROXY_CONTAINER).words("--timestamps --tail=200");
    let remedy =
        Remedy::new().command(format!("Read the lines with inbound:server{{port={port}}} in the proxy's log"), log);
    let remedy = match is_v6 {
        true => remedy
            .note(format!("Let the application listen on [::]:{port}"))
            .note("Or set ipFamilyPolicy: SingleStack and ipFamilies: [IPv4] on its Services"),
        false => remedy.note(format!(
            "Let the application listen on port {port} of the pod's address (0.0.0.0, or :: with IPv6), or \
                 correct the targetPort of its Services"
        )),
    };
    let is_dated = refused.iter().flat_map(|(_, lines)| lines).any(|failed| failed.is_dated);
    let finding = ctx.finding(owner.subject(names), message);
    let finding = finding.observed_if(is_dated);
    finding
        .severity(if is_declared { Severity::Warning } else { Severity::Info })
        .parameter(port.to_string())
        .evidences(said)
        .timeline(moments)
        .remedy(remedy)
}
