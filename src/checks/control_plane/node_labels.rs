//! Repairs of a component whose pods find no node.

use crate::checks::prelude::*;
use crate::checks::quota;
use crate::checks::words::some;
use crate::model::control_plane::Component;
use crate::model::managed_by::ManagedBy;
use crate::model::quantity;

/// Labels that the pods of a component require and that no node has. Empty if nodes were not read.
pub(super) fn labels_on_no_node<'a>(ctx: &Context<'_>, component: &Component<'a>) -> Vec<(&'a str, &'a str)> {
    let nodes = ctx.for_steps::<Node>();
    let wanted = component.deployment.spec.template.spec.node_selector.iter();
    let wanted = wanted.map(|(key, value)| (&**key, &**value));
    let lacking = wanted
        .filter(|(key, value)| !nodes.is_empty() && !nodes.iter().any(|node| node.metadata.label(key) == Some(value)));
    lacking.collect()
}

/// Adds the steps for labels that no node has.
pub(super) fn labelled(
    ctx: &Context<'_>,
    component: &Component<'_>,
    remedy: Remedy,
    labels: &[(&str, &str)],
) -> Remedy {
    let listed: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let text = listed.join(", ");
    let meta = &component.deployment.metadata;
    let remedy = match (is_in_values(ctx, labels), ManagedBy::from_metadata(meta).in_git()) {
        (Some(false), None) => remedy.command(
            format!(
                "Remove nodeSelector {text} from the Deployment, since no node has it. The chart's values do not set it"
            ),
            kubectl()
                .namespace(&meta.namespace)
                .words("patch deployment")
                .operand(&meta.name)
                .words("--type=json")
                .option("-p", without(labels)),
        ),
        (Some(false), Some(words)) => remedy.step(
            StepKind::Command,
            format!("Remove nodeSelector {text} from the Deployment, since no node has it: {words}"),
        ),
        (Some(true) | None, _) => remedy.step(
            StepKind::ChartValue,
            format!("Remove {text} from nodeSelector in the values of the chart, since no node has it"),
        ),
    };
    let label = |node: Arg| kubectl().words("label node").operand(node).operands(&listed);
    match usable_nodes(ctx).split_first() {
        Some((first, others)) => {
            let others = match others {
                [] => String::new(),
                names => format!(". Other nodes: {}", some(names, NAMED)),
            };
            remedy.command(format!("Or label a node, such as {first}{others}"), label(Arg::from(first)))
        }
        None => {
            let node = Arg::placeholder("NODE_NAME");
            remedy.command("Or label a node (set NODE_NAME to its name)", label(node))
        }
    }
}

/// Maximum number of named nodes.
const NAMED: usize = 5;

/// The label of Kubernetes control-plane nodes, which usually have a taint.
const KUBERNETES_CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// The names of the Linux nodes for pods.
fn usable_nodes(ctx: &Context<'_>) -> Vec<String> {
    let is_usable = |node: &&Node| {
        !node.spec.unschedulable
            && node.status.node_info.operating_system != "windows"
            && node.metadata.label(KUBERNETES_CONTROL_PLANE).is_none()
    };
    ctx.for_steps::<Node>().iter().filter(is_usable).map(|node| node.metadata.name.clone()).collect()
}

/// Whether the chart's values set one of these labels; `None` if the values are unknown.
fn is_in_values(ctx: &Context<'_>, labels: &[(&str, &str)]) -> Option<bool> {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten()?;
    let values = config.chart_values()?;
    let leaves = values.leaves();
    let sets =
        |key: &str| leaves.iter().any(|leaf| leaf.names.contains(&"nodeSelector") && leaf.names.last() == Some(&key));
    Some(labels.iter().any(|(key, _)| sets(key)))
}

/// The JSON patch that removes them.
fn without(labels: &[(&str, &str)]) -> String {
    let each = labels.iter().map(|(key, _)| {
        let key = key.replace('~', "~0").replace('/', "~1");
        format!("{{\"op\":\"remove\",\"path\":\"/spec/template/spec/nodeSelector/{key}\"}}")
    });
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}

/// The step for labels that no node has, if they are unknown.
pub(super) const LABELS: &str = "Correct nodeSelector and nodeAffinity of the chart, or label a node: no \
     node has the labels that the pods require";

/// The step for requests that no node has room for.
pub(super) const ROOM: &str = "Add a node, or free CPU or memory: no node has enough for the requests of the pods";

/// The step for requests that are above the amounts of every node, even of an empty one. `None` if some node is large
/// enough, or its amounts are unknown.
pub(super) fn too_large(ctx: &Context<'_>, component: &Component<'_>) -> Option<String> {
    let nodes = ctx.for_steps::<Node>();
    let largest = |resource: &str| -> Option<f64> {
        let amounts = nodes.iter().map(|node| quantity::read(node.status.allocatable.get(resource)?));
        let amounts: Option<Vec<f64>> = amounts.collect();
        amounts?.into_iter().reduce(f64::max)
    };
    let (cpu, memory) = quota::requests(&component.deployment.spec.template.spec);
    let shown = |resource: &str, amount: f64| match resource {
        "cpu" => format!("{:.0}m", amount * 1000.0),
        _ => format!("{:.0}Mi", amount / (1024.0 * 1024.0)),
    };
    let above = [("cpu", cpu), ("memory", memory)].into_iter().find_map(|(resource, request)| {
        let most = largest(resource).filter(|most| request > *most)?;
        let (request, most) = (shown(resource, request), shown(resource, most));
        Some(format!("they request {resource} {request}, and the largest node has {most}"))
    })?;
    Some(format!("Lower the requests of the pods in the values of the chart, or add a larger node: {above}"))
}

/// The steps for each reason why the scheduler finds no node.
pub(super) fn unplaced(said: &str) -> Vec<&'static str> {
    const STEPS: [(&str, &str); 5] = [
        (
            "anti-affinity",
            "Add a node that the pods tolerate, remove a taint, or lower controllerReplicas: the pods must run on \
             different nodes",
        ),
        ("node affinity/selector", LABELS),
        ("untolerated taint", "Remove the taint from a node, or add a toleration to the chart value tolerations"),
        ("Insufficient ", ROOM),
        ("were unschedulable", "End the maintenance of a node: kubectl uncordon NODE"),
    ];
    let is_scheduling = said.contains("nodes are available");
    let named = STEPS.iter().filter(|(words, _)| is_scheduling && said.contains(words));
    named.map(|(_, step)| *step).collect()
}
