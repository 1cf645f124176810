//! `data-plane-anchors-stale`: proxies have other trust anchors than the current bundle.

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS, need_control_plane};
use super::proxies::{Hashed, Holders, anchors_since, hashed, holders, since};
use crate::certificates::BundlePrint;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{TRUST_ROOT_HASH, in_force};
use crate::checks::words::of_proxies;
use crate::finding::Moment;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = ctx.namespaces().control_plane.as_str();
    let roots = in_force(ctx)?;
    let object = format!("ConfigMap {namespace}/{TRUST_ROOTS}");
    let seen = match &roots {
        None => Evidence::other(object, "does not exist"),
        Some(roots) => Evidence::field(object, IN_FORCE, roots.shown()),
    };
    let Some(current) = roots.filter(|roots| !roots.is_empty()) else {
        need_control_plane(ctx)?;
        let finding = ctx
            .finding(
                Subject::object("ConfigMap", namespace, TRUST_ROOTS),
                "the current bundle of trust anchors is missing, so the proxies' anchors cannot be \
                    compared",
            )
            .evidence(seen)
            .remedy(Remedy::new().note("Restore the ConfigMap first"));
        return Ok(finding.into());
    };
    let stale = holders(ctx, &|held| !held.same_text(&current) && !held.same_anchors(&current))?;
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS);
    let since_then = anchors_since(ctx, roots.as_ref().ok().copied().flatten());
    let mut findings: Vec<Finding> = stale.iter().map(|held| finding(ctx, held, &current, &since_then)).collect();
    if let Ok(Some(roots)) = roots {
        let text = roots.data.get(BUNDLE).map_or("", String::as_str);
        findings.extend(hashed(ctx, text)?.iter().map(|held| by_hash(ctx, held, &current, &since_then)));
    }
    Ok(findings.into())
}

fn by_hash(ctx: &Context<'_>, held: &Hashed<'_>, current: &BundlePrint, since_then: &[Moment]) -> Finding {
    let names: Vec<String> = held.pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let pod = held.pods.first().map(|pod| &pod.metadata);
    let pod = pod.map(|meta| meta.described("Pod")).unwrap_or_default();
    let remedy =
        Remedy::new().with(renew(ctx, &held.owner, &names, Needs::NewProxy, "new pods get the current bundle"));
    let message = "the proxy was created with trust anchors other than the current ones, according to an annotation of \
        its pod: its anchors are not visible here";
    ctx.finding(held.owner.subject(names), message)
        .of_several(of_proxies(message))
        .likely()
        .evidence(Evidence::field(pod, format!("metadata.annotations[{TRUST_ROOT_HASH}]"), &held.hash))
        .timeline(since(since_then, held.pods.iter().copied()))
        .evidence(Evidence::field(
            format!("ConfigMap {}/{TRUST_ROOTS}", ctx.namespaces().control_plane),
            IN_FORCE,
            current.shown(),
        ))
        .parameter("hash")
        .remedy(remedy)
}

fn finding(ctx: &Context<'_>, held: &Holders<'_>, current: &BundlePrint, since_then: &[Moment]) -> Finding {
    let message = if held.bundle.overlaps(current) {
        "the proxy has an outdated bundle of trust anchors that shares some with the current one: it \
            works while other proxies' certificates chain to a shared anchor"
    } else {
        "the proxy has an outdated bundle of trust anchors that shares none with the current one: it \
            rejects certificates under the current one, and its own is rejected"
    };
    let names = held.names();
    let because = "new pods get the current bundle";
    let remedy = Remedy::new().with(renew(ctx, &held.owner, &names, Needs::NewProxy, because));
    ctx.finding(held.owner.subject(names), message)
        .of_several(of_proxies(message))
        .evidence(held.compared("the current bundle is", &current.shown()))
        .evidences(held.evidence())
        .timeline(since(since_then, held.pods.iter().copied()))
        .evidence(Evidence::field(
            format!("ConfigMap {}/{TRUST_ROOTS}", ctx.namespaces().control_plane),
            IN_FORCE,
            current.shown(),
        ))
        .parameter(if held.bundle.overlaps(current) { "overlaps" } else { "disjoint" })
        .remedy(remedy)
}
