//! `fargate-pod-injected`: AWS Fargate does not accept pods with the capabilities that linkerd-init needs.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::objects::container::INIT_CONTAINER;

/// Label that EKS adds to pods that a Fargate profile selects.
const PROFILE: &str = "eks.amazonaws.com/fargate-profile";
/// Maximum number of quoted pods per workload.
const QUOTED: usize = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let mut groups: BTreeMap<Owner, Vec<(&Pod, Vec<Evidence>)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let Some(profile) = pod.metadata.label(PROFILE) else { continue };
        if pod.spec.container(INIT_CONTAINER).is_none() || pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let Some(scheduled) = pod.condition("PodScheduled").filter(|condition| condition.status == "False") else {
            continue;
        };
        let object = pod.described();
        let said = format!("{}: {}", scheduled.reason, scheduled.message);
        let evidence = vec![
            Evidence::field(&object, format!("metadata.labels[{PROFILE}]"), profile),
            Evidence::field(&object, "status.conditions[PodScheduled]", said),
        ];
        groups.entry(ctx.owners().owner(pod)).or_default().push((pod, evidence));
    }
    Ok(groups.into_iter().map(|(owner, seen)| finding(ctx, &owner, seen)).collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, seen: Vec<(&Pod, Vec<Evidence>)>) -> Finding {
    let names = seen.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let act = format!("Exclude it from the mesh: set {INJECT}: disabled");
    let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, owner, &[(INJECT, Some("disabled"))]);
    ctx.finding(
        owner.subject(names),
        "it is to run on AWS Fargate and is injected, but Fargate does not accept the capabilities of linkerd-init \
         (NET_ADMIN, NET_RAW): no node takes its pods",
    )
    .evidences(seen.into_iter().take(QUOTED).flat_map(|(_, evidence)| evidence))
    .remedy(remedy.note(
        "To keep it in the mesh, run it on EC2 nodes: change its namespace or labels so that no Fargate \
         profile selects it. linkerd-cni does not help, because Fargate runs no DaemonSets",
    ))
}
