//! `requests-without-route`: a Server has routes, and requests match none of them.

use crate::checks::diagnosed::{by_number, by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::command::meshdoctor;
use crate::knowledge::MetricMeaning::UnroutedRequests;

/// The number of quoted ports per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let unrouted = growing(ctx, UnroutedRequests, |_| true)?;
    let each = unrouted.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            growth.grown.iter().map(move |(series, count)| {
                let (port, server) = (series.label("target_port"), series.label("srv_name"));
                let client = match series.label("client_id") {
                    "" => "clients without an identity",
                    client => client,
                };
                let (seconds, requests) = (within(growth.metrics), counted(*count, "request"));
                quoted(pod, format!("port {port}, Server {server}: {requests} of {client} {seconds}"))
            })
        });
        let target = all.first().map(|(pod, growth)| {
            let port = growth.grown.first().map_or("", |(series, _)| series.label("target_port"));
            format!("{}/{}:{port}", pod.metadata.namespace, pod.metadata.name)
        });
        let remedy = Remedy::new()
            .command("List the routes of the Server", meshdoctor().words("policy").arg(target.unwrap_or_default()));
        let events = all.iter().map(|(_, growth)| growth.total()).sum();
        let finding = ctx.finding(
            subject,
            "the proxy rejects requests with 404: the Server of the port has routes, and the requests match none \
             of them",
        );
        by_number(finding, events).evidences(said.take(QUOTED)).remedy(
            remedy.note("Add a route for the paths of these requests, with an AuthorizationPolicy for their clients"),
        )
    });
    Ok(findings.collect())
}
