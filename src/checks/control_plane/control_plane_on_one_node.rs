//! `control-plane-on-one-node`: all pods of a control-plane component run on one node, or on preemptible
//! nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::{CORE, Component, components};
use crate::model::installed::COMPONENT;

/// Labels by which clouds and autoscalers mark nodes that may be reclaimed at any time.
const SPOT: [(&str, &str); 7] = [
    ("karpenter.sh/capacity-type", "spot"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("cloud.google.com/gke-spot", "true"),
    ("cloud.google.com/gke-preemptible", "true"),
    ("cloud.google.com/gke-provisioning", "spot"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
    ("node.kubernetes.io/lifecycle", "spot"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let pods = ctx.complete_list::<Pod>()?;
    let nodes = ctx.complete_list::<Node>()?;
    let ready = nodes.iter().filter(|node| {
        let ready = node.status.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True");
        ready && !node.spec.unschedulable
    });
    let ready = ready.count();
    if ready < ctx.count_of("nodes") {
        return Err(Unjudged::not_applicable(format!("{ready} nodes are ready, too few to spread the pods")));
    }
    let spot: BTreeMap<&str, (&str, &str)> =
        nodes.iter().filter_map(|node| Some((node.metadata.name.as_str(), spot(node)?))).collect();
    let namespace = &ctx.namespaces().control_plane;
    let mut findings = Vec::new();
    for component in components(deployments, namespace) {
        let own = pods.iter().filter(|pod| {
            let meta = &pod.metadata;
            meta.namespace == *namespace && meta.label(COMPONENT) == Some(component.name) && !pod.is_finished()
        });
        let on: BTreeSet<&str> = own.map(|pod| pod.node_name.as_str()).filter(|node| !node.is_empty()).collect();
        if !CORE.contains(&component.name) || component.wanted() < 2 || on.is_empty() {
            continue;
        }
        let risky = on.iter().all(|node| spot.contains_key(node));
        match (component.wanted(), on.len()) {
            (_, 1) => findings.push(together(ctx, &component, &on, ready)),
            (_, _) if risky => findings.push(on_spot(ctx, &component, &on, &spot)),
            (_, _) => {}
        }
    }
    Ok(findings.into())
}

/// The label that marks a node as reclaimable.
fn spot(node: &Node) -> Option<(&'static str, &'static str)> {
    SPOT.into_iter().find(|(key, value)| node.metadata.label(key) == Some(value))
}

fn subject(component: &Component<'_>) -> Subject {
    let meta = &component.deployment.metadata;
    Subject::object("Deployment", &meta.namespace, &meta.name)
}

fn together(ctx: &Context<'_>, component: &Component<'_>, on: &BTreeSet<&str>, ready: usize) -> Finding {
    let node = on.first().copied().unwrap_or_default();
    let meta = &component.deployment.metadata;
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Set enablePodAntiAffinity, as in values-ha.yaml, to spread the replicas over nodes",
        Options::none().set("enablePodAntiAffinity", "true"),
    )
    .command(
        "Or restart the component: with another node free, the scheduler may spread its pods",
        kubectl().namespace(&meta.namespace).words("rollout restart").operand(format!("deployment/{}", meta.name)),
    );
    ctx.finding(
        subject(component),
        "all replicas of a component run on one node: the loss of that node makes the component unavailable",
    )
    .parameter("together")
    .evidence(Evidence::field(
        component.deployment.metadata.described("Deployment"),
        "spec.replicas",
        component.wanted().to_string(),
    ))
    .evidence(Evidence::other("its pods", format!("all on node {node}; {ready} nodes are ready")))
    .remedy(remedy)
}

fn on_spot(
    ctx: &Context<'_>,
    component: &Component<'_>,
    on: &BTreeSet<&str>,
    spot: &BTreeMap<&str, (&str, &str)>,
) -> Finding {
    let remedy = Remedy::new().step(
        StepKind::ChartValue,
        "Keep the control plane on permanent nodes: set nodeSelector or nodeAffinity in the chart's values \
        to a label of such nodes",
    );
    ctx.finding(
        subject(component),
        "all replicas of a component run on preemptible nodes: one reclaim of capacity can stop all of them",
    )
    .parameter("spot")
    .evidences(on.iter().map(|node| {
        let (label, value) = spot.get(node).copied().unwrap_or_default();
        Evidence::field(format!("Node {node}"), format!("metadata.labels[{label}]"), value)
    }))
    .remedy(remedy)
}
