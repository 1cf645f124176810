//! `proxy-request-unschedulable`: pods are unschedulable, and a large share of their requests is the
//! proxy's.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::quantity;
use crate::objects::PodSpec;
use crate::objects::container::{Amounts, Container};

/// The requests of proxies in values-ha.yaml.
const CPU: &str = "100m";
const MEMORY: &str = "20Mi";
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// An unschedulable pod.
struct Pending<'a> {
    pod: &'a Pod,
    said: &'a str,
    resource: &'static str,
    proxy: String,
    share: f64,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let least = ctx.count_of("percent") as f64 / 100.0;
    let mut groups: BTreeMap<(Owner, &str), Vec<Pending<'_>>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        if pod.metadata.namespace == ctx.namespaces().control_plane || pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        for pending in ["cpu", "memory"].into_iter().filter_map(|resource| pending(pod, resource, least)) {
            groups.entry((owners.owner(pod), pending.resource)).or_default().push(pending);
        }
    }
    Ok(groups.iter().map(|((owner, _), group)| finding(ctx, owner, group)).collect())
}

fn pending<'a>(pod: &'a Pod, resource: &'static str, least: f64) -> Option<Pending<'a>> {
    let proxy = pod.spec.proxy()?;
    let condition = pod.condition("PodScheduled").filter(|condition| {
        condition.status == "False" && condition.message.contains(&format!("Insufficient {resource}"))
    })?;
    let own = request(proxy, resource)?;
    let all = total(&pod.spec, resource);
    let share = quantity::read(own)? / all;
    (all > 0.0 && share >= least).then(|| Pending {
        pod,
        said: &condition.message,
        resource,
        proxy: own.to_owned(),
        share,
    })
}

/// A container's request, or its limit if it sets no request.
fn request<'a>(container: &'a Container, resource: &str) -> Option<&'a str> {
    let resources = container.resources.as_deref()?;
    let of = |amounts: &'a Amounts| {
        let text = if resource == "cpu" { &amounts.cpu } else { &amounts.memory };
        Some(text.as_str()).filter(|text| !text.is_empty())
    };
    of(&resources.requests).or_else(|| of(&resources.limits))
}

/// A pod's total request: its containers and native sidecars together.
fn total(spec: &PodSpec, resource: &str) -> f64 {
    let sidecars = spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let all = spec.containers.iter().chain(sidecars);
    all.filter_map(|container| quantity::read(request(container, resource)?)).sum()
}

fn finding(ctx: &Context<'_>, owner: &Owner, group: &[Pending<'_>]) -> Finding {
    let names: Vec<String> = group.iter().map(|pending| pending.pod.metadata.name.clone()).collect();
    let first = &group[0];
    let key = format!("config.linkerd.io/proxy-{}-request", first.resource);
    let remedy = Remedy::new().command("Check the free capacity of the nodes", kubectl().words("describe nodes"));
    let usual = if first.resource == "cpu" { CPU } else { MEMORY };
    let act = format!("Lower the proxy's request to that of the chart's values-ha.yaml, {key}: {usual:?},");
    let remedy = rewrite::of_owner(ctx, remedy, &act, owner, &[(&key, Some(usual))])
        .note(format!("Or lower proxy.resources.{}.request in the chart's values, or add nodes", first.resource));
    ctx.finding(
        owner.subject(names),
        "no node has enough capacity for the pods, and a large share of their requests is the proxy's",
    )
    .parameter(first.resource)
    .likely()
    .evidences(group.iter().take(QUOTED).flat_map(|pending| {
        let object = pending.pod.described();
        let percent = (pending.share * 100.0).round();
        [
            Evidence::field(&object, "status.conditions[PodScheduled]", pending.said),
            Evidence::field(
                &object,
                format!("spec.containers[linkerd-proxy].resources.requests.{}", pending.resource),
                format!("{}, {percent} % of the pod's", pending.proxy),
            ),
        ]
    }))
    .remedy(remedy)
}
