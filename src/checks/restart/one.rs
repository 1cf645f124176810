//! The step that recreates the pods of one workload. Its text applies to every workload of that kind; its
//! command names this one.

use super::rollouts::{Inject, Needs, RestartMethod, Rollouts};
use crate::checks::prelude::*;
use crate::checks::upgrade::{cli_of, release_of_cli};
use crate::checks::words::sentence;
use crate::command::Line;
use crate::finding::{Restarts, Step};

/// The step that recreates the pods of a workload; `because` is a clause with its effect. Reads the evidence
/// of [`Rollouts`], if available.
pub(in crate::checks) fn renew(ctx: &Context<'_>, owner: &Owner, pods: &[String], needs: Needs, because: &str) -> Step {
    let way = Rollouts::from_context(ctx).restart_method(ctx, owner, needs);
    let (kind, text, lines) = match way.inject {
        _ if owner.kind == STATIC => (StepKind::Note, of_static(owner, needs), Vec::new()),
        Inject::Webhook => restarted(ctx, owner, pods, &way),
        Inject::Manual => injected(ctx, owner, pods, &way),
        Inject::ManualInGit(tool) => (
            StepKind::Note,
            format!(
                "Run linkerd inject --manual on the workload's manifest in Git ({tool} reverts changes in the cluster)"
            ),
            Vec::new(),
        ),
        Inject::ManualByHand if owner.kind == "Job" => (
            StepKind::Note,
            "Run linkerd inject --manual on the manifest of the Job, and replace the Job with it (kubectl \
             replace --force), since its template is immutable"
                .to_owned(),
            Vec::new(),
        ),
        Inject::ManualByHand => (
            StepKind::Note,
            "Run linkerd inject --manual on the manifest of the workload, apply it, and create the pods again"
                .to_owned(),
            Vec::new(),
        ),
    };
    let in_template = match way.inject {
        _ if owner.kind == STATIC => "",
        Inject::Webhook | Inject::Manual => "",
        Inject::ManualInGit(_) | Inject::ManualByHand => ". A restart keeps the old proxy",
    };
    let effect = format!(". {}", sentence(because));
    let refused = way.obstacle.as_ref();
    let refused = refused.map_or_else(String::new, |one| format!(". {}", one.refusal.advice(&one.object)));
    let command = (!lines.is_empty()).then(|| Command::lines(lines));
    let restarts = if command.is_some() { Restarts::Workloads } else { Restarts::Nothing };
    let text = format!("{text}{effect}{in_template}{refused}");
    Step { restarts, ..Step::new(kind, text, command) }
}

/// Why a restart is not enough.
pub(super) const KEEPS_PROXY: &str = "the proxy is in the pod template, so a restart keeps the old one";

/// The kind of the owner of static pods.
pub(super) const STATIC: &str = "Node";

/// The instruction for a static pod: the kubelet creates it from a manifest on its node, and ignores changes
/// in the cluster.
fn of_static(owner: &Owner, needs: Needs) -> String {
    let manifest = "the static pod's manifest (in the kubelet's staticPodPath, by default /etc/kubernetes/manifests)";
    match needs {
        Needs::NewProxy => format!(
            "On node {}, run linkerd inject --manual on {manifest}: the kubelet then creates the pod again",
            owner.name
        ),
        Needs::NewPods => format!(
            "On node {}, move {manifest} to another folder and back: the kubelet creates the pod again",
            owner.name
        ),
    }
}

type Parts = (StepKind, String, Vec<Line>);

fn restarted(ctx: &Context<'_>, owner: &Owner, pods: &[String], way: &RestartMethod<'_>) -> Parts {
    let namespace = &owner.namespace;
    let delete = || vec![Line::from(kubectl().namespace(namespace).words("delete pod").operands(pods))];
    let (kind, text, lines) = match (&way.target, owner.kind.as_str()) {
        (Some(_), _) if way.on_delete => (StepKind::Command, ONE_AT_A_TIME, each_deleted(ctx, owner, pods)),
        (Some(target), _) => {
            let restart = kubectl().namespace(namespace).words("rollout restart").operand(target);
            let lines = way.resume(namespace).into_iter().chain([Line::from(restart)]).collect();
            let text =
                if way.paused { "Resume the paused rollout and restart the workload" } else { "Restart the workload" };
            (StepKind::Command, text, lines)
        }
        (None, "Pod") => (
            StepKind::Note,
            "Delete the pod and create it again from its manifest, since no controller does",
            Vec::new(),
        ),
        (None, "Job" | "CronJob") => {
            (StepKind::Command, "Delete the pod once its work may start again: the Job creates a new one", delete())
        }
        (None, _) if owner.recreates_pods() => {
            (StepKind::Command, "Delete the pods: their owner creates new ones", delete())
        }
        (None, kind) => {
            let text = format!(
                "Create the pods again through {} {}, once their work may start again: it may not replace deleted \
                 pods",
                kind, owner.name
            );
            return (StepKind::Note, text, Vec::new());
        }
    };
    (kind, text.to_owned(), lines)
}

pub(super) const ONE_AT_A_TIME: &str = "Delete the pods one at a time, each once the one before is ready \
     again: the update strategy replaces no pod otherwise";

fn injected(ctx: &Context<'_>, owner: &Owner, pods: &[String], way: &RestartMethod<'_>) -> Parts {
    let inject = if way.paused { "Resume the paused rollout and re-inject" } else { "Re-inject" };
    let release = release_of_cli(ctx);
    let mut text = format!("{inject} the workload with {}: {KEEPS_PROXY}", cli_of(release.as_deref()));
    let mut lines: Vec<Line> = way.resume(&owner.namespace).into_iter().collect();
    let partition = way.without_partition(&owner.namespace);
    if partition.is_some() {
        text.push_str(
            ". Set the partition of its update strategy to 0 first: pods below it return with the old template",
        );
    }
    lines.extend(partition.clone());
    lines.extend(way.inject_again(ctx, owner, release.as_deref()));
    let keeps_pods = (way.on_delete || way.target.is_none()) && partition.is_none();
    if keeps_pods {
        text.push_str(", and delete the pods one at a time, each once the one before is ready again");
        lines.extend(each_deleted(ctx, owner, pods));
    }
    (StepKind::Command, text, lines)
}

/// A line for each pod of a workload.
pub(super) fn each_deleted(ctx: &Context<'_>, owner: &Owner, pods: &[String]) -> Vec<Line> {
    let owners = ctx.owners();
    let all = ctx.optional_list::<Pod>().iter();
    let own = all.filter(|pod| pod.metadata.namespace == owner.namespace && owners.owner(pod) == *owner);
    let found: Vec<String> = match pods {
        [] => own.filter(|pod| !pod.is_finished()).map(|pod| pod.metadata.name.clone()).collect(),
        pods => pods.to_vec(),
    };
    let delete = |pod: &String| kubectl().namespace(&owner.namespace).words("delete pod").operand(pod);
    found.iter().map(|pod| Line::from(delete(pod))).collect()
}
