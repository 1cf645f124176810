//! `data-plane-anchors-disjoint`: proxies do not have the trust anchor that the issuer chains to.

use super::identity::{Bundle, Issuer, TRUST_ROOTS, USUAL_LIFETIME, bundles, issuer};
use super::proxies::{Holders, anchors_since, holders, since};
use super::remedy;
use crate::certificates::{Certificate, Validity, reach};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{ControlPlane, decided};
use crate::finding::{Moment, Step};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = bundles(ctx)?;
    // The current bundle comes first; without it, use that of the installation.
    let bundle = &bundles[0];
    let issuer = ctx.or_note(issuer(ctx));
    let needed = needed(bundle, issuer.as_ref());
    let without = holders(ctx, &|held| !needed.iter().any(|anchor| held.has(anchor)))?;
    if without.is_empty() {
        return Ok(Vec::new().into());
    }
    // Computed once, since it reads every pod.
    let control_plane = ControlPlane::from_pods(ctx);
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS).ok().flatten();
    let mut since_then = anchors_since(ctx, roots);
    since_then.extend(issuer.iter().flat_map(|issuer| issuer.moments(ctx.now())));
    let shared = (control_plane, since_then.as_slice());
    let findings = without.iter().map(|held| finding(ctx, held, bundle, issuer.as_ref(), &needed, shared));
    Ok(findings.collect())
}

/// The anchors that a proxy needs at least one of: those that the issuer chains to, or all anchors if it
/// chains to none.
fn needed<'a>(bundle: &'a Bundle, issuer: Option<&Issuer<'_>>) -> Vec<&'a Certificate> {
    let reached = issuer.map(|issuer| reach(&issuer.chain, &bundle.anchors, &|_| true).anchors);
    match reached {
        Some(reached) if !reached.is_empty() => reached.iter().filter_map(|at| bundle.anchors.get(*at)).collect(),
        Some(_) | None => bundle.anchors.iter().collect(),
    }
}

/// The steps: findings about the issuer or the trust anchors come before this one, as their cards declare.
fn steps(ctx: &Context<'_>, control_plane: ControlPlane, loss: Loss, renewed: Step) -> Remedy {
    let remedy = match loss {
        Loss::AfterRestart => decided(),
        Loss::Now | Loss::AtExpiry => Remedy::new(),
    };
    let remedy = match control_plane {
        ControlPlane::Current => remedy,
        ControlPlane::Older | ControlPlane::Unknown => remedy::restart_before(ctx, remedy, &renewed),
    };
    remedy.with(renewed)
}

/// What the proxies lose, and when.
#[derive(Clone, Copy)]
enum Loss {
    /// The issuer has expired, or its trust anchor long ago: no proxy has a valid certificate.
    Now,
    /// When their certificates expire.
    AtExpiry,
    /// After the next restart of the control plane.
    AfterRestart,
}

/// The words of a message about one proxy or several.
struct Words {
    proxies: &'static str,
    do_not: &'static str,
    have: &'static str,
    they: &'static str,
    lose: &'static str,
    certificates_expire: &'static str,
    working_certificates: &'static str,
    them: &'static str,
}

const ONE: Words = Words {
    proxies: "The proxy",
    do_not: "does",
    have: "has",
    they: "It",
    lose: "loses",
    certificates_expire: "its certificate expires",
    working_certificates: "a working certificate",
    them: "it",
};

const SEVERAL: Words = Words {
    proxies: "The proxies",
    do_not: "do",
    have: "have",
    they: "They",
    lose: "lose",
    certificates_expire: "their certificates expire",
    working_certificates: "working certificates",
    them: "them",
};

fn message(has_issuer: bool, loss: Loss, words: &Words) -> String {
    let Words { proxies, do_not, have, they, lose, .. } = words;
    let fact = match has_issuer {
        true => format!("{proxies} {do_not} not trust the current issuer"),
        false => format!("{proxies} {have} none of the current trust anchors"),
    };
    match loss {
        Loss::Now => format!("{fact}. {they} {lose} all meshed connections"),
        Loss::AtExpiry => format!(
            "{fact}. {they} cannot reach the control plane or newer proxies, and {lose} all meshed connections when \
             {} (within 24 hours)",
            words.certificates_expire
        ),
        Loss::AfterRestart => format!(
            "{fact}, but most likely {have} {} of an earlier one. After the next restart of the control plane, {} \
             cannot renew {}, and {lose} all meshed connections within 24 hours",
            words.working_certificates,
            they.to_lowercase(),
            words.them
        ),
    }
}

fn finding(
    ctx: &Context<'_>,
    held: &Holders<'_>,
    bundle: &Bundle,
    issuer: Option<&Issuer<'_>>,
    needed: &[&Certificate],
    (control_plane, since_then): (ControlPlane, &[Moment]),
) -> Finding {
    let names = held.names();
    let because = "connections between old and new pods fail meanwhile";
    let renewed = renew(ctx, &held.owner, &names, Needs::NewProxy, because);
    let anchors: Vec<String> = needed.iter().map(|anchor| anchor.summary()).collect();
    let has_expired = |anchor: &&Certificate| ctx.now().duration_since(anchor.not_after()) > USUAL_LIFETIME;
    // Identity has issued nothing since then, unless it still has an older issuer.
    let is_over = issuer.is_some_and(|issuer| issuer.certificate().validity(ctx.now()) == Validity::Over)
        || needed.iter().all(has_expired);
    let loss = match control_plane {
        ControlPlane::Older if issuer.is_some() => Loss::AfterRestart,
        _ if is_over => Loss::Now,
        ControlPlane::Older | ControlPlane::Current | ControlPlane::Unknown => Loss::AtExpiry,
    };
    let finding = ctx
        .finding(held.owner.subject(names), message(issuer.is_some(), loss, &ONE))
        .of_several(message(issuer.is_some(), loss, &SEVERAL))
        .evidence(held.compared(
            if issuer.is_some() { "the issuer is signed by" } else { "the current anchors are" },
            &needed.iter().map(|anchor| anchor.brief()).collect::<Vec<_>>().join(", "),
        ))
        .evidences(held.evidence())
        .timeline(since(since_then, held.pods.iter().copied()))
        .evidence(bundle.evidence(anchors.join(", ")))
        .remedy(steps(ctx, control_plane, loss, renewed));
    match issuer {
        Some(issuer) => finding.evidence(issuer.quoted(format!("signed by {}", issuer.certificate().issuer()))),
        None => finding.likely(),
    }
}
