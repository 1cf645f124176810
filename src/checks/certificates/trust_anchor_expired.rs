//! `trust-anchor-expired`: a trust anchor is not valid now.

use super::identity::{Anchor, USUAL_LIFETIME, anchor_tie, identity_deployment, issuer};
use super::remedy;
use super::role::{AnchorUse, of_each};
use super::stranded;
use crate::certificates::Validity;
use crate::checks::dates;
use crate::checks::prelude::*;
use crate::checks::trust_roots::foreign_pods;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    of_each(ctx, |anchor, role| {
        let validity = anchor.certificate.validity(ctx.now());
        // Without the issuer it is unknown whether it depends on the anchor.
        if let (true, AnchorUse::Unknown, Err(Unjudged::Missing(missing))) =
            (validity != Validity::Current, role, issuer(ctx))
        {
            ctx.gap(missing);
        }
        (validity != Validity::Current).then(|| finding(ctx, anchor, validity, role))
    })
}

fn finding(ctx: &Context<'_>, anchor: &Anchor<'_>, validity: Validity, role: AnchorUse) -> Finding {
    let is_long_ago = ctx.now().duration_since(anchor.certificate.not_after()) > USUAL_LIFETIME;
    let message = match (validity, role) {
        (Validity::NotYet, AnchorUse::Unknown) => {
            "a trust anchor is not valid yet: if the issuer chains to it, identity issues no certificates until then"
        }
        (_, AnchorUse::Unknown) => {
            "a trust anchor has expired: if the issuer chains to it, identity no longer issues \
                certificates"
        }
        (Validity::NotYet, AnchorUse::Only) => {
            "the trust anchor of the mesh is not valid yet: until then identity issues no certificates under \
             it, so no proxy becomes ready"
        }
        (_, AnchorUse::Only) if is_long_ago && foreign_pods(ctx).next().is_some() => {
            "the trust anchor of the mesh has expired: no new proxy becomes ready, and connections \
                of proxies with certificates under it fail"
        }
        (_, AnchorUse::Only) if is_long_ago => {
            "the trust anchor of the mesh has expired: no new proxy becomes ready, and connections \
                between meshed pods fail, since certificates of proxies last a day by default"
        }
        (_, AnchorUse::Only) => {
            "the trust anchor of the mesh has expired: identity issues no certificates under it, so no new proxy \
                becomes ready, and the certificates of running proxies expire (within 24 hours by \
                default)"
        }
        (Validity::NotYet, AnchorUse::OneOfSeveral | AnchorUse::Unused) => {
            "a trust anchor in the bundle is not valid yet: it is unused, but `linkerd check` fails \
                until then"
        }
        (_, AnchorUse::OneOfSeveral | AnchorUse::Unused) => {
            "a trust anchor in the bundle has expired: it is unused, but `linkerd check` fails until it \
                is removed"
        }
    };
    let shortly = dates::starts_shortly([anchor.certificate], ctx.now());
    let steps = match shortly {
        Some(start) => dates::wait_for(Remedy::new(), start),
        None => dates::clocks_first(Remedy::new(), [anchor.certificate], ctx.now()),
    };
    let steps = match role {
        _ if shortly.is_some() => steps,
        AnchorUse::Only | AnchorUse::Unknown => {
            let steps = remedy::put_root(ctx, remedy::new_root(ctx, steps));
            remedy::restart_meshed_apart(ctx, remedy::restart_control_plane(ctx, steps))
        }
        AnchorUse::OneOfSeveral | AnchorUse::Unused if validity == Validity::NotYet => {
            steps.note("Wait until it is valid, or remove it from the bundle until then")
        }
        AnchorUse::OneOfSeveral | AnchorUse::Unused => stranded::later(ctx, "trust-anchor-expired", Severity::Warning)
            .unwrap_or_else(|| remedy::take_out_anchor(ctx, steps, anchor)),
    };
    let said = format!("{}: {}", anchor.certificate.summary(), dates::dates(anchor.certificate, ctx.now()));
    // An unused anchor breaks only `linkerd check`.
    let severity = match role {
        AnchorUse::Only | AnchorUse::Unknown => Severity::Error,
        AnchorUse::OneOfSeveral | AnchorUse::Unused => Severity::Warning,
    };
    let finding = ctx.finding(anchor.subject(), message);
    let finding = if severity == Severity::Error { finding } else { finding.explains_nothing() };
    finding
        .severity(severity)
        .rows_as(Severity::Error)
        .evidences(anchor.evidence(&said))
        .timeline(anchor.moments(ctx.now()))
        .parameter(anchor.certificate.print())
        .remedy(steps)
        .tie(anchor_tie(anchor.certificate))
        .tie(identity_deployment(ctx))
}
