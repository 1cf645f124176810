//! `issuer-named-like-anchor`: the issuer has the same subject as the trust anchor that signed it.

use super::identity::{identity_deployment, issuer_and_bundles};
use super::remedy;
use crate::certificates::reach;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (issuer, bundles) = issuer_and_bundles(ctx)?;
    let (certificate, bundle) = (issuer.certificate(), &bundles[0]);
    let reached = reach(&issuer.chain, &bundle.anchors, &|_| true).anchors;
    let alike = reached.iter().filter_map(|place| bundle.anchors.get(*place)).find(|anchor| {
        // The issuer's own certificate among the anchors is reported by another check.
        *anchor != certificate && anchor.subject() == certificate.subject()
    });
    let Some(anchor) = alike else { return Ok(Verdict::fine()) };
    let steps = Remedy::new().note(
        "Use distinct names, root.linkerd.TRUST-DOMAIN for the trust anchor and \
            identity.linkerd.TRUST-DOMAIN for the issuer; a new issuer under the same anchor is enough",
    );
    let steps = remedy::new_issuer(ctx, steps);
    let steps = remedy::see_it_taken(ctx, remedy::put_issuer(ctx, steps, Some(&issuer)));
    let finding = ctx
        .finding(
            issuer.subject(),
            "the issuer's certificate has the same subject as the trust anchor that signed it: proxies \
                take the issuer for its own root and reject connections, although all dates and \
                signatures are valid",
        )
        .evidence(issuer.quoted(certificate.summary()))
        .evidence(bundle.evidence(anchor.summary()))
        .remedy(steps)
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}
