//! `issuer-drifted`: the next upgrade replaces the issuer with another one, which the installation stores, or
//! is refused because of it.

use super::algorithms::{self, Supported};
use super::identity::{Bundle, Issuer, Scheme, identity_deployment, issuer_and_bundles};
use super::stranded;
use crate::certificates::{Certificate, Trust, Validity, trust};
use crate::checks::control_plane::installation;
use crate::checks::prelude::*;
use crate::checks::{dates, upgrade};
use crate::model::managed_by::Installer;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let values = installation::values(ctx)?;
    let (issuer, bundles) = issuer_and_bundles(ctx)?;
    if issuer.scheme == Scheme::External {
        return Err(Unjudged::not_applicable("a tool other than the chart writes the issuer"));
    }
    let Some(stored) = upgrade::stored_instead(&values, issuer.secret) else { return Ok(Verdict::fine()) };
    replaced_first(ctx, &issuer, &bundles)?;
    let next = bundles.iter().find(|bundle| !bundle.in_force).or(bundles.first());
    let harm = next.and_then(|next| unusable(ctx, &stored, next));
    let is_by_cli = upgrade::managed_by(ctx).installer == Some(Installer::Cli);
    let message = match (harm, is_by_cli) {
        (None, _) => "The next upgrade replaces the current issuer with another one that the installation stores: the \
             Secret was changed outside the installation"
            .to_owned(),
        (Some(harm), true) => format!(
            "The installation stores another issuer than the current one, and the stored one {harm}: `linkerd \
             upgrade` refuses to run"
        ),
        (Some(harm), false) => format!(
            "The next upgrade replaces the current issuer with the one that the installation stores. That one \
             {harm}, so identity rejects it and issues no certificates"
        ),
    };
    let said =
        |certificate: &Certificate| format!("{}: {}", certificate.summary(), dates::dates(certificate, ctx.now()));
    let remedy = stranded::later(ctx, "issuer-drifted", Severity::Warning).unwrap_or_else(|| {
        let act = "Store the current issuer in the installation";
        upgrade::step(ctx, Remedy::new(), StepKind::Command, act, upgrade::Options::none())
    });
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidences(stored.first().map(|stored| {
            let object = format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
            Evidence::field(object, "data.values: identity.issuer.tls.crtPEM", said(stored))
        }))
        .evidence(issuer.quoted(said(issuer.certificate())))
        .remedy(remedy)
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}

/// Verifies that no other check has a new issuer made, which then is that of the installation.
///
/// # Errors
/// One does.
fn replaced_first(ctx: &Context<'_>, issuer: &Issuer<'_>, bundles: &[Bundle]) -> Result<(), Unjudged> {
    let certificate = issuer.certificate();
    let of_issuer = |by| Err(Unjudged::blocked(by, "the issuer must be replaced"));
    let of_anchor = |by| Err(Unjudged::blocked(by, "a trust anchor must be replaced"));
    let current = bundles.iter().find(|bundle| bundle.in_force).map_or(&[][..], |bundle| &bundle.anchors);
    if certificate.validity(ctx.now()) != Validity::Current {
        return of_issuer("issuer-expired");
    }
    if algorithms::issuer_key(ctx, certificate) == Supported::Nowhere
        || algorithms::signature(ctx, certificate) == Supported::Nowhere
        || !certificate.is_authority()
    {
        return of_issuer("issuer-unsupported");
    }
    if current.iter().any(|anchor| anchor.validity(ctx.now()) != Validity::Current) {
        return of_anchor("trust-anchor-expired");
    }
    if !current.is_empty() && trust(&issuer.chain, current) == Trust::No {
        return of_issuer("issuer-not-trusted");
    }
    if dates::is_soon(certificate, ctx.now()) {
        return of_issuer("issuer-expiring");
    }
    if current.iter().any(|anchor| dates::is_soon(anchor, ctx.now())) {
        return of_anchor("trust-anchor-expiring");
    }
    Ok(())
}

/// Why an upgrade cannot use an issuer, as the end of a sentence.
fn unusable(ctx: &Context<'_>, stored: &[Certificate], next: &Bundle) -> Option<&'static str> {
    match stored.first()?.validity(ctx.now()) {
        Validity::Over => Some("has expired"),
        Validity::NotYet => Some("is not valid yet"),
        Validity::Current if trust(stored, &next.anchors) == Trust::No => Some("chains to no trust anchor"),
        Validity::Current => None,
    }
}
