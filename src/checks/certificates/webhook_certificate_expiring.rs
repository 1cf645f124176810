//! `webhook-certificate-expiring`: the certificate of a webhook ends within 60 days.

use super::webhooks::{SERVERS, Serving, serving};
use crate::checks::dates::{dates, ends_soon};
use crate::checks::serving::bring_together;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::model::certificates::Certificate;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = match serving(ctx, &SERVERS)? {
        Ok(serving) => serving,
        Err(verdict) => return Ok(verdict),
    };
    Ok(serving.iter().filter_map(|pair| finding(ctx, pair)).collect::<Vec<_>>().into())
}

fn finding(ctx: &Context<'_>, pair: &Serving<'_>) -> Option<Finding> {
    let soon: Vec<&Certificate> = pair.served.iter().filter(|c| ends_soon(c, ctx.now())).collect();
    if soon.is_empty() {
        return None;
    }
    let said: Vec<String> =
        soon.iter().map(|c| format!("{}: {}", c.summary(), dates(c, ctx.now()))).collect();
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
    let object = format!("Secret {namespace}/{}", pair.server.secret_name());
    let finding = ctx
        .finding(pair.server.secret_subject(ctx), message)
        .evidence(Evidence::field(object, "data: certificate", said.join("; ")))
        .fails_rows([pair.server.sixty_days])
        .remedy(remedy);
    Some(finding)
}
