//! `traffic-worse-than-before`: the proxies of a workload have more failures, a higher latency or more memory than in
//! numbers that were saved before a change.

use std::collections::BTreeMap;

use crate::checks::diagnosed::{grown, proxies};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::command::{meshdoctor, own};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::model::traffic::{EarlierTraffic, MEANINGS, Requests, WorkloadTraffic};

/// The id of this check.
pub(in crate::checks) const ID: &str = "traffic-worse-than-before";

/// Increase of the latency that is always accepted, in milliseconds.
const LATENCY: u64 = 50;
/// Increase of the memory that is always accepted, in bytes.
const MEMORY: u64 = 50 << 20;
/// Requests have stopped if their rate is below this part of the earlier one.
const STOPPED: u128 = 10;
/// Number of workloads that a gap names.
const NAMED: usize = 3;

/// The thresholds of a run.
struct Limits {
    requests: u64,
    failures: i64,
    latency: u64,
    memory: u64,
}

/// A number that is worse.
struct Worse {
    severity: Severity,
    what: &'static str,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(before) = &ctx.settings.before else {
        return Err(Unjudged::not_applicable("no numbers from before: --before names a report with them"));
    };
    let count = |name: &str| u64::try_from(ctx.param(name)).unwrap_or_default();
    let limits = Limits {
        requests: count("requests"),
        failures: ctx.param("failures"),
        latency: count("latency"),
        memory: count("memory"),
    };
    let pods = ctx.partial_list::<Pod>()?;
    let mut now: BTreeMap<Owner, Vec<&ProxyMetrics>> = BTreeMap::new();
    for (pod, metrics) in grown(ctx, proxies(ctx)?, &MEANINGS)? {
        now.entry(ctx.owners().owner(pod)).or_default().push(metrics);
    }
    let is_running =
        |then: &WorkloadTraffic| pods.iter().any(|pod| !pod.is_finished() && then.is_of(&ctx.owners().owner(pod)));
    let (mut findings, mut unread, mut few) = (Vec::new(), Vec::new(), Vec::new());
    let mut compared = false;
    for then in before.workloads.iter().filter(|then| ctx.judges(&then.namespace)) {
        let owner = now.iter().find(|(owner, _)| then.is_of(owner));
        let now = owner.and_then(|(owner, all)| WorkloadTraffic::new(owner, all.iter().copied()));
        let name = format!("{} {}/{}", then.kind, then.namespace, then.name);
        let Some(now) = now else {
            // A workload without pods was removed or scaled down.
            if is_running(then) {
                unread.push(name);
            }
            continue;
        };
        // Requests that its proxies refuse are not among the received ones.
        let received = |of: &WorkloadTraffic| of.refused_inbound().unwrap_or(of.inbound);
        let pairs = [(received(then), received(&now)), (then.outbound, now.outbound)];
        compared |= pairs.iter().any(|(then, now)| limits.suffice(*then) && limits.suffice(*now));
        if pairs.iter().any(|(then, now)| limits.suffice(*then) && !limits.suffice(*now)) {
            few.push(name);
        }
        findings.extend(finding(ctx, before, &limits, then, &now));
    }
    if !unread.is_empty() {
        ctx.gap(not_comparable(ctx, format!("the metrics of {} to compare with", some(&unread, NAMED))));
    }
    if !few.is_empty() {
        let least = limits.requests;
        let few = some(&few, NAMED);
        ctx.gap(not_comparable(ctx, format!("{least} requests now, as before, of {few}")));
    }
    if !compared && few.is_empty() {
        let part = format!("a workload with {} requests before and now", limits.requests);
        ctx.gap(not_comparable(ctx, part));
    }
    Ok(findings.into())
}

/// A gap of a comparison, which the run requested.
fn not_comparable(ctx: &Context<'_>, part: String) -> Missing {
    let message = "the metrics do not contain them".to_owned();
    ctx.missing(Item::Diagnostics, Why::Failed { message }, part)
}

impl Limits {
    /// Whether there are enough requests to judge their results.
    fn suffice(&self, requests: Requests) -> bool {
        requests.requests >= self.requests
    }

    /// Whether requests have almost stopped: less than a tenth of those of before, in a period in which enough were
    /// expected.
    fn has_stopped(&self, (then, seconds): (Requests, u64), (now, period): (Requests, u64)) -> bool {
        let expected = u128::from(then.requests) * u128::from(period) / u128::from(seconds.max(1));
        expected >= u128::from(self.requests) && u128::from(now.requests) * STOPPED < expected
    }

    /// The numbers that are worse than before, the most severe first.
    fn worse(&self, then: &WorkloadTraffic, now: &WorkloadTraffic) -> Vec<Worse> {
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let points = self.failures as f64;
        let fails =
            |then: Requests, now: Requests| self.suffice(then) && self.suffice(now) && now.is_worse_than(then, points);
        let refuses = |of: fn(&WorkloadTraffic) -> Option<Requests>| {
            of(then).zip(of(now)).is_some_and(|(then, now)| fails(then, now))
        };
        let stopped = [(then.inbound, now.inbound), (then.outbound, now.outbound)]
            .into_iter()
            .any(|(before, after)| self.has_stopped((before, then.seconds), (after, now.seconds)));
        // A percentile needs more requests than a share.
        let has_latency = [then.inbound, now.inbound].iter().all(|one| one.requests >= 2 * self.requests);
        let latency = then.latency_ms.zip(now.latency_ms).filter(|_| has_latency);
        let is_slower = |(then, now): (u64, u64)| has_grown(then, now, self.latency, LATENCY);
        let memory = then.memory_bytes.zip(now.memory_bytes);
        let all = [
            (fails(then.inbound, now.inbound), Severity::Error, "more requests to it fail"),
            (fails(then.outbound, now.outbound), Severity::Error, "more of its requests fail"),
            (refuses(WorkloadTraffic::refused_inbound), Severity::Error, "its proxies refuse more requests to it"),
            (
                refuses(WorkloadTraffic::refused_outbound),
                Severity::Warning,
                "more of its requests get status 403, 404 or 429",
            ),
            (stopped, Severity::Warning, "it has less than a tenth of its requests"),
            (
                latency.is_some_and(|(then, now)| is_slower((then.p95, now.p95))),
                Severity::Warning,
                "it responds more slowly",
            ),
            (
                memory.is_some_and(|(then, now)| has_grown(then, now, self.memory, MEMORY)),
                Severity::Warning,
                "its proxies use more memory",
            ),
        ];
        all.into_iter().filter(|(is_worse, ..)| *is_worse).map(|(_, severity, what)| Worse { severity, what }).collect()
    }
}

/// Whether a number grew by more than this percentage, and by more than this much.
fn has_grown(then: u64, now: u64, percent: u64, by: u64) -> bool {
    let grown = now.saturating_sub(then);
    grown > by && u128::from(grown) * 100 > u128::from(then) * u128::from(percent)
}

fn finding(
    ctx: &Context<'_>,
    before: &EarlierTraffic,
    limits: &Limits,
    then: &WorkloadTraffic,
    now: &WorkloadTraffic,
) -> Option<Finding> {
    let worse = limits.worse(then, now);
    let severity = worse.iter().map(|one| one.severity).max()?;
    let what: Vec<&str> = worse.iter().map(|one| one.what).collect();
    let owner = Owner { kind: now.kind.clone(), namespace: now.namespace.clone(), name: now.name.clone() };
    let message = format!("the workload is worse than before the change: {}", what.join(", "));
    let remedy = Remedy::new()
        .command(
            "Read the state of its proxies, which can name the cause",
            meshdoctor().words("sync").option("-n", now.namespace.clone()),
        )
        .note(format!(
            "If the change is the cause, roll it back; if the new numbers are accepted, save them with {}",
            own("check --proxies -o json=FILE")
        ));
    let mut finding = ctx
        .finding(owner.subject(Vec::new()), message)
        .evidence(Evidence::other(format!("numbers of proxies, {}", before.file), then.to_string()))
        .evidence(Evidence::other("numbers of proxies, now", now.to_string()))
        .remedy(remedy);
    finding.severity = severity;
    Some(finding)
}
