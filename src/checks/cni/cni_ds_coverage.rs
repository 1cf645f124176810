//! `cni-ds-coverage`: pods rely on linkerd-cni where its DaemonSet brings no plugin, or where its own pods are not ready.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::installers::{installers, no_daemon_set, none_seen, not_redirected, shown};
use super::nodes::{relied_on, runs_pods_on_linux};
use super::remedy;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::cni;
use crate::model::objects::pod::INIT_CONTAINER;
use crate::model::objects::{ConfigMap, Node, Pod, Workload};

/// How long the pods of a DaemonSet may take on a new node, and in a rollout.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);
/// How many pods of a node are named.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return nowhere(ctx);
    }
    let nodes = ctx.seen::<Node>(Kind::Node)?;
    let seen = ctx.seen::<Pod>(Kind::Pod)?;
    let mut findings: Vec<Finding> = sets.iter().filter_map(|set| not_ready(ctx, set, seen, nodes)).collect();
    // That a node has no installer takes every pod there is.
    if let Ok(pods) = ctx.every::<Pod>(Kind::Pod) {
        findings.extend(without_installer(ctx, &sets, pods, nodes));
    }
    Ok(findings.into())
}

/// Without any DaemonSet: a fault where the control plane counts on one. With files of nodes, what these say of their
/// entries says more.
fn nowhere(ctx: &Context<'_>) -> Judgement {
    let none = none_seen(ctx);
    if !matches!(none, Verdict::NotApplicable(_)) || ctx.snapshots().is_ok() {
        return Ok(none);
    }
    let Some(enabled) = relied_on(ctx) else {
        // That nothing counts on it takes the values.
        ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config")?;
        return Ok(none);
    };
    let target = remedy::target(ctx);
    let message = "the control plane counts on linkerd-cni, and no DaemonSet installs it: nothing redirects the traffic of pods that start on a node without the plugin, so they fail in linkerd-network-validator or run outside the mesh";
    let finding = ctx
        .finding(Subject::object(Kind::DaemonSet, target.namespace, target.name), message)
        .evidence(enabled)
        .evidence(no_daemon_set())
        .remedy(
            Remedy::verified_by(format!("kubectl -n {} rollout status daemonset/{}", target.namespace, target.name))
                .run(
                    StepKind::Command,
                    "Install linkerd-cni again, with the values that it had (Helm: the chart linkerd2-cni)",
                    "linkerd install-cni | kubectl apply -f -",
                )
                .step(
                    StepKind::Note,
                    "Or install Linkerd without cniEnabled, and restart the meshed workloads: linkerd-init then redirects their traffic",
                ),
        );
    let nodes = ctx.hints::<Node>(Kind::Node).iter().filter(|node| runs_pods_on_linux(node));
    Ok(vec![nodes.fold(finding, |finding, node| finding.tie(not_redirected(name(node))))].into())
}

/// Pods of the DaemonSet that are long on a node which works, and not ready.
fn not_ready(ctx: &Context<'_>, set: &Workload, pods: &[Pod], nodes: &[Node]) -> Option<Finding> {
    let down: BTreeSet<&str> = nodes.iter().filter(|node| !is_ready(node)).map(name).collect();
    let meta = &set.metadata;
    let stuck: Vec<&Pod> = pods
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && belongs(pod, meta.name.as_str(), &meta.namespace))
        .filter(|pod| !pod.spec.node_name.is_empty() && !down.contains(pod.spec.node_name.as_str()))
        .filter(|pod| pod.metadata.deletion_timestamp.is_none())
        .filter(|pod| {
            let ready = pod.condition("Ready");
            let since = ready.and_then(|c| c.last_transition_time).or(pod.metadata.creation_timestamp);
            ready.is_none_or(|condition| condition.status != "True")
                && since.is_some_and(|since| ctx.now().duration_since(since) > PATIENCE)
        })
        .collect();
    let first = stuck.first()?;
    let target = remedy::target(ctx);
    let status = &set.status;
    let finding = ctx
        .finding(
            Subject::Object {
                kind: Kind::DaemonSet.to_string(),
                namespace: meta.namespace.clone(),
                name: meta.name.clone(),
                pods: stuck.iter().map(|pod| pod.metadata.name.clone()).collect(),
            },
            "linkerd-cni is not ready on every node that it should be on: there its entry, its token and its binary are not kept up to date, and a rollout stops",
        )
        .severity(Severity::Warning)
        .evidences((status.number_ready < status.desired_number_scheduled).then(|| {
            let said = format!("{} of {} ready", status.number_ready, status.desired_number_scheduled);
            Evidence::field(shown(set), "status", said)
        }))
        .evidences(stuck.iter().take(NAMED).map(|pod| {
            let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
            Evidence::field(object, "status", format!("not ready on {}{}", pod.spec.node_name, why(pod)))
        }))
        .remedy(
            Remedy::verified_by(format!("kubectl -n {} rollout status daemonset/{}", meta.namespace, meta.name))
                .run(
                    StepKind::Command,
                    "See why its pods do not become ready: the events at the end, and what the installer wrote before it ended",
                    format!(
                        "kubectl -n {ns} describe pod {pod}\nkubectl -n {ns} logs {pod} -c {container} --previous",
                        ns = target.namespace,
                        pod = first.metadata.name,
                        container = cni::INSTALLER
                    ),
                ),
        );
    Some(finding)
}

/// What its containers say, in parentheses.
fn why(pod: &Pod) -> String {
    let reason = pod.status.container_statuses.iter().find_map(|status| {
        let waiting = status.state.waiting.as_ref().map(|waiting| waiting.reason.clone());
        let ended = status.state.terminated.as_ref().map(|ended| format!("exit {}", ended.exit_code));
        waiting.or(ended).map(|said| format!(" ({}: {said})", status.name))
    });
    reason.unwrap_or_default()
}

/// Nodes on which meshed pods rely on the plugin, and to which no DaemonSet brings it.
fn without_installer(ctx: &Context<'_>, sets: &[&Workload], pods: &[Pod], nodes: &[Node]) -> Vec<Finding> {
    let covered: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && !pod.is_finished())
        .map(|pod| pod.spec.node_name.as_str())
        .collect();
    let mut relying: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| relies_on_plugin(pod)) {
        relying.entry(pod.spec.node_name.as_str()).or_default().push(pod);
    }
    let old_enough = |node: &&Node| {
        let since = node.metadata.creation_timestamp;
        since.is_none_or(|since| ctx.now().duration_since(since) > PATIENCE)
    };
    let bare = nodes
        .iter()
        .filter(|node| runs_pods_on_linux(node) && !covered.contains(name(node)))
        .filter(old_enough);
    bare.filter_map(|node| {
        let pods = relying.get(name(node))?;
        Some(uncovered(ctx, sets, node, pods))
    })
    .collect()
}

fn uncovered(ctx: &Context<'_>, sets: &[&Workload], node: &Node, pods: &[&Pod]) -> Finding {
    let target = remedy::target(ctx);
    let named: Vec<String> = pods
        .iter()
        .take(NAMED)
        .map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name))
        .collect();
    let more = if pods.len() > NAMED { format!(" and {} more", pods.len() - NAMED) } else { String::new() };
    let selectors = sets.iter().filter_map(|set| {
        let selector = &set.spec.template.spec.node_selector;
        let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let path = "spec.template.spec.nodeSelector";
        (!pairs.is_empty()).then(|| Evidence::field(shown(set), path, pairs.join(", ")))
    });
    ctx.finding(
        Subject::node(name(node)),
        "meshed pods of the node rely on linkerd-cni, and its DaemonSet has no pod there: nothing redirects the traffic of pods that start there, so they fail in linkerd-network-validator or run outside the mesh",
    )
    .evidence(Evidence::other(format!("node {}", name(node)), format!("meshed without linkerd-init: {}{more}", named.join(", "))))
    .evidences(selectors)
    .remedy(
        Remedy::verified_by(format!(
            "kubectl -n {} get pods -l k8s-app=linkerd-cni -o wide",
            target.namespace
        ))
        .run(
            StepKind::Command,
            "Compare the node's taints and labels with the tolerations, the node selector and the affinity of the DaemonSet",
            format!(
                "NODE={node}\nkubectl get node \"$NODE\" -o jsonpath='{{.spec.taints}}{{\"\\n\"}}{{.metadata.labels}}{{\"\\n\"}}'\n\
                 kubectl -n {ns} get daemonset {set} -o jsonpath='{{.spec.template.spec.tolerations}}{{\"\\n\"}}{{.spec.template.spec.nodeSelector}}{{\"\\n\"}}{{.spec.template.spec.affinity}}{{\"\\n\"}}'",
                node = name(node),
                ns = target.namespace,
                set = target.name
            ),
        )
        .run(
            StepKind::ChartValue,
            "Where it is the tolerations: let the DaemonSet tolerate every taint, as the chart does by default",
            target.set_values(None, &["'tolerations[0].operator=Exists'".to_owned()]),
        )
        .step(StepKind::Note, "Then delete the meshed pods of the node: rules are set only when a pod starts"),
    )
    .tie(not_redirected(name(node)))
}

/// Whether a pod's traffic is redirected by the plugin, or by nothing.
fn relies_on_plugin(pod: &Pod) -> bool {
    pod.spec.proxy().is_some()
        && pod.spec.container(INIT_CONTAINER).is_none()
        && !pod.spec.host_network
        && !pod.is_finished()
        && !pod.spec.node_name.is_empty()
}

fn belongs(pod: &Pod, set: &str, namespace: &str) -> bool {
    let owners = &pod.metadata.owner_references;
    pod.metadata.namespace == namespace
        && owners.iter().any(|owner| owner.kind == "DaemonSet" && owner.name == set)
}

fn is_ready(node: &Node) -> bool {
    !node.status.conditions.iter().any(|c| c.kind == "Ready" && c.status != "True")
}

fn name(node: &Node) -> &str {
    &node.metadata.name
}
