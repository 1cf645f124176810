//! Clients that a proxy denies: the pods of the addresses in its log, and the Servers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::connect_failures::text_after;
use crate::checks::Context;
use crate::checks::reported::Reported;
use crate::finding::{Evidence, Finding, StepKind};
use crate::objects::Pod;

/// The row of `mesh-logs.yaml` about denied clients.
const DENIED: &str = "inbound-denied";
/// Minimum number of lines about a client.
const ENOUGH: usize = 3;
/// Maximum number of named clients.
const NAMED: usize = 3;

/// Names the clients of a finding about denied clients, if they are pods of this cluster.
pub(super) fn name_clients(ctx: &Context<'_>, finding: Finding, reported: &Reported<'_>) -> Finding {
    if reported.id() != DENIED {
        return finding;
    }
    let mut counts: BTreeMap<(IpAddr, &str), usize> = BTreeMap::new();
    for key in reported.lines().filter_map(denied) {
        *counts.entry(key).or_default() += 1;
    }
    let enough = counts.into_iter().filter(|(_, count)| *count >= ENOUGH);
    let known = enough.filter_map(|((address, server), count)| Some((pod_at(ctx, address)?, server, count)));
    known.take(NAMED).fold(finding, |finding, (pod, server, count)| {
        let owner = ctx.owners().owner(pod);
        let client = format!("{} {}/{}", owner.kind, owner.namespace, owner.name);
        let account = format!("{}/{}", owner.namespace, pod.spec.account());
        let (state, act) = match pod.spec.proxy() {
            None => ("not meshed", format!("mesh it and authorize its ServiceAccount {account}")),
            Some(_) => ("meshed", format!("authorize its ServiceAccount {account}")),
        };
        let evidence =
            Evidence::other("Denied client", format!("{client} ({state}), by {server}, {count} lines"));
        let mut finding = finding.evidence(evidence);
        let text = format!(
            "If {client} should be authorized by {server}, {act} in an AuthorizationPolicy, or its address with a \
             NetworkAuthentication"
        );
        finding.remedy = finding.remedy.step(StepKind::Note, text);
        finding
    })
}

/// The client and the Server of a line.
fn denied(line: &str) -> Option<(IpAddr, &str)> {
    let address = text_after(line, "client.ip=", &[' ']).or_else(|| text_after(line, " client=", &[' ']))?;
    let address = match address.parse() {
        Ok(address) => address,
        Err(_) => address.parse::<std::net::SocketAddr>().ok()?.ip(),
    };
    Some((address, text_after(line, "server.name=", &[' '])?))
}

/// The only pod with an address.
fn pod_at<'a>(ctx: &Context<'a>, address: IpAddr) -> Option<&'a Pod> {
    let mut pods = ctx.optional_list::<Pod>().iter().filter(|pod| pod.is_at(address));
    pods.next().filter(|_| pods.next().is_none())
}
