//! `denied-although-authorized`: a proxy denies a client that the policies of the cluster authorize.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::scrape_refused::admin_port;
use super::survey::survey;
use crate::checks::diagnosed::{grown, proxies, within};
use crate::checks::prelude::*;
use crate::command::linkerd;
use crate::item::proxy_metrics::{Denied, ProxyMetrics};
use crate::knowledge::MetricMeaning::{DeniedConnections, DeniedRequests};
use crate::model::policy::{AuthorizedBy, Inbound, TakenBy};

/// Addresses that only networks of all addresses contain: the metrics do not name the address of the client.
const ELSEWHERE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = grown(ctx, proxies(ctx)?, &[DeniedRequests, DeniedConnections])?;
    let survey = survey(ctx)?;
    let workloads: HashMap<_, _> = survey.pods.iter().map(|(pod, workload)| (pod.metadata.key(), workload)).collect();
    let mut findings = Vec::new();
    for (pod, metrics) in all.into_iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        let Some(workload) = workloads.get(&pod.metadata.key()) else { continue };
        let port = admin_port(pod);
        let denied = metrics.denied.iter().filter(|one| one.port != port && one.grown.unwrap_or_default() > 0);
        let contradicted = denied.filter_map(|one| {
            let inbound = survey.index.inbound(workload, one.port);
            authorizes(&inbound, one).then_some((one, inbound))
        });
        findings.extend(contradicted.map(|(one, inbound)| finding(ctx, pod, metrics, one, &inbound)));
    }
    Ok(findings.into())
}

/// Whether the whole port is open to the denied client, from any address. A Server of another name denied it otherwise.
fn authorizes(inbound: &Inbound<'_>, denied: &Denied) -> bool {
    let identity = Some(denied.client.as_str()).filter(|identity| !identity.is_empty());
    let is_same_server = match inbound.taken_by {
        TakenBy::Server(server) => denied.kind != "server" || denied.name == server.metadata.name,
        TakenBy::Default(_) => true,
    };
    // A port of HTTP denies connections of other protocols from every client.
    let is_other_protocol = denied.what == "connections" && inbound.protocol.is_http();
    is_same_server
        && !is_other_protocol
        && ELSEWHERE.iter().all(|address| inbound.authorizations.iter().any(|one| one.admits(identity, Some(*address))))
}

fn finding(ctx: &Context<'_>, pod: &Pod, metrics: &ProxyMetrics, denied: &Denied, inbound: &Inbound<'_>) -> Finding {
    let (namespace, name) = pod.metadata.key();
    let client = if denied.client.is_empty() { "clients without an identity" } else { &denied.client };
    let by = if denied.kind == "server" { "Server" } else { "default policy" };
    let now = match inbound.taken_by {
        TakenBy::Server(server) => server.metadata.described("Server"),
        TakenBy::Default(_) => "the default policy".to_owned(),
    };
    let (port, grown) = (denied.port, denied.grown.unwrap_or_default());
    let remedy = answer_compared(ctx, pod, port);
    ctx.finding(
        ctx.owners().owner(pod).subject(vec![name.to_owned()]),
        format!(
            "the proxy denies a client on port {port} that the policies authorize: it uses an outdated policy, unless \
             the policies were changed just now"
        ),
    )
    .parameter(port.to_string())
    .evidence(Evidence::other(
        format!("proxy metrics, Pod {namespace}/{name}, port {port}, {by} {}", denied.name),
        format!("denied {} {} of {client} {}{}", grown, denied.what, within(metrics), began(denied, grown)),
    ))
    .evidence(Evidence::other(
        format!("Policies of port {port}"),
        format!("{now} authorizes {client}{}", newest(inbound)),
    ))
    .remedy(remedy)
    .likely()
}

/// Whether the denials began before the first read.
fn began(denied: &Denied, grown: u64) -> String {
    match denied.count.saturating_sub(grown) {
        0 => ", none before".to_owned(),
        earlier => format!(", {earlier} before"),
    }
}

/// Since when the policy may exist: the creation of the newest of its objects.
fn newest(inbound: &Inbound<'_>) -> String {
    let server = match inbound.taken_by {
        TakenBy::Server(server) => Some(&server.metadata),
        TakenBy::Default(_) => None,
    };
    let authorizations = inbound.authorizations.iter().filter_map(|one| match one.by {
        AuthorizedBy::Policy(policy) => Some(&policy.metadata),
        AuthorizedBy::Server(authorization) => Some(&authorization.metadata),
        AuthorizedBy::Default(_) | AuthorizedBy::Probe => None,
    });
    let created = server.into_iter().chain(authorizations).filter_map(|meta| meta.creation_timestamp.get());
    created.max().map_or_else(String::new, |at| format!("; the newest object was created at {at}"))
}

/// The steps that find out whether the policy controller or the proxy has an outdated policy.
pub(super) fn answer_compared(ctx: &Context<'_>, pod: &Pod, port: u16) -> Remedy {
    let (namespace, name) = pod.metadata.key();
    let shown = linkerd().words("diagnostics policy").option("-n", namespace);
    Remedy::new()
        .command(
            "Compare the answer of the policy controller with the objects",
            shown.arg(Arg::known("po/").then(name)).arg(port.to_string()),
        )
        .command(
            "If the answer is outdated, restart destination, which contains the policy controller",
            kubectl()
                .namespace(&ctx.namespaces().control_plane)
                .words("rollout restart deployment/linkerd-destination"),
        )
        .note("If it is current, the proxy does not receive it: see the other findings about this pod")
}
