//! `workload-half-meshed`: some pods of one template have a proxy and some do not.

use std::collections::BTreeMap;

use super::unmeshed::counts;
use crate::checks::prelude::*;
use crate::checks::serving::silent_injector;
use crate::model::injection::INJECT;
use crate::model::owners::generation;

#[derive(Default)]
struct Halves<'a> {
    with: Vec<&'a Pod>,
    without: Vec<&'a Pod>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let mut generations: BTreeMap<(&str, String), Halves<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && counts(pod)) {
        // A pod without an owner is not a replica. A pod that opts out itself was excluded on purpose.
        if pod.metadata.controller().is_none() || pod.metadata.annotation(INJECT) == Some("disabled") {
            continue;
        }
        let halves = generations.entry((&pod.metadata.namespace, generation(pod))).or_default();
        if pod.spec.proxy().is_some() { halves.with.push(pod) } else { halves.without.push(pod) }
    }
    let findings = generations
        .values()
        .filter(|halves| !halves.with.is_empty() && !halves.without.is_empty())
        .map(|halves| finding(ctx, &owners.owner(halves.without[0]), halves));
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, halves: &Halves<'_>) -> Finding {
    let names = |pods: &[&Pod]| pods.iter().map(|pod| pod.metadata.name.clone()).collect::<Vec<_>>();
    let (with, without) = (names(&halves.with), names(&halves.without));
    let containers = |pod: &Pod, count: usize| {
        let names: Vec<&str> = pod.spec.all_containers().map(|container| container.name.as_str()).collect();
        let total = halves.with.len() + halves.without.len();
        Evidence::field(pod.described(), "spec.containers", format!("{} ({count} of {total} pods)", names.join(", ")))
    };
    let remedy = Remedy::new();
    let remedy = if owner.recreates_pods() {
        remedy.command(
            "Delete the pods without a proxy when the injector is ready: their replacements get one",
            kubectl().namespace(&owner.namespace).words("delete pod").operands(&without),
        )
    } else {
        let text = format!(
            "Create the pods without a proxy again through {} {} when the injector is ready",
            owner.kind, owner.name
        );
        remedy.note(text)
    };
    let remedy =
        remedy.note("Find out why they could start without one, to prevent it in the future: injector-fails-open");
    ctx.finding(
        owner.subject(without),
        "only some pods of a workload have a linkerd-proxy. Part of its traffic is unencrypted, and denied \
         wherever a mesh identity is required",
    )
    .evidence(containers(halves.without[0], halves.without.len()))
    .evidence(containers(halves.with[0], with.len()))
    .remedy(remedy)
    .tie(silent_injector())
}
