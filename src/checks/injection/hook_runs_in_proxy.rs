//! `hook-runs-in-proxy`: Velero runs a hook in the proxy, which is the first container of the pod.

use std::collections::BTreeMap;

use super::unmeshed::counts;
use crate::annotations::VELERO_HOOKS;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, KeyChange};
use crate::checks::words::some;
use crate::model::refusal::LINKERDS;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum number of quoted pods per workload.
const QUOTED: usize = 3;
/// Maximum number of containers that a step names.
const NAMED: usize = 5;

/// The annotations of hooks that name no container: of the command, and of the container.
type Hooks = Vec<(&'static str, &'static str)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut groups: BTreeMap<(Owner, Hooks), Vec<&Pod>> = BTreeMap::new();
    let owners = ctx.owners();
    for pod in ctx.partial_list::<Pod>()?.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        let hooks = hooks(pod);
        if !hooks.is_empty() && counts(pod) {
            groups.entry((owners.owner(pod), hooks)).or_default().push(pod);
        }
    }
    let findings = groups.iter().map(|((owner, hooks), pods)| finding(ctx, owner, hooks, pods));
    Ok(findings.collect())
}

/// The hooks of a pod that run in its proxy.
fn hooks(pod: &Pod) -> Hooks {
    // A native proxy is an init container, and a proxy without its hook is the last container.
    if pod.spec.containers.iter().next().is_none_or(|first| first.name != PROXY_CONTAINER) {
        return Vec::new();
    }
    let is_set = |key: &str| pod.metadata.annotation(key).is_some();
    VELERO_HOOKS.into_iter().filter(|(command, container)| is_set(command) && !is_set(container)).collect()
}

fn finding(ctx: &Context<'_>, owner: &Owner, hooks: &Hooks, pods: &[&Pod]) -> Finding {
    let first = pods[0];
    let others = first.spec.containers.iter().map(|container| container.name.as_str());
    let others: Vec<&str> = others.filter(|name| !LINKERDS.contains(name)).collect();
    let remedy = match others.as_slice() {
        [only] => {
            let changes: Vec<KeyChange<'_>> = hooks.iter().map(|(_, key)| (*key, Some(*only))).collect();
            rewrite::of_owner(ctx, Remedy::new(), "Name the application's container", owner, &changes)
        }
        several => {
            let keys: Vec<&str> = hooks.iter().map(|(_, key)| *key).collect();
            Remedy::new().step(
                StepKind::Annotation,
                format!(
                    "Set {} to the container with the program ({}), in the pod template",
                    some(&keys, NAMED),
                    some(several, NAMED)
                ),
            )
        }
    };
    let quoted = pods.iter().take(QUOTED).flat_map(|pod| {
        let object = pod.described();
        hooks.iter().map(move |(command, container)| {
            Evidence::field(&object, format!("metadata.annotations[{command}]"), format!("set, and no {container}"))
        })
    });
    let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    ctx.finding(
        owner.subject(names),
        "Velero runs the hook in linkerd-proxy, the first container of the pod. It has neither a shell nor the \
         application's programs, so the hook fails",
    )
    .evidences(quoted)
    .evidence(Evidence::field(
        first.described(),
        "spec.containers",
        some(first.spec.containers.iter().map(|container| container.name.as_str()), NAMED),
    ))
    .remedy(remedy)
}
