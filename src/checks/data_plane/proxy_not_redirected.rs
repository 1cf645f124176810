//! `proxy-not-redirected`: no iptables rules lead a pod's connections to its proxy, or they lead to another port.

use std::collections::BTreeMap;

use crate::checks::cni::nodes::{cni_enabled, uninstalled};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade;
use crate::model::redirection::{EXEMPT_USER, NotRedirected, not_redirected, not_redirected_by};
use crate::objects::DaemonSet;
use crate::objects::container::INIT_CONTAINER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, NotRedirected), Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.has_injected(pod)) {
        if let Some(fault) = not_redirected(pod) {
            groups.entry((owners.owner(pod), fault)).or_default().push(pod);
        }
    }
    let daemon_sets = ctx.or_note(ctx.complete_list::<DaemonSet>());
    // Rules of linkerd-cni need no linkerd-init.
    let lacks_cni = daemon_sets.is_some() && cni_enabled(ctx) != Some(true) && uninstalled(ctx);
    let without_rules = groups.keys().any(|(_, fault)| *fault == NotRedirected::NoRules);
    if without_rules && !lacks_cni {
        groups.retain(|(_, fault), _| *fault != NotRedirected::NoRules);
    }
    Ok(groups.iter().map(|((owner, fault), pods)| finding(ctx, owner, fault, pods)).collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, fault: &NotRedirected, pods: &[&Pod]) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods[0];
    let object = first.described();
    let (message, evidence) = match fault {
        NotRedirected::NoRules => (
            "nothing redirects the pod's connections to its proxy: its calls leave without mTLS, meshed clients \
             cannot connect, and no policy applies",
            vec![
                Evidence::field(&object, "spec.initContainers", format!("{INIT_CONTAINER} is missing")),
                Evidence::other("DaemonSets", "none installs linkerd-cni"),
            ],
        ),
        NotRedirected::OtherPort { inbound, argument, redirected, variable, listens } => (
            if *inbound {
                "inbound connections are redirected to a port on which the proxy does not listen: all connections to \
                 the pod are refused"
            } else {
                "outbound connections are redirected to a port on which the proxy does not listen: all calls of the \
                 pod are refused"
            },
            vec![
                Evidence::field(
                    &object,
                    format!("spec.initContainers[{INIT_CONTAINER}].args: {argument}"),
                    redirected.to_string(),
                ),
                Evidence::field(&object, format!("containers[linkerd-proxy].env[{variable}]"), listens),
            ],
        ),
        NotRedirected::OtherUser { exempt, runs_as } => (
            "the rules exempt another user than the proxy's own: the proxy's connections return to the proxy in a \
             loop, so calls fail and the proxy does not become ready",
            vec![
                Evidence::field(
                    &object,
                    format!("spec.initContainers[{INIT_CONTAINER}].args: {EXEMPT_USER}"),
                    exempt.to_string(),
                ),
                Evidence::field(
                    &object,
                    "spec.containers[linkerd-proxy].securityContext.runAsUser",
                    runs_as.to_string(),
                ),
            ],
        ),
    };
    let remedy = if is_of_chart(ctx, owner) {
        upgrade::reapply(
            ctx,
            Remedy::new(),
            "Apply the manifests of the unchanged chart again: their proxies fit the rules of linkerd-init",
        )
    } else {
        let remedy = Remedy::new().command(
            "Find the webhook, operator or template that changes pods after the injector, and exclude Linkerd's \
             containers in it",
            kubectl().words("get mutatingwebhookconfigurations"),
        );
        remedy.with(renew(ctx, owner, &names, Needs::NewPods, "the rules are only written when a pod starts"))
    };
    let finding = ctx.finding(owner.subject(names), message).evidences(evidence).remedy(remedy);
    match fault {
        NotRedirected::OtherUser { .. } => finding,
        // The proxy itself works.
        NotRedirected::NoRules | NotRedirected::OtherPort { .. } => finding.explains_nothing(),
    }
}

/// Whether the fault is in a pod template of the control plane, whose proxies the chart renders.
fn is_of_chart(ctx: &Context<'_>, owner: &Owner) -> bool {
    let is_owner = |deployment: &&crate::objects::Workload| {
        deployment.metadata.namespace == owner.namespace && deployment.metadata.name == owner.name
    };
    owner.kind == "Deployment"
        && owner.namespace == ctx.namespaces().control_plane
        && ctx
            .optional_list::<Deployment>()
            .iter()
            .find(is_owner)
            .is_some_and(|deployment| not_redirected_by(&deployment.spec.template.spec).is_some())
}
