//! Metrics of several processes in one text, as Prometheus serves them at `/federate`: split by the labels that the
//! scrape added.

use std::collections::BTreeMap;

use super::metrics::{MetricsReader, Sample, name_of};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::{Knowledge, MetricMeaning, ScrapeLabels};
use crate::names::{is_label, is_subdomain};
use crate::objects::container::PROXY_CONTAINER;

/// Prefix of a label of the process if a label of the scrape has the same name.
pub(in crate::source) const EXPORTED: &str = "exported_";
/// Maximum number of processes.
const MOST_PROCESSES: usize = 20_000;
/// Meanings of families that any process exports.
const OF_ANY_PROCESS: [MetricMeaning; 6] = [
    MetricMeaning::ReadAt,
    MetricMeaning::StartedAt,
    MetricMeaning::OpenFiles,
    MetricMeaning::FileLimit,
    MetricMeaning::ResidentMemory,
    MetricMeaning::SeriesCount,
];

/// A process of a pod.
struct Scraped {
    reader: MetricsReader,
    /// The labels of the scrape whose series are read; others are of another scrape of the same process.
    origin: Vec<String>,
    /// Time of the newest sample, in milliseconds.
    time: Option<i64>,
}

/// The metrics of each process of the mesh; empty if the series do not name their pods.
pub(super) fn read(text: &str) -> Vec<ProxyMetrics> {
    let names = Knowledge::embedded().proxy_metrics();
    let of = names.scraped();
    let mut all: BTreeMap<[String; 3], Scraped> = BTreeMap::new();
    let copies = Copies::read(text, of);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = name_of(line);
        if names.family(name).is_none() {
            continue;
        }
        let Some(sample) = Sample::parse(&line[name.len()..]) else { continue };
        let Some(process) = process(&sample.labels, of) else { continue };
        if all.len() >= MOST_PROCESSES && !all.contains_key(&process) {
            continue;
        }
        let origin = origin(&sample.labels, of);
        let [namespace, pod, container] = &process;
        let new = || MetricsReader::new(namespace, pod, container);
        let new = || Scraped { reader: new(), origin: origin.clone(), time: None };
        let scraped = all.entry(process.clone()).or_insert_with(new);
        if scraped.origin == origin && !copies.are_of_another(&process, &origin, &sample.labels) {
            scraped.time = scraped.time.max(sample.time);
            scraped.reader.sample(name, own_labels(sample.labels, of), sample.value);
        }
    }
    let each = all.into_values().map(|Scraped { reader, time, .. }| {
        let mut metrics = reader.finish();
        // Every proxy exports it: a narrow selection of families lacks it.
        let is_proxy = metrics.container.is_empty();
        metrics.is_part = is_proxy && !metrics.exported.contains(&MetricMeaning::ProxyBuild);
        metrics.read_at = metrics.read_at.or(time.map(|time| time / 1000));
        metrics
    });
    let is_of_mesh = |metrics: &ProxyMetrics| metrics.exported.iter().any(|meaning| !OF_ANY_PROCESS.contains(meaning));
    each.filter(is_of_mesh).collect()
}

/// Labels that something between the scrape and the file added, such as the name of a replica. A process has one start
/// time, so two of them with the same labels of the scrape are copies. Those with the first labels are used.
struct Copies(BTreeMap<([String; 3], Vec<String>), BTreeMap<String, String>>);

impl Copies {
    fn read(text: &str, of: &ScrapeLabels) -> Copies {
        let names = Knowledge::embedded().proxy_metrics();
        let mut first: BTreeMap<([String; 3], Vec<String>), BTreeMap<String, String>> = BTreeMap::new();
        for line in text.lines() {
            let name = name_of(line);
            if names.family(name).is_none_or(|(family, _)| family.meaning != MetricMeaning::StartedAt) {
                continue;
            }
            let Some(sample) = Sample::parse(&line[name.len()..]) else { continue };
            let Some(process) = process(&sample.labels, of) else { continue };
            if first.len() >= MOST_PROCESSES {
                break;
            }
            let origin = origin(&sample.labels, of);
            let added = own_labels(sample.labels, of);
            let known = first.entry((process, origin)).or_insert_with(|| added.clone());
            if added < *known {
                *known = added;
            }
        }
        Copies(first)
    }

    /// Whether a series of a process has other values of the added labels.
    fn are_of_another(&self, process: &[String; 3], origin: &[String], labels: &BTreeMap<String, String>) -> bool {
        let added = self.0.get(&(process.clone(), origin.to_vec()));
        let is_other = |(name, value): (&String, &String)| labels.get(name).is_some_and(|other| other != value);
        added.is_some_and(|added| added.iter().any(is_other))
    }
}

/// The first of several labels that a series has.
fn first<'a>(labels: &'a BTreeMap<String, String>, names: &[String]) -> Option<&'a str> {
    names.iter().filter_map(|name| labels.get(name)).map(String::as_str).find(|value| !value.is_empty())
}

/// Namespace, pod and container of a series.
fn process(labels: &BTreeMap<String, String>, of: &ScrapeLabels) -> Option<[String; 3]> {
    let namespace = first(labels, &of.namespace).filter(|name| is_label(name))?;
    let pod = first(labels, &of.pod).filter(|name| is_subdomain(name))?;
    let container = first(labels, &of.container).or_else(|| first(labels, &of.component));
    let container = container.unwrap_or(PROXY_CONTAINER);
    is_label(container).then(|| [namespace, pod, container].map(str::to_owned))
}

/// The values of the labels that distinguish several scrapes of one process.
fn origin(labels: &BTreeMap<String, String>, of: &ScrapeLabels) -> Vec<String> {
    of.origin.iter().map(|name| labels.get(name).cloned().unwrap_or_default()).collect()
}

/// The labels of the process itself.
fn own_labels(mut labels: BTreeMap<String, String>, of: &ScrapeLabels) -> BTreeMap<String, String> {
    labels.retain(|name, _| of.all().all(|scrape| scrape != name));
    let (exported, mut own): (BTreeMap<String, String>, BTreeMap<String, String>) =
        labels.into_iter().partition(|(name, _)| name.starts_with(EXPORTED));
    own.extend(exported.into_iter().map(|(name, value)| (name[EXPORTED.len()..].to_owned(), value)));
    own
}
