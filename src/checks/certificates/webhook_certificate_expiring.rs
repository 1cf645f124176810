//! `webhook-certificate-expiring`: the certificate of a webhook expires soon.

use super::webhooks::{SERVERS, Serving, serving};
use crate::certificates::{Certificate, Validity};
use crate::checks::dates::{ExpiryWindow, dates, ends_within, expiry, is_overdue, renewed_by};
use crate::checks::prelude::*;
use crate::checks::serving::align_ca_step;
use crate::checks::words::sentence;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = serving(ctx, &SERVERS)?;
    let findings = serving.iter().flat_map(|pair| [finding(ctx, pair), left_over(ctx, pair)]);
    Ok(findings.flatten().collect())
}

/// A finding about expired certificates that follow a valid one. `webhook-certificate-expired`
/// checks whether a path needs them; `linkerd check` counts them as expiring.
fn left_over(ctx: &Context<'_>, pair: &Serving<'_>) -> Option<Finding> {
    let over = |certificate: &&Certificate| certificate.validity(ctx.now()) == Validity::Over;
    let (own, behind) = pair.served.split_first()?;
    let ended: Vec<&Certificate> = behind.iter().filter(over).collect();
    if over(&own) || ended.is_empty() {
        return None;
    }
    let message = format!(
        "an expired certificate follows the certificate of the {} webhook in its Secret. The API server \
         needs it only if nothing else chains to the caBundle, but linkerd check warns of it",
        pair.server.name
    );
    let remedy = Remedy::new();
    let remedy = align_ca_step(ctx, remedy, pair.server.values, pair.server.name);
    let finding = ctx.finding(pair.server.secret_subject(ctx), message).severity(Severity::Info);
    let finding = finding.rows_as(Severity::Warning).fails_rows([pair.server.sixty_days]).parameter("left-over");
    Some(finding.explains_nothing().evidence(quoted(ctx, pair, &ended)).remedy(remedy))
}

fn quoted(ctx: &Context<'_>, pair: &Serving<'_>, certificates: &[&Certificate]) -> Evidence {
    let said = certificates.iter().map(|c| format!("{}: {}", c.summary(), dates(c, ctx.now())));
    let object = format!("Secret {}/{}", ctx.namespaces().control_plane, pair.server.secret_name());
    Evidence::field(object, "data: certificate", said.collect::<Vec<_>>().join("; "))
}

fn finding(ctx: &Context<'_>, pair: &Serving<'_>) -> Option<Finding> {
    let soon = ExpiryWindow::first_of(ctx, &pair.served)?;
    let ending = |c: &&Certificate| ends_within(c, ctx.now(), ExpiryWindow::horizon(ctx));
    let ending: Vec<&Certificate> = pair.served.iter().filter(ending).collect();
    let remedy = Remedy::new();
    let certificate = format!("certificate of the {} webhook", pair.server.name);
    let meta = &pair.secret.metadata;
    let tool = pair.served.first().and_then(|own| Some((renewed_by(meta, own)?, is_overdue(own, ctx.now()))));
    let (severity, message, remedy) = match tool {
        None => (
            Severity::Warning,
            soon.message(ctx, &format!("The {certificate}"), &pair.served, |when| {
                format!(
                    "The {certificate} expires {when} and is not renewed automatically. After that, the API \
                     server does not call the webhook"
                )
            }),
            align_ca_step(ctx, remedy, pair.server.values, pair.server.name),
        ),
        Some((tool, true)) => (
            Severity::Warning,
            format!(
                "{} has not renewed the {certificate} after five sixths of its lifetime. When the \
                 certificate expires, the API server does not call the webhook",
                sentence(tool)
            ),
            see_renewal(ctx, pair, remedy),
        ),
        // A certificate that is renewed in time matters only for the row.
        Some((_, false)) if soon == ExpiryWindow::AsSet => return None,
        // A shorter lifetime is always within the limit.
        Some((tool, false)) => (
            Severity::Info,
            format!(
                "The {certificate} expires {}. {} renews it and is not late, but linkerd check warns",
                expiry(ctx, &pair.served),
                sentence(tool)
            ),
            see_renewal(ctx, pair, remedy),
        ),
    };
    let finding = ctx
        .finding(pair.server.secret_subject(ctx), message)
        .severity(severity)
        .rows_as(Severity::Warning)
        .evidence(quoted(ctx, pair, &ending))
        .fails_rows([pair.server.sixty_days])
        .remedy(remedy);
    let finding = if severity == Severity::Info { finding.parameter("renewed").explains_nothing() } else { finding };
    // An overdue renewal counts whatever the expiry date.
    Some(match (tool, soon) {
        (Some((_, true)), ExpiryWindow::AsSet) => soon.graded(finding.likely()),
        (Some((_, true)), _) => finding.likely(),
        (Some((_, false)), _) => finding,
        (None, _) => soon.graded(finding),
    })
}

/// The step that shows whether the certificate will be renewed.
fn see_renewal(ctx: &Context<'_>, pair: &Serving<'_>, remedy: Remedy) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    match pair.secret.metadata.annotation("cert-manager.io/certificate-name") {
        Some(certificate) => remedy.command(
            "Check when cert-manager renews it",
            kubectl().namespace(namespace).words("get certificate").operand(certificate).words("-o wide"),
        ),
        None => remedy.note("Check when the tool that writes the Secret renews it"),
    }
}
