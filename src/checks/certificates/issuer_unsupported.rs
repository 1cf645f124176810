//! `issuer-unsupported`: the issuer's certificate has a key or a signature that Linkerd does not take, or may not sign.

use super::identity::{Issuer, identity_deployment, issuer};
use super::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, Severity};
use crate::model::certificates::Key;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = match issuer(ctx)? {
        Ok(issuer) => issuer,
        Err(verdict) => return Ok(verdict),
    };
    let certificate = issuer.certificate();
    let signed_with = certificate.signed_with();
    let mut findings = Vec::new();
    if certificate.key() != Key::Ecdsa(256) || !matches!(signed_with.as_str(), "ECDSA-SHA256" | "SHA256-RSA")
    {
        let said = format!("key {}, signature {signed_with}", certificate.key());
        findings.push(finding(
            ctx,
            &issuer,
            "algorithm",
            "the issuer's certificate has a key or a signature that Linkerd does not support: it must be ECDSA P-256, signed \
             with SHA-256",
            &said,
        ));
    }
    if !certificate.is_authority() {
        let message =
            "the issuer's certificate is no authority: identity refuses it and does not start with it";
        findings.push(finding(ctx, &issuer, "no-authority", message, "CA:FALSE").fails_rows([]));
    } else if !certificate.signs_certificates() {
        let message = "the key usage of the issuer's certificate leaves out the signing of certificates: whoever looks at it \
                       accepts none that it signed";
        let finding = finding(ctx, &issuer, "key-usage", message, "no Certificate Sign in its key usage");
        findings.push(finding.severity(Severity::Warning).fails_rows([]));
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, issuer: &Issuer<'_>, which: &str, message: &str, said: &str) -> Finding {
    let steps = remedy::new_issuer(ctx, Remedy::verified_by("meshdoctor check --only certificates"));
    let steps = remedy::put_issuer(ctx, steps, Some(issuer));
    ctx.finding(issuer.subject(), message)
        .evidence(issuer.quoted(format!("{}: {said}", issuer.certificate().summary())))
        .parameter(which)
        .remedy(remedy::see_it_taken(ctx, steps))
        .tie(identity_deployment(ctx))
}
