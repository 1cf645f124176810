//! The step that restarts every meshed workload, with the list of them: what a proxy is told when its pod is created changes
//! only with a new pod. One line for each namespace, as whole lines as there is room for.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use crate::checks::words::some;
use crate::command::{Call, Command, Line, kubectl};
use crate::finding::{Remedy, StepKind};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::owners::Owner;
use crate::objects::Pod;

/// How many lines a step prints.
const LINES: usize = 24;
/// How many workloads a line restarts.
const A_LINE: usize = 24;
/// How many objects words name.
const NAMED: usize = 5;

/// Adds the step that restarts all that is meshed outside the control plane. `act` says it, and why. Reads pods, ReplicaSets
/// and Jobs where they are there.
pub(super) fn all_meshed(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    meshed(ctx, remedy, act, None)
}

/// As [`all_meshed`], of the workloads with a pod on a node.
pub(super) fn meshed_on(ctx: &Context<'_>, remedy: Remedy, act: &str, node: &str) -> Remedy {
    meshed(ctx, remedy, act, Some(node))
}

fn meshed(ctx: &Context<'_>, remedy: Remedy, act: &str, node: Option<&str>) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let pods = ctx.hints::<Pod>();
    let owners = ctx.owners();
    let mut found: BTreeMap<&str, Meshed> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        let own = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
        let elsewhere = node.is_some_and(|node| pod.node_name.as_str() != node);
        if !own
            || elsewhere
            || meta.namespace == home
            || pod.is_finished()
            || meta.deletion_timestamp.is_some()
        {
            continue;
        }
        found.entry(&meta.namespace).or_default().add(&owners.of(pod), &meta.name);
    }
    if found.is_empty() {
        return remedy.run(StepKind::Command, format!("{act}. This lists their pods"), listed(ctx, node));
    }
    let by_hand: BTreeSet<String> = found
        .iter()
        .flat_map(|(namespace, meshed)| meshed.by_hand.iter().map(move |what| format!("{namespace}: {what}")))
        .collect();
    let lines: Vec<Line> = found.iter().flat_map(|(namespace, meshed)| meshed.lines(namespace)).collect();
    let left = lines.len().saturating_sub(LINES);
    let mut text = act.to_owned();
    if left > 0 {
        text = format!("{text}. These are the first; {left} more lines follow when meshdoctor is run again");
    }
    if !by_hand.is_empty() {
        text = format!("{text}. Create again by hand what nothing else does: {}", some(&by_hand, NAMED));
    }
    if lines.is_empty() {
        return remedy.step(StepKind::Note, text);
    }
    remedy.run(StepKind::Command, text, Command::lines(lines.into_iter().take(LINES)))
}

/// What lists all meshed pods with their owners, or those on a node: for steps that cannot name them.
pub(super) fn listed(ctx: &Context<'_>, node: Option<&str>) -> Call {
    let home = ctx.namespaces().control_plane.as_str();
    let pods = kubectl().words("get pods -A -l").arg(format!("{CONTROL_PLANE_NS}={home}"));
    let pods = match node {
        Some(node) => pods.words("--field-selector").arg(format!("spec.nodeName={node}")),
        None => pods,
    };
    pods.words(
        "-o custom-columns=NAMESPACE:.metadata.namespace,POD:.metadata.name,OWNER:.metadata.ownerReferences[*].name",
    )
}

/// What is meshed in a namespace.
#[derive(Default)]
struct Meshed {
    /// What `kubectl rollout restart` takes.
    restartable: BTreeSet<String>,
    /// Pods whose owner makes new ones.
    deletable: BTreeSet<String>,
    /// Jobs, and pods that nobody owns.
    by_hand: BTreeSet<String>,
}

impl Meshed {
    fn add(&mut self, owner: &Owner, pod: &str) {
        match (owner.restartable(), owner.kind.as_str()) {
            (Some(target), _) => self.restartable.insert(target),
            (None, "Pod" | "Job" | "CronJob") => {
                self.by_hand.insert(format!("{} {}", owner.kind, owner.name))
            }
            (None, _) => self.deletable.insert(pod.to_owned()),
        };
    }

    fn lines<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = Line> + 'a {
        let restart = |some: &[&String]| {
            let call = kubectl().namespace(namespace).words("rollout restart");
            Line::from(call.operands(some.iter().copied()))
        };
        let delete = |some: &[&String]| {
            let call = kubectl().namespace(namespace).words("delete pod");
            Line::from(call.operands(some.iter().copied()))
        };
        let some = |all: &'a BTreeSet<String>| all.iter().collect::<Vec<_>>();
        let (restartable, deletable) = (some(&self.restartable), some(&self.deletable));
        let mut lines: Vec<Line> = restartable.chunks(A_LINE).map(restart).collect();
        lines.extend(deletable.chunks(A_LINE).map(delete));
        lines.into_iter()
    }
}
