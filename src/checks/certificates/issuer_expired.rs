//! `issuer-expired`: the issuer's certificate is not within its validity period.

use super::identity::{identity_deployment, issuer};
use super::{rejections, remedy};
use crate::certificates::Validity;
use crate::checks::dates;
use crate::checks::prelude::*;
use crate::checks::trust_roots::foreign_pods;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let message = match issuer.certificate().validity(ctx.now()) {
        Validity::Current => return Ok(Verdict::fine()),
        Validity::NotYet => {
            "the issuer's certificate is not valid yet: until then identity issues no certificates, so no \
             proxy becomes ready"
        }
        Validity::Over if foreign_pods(ctx).next().is_some() => {
            "the issuer's certificate has expired, and with it all certificates that it issued: no new proxy becomes \
                ready. Running proxies that trust only another issuer may still work"
        }
        Validity::Over => {
            "the issuer's certificate has expired, and with it all certificates that it issued: connections \
                between meshed pods fail, identity issues no certificates, and no new proxy becomes ready"
        }
    };
    let said = format!("{}: {}", issuer.certificate().summary(), dates::dates(issuer.certificate(), ctx.now()));
    let steps = Remedy::new();
    let steps = match dates::starts_shortly([issuer.certificate()], ctx.now()) {
        Some(start) => remedy::see_it_loaded(ctx, dates::wait_for(steps, start)),
        None => {
            let steps = dates::clocks_first(steps, [issuer.certificate()], ctx.now());
            let by_tool = issuer.renewed_by() == Some("cert-manager");
            let steps = if by_tool { steps } else { remedy::new_issuer(ctx, steps) };
            remedy::see_it_taken(ctx, remedy::put_issuer(ctx, steps, Some(&issuer)))
        }
    };
    let steps = match issuer.certificate().validity(ctx.now()) {
        Validity::Over => remedy::renew_certificates(ctx, steps),
        Validity::Current | Validity::NotYet => steps,
    };
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(issuer.quoted(said))
        .evidences(rejections::about(ctx, issuer.certificate()))
        .timeline(issuer.moments(ctx.now()))
        .remedy(steps)
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}
