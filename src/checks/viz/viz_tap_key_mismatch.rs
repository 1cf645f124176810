//! `viz-tap-key-mismatch`: the private key of tap does not match its certificate.

use super::tap::{SECRET, item, tap};
use crate::checks::extensions::reinstall;
use crate::checks::prelude::*;
use crate::checks::serving::{key_matches, key_not_known, key_trouble, served};
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = tap(ctx)?;
    let (Some(secret), Some(Ok(served))) = (tap.secret, tap.secret.map(served)) else {
        return Err(Unjudged::blocked("viz-tap-certificate-invalid", "tap has no readable certificate"));
    };
    let matches = key_matches(secret);
    if matches == KeyMatches::Unknown {
        return Err(key_not_known(ctx, item(SECRET)).into());
    }
    let Some((trouble, said)) = key_trouble(matches) else { return Ok(Verdict::fine()) };
    let said = format!("{}: {said}", served[0].summary());
    let steps = reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes a new pair")
        .command("Restart tap", kubectl().namespace(tap.namespace).words("rollout restart deployment/tap"));
    let finding = ctx
        .finding(
            tap.subject(),
            format!(
                "the private key of tap {trouble}: once tap is restarted it cannot serve the pair, and the \
                 API server gets no answer from it"
            ),
        )
        .evidence(tap.evidence("data: certificate", said))
        .remedy(steps);
    Ok(finding.into())
}
