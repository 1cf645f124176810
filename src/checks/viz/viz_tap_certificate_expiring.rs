//! `viz-tap-certificate-expiring`: the certificate of tap expires soon.

use super::tap::{Tap, tap};
use crate::certificates::{Certificate, Validity};
use crate::checks::dates::{ExpiryWindow, dates, expiry, is_overdue, renewed_by};
use crate::checks::extensions::reinstall;
use crate::checks::prelude::*;
use crate::checks::serving::{ending, served};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = tap(ctx)?;
    let Some(Ok(served)) = tap.secret.map(served) else {
        return Err(Unjudged::blocked("viz-tap-certificate-invalid", "tap has no readable certificate"));
    };
    let ending = ending(&served, ctx.now(), ExpiryWindow::horizon(ctx));
    // An expired later certificate in the bundle fails the row too.
    let ended = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Over;
    let soon = ExpiryWindow::first_of(ctx, &served)
        .filter(|_| !served.iter().skip(1).any(ended))
        .unwrap_or(ExpiryWindow::ForBoth);
    let said: Vec<String> = ending
        .into_iter()
        .map(|certificate| format!("{}: {}", certificate.summary(), dates(certificate, ctx.now())))
        .collect();
    if said.is_empty() {
        return Ok(Verdict::fine());
    }
    let tool = tap
        .secret
        .zip(served.first())
        .and_then(|(secret, own)| Some((renewed_by(&secret.metadata, own)?, is_overdue(own, ctx.now()))));
    let (severity, message, remedy) = match tool {
        None => (
            Severity::Warning,
            soon.message(ctx, "the certificate of tap, or one of its chain,", &served, |when| {
                format!(
                    "the certificate of tap, or one of its chain, expires {when} and nothing is \
                     known to renew it: after expiry the API server rejects tap"
                )
            }),
            reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes a new pair"),
        ),
        Some((tool, true)) => (
            Severity::Warning,
            format!(
                "five sixths of the lifetime of tap's certificate are over and {tool} has not renewed it: \
                 after expiry the API server rejects tap"
            ),
            see_renewal(&tap),
        ),
        // A certificate with timely renewal only matters to the row.
        Some((_, false)) if soon == ExpiryWindow::AsSet => return Ok(Verdict::fine()),
        // Certificates with a shorter lifetime are always within 60 days.
        Some((tool, false)) => (
            Severity::Info,
            format!(
                "the certificate of tap expires {} and {tool} renews it: nothing is overdue, but linkerd check \
                 warns",
                expiry(ctx, &served)
            ),
            see_renewal(&tap),
        ),
    };
    let finding = ctx
        .finding(tap.subject(), message)
        .severity(severity)
        .rows_as(Severity::Warning)
        .evidence(tap.evidence("data: certificate", said.join("; ")))
        .remedy(remedy);
    let finding = if severity == Severity::Info { finding.parameter("renewed").explains_nothing() } else { finding };
    // An overdue renewal stays overdue whatever the expiry.
    let finding = match (tool, soon) {
        (Some((_, true)), ExpiryWindow::AsSet) => soon.graded(finding.likely()),
        (Some((_, true)), _) => finding.likely(),
        (Some((_, false)), _) => finding,
        (None, _) => soon.graded(finding),
    };
    Ok(finding.into())
}

/// The step that shows whether the certificate will be renewed.
fn see_renewal(tap: &Tap<'_>) -> Remedy {
    match tap.secret.and_then(|secret| secret.metadata.annotation("cert-manager.io/certificate-name")) {
        Some(certificate) => Remedy::new().command(
            "Check when cert-manager renews it",
            kubectl().namespace(tap.namespace).words("get certificate").operand(certificate).words("-o wide"),
        ),
        None => Remedy::new().note("Check when the tool that writes the Secret renews it"),
    }
}
