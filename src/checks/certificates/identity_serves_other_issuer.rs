//! `identity-serves-other-issuer`: the issuer that identity has in memory expires at another time than
//! the one in the Secret.

use jiff::Timestamp;

use super::identity::{identity_deployment, issuer};
use super::{remedy, stranded};
use crate::checks::diagnosed::{controllers, metrics_missing, name_of};
use crate::checks::prelude::*;
use crate::knowledge::MetricMeaning::IssuerLifetime;

/// The container of identity.
const IDENTITY: &str = "identity";
/// Maximum difference in seconds between the clocks of the read and of identity.
const TOLERANCE: i64 = 120;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let expected = issuer.certificate().not_after();
    let mut other: Vec<(&Pod, String)> = Vec::new();
    for (pod, metrics) in controllers(ctx, IDENTITY)? {
        let (Some(lifetime), Some(read)) = (metrics.value(IssuerLifetime), metrics.read_at) else {
            ctx.gap(metrics_missing(ctx, format!("the issuer's lifetime and the clock of {}", name_of(pod))));
            continue;
        };
        #[allow(clippy::cast_possible_truncation, reason = "a duration in seconds; a cast saturates")]
        let ends = read.saturating_add(lifetime as i64);
        if ends.abs_diff(expected.as_second()) > TOLERANCE.unsigned_abs() {
            let ends = Timestamp::from_second(ends).map_or_else(|_| ends.to_string(), |at| at.to_string());
            other.push((pod, ends));
        }
    }
    if other.is_empty() {
        return Ok(Vec::new().into());
    }
    let remedy = stranded::no_restart(ctx)
        .unwrap_or_else(|| remedy::identity_restarted(ctx, "Restart identity: it reads the issuer when it starts"));
    let finding = ctx
        .finding(
            issuer.subject(),
            "identity signs with another issuer than the one in its Secret: new certificates become invalid \
             when that issuer expires",
        )
        .evidence(issuer.quoted(format!("not after {expected}")))
        .evidences(other.iter().map(|(pod, ends)| {
            Evidence::other(
                format!("metrics of identity, Pod {}", name_of(pod)),
                format!("its issuer expires at {ends}"),
            )
        }))
        .tie(identity_deployment(ctx))
        .remedy(remedy);
    Ok(finding.into())
}
