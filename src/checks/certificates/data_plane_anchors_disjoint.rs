//! `data-plane-anchors-disjoint`: proxies do not have the trust anchor that the issuer chains to.

use super::identity::{BUNDLE, Bundle, Issuer, TRUST_ROOTS, USUAL_LIFETIME, bundles, issuer};
use super::proxies::{Holders, anchors_since, holders, since};
use super::remedy;
use crate::certificates::{Certificate, Validity, reach};
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{TRUST_ROOT_HASH, is_hash_of};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Finding, Moment, Remedy};
use crate::item::Scope;
use crate::model::installed::COMPONENT;
use crate::objects::{ConfigMap, Pod};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = bundles(ctx)?;
    // The current bundle comes first; without it, use that of the installation.
    let bundle = &bundles[0];
    let issuer = match issuer(ctx) {
        Ok(issuer) => Some(issuer),
        // Another check reports it.
        Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => None,
        Err(Unjudged::Missing(missing)) => {
            ctx.gap(missing);
            None
        }
    };
    let needed = needed(bundle, issuer.as_ref());
    let without = holders(ctx, &|held| !needed.iter().any(|anchor| held.has(anchor)))?;
    if without.is_empty() {
        return Ok(Vec::new().into());
    }
    // Computed once, since it reads every pod.
    let first = first_steps(ctx);
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS).ok().flatten();
    let mut since_then = anchors_since(ctx, roots);
    since_then.extend(issuer.iter().flat_map(|issuer| issuer.moments(ctx.now())));
    let shared = (&first, since_then.as_slice());
    let findings = without.iter().map(|held| finding(ctx, held, bundle, issuer.as_ref(), &needed, shared));
    Ok(findings.collect::<Vec<_>>().into())
}

/// Whether every control-plane pod was created with the current bundle, according to the
/// annotations of its pods.
fn control_plane_is_current(ctx: &Context<'_>) -> bool {
    let namespace = &ctx.namespaces().control_plane;
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS).ok().flatten();
    let Some(current) = roots.and_then(|roots| roots.data.get(BUNDLE)) else { return false };
    let mut own = ctx.optional_list::<Pod>().iter().filter(|pod| {
        let meta = &pod.metadata;
        meta.namespace == *namespace && meta.label(COMPONENT).is_some() && !pod.is_finished()
    });
    own.all(|pod| pod.metadata.annotation(TRUST_ROOT_HASH).is_some_and(|hash| is_hash_of(hash, current)))
}

/// The anchors that a proxy needs at least one of: those that the issuer chains to, or all anchors if it
/// chains to none.
fn needed<'a>(bundle: &'a Bundle, issuer: Option<&Issuer<'_>>) -> Vec<&'a Certificate> {
    let reached = issuer.map(|issuer| reach(&issuer.chain, &bundle.anchors, &|_| true).anchors);
    match reached {
        Some(reached) if !reached.is_empty() => {
            reached.iter().filter_map(|at| bundle.anchors.get(*at)).collect()
        }
        Some(_) | None => bundle.anchors.iter().collect(),
    }
}

/// The steps before the restart of any workload. Findings about the issuer or the trust anchors come before
/// this one, as their cards declare.
fn first_steps(ctx: &Context<'_>) -> Remedy {
    match control_plane_is_current(ctx) {
        true => Remedy::new(),
        false => remedy::restart_control_plane(ctx, Remedy::new()),
    }
}

/// The message, in the words for one proxy or several. `is_over`: whether the issuer has expired, or its trust anchor
/// long ago, so that no proxy has a valid certificate.
fn message(
    has_issuer: bool,
    is_over: bool,
    (proxies, do_not, have, they, lose, expire): (&str, &str, &str, &str, &str, &str),
) -> String {
    let fact = match has_issuer {
        true => format!("{proxies} {do_not} not trust the current issuer"),
        false => format!("{proxies} {have} none of the current trust anchors"),
    };
    match is_over {
        true => format!("{fact}. {they} {lose} all meshed connections"),
        false => format!(
            "{fact}. {they} cannot reach the control plane or newer proxies, and {lose} all meshed connections when \
             {expire} (within 24 hours)"
        ),
    }
}

fn finding(
    ctx: &Context<'_>,
    held: &Holders<'_>,
    bundle: &Bundle,
    issuer: Option<&Issuer<'_>>,
    needed: &[&Certificate],
    (first, since_then): (&Remedy, &[Moment]),
) -> Finding {
    let names = held.names();
    let because = "connections between old and new pods fail meanwhile";
    let mut remedy = first.clone();
    remedy.steps.push(renew(ctx, &held.owner, &names, Needs::NewProxy, because));
    let anchors: Vec<String> = needed.iter().map(|anchor| anchor.summary()).collect();
    let has_expired = |anchor: &&Certificate| ctx.now().duration_since(anchor.not_after()) > USUAL_LIFETIME;
    // Identity has issued nothing since then.
    let is_over = issuer.is_some_and(|issuer| issuer.certificate().validity(ctx.now()) == Validity::Over)
        || needed.iter().all(has_expired);
    let finding = ctx
        .finding(
            held.owner.subject(names),
            message(
                issuer.is_some(),
                is_over,
                ("The proxy", "does", "has", "It", "loses", "its certificate expires"),
            ),
        )
        .of_several(message(
            issuer.is_some(),
            is_over,
            ("The proxies", "do", "have", "They", "lose", "their certificates expire"),
        ))
        .evidence(held.compared(
            "the issuer needs",
            &needed.iter().map(|anchor| anchor.brief()).collect::<Vec<_>>().join(", "),
        ))
        .evidences(held.evidence())
        .timeline(since(since_then, held.pods.iter().copied()))
        .evidence(bundle.evidence(anchors.join(", ")))
        .remedy(remedy);
    match issuer {
        Some(issuer) => {
            finding.evidence(issuer.quoted(format!("signed by {}", issuer.certificate().issuer())))
        }
        None => finding.likely(),
    }
}
