//! `cni-race-unprotected`: pods may start on a new node before linkerd-cni is in place there, and nothing repairs them.

use super::chart::{self, ChartValue};
use super::cni_validator_failed::installer_started;
use super::installers::{installers, shown, subject};
use super::nodes::expected;
use super::pods::relies_on_plugin;
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::finding::{Evidence, Remedy, Severity, StepKind};
use crate::objects::container::VALIDATOR_CONTAINER;
use crate::objects::{Deployment, Node, Pod, Workload};

/// The container that deletes pods which started without their rules.
const REPAIR: &str = "repair-controller";
/// The labels that autoscalers put on the nodes that they make.
const SCALED: [&str; 2] = ["karpenter.sh/nodepool", "karpenter.sh/provisioner-name"];
/// What the image of the autoscaler is called that leaves no label on nodes.
const AUTOSCALER: &str = "cluster-autoscaler";
/// How many pods are quoted.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    let pods = ctx.seen::<Pod>()?;
    let nodes = ctx.seen::<Node>()?;
    let Some(because) = expected(ctx)? else {
        return Err(Unjudged::not_applicable("the control plane does not rely on linkerd-cni"));
    };
    let Some(set) = sets.first() else {
        return Err(Unjudged::blocked("cni-object-missing", "no DaemonSet installs linkerd-cni"));
    };
    if set.spec.template.spec.container(REPAIR).is_some() {
        return Ok(Verdict::fine());
    }
    // The kubelet took the pod before the installer ran, and not because the installer was restarted since: its pod is newer too.
    let early: Vec<(&Pod, jiff::Timestamp)> = pods
        .iter()
        .filter(|pod| relies_on_plugin(pod) && !has_rules(pod) && ctx.judges(&pod.metadata.namespace))
        .filter_map(|pod| {
            let node = pod.node_name.as_str();
            let object = nodes.iter().find(|object| object.metadata.name == node)?;
            let (taken, ready) = (pod.status.start_time.get()?, installer_started(pods, node)?);
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
    let scaled = scaled.or_else(|| autoscaler(ctx.noted(ctx.seen::<Deployment>()).unwrap_or_default()));
    if early.is_empty() && scaled.is_none() {
        return Ok(Verdict::fine());
    }
    let remedy = chart::set(
        ctx,
        Remedy::new(),
        "Turn on the repair controller, which deletes pods that started without their rules, and let linkerd-cni start early on new nodes",
        None,
        &[
            ChartValue::new("repairController.enabled", "true"),
            ChartValue::new("priorityClassName", "system-node-critical"),
        ],
    )
    .step(
        StepKind::Note,
        "Or give new nodes a startup taint that goes once linkerd-cni is ready on them",
    );
    let finding = ctx
        .finding(
            subject(set),
            "nothing protects pods on new nodes: those that start before linkerd-cni is in place there get no rules and fail until somebody \
             deletes them, and linkerd-cni runs without its repair controller",
        )
        .severity(if early.is_empty() { Severity::Info } else { Severity::Warning })
        .evidence(because)
        .evidence(Evidence::field(shown(set), "spec.template.spec.containers", format!("no {REPAIR}")))
        .evidences(early.iter().take(QUOTED).map(|(pod, ready)| {
            let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
            let taken = pod.status.start_time.get().map(|at| at.to_string()).unwrap_or_default();
            let said = format!("{taken}, and linkerd-cni runs on {} since {ready}", pod.node_name);
            Evidence::field(object, "status.startTime", said)
        }))
        .evidences(scaled.filter(|_| early.is_empty()))
        .remedy(remedy)
        .likely();
    Ok(vec![finding].into())
}

/// Whether the validator saw the rules: the kubelet takes a pod some time before it asks linkerd-cni, which may come in between.
fn has_rules(pod: &Pod) -> bool {
    let validator = pod.container_status(VALIDATOR_CONTAINER);
    validator.and_then(|status| status.state.terminated()).is_some_and(|ended| ended.exit_code == 0)
}

/// The autoscaler that makes nodes.
fn autoscaler(deployments: &[Workload]) -> Option<Evidence> {
    deployments.iter().find_map(|deployment| {
        let container =
            deployment.spec.template.spec.containers.iter().find(|one| one.image.contains(AUTOSCALER))?;
        let (namespace, name) = deployment.metadata.key();
        let path = format!("spec.template.spec.containers[{}].image", container.name);
        Some(Evidence::field(format!("Deployment {namespace}/{name}"), path, &container.image))
    })
}
