//! Metrics of a proxy or of a control-plane container, reduced to the series that checks read: one read, or
//! two reads of the same process, which show the growth of its counters.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::knowledge::{Knowledge, MetricKind, MetricMeaning};

/// Difference in seconds within which two start times are the same: older releases state them less precisely.
const SAME_START: i64 = 2;

/// Metrics of a process. Times are seconds since 1970 by the clock of its node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProxyMetrics {
    /// The pod's namespace; empty if unknown, because the linkerd command does not print it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub pod: String,
    /// The container; empty for the proxy.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub container: String,
    /// Error of the read; empty if there are metrics.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// Time of the metrics; of the later of two reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at: Option<i64>,
    /// Start of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// Seconds between two reads; `None` if there is one read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<i64>,
    /// Expiry of its certificate; 0 if it never had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Denials by inbound policy since the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    /// Meanings of which a series was exported.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub exported: BTreeSet<MetricMeaning>,
    /// Meanings with more series than are kept.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub truncated: BTreeSet<MetricMeaning>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
}

/// A series, reduced to the kept labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    pub meaning: MetricMeaning,
    /// The kept labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its value; of the later of two reads.
    pub value: f64,
    /// Its value in the earlier of two reads; 0 if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
}

/// A process whose metrics are read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricsTarget {
    /// The pod's namespace.
    pub namespace: String,
    pub pod: String,
    pub container: String,
    pub port: u16,
}

/// The processes selected for reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxySample {
    /// The processes, the control plane first.
    pub targets: Vec<MetricsTarget>,
    /// Number of selected proxies that the limit left out.
    pub left: usize,
}

impl Series {
    /// A label; empty if missing.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Growth of a counter between two reads. A smaller value began again at 0.
    fn growth(&self) -> f64 {
        let growth = self.value - self.before.unwrap_or_default();
        if growth < 0.0 { self.value } else { growth }
    }
}

/// Denials by inbound policy on one port.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Denied {
    pub port: u16,
    /// `requests` or `connections`.
    pub what: String,
    /// Policy of the port: `server` or `default`.
    pub kind: String,
    /// Name of the Server or of the default policy.
    pub name: String,
    /// The client's identity; empty if it had none.
    pub client: String,
    /// Number of denials since the start.
    pub count: u64,
    /// Number of denials between two reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<u64>,
}

impl Denied {
    fn is_same(&self, other: &Denied) -> bool {
        (self.port, &self.what, &self.kind, &self.name, &self.client)
            == (other.port, &other.what, &other.kind, &other.name, &other.client)
    }
}

impl ProxyMetrics {
    /// The series with a meaning.
    pub fn of(&self, meaning: MetricMeaning) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.meaning == meaning)
    }

    /// The growth of each counter with a meaning that grew between two reads, as a whole number.
    pub fn grown(&self, meaning: MetricMeaning) -> impl Iterator<Item = (&Series, u64)> {
        let has_two = self.period.is_some();
        self.of(meaning).filter(move |_| has_two).filter_map(|series| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
            let growth = series.growth().round() as u64;
            (growth > 0).then_some((series, growth))
        })
    }

    /// Value of the only series with a meaning.
    pub fn value(&self, meaning: MetricMeaning) -> Option<f64> {
        self.of(meaning).next().map(|series| series.value)
    }

    /// Combines two reads. The result is the later one alone if they are of different runs of the process, or of the
    /// same moment; a failed read does not replace a successful one.
    #[must_use]
    pub fn followed_by(self, other: ProxyMetrics) -> ProxyMetrics {
        if !other.error.is_empty() || !self.error.is_empty() {
            return if self.error.is_empty() { self } else { other };
        }
        let time = |of: &ProxyMetrics| of.read_at.unwrap_or_default();
        let (earlier, mut later) = if time(&other) < time(&self) { (other, self) } else { (self, other) };
        let period = later.read_at.zip(earlier.read_at).map(|(later, earlier)| later.saturating_sub(earlier));
        let starts = earlier.started_at.zip(later.started_at);
        let is_same_run = starts.is_some_and(|(one, two)| one.abs_diff(two) <= SAME_START.unsigned_abs());
        if is_same_run && period == Some(0) && earlier.period.is_some() {
            return earlier;
        }
        let Some(period) = period.filter(|period| *period > 0 && is_same_run) else { return later };
        later.period = Some(period);
        let before: BTreeMap<_, f64> =
            earlier.series.iter().map(|one| ((one.meaning, &one.labels), one.value)).collect();
        for series in &mut later.series {
            series.before = Some(before.get(&(series.meaning, &series.labels)).copied().unwrap_or_default());
        }
        for denied in &mut later.denied {
            let before = earlier.denied.iter().find(|one| one.is_same(denied)).map_or(0, |one| one.count);
            denied.grown = Some(denied.count.checked_sub(before).unwrap_or(denied.count));
        }
        later.truncated.extend(earlier.truncated);
        later
    }

    /// Drops series that no check reads: values of 0, and counters that did not grow or were read once.
    #[must_use]
    pub fn reduced(mut self) -> ProxyMetrics {
        let names = Knowledge::embedded().proxy_metrics();
        let has_two = self.period.is_some();
        self.series.retain(|series| match names.kind(series.meaning) {
            Some(MetricKind::Counter) => has_two && series.growth() > 0.0,
            Some(MetricKind::Gauge | MetricKind::Time) => {
                series.value != 0.0 || series.before.is_some_and(|before| before != 0.0)
            }
            None => false,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(at: i64, started: i64, errors: f64) -> ProxyMetrics {
        let labels = BTreeMap::from([("error".to_owned(), "failfast".to_owned())]);
        let series = Series { meaning: MetricMeaning::OutboundErrors, labels, value: errors, before: None };
        ProxyMetrics {
            pod: "web-1".to_owned(),
            read_at: Some(at),
            started_at: Some(started),
            series: vec![series],
            ..ProxyMetrics::default()
        }
    }

    fn growth(of: &ProxyMetrics) -> Vec<u64> {
        of.grown(MetricMeaning::OutboundErrors).map(|(_, growth)| growth).collect()
    }

    #[test]
    fn two_reads_in_any_order_give_the_growth() {
        for both in [
            read(130, 50, 9.0).followed_by(read(100, 50, 4.0)),
            read(100, 50, 4.0).followed_by(read(130, 50, 9.0)),
        ] {
            assert_eq!((both.period, both.read_at), (Some(30), Some(130)));
            assert_eq!(growth(&both.reduced()), [5]);
        }
    }

    #[test]
    fn repeated_read_keeps_the_growth() {
        let both = read(100, 50, 4.0).followed_by(read(130, 50, 9.0)).followed_by(read(130, 50, 9.0));
        assert_eq!((both.period, growth(&both)), (Some(30), vec![5]));
    }

    #[test]
    fn restart_or_single_moment_gives_no_growth() {
        for both in [
            read(100, 50, 4.0).followed_by(read(130, 120, 9.0)),
            read(100, 50, 4.0).followed_by(read(100, 50, 9.0)),
        ] {
            assert_eq!((both.period, growth(&both)), (None, Vec::new()));
            assert!(both.reduced().series.is_empty());
        }
    }

    #[test]
    fn failed_read_does_not_replace_another() {
        let failed = || ProxyMetrics { error: "timeout".to_owned(), ..ProxyMetrics::default() };
        assert_eq!(read(100, 50, 4.0).followed_by(failed()), read(100, 50, 4.0));
        assert_eq!(failed().followed_by(read(100, 50, 4.0)), read(100, 50, 4.0));
    }
}
