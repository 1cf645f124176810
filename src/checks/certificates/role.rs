//! The current role of a trust anchor: whether the issuer depends on it. Iterates over all anchors
//! with their roles.

use jiff::Timestamp;

use super::identity::{Anchor, Bundle, Issuer, anchors, bundles, issuer};
use crate::certificates::{Certificate, Validity, reach};
use crate::checks::prelude::*;

/// Whether the issuer depends on a trust anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchorUse {
    /// The issuer chains to it and to no other that is valid now.
    Only,
    /// The issuer chains to it, and to another that is valid now.
    OneOfSeveral,
    /// The issuer does not chain to it.
    Unused,
    /// The issuer is missing or unreadable.
    Unknown,
}

/// Calls `judge` for every trust anchor.
pub(super) fn of_each(ctx: &Context<'_>, judge: impl Fn(&Anchor<'_>, AnchorUse) -> Option<Finding>) -> Judgement {
    let bundles = bundles(ctx)?;
    let issuer = issuer(ctx).ok();
    let findings = anchors(&bundles).into_iter().filter_map(|anchor| {
        let role = AnchorUse::classify(anchor.certificate, issuer.as_ref(), &bundles, ctx.now());
        judge(&anchor, role)
    });
    Ok(findings.collect())
}

impl AnchorUse {
    /// The role of `anchor` among the current ones.
    pub(super) fn classify(
        anchor: &Certificate,
        issuer: Option<&Issuer<'_>>,
        bundles: &[Bundle],
        now: Timestamp,
    ) -> AnchorUse {
        let Some(issuer) = issuer else { return AnchorUse::Unknown };
        let leads_to = |to: &[Certificate], usable: &dyn Fn(&Certificate) -> bool| {
            !reach(&issuer.chain, to, usable).anchors.is_empty()
        };
        if !leads_to(std::slice::from_ref(anchor), &|_| true) {
            return AnchorUse::Unused;
        }
        // Without the current bundle, use the other one.
        let in_force = bundles.iter().filter(|bundle| bundle.in_force);
        let in_force: Vec<&Bundle> =
            if in_force.clone().next().is_some() { in_force.collect() } else { bundles.iter().collect() };
        let others: Vec<Certificate> =
            in_force.into_iter().flat_map(|bundle| &bundle.anchors).filter(|other| *other != anchor).cloned().collect();
        let usable = |certificate: &Certificate| certificate.validity(now) == Validity::Current;
        if leads_to(&others, &usable) { AnchorUse::OneOfSeveral } else { AnchorUse::Only }
    }
}
