//! The steps after a change of a pod template that replaces no pod: of a paused Deployment, of a set with the
//! strategy OnDelete, and of the pods below a partition.

use super::one::ONE_AT_A_TIME;
use crate::checks::prelude::*;
use crate::command::Line;
use crate::finding::Restarts;

/// Maximum number of pods that a step deletes.
const LINES: usize = 24;

/// Adds the step without which the new template reaches no pod, if the workload needs one.
pub(in crate::checks) fn after_change(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: &str,
    namespace: &str,
    name: &str,
) -> Remedy {
    let Some((_, workload)) = ctx.workload_for_steps(kind, (namespace, name)) else { return remedy };
    let strategy = &workload.spec.strategy;
    let target = format!("{}/{name}", kind.to_ascii_lowercase());
    if workload.spec.paused {
        let resume = kubectl().namespace(namespace).words("rollout resume").operand(target);
        return remedy.command("Resume the paused rollout: no pod gets the new template before", resume);
    }
    if strategy.has_partition() {
        let patch = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}"#;
        let patch = kubectl().namespace(namespace).words("patch").operand(target).words("--type merge -p").arg(patch);
        let text = "Set the partition of the update strategy to 0: pods below it keep the old template";
        return remedy.command(text, patch);
    }
    if !strategy.waits_for_deletion() {
        return remedy;
    }
    let own = ctx.for_steps::<Pod>().iter().filter(|pod| {
        let owner = pod.metadata.controller();
        pod.metadata.namespace == namespace
            && !pod.is_finished()
            && owner.is_some_and(|owner| owner.kind == kind && owner.name == name)
    });
    let delete = |pod: &Pod| kubectl().namespace(namespace).words("delete pod").operand(&pod.metadata.name);
    let mut lines: Vec<Line> = own.map(|pod| Line::from(delete(pod))).collect();
    if lines.is_empty() {
        return remedy.note(ONE_AT_A_TIME);
    }
    if lines.len() <= LINES {
        return remedy.command(ONE_AT_A_TIME, Command::lines(lines)).restarting(Restarts::Workloads);
    }
    let left = lines.split_off(LINES).len();
    let text = format!("{ONE_AT_A_TIME}. These are the first; {left} more pods follow");
    remedy.command(text, Command::lines(lines))
}
