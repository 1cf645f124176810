//! `issuer-key-mismatch`: the private key in the issuer's Secret does not belong to its certificate.

use super::identity::{identity_deployment, issuer, issuer_item};
use super::remedy;
use crate::checks::serving::{key_matches, key_not_known, key_trouble};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::Remedy;
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let matches = key_matches(issuer.secret);
    if matches == KeyMatches::Unknown {
        return Err(key_not_known(ctx, issuer_item()).into());
    }
    let Some((trouble, said)) = key_trouble(matches) else { return Ok(Verdict::fine()) };
    // The first certificate must be the issuer's own.
    let root_first = matches == KeyMatches::False
        && issuer.chain.get(1).is_some_and(|next| next.issuer() == issuer.certificate().subject());
    let said = if root_first {
        "it is signed by the next one, so the chain is in the wrong order: the issuer's own must come \
            first"
    } else {
        said
    };
    let steps = match matches {
        KeyMatches::Absent | KeyMatches::Empty if remedy::is_issuer_kept(ctx) => {
            remedy::restored_issuer(ctx, Remedy::new())
        }
        _ => {
            let steps = remedy::put_issuer(ctx, remedy::new_issuer(ctx, Remedy::new()), Some(&issuer));
            remedy::see_it_taken(ctx, steps)
        }
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
    Ok(vec![finding].into())
}
