//! `issuer-pinned-as-anchor`: the issuer is trusted only because its own certificate is among the trust anchors.

use super::identity::{anchor_tie, identity_deployment, issuer_and_bundles};
use super::remedy;
use crate::certificates::{Certificate, Validity, reach};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (issuer, bundles) = issuer_and_bundles(ctx)?;
    let (certificate, bundle) = (issuer.certificate(), &bundles[0]);
    let now = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Current;
    let reached = reach(&issuer.chain, &bundle.anchors, &now).anchors;
    let pinned = !reached.is_empty()
        && reached.iter().all(|place| bundle.anchors.get(*place).is_some_and(|anchor| anchor == certificate));
    // The CLI makes one self-signed root; a manual rotation replaces both at once.
    let on_purpose = certificate.is_self_issued() && issuer.renewed_by().is_none();
    if !pinned || on_purpose {
        return Ok(Verdict::fine());
    }
    let message = match issuer.renewed_by() {
        Some(_) => {
            "the issuer is trusted only because its own certificate is a trust anchor, and it is renewed \
                automatically: after the next renewal identity rejects it and issues no certificates"
        }
        None => {
            "the issuer is trusted only because its own certificate is a trust anchor: a new issuer \
                under the same root is not trusted, so every issuer change requires a trust anchor \
                rotation"
        }
    };
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(issuer.quoted(format!("{}, signed by {}", certificate.summary(), certificate.issuer())))
        .evidence(bundle.evidence(format!("{}: the same certificate", certificate.summary())))
        .remedy(steps(ctx, certificate))
        .tie(anchor_tie(certificate))
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}

fn steps(ctx: &Context<'_>, certificate: &Certificate) -> Remedy {
    let steps = Remedy::new();
    let steps = if certificate.is_self_issued() {
        steps.note(
            "Sign the issuer with a separate, longer-lived root (with cert-manager, an Issuer of kind \
                CA), and put the certificate of that root into a file root.crt",
        )
    } else {
        steps.note(
            "Put the certificate of the CA that signed the issuer into a file \
            root.crt",
        )
    };
    let steps = remedy::add_to_bundle(
        ctx,
        steps,
        "Write the current bundle to a file, and add that certificate",
        remedy::WITH_ROOT,
        "root.crt",
    );
    let steps = remedy::put_bundle(ctx, steps, "Put the bundle in place", remedy::WITH_ROOT);
    let steps = remedy::restart_meshed(ctx, remedy::restart_control_plane(ctx, steps));
    steps.note("Then remove the issuer's own certificate from the bundle")
}
