//! `proxy-certificate-not-renewed`: a proxy's certificate is still valid, but its renewal is overdue.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::proxies::{metrics_beside, served};
use crate::checks::diagnosed::{by_workload, exporting, name_of, quoted, within};
use crate::checks::prelude::*;
use crate::checks::restart::{self, Needs};
use crate::checks::serving::component_missing;
use crate::checks::words::counted;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::{CertificateRefreshedAt, CertificateRefreshes};
use crate::objects::container::PROXY_CONTAINER;

/// Share of the lifetime, in percent, after which a renewal is overdue; proxies renew after 70 %.
const OVERDUE: i64 = 85;
/// The number of quoted proxies per workload.
const QUOTED: usize = 5;

/// Times of a certificate whose renewal is overdue.
struct Overdue {
    refreshed: i64,
    expires: i64,
    read: i64,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let served = served(ctx)?;
    let metrics = metrics_beside(ctx, &served)?;
    let has_metrics = |pod: &Pod| metrics.iter().any(|(one, _)| one.metadata.key() == pod.metadata.key());
    let served: Vec<(&Pod, Overdue)> = served
        .iter()
        .filter(|(pod, _)| ctx.knows_its_moment() && !has_metrics(pod))
        .filter_map(|(pod, chain)| {
            let leaf = chain.first()?;
            let [from, until, now] = [leaf.not_before(), leaf.not_after(), ctx.now()].map(|at| at.as_second());
            Some((*pod, Overdue::of(from, until, now)?))
        })
        .collect();
    let all = exporting(ctx, metrics, CertificateRefreshedAt, "the renewal time of the certificate");
    let failing = all.iter().filter_map(|(pod, metrics)| Some((*pod, (*metrics, failed(metrics)?))));
    let failing = by_workload(ctx, failing).into_iter().map(|(subject, all)| failing_renewals(ctx, subject, &all));
    let failing: Vec<Finding> = failing.collect();
    let late = all.into_iter().filter_map(|(pod, metrics)| Some((pod, overdue(metrics)?))).chain(served);
    let late = by_workload(ctx, late).into_iter().map(|(subject, late)| {
        let said = late.iter().take(QUOTED).map(|(pod, times)| {
            quoted(
                pod,
                format!(
                    "certificate renewed at {}, expires at {}; read at {}",
                    at(times.refreshed),
                    at(times.expires),
                    at(times.read)
                ),
            )
        });
        ctx.finding(
            subject,
            "the proxy has not renewed its certificate, although the renewal is overdue: it cannot reach \
             identity, and other proxies will reject it when the certificate expires",
        )
        .evidences(said)
        .remedy(remedy(
            ctx,
            &late,
            "Repair identity, or the connection to it; the proxy then renews automatically",
            "If other proxies get certificates, restart the workload: a new proxy requests one at once",
        ))
        .tie(component_missing("identity"))
    });
    Ok(failing.into_iter().chain(late).collect())
}

/// Number of renewals that failed between two reads, if none succeeded and the certificate is not yet overdue. The
/// proxy counts only certificates that identity issued and it rejected (`linkerd/identity/src/metrics.rs` of
/// linkerd2-proxy), and it tries again only after 70 % of the time that is left.
fn failed(metrics: &ProxyMetrics) -> Option<u64> {
    let count = |result: &str| -> u64 {
        let of_result = metrics.grown(CertificateRefreshes).filter(|(one, _)| one.label("result") == result);
        of_result.map(|(_, count)| count).sum()
    };
    let (failed, is_valid) = (count("error"), metrics.read_at < metrics.expires_at);
    (failed > 0 && count("ok") == 0 && is_valid && overdue(metrics).is_none()).then_some(failed)
}

fn failing_renewals(ctx: &Context<'_>, subject: Subject, all: &[(&Pod, (&ProxyMetrics, u64))]) -> Finding {
    let said = all.iter().take(QUOTED).map(|(pod, (metrics, count))| {
        quoted(pod, format!("{} of identity rejected {}", counted(*count, "certificate"), within(metrics)))
    });
    ctx.finding(
        subject,
        "the proxy rejects the certificates that identity issues, most often because it lacks their trust anchor: it \
         keeps the current one, and other proxies reject it once that expires",
    )
    .parameter("failing")
    .evidences(said)
    .remedy(remedy(
        ctx,
        all,
        "Compare the trust anchors of the proxy with those of identity and its issuer",
        "Restart the workload: new pods get the current trust anchors",
    ))
}

fn overdue(metrics: &ProxyMetrics) -> Option<Overdue> {
    #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
    let refreshed = metrics.value(CertificateRefreshedAt)? as i64;
    let (read, expires) = (metrics.read_at?, metrics.expires_at?);
    Overdue::of(refreshed, expires, read)
}

impl Overdue {
    /// The times in seconds, if the renewal is overdue at the last one. An expired one is the finding of another check.
    fn of(refreshed: i64, expires: i64, read: i64) -> Option<Overdue> {
        let lifetime = expires.checked_sub(refreshed).filter(|lifetime| *lifetime > 0)?;
        let due = refreshed.saturating_add(lifetime.saturating_mul(OVERDUE) / 100);
        (due < read && read < expires).then_some(Overdue { refreshed, expires, read })
    }
}

fn remedy<T>(ctx: &Context<'_>, late: &[(&Pod, T)], repair: &str, act: &str) -> Remedy {
    let mut remedy = Remedy::new();
    if let Some((pod, _)) = late.first() {
        let logs = kubectl().namespace(&pod.metadata.namespace).words("logs").operand(&pod.metadata.name);
        remedy = remedy.command(
            format!("Read the log lines about identity of {}", name_of(pod)),
            logs.option("-c", PROXY_CONTAINER).words("--tail=50"),
        );
    }
    let remedy = remedy.note(repair);
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for (pod, _) in late {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    restart::of_workloads(ctx, remedy, Needs::NewPods, act, &owners)
}

fn at(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string())
}
