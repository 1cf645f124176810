//! `issuer-key-mismatch`: the private key in the issuer's Secret does not belong to its certificate.

use super::identity::{identity_deployment, issuer, issuer_item};
use super::remedy;
use crate::checks::serving::{key_matches, key_not_known};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::Remedy;
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = match issuer(ctx)? {
        Ok(issuer) => issuer,
        Err(verdict) => return Ok(verdict),
    };
    match key_matches(issuer.secret) {
        KeyMatches::True => return Ok(Verdict::fine()),
        KeyMatches::Unknown => return Err(key_not_known(ctx, issuer_item())),
        KeyMatches::False => {}
    }
    let steps = remedy::new_issuer(ctx, Remedy::verified_by("meshdoctor check --only certificates"));
    let steps = remedy::put_issuer(ctx, steps, Some(&issuer));
    let finding = ctx
        .finding(
            issuer.subject(),
            "the private key in the issuer's Secret does not belong to its certificate: identity does not take the pair, and \
             does not start with it",
        )
        .evidence(issuer.quoted(format!("{}: the key beside it is another's", issuer.certificate().summary())))
        .remedy(remedy::see_it_taken(ctx, steps))
        .tie(identity_deployment(ctx));
    Ok(vec![finding].into())
}
