//! `webhook-certificate-expiring`: the certificate of a webhook ends within 60 days.

use super::webhooks::{SERVERS, Serving, serving};
use crate::checks::dates::{dates, ends_soon};
use crate::checks::serving::bring_together;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind};
use crate::model::certificates::{Certificate, Validity};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = match serving(ctx, &SERVERS)? {
        Ok(serving) => serving,
        Err(verdict) => return Ok(verdict),
    };
    let findings = serving.iter().flat_map(|pair| [finding(ctx, pair), left_over(ctx, pair)]);
    Ok(findings.flatten().collect::<Vec<_>>().into())
}

/// A finding about certificates that have ended and stand behind one that has not. Whether a way leads past them is for
/// `webhook-certificate-expired`; `linkerd check` counts them among those that end soon.
fn left_over(ctx: &Context<'_>, pair: &Serving<'_>) -> Option<Finding> {
    let over = |certificate: &&Certificate| certificate.validity(ctx.now()) == Validity::Over;
    let (own, behind) = pair.served.split_first()?;
    let ended: Vec<&Certificate> = behind.iter().filter(over).collect();
    if over(&own) || ended.is_empty() {
        return None;
    }
    let message = "behind the certificate of a webhook stands one that has ended: the API server needs it only where nothing else \
                   leads to the caBundle, and linkerd check warns of it";
    let remedy = Remedy::verified_by("meshdoctor check --only certificates");
    let remedy = bring_together(ctx, remedy, pair.server.values, pair.server.name);
    let finding = ctx.finding(pair.server.secret_subject(ctx), message).severity(Severity::Info);
    let finding =
        finding.rows_as(Severity::Warning).fails_rows([pair.server.sixty_days]).parameter("left-over");
    Some(finding.explains_nothing().evidence(quoted(ctx, pair, &ended)).remedy(remedy))
}

fn quoted(ctx: &Context<'_>, pair: &Serving<'_>, certificates: &[&Certificate]) -> Evidence {
    let said = certificates.iter().map(|c| format!("{}: {}", c.summary(), dates(c, ctx.now())));
    let object = format!("Secret {}/{}", ctx.namespaces().control_plane, pair.server.secret_name());
    Evidence::field(object, "data: certificate", said.collect::<Vec<_>>().join("; "))
}

fn finding(ctx: &Context<'_>, pair: &Serving<'_>) -> Option<Finding> {
    let soon: Vec<&Certificate> = pair.served.iter().filter(|c| ends_soon(c, ctx.now())).collect();
    if soon.is_empty() {
        return None;
    }
    let namespace = &ctx.namespaces().control_plane;
    let remedy = Remedy::verified_by("meshdoctor check --only certificates");
    let (message, remedy) = match pair.secret.metadata.annotation("cert-manager.io/certificate-name") {
        Some(certificate) => (
            "the certificate of a webhook ends within 60 days; cert-manager renews it, and where it is given less than that to \
             live this is its ordinary state",
            remedy.run(
                StepKind::Command,
                "See that cert-manager will renew it in time",
                format!("kubectl -n {namespace} get certificate {certificate} -o wide"),
            ),
        ),
        None => (
            "the certificate of a webhook ends within 60 days and nothing is known to renew it: from then on the API server \
             refuses to talk to the webhook",
            bring_together(ctx, remedy, pair.server.values, pair.server.name),
        ),
    };
    let finding = ctx
        .finding(pair.server.secret_subject(ctx), message)
        .evidence(quoted(ctx, pair, &soon))
        .fails_rows([pair.server.sixty_days])
        .remedy(remedy);
    Some(finding)
}
