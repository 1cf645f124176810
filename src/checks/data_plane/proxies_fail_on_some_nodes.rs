//! `proxies-fail-on-some-nodes`: every proxy on some nodes stays without certificate or configuration, and
//! proxies on other nodes work.

use std::collections::BTreeSet;

use crate::checks::prelude::*;
use crate::checks::reported::{containers, log_of, reported};
use crate::model::control_plane::serving;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::node_split::NodeSplit;
use crate::model::pod_status::{has_failed, lost_readiness};
use crate::objects::Time;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::ContainerState;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;
/// Rows of `mesh-logs.yaml` that a proxy without a connection to the control plane logs.
const UNCONNECTED: [&str; 2] = ["identity-not-obtained", "control-plane-unresolved"];
/// Maximum number of nodes of the control plane that the message names.
const NAMED: usize = 2;
/// Exit codes of a proxy that its node or its connections do not cause: invalid settings, crashes.
const OTHER_EXITS: [i32; 4] = [64, 101, 134, 139];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let meshed = |pod: &&Pod| {
        pod.metadata.label(CONTROL_PLANE_NS) == Some(home)
            && pod.spec.proxy().is_some()
            && !pod.is_finished()
            && pod.metadata.deletion_timestamp.is_none()
    };
    let is_ready = |pod: &&Pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready);
    let (working, others): (Vec<&Pod>, Vec<&Pod>) = pods.iter().filter(meshed).partition(is_ready);
    let failing: Vec<&Pod> = others
        .into_iter()
        .filter(|pod| pod.metadata.label(COMPONENT).is_none() && ctx.judges(&pod.metadata.namespace))
        .filter(|pod| is_unconnected(ctx, pod))
        .collect();
    // A control plane that does not answer explains it on every node.
    let answers = ["identity", "destination"].iter().all(|name| serving(pods, home, name) > 0);
    if failing.len() < 2 || !answers {
        return Ok(Vec::new().into());
    }
    let nodes = ctx.partial_list::<Node>()?;
    let groups = ctx.knowledge.platforms().node_groups();
    let split = NodeSplit::new(&failing, &working, nodes, groups);
    let Some(split) = split.filter(|_| is_of_nodes(ctx, &failing, &working)) else {
        return Ok(Vec::new().into());
    };
    Ok(finding(ctx, &failing, &working, &split).into())
}

/// Whether a pod's proxy started, is not ready, and shows no reason other than its connections.
fn is_unconnected<'a>(ctx: &Context<'a>, pod: &'a Pod) -> bool {
    let Some(status) = pod.container_status(PROXY_CONTAINER) else { return false };
    let last = status.state.terminated().or_else(|| status.last_state().terminated());
    let has_started = matches!(status.state, ContainerState::Running(_)) || last.is_some();
    let has_other_reason =
        last.is_some_and(|ended| ended.reason == "OOMKilled" || OTHER_EXITS.contains(&ended.exit_code));
    let since = pod.condition("Ready").and_then(|condition| condition.last_transition_time.get());
    let since = since.map_or(pod.metadata.creation_timestamp, Time::from);
    let was_ready = lost_readiness(pod, Some(PROXY_CONTAINER)).is_some();
    let is_starting = ctx.is_recent(since) && !was_ready && !has_failed(pod);
    let logs = ctx.log_hints();
    let says_other = containers(ctx, pod).any(|name| {
        let said = reported(ctx, log_of(logs, pod, name), pod, name);
        said.iter().any(|row| !UNCONNECTED.contains(&row.id()))
    });
    has_started && !has_other_reason && !is_starting && !says_other
}

/// Whether the nodes rather than one workload are the reason: several workloads fail, or pods of the same
/// workload work.
fn is_of_nodes(ctx: &Context<'_>, failing: &[&Pod], working: &[&Pod]) -> bool {
    let owners = |pods: &[&Pod]| -> BTreeSet<Owner> { pods.iter().map(|pod| ctx.owners().owner(pod)).collect() };
    let (failing, working) = (owners(failing), owners(working));
    failing.len() > 1 || !failing.is_disjoint(&working)
}

fn finding(ctx: &Context<'_>, failing: &[&Pod], working: &[&Pod], split: &NodeSplit<'_>) -> Finding {
    let home: BTreeSet<&str> = working
        .iter()
        .filter(|pod| pod.metadata.label(COMPONENT).is_some())
        .map(|pod| pod.node_name.as_str())
        .collect();
    let home: Vec<&str> = home.into_iter().collect();
    let message = format!(
        "no proxy that started on these nodes gets its certificate or configuration; proxies on other nodes \
         do. Most likely a firewall blocks them from the nodes of the control plane{}",
        if home.len() <= NAMED { format!(" ({})", home.join(", ")) } else { String::new() }
    );
    let quoted = failing
        .iter()
        .take(QUOTED)
        .map(|pod| Evidence::field(pod.described(), format!("status of container {PROXY_CONTAINER}"), "not ready"));
    let ties = failing.iter().map(|pod| Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()));
    let mut finding = ctx
        .finding(Subject::thing("nodes"), message)
        .likely()
        .evidence(Evidence::other("Proxies fail only on", split.failing_nodes()))
        .evidence(Evidence::other("Proxies work on", split.working_nodes()))
        .evidence(Evidence::other("Nodes of the control plane", home.join(", ")))
        .evidences(quoted)
        .remedy(remedy(failing));
    finding.subjects = split.failing.iter().map(|name| Subject::node(name)).collect();
    ties.fold(finding, Finding::tie)
}

fn remedy(failing: &[&Pod]) -> Remedy {
    let allow = "Allow TCP from pods on these nodes to pods on the other nodes, in security groups, firewalls \
                 and routes: ports 8080 (identity), 8086 (destination), 8090 (policy) and 4143 (proxies)";
    let dns = "Allow UDP and TCP port 53 of the cluster's DNS from these nodes, too";
    let Some(first) = failing.first() else {
        return Remedy::new().step(StepKind::Note, allow).step(StepKind::Note, dns);
    };
    let namespace = &first.metadata.namespace;
    let log = kubectl().namespace(namespace).words("logs").operand(&first.metadata.name);
    let watch = kubectl().namespace(namespace).words("get pods -o wide --watch");
    Remedy::new()
        .command(
            "Read which addresses time out in the log of one of these proxies",
            log.option("-c", PROXY_CONTAINER).words("--tail=20"),
        )
        .step(StepKind::Note, allow)
        .step(StepKind::Note, dns)
        .run(StepKind::Command, "Wait: the proxies become ready, and no restart is needed", watch)
}
