//! `proxy-certificate-of-old-issuer`: proxies got their certificates before the current issuer existed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::identity::issuer;
use crate::checks::diagnosed::{exporting, name_of, proxies, quoted};
use crate::checks::restart::{self, Needs};
use crate::checks::words::some;
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, StepKind};
use crate::knowledge::MetricMeaning::CertificateRefreshedAt;
use crate::model::owners::Owner;
use crate::objects::Pod;

/// The number of quoted proxies.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting(ctx, proxies(ctx)?, CertificateRefreshedAt, "the renewal time of the certificate");
    let issuer = issuer(ctx)?;
    let made = issuer.certificate().not_before();
    let old: Vec<(&Pod, Timestamp)> = all
        .into_iter()
        .filter_map(|(pod, metrics)| {
            #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
            let refreshed = metrics.value(CertificateRefreshedAt)? as i64;
            let refreshed = Timestamp::from_second(refreshed).ok()?;
            let is_valid = metrics.expires_at > metrics.read_at;
            (is_valid && refreshed < made).then_some((pod, refreshed))
        })
        .collect();
    if old.is_empty() {
        return Ok(Vec::new().into());
    }
    let more = old.len().saturating_sub(QUOTED);
    let said = old.iter().take(QUOTED).map(|(pod, refreshed)| {
        quoted(pod, format!("certificate issued at {refreshed}, before the issuer's start"))
    });
    let rest = (more > 0).then(|| issuer.quoted(format!("and {more} more proxies")));
    let names: Vec<String> = old.iter().map(|(pod, _)| name_of(pod)).collect();
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Keep the previous trust anchor until no proxy has a certificate of the old issuer",
    );
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for (pod, _) in &old {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let act = format!("To end this sooner, restart the workload of {}", some(&names, QUOTED));
    let remedy = restart::of_workloads(ctx, remedy, Needs::NewPods, &act, &owners);
    let finding = ctx
        .finding(
            issuer.subject(),
            "proxies still use certificates of the previous issuer: they are rejected if its trust anchor is \
             removed before they renew",
        )
        .evidence(issuer.quoted(format!("not before {made}")))
        .evidences(said.chain(rest))
        .remedy(remedy);
    Ok(vec![finding].into())
}
