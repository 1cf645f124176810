//! What a trust anchor is for at present: whether the issuer depends on it; and the round of all anchors with that.

use jiff::Timestamp;

use super::identity::{Anchor, Bundle, Issuer, anchors, bundles, issuer};
use crate::certificates::{Certificate, Validity, reach};
use crate::checks::{Context, Judgement};
use crate::finding::Finding;

/// What hangs on a trust anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The issuer leads to it and to no other that is valid now.
    Only,
    /// The issuer leads to it, and to another that is valid now.
    OneOfSeveral,
    /// The issuer does not lead to it.
    Unused,
    /// There is no issuer that could be read.
    Unknown,
}

/// Asks `judge` of every trust anchor in turn.
pub(super) fn of_each(ctx: &Context<'_>, judge: impl Fn(&Anchor<'_>, Role) -> Option<Finding>) -> Judgement {
    let bundles = bundles(ctx)?;
    let issuer = issuer(ctx).ok();
    let findings = anchors(&bundles).into_iter().filter_map(|anchor| {
        let role = Role::of(anchor.certificate, issuer.as_ref(), &bundles, ctx.now());
        judge(&anchor, role)
    });
    Ok(findings.collect::<Vec<_>>().into())
}

impl Role {
    /// The role of `anchor` among those in force.
    pub(super) fn of(
        anchor: &Certificate,
        issuer: Option<&Issuer<'_>>,
        bundles: &[Bundle],
        now: Timestamp,
    ) -> Role {
        let Some(issuer) = issuer else { return Role::Unknown };
        let leads_to = |to: &[Certificate], usable: &dyn Fn(&Certificate) -> bool| {
            !reach(&issuer.chain, to, usable).anchors.is_empty()
        };
        if !leads_to(std::slice::from_ref(anchor), &|_| true) {
            return Role::Unused;
        }
        // Without the bundle in force, the other one is what there is to go by.
        let in_force = bundles.iter().filter(|bundle| bundle.in_force);
        let in_force: Vec<&Bundle> =
            if in_force.clone().next().is_some() { in_force.collect() } else { bundles.iter().collect() };
        let others: Vec<Certificate> = in_force
            .into_iter()
            .flat_map(|bundle| &bundle.anchors)
            .filter(|other| *other != anchor)
            .cloned()
            .collect();
        let usable = |certificate: &Certificate| certificate.validity(now) == Validity::Current;
        if leads_to(&others, &usable) { Role::OneOfSeveral } else { Role::Only }
    }
}
