//! `cni-ds-coverage`: pods rely on linkerd-cni on nodes without a pod of its DaemonSet, or its pods are not
//! ready.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::absent::described;
use super::chart::{self, ChartValue};
use super::installers::{installers, not_redirected, pods_refused, refused_by_pod_security, shown};
use super::nodes::{expected, runs_pods_on_linux};
use super::pods::{meshed_replaced, relies_on_plugin};
use super::target::target;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::{cni, events};
use crate::objects::{DaemonSet, Time};

/// Number of pods of a node that are named.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return nowhere(ctx);
    }
    let nodes = ctx.partial_list::<Node>()?;
    let seen = ctx.partial_list::<Pod>()?;
    let mut findings: Vec<Finding> = sets.iter().filter_map(|set| not_ready(ctx, set, seen, nodes)).collect();
    // Only a complete list of pods proves that a node has no installer.
    if let Ok(pods) = ctx.complete_list::<Pod>() {
        findings.extend(without_installer(ctx, &sets, pods, nodes));
    }
    Ok(findings.into())
}

/// The verdict without any DaemonSet: if the control plane relies on one, another check reports it.
fn nowhere(ctx: &Context<'_>) -> Judgement {
    // An incomplete list is already a gap.
    if ctx.complete_list::<DaemonSet>().is_err() {
        return Ok(Verdict::fine());
    }
    Err(match expected(ctx)? {
        Some(_) => Unjudged::blocked("cni-object-missing", "no DaemonSet installs linkerd-cni"),
        None => Unjudged::not_applicable("linkerd-cni is not installed"),
    })
}

/// Pods of the DaemonSet that are not ready, except those that are starting, and those that have just become
/// unready if the control plane does not rely on linkerd-cni.
fn not_ready(ctx: &Context<'_>, set: &Workload, pods: &[Pod], nodes: &[Node]) -> Option<Finding> {
    let down: BTreeSet<&str> = nodes.iter().filter(|node| !is_ready(node)).map(name).collect();
    let meta = &set.metadata;
    let status = &set.status;
    let unready: Vec<&Pod> = pods
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && belongs(pod, meta.name.as_str(), &meta.namespace))
        .filter(|pod| pod.metadata.deletion_timestamp.is_none())
        .filter(|pod| pod.condition("Ready").is_none_or(|condition| condition.status != "True"))
        .collect();
    // An installer on a node that is down is not at fault.
    let (lost, waiting): (Vec<&Pod>, Vec<&Pod>) =
        unready.into_iter().partition(|pod| down.contains(pod.node_name.as_str()));
    let (starting, waiting): (Vec<&Pod>, Vec<&Pod>) =
        waiting.into_iter().partition(|pod| !pod.node_name.is_empty() && ctx.is_starting(pod));
    let lacking = status.desired_number_scheduled.saturating_sub(status.number_ready);
    let excused = lost.len() + starting.len() + awaited(ctx, set, pods, nodes);
    let lacks = usize::try_from(lacking).is_ok_and(|lacking| lacking > excused);
    let counted = lacks && relies_on_cni(ctx);
    let has_settled = |pod: &Pod| !pod.node_name.is_empty() && !ctx.within_grace(unready_since(pod));
    let stuck: Vec<&Pod> = waiting.into_iter().filter(|pod| counted || has_settled(pod)).collect();
    if stuck.is_empty() && !counted {
        return starting_only(ctx, set, &starting);
    }
    let message = if counted {
        "some pods of linkerd-cni, on which the control plane relies, are not ready. A node on which it was \
         never ready starts no meshed pod; on the others the entry, token and binary are not kept up to date"
    } else {
        "some linkerd-cni pods are not ready: on their nodes the entry, token and binary are not kept up to \
         date, and a rollout stops"
    };
    let finding = ctx
        .finding(subject(set, &stuck), message)
        .severity(if counted { Severity::Error } else { Severity::Warning })
        .evidences((status.number_ready < status.desired_number_scheduled).then(|| {
            let said = format!("{} of {} ready", status.number_ready, status.desired_number_scheduled);
            Evidence::field(shown(set), "status", said)
        }))
        .evidences(stuck.iter().take(NAMED).map(|pod| shown_unready(ctx, pod)))
        .remedy(see_why(set, stuck.first().copied()));
    Some(finding)
}

/// How many nodes have no pod of the DaemonSet yet, because the node or the DaemonSet is new.
fn awaited(ctx: &Context<'_>, set: &Workload, pods: &[Pod], nodes: &[Node]) -> usize {
    let meta = &set.metadata;
    let covered: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| belongs(pod, meta.name.as_str(), &meta.namespace))
        .map(|pod| pod.node_name.as_str())
        .collect();
    let is_new =
        |node: &&Node| ctx.within_grace(meta.creation_timestamp) || ctx.within_grace(node.metadata.creation_timestamp);
    let bare = nodes.iter().filter(|node| runs_pods_on_linux(node) && !covered.contains(name(node)));
    bare.filter(is_new).count()
}

/// An info about pods that are starting, for which `linkerd check` waits.
fn starting_only(ctx: &Context<'_>, set: &Workload, starting: &[&Pod]) -> Option<Finding> {
    let status = &set.status;
    let first = starting.first()?;
    if status.number_ready >= status.desired_number_scheduled {
        return None;
    }
    let finding = ctx
        .finding(
            subject(set, starting),
            "linkerd-cni is starting: the pod is less than five minutes old, and no container has failed",
        )
        .severity(Severity::Info)
        .rows_as(Severity::Error)
        .parameter("starting")
        .evidences(starting.iter().take(NAMED).map(|pod| shown_unready(ctx, pod)))
        .remedy(see_why(set, Some(first)));
    Some(finding)
}

fn subject(set: &Workload, pods: &[&Pod]) -> Subject {
    Subject::Object {
        kind: Kind::DaemonSet.to_string(),
        namespace: set.metadata.namespace.to_string(),
        name: set.metadata.name.clone(),
        pods: pods.iter().map(|pod| pod.metadata.name.clone()).collect(),
    }
}

/// Evidence of an unready pod: its node, the duration and the reason.
fn shown_unready(ctx: &Context<'_>, pod: &Pod) -> Evidence {
    let object = pod.described();
    let place = match pod.node_name.as_str() {
        "" => "not ready, not scheduled to a node".to_owned(),
        node => format!("not ready on {node}"),
    };
    let since = unready_since(pod).get();
    let since = since.map(|since| format!(" for {}", describe(ctx.now().duration_since(since))));
    Evidence::field(object, "status", format!("{place}{}{}", since.unwrap_or_default(), why(pod)))
}

/// The steps to find out why pods of a DaemonSet are not ready or do not exist.
fn see_why(set: &Workload, first: Option<&Pod>) -> Remedy {
    let (namespace, name) = (&set.metadata.namespace, &set.metadata.name);
    let status = kubectl().namespace(namespace).words("rollout status").operand(format!("daemonset/{name}"));
    let remedy = Remedy::verified_by(status);
    match first {
        Some(pod) => remedy.command(
            "Find out why its pods are not ready: read the events at the end, and the installer's log",
            described(pod),
        ),
        None => remedy.command(
            "Find out why its pods are not created: read the events at the end",
            kubectl().namespace(namespace).words("describe daemonset").operand(name),
        ),
    }
}

/// Whether the control plane relies on linkerd-cni, or will. If this is not known, a gap is noted.
fn relies_on_cni(ctx: &Context<'_>) -> bool {
    ctx.or_note(expected(ctx)).flatten().is_some()
}

/// The time since which a pod has not been ready.
fn unready_since(pod: &Pod) -> Time {
    let since = pod.condition("Ready").and_then(|condition| condition.last_transition_time.get());
    since.map_or(pod.metadata.creation_timestamp, Time::from)
}

/// `24 s`, `40 min`, `3 d`.
fn describe(age: SignedDuration) -> String {
    match age.as_secs().max(0) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// The reasons of its containers, in parentheses.
fn why(pod: &Pod) -> String {
    let reason = pod.status.container_statuses.iter().find_map(|status| {
        let waiting = status.state.waiting().map(|waiting| waiting.reason.clone());
        let ended = status.state.terminated().map(|ended| format!("exit {}", ended.exit_code));
        waiting.or(ended).map(|said| format!(" ({}: {said})", status.name))
    });
    reason.unwrap_or_default()
}

/// Nodes on which meshed pods rely on the plugin, but on which no DaemonSet installs it.
fn without_installer(ctx: &Context<'_>, sets: &[&Workload], pods: &[Pod], nodes: &[Node]) -> Vec<Finding> {
    let refused = sets.iter().find(|set| refused_by_pod_security(ctx, set).is_some()).copied();
    bare(ctx, pods, nodes).into_iter().map(|(node, pods)| uncovered(ctx, sets, (node, &pods), refused)).collect()
}

/// The nodes without an installer on which pods rely on the plugin, with these pods.
pub(super) fn bare<'a>(ctx: &Context<'_>, pods: &'a [Pod], nodes: &'a [Node]) -> Vec<(&'a Node, Vec<&'a Pod>)> {
    let covered: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && !pod.is_finished())
        .map(|pod| pod.node_name.as_str())
        .collect();
    let mut relying: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| relies_on_plugin(pod)) {
        relying.entry(pod.node_name.as_str()).or_default().push(pod);
    }
    let old_enough = |node: &&Node| !ctx.is_recent(node.metadata.creation_timestamp);
    let bare = nodes.iter().filter(|node| runs_pods_on_linux(node) && !covered.contains(name(node))).filter(old_enough);
    bare.filter_map(|node| Some((node, relying.remove(name(node))?))).collect()
}

/// The finding about a node without an installer; `refused` is the DaemonSet whose pods Pod Security rejects.
fn uncovered(
    ctx: &Context<'_>,
    sets: &[&Workload],
    (node, pods): (&Node, &[&Pod]),
    refused: Option<&Workload>,
) -> Finding {
    let named = pods.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
    let selectors = sets.iter().filter_map(|set| {
        let selector = &set.spec.template.spec.node_selector;
        let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let path = "spec.template.spec.nodeSelector";
        (!pairs.is_empty()).then(|| Evidence::field(shown(set), path, pairs.join(", ")))
    });
    let remedy = match refused {
        Some(_) => pods_restarted(ctx, Remedy::new(), &[name(node)]),
        None => cover(ctx, name(node)),
    };
    let finding = ctx
        .finding(
            Subject::node(name(node)),
            "meshed pods on the node rely on linkerd-cni, but its DaemonSet has no pod there. The traffic of new \
         pods is not redirected: they fail in linkerd-network-validator or run outside the mesh",
        )
        .evidence(Evidence::other(
            format!("node {}", name(node)),
            format!("meshed without linkerd-init: {}", some(named, NAMED)),
        ))
        .evidences(selectors.filter(|_| refused.is_none()))
        .evidences(refused.and_then(|set| Some(events::quoted(shown(set), refused_by_pod_security(ctx, set)?))))
        .remedy(remedy)
        .tie(not_redirected(name(node)));
    refused.map(pods_refused).into_iter().fold(finding, Finding::tie)
}

/// Adds the step that replaces the pods on nodes which had no installer.
pub(super) fn pods_restarted(ctx: &Context<'_>, remedy: Remedy, nodes: &[&str]) -> Remedy {
    let words = match nodes {
        [_] => "Restart the meshed workloads whose pods are on the node: rules are set only when a pod starts",
        _ => "Restart the meshed workloads whose pods are on these nodes: rules are set only when a pod starts",
    };
    meshed_replaced(ctx, remedy, words, nodes)
}

fn cover(ctx: &Context<'_>, node: &str) -> Remedy {
    let target = target(ctx);
    let installers = kubectl().namespace(target.namespace).words("get pods -l k8s-app=linkerd-cni -o wide");
    let of_node = kubectl()
        .words("get node")
        .operand(Arg::node())
        .words("-o")
        .arg("jsonpath={.spec.taints}{\"\\n\"}{.metadata.labels}{\"\\n\"}");
    let of_set = kubectl().namespace(target.namespace).words("get daemonset").operand(target.name).words("-o").arg(
        "jsonpath={.spec.template.spec.tolerations}{\"\\n\"}{.spec.template.spec.nodeSelector}{\"\\n\"}\
             {.spec.template.spec.affinity}{\"\\n\"}",
    );
    let remedy = Remedy::verified_by(installers).command(
        "Compare the node's taints and labels with the tolerations, the node selector and the affinity of \
         the DaemonSet",
        Command::about_node(node, [of_node, of_set]),
    );
    let remedy = chart::set(
        ctx,
        remedy,
        "If tolerations are missing, let the DaemonSet tolerate every taint, as the chart does by default",
        None,
        &[ChartValue::new("tolerations[0].operator", "Exists")],
    );
    pods_restarted(ctx, remedy, &[node])
}

fn belongs(pod: &Pod, set: &str, namespace: &str) -> bool {
    let owners = &pod.metadata.owner_references;
    pod.metadata.namespace == namespace && owners.iter().any(|owner| owner.kind == "DaemonSet" && owner.name == set)
}

fn is_ready(node: &Node) -> bool {
    node.not_ready().is_none()
}

fn name(node: &Node) -> &str {
    &node.metadata.name
}
