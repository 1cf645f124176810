//! Whether the ResourceQuotas of a namespace have room for one more pod of a workload. A rollout that starts a pod before it stops
//! one hangs if they have none: the API server refuses the pod, and nothing ends.

use super::Context;
use crate::model::quantity;
use crate::objects::{Pod, PodSpec, ResourceQuota, Workload};

/// The quota that keeps a Deployment from rolling, with its use: `ResourceQuota shop/small (pods 10 of 10)`. `None` if there is
/// room, or if the Deployment stops a pod before it starts one. Reads `resourcequotas`,
/// `pods`, `replicasets.apps` and `jobs.batch`, if they are available.
pub(super) fn full_for(ctx: &Context<'_>, deployment: &Workload) -> Option<String> {
    let spec = &deployment.spec;
    if !spec.strategy.starts_before_it_stops(spec.replicas.unwrap_or(1)) || spec.replicas == Some(0) {
        return None;
    }
    let namespace = &deployment.metadata.namespace;
    let quotas = ctx.hints::<ResourceQuota>().iter();
    let own = quotas.filter(|quota| quota.metadata.namespace == *namespace && counts_running_pods(quota));
    let mut own = own.peekable();
    own.peek()?;
    // Injected containers count too, and only pods show them.
    let owners = ctx.owners();
    let name = &deployment.metadata.name;
    let is_own = |pod: &&Pod| {
        let owner = owners.of(pod);
        pod.metadata.namespace == *namespace && owner.kind == "Deployment" && owner.name == *name
    };
    let running = ctx.hints::<Pod>().iter().find(is_own);
    let pod = running.map_or(&spec.template.spec, |pod| &*pod.spec);
    own.find_map(|quota| full(quota, pod))
}

/// Whether a quota counts every pod that runs for good.
fn counts_running_pods(quota: &ResourceQuota) -> bool {
    !quota.spec.selects && quota.spec.scopes.iter().all(|scope| scope == "NotTerminating")
}

fn full(quota: &ResourceQuota, pod: &PodSpec) -> Option<String> {
    let (namespace, name) = quota.metadata.key();
    let hard = if quota.status.hard.is_empty() { &quota.spec.hard } else { &quota.status.hard };
    hard.iter().find_map(|(resource, hard)| {
        let used = quota.status.used.get(resource)?;
        let (needed, is_whole) = needed(resource, pod)?;
        let (taken, limit) = (quantity::read(used)?, quantity::read(hard)?);
        // Without an amount, the API server rejects the pod, or a LimitRange sets one for which no room is left.
        let lacks = taken + needed > limit + ROUNDING || !is_whole && taken + ROUNDING >= limit;
        lacks.then(|| format!("ResourceQuota {namespace}/{name} ({resource}: {used} of {hard} used)"))
    })
}

/// Sums of decimal fractions are not exact.
const ROUNDING: f64 = 1e-6;

/// How much of a resource one more pod takes, and whether every container states its amount; `None` for resources of other
/// objects.
fn needed(resource: &str, pod: &PodSpec) -> Option<(f64, bool)> {
    let amount = |container: &crate::objects::Container| {
        let resources = container.resources.as_deref();
        let text = match resource {
            "cpu" | "requests.cpu" => resources.map(|of| of.requests.cpu.to_string()),
            "memory" | "requests.memory" => resources.map(|of| of.requests.memory.to_string()),
            "limits.cpu" => resources.map(|of| of.limits.cpu.to_string()),
            _ => resources.map(|of| of.limits.memory.to_string()),
        };
        text.and_then(|text| quantity::read(&text))
    };
    match resource {
        // A rollout also creates a ReplicaSet.
        "pods" | "count/pods" | "count/replicasets.apps" => Some((1.0, true)),
        "cpu" | "requests.cpu" | "memory" | "requests.memory" | "limits.cpu" | "limits.memory" => {
            let sidecars =
                pod.init_containers.iter().filter(|one| one.restart_policy.as_deref() == Some("Always"));
            let amounts: Vec<Option<f64>> = pod.containers.iter().chain(sidecars).map(amount).collect();
            Some((amounts.iter().flatten().sum(), amounts.iter().all(Option::is_some)))
        }
        _ => None,
    }
}
