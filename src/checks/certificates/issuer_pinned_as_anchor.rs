//! `issuer-pinned-as-anchor`: the issuer is trusted only because its own certificate stands among the trust anchors.

use super::identity::{TRUST_ROOTS, anchor_tie, identity_deployment, issuer_and_bundles};
use super::remedy;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Remedy, StepKind};
use crate::model::certificates::{Certificate, Validity, reach};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (issuer, bundles) = match issuer_and_bundles(ctx)? {
        Ok(both) => both,
        Err(verdict) => return Ok(verdict),
    };
    let (certificate, bundle) = (issuer.certificate(), &bundles[0]);
    let now = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Current;
    let reached = reach(&issuer.chain, &bundle.anchors, &now).anchors;
    let pinned = !reached.is_empty()
        && reached.iter().all(|place| bundle.anchors.get(*place).is_some_and(|anchor| anchor == certificate));
    // The command-line tool makes one root that signs for itself; whoever replaces that by hand replaces both at once.
    let on_purpose = certificate.is_self_issued() && issuer.renewed_by().is_none();
    if !pinned || on_purpose {
        return Ok(Verdict::fine());
    }
    let message = match issuer.renewed_by() {
        Some(_) => {
            "the issuer is trusted only because its own certificate stands among the trust anchors, and it is renewed by itself: \
             after the next renewal identity refuses it and issues no certificates"
        }
        None => {
            "the issuer is trusted only because its own certificate stands among the trust anchors: a new one under the same root \
             is not, so every change of the issuer is a rotation of the trust anchor"
        }
    };
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(issuer.quoted(format!("{}, signed by {}", certificate.summary(), certificate.issuer())))
        .evidence(bundle.evidence(format!("{}: the same certificate", certificate.summary())))
        .remedy(steps(ctx, certificate))
        .tie(anchor_tie(certificate))
        .tie(identity_deployment(ctx));
    Ok(vec![finding].into())
}

fn steps(ctx: &Context<'_>, certificate: &Certificate) -> Remedy {
    let steps = Remedy::verified_by("meshdoctor check --only certificates");
    let steps = if certificate.is_self_issued() {
        steps.step(
            StepKind::Note,
            "Let a root of its own sign the issuer, which lives longer (with cert-manager, an Issuer of kind CA), and put the \
             certificate of that root in a file ca.crt",
        )
    } else {
        steps.step(
            StepKind::Note,
            "Put the certificate of the authority that signed the issuer in a file ca.crt",
        )
    };
    let namespace = &ctx.namespaces().control_plane;
    let steps = steps.run(
        StepKind::Command,
        "Write the bundle in force to a file, and put that certificate beside it",
        format!(
            "kubectl -n {namespace} get configmap {TRUST_ROOTS} -o 'jsonpath={{.data.ca-bundle\\.crt}}' > bundle.crt\n\
             printf '\\n' >> bundle.crt; cat ca.crt >> bundle.crt"
        ),
    );
    let steps =
        remedy::put_bundle(ctx, steps, "Put the bundle in place (where trust-manager writes it, there)");
    let steps = remedy::restart_meshed(remedy::restart_control_plane(ctx, steps));
    steps.step(StepKind::Note, "Take the issuer's own certificate out of the bundle afterwards")
}
