//! `issuer-expiring`: the issuer's certificate expires soon and is not renewed, or its renewal is
//! overdue.

use super::identity::{Issuer, identity_deployment, issuer};
use super::{remedy, stranded};
use crate::certificates::Validity;
use crate::checks::dates::{self, ExpiryWindow};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    if issuer.certificate().validity(ctx.now()) != Validity::Current {
        // Another check reports it.
        return Ok(Verdict::fine());
    }
    let findings = match issuer.renewed_by() {
        Some(tool) if dates::is_overdue(issuer.certificate(), ctx.now()) => vec![overdue(ctx, &issuer, tool)],
        None => ExpiryWindow::first_of(ctx, [issuer.certificate()])
            .map(|soon| ends(ctx, &issuer, soon))
            .into_iter()
            .collect(),
        Some(_) => Vec::new(),
    };
    Ok(findings.into())
}

fn ends(ctx: &Context<'_>, issuer: &Issuer<'_>, soon: ExpiryWindow) -> Finding {
    let steps = stranded::later(ctx, "issuer-expiring", Severity::Warning).unwrap_or_else(|| {
        let steps = remedy::new_issuer(ctx, Remedy::new());
        remedy::see_it_loaded(ctx, remedy::put_issuer(ctx, steps, Some(issuer)))
    });
    let message = soon.message(ctx, "the issuer's certificate", [issuer.certificate()], |when| {
        format!(
            "The issuer's certificate expires {when} and is not renewed automatically. When it expires, so do the \
             certificates of all proxies, and connections between meshed pods fail"
        )
    });
    soon.graded(finding(ctx, issuer, &message, steps))
}

fn overdue(ctx: &Context<'_>, issuer: &Issuer<'_>, tool: &str) -> Finding {
    let message = format!(
        "{tool} has not renewed the issuer's certificate after five sixths of its lifetime. When it expires, so do \
         the certificates of all proxies, and connections between meshed pods fail"
    );
    let steps = Remedy::new();
    let steps = remedy::put_issuer(ctx, steps, Some(issuer));
    finding(ctx, issuer, &message, remedy::see_it_loaded(ctx, steps)).likely()
}

fn finding(ctx: &Context<'_>, issuer: &Issuer<'_>, message: &str, remedy: Remedy) -> Finding {
    let certificate = issuer.certificate();
    let said = format!("{}: {}", certificate.summary(), dates::dates(certificate, ctx.now()));
    ctx.finding(issuer.subject(), message).evidence(issuer.quoted(said)).remedy(remedy).tie(identity_deployment(ctx))
}
