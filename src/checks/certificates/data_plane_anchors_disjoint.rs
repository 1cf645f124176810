//! `data-plane-anchors-disjoint`: proxies do not hold the trust anchor that the issuer leads to.

use super::identity::{Bundle, Issuer, bundles, issuer};
use super::proxies::{Holders, holders};
use crate::checks::renew::renew;
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy};
use crate::model::certificates::{Certificate, reach};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = match bundles(ctx)? {
        Ok(bundles) => bundles,
        Err(verdict) => return Ok(verdict),
    };
    // The bundle in force comes first; without it the one of the installation is what there is to go by.
    let bundle = &bundles[0];
    let issuer = match issuer(ctx) {
        Ok(issuer) => issuer.ok(),
        Err(missing) => {
            ctx.gap(missing);
            None
        }
    };
    let needed = needed(bundle, issuer.as_ref());
    let without = holders(ctx, &|held| !needed.iter().any(|anchor| held.has(anchor)))?;
    let findings = without.iter().map(|held| finding(ctx, held, bundle, issuer.as_ref(), &needed));
    Ok(findings.collect::<Vec<_>>().into())
}

/// The anchors of which a proxy must hold one: those that the issuer leads to; where it leads to none, all.
fn needed<'a>(bundle: &'a Bundle, issuer: Option<&Issuer<'_>>) -> Vec<&'a Certificate> {
    let reached = issuer.map(|issuer| reach(&issuer.chain, &bundle.anchors, &|_| true).anchors);
    match reached {
        Some(reached) if !reached.is_empty() => {
            reached.iter().filter_map(|at| bundle.anchors.get(*at)).collect()
        }
        Some(_) | None => bundle.anchors.iter().collect(),
    }
}

fn finding(
    ctx: &Context<'_>,
    held: &Holders<'_>,
    bundle: &Bundle,
    issuer: Option<&Issuer<'_>>,
    needed: &[&Certificate],
) -> Finding {
    let names = held.names();
    let because = "new pods get the current bundle; until both ends of a connection have it, it fails";
    let mut remedy = Remedy::verified_by("meshdoctor check --only certificates");
    remedy.steps.push(renew(&held.owner, &names, because));
    let anchors: Vec<String> = needed.iter().map(|anchor| anchor.summary()).collect();
    let message = match issuer {
        Some(_) => {
            "the proxy does not hold the trust anchor that the issuer leads to: it refuses every proxy that got its certificate \
             since, identity among them, so it cannot renew its own"
        }
        None => {
            "the proxy holds none of the current trust anchors: it refuses every proxy that gets its certificate under one of \
             them, identity among them, so it cannot renew its own"
        }
    };
    let finding = ctx
        .finding(held.owner.subject(names), message)
        .evidences(held.evidence())
        .evidence(bundle.evidence(anchors.join(", ")))
        .remedy(remedy);
    match issuer {
        Some(issuer) => {
            finding.evidence(issuer.quoted(format!("signed by {}", issuer.certificate().issuer())))
        }
        None => finding.likely(),
    }
}
