//! `control-plane-name-unresolved`: proxies cannot resolve the name of a ready control-plane component.

use std::collections::BTreeSet;

use crate::checks::diagnosed::{by_number, by_workload, exporting_if_used, grown, proxies, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::item::proxy_metrics::Series;
use crate::knowledge::MetricMeaning::DnsResolutions;
use crate::model::installed::COMPONENT;

/// The number of quoted proxies per workload.
const QUOTED: usize = 3;
/// A proxy's clients of the control plane, and the component whose pods serve them.
const CLIENTS: [(&str, &str); 3] =
    [("destination", "destination"), ("identity", "identity"), ("policy", "destination")];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting_if_used(ctx, proxies(ctx)?, DnsResolutions, "the DNS resolutions");
    let all = grown(ctx, all, &[DnsResolutions])?;
    let home = ctx.namespaces().control_plane.as_str();
    let is_ready = |pod: &&Pod| pod.condition("Ready").is_some_and(|ready| ready.status == "True");
    // A headless Service without a ready pod has no record.
    let served: BTreeSet<&str> = ctx
        .partial_list::<Pod>()?
        .iter()
        .filter(|pod| pod.metadata.namespace == home && !pod.is_finished())
        .filter(is_ready)
        .filter_map(|pod| pod.metadata.label(COMPONENT))
        .collect();
    let failing = all.into_iter().filter_map(|(pod, metrics)| {
        let grown: Vec<_> = metrics.grown(DnsResolutions).collect();
        let count = |client: &str, result: &str| -> u64 {
            let is_it = |series: &Series| series.label("client") == client && series.label("result") == result;
            grown.iter().filter(|(series, _)| is_it(series)).map(|(_, growth)| growth).sum()
        };
        let clients: Vec<(&str, u64)> = CLIENTS
            .iter()
            .filter(|(client, component)| {
                served.contains(component) && count(client, "not_found") > 0 && count(client, "ok") == 0
            })
            .map(|(client, _)| (*client, count(client, "not_found")))
            .collect();
        (!clients.is_empty()).then_some((pod, (clients, metrics)))
    });
    let findings = by_workload(ctx, failing).into_iter().map(|(subject, failing)| {
        let said = failing.iter().take(QUOTED).map(|(pod, (clients, metrics))| {
            let each = clients.iter().map(|(client, count)| format!("{client} {}", counted(*count, "time")));
            let clients = each.collect::<Vec<_>>().join(", ");
            quoted(pod, format!("no address found for {clients} {}", within(metrics)))
        });
        let events = failing.iter().flat_map(|(_, (clients, _))| clients).map(|(_, count)| count).sum();
        let finding = ctx.finding(
            subject,
            "the cluster's DNS does not resolve the names of the control plane for the proxy: it cannot \
             connect again after an interruption",
        );
        by_number(finding, events).evidences(said).remedy(
            Remedy::new()
                .command(
                    "Check the pods of the cluster's DNS",
                    kubectl().namespace("kube-system").words("get pods -l k8s-app=kube-dns -o wide"),
                )
                .note("Check that NetworkPolicies allow the pods to reach it"),
        )
    });
    Ok(findings.collect())
}
