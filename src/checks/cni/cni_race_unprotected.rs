//! `cni-race-unprotected`: pods may start on a new node before linkerd-cni is ready there, and no controller
//! repairs them.

use std::collections::HashMap;

use super::chart::{self, ChartValue};
use super::cni_validator_failed::InstallerPods;
use super::installers::{installers, shown, subject};
use super::nodes::expected;
use super::pods::{has_rules, relies_on_plugin};
use crate::checks::prelude::*;

/// The container that deletes pods that started without their rules.
const REPAIR: &str = "repair-controller";
/// The labels that autoscalers set on the nodes that they create.
const SCALED: [&str; 2] = ["karpenter.sh/nodepool", "karpenter.sh/provisioner-name"];
/// The image name of the autoscaler that sets no label on nodes.
const AUTOSCALER: &str = "cluster-autoscaler";
/// Number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    let pods = ctx.partial_list::<Pod>()?;
    let nodes = ctx.partial_list::<Node>()?;
    let Some(because) = expected(ctx)? else {
        return Err(Unjudged::not_applicable("the control plane does not rely on linkerd-cni"));
    };
    let Some(set) = sets.first() else {
        return Err(Unjudged::blocked("cni-object-missing", "no DaemonSet installs linkerd-cni"));
    };
    if set.spec.template.spec.container(REPAIR).is_some() {
        return Ok(Verdict::fine());
    }
    let by_name: HashMap<&str, &Node> = nodes.iter().rev().map(|node| (node.metadata.name.as_str(), node)).collect();
    let installers = InstallerPods::new(pods);
    // The kubelet accepted the pod before the installer ran. A restarted installer is excluded, because the
    // installer's pod is newer too.
    let early: Vec<(&Pod, jiff::Timestamp)> =
        pods.iter()
            .filter(|pod| relies_on_plugin(pod) && !has_rules(pod) && ctx.judges(&pod.metadata.namespace))
            .filter_map(|pod| {
                let node = pod.node_name.as_str();
                let object = by_name.get(node)?;
                let (taken, ready) = (pod.status.start_time.get()?, installers.started(node)?);
                let fresh = object.metadata.creation_timestamp.get().is_some_and(|made| {
                    ready >= made && ready.duration_since(made) <= jiff::SignedDuration::from_mins(10)
                });
                (fresh && taken < ready).then_some((pod, ready))
            })
            .collect();
    let scaled = nodes.iter().find_map(|node| {
        let label = SCALED.into_iter().find(|label| node.metadata.label(label).is_some())?;
        let object = format!("Node {}", node.metadata.name);
        let said = node.metadata.label(label).unwrap_or_default();
        Some(Evidence::field(object, format!("metadata.labels[{label}]"), said))
    });
    let scaled = scaled.or_else(|| autoscaler(ctx.or_note(ctx.partial_list::<Deployment>()).unwrap_or_default()));
    if early.is_empty() && scaled.is_none() {
        return Ok(Verdict::fine());
    }
    let remedy = chart::set(
        ctx,
        Remedy::new(),
        "Enable the repair controller, which deletes pods that started without their rules, and let \
         linkerd-cni start early on new nodes",
        None,
        &[
            ChartValue::new("repairController.enabled", "true"),
            ChartValue::new("priorityClassName", "system-node-critical"),
        ],
    )
    .note("Or give new nodes a startup taint that is removed once linkerd-cni is ready on them");
    let finding = ctx
        .finding(
            subject(set),
            "linkerd-cni runs without its repair controller, so pods on new nodes are not protected: those \
             that start before linkerd-cni is ready get no rules and fail until they are deleted",
        )
        .severity(if early.is_empty() { Severity::Info } else { Severity::Warning })
        .evidence(because)
        .evidence(Evidence::field(shown(set), "spec.template.spec.containers", format!("no {REPAIR}")))
        .evidences(early.iter().take(QUOTED).map(|(pod, ready)| {
            let object = pod.described();
            let taken = pod.status.start_time.get().map(|at| at.to_string()).unwrap_or_default();
            let said = format!("{taken}, and linkerd-cni runs on {} since {ready}", pod.node_name);
            Evidence::field(object, "status.startTime", said)
        }))
        .evidences(scaled.filter(|_| early.is_empty()))
        .remedy(remedy)
        .likely();
    Ok(finding.into())
}

/// The autoscaler that creates nodes.
fn autoscaler(deployments: &[Workload]) -> Option<Evidence> {
    deployments.iter().find_map(|deployment| {
        let container = deployment.spec.template.spec.containers.iter().find(|one| one.image.contains(AUTOSCALER))?;
        let (namespace, name) = deployment.metadata.key();
        let path = format!("spec.template.spec.containers[{}].image", container.name);
        Some(Evidence::field(format!("Deployment {namespace}/{name}"), path, &container.image))
    })
}
