//! Metrics of all proxies from a Prometheus server: the values at the start and at the end of a window, which
//! are the two reads that [`super::metrics`] gets through port-forwards. Sends only queries, limited in
//! number, time and size.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use secrecy::SecretString;
use tokio::time::Instant;

use self::client::{PrometheusClient, PrometheusServer, QueryError};
use self::processes::{Process, Scraped};
use self::query::Selector;
use self::response::{QuerySeries, Sample};
use super::Live;
use crate::fetched::Why;
use crate::item::diagnostic::{FailedRead, LackingFamily, MetricsSample};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::{Knowledge, MetricGroup, MetricMeaning, ProxyMetricNames};
use crate::objects::Pod;
use crate::source::diagnostics::{Diagnostics, MetricsReader, own_container, share_clocks};

mod client;
mod processes;
mod query;
mod response;

/// Time limit for all queries.
const BUDGET: Duration = Duration::from_secs(120);
/// Maximum number of processes.
const MOST_PROCESSES: usize = 20_000;
/// Size of the labels of all series that are kept, beyond which no further query is sent.
const MOST_KEPT: usize = 256 << 20;
/// The error of the queries that follow.
const TOO_MUCH: &str =
    "the labels of the series so far fill 256 MB, so it was not sent; select fewer pods with -n NAMESPACE";
/// Maximum number of pods that are named as not scraped.
const MOST_UNSCRAPED: usize = 100;

/// A Prometheus server, as flags name it.
#[derive(Debug, Clone)]
pub struct Prometheus {
    pub address: PrometheusAddress,
    /// Time between the two reads.
    pub window: Duration,
    /// Bearer token.
    pub token: Option<SecretString>,
    /// File with the certificate authority of the server.
    pub certificate_authority: Option<PathBuf>,
    /// Labels of the series to read, and their values.
    pub labels: Vec<(String, String)>,
}

/// Where a Prometheus server is.
#[derive(Debug, Clone)]
pub enum PrometheusAddress {
    /// A URL without credentials, up to the path before `/api/v1`.
    Url(String),
    /// A port of a pod, reached through a port-forward.
    Pod {
        /// The pod's namespace.
        namespace: String,
        pod: String,
        port: u16,
    },
}

/// The pods whose processes are wanted.
#[derive(Debug)]
pub struct WantedPods<'a> {
    /// All pods of the cluster.
    pub pods: &'a [Pod],
    /// The control plane's namespace.
    pub control_plane: &'a str,
    /// Namespaces of other pods; all if empty.
    pub namespaces: &'a [String],
}

/// The times of the last scrapes of each process before both ends of the window.
type ScrapeTimes = BTreeMap<Process, [Option<i64>; 2]>;
/// Difference in seconds within which two start times are of the same process.
const SAME_START: f64 = 2.0;
/// Maximum number of labels that distinguish copies.
const MOST_ADDED: usize = 5;
/// Maximum age in seconds of a sample: a server returns no older ones, unless it is configured to.
const OLDEST: f64 = 3600.0;

/// About the query of the start times.
const STARTS: &str = "process_start_time_seconds";
/// A server that does not return the values of the requested times.
const OTHER_TIMES: &str = "the server returned values of other times than requested";

/// The ends of the window.
struct Ends {
    start: f64,
    end: f64,
    /// Whether the server returned values of other times.
    has_others: AtomicBool,
}

impl Ends {
    /// The read that a value at a time belongs to. Front ends with a cache move both ends to multiples of the step:
    /// Thanos does by default.
    fn read(&self, time: f64) -> Option<usize> {
        let step = self.end - self.start;
        let aligned = |end: f64| (end / step).floor() * step;
        let is_at = |end: f64| (time - end).abs() < 1.0;
        [self.end, self.start]
            .into_iter()
            .map(|end| [end, aligned(end)])
            .enumerate()
            .find_map(|(at, ends)| ends.into_iter().any(is_at).then_some(1 - at))
    }
}

/// The two reads of each process.
type Reads = BTreeMap<Process, [MetricsReader; 2]>;

impl Live {
    /// Reads the metrics of these pods at both ends of the window, and adds them to given ones. A failed query is
    /// recorded; if nothing could be read, the reason is that of the whole.
    pub async fn prometheus(
        &self,
        from: &Prometheus,
        wanted: &WantedPods<'_>,
        mut diagnostics: Diagnostics,
    ) -> Diagnostics {
        let until = self.at_latest(Instant::now() + BUDGET);
        let client = match self.prometheus_client(from, until) {
            Ok(client) => client,
            Err(message) => {
                diagnostics.fail(Why::Failed { message });
                return diagnostics;
            }
        };
        if let Err(error) = read(&client, from, wanted, &mut diagnostics).await {
            diagnostics.fail(Why::Failed { message: error.0 });
        }
        diagnostics
    }

    fn prometheus_client(&self, from: &Prometheus, until: Instant) -> Result<PrometheusClient<'_>, String> {
        let server = match &from.address {
            PrometheusAddress::Url(url) => PrometheusServer::connect(url, from, &self.api)?,
            PrometheusAddress::Pod { namespace, pod, port } => {
                PrometheusServer::Pod { api: &self.api, namespace: namespace.clone(), pod: pod.clone(), port: *port }
            }
        };
        Ok(PrometheusClient::new(server, until))
    }
}

/// Reads everything.
async fn read(
    client: &PrometheusClient<'_>,
    from: &Prometheus,
    wanted: &WantedPods<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), QueryError> {
    let names = Knowledge::embedded().proxy_metrics();
    let mut selector = Selector::new(from, wanted);
    let mut running = client.instant(&selector.starts(names), STARTS).await?;
    let mut now = None;
    running.each(&mut |series| now = now.or(series.samples.first().map(|sample| sample.time)));
    let mut scraped = Scraped::new(|take| running.each(take), wanted, now.unwrap_or_default(), &[]);
    if let Some(labels) = scraped.copied.values().next() {
        let added = added_labels(client, &selector, names, labels).await?;
        if !added.is_empty() {
            selector.add_labels(added.clone());
            running = client.instant(&selector.starts(names), STARTS).await?;
            scraped = Scraped::new(|take| running.each(take), wanted, now.unwrap_or_default(), &added);
        }
    }
    drop(running);
    let Some(now) = now.filter(|_| !scraped.is_empty()) else {
        let next = "check that it has metrics of the proxies of this cluster, and --prometheus-label";
        return Err(QueryError(format!("{}: no metrics of pods of this cluster; {next}", client.name())));
    };
    let window = from.window.as_secs_f64();
    let ends = Ends { start: now - window, end: now, has_others: AtomicBool::new(false) };
    let mut reads = Reads::new();
    let mut sample = MetricsSample { left: scraped.beyond(MOST_PROCESSES), ..MetricsSample::default() };
    let mut returned = BTreeSet::new();
    let mut kept = 0;
    for group in names.groups() {
        let query = selector.group(&group, names);
        let result = match kept > MOST_KEPT {
            true => Err(client.error(group.names[0], TOO_MUCH)),
            false => client.range(&query, group.names[0], (now - window, now)).await,
        };
        match result {
            Ok(result) => result.each(&mut |series| {
                if let Some((meaning, size)) = feed(&mut reads, &scraped, &group, &series, &ends) {
                    returned.insert(meaning);
                    kept += size;
                }
            }),
            Err(QueryError(error)) => {
                diagnostics.fail(Why::Failed { message: error.clone() });
                let lacking = group.meanings.iter();
                sample.lacking.extend(lacking.map(|m| LackingFamily { meaning: *m, error: error.clone() }));
                returned.extend(&group.meanings);
            }
        }
    }
    if !client.keeps_every_series(&scraped.jobs).await {
        let all: BTreeSet<MetricMeaning> = names.names().map(|(meaning, _)| meaning).collect();
        let absent = all.difference(&returned);
        sample.lacking.extend(absent.map(|m| LackingFamily { meaning: *m, error: String::new() }));
    }
    if ends.has_others.load(Ordering::Relaxed) {
        let QueryError(message) = client.error("metrics", OTHER_TIMES);
        diagnostics.fail(Why::Failed { message });
    }
    if let Some(warning) = client.warning() {
        diagnostics.fail(Why::Failed { message: warning });
    }
    sample.read = reads.len();
    let copied = scraped.copied.keys().map(copied);
    sample.failed = scraped.ambiguous.iter().map(ambiguous).chain(copied).collect();
    sample.unscraped_count = scraped.unscraped.len();
    sample.unscraped = scraped.unscraped.iter().take(MOST_UNSCRAPED).cloned().collect();
    let times = scrape_times(client, &selector, &scraped, &ends).await;
    for metrics in finished(reads, &times, [now - window, now]) {
        metrics.into_iter().for_each(|one| diagnostics.add_metrics(one));
    }
    diagnostics.add_sample(sample);
    Ok(())
}

/// The times of the scrapes of all processes; none if the query fails, because they only make times more precise.
async fn scrape_times(
    client: &PrometheusClient<'_>,
    selector: &Selector,
    scraped: &Scraped,
    ends: &Ends,
) -> ScrapeTimes {
    let query = selector.scrape_times(Knowledge::embedded().proxy_metrics());
    let result = client.range(&query, "the times of scrapes", (ends.start, ends.end)).await;
    let mut times = ScrapeTimes::new();
    let Ok(result) = result else { return times };
    result.each(&mut |series| {
        let Some(process) = scraped.process(&series.labels, &[]) else { return };
        for Sample { time, value } in &series.samples {
            let Some(end) = ends.read(*time) else { continue };
            if (time - OLDEST..=time + 1.0).contains(value) {
                #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
                let value = *value as i64;
                times.entry(process.clone()).or_default()[end] = Some(value);
            }
        }
    });
    times
}

/// The labels that differ between the copies of the series of a process: a proxy or a store in front of several servers
/// adds them. Empty if they belong to different processes.
async fn added_labels(
    client: &PrometheusClient<'_>,
    selector: &Selector,
    names: &ProxyMetricNames,
    of: &BTreeMap<String, String>,
) -> Result<Vec<String>, QueryError> {
    let result = client.instant(&selector.copies(names, of), STARTS).await?;
    let mut copies: Vec<QuerySeries> = Vec::new();
    result.each(&mut |series| copies.push(series));
    let start = |series: &QuerySeries| series.samples.first().map(|sample| sample.value);
    let starts: Vec<f64> = copies.iter().filter_map(start).collect();
    let is_same = starts.iter().all(|one| starts.iter().all(|other| (one - other).abs() <= SAME_START));
    let labels: BTreeSet<&String> = copies.iter().flat_map(|series| series.labels.keys()).collect();
    let differs = |name: &&String| copies.iter().any(|one| one.label(name) != copies[0].label(name));
    let is_plain = |name: &&String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let all = labels.into_iter().filter(differs).filter(is_plain).take(MOST_ADDED).cloned();
    Ok(if is_same { all.collect() } else { Vec::new() })
}

/// A process with several series that no label distinguishes.
fn copied(process: &Process) -> FailedRead {
    FailedRead {
        pod: format!("{}/{}", process.namespace, process.pod),
        container: own_container(&process.container),
        error: "Prometheus has several copies of the series of this pod: select one with --prometheus-label \
                NAME=VALUE"
            .to_owned(),
    }
}

/// A process with series of several clusters.
fn ambiguous(process: &Process) -> FailedRead {
    FailedRead {
        pod: format!("{}/{}", process.namespace, process.pod),
        container: own_container(&process.container),
        error: "Prometheus has series of pods with this name of several clusters: select one with \
                --prometheus-label cluster=NAME"
            .to_owned(),
    }
}

/// Adds the samples of a series to the reads of its process. Returns its meaning and the size of its labels if it
/// belongs to one.
fn feed(
    reads: &mut Reads,
    scraped: &Scraped,
    group: &MetricGroup<'_>,
    series: &QuerySeries,
    ends: &Ends,
) -> Option<(MetricMeaning, usize)> {
    let names = Knowledge::embedded().proxy_metrics();
    let process = scraped.process(&series.labels, group.labels)?;
    let name = series.label("__name__");
    let (family, _) = names.family(name)?;
    if !reads.contains_key(process) && reads.len() >= MOST_PROCESSES {
        return None;
    }
    let new = || MetricsReader::new(&process.namespace, &process.pod, &process.container);
    let both = reads.entry(process.clone()).or_insert_with(|| [new(), new()]);
    let labels = query::own_labels(group, series);
    for Sample { time, value } in &series.samples {
        match ends.read(*time) {
            Some(read) => both[read].sample(name, labels.clone(), *value),
            None => ends.has_others.store(true, Ordering::Relaxed),
        }
    }
    let size = labels.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    Some((family.meaning, size * series.samples.len()))
}

/// The earlier and the later read of each process. The time of a controller, which does not export its clock, is
/// that of the scrape: samples of other processes may be minutes older or newer.
fn finished(reads: Reads, scrapes: &ScrapeTimes, times: [f64; 2]) -> [Vec<ProxyMetrics>; 2] {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (process, readers) in reads {
        let scraped = scrapes.get(&process).copied().unwrap_or_default();
        let [earlier, later] = readers.map(MetricsReader::finish);
        for (mut metrics, at, all) in [(earlier, scraped[0], &mut first), (later, scraped[1], &mut second)] {
            metrics.read_at = metrics.read_at.or(at);
            all.push(metrics);
        }
    }
    let mut both = [first, second];
    for (all, time) in both.iter_mut().zip(times) {
        all.retain(|one| !one.exported.is_empty());
        share_clocks(all);
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let time = time as i64;
        for one in all {
            one.read_at = one.read_at.or(Some(time));
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_times_belong_to_their_ends() {
        let ends = Ends { start: 1_000_130.0, end: 1_000_730.0, has_others: AtomicBool::new(false) };
        for (time, read) in [
            (1_000_130.0, Some(0)),
            (1_000_730.0, Some(1)),
            (999_600.0, Some(0)),
            (1_000_200.0, Some(1)),
            (1_000_500.0, None),
        ] {
            assert_eq!(ends.read(time), read, "{time}");
        }
    }
}
