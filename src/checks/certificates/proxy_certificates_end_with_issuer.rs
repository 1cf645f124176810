//! `proxy-certificates-end-with-issuer`: certificates that proxies got at different times expire in the same second.

use jiff::Timestamp;

use super::identity::{Issuer, identity_deployment, issuer};
use super::remedy;
use crate::checks::diagnosed::{exporting, proxies, quoted};
use crate::checks::prelude::*;
use crate::knowledge::MetricMeaning::CertificateRefreshedAt;

/// Minimum number of proxies with the same expiry.
const LEAST: usize = 2;
/// Minimum time in seconds between their renewals: certificates of one moment expire together anyway.
const SPREAD: i64 = 600;
/// Seconds before the end from which the next renewals, at 70 % of a day, come too late for an unhurried repair.
const SOON: i64 = 24 * 3600;
/// The number of quoted proxies.
const QUOTED: usize = 5;

/// A valid certificate of a proxy: seconds since 1970.
struct Leaf<'a> {
    pod: &'a Pod,
    refreshed: i64,
    expires: i64,
    read: i64,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting(ctx, proxies(ctx)?, CertificateRefreshedAt, "the renewal time of the certificate");
    let leaves = all.into_iter().filter_map(|(pod, metrics)| {
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let refreshed = metrics.value(CertificateRefreshedAt)? as i64;
        let (read, expires) = (metrics.read_at?, metrics.expires_at?);
        (refreshed < expires && read < expires).then_some(Leaf { pod, refreshed, expires, read })
    });
    let leaves: Vec<Leaf<'_>> = leaves.collect();
    let Some(last) = leaves.iter().map(|leaf| leaf.expires).max() else { return Ok(Vec::new().into()) };
    let same: Vec<&Leaf<'_>> = leaves.iter().filter(|leaf| leaf.expires.abs_diff(last) <= 1).collect();
    let times = || same.iter().map(|leaf| leaf.refreshed);
    let spread = times().max().zip(times().min()).map_or(0, |(last, first)| last.saturating_sub(first));
    if same.len() < LEAST || spread < SPREAD {
        return Ok(Vec::new().into());
    }
    Ok(finding(ctx, &same, issuer(ctx).ok().as_ref()).into())
}

fn finding(ctx: &Context<'_>, same: &[&Leaf<'_>], issuer: Option<&Issuer<'_>>) -> Finding {
    let deployment = || Subject::object(Kind::Deployment, &ctx.namespaces().control_plane, "linkerd-identity");
    let left = same.iter().map(|leaf| leaf.expires.saturating_sub(leaf.read)).min().unwrap_or_default();
    // A tool that renews the issuer in time ends the state.
    let is_renewed = issuer.is_some_and(|issuer| issuer.renewed_by().is_some());
    let severity = match () {
        () if is_renewed => Severity::Info,
        () if left < SOON => Severity::Error,
        () => Severity::Warning,
    };
    let said = same.iter().take(QUOTED).map(|leaf| {
        quoted(leaf.pod, format!("certificate renewed at {}, expires at {}", at(leaf.refreshed), at(leaf.expires)))
    });
    let expiry: Vec<Evidence> = issuer
        .into_iter()
        .map(|issuer| issuer.quoted(format!("not after {}", issuer.certificate().not_after())))
        .collect();
    let steps = remedy::put_issuer(ctx, remedy::new_issuer(ctx, Remedy::new()), issuer);
    ctx.finding(
        issuer.map_or_else(deployment, Issuer::subject),
        "identity shortens certificates to the end of its issuer: renewals gain no time, and the certificates of all \
         proxies expire in the same second",
    )
    .severity(severity)
    .evidences(said)
    .evidences(expiry)
    .remedy(remedy::see_it_loaded(ctx, steps))
    .tie(identity_deployment(ctx))
}

fn at(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string())
}
