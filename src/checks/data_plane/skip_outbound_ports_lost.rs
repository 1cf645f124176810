//! `skip-outbound-ports-lost`: a workload's own list of skipped outbound ports replaces that of the chart and
//! leaves out ports that were added there.

use std::collections::BTreeMap;

use crate::checks::control_plane::installation;
use crate::checks::port_list::{bounds, holds};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::skipped::OUT;

const KEY: &str = OUT.annotation();
/// The chart value with the list, and its default since 2.9.
const VALUE: &str = "proxyInit.ignoreOutboundPorts";
const DEFAULT: &str = "4567,4568";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let values = installation::values(ctx)?;
    if values.bool("cniEnabled") == Some(true) {
        return Err(Unjudged::not_applicable("linkerd-cni has a list of its own"));
    }
    let chart = values.text(VALUE).unwrap_or(DEFAULT);
    let added: Vec<&str> = entries(chart).filter(|entry| !covers(DEFAULT, entry)).collect();
    if added.is_empty() {
        return Ok(Verdict::fine());
    }
    let mut lost: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        let is_own = ctx.judges(&pod.metadata.namespace) && pod.spec.proxy().is_some() && !pod.is_finished();
        let list = pod.metadata.annotation(KEY).filter(|_| is_own);
        if list.is_some_and(|list| added.iter().any(|entry| !covers(list, entry))) {
            lost.entry(ctx.owners().owner(pod)).or_default().push(pod);
        }
    }
    let findings = lost.iter().filter_map(|(owner, pods)| finding(ctx, owner, pods, chart, &added));
    Ok(findings.collect())
}

/// The ports and ranges of a list.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| bounds(entry).is_some())
}

/// Whether a list contains a port, or the ends of a range.
fn covers(list: &str, entry: &str) -> bool {
    bounds(entry).is_some_and(|(first, last)| holds(list, first) && holds(list, last))
}

fn finding(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], chart: &str, added: &[&str]) -> Option<Finding> {
    let first = pods.first()?;
    let list = first.metadata.annotation(KEY)?;
    let lost: Vec<&str> = added.iter().copied().filter(|entry| !covers(list, entry)).collect();
    let joined: Vec<&str> = list.split(',').map(str::trim).chain(lost.iter().copied()).collect();
    let joined = joined.join(",");
    let message = format!(
        "The workload's list of skipped outbound ports replaces that of the chart and leaves out {}, which the chart \
         skips for all pods. The proxy handles these connections, and delays those on which the server sends first",
        lost.join(", ")
    );
    let act = format!("Add the ports to the workload's list: set {KEY}: {joined:?}");
    let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, owner, &[(KEY, Some(&joined))]);
    let home = &ctx.namespaces().control_plane;
    let object = Subject::object(Kind::Pod, &first.metadata.namespace, &first.metadata.name);
    let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    Some(
        ctx.finding(owner.subject(names), message)
            .likely()
            .evidence(Evidence::field(object, format!("metadata.annotations[{KEY}]"), list))
            .evidence(Evidence::field(
                format!("ConfigMap {home}/linkerd-config"),
                format!("data.values: {VALUE}"),
                chart,
            ))
            .remedy(remedy),
    )
}
