//! The proxies and control-plane containers whose metrics were read or given: the pods that they belong to,
//! and the ones that are missing.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::words::{and_more, counted, some};
use crate::item::diagnostic::{Answer, MetricsSample};
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::{Knowledge, MetricMeaning};
use crate::model::control_plane::proxy_version;
use crate::model::read_metrics::ReadMetrics;
use crate::objects::container::PROXY_CONTAINER;

/// How many pods a gap names.
const NAMED: usize = 3;
/// How many reasons of failed reads are named.
const REASONS: usize = 5;
/// Why metrics of a pod's name are not used.
const SEVERAL: &str = "pods of several namespaces have this name: give the file as NAMESPACE/POD:PORT=FILE";
/// Why metrics of a named pod are not used.
const NO_POD: &str = "no running pod has this name: correct NAMESPACE/POD:PORT=FILE";
/// Why a family is unknown.
const PART: &str = "the text is a part of the metrics: its beginning, its end or its comments are missing";
/// Why growth is unknown although it was requested.
const ONE_READ: &str = "one of the two reads has no values of the process";
/// Difference in seconds between metrics and the other evidence from which they do not describe the same state.
const OLD: i64 = 6 * 3600;
/// Seconds by which a process may be older than the time between two reads, and still have only the later one.
const SETTLING: i64 = 60;
/// Longest time in seconds between two reads if it is unknown.
const WINDOW: i64 = 600;
/// Proxies, in words.
const PROXIES: &str = "proxies";

/// The output of one command, `part` in words.
///
/// # Errors
/// The evidence has no output of the command.
pub(super) fn answers<'a, T>(
    ctx: &Context<'a>,
    of: fn(&'a Answer) -> Option<&'a T>,
    part: &str,
) -> Result<Vec<&'a T>, Missing> {
    let given: Vec<&T> = ctx.diagnostics()?.iter().filter_map(|one| of(&one.said)).collect();
    if given.is_empty() { Err(metrics_missing(ctx, part)) } else { Ok(given) }
}

/// The pods with a proxy whose metrics are available. The others are noted as a gap.
///
/// # Errors
/// The pods are unknown, or the evidence has no metrics.
pub(super) fn proxies<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    of_pods(ctx, Answer::of_proxy, |pod| pod.spec.proxy().is_some().then_some(PROXY_CONTAINER), PROXIES)
}

/// The pods with a control-plane container whose metrics are available. The others are noted as a gap.
///
/// # Errors
/// There are no pods, or metrics of none of them.
pub(super) fn controllers<'a>(
    ctx: &Context<'a>,
    container: &'static str,
) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    let home = ctx.namespaces().control_plane.as_str();
    let has = |pod: &Pod| pod.metadata.namespace == home && pod.spec.container(container).is_some();
    of_pods(ctx, Answer::of_controller, |pod| has(pod).then_some(container), container)
}

/// Those that were read twice, so that growth is known. The others are noted as a gap, and so are series
/// beyond the limit.
///
/// # Errors
/// None was read twice.
pub(super) fn grown<'a>(
    ctx: &Context<'a>,
    all: Vec<(&'a Pod, &'a ProxyMetrics)>,
    meanings: &[MetricMeaning],
) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    incomplete(ctx, &all, meanings)?;
    let (twice, once): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, metrics)| metrics.period.is_some());
    let window = twice.iter().filter_map(|(_, metrics)| metrics.period).max().unwrap_or(WINDOW);
    let is_young = |metrics: &ProxyMetrics| {
        let age = metrics.read_at.zip(metrics.started_at).map(|(read, started)| read.saturating_sub(started));
        age.is_some_and(|age| age <= window.saturating_add(SETTLING))
    };
    let (young, settled): (Vec<_>, Vec<_>) = once.into_iter().partition(|(_, metrics)| is_young(metrics));
    let missing = |pods: &[(&Pod, &ProxyMetrics)], why: Why| {
        let names = pods.iter().map(|(pod, _)| name_of(pod));
        let part = format!("a second read of the metrics of {}", some(names, NAMED));
        (!pods.is_empty()).then(|| ctx.missing(Item::Diagnostics, why, part))
    };
    let why = match requests_growth(ctx)? {
        true => Why::Failed { message: ONE_READ.to_owned() },
        false => Why::NotOffered,
    };
    let gaps = [missing(&settled, why), missing(&young, Why::NotOffered)];
    let mut gaps = gaps.into_iter().flatten();
    if twice.is_empty()
        && let Some(first) = gaps.next()
    {
        gaps.for_each(|gap| ctx.gap(gap));
        return Err(first);
    }
    gaps.for_each(|gap| ctx.gap(gap));
    Ok(twice)
}

/// Whether the run requested two reads: from proxies or Prometheus, or to compare numbers.
fn requests_growth(ctx: &Context<'_>) -> Result<bool, Missing> {
    let has_sample = ctx.diagnostics()?.iter().any(|one| one.said.of_sample().is_some());
    Ok(has_sample || ctx.settings.before.is_some())
}

/// Notes series beyond the limit, families that a part of a text lacks, and those that Prometheus does not store.
pub(super) fn incomplete(
    ctx: &Context<'_>,
    all: &[(&Pod, &ProxyMetrics)],
    meanings: &[MetricMeaning],
) -> Result<(), Missing> {
    let truncated: Vec<String> = all
        .iter()
        .filter(|(_, metrics)| meanings.iter().any(|meaning| metrics.truncated.contains(meaning)))
        .map(|(pod, _)| name_of(pod))
        .collect();
    if !truncated.is_empty() {
        ctx.gap(metrics_missing(ctx, format!("all series of {}: too many", some(&truncated, NAMED))));
    }
    let names = Knowledge::embedded().proxy_metrics();
    for meaning in meanings {
        let lack = all.iter().filter(|(_, metrics)| metrics.may_lack(*meaning)).map(|(pod, _)| name_of(pod));
        let lack: Vec<String> = lack.collect();
        if !lack.is_empty() {
            let families = some(names.names_of(*meaning), NAMED);
            let part = format!("series of {families} in the metrics of {}", some(&lack, NAMED));
            ctx.gap(ctx.missing(Item::Diagnostics, Why::Malformed { message: PART.to_owned() }, part));
        }
    }
    lacking_families(ctx, meanings)
}

/// Those that export a family. The others, of older releases, are noted as a gap.
pub(super) fn exporting<'a>(
    ctx: &Context<'a>,
    all: Vec<(&'a Pod, &'a ProxyMetrics)>,
    meaning: MetricMeaning,
    part: &str,
) -> Vec<(&'a Pod, &'a ProxyMetrics)> {
    having(ctx, all, part, |_, metrics| metrics.exported.contains(&meaning))
}

/// Those whose release has a family. The others are noted as a gap.
pub(super) fn releasing<'a>(
    ctx: &Context<'a>,
    all: Vec<(&'a Pod, &'a ProxyMetrics)>,
    meaning: MetricMeaning,
    part: &str,
) -> Vec<(&'a Pod, &'a ProxyMetrics)> {
    let names = Knowledge::embedded().proxy_metrics();
    having(ctx, all, part, |pod, metrics| {
        let has_family = |version| names.is_exported_by(meaning, &version, ctx.knowledge.minors());
        metrics.exported.contains(&meaning) || proxy_version(pod).is_none_or(has_family)
    })
}

/// Those that export a family whose series exist from the first use on, or whose release has the family: then none is
/// in use. The others are noted as a gap.
pub(super) fn exporting_if_used<'a>(
    ctx: &Context<'a>,
    all: Vec<(&'a Pod, &'a ProxyMetrics)>,
    meaning: MetricMeaning,
    part: &str,
) -> Vec<(&'a Pod, &'a ProxyMetrics)> {
    let names = Knowledge::embedded().proxy_metrics();
    having(ctx, all, part, |pod, metrics| {
        let has_family = || {
            let version = proxy_version(pod);
            version.is_some_and(|version| names.is_exported_by(meaning, &version, ctx.knowledge.minors()))
        };
        metrics.exported.contains(&meaning) || metrics.is_whole() && has_family()
    })
}

fn having<'a>(
    ctx: &Context<'a>,
    all: Vec<(&'a Pod, &'a ProxyMetrics)>,
    part: &str,
    has: impl Fn(&Pod, &ProxyMetrics) -> bool,
) -> Vec<(&'a Pod, &'a ProxyMetrics)> {
    let (have, lack): (Vec<_>, Vec<_>) = all.into_iter().partition(|(pod, metrics)| has(pod, metrics));
    if !lack.is_empty() {
        let names = lack.iter().map(|(pod, _)| name_of(pod));
        ctx.gap(metrics_missing(ctx, format!("{part} of {}", some(names, NAMED))));
    }
    have
}

/// The period between two reads as text.
pub(super) fn within(metrics: &ProxyMetrics) -> String {
    let seconds = metrics.period.and_then(|period| u64::try_from(period).ok());
    format!("within {}", counted(seconds.unwrap_or_default(), "second"))
}

/// `NAMESPACE/NAME`.
pub(super) fn name_of(pod: &Pod) -> String {
    format!("{}/{}", pod.metadata.namespace, pod.metadata.name)
}

/// A gap of metrics.
pub(super) fn metrics_missing(ctx: &Context<'_>, part: impl Into<String>) -> Missing {
    ctx.missing(Item::Diagnostics, Why::NotOffered, part)
}

fn of_pods<'a>(
    ctx: &Context<'a>,
    of: fn(&'a Answer) -> Option<&'a ProxyMetrics>,
    container: impl Fn(&Pod) -> Option<&'static str>,
    what: &str,
) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    let pods = ctx.partial_list::<Pod>()?;
    let given = ctx.diagnostics()?;
    let of_container: Vec<(&Pod, &'static str)> =
        pods.iter().filter(|pod| !pod.is_finished()).filter_map(|pod| Some((pod, container(pod)?))).collect();
    let metrics =
        ReadMetrics::new(given.iter().filter_map(|one| of(&one.said)), of_container.iter().map(|(pod, _)| *pod));
    let (mut found, mut missing, mut old) = (Vec::new(), Vec::new(), Vec::new());
    let now = ctx.now().as_second();
    // Without the time of the other evidence, the clock says nothing about it.
    let is_old = |metrics: &ProxyMetrics| {
        ctx.knows_its_moment() && metrics.read_at.is_some_and(|at| at.abs_diff(now) > OLD.unsigned_abs())
    };
    for (pod, container) in of_container {
        if !ctx.judges(&pod.metadata.namespace) {
            continue;
        }
        match metrics.container(pod, container) {
            Ok(metrics) if is_old(metrics) => {
                old.push((name_of(pod), metrics.read_at.unwrap_or_default()));
            }
            Ok(metrics) => found.push((pod, metrics)),
            Err(_) => missing.push(name_of(pod)),
        }
    }
    // A sample leaves out most pods on purpose, and names the others.
    let sample = given.iter().find_map(|one| one.said.of_sample());
    if let Some(sample) = sample {
        sampled(ctx, sample, if what == PROXIES { "" } else { what });
        missing.clear();
    }
    if let Some((_, at)) = old.first() {
        let message = format!("they are {} than the other evidence", apart(*at, now));
        let names = old.iter().map(|(name, _)| name.as_str());
        let part = format!("the metrics of {}", some(names, NAMED));
        let gap = ctx.missing(Item::Diagnostics, Why::Failed { message }, part);
        if found.is_empty() {
            return Err(gap);
        }
        ctx.gap(gap);
    }
    if found.is_empty() && (!missing.is_empty() || sample.is_some()) {
        return Err(metrics_missing(ctx, format!("the metrics of {what}")));
    }
    if !missing.is_empty() {
        ctx.gap(metrics_missing(ctx, format!("the metrics of {}", some(&missing, NAMED))));
    }
    Ok(found)
}

/// `5 days older`, `2 hours newer`.
fn apart(at: i64, now: i64) -> String {
    let hours = at.abs_diff(now) / 3600;
    let distance = if hours >= 48 { counted(hours / 24, "day") } else { counted(hours, "hour") };
    format!("{distance} {}", if at < now { "older" } else { "newer" })
}

/// Notes metrics that were given and belong to no pod: a name exists in two namespaces, which the linkerd command does
/// not print, or the pod that a file names does not run.
///
/// # Errors
/// Pods are unavailable, or no output was provided.
pub(super) fn note_unused(ctx: &Context<'_>) -> Result<(), Missing> {
    let given = ctx.diagnostics()?;
    if given.iter().any(|one| one.said.of_sample().is_some()) {
        return Ok(());
    }
    let mut pods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()?.iter().filter(|pod| !pod.is_finished()) {
        pods.entry(&pod.metadata.name).or_default().push(&pod.metadata.namespace);
    }
    let mut unused: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let each = given.iter().filter_map(|one| one.said.of_proxy().or_else(|| one.said.of_controller()));
    for one in each {
        let namespaces = pods.get(one.pod.as_str()).map_or(&[][..], Vec::as_slice);
        if one.namespace.is_empty() && namespaces.len() > 1 {
            unused.entry(SEVERAL).or_default().push(one.pod.clone());
        } else if !one.namespace.is_empty() && !namespaces.contains(&one.namespace.as_str()) {
            unused.entry(NO_POD).or_default().push(format!("{}/{}", one.namespace, one.pod));
        }
    }
    for (message, mut names) in unused {
        names.sort();
        names.dedup();
        let why = Why::Malformed { message: message.to_owned() };
        ctx.gap(ctx.missing(Item::Diagnostics, why, format!("the metrics in the files for {}", some(&names, NAMED))));
    }
    Ok(())
}

/// Notes families of which a Prometheus server returned no series: there may be none, or it does not store them.
fn lacking_families(ctx: &Context<'_>, meanings: &[MetricMeaning]) -> Result<(), Missing> {
    let Some(sample) = ctx.diagnostics()?.iter().find_map(|one| one.said.of_sample()) else { return Ok(()) };
    let names = Knowledge::embedded().proxy_metrics();
    for family in sample.lacking.iter().filter(|family| meanings.contains(&family.meaning)) {
        let part = format!("series of {} in Prometheus", some(names.names_of(family.meaning), NAMED));
        ctx.gap(match family.error.as_str() {
            "" => metrics_missing(ctx, part),
            error => ctx.missing(Item::Diagnostics, Why::Failed { message: error.to_owned() }, part),
        });
    }
    Ok(())
}

/// Notes the parts of a sample that were not read: of a container of the control plane, or of proxies if it is empty.
fn sampled(ctx: &Context<'_>, sample: &MetricsSample, container: &str) {
    if sample.left > 0 {
        let named: Vec<&str> = sample.left_out.iter().take(NAMED).map(String::as_str).collect();
        let more = and_more(sample.left.saturating_sub(named.len()));
        let names = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
        let count = sample.left;
        let part = format!("the metrics of {count} more proxies, beyond the limits of a sample{names}");
        ctx.gap(metrics_missing(ctx, part));
    }
    if let Some(first) = sample.unscraped.first() {
        let more = and_more(sample.unscraped_count.saturating_sub(1));
        let part = format!("the metrics of {first}{more} in Prometheus");
        ctx.gap(metrics_missing(ctx, part));
    }
    let mut failed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in sample.failed.iter().filter(|one| one.container == container) {
        failed.entry(&one.error).or_default().push(&one.pod);
    }
    let mut failed: Vec<(&str, Vec<&str>)> = failed.into_iter().collect();
    failed.sort_by_key(|(_, pods)| std::cmp::Reverse(pods.len()));
    let others: Vec<&str> = failed.iter().skip(REASONS).flat_map(|(_, pods)| pods.iter().copied()).collect();
    for (error, pods) in failed.iter().take(REASONS) {
        let why = Why::Failed { message: (*error).to_owned() };
        ctx.gap(ctx.missing(Item::Diagnostics, why, format!("the metrics of {}", some(pods, NAMED))));
    }
    if !others.is_empty() {
        let why = Why::Failed { message: "other errors".to_owned() };
        ctx.gap(ctx.missing(Item::Diagnostics, why, format!("the metrics of {}", some(&others, NAMED))));
    }
}

/// Growth of counters of one proxy.
pub(super) struct Growth<'a> {
    pub(super) pod: &'a Pod,
    pub(super) metrics: &'a ProxyMetrics,
    /// The counters that grew, and by how much.
    pub(super) grown: Vec<(&'a Series, u64)>,
}

impl Growth<'_> {
    /// The growth of all its counters.
    pub(super) fn total(&self) -> u64 {
        self.grown.iter().map(|(_, count)| count).sum()
    }
}

/// The proxies with counters of a meaning that grew between two reads.
///
/// # Errors
/// No proxy was read twice.
pub(super) fn growing<'a>(
    ctx: &Context<'a>,
    meaning: MetricMeaning,
    is_counted: impl Fn(&Series) -> bool,
) -> Result<Vec<Growth<'a>>, Missing> {
    let all = grown(ctx, proxies(ctx)?, &[meaning])?;
    let each = all.into_iter().map(|(pod, metrics)| {
        let grown = metrics.grown(meaning).filter(|(series, _)| is_counted(series)).collect();
        Growth { pod, metrics, grown }
    });
    Ok(each.filter(|growth| !growth.grown.is_empty()).collect())
}

/// Events between two reads from which they are more than single ones.
const REPEATED: u64 = 3;

/// A finding about this number of events between two reads. Single ones are information: a scan, or a moment of load.
pub(super) fn by_number(finding: Finding, events: u64) -> Finding {
    if events < REPEATED { finding.severity(Severity::Info) } else { finding }
}

/// Groups results by the workload of their pod.
pub(super) fn by_workload<'a, T>(
    ctx: &Context<'_>,
    all: impl IntoIterator<Item = (&'a Pod, T)>,
) -> Vec<(Subject, Vec<(&'a Pod, T)>)> {
    let mut groups: BTreeMap<Owner, Vec<(&Pod, T)>> = BTreeMap::new();
    for (pod, one) in all {
        groups.entry(ctx.owners().owner(pod)).or_default().push((pod, one));
    }
    let each = groups.into_iter().map(|(owner, all)| {
        let pods = all.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        (owner.subject(pods), all)
    });
    each.collect()
}

/// Evidence from the metrics of a pod.
pub(super) fn quoted(pod: &Pod, said: impl Into<String>) -> Evidence {
    Evidence::other(format!("proxy metrics, Pod {}", name_of(pod)), said)
}
