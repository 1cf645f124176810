//! `identity-token-missing`: a proxy lacks the volume with its identity token, or the token has another
//! audience.

use std::collections::BTreeMap;

use super::unmeshed::{CREATED_ONLY, counts};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::of_proxies;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::TOKEN_VOLUME;
use crate::objects::container::PROXY_CONTAINER;

/// The audience that identity requires of tokens.
const AUDIENCE: &str = "identity.l5d.io";
/// The annotation with the tool that added the proxy.
const CREATED_BY: &str = "linkerd.io/created-by";

/// The problem with a pod's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TokenFault {
    NoVolume,
    Audience,
    NotMounted,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let values = config.and_then(ConfigMap::chart_values);
    let projects =
        values.as_ref().and_then(|values| values.bool("identity.serviceAccountTokenProjection")).unwrap_or(true);
    if !projects {
        return Err(Unjudged::not_applicable("the control plane was installed without projected tokens"));
    }
    let owners = ctx.owners();
    let home = ctx.namespaces().control_plane.as_str();
    let mut groups: BTreeMap<(Owner, TokenFault), Vec<&Pod>> = BTreeMap::new();
    for pod in pods?.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && counts(pod)) {
        // Proxies that were injected by hand are as old as their manifest.
        let by_hand = pod.metadata.annotation(CREATED_BY).is_some_and(|by| by.starts_with("linkerd/cli"));
        if pod.metadata.label(CONTROL_PLANE_NS) != Some(home) || pod.metadata.namespace == home {
            continue;
        }
        // Every identity component requires the same audience.
        let counts = |fault: &TokenFault| !by_hand || *fault == TokenFault::Audience;
        if let Some(fault) = fault(pod).filter(counts) {
            groups.entry((owners.owner(pod), fault)).or_default().push(pod);
        }
    }
    Ok(groups.iter().map(|((owner, fault), pods)| finding(ctx, owner, *fault, pods)).collect())
}

fn fault(pod: &Pod) -> Option<TokenFault> {
    let (proxy, volumes) = (pod.spec.proxy()?, &pod.spec.volumes);
    // A pod without any volume comes from an incomplete dump.
    if !volumes.some {
        return None;
    }
    match &volumes.identity_token {
        None => Some(TokenFault::NoVolume),
        Some(audience) if audience != AUDIENCE => Some(TokenFault::Audience),
        Some(_) => {
            let mounts = &proxy.volume_mounts;
            // A container without any mount comes from an incomplete dump.
            (mounts.some && !mounts.named.iter().any(|mount| mount == TOKEN_VOLUME)).then_some(TokenFault::NotMounted)
        }
    }
}

fn finding(ctx: &Context<'_>, owner: &Owner, fault: TokenFault, pods: &[&Pod]) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods[0];
    let object = first.described();
    let evidence = match (fault, &first.spec.volumes.identity_token) {
        (TokenFault::Audience, Some(audience)) => Evidence::field(
            &object,
            format!("spec.volumes[{TOKEN_VOLUME}].projected.sources[].serviceAccountToken.audience"),
            if audience.is_empty() { "no token in it" } else { audience.as_str() },
        ),
        (TokenFault::NotMounted, _) => Evidence::field(
            &object,
            format!("spec.containers[{PROXY_CONTAINER}].volumeMounts"),
            format!("{TOKEN_VOLUME} is missing"),
        ),
        (TokenFault::NoVolume | TokenFault::Audience, _) => {
            Evidence::field(&object, "spec.volumes", format!("{TOKEN_VOLUME} is missing"))
        }
    };
    let ready = pods.iter().all(|pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready));
    let message = match fault {
        TokenFault::NoVolume | TokenFault::NotMounted => {
            "the proxy lacks its identity token, so it gets no certificate. Another webhook or an operator \
             changed the pod after injection"
        }
        TokenFault::Audience => {
            "the proxy's token has another audience, so identity rejects it. Another webhook or an operator \
             changed the pod after injection"
        }
    };
    let mut remedy = Remedy::new().command(
        "Find the webhook or operator that changes pods after the injector, and exclude Linkerd's volumes \
         and containers in it",
        kubectl().words("get mutatingwebhookconfigurations"),
    );
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, CREATED_ONLY));
    let finding =
        ctx.finding(owner.subject(names), message).of_several(of_proxies(message)).evidence(evidence).remedy(remedy);
    match ready {
        true => finding.severity(Severity::Warning).likely(),
        false => finding,
    }
}
