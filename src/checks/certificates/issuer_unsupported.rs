//! `issuer-unsupported`: identity cannot sign with the issuer's key, proxies do not support its
//! signature, it may not sign, or only `linkerd check` rejects it.

use super::algorithms::{self, Supported};
use super::identity::{Issuer, identity_deployment, issuer};
use super::remedy;
use crate::certificates::Key;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let certificate = issuer.certificate();
    let said = format!("key {}, signature {}", certificate.key(), certificate.signed_with());
    let (key, signature) = (algorithms::issuer_key(ctx, certificate), algorithms::signature(ctx, certificate));
    let mut findings = Vec::new();
    match (key, signature) {
        (Supported::Everywhere, Supported::Everywhere) => {}
        (Supported::Nowhere, _) => {
            let message = match certificate.key() {
                Key::Ecdsa(_) => {
                    "proxies of this release do not support the curve of the issuer's key: they reject \
                        every certificate that it signs. It must be ECDSA P-256"
                }
                Key::Rsa(_) | Key::Ed25519 | Key::Other(_) => {
                    "identity cannot load an issuer whose key is not ECDSA: after its next start, no proxy \
                        gets a certificate. The key must be ECDSA P-256"
                }
            };
            findings.push(finding(ctx, &issuer, "algorithm", message, &said));
        }
        (_, Supported::Nowhere) => {
            let message = "proxies of this release do not support the signature of the issuer's \
                certificate: they reject every certificate below it. Use ECDSA or RSA with SHA-256";
            findings.push(finding(ctx, &issuer, "algorithm", message, &said));
        }
        (Supported::Everywhere | Supported::InMesh, Supported::Everywhere | Supported::InMesh) => {
            let message = "linkerd check rejects the key or the signature of the issuer's certificate, \
                but identity and proxies accept them: the mesh works";
            let found = ctx
                .finding(issuer.subject(), message)
                .severity(Severity::Info)
                .rows_as(Severity::Error)
                .explains_nothing()
                .evidence(issuer.quoted(format!("{}: {said}", certificate.summary())))
                .parameter("command")
                .remedy(Remedy::new().note(
                    "If linkerd check must pass, use ECDSA P-256, signed with SHA-256, at the next \
                        renewal",
                ));
            findings.push(found);
        }
    }
    if !certificate.is_authority() {
        let message = "the issuer's certificate is not a CA: identity rejects it and does not start";
        findings.push(finding(ctx, &issuer, "no-authority", message, "CA:FALSE").fails_rows([]));
    } else if !certificate.signs_certificates() {
        let message = "the key usage of the issuer's certificate does not include signing certificates: \
            verifiers that enforce it reject every certificate it signed";
        let finding = finding(ctx, &issuer, "key-usage", message, "its key usage lacks Certificate Sign");
        findings.push(finding.severity(Severity::Warning).fails_rows([]));
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, issuer: &Issuer<'_>, which: &str, message: &str, said: &str) -> Finding {
    let steps = remedy::new_issuer(ctx, Remedy::new());
    let steps = remedy::put_issuer(ctx, steps, Some(issuer));
    ctx.finding(issuer.subject(), message)
        .evidence(issuer.quoted(format!("{}: {said}", issuer.certificate().summary())))
        .parameter(which)
        .remedy(remedy::see_it_taken(ctx, steps))
        .tie(identity_deployment(ctx))
}
