//! `call-to-missing-pod`: an application connects to an address in the pod network that no pod has.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::connect_failures::{FailedConnection, failed_connections, quoted, repeated};
use crate::checks::prelude::*;
use crate::checks::reported::proxy_logs;
use crate::checks::restart::{Needs, renew};
use crate::model::networks::Network;

/// Maximum number of quoted addresses.
const QUOTED: usize = 3;

/// A client with its lines about an address.
type Failed<'a> = (&'a Pod, SocketAddr, Vec<FailedConnection<'a>>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (logs, pods, nodes) = (proxy_logs(ctx), ctx.complete_list::<Pod>()?, ctx.complete_list::<Node>()?);
    let logs = logs?;
    let Some(row) = ctx.knowledge.mesh_logs().get("forward-failed") else { return Ok(Vec::new().into()) };
    let taken: BTreeSet<IpAddr> = pods.iter().flat_map(Pod::addresses).collect();
    let networks: Vec<Network> =
        nodes.iter().flat_map(Node::pod_networks).filter_map(|network| network.parse().ok()).collect();
    // Evidence can lack the second addresses of pods.
    let is_known = |address: IpAddr| taken.iter().any(|known| known.is_ipv4() == address.is_ipv4());
    let is_free = |address: IpAddr| {
        let is_of_pods = networks.iter().any(|network| network.contains(address));
        is_of_pods && is_known(address) && !taken.contains(&address)
    };
    let mut by_client: BTreeMap<Owner, Vec<Failed<'_>>> = BTreeMap::new();
    for (pod, log) in logs {
        let lines = repeated(failed_connections(ctx, log, pod, row), "forward{addr=", row.times);
        for (address, lines) in lines.filter(|(address, _): &(SocketAddr, _)| is_free(address.ip())) {
            by_client.entry(ctx.owners().owner(pod)).or_default().push((pod, address, lines));
        }
    }
    let findings = by_client.iter().map(|(owner, failed)| finding(ctx, owner, failed));
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, failed: &[Failed<'_>]) -> Finding {
    let addresses: BTreeSet<SocketAddr> = failed.iter().map(|(_, address, _)| *address).collect();
    let names: BTreeSet<String> = failed.iter().map(|(pod, ..)| pod.metadata.name.clone()).collect();
    let names = Vec::from_iter(names);
    let message = match addresses.first().filter(|_| addresses.len() == 1) {
        Some(address) => format!(
            "The application connects to {address}, an address in the pod network that no pod has, so its requests \
             fail. It did not get the address from a Service of Linkerd"
        ),
        None => format!(
            "The application connects to {} addresses in the pod network that no pod has, so its requests fail. It \
             did not get them from a Service of Linkerd",
            addresses.len()
        ),
    };
    let said = failed.iter().take(QUOTED).filter_map(|(pod, _, lines)| Some(quoted(pod, lines, lines.last()?)));
    let mut remedy = Remedy::new()
        .step(
            StepKind::Note,
            "Find the source of the address: a registry of the application, a DNS cache, or its configuration",
        )
        .step(StepKind::Note, "Replace the address by the name of a Service there");
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewPods, "the application looks its targets up again"));
    ctx.finding(owner.subject(names), message).severity(Severity::Warning).likely().evidences(said).remedy(remedy)
}
