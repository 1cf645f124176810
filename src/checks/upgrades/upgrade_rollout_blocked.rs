//! `upgrade-rollout-blocked`: a Deployment that the upgrade changes or restarts cannot replace its pods.

mod nodes;

use std::collections::HashSet;

use super::Upgrade;
use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::quota::{self, Obstacle, QuotaRefusal, Rolled};
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::{LimitRange, PodSpec, ResourceQuota};
use nodes::Nodes;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let quotas = ctx.partial_list::<ResourceQuota>();
    let ranges = ctx.complete_list::<LimitRange>();
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let meshed = pods.iter().filter(|pod| {
        pod.spec.proxy().is_some() && pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && !pod.is_finished()
    });
    let meshed: HashSet<Owner> = meshed.map(|pod| owners.owner(pod)).collect();
    let nodes = ctx.or_note(ctx.complete_list::<Node>()).map(|all| Nodes::new(all, ctx.complete_list::<Pod>().ok()));
    let is_spread = values(ctx).ok().and_then(|values| values.bool("enablePodAntiAffinity")) == Some(true);
    let spread = nodes.as_ref().filter(|_| is_spread).map(Nodes::usable);
    let spec_of = |meta: &crate::objects::Meta| {
        let is_own = |pod: &&Pod| {
            let owner = owners.owner(pod);
            owner.kind == "Deployment" && owner.name == meta.name && pod.metadata.namespace == meta.namespace
        };
        pods.iter().find(is_own).map(|pod| &*pod.spec)
    };
    let mut findings = Vec::new();
    for deployment in deployments {
        let meta = &deployment.metadata;
        let is_own = meta.namespace == home && meta.label(COMPONENT).is_some();
        let is_meshed = || {
            let (namespace, name) = (meta.namespace.to_string(), meta.name.clone());
            meshed.contains(&Owner { kind: "Deployment".to_owned(), namespace, name })
        };
        let is_judged = is_own || ctx.judges(&meta.namespace) && is_meshed();
        if !is_judged {
            continue;
        }
        let severity = if is_own { Severity::Error } else { Severity::Warning };
        let found = [
            is_own.then(|| paused(ctx, deployment)).flatten(),
            quota::obstacle(ctx, Rolled::Deployment(deployment), ranges.as_ref().ok().copied())
                .map(|obstacle| refused(ctx, deployment, &obstacle)),
            spread.filter(|_| is_own).and_then(|nodes| without_node(ctx, deployment, nodes)),
            nodes.as_ref().filter(|_| is_own).and_then(|nodes| {
                let spec: &PodSpec = spec_of(meta).unwrap_or(&deployment.spec.template.spec);
                nodes.obstacle(ctx, deployment, spec)
            }),
        ];
        let found = found.into_iter().flatten();
        findings.extend(found.map(|one| one.severity(severity).evidence(way.target.clone())));
    }
    _ = ctx.or_note(ranges);
    match quotas {
        Err(missing) if findings.is_empty() => return Err(missing.into()),
        Err(missing) => ctx.gap(missing),
        Ok(_) => {}
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, deployment: &Workload, message: &str, remedy: Remedy) -> Finding {
    let (namespace, name) = deployment.metadata.key();
    ctx.finding(Subject::object("Deployment", namespace, name), message).remedy(remedy)
}

/// A Deployment whose rollout is paused takes a new template and starts no pod.
fn paused(ctx: &Context<'_>, deployment: &Workload) -> Option<Finding> {
    let (namespace, name) = deployment.metadata.key();
    let resume = kubectl().namespace(namespace).words("rollout resume").operand(format!("deployment/{name}"));
    let message = "The rollout is paused. The upgrade applies without an error, and no pod of the new release starts";
    let remedy = Remedy::new().command("Resume the rollout before the upgrade", resume);
    deployment.spec.paused.then(|| {
        finding(ctx, deployment, message, remedy).parameter("paused").evidence(Evidence::field(
            deployment.metadata.described("Deployment"),
            "spec.paused",
            "true",
        ))
    })
}

fn refused(ctx: &Context<'_>, deployment: &Workload, obstacle: &Obstacle) -> Finding {
    let (message, command, act, text) = match obstacle.refusal {
        QuotaRefusal::Room => (
            "The rollout hangs: it starts a new pod before it stops an old one, and the namespace's quota \
             has no room for another pod",
            "describe resourcequota",
            "List the quota's limits and usage",
            "Raise the quota by one pod of the Deployment during the upgrade, or set maxUnavailable of its \
             update strategy to 1",
        ),
        QuotaRefusal::ReplicaSet => (
            "The rollout hangs: it needs a new ReplicaSet, and the namespace's quota has no room for another one",
            "describe resourcequota",
            "List the quota's limits and usage",
            "Raise the quota by one ReplicaSet for each Deployment, or lower their revisionHistoryLimit",
        ),
        QuotaRefusal::Unstated => (
            "The API server refuses the new pods: a quota requires an amount of every container, and one states none",
            "describe resourcequota",
            "List the quota's limits and usage",
            "Give the namespace a LimitRange with defaults for containers, set the amount in the chart \
             values, or remove it from the quota",
        ),
        QuotaRefusal::Bounds => (
            "The API server refuses the new pods: the amounts of a container are outside of the namespace's LimitRange",
            "describe limitrange",
            "List the bounds",
            "Change the LimitRange, or the container's requests and limits, before the upgrade",
        ),
    };
    let remedy =
        Remedy::new().command(act, kubectl().namespace(&deployment.metadata.namespace).words(command)).note(text);
    let parameter = match obstacle.refusal {
        QuotaRefusal::Room => "quota",
        QuotaRefusal::ReplicaSet => "replicasets",
        QuotaRefusal::Unstated => "unstated",
        QuotaRefusal::Bounds => "limit-range",
    };
    let name = if obstacle.refusal == QuotaRefusal::Bounds { "LimitRange" } else { "Quota" };
    finding(ctx, deployment, message, remedy).parameter(parameter).evidence(Evidence::other(name, &obstacle.object))
}

fn without_node(ctx: &Context<'_>, deployment: &Workload, nodes: usize) -> Option<Finding> {
    let spec = &deployment.spec;
    let replicas = spec.replicas.unwrap_or(1);
    let is_stuck = spec.strategy.starts_before_it_stops(replicas)
        && usize::try_from(replicas).is_ok_and(|replicas| replicas >= nodes && nodes > 0);
    let message = "its rollout starts a new pod before it stops an old one, but its replicas must not \
     share a node and every node has one. The new pod stays pending, and the rollout hangs";
    let remedy = Remedy::new().note("Add a node during the upgrade, or set maxUnavailable of its update strategy to 1");
    is_stuck.then(|| {
        finding(ctx, deployment, message, remedy)
            .parameter("nodes")
            .evidence(Evidence::field(
                deployment.metadata.described("Deployment"),
                "spec.replicas",
                replicas.to_string(),
            ))
            .evidence(Evidence::other("Schedulable nodes", nodes.to_string()))
    })
}
