//! Requests to an application that its proxy rejects because their head is too large: the pods that send them. Clients
//! outside of the cluster may be scanners, so lines about them are not reported.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::connect_failures::text_after;
use super::denied_clients::pod_at;
use crate::checks::prelude::*;
use crate::checks::reported::Reported;

/// The row of `mesh-logs.yaml` about requests to the application.
const INBOUND: &str = "inbound-head-too-large";
/// Minimum number of lines about clients that are pods.
const ENOUGH: usize = 3;
/// Maximum number of named clients.
const NAMED: usize = 3;

/// Whether lines are about too few requests of pods of this cluster.
pub(super) fn is_noise(ctx: &Context<'_>, reported: &Reported<'_>) -> bool {
    reported.id() == INBOUND && clients(ctx, reported).count() < ENOUGH
}

/// Names the workloads that send such requests.
pub(super) fn name_clients(ctx: &Context<'_>, finding: Finding, reported: &Reported<'_>) -> Finding {
    if reported.id() != INBOUND {
        return finding;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for pod in clients(ctx, reported) {
        *counts.entry(ctx.owners().owner(pod).to_string()).or_default() += 1;
    }
    counts.into_iter().take(NAMED).fold(finding, |finding, (client, lines)| {
        let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
        finding.evidence(Evidence::other("Client", format!("{client}, {lines}")))
    })
}

/// The pods of the lines' client addresses, one for each line.
fn clients<'a>(ctx: &Context<'a>, reported: &Reported<'_>) -> impl Iterator<Item = &'a Pod> {
    let address = |line: &str| text_after(line, "client.addr=", &[' ', '}'])?.parse::<SocketAddr>().ok();
    reported.lines().filter_map(move |line| pod_at(ctx, address(line)?.ip()))
}
