//! `trust-roots-missing`: the ConfigMap with the trust anchors is missing or holds none.

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS, identity_deployment, need_control_plane};
use super::remedy;
use crate::certificates::{PemDamage, damage, from_bundle};
use crate::checks::prelude::*;
use crate::checks::trust_roots::{chart_writes_bundle, roots_absent};
use crate::checks::upgrade::{self, REAPPLY};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let pem = roots.map(|roots| roots.data.get(BUNDLE));
    if let Some(damage) = pem.flatten().and_then(|pem| damage(pem)) {
        let read = pem.flatten().is_some_and(|pem| from_bundle(pem).is_ok_and(|read| !read.is_empty()));
        need_control_plane(ctx)?;
        return Ok(damaged(ctx, damage, read).into());
    }
    let (message, path, said) = match pem.map(|pem| pem.map(|pem| from_bundle(pem))) {
        None => (
            "the ConfigMap with the trust anchors is missing: no control-plane pod starts without it, \
                and the injector has no anchors for new proxies",
            None,
            "does not exist".to_owned(),
        ),
        Some(Some(Ok(anchors))) if !anchors.is_empty() => return Ok(Verdict::fine()),
        Some(Some(Err(error))) => (
            "the trust anchors are unreadable: identity does not start with them, and neither does any \
                proxy",
            Some(IN_FORCE),
            error,
        ),
        Some(pem) => (
            "the ConfigMap with the trust anchors holds none: identity does not start without one, and \
                neither does any proxy",
            Some(IN_FORCE),
            match (pem, roots.map(|roots| roots.data.keys().map(String::as_str).collect::<Vec<_>>())) {
                (None, Some(keys)) if !keys.is_empty() => {
                    format!("missing; existing keys: {}", keys.join(", "))
                }
                _ => "no certificate".to_owned(),
            },
        ),
    };
    need_control_plane(ctx)?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let object = format!("ConfigMap {namespace}/{TRUST_ROOTS}");
    let finding = ctx.finding(Subject::object("ConfigMap", namespace, TRUST_ROOTS), message);
    let finding = if roots.is_none() { finding.tie(roots_absent()) } else { finding };
    let finding = finding
        .evidence(match path {
            Some(path) => Evidence::field(object, path, said),
            None => Evidence::other(object, said),
        })
        .remedy(write_again(ctx))
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}

/// The finding for anchors that damage hides; `read`: identity finds others.
fn damaged(ctx: &Context<'_>, damage: PemDamage, read: bool) -> Finding {
    let message = match (damage, read) {
        (PemDamage::Joined, false) => {
            "two trust anchors are on one line: identity does not start with them, and new proxies trust only the \
             first of the two"
        }
        (PemDamage::Joined, true) => {
            "two trust anchors are on one line: identity ignores both, and new proxies trust only the first of the two"
        }
        (_, true) => "some trust anchors are unreadable: identity and new proxies ignore them",
        (_, false) => "the trust anchors are unreadable: identity does not start with them, and neither does any proxy",
    };
    let namespace = ctx.namespaces().control_plane.as_str();
    let steps = remedy::restored_bundle(ctx, Remedy::new(), damage);
    let steps = remedy::restart_control_plane(ctx, steps);
    // Proxies that started meanwhile lack an anchor; with other damage none started.
    let steps = if damage == PemDamage::Joined { remedy::restart_meshed(ctx, steps) } else { steps };
    ctx.finding(Subject::object("ConfigMap", namespace, TRUST_ROOTS), message)
        .parameter("damaged")
        .evidence(Evidence::field(format!("ConfigMap {namespace}/{TRUST_ROOTS}"), IN_FORCE, damage.describe()))
        .remedy(steps)
        .tie(identity_deployment(ctx))
}

/// Has the chart, or the tool used instead, write the ConfigMap again.
fn write_again(ctx: &Context<'_>) -> Remedy {
    let (is_in_chart, others) = match chart_writes_bundle(ctx) {
        Some(true) => return applied(ctx, Remedy::new(), REAPPLY),
        Some(false) => (
            false,
            "Find out why trust-manager, or the tool used instead, does not write the ConfigMap with the key \
                 ca-bundle.crt. Linkerd reads no Secret of this name",
        ),
        None => (
            true,
            "If identity.externalCA is set, find out why trust-manager, or the tool used instead, does not write the \
             ConfigMap with the key ca-bundle.crt. Linkerd reads no Secret of this name",
        ),
    };
    let bundles = kubectl().words("describe bundles.trust.cert-manager.io");
    let remedy = Remedy::new().command(others, bundles);
    match is_in_chart {
        true => applied(ctx, remedy, "Otherwise, reapply the control plane"),
        false => remedy,
    }
}

fn applied(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    upgrade::reapply(ctx, remedy, act)
}
