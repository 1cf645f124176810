//! `issuer-renewal-unusable`: cert-manager issues an issuer that identity cannot use, or cannot renew it.

use jiff::SignedDuration;

use super::algorithms::unsupported_curve;
use super::cert_manager_meshed::renewal_of;
use super::identity::{identity_deployment, issuer};
use super::managed_anchor::is_of_issuer;
use crate::certificates::Key;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::model::managed_by::ManagedBy;
use crate::objects::{CertManagerCertificate, ManagedCertificate};

/// The only algorithm of keys with which identity signs.
const ALGORITHM: &str = "ECDSA";
/// Time before the renewal from which on an unusable renewal is an error.
const NOW: SignedDuration = SignedDuration::from_hours(7 * 24);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = defined::<CertManagerCertificate>(ctx)?.iter();
    let managed: Vec<_> = all.filter(|managed| is_of_issuer(ctx, managed)).collect();
    if managed.is_empty() {
        return Err(Unjudged::not_applicable("cert-manager does not issue the issuer"));
    }
    let findings = managed.iter().flat_map(|one| [unusable(ctx, one), curve(ctx, one), not_ready(ctx, one)]);
    Ok(findings.flatten().collect())
}

fn subject(managed: &ManagedCertificate) -> Subject {
    let (namespace, name) = managed.metadata.key();
    Subject::object(Kind::CertManagerCertificate, namespace, name)
}

fn field(managed: &ManagedCertificate, path: &str, said: impl Into<String>) -> Evidence {
    let (namespace, name) = managed.metadata.key();
    Evidence::field(format!("Certificate {namespace}/{name}"), path, said)
}

/// The finding for a Certificate from whose spec identity cannot use the result.
fn unusable(ctx: &Context<'_>, managed: &ManagedCertificate) -> Option<Finding> {
    let algorithm = managed.spec.private_key.algorithm.as_str();
    let (is_key, is_ca) = (algorithm == ALGORITHM, managed.spec.is_ca);
    let message = match (is_key, is_ca) {
        (true, true) => return None,
        (false, true) => {
            "cert-manager renews the issuer with a key that is not ECDSA: identity cannot sign with it, so no proxy \
             gets a certificate"
        }
        (true, false) => {
            "cert-manager renews the issuer without CA:TRUE: identity rejects it and does not start with it"
        }
        (false, false) => {
            "cert-manager renews the issuer without CA:TRUE and with a key that is not ECDSA: identity rejects it, so \
             no proxy gets a certificate"
        }
    };
    let shown = if algorithm.is_empty() { "not set; RSA by default" } else { algorithm };
    let held = issuer(ctx).ok();
    let is_held = held.as_ref().is_some_and(|issuer| {
        let certificate = issuer.certificate();
        !certificate.is_authority() || !matches!(certificate.key(), Key::Ecdsa(_))
    });
    let finding = due(ctx, managed, ctx.finding(subject(managed), message), is_held)
        .parameter("spec")
        .evidences((!is_key).then(|| field(managed, "spec.privateKey.algorithm", shown)))
        .evidences((!is_ca).then(|| field(managed, "spec.isCA", "false")))
        .evidences(renewal(managed))
        .remedy(corrected(managed));
    Some(finding)
}

/// The finding for a Certificate whose key is on a curve that proxies do not support.
fn curve(ctx: &Context<'_>, managed: &ManagedCertificate) -> Option<Finding> {
    let key = &managed.spec.private_key;
    if key.algorithm.as_str() != ALGORITHM || !managed.spec.is_ca {
        return None;
    }
    let name = unsupported_curve(ctx, key.size)?;
    let held = issuer(ctx).ok();
    let is_held =
        held.as_ref().is_some_and(|issuer| matches!(issuer.certificate().key(), Key::Ecdsa(bits) if bits == key.size));
    let message = format!(
        "cert-manager renews the issuer with a key of {name}, which proxies of this release do not support: they \
         reject every certificate that it signs"
    );
    let finding = due(ctx, managed, ctx.finding(subject(managed), message), is_held)
        .parameter("curve")
        .evidence(field(managed, "spec.privateKey.size", key.size.to_string()));
    Some(finding.evidences(renewal(managed)).remedy(corrected(managed)))
}

/// Grades a finding: an error if the Secret already has such a certificate, or soon has one.
fn due(ctx: &Context<'_>, managed: &ManagedCertificate, finding: Finding, is_held: bool) -> Finding {
    let renewal = managed.status.renewal_time.get();
    let is_soon = renewal.is_some_and(|at| at.duration_since(ctx.now()) < NOW);
    let finding = finding.severity(if is_held || is_soon { Severity::Error } else { Severity::Warning });
    if is_held { finding.tie(identity_deployment(ctx)) } else { finding }
}

fn renewal(managed: &ManagedCertificate) -> Option<Evidence> {
    let renewal = managed.status.renewal_time.get();
    renewal.map(|at| field(managed, "status.renewalTime", at.to_string()))
}

fn corrected(managed: &ManagedCertificate) -> Remedy {
    let (namespace, name) = managed.metadata.key();
    let act = "Let cert-manager issue a CA with an ECDSA P-256 key";
    let patch = kubectl().namespace(namespace).words("patch certificates.cert-manager.io").operand(name);
    let patch = patch
        .words("--type merge -p")
        .arg(r#"{"spec":{"isCA":true,"privateKey":{"algorithm":"ECDSA","size":256,"rotationPolicy":"Always"}}}"#);
    let wait = kubectl().namespace(namespace).words("wait --for=condition=Ready --timeout=5m");
    let wait = wait.arg(format!("certificates.cert-manager.io/{name}"));
    let remedy = match ManagedBy::from_metadata(&managed.metadata).in_git() {
        Some(git) => Remedy::new().note(format!("{act}; {git}")),
        None => Remedy::new().command(
            format!("{act} (also in its source manifest): it keeps the old key unless rotationPolicy is Always"),
            patch,
        ),
    };
    remedy.command("Wait until cert-manager has issued it", wait)
}

/// The finding for a Certificate that cert-manager cannot issue.
fn not_ready(ctx: &Context<'_>, managed: &ManagedCertificate) -> Option<Finding> {
    let ready = managed.status.conditions.iter().find(|condition| condition.kind == "Ready")?;
    if ready.status != "False" || ctx.within_grace(ready.last_transition_time) {
        return None;
    }
    let (namespace, name) = managed.metadata.key();
    let said = [ready.reason.as_str(), ready.message.as_str()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    let describe = kubectl().namespace(namespace).words("describe").arg(format!("certificate.cert-manager.io/{name}"));
    let requests = kubectl().namespace(namespace).words("describe certificaterequests.cert-manager.io");
    Some(
        ctx.finding(
            subject(managed),
            "cert-manager cannot issue the issuer's certificate: it is not renewed, and once it has expired, no proxy \
             gets a certificate",
        )
        .severity(Severity::Warning)
        .parameter("ready")
        .tie(renewal_of(managed))
        .evidence(field(managed, "status.conditions[Ready]", format!("False: {}", said.join(": "))))
        .evidences(managed.status.not_after.get().map(|at| field(managed, "status.notAfter", at.to_string())))
        .remedy(
            Remedy::new()
                .command("Read the conditions and events of the Certificate", describe)
                .command("Read why its requests fail", requests),
        ),
    )
}
