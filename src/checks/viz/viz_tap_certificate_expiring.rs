//! `viz-tap-certificate-expiring`: the certificate of tap ends within 60 days.

use super::tap::tap;
use crate::checks::dates::dates;
use crate::checks::extensions::{reinstall, remedy};
use crate::checks::serving::{ending, served};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::StepKind;
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = match tap(ctx)? {
        Ok(tap) => tap,
        Err(verdict) => return Ok(verdict),
    };
    let Some(Ok(served)) = tap.secret.map(served) else {
        return Ok(Verdict::blocked(
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
    let renewed = tap.secret.and_then(|s| s.metadata.annotation("cert-manager.io/certificate-name"));
    let (message, step, command) = if let Some(certificate) = renewed {
        (
            "the certificate of tap ends within 60 days; cert-manager renews it, and where it is given less than that to live this \
             is its ordinary state",
            "See that cert-manager will renew it in time",
            format!("kubectl -n {} get certificate {certificate} -o wide", tap.home),
        )
    } else {
        (
            "the certificate of tap, or one that it shows along with it, ends within 60 days and nothing is known to renew it: from then on the API server refuses to \
             talk to tap",
            "Lay viz down again with the command or the chart of its release, which writes a new pair",
            reinstall(Extension::Viz),
        )
    };
    let finding = ctx
        .finding(tap.subject(), message)
        .evidence(tap.evidence("data: certificate", said.join("; ")))
        .remedy(remedy(Extension::Viz).run(StepKind::Command, step, command));
    Ok(vec![finding].into())
}
