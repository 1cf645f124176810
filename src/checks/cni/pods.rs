//! Steps that replace pods by name: those for which linkerd-cni failed, and those that started without its
//! rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::checks::restart;
use crate::command::Line;
use crate::model::sandbox::AddFailure;
use crate::objects::container::{INIT_CONTAINER, VALIDATOR_CONTAINER};

/// Number of pods that one line names.
const NAMED: usize = 20;

/// Adds the steps that delete all known pods for which linkerd-cni failed. Without them the kubelet retries later. The
/// control plane's pods come first: until the injector runs, new pods get no proxy.
pub(super) fn failed_deleted(ctx: &Context<'_>, remedy: Remedy, adds: &[&AddFailure<'_>]) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let named = adds.iter().map(|add| (add.namespace.as_ref(), add.pod.as_ref()));
    let (own, others): (Vec<_>, Vec<_>) = named.partition(|(namespace, _)| *namespace == home);
    let remedy = match own.is_empty() {
        true => remedy,
        false => {
            let words = "Delete the control plane's pods that could not start, or wait until the kubelet retries";
            deleted(remedy, words, own.into_iter()).command(
                "Wait until the control plane runs: before, new pods get no proxy",
                kubectl().namespace(home).words("rollout status deployment --timeout=5m"),
            )
        }
    };
    let words = "Delete the pods that could not start, or wait until the kubelet retries (a pod without an owner is \
                 not recreated: keep its manifest)";
    deleted(remedy, words, others.into_iter())
}

/// Adds a step that deletes pods by namespace and name, if there are any.
pub(super) fn deleted<'p>(remedy: Remedy, words: &str, pods: impl Iterator<Item = (&'p str, &'p str)>) -> Remedy {
    let mut by_namespace: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (namespace, pod) in pods {
        by_namespace.entry(namespace).or_default().insert(pod);
    }
    if by_namespace.is_empty() {
        return remedy;
    }
    let lines = by_namespace.iter().flat_map(|(namespace, pods)| {
        let pods: Vec<&str> = pods.iter().copied().collect();
        let lines = pods
            .chunks(NAMED)
            .map(|pods| Line::from(kubectl().namespace(namespace).words("delete pod").operands(pods.iter().copied())));
        lines.collect::<Vec<_>>()
    });
    remedy.command(words, Command::lines(lines))
}

/// Adds the step that replaces the meshed pods that need rules from linkerd-cni and did not prove to have them, on the
/// given nodes, or on all
/// nodes if none is given: their workloads are restarted, and pods without a workload are deleted. If pods
/// are not known, the step lists them. Reads the evidence of [`restart::Rollouts`].
pub(super) fn meshed_replaced(ctx: &Context<'_>, remedy: Remedy, words: &str, on: &[&str]) -> Remedy {
    let owners = ctx.owners();
    let mut found: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    let pods = ctx.optional_list::<Pod>().iter().filter(|pod| relies_on_plugin(pod) && !has_rules(pod));
    for pod in pods.filter(|pod| on.is_empty() || on.contains(&pod.node_name.as_str())) {
        found.entry(owners.owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    if !found.is_empty() {
        return restart::of_workloads(ctx, remedy, restart::Needs::NewPods, words, &found);
    }
    if !ctx.optional_list::<Pod>().is_empty() {
        // No pod lacks rules of linkerd-cni.
        return remedy;
    }
    let list = kubectl().words("get pods -A -l linkerd.io/control-plane-ns -o wide");
    let list = match on {
        [node] => list.words("--field-selector").arg(format!("spec.nodeName={node}")),
        _ => list,
    };
    remedy.command(format!("{words}. This command lists the meshed pods"), list)
}

/// Whether the validator passed, so that the pod has its rules: linkerd-cni may become ready after the kubelet accepts
/// a
/// pod but before it sets up the pod's network.
pub(super) fn has_rules(pod: &Pod) -> bool {
    let validator = pod.container_status(VALIDATOR_CONTAINER);
    validator.and_then(|status| status.state.terminated()).is_some_and(|ended| ended.exit_code == 0)
}

/// Whether only the plugin can redirect a pod's traffic.
pub(super) fn relies_on_plugin(pod: &Pod) -> bool {
    pod.spec.proxy().is_some()
        && pod.spec.container(INIT_CONTAINER).is_none()
        && !pod.spec.host_network
        && !pod.is_finished()
        && !pod.node_name.is_empty()
}
