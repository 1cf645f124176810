//! Metrics of a proxy or of a control-plane container, reduced to the series that checks read: one read, or
//! two reads of the same process, which show the growth of its counters.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::knowledge::{Knowledge, MetricKind, MetricMeaning};

/// Difference in seconds within which two start times are the same: older releases state them less precisely.
const SAME_START: i64 = 2;

/// Maximum length of a version.
const LONGEST_VERSION: usize = 64;
/// Maximum number of different denials to keep per process, after two reads were combined.
const MOST_DENIED: usize = 100;
/// Maximum number of series to keep per meaning and process, after two reads were combined.
const MOST_SERIES: usize = 500;

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
    /// Whether the text is only a part of the metrics: a missing family then has an unknown value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
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
    /// Its value in the earlier of two reads; 0 if it did not exist. `None` if there was one read, or if the earlier
    /// read did not keep every series of this meaning.
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
    /// Pods of the selected proxies that the limit left out, as `NAMESPACE/NAME`.
    pub left: Vec<String>,
    /// Proxies whose certificates are read.
    pub certificates: Vec<CertificateTarget>,
}

/// A proxy whose certificates are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateTarget {
    pub process: MetricsTarget,
    /// The name of its identity, without which it does not accept TLS on its own ports.
    pub name: String,
    /// Whether its trust anchors are those of a ConfigMap at its start, rather than those of the pod's spec.
    pub reads_config_map: bool,
}

impl MetricsTarget {
    /// `NAMESPACE/NAME` of the pod.
    pub fn pod_name(&self) -> String {
        format!("{}/{}", self.namespace, self.pod)
    }
}

impl Series {
    /// A label; empty if missing.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Growth of a counter between two reads; 0 if it is unknown. A smaller value began again at 0.
    fn growth(&self) -> f64 {
        let Some(before) = self.before else { return 0.0 };
        let growth = self.value - before;
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
    /// The meaning of its counter.
    fn meaning(&self) -> MetricMeaning {
        match self.what.as_str() {
            "requests" => MetricMeaning::DeniedRequests,
            _ => MetricMeaning::DeniedConnections,
        }
    }

    fn is_same(&self, other: &Denied) -> bool {
        (self.port, &self.what, &self.kind, &self.name, &self.client)
            == (other.port, &other.what, &other.kind, &other.name, &other.client)
    }

    /// Its growth between two reads. Denials since the start if there was one read.
    fn weight(&self, has_two: bool) -> u64 {
        if has_two { self.grown.unwrap_or_default() } else { self.count }
    }
}

impl ProxyMetrics {
    /// The series with a meaning.
    pub fn series(&self, meaning: MetricMeaning) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.meaning == meaning)
    }

    /// The growth of each counter with a meaning that grew between two reads, as a whole number.
    pub fn grown(&self, meaning: MetricMeaning) -> impl Iterator<Item = (&Series, u64)> {
        let has_two = self.period.is_some();
        self.series(meaning).filter(move |_| has_two).filter_map(|series| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
            let growth = series.growth().round() as u64;
            (growth > 0).then_some((series, growth))
        })
    }

    /// Whether these are all families of a proxy or of destination: each has some from its start on.
    pub fn is_whole(&self) -> bool {
        let always = [MetricMeaning::ControlEndpoints, MetricMeaning::InformerUpdates];
        !self.is_part && always.iter().any(|one| self.exported.contains(one))
    }

    /// Whether series of a meaning can be absent because the text is only a part of the metrics.
    pub fn may_lack(&self, meaning: MetricMeaning) -> bool {
        self.is_part && !self.exported.contains(&meaning)
    }

    /// Value of the only series with a meaning.
    pub fn value(&self, meaning: MetricMeaning) -> Option<f64> {
        self.series(meaning).next().map(|series| series.value)
    }

    /// The version that a proxy reports about itself; `None` if it is not one.
    pub fn build(&self) -> Option<&str> {
        let version = self.series(MetricMeaning::ProxyBuild).next()?.label("version");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
        (1..=LONGEST_VERSION).contains(&version.len()).then_some(version).filter(|it| it.bytes().all(is_plain))
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
        // A series that the earlier read left out did not begin at 0.
        let absent = |meaning: MetricMeaning| {
            !earlier.truncated.contains(&meaning) && (!earlier.is_part || earlier.exported.contains(&meaning))
        };
        for series in &mut later.series {
            let known = before.get(&(series.meaning, &series.labels)).copied();
            series.before = known.or_else(|| absent(series.meaning).then_some(0.0));
        }
        later.denied.retain_mut(|denied| {
            let known = earlier.denied.iter().find(|one| one.is_same(denied)).map(|one| one.count);
            let before = known.or_else(|| absent(denied.meaning()).then_some(0));
            denied.grown = before.map(|before| denied.count.checked_sub(before).unwrap_or(denied.count));
            denied.grown.is_some()
        });
        if earlier.is_part || later.is_part {
            later.exported = later.exported.intersection(&earlier.exported).copied().collect();
        }
        later.is_part |= earlier.is_part;
        later.truncated.extend(earlier.truncated);
        later
    }

    /// Drops series that no check reads: values of 0, and counters that did not grow or were read once. Keeps those
    /// that grew most, or are largest, up to a limit per meaning.
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
        self.limit_series();
        self.limit_denied();
        self
    }

    /// Keeps a limited number of series per meaning.
    fn limit_series(&mut self) {
        let mut counts: BTreeMap<MetricMeaning, usize> = BTreeMap::new();
        self.series.iter().for_each(|series| *counts.entry(series.meaning).or_default() += 1);
        counts.retain(|_, count| *count > MOST_SERIES);
        let names = Knowledge::embedded().proxy_metrics();
        for meaning in counts.into_keys() {
            let is_counter = names.kind(meaning) == Some(MetricKind::Counter);
            let weight = |series: &Series| if is_counter { series.growth() } else { series.value };
            let (mut own, others): (Vec<Series>, Vec<Series>) =
                std::mem::take(&mut self.series).into_iter().partition(|series| series.meaning == meaning);
            own.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.labels.cmp(&b.labels)));
            own.truncate(MOST_SERIES);
            self.series = others;
            self.series.append(&mut own);
            self.truncated.insert(meaning);
        }
        self.series.sort_by(|a, b| (a.meaning, &a.labels).cmp(&(b.meaning, &b.labels)));
    }

    /// Keeps a limited number of denials.
    fn limit_denied(&mut self) {
        if self.denied.len() <= MOST_DENIED {
            return;
        }
        let has_two = self.period.is_some();
        self.denied
            .sort_by(|a, b| (b.weight(has_two), b.count).cmp(&(a.weight(has_two), a.count)).then_with(|| a.cmp(b)));
        // Old denials that did not grow are not evidence of two reads.
        let cut = self.denied.split_off(MOST_DENIED);
        let lost = cut.iter().filter(|denied| denied.weight(has_two) > 0);
        self.truncated.extend(lost.map(Denied::meaning));
        self.denied.sort();
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
        for both in
            [read(130, 50, 9.0).followed_by(read(100, 50, 4.0)), read(100, 50, 4.0).followed_by(read(130, 50, 9.0))]
        {
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
        for both in
            [read(100, 50, 4.0).followed_by(read(130, 120, 9.0)), read(100, 50, 4.0).followed_by(read(100, 50, 9.0))]
        {
            assert_eq!((both.period, growth(&both)), (None, Vec::new()));
            assert!(both.reduced().series.is_empty());
        }
    }

    fn with(errors: &[(&str, f64)], at: i64) -> ProxyMetrics {
        let series = errors.iter().map(|(error, value)| Series {
            meaning: MetricMeaning::OutboundErrors,
            labels: BTreeMap::from([("error".to_owned(), (*error).to_owned())]),
            value: *value,
            before: None,
        });
        ProxyMetrics { series: series.collect(), ..read(at, 50, 0.0) }
    }

    #[test]
    fn series_that_the_first_read_left_out_have_no_growth() {
        let mut first = with(&[("a", 7.0)], 100);
        first.truncated.insert(MetricMeaning::OutboundErrors);
        let both = first.clone().followed_by(with(&[("a", 9.0), ("b", 40.0)], 130));
        assert_eq!(growth(&both), [2]);
        assert!(both.truncated.contains(&MetricMeaning::OutboundErrors));
        first.truncated.clear();
        assert_eq!(growth(&first.followed_by(with(&[("a", 9.0), ("b", 40.0)], 130))), [2, 40]);
    }

    #[test]
    fn series_that_grew_most_are_kept() {
        let names: Vec<String> = (0..MOST_SERIES).map(|at| format!("a{at}")).collect();
        let mut all: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 900.0)).collect();
        let earlier = with(&all, 100);
        all.iter_mut().for_each(|(_, value)| *value += 1.0);
        all.push(("z", 50.0));
        let both = earlier.followed_by(with(&all, 130)).reduced();
        assert_eq!(both.series.len(), MOST_SERIES);
        assert!(both.series.iter().any(|series| series.label("error") == "z"), "{both:?}");
        assert!(both.truncated.contains(&MetricMeaning::OutboundErrors));
    }

    fn denied(client: &str, count: u64) -> Denied {
        Denied { port: 80, what: "requests".to_owned(), client: client.to_owned(), count, ..Denied::default() }
    }

    #[test]
    fn denials_that_grew_are_kept_before_old_ones() {
        let old: Vec<Denied> = (0..MOST_DENIED + 50).map(|at| denied(&format!("c{at:03}"), 9)).collect();
        let first = ProxyMetrics { denied: old.clone(), ..read(100, 50, 0.0) };
        let mut second = ProxyMetrics { denied: old, ..read(130, 50, 0.0) };
        second.denied.push(denied("web.shop", 5));
        let both = first.followed_by(second).reduced();
        let grown: Vec<_> = both.denied.iter().filter(|one| one.grown != Some(0)).collect();
        assert_eq!(grown.len(), 1, "{grown:?}");
        assert_eq!((grown[0].client.as_str(), grown[0].grown), ("web.shop", Some(5)));
        assert_eq!((both.denied.len(), both.truncated.len()), (MOST_DENIED, 0));
        let once: Vec<Denied> = (0..=MOST_DENIED).map(|at| denied(&format!("c{at:03}"), 9)).collect();
        let once = ProxyMetrics { denied: once, ..read(100, 50, 0.0) }.reduced();
        assert!(once.truncated.contains(&MetricMeaning::DeniedRequests));
    }

    #[test]
    fn failed_read_does_not_replace_another() {
        let failed = || ProxyMetrics { error: "timeout".to_owned(), ..ProxyMetrics::default() };
        assert_eq!(read(100, 50, 4.0).followed_by(failed()), read(100, 50, 4.0));
        assert_eq!(failed().followed_by(read(100, 50, 4.0)), read(100, 50, 4.0));
    }
}
