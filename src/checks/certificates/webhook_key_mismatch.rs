//! `webhook-key-mismatch`: the private key of a webhook does not belong to its certificate.

use super::webhooks::{SERVERS, Serving, serving};
use crate::checks::prelude::*;
use crate::checks::serving::{align_ca_step, key_matches, key_not_known, key_trouble};
use crate::redact::KeyMatches;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = serving(ctx, &SERVERS)?;
    let mut findings = Vec::new();
    for pair in &serving {
        match key_matches(pair.secret) {
            KeyMatches::Unknown => ctx.gap(key_not_known(ctx, pair.server.secret_item())),
            matches => findings.extend(key_trouble(matches).map(|trouble| finding(ctx, pair, trouble))),
        }
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, pair: &Serving<'_>, (trouble, said): (&str, &str)) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("Secret {namespace}/{}", pair.server.secret_name());
    let said = format!("{}: {said}", pair.served[0].summary());
    let remedy = Remedy::new();
    let finding = ctx
        .finding(
            pair.server.secret_subject(ctx),
            format!(
                "the private key of a webhook {trouble}: the webhook cannot serve the pair, and fails \
                    after its next restart"
            ),
        )
        .evidence(Evidence::field(object, "data: certificate", said))
        .fails_rows([pair.server.valid])
        .remedy(align_ca_step(ctx, remedy, pair.server.values, pair.server.name));
    pair.server.tied(ctx, finding)
}
