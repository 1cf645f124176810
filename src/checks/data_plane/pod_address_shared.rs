//! `pod-address-shared`: two running pods have the same address.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut by_address: BTreeMap<IpAddr, Vec<&Pod>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()?.iter().filter(|pod| holds(ctx, pod)) {
        if let Some(address) = pod.status.pod_ip {
            let pods = by_address.entry(address).or_default();
            // A list can contain the same pod twice.
            if !pods.iter().any(|known| known.metadata.key() == pod.metadata.key()) {
                pods.push(pod);
            }
        }
    }
    let shared = by_address
        .iter()
        .filter(|(_, pods)| pods.len() > 1 && pods.iter().any(|pod| ctx.judges(&pod.metadata.namespace)));
    Ok(shared.map(|(address, pods)| finding(ctx, *address, pods)).collect())
}

/// Whether a pod has an address of its own, and has had it for some time.
fn holds(ctx: &Context<'_>, pod: &Pod) -> bool {
    pod.status.phase == "Running"
        && !pod.spec.host_network
        && pod.metadata.deletion_timestamp.is_none()
        && pod
            .status
            .start_time
            .get()
            .is_some_and(|since| ctx.now().duration_since(since) > ctx.param_duration("minutes"))
}

fn finding(ctx: &Context<'_>, address: IpAddr, pods: &[&Pod]) -> Finding {
    let mut finding = ctx.finding(
        Subject::thing(&format!("address {address}")),
        "running pods have the same address. Proxies and the control plane confuse them: traffic to a \
         Service of one may reach the other, or fail",
    );
    finding.subjects =
        pods.iter().map(|pod| Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name)).collect();
    let quoted = pods.iter().flat_map(|pod| {
        let object = pod.described();
        let since = pod.status.start_time.get().map(|at| at.to_string()).unwrap_or_default();
        [
            Evidence::field(&object, "status.podIP", address.to_string()),
            Evidence::field(&object, "spec.nodeName", format!("{}, started {since}", pod.node_name.as_str())),
        ]
    });
    let oldest = pods.iter().min_by_key(|pod| (pod.status.start_time, &pod.metadata.name));
    let mut remedy = Remedy::new().command(
        "Check which pod really has the address: the other pod's node no longer reports, or its network \
         assigned the address twice",
        kubectl().words("get pods -A -o wide").option("--field-selector", format!("status.podIP={address}")),
    );
    if let Some(pod) = oldest {
        remedy = remedy.command(
            "Delete the stale pod, most likely the older one. Its controller recreates it with another \
             address",
            kubectl().namespace(&pod.metadata.namespace).words("delete pod").operand(&pod.metadata.name),
        );
    }
    finding.evidences(quoted).remedy(remedy)
}
