//! `windows-pod-injected`: Windows pods were injected, but the injector's containers do not run there.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};

/// The label of a node's operating system, and its value for Windows.
const OS: &str = "kubernetes.io/os";
const WINDOWS: &str = "windows";
/// The injected containers, in the order in which they run.
const INJECTED: [&str; 3] = [INIT_CONTAINER, VALIDATOR_CONTAINER, PROXY_CONTAINER];
/// Waiting reasons of a container that has not been started yet.
const NOT_YET: [&str; 3] = ["", "PodInitializing", "ContainerCreating"];
/// Maximum number of quoted pods per workload.
const QUOTED: usize = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (pods, nodes) = (ctx.partial_list::<Pod>(), ctx.partial_list::<Node>());
    let (pods, nodes) = (pods?, nodes?);
    let windows: BTreeSet<&str> = nodes
        .iter()
        .filter(|node| node.status.node_info.operating_system == WINDOWS || node.metadata.label(OS) == Some(WINDOWS))
        .map(|node| node.metadata.name.as_str())
        .collect();
    let mut groups: BTreeMap<Owner, Vec<(&Pod, Evidence)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        let selects = pod.spec.node_selector.get(OS).is_some_and(|os| *os == *WINDOWS);
        if !(selects || windows.contains(&*pod.node_name)) || pod.spec.proxy().is_none() {
            continue;
        }
        if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        if let Some(failing) = failing(pod) {
            groups.entry(ctx.owners().owner(pod)).or_default().push((pod, failing));
        }
    }
    Ok(groups.into_iter().map(|(owner, seen)| finding(ctx, &owner, seen)).collect())
}

/// Evidence of the injected container that does not run, with the kubelet's reason.
fn failing(pod: &Pod) -> Option<Evidence> {
    let object = pod.described();
    INJECTED.into_iter().find_map(|name| {
        let status = pod.container_status(name)?;
        let waiting = status.state.waiting().filter(|waiting| !NOT_YET.contains(&waiting.reason.as_str()));
        if let Some(waiting) = waiting {
            let message = if waiting.message.is_empty() { String::new() } else { format!(": {}", waiting.message) };
            let said = format!("{}{message}", waiting.reason);
            return Some(Evidence::field(&object, format!("{name}: state.waiting"), said));
        }
        let ended = status.state.terminated().filter(|ended| ended.exit_code != 0)?;
        let said = format!("{}, exit code {}", ended.reason, ended.exit_code);
        Some(Evidence::field(&object, format!("{name}: state.terminated"), said))
    })
}

fn finding(ctx: &Context<'_>, owner: &Owner, seen: Vec<(&Pod, Evidence)>) -> Finding {
    let names = seen.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let on: BTreeSet<&str> = seen.iter().map(|(pod, _)| &*pod.node_name).collect();
    let systems: Vec<Evidence> = ctx
        .optional_list::<Node>()
        .iter()
        .filter(|node| on.contains(node.metadata.name.as_str()))
        .take(QUOTED)
        .map(|node| {
            let info = &node.status.node_info;
            let said = if info.os_image.is_empty() { WINDOWS } else { &info.os_image };
            Evidence::field(format!("Node {}", node.metadata.name), "status.nodeInfo", said)
        })
        .collect();
    let message = "The workload runs on Windows and is injected. Linkerd's images are for Linux, so its pods \
                   do not start";
    ctx.finding(owner.subject(names), message)
        .evidences(seen.into_iter().take(QUOTED).map(|(_, evidence)| evidence))
        .evidences(systems)
        .remedy(remedy(ctx, owner))
}

fn remedy(ctx: &Context<'_>, owner: &Owner) -> Remedy {
    let act = format!("Exclude it from the mesh: set {INJECT}: disabled");
    let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, owner, &[(INJECT, Some("disabled"))]);
    remedy.note(
        "If policies of its destinations require an identity, authorize it by its addresses: it is then a \
         client without one",
    )
}
