//! `viz-tap-certificate-expiring`: the certificate of tap expires within 60 days.

use super::tap::{Tap, tap};
use crate::checks::dates::{dates, is_overdue, renewed_by};
use crate::checks::extensions::reinstall;
use crate::checks::serving::{ending, served};
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::command::kubectl;
use crate::finding::{Remedy, Severity, StepKind};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = tap(ctx)?;
    let Some(Ok(served)) = tap.secret.map(served) else {
        return Err(Unjudged::blocked(
            "viz-tap-certificate-invalid",
            "tap has no certificate that can be read",
        ));
    };
    let said: Vec<String> = ending(&served, ctx.now())
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
            "the certificate of tap, or one of its chain, expires within 60 days and nothing is known to renew it: from then on the \
             API server refuses to talk to tap"
                .to_owned(),
            reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes a new pair"),
        ),
        Some((tool, true)) => (
            Severity::Warning,
            format!(
                "five sixths of the lifetime of tap's certificate are over and {tool} has not renewed it: when it expires, the API \
                 server refuses to talk to tap"
            ),
            see_renewal(&tap),
        ),
        // One that lives shorter is always within 60 days.
        Some((tool, false)) => (
            Severity::Info,
            format!(
                "the certificate of tap expires within 60 days and {tool} renews it: nothing is overdue, but linkerd check warns of it"
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
    let finding =
        if severity == Severity::Info { finding.parameter("renewed").explains_nothing() } else { finding };
    let overdue = tool.is_some_and(|(_, overdue)| overdue);
    Ok(vec![if overdue { finding.likely() } else { finding }].into())
}

/// Where it is seen whether the certificate will be renewed.
fn see_renewal(tap: &Tap<'_>) -> Remedy {
    match tap.secret.and_then(|secret| secret.metadata.annotation("cert-manager.io/certificate-name")) {
        Some(certificate) => Remedy::new().run(
            StepKind::Command,
            "See when cert-manager renews it",
            kubectl().namespace(tap.namespace).words("get certificate").operand(certificate).words("-o wide"),
        ),
        None => Remedy::new().step(StepKind::Note, "See when the tool that writes the Secret renews it"),
    }
}
