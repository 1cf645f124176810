//! `proxy-of-removed-control-plane`: a proxy connects to the control plane of a namespace that has none.

use std::collections::BTreeMap;

use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::of_proxies;
use crate::model::control_plane::components;
use crate::model::installed::{CONTROL_PLANE_NS, control_plane_of};
use crate::objects::container::DESTINATION_ADDRESS;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.complete_list::<Deployment>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let mut elsewhere: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| is_meshed(ctx, pod)) {
        if let Some(namespace) = control_plane_of(pod).filter(|namespace| *namespace != home) {
            elsewhere.entry(namespace).or_default().push(pod);
        }
    }
    let owners = ctx.owners();
    let mut findings = Vec::new();
    for (namespace, pods) in elsewhere {
        if !components(deployments, namespace).is_empty() {
            continue;
        }
        let mut groups: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
        for pod in pods {
            groups.entry(owners.owner(pod)).or_default().push(pod);
        }
        findings.extend(groups.iter().map(|(owner, pods)| finding(ctx, namespace, owner, pods)));
    }
    Ok(findings.into())
}

fn is_meshed(ctx: &Context<'_>, pod: &Pod) -> bool {
    pod.spec.proxy().is_some()
        && !pod.is_finished()
        && pod.metadata.deletion_timestamp.is_none()
        && ctx.judges(&pod.metadata.namespace)
}

fn finding(ctx: &Context<'_>, namespace: &str, owner: &Owner, pods: &[&Pod]) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods[0];
    let object = first.described();
    let address = first.spec.proxy().and_then(|proxy| proxy.env_value(DESTINATION_ADDRESS));
    let seen = match address {
        Some(address) => {
            Evidence::field(object, format!("containers[linkerd-proxy].env[{DESTINATION_ADDRESS}]"), address)
        }
        None => Evidence::field(object, format!("metadata.labels[{CONTROL_PLANE_NS}]"), namespace),
    };
    let remedy = Remedy::new().with(renew(
        ctx,
        owner,
        &names,
        Needs::NewProxy,
        "new pods get a proxy of the current control plane",
    ));
    let message = "the proxy belongs to a control plane that no longer exists: it gets no new endpoints and policies, \
        and its certificate is not renewed";
    let finding = ctx.finding(owner.subject(names), message).of_several(of_proxies(message));
    let current = values(ctx)
        .is_ok()
        .then(|| Evidence::other("namespace of the current control plane", ctx.namespaces().control_plane.as_str()));
    finding
        .parameter(namespace)
        .evidence(seen)
        .evidence(Evidence::other(format!("Deployments of a control plane in {namespace}"), "none"))
        .evidences(current)
        .remedy(remedy)
}
