//! `workload-not-ready`: no pod of a meshed workload has been ready for some time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::checks::dates::span;
use crate::checks::prelude::*;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{DaemonSet, ReplicaSet, StatefulSet};

/// How long a workload may be without a ready pod: rollouts and pulls of large images take less.
const LIMIT: SignedDuration = SignedDuration::from_mins(15);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let sets = ctx.partial_list::<StatefulSet>()?;
    let daemons = ctx.partial_list::<DaemonSet>()?;
    // Pods of Deployments are found through their ReplicaSets.
    _ = ctx.or_note(ctx.partial_list::<ReplicaSet>());
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let mut meshed: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        let is_own = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
        if is_own && meta.namespace != home && ctx.judges(&meta.namespace) && !pod.is_finished() {
            meshed.entry(owners.owner(pod)).or_default().push(pod);
        }
    }
    let workloads = deployments.iter().map(|one| ("Deployment", one));
    let workloads = workloads.chain(sets.iter().map(|one| ("StatefulSet", one)));
    let workloads = workloads.chain(daemons.iter().map(|one| ("DaemonSet", one)));
    let mut findings = Vec::new();
    for (kind, workload) in workloads {
        let (namespace, name) = (workload.metadata.namespace.to_string(), workload.metadata.name.clone());
        let owner = Owner { kind: kind.to_owned(), namespace, name };
        let Some(own) = meshed.get(&owner) else { continue };
        if workload.spec.replicas == Some(0)
            || workload.status.ready_replicas > 0
            || own.iter().any(|pod| pod.is_ready())
        {
            continue;
        }
        let Some(since) = unready_since(workload, own) else { continue };
        let lasts = ctx.now().duration_since(since);
        if lasts > LIMIT {
            findings.push(finding(ctx, &owner, own, lasts));
        }
    }
    Ok(findings.into())
}

/// Since when no pod is ready: as the Deployment states it, or since the last change of a pod.
fn unready_since(workload: &Workload, pods: &[&Pod]) -> Option<Timestamp> {
    workload.unavailable_since().or_else(|| {
        let changed = |pod: &&Pod| {
            let of_condition = pod.condition("Ready").and_then(|ready| ready.last_transition_time.get());
            of_condition.or_else(|| pod.metadata.creation_timestamp.get())
        };
        pods.iter().map(changed).collect::<Option<Vec<_>>>()?.into_iter().max()
    })
}

/// The container that keeps a pod from being ready, or another reason.
fn reason(pod: &Pod) -> String {
    let proxy = pod.container_status(PROXY_CONTAINER);
    match proxy {
        Some(status) if !status.ready => format!("{PROXY_CONTAINER} is not ready"),
        Some(_) => format!("{PROXY_CONTAINER} is ready, another container is not"),
        None => "no container has started".to_owned(),
    }
}

fn finding(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], lasts: SignedDuration) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let message = "No pod of this meshed workload has been ready for more than 15 minutes: its clients get no \
        answer. If no other finding explains it, the cause is outside of the checks";
    let namespaced = || kubectl().namespace(&owner.namespace);
    let first = pods.first();
    let shown = first.map(|pod| namespaced().words("describe pod").operand(&pod.metadata.name));
    let logs = first
        .map(|pod| namespaced().words("logs").operand(&pod.metadata.name).words("--all-containers --tail=50 --prefix"));
    let remedy = Remedy::new()
        .command("Find the cause in the events and the log of a pod", Command::lines(shown.into_iter().chain(logs)));
    let evidence = pods.iter().take(1).map(|pod| {
        let said = format!("{}, for {}", reason(pod), span(lasts));
        Evidence::field(pod.described(), "status.conditions[Ready]", said)
    });
    ctx.finding(owner.subject(names), message).evidences(evidence).remedy(remedy)
}
