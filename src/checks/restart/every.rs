//! The step that recreates the pods of every meshed workload, with a list of them. Settings that a proxy gets
//! at the creation of its pod only change with a new pod. One line for each namespace, limited to a number of
//! whole lines.

use std::collections::{BTreeMap, BTreeSet};

use super::one::{KEEPS_PROXY, STATIC, each_deleted};
use super::rollouts::{Inject, Needs, Rollouts};
use crate::checks::prelude::*;
use crate::checks::quota::{Obstacle, QuotaRefusal};
use crate::checks::upgrade::{cli_of, injector_awaited, release_of_cli};
use crate::checks::words::some;
use crate::command::{Call, Line};
use crate::finding::Restarts;
use crate::model::installed::CONTROL_PLANE_NS;

/// Maximum number of lines that a step prints.
const LINES: usize = 24;
/// Maximum number of workloads that a line restarts.
const A_LINE: usize = 24;
/// Maximum number of objects named in the text.
const NAMED: usize = 5;

/// Adds the step that recreates all meshed pods outside the control plane. `act` is its description, with the
/// reason. Reads the evidence of [`Rollouts`], if available.
pub(in crate::checks) fn all_meshed(ctx: &Context<'_>, remedy: Remedy, needs: Needs, act: &str) -> Remedy {
    meshed(ctx, remedy, needs, act, &OwnedPods::Everywhere)
}

/// As [`all_meshed`], for the workloads with a pod on a node.
pub(in crate::checks) fn meshed_on(ctx: &Context<'_>, remedy: Remedy, needs: Needs, act: &str, node: &str) -> Remedy {
    meshed(ctx, remedy, needs, act, &OwnedPods::Node(node))
}

/// As [`all_meshed`], without some workloads.
pub(in crate::checks) fn meshed_but(
    ctx: &Context<'_>,
    remedy: Remedy,
    needs: Needs,
    act: &str,
    left_out: &dyn Fn(&Owner) -> bool,
) -> Remedy {
    meshed(ctx, remedy, needs, act, &OwnedPods::Without(left_out))
}

/// As [`meshed_but`], after an upgrade to a release.
pub(in crate::checks) fn meshed_after(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    gone: &dyn Fn(&Owner) -> bool,
    release: &LinkerdVersion,
) -> Remedy {
    meshed(ctx, remedy, Needs::NewProxy, act, &OwnedPods::After(gone, release))
}

/// The workloads of a step.
enum OwnedPods<'a> {
    Everywhere,
    Node(&'a str),
    Without(&'a dyn Fn(&Owner) -> bool),
    After(&'a dyn Fn(&Owner) -> bool, &'a LinkerdVersion),
}

impl OwnedPods<'_> {
    fn includes(&self, pod: &Pod, owner: &Owner) -> bool {
        match self {
            OwnedPods::Everywhere => true,
            OwnedPods::Node(node) => pod.node_name.as_str() == *node,
            OwnedPods::Without(gone) | OwnedPods::After(gone, _) => !gone(owner),
        }
    }
}

fn meshed(ctx: &Context<'_>, remedy: Remedy, needs: Needs, act: &str, of: &OwnedPods<'_>) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let mut found: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    let mut has_left_out = false;
    for pod in ctx.optional_list::<Pod>() {
        let meta = &pod.metadata;
        let own = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
        if !own || meta.namespace == home || pod.is_finished() || meta.deletion_timestamp.is_some() {
            continue;
        }
        let owner = owners.owner(pod);
        if of.includes(pod, &owner) {
            found.entry(owner).or_default().push(meta.name.clone());
        } else {
            has_left_out = true;
        }
    }
    if found.is_empty() {
        let node = match of {
            OwnedPods::Node(node) => Some(*node),
            // All meshed workloads are excluded.
            OwnedPods::Without(_) | OwnedPods::After(..) if has_left_out => return remedy,
            OwnedPods::Everywhere | OwnedPods::Without(_) | OwnedPods::After(..) => None,
        };
        return remedy.run(StepKind::Command, format!("{act} (this command lists their pods)"), listed(ctx, node));
    }
    let cli = match of {
        OwnedPods::After(_, release) => Some(release.to_string()),
        OwnedPods::Everywhere | OwnedPods::Node(_) | OwnedPods::Without(_) => release_of_cli(ctx),
    };
    let mut step = EveryStep { cli, ..EveryStep::default() };
    found.iter().for_each(|(owner, pods)| step.add(ctx, owner, pods, needs));
    step.finish(injector_awaited(ctx, remedy), act)
}

/// Adds the step that recreates the pods of workloads, each with its affected pods.
pub(in crate::checks) fn of_workloads(
    ctx: &Context<'_>,
    remedy: Remedy,
    needs: Needs,
    act: &str,
    workloads: &BTreeMap<Owner, Vec<String>>,
) -> Remedy {
    let mut step = EveryStep { cli: release_of_cli(ctx), ..EveryStep::default() };
    workloads.iter().for_each(|(owner, pods)| step.add(ctx, owner, pods, needs));
    step.finish(remedy, act)
}

/// Adds the step that recreates the pods of all workloads in namespaces, so that the injector sees them.
/// Workloads with the proxy in their pod template are excluded: the injector skips them. Reads the evidence
/// of [`Rollouts`], if available.
pub(in crate::checks) fn of_namespaces(ctx: &Context<'_>, remedy: Remedy, act: &str, namespaces: &[&str]) -> Remedy {
    let rollouts = Rollouts::from_context(ctx);
    let mut found: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for namespace in namespaces {
        found.extend(rollouts.in_namespace(ctx, namespace));
    }
    if found.is_empty() {
        let lines = namespaces.iter().map(|namespace| {
            kubectl()
                .namespace(namespace)
                .words("get pods")
                .words("-o custom-columns=POD:.metadata.name,OWNER:.metadata.ownerReferences[*].name")
        });
        return remedy.run(StepKind::Command, format!("{act} (this command lists their pods)"), Command::lines(lines));
    }
    found.retain(|owner, _| !rollouts.is_in_template(owner));
    if found.is_empty() { remedy } else { of_workloads(ctx, remedy, Needs::NewPods, act, &found) }
}

/// The command that lists all meshed pods with their owners, or those on a node: for steps that cannot name
/// them.
pub(in crate::checks) fn listed(ctx: &Context<'_>, node: Option<&str>) -> Call {
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

/// The text and the commands of the step.
#[derive(Default)]
struct EveryStep {
    /// The release of the linkerd CLI to inject with.
    /// The release of the linkerd CLI, if known.
    cli: Option<String>,
    namespaces: BTreeMap<String, Meshed>,
    by_hand: BTreeSet<String>,
    in_git: BTreeSet<String>,
    refused: BTreeMap<QuotaRefusal, BTreeSet<String>>,
    is_injected: bool,
    is_paused: bool,
    is_on_delete: bool,
    lowers_partition: bool,
    /// Static pods, with their nodes, by the instruction for their manifests.
    of_kubelets: BTreeMap<&'static str, BTreeSet<String>>,
    /// Owners that are not known to replace deleted pods.
    of_others: BTreeSet<String>,
}

/// The instruction for static pods, which only their kubelets create.
fn static_act(needs: Needs) -> &'static str {
    match needs {
        Needs::NewProxy => {
            "Run linkerd inject --manual on the manifests of static pods, in the staticPodPath of their kubelets"
        }
        Needs::NewPods => "Move the manifests of static pods out of the staticPodPath of their kubelets, and back",
    }
}

/// The lines of a namespace.
#[derive(Default)]
struct Meshed {
    /// Paused Deployments, which refuse a restart.
    paused: BTreeSet<String>,
    /// Workloads that `kubectl rollout restart` accepts.
    restartable: BTreeSet<String>,
    /// Lines that inject a workload again.
    injected: Vec<Line>,
    /// Pods whose owner replaces them.
    deletable: BTreeSet<String>,
    /// Lines that delete pods one at a time.
    one_at_a_time: Vec<Line>,
}

impl EveryStep {
    fn add(&mut self, ctx: &Context<'_>, owner: &Owner, pods: &[String], needs: Needs) {
        let way = Rollouts::from_context(ctx).restart_method(ctx, owner, needs);
        let named = format!("{}: {} {}", owner.namespace, owner.kind, owner.name);
        if owner.kind == STATIC {
            let pods = pods.iter().map(|pod| format!("{}: {pod} on node {}", owner.namespace, owner.name));
            self.of_kubelets.entry(static_act(needs)).or_default().extend(pods);
            return;
        }
        match way.inject {
            Inject::Webhook | Inject::Manual => {}
            Inject::ManualInGit(_) => {
                self.in_git.insert(named);
                return;
            }
            Inject::ManualByHand => {
                self.by_hand.insert(named);
                return;
            }
        }
        if let Some(Obstacle { refusal, object }) = way.obstacle.clone() {
            self.refused.entry(refusal).or_default().insert(object);
        }
        let lines = self.namespaces.entry(owner.namespace.clone()).or_default();
        if let Some(target) = way.target.as_ref().filter(|_| way.paused) {
            lines.paused.insert(target.clone());
            self.is_paused = true;
        }
        let injected = way.inject_again(ctx, owner, self.cli.as_deref());
        let is_injected = injected.is_some();
        let partition = way.without_partition(&owner.namespace).filter(|_| is_injected);
        let lowers_partition = partition.is_some();
        self.lowers_partition |= lowers_partition;
        lines.injected.extend(partition);
        self.is_injected |= is_injected;
        lines.injected.extend(injected);
        match (&way.target, owner.kind.as_str()) {
            (Some(_), _) if way.on_delete && !lowers_partition => {
                self.is_on_delete = true;
                lines.one_at_a_time.extend(each_deleted(ctx, owner, pods));
            }
            (Some(_), _) if is_injected => {}
            (Some(target), _) => _ = lines.restartable.insert(target.clone()),
            (None, "Pod" | "Job" | "CronJob") => _ = self.by_hand.insert(named),
            (None, _) if owner.recreates_pods() => lines.deletable.extend(pods.iter().cloned()),
            (None, _) => _ = self.of_others.insert(named),
        }
    }

    /// Whether every workload has the proxy in its pod template, so that no line restarts one.
    fn is_all_injected(&self) -> bool {
        let restarts = |meshed: &Meshed| !meshed.restartable.is_empty() || !meshed.deletable.is_empty();
        self.is_injected && !self.namespaces.values().any(restarts)
    }

    /// `act` for workloads that a restart does not change: `Restart X: reason` becomes `Re-inject X`.
    fn injecting(&self, act: &str) -> String {
        let act = act.split_once(": ").map_or(act, |(act, _)| act);
        let act = act.replacen("Restart ", "Re-inject ", 1).replacen("restart ", "re-inject ", 1);
        let act = if act.contains(',') { format!("{act},") } else { act };
        format!("{act} with {}: {KEEPS_PROXY}", cli_of(self.cli.as_deref()))
    }

    fn text(&self, act: &str, left: usize) -> String {
        let mut text = if self.is_all_injected() { self.injecting(act) } else { act.to_owned() };
        let mut add = |more: String| text = format!("{text}. {more}");
        if left > 0 {
            add(format!("These are the first; {left} more lines follow when meshdoctor is run again"));
        }
        if self.is_injected && !self.is_all_injected() {
            add(format!(
                "The commands re-inject workloads whose pod template has the proxy, with {}: a restart keeps the \
                 old one",
                cli_of(self.cli.as_deref())
            ));
        }
        if self.is_paused {
            add("The first lines resume paused Deployments, which refuse a restart".to_owned());
        }
        if self.is_on_delete {
            add("The update strategy of some sets replaces no pod: run each of their lines once the pod before is \
             ready again"
                .to_owned());
        }
        text
    }

    /// The steps before it.
    fn before(&self) -> Vec<String> {
        let mut steps: Vec<String> =
            self.refused.iter().map(|(refusal, objects)| refusal.advice(&some(objects, NAMED))).collect();
        if self.lowers_partition {
            steps.push("Set the partition of StatefulSets to 0: pods below it return with the old template".to_owned());
        }
        steps
    }

    /// The steps after it, for pods that no line of it recreates.
    fn after(&self) -> Vec<String> {
        let mut steps = Vec::new();
        if !self.of_others.is_empty() {
            steps.push(format!(
                "Create new pods through the owner, which may not replace deleted pods: {}",
                some(&self.of_others, NAMED)
            ));
        }
        steps.extend(self.of_kubelets.iter().map(|(act, pods)| format!("{act}: {}", some(pods, NAMED))));
        if !self.in_git.is_empty() {
            steps.push(format!("Run linkerd inject --manual on these manifests in Git: {}", some(&self.in_git, NAMED)));
        }
        if !self.by_hand.is_empty() {
            let all = some(&self.by_hand, NAMED);
            steps.push(format!("Create by hand, since no controller does: {all}"));
        }
        steps
    }

    fn finish(&self, remedy: Remedy, act: &str) -> Remedy {
        let lines: Vec<Line> = self.namespaces.iter().flat_map(|(namespace, meshed)| meshed.lines(namespace)).collect();
        let text = self.text(act, lines.len().saturating_sub(LINES));
        let note = |remedy: Remedy, text: String| remedy.step(StepKind::Note, text);
        let remedy = self.before().into_iter().fold(remedy, note);
        if lines.is_empty() {
            return self.after().into_iter().fold(remedy.step(StepKind::Note, text), note);
        }
        let is_complete = lines.len() <= LINES
            && self.by_hand.is_empty()
            && self.in_git.is_empty()
            && self.of_kubelets.is_empty()
            && self.of_others.is_empty();
        let remedy = remedy.run(StepKind::Command, text, Command::lines(lines.into_iter().take(LINES)));
        let remedy = if is_complete { remedy.restarting(Restarts::Workloads) } else { remedy };
        self.after().into_iter().fold(remedy, note)
    }
}

impl Meshed {
    fn lines(&self, namespace: &str) -> Vec<Line> {
        let each = |all: &BTreeSet<String>, verb: &'static str, at_once: usize| -> Vec<Line> {
            let all: Vec<&String> = all.iter().collect();
            let line = |some: &[&String]| kubectl().namespace(namespace).words(verb).operands(some.iter().copied());
            all.chunks(at_once).map(|some| Line::from(line(some))).collect()
        };
        let mut lines = each(&self.paused, "rollout resume", A_LINE);
        lines.extend(each(&self.restartable, "rollout restart", A_LINE));
        lines.extend(Line::joined(self.injected.iter().cloned(), A_LINE));
        lines.extend(each(&self.deletable, "delete pod", A_LINE));
        lines.extend(self.one_at_a_time.iter().cloned());
        lines
    }
}
