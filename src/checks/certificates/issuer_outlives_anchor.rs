//! `issuer-outlives-anchor`: a certificate that the issuer chains to expires before the issuer.

use jiff::Timestamp;

use super::identity::{Bundle, Issuer, identity_deployment, issuer_and_bundles, issuer_item};
use super::remedy;
use crate::certificates::{Certificate, Path, Validity, reach};
use crate::checks::dates::{dates, ends_within};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (issuer, bundles) = issuer_and_bundles(ctx)?;
    if issuer.certificate().validity(ctx.now()) != Validity::Current {
        return Err(Unjudged::blocked("issuer-expired", "the issuer's certificate is not valid"));
    }
    // The current bundle comes first.
    let bundle = &bundles[0];
    let now = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Current;
    let reached = reach(&issuer.chain, &bundle.anchors, &now);
    let open = reached.paths.iter().filter(|path| path.obstacle.is_none());
    // Of several paths, the one that stays valid longest counts.
    let Some(first) = open.filter_map(|path| first_end(path, &issuer, bundle)).max_by_key(First::end) else {
        return match reached.unknown {
            Some(message) => Err(ctx
                .missing(
                    issuer_item(),
                    Why::Malformed { message },
                    "the signer of the issuer's \
                    certificate",
                )
                .into()),
            None => Err(Unjudged::blocked("issuer-not-trusted", "the issuer chains to no trust anchor")),
        };
    };
    if first.end() >= issuer.certificate().not_after() {
        return Ok(Verdict::fine());
    }
    Ok(finding(ctx, &issuer, bundle, &first).into())
}

/// The certificate of a path that expires first.
struct First<'a> {
    certificate: &'a Certificate,
    is_anchor: bool,
}

impl First<'_> {
    fn end(&self) -> Timestamp {
        self.certificate.not_after()
    }
}

fn first_end<'a>(path: &Path, issuer: &'a Issuer<'_>, bundle: &'a Bundle) -> Option<First<'a>> {
    let between = path.between.iter().filter_map(|place| issuer.chain.get(*place));
    let between = between.map(|certificate| First { certificate, is_anchor: false });
    let anchor = bundle.anchors.get(path.anchor).map(|certificate| First { certificate, is_anchor: true });
    between.chain(anchor).min_by_key(First::end)
}

fn finding(ctx: &Context<'_>, issuer: &Issuer<'_>, bundle: &Bundle, first: &First<'_>) -> Finding {
    let steps = Remedy::new();
    // `trust-anchor-expiring` reports anchors that expire soon.
    let soon = !first.is_anchor && ends_within(first.certificate, ctx.now(), ctx.param_duration("days"));
    let (severity, message) = if soon {
        (
            Severity::Warning,
            format!(
                "a certificate above the issuer expires within {}, before the issuer does: after that, \
                    identity rejects the issuer and issues no certificates, and the mesh stops within a \
                    day",
                ctx.param_text("days")
            ),
        )
    } else {
        (
            Severity::Info,
            "the issuer's certificate outlives one that it chains to: the mesh stops when that one \
                expires, and the issuer's own dates do not show it"
                .to_owned(),
        )
    };
    let remedy = if first.is_anchor {
        steps.note("Rotate before the trust anchor expires, not before the issuer does")
    } else {
        let steps = remedy::new_issuer(ctx, steps);
        remedy::see_it_taken(ctx, remedy::put_issuer(ctx, steps, Some(issuer)))
    };
    let said = |certificate: &Certificate| format!("{}: {}", certificate.summary(), dates(certificate, ctx.now()));
    let ends = said(first.certificate);
    ctx.finding(issuer.subject(), message)
        .severity(severity)
        .evidence(issuer.quoted(said(issuer.certificate())))
        .evidence(if first.is_anchor { bundle.evidence(ends) } else { issuer.quoted(ends) })
        .parameter(if first.is_anchor { "anchor" } else { "intermediate" })
        .remedy(remedy)
        .tie(identity_deployment(ctx))
}
