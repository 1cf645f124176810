//! `viz-tap-key-mismatch`: the private key of tap does not belong to its certificate.

use super::tap::{item, tap};
use crate::checks::extensions::{reinstall, remedy};
use crate::checks::serving::{key_matches, key_not_known, served};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::StepKind;
use crate::item::Extension;
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = match tap(ctx)? {
        Ok(tap) => tap,
        Err(verdict) => return Ok(verdict),
    };
    let (Some(secret), Some(Ok(served))) = (tap.secret, tap.secret.map(served)) else {
        return Ok(Verdict::blocked(
            "viz-tap-certificate-invalid",
            "tap has no certificate that can be read",
        ));
    };
    match key_matches(secret) {
        KeyMatches::True => return Ok(Verdict::fine()),
        KeyMatches::Unknown => return Err(key_not_known(ctx, item())),
        KeyMatches::False => {}
    }
    let home = tap.home;
    let said = format!("{}: the key beside it is another's", served[0].summary());
    let steps = remedy(Extension::Viz)
        .run(
            StepKind::Command,
            "Lay viz down again with the command or the chart of its release, which writes a new pair",
            reinstall(Extension::Viz),
        )
        .run(StepKind::Command, "Restart tap", format!("kubectl -n {home} rollout restart deployment/tap"));
    let finding = ctx
        .finding(
            tap.subject(),
            "the private key of tap does not belong to its certificate: tap cannot serve the pair, and the API server gets no \
             answer from it once it is restarted",
        )
        .evidence(tap.evidence("data: certificate", said))
        .remedy(steps);
    Ok(vec![finding].into())
}
