//! The logs that the checks of linkerd-cni read: journals of nodes, from snapshots or provided by the user,
//! and logs of pods.

use crate::checks::prelude::*;
use crate::knowledge::{Signature, SignatureScope};
use crate::model::journal::Journal;
use crate::model::log::LogOf;

/// The journals of nodes. Reads `node-files` and `logs`.
pub(super) fn journals<'a>(ctx: &Context<'a>) -> Vec<Journal<'a>> {
    let of_snapshots = ctx.snapshot_hints().iter().flat_map(|snapshot| {
        let logs = [&snapshot.logs.runtime, &snapshot.logs.kubelet];
        logs.into_iter().flatten().map(|lines| Journal { node: &snapshot.node, lines })
    });
    let given = ctx.log_hints().iter().filter_map(|log| match &log.of {
        Some(LogOf::Node(node)) => Some(Journal { node, lines: &log.lines }),
        Some(LogOf::Pod { .. }) | None => None,
    });
    of_snapshots.chain(given).collect()
}

/// A line of a pod's log that has a signature.
pub(super) struct PodLine<'a> {
    pub(super) namespace: &'a str,
    pub(super) pod: &'a str,
    pub(super) line: &'a str,
    pub(super) signature: &'a Signature,
}

/// The lines of pods' logs with a signature of one scope, in order. Reads `logs`.
pub(super) fn pod_lines<'a>(ctx: &Context<'a>, scope: SignatureScope) -> Vec<PodLine<'a>> {
    let mut found = Vec::new();
    for log in ctx.log_hints() {
        let Some(LogOf::Pod { namespace, pod, .. }) = &log.of else { continue };
        for line in &log.lines {
            if let Some(signature) = ctx.knowledge.signatures().matching(scope, line) {
                found.push(PodLine { namespace, pod, line, signature });
            }
        }
    }
    found
}

/// Notes logs of nodes and pods that do not exist in the cluster as gaps: their names are misspelled, or they
/// were deleted. Reads `logs`, `nodes` and `pods`.
pub(super) fn unmatched_logs(ctx: &Context<'_>) {
    let nodes = ctx.complete_list::<Node>().ok();
    let pods = ctx.complete_list::<Pod>().ok();
    for log in ctx.log_hints() {
        let Some(of) = &log.of else { continue };
        let what = match of {
            LogOf::Node(name) => {
                let known = nodes.is_none_or(|nodes| nodes.iter().any(|node| node.metadata.name == *name));
                if known { continue } else { "node" }
            }
            LogOf::Pod { namespace, pod: name, .. } => {
                let is_it = |pod: &Pod| pod.metadata.namespace == *namespace && pod.metadata.name == *name;
                if pods.is_none_or(|pods| pods.iter().any(is_it)) { continue } else { "pod" }
            }
        };
        let message = format!("the cluster has no {what} of that name");
        ctx.gap(ctx.missing(Item::Logs, Why::Malformed { message }, format!("{what} {of}")));
    }
}
