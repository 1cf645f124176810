//! `issuer-key-mismatch`: the private key in the issuer's Secret does not belong to its certificate.

use super::identity::{Issuer, identity_deployment, issuer, issuer_item};
use super::remedy;
use crate::certificates::Certificate;
use crate::checks::prelude::*;
use crate::checks::serving::{key_matches, key_not_known, key_trouble};
use crate::checks::upgrade;
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let matches = key_matches(issuer.secret);
    if matches == KeyMatches::Unknown {
        let missing = key_not_known(ctx, issuer_item());
        if !is_reversed(&issuer.chain) {
            return Err(missing.into());
        }
        ctx.gap(missing);
        return Ok(reversed(ctx, &issuer).into());
    }
    let Some((trouble, said)) = key_trouble(matches) else { return Ok(Verdict::fine()) };
    // The first certificate must be the issuer's own.
    let root_first = matches == KeyMatches::False && is_reversed(&issuer.chain);
    let said = if root_first {
        "it is signed by the next one, so the chain is in the wrong order: the issuer's own must come \
            first"
    } else {
        said
    };
    let steps = match matches {
        KeyMatches::Absent | KeyMatches::Empty if upgrade::uses_stored_values(ctx) => {
            remedy::restored_issuer(ctx, Remedy::new())
        }
        _ => another(ctx, &issuer),
    };
    let finding = ctx
        .finding(
            issuer.subject(),
            format!(
                "the private key in the issuer's Secret {trouble}: identity rejects the pair and does \
                    not start with it"
            ),
        )
        .evidence(issuer.quoted(format!("{}: {said}", issuer.certificate().summary())))
        .remedy(steps)
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}

/// Whether the first certificate of a chain signed the second, so that the chain is in reverse order.
fn is_reversed(chain: &[Certificate]) -> bool {
    let [first, second, ..] = chain else { return false };
    second.issuer() == first.subject() && first.issuer() != second.subject()
}

/// The finding if only the order of the chain is known, but not the key.
fn reversed(ctx: &Context<'_>, issuer: &Issuer<'_>) -> Finding {
    let own = issuer.certificate().summary();
    ctx.finding(
        issuer.subject(),
        "the chain in the issuer's Secret is in reverse order, and identity reads the first certificate. Unless \
         the private key belongs to that one, identity does not start",
    )
    .severity(Severity::Warning)
    .likely()
    .parameter("order")
    .evidence(issuer.quoted(format!("{own}: it signed the next certificate of the chain")))
    .remedy(another(ctx, issuer))
    .tie(identity_deployment(ctx))
}

/// The steps that write another issuer.
fn another(ctx: &Context<'_>, issuer: &Issuer<'_>) -> Remedy {
    let steps = remedy::put_issuer(ctx, remedy::new_issuer(ctx, Remedy::new()), Some(issuer));
    remedy::see_it_taken(ctx, steps)
}
