//! The PromQL of each query: one instant vector for each group of metric families, added up on the server to
//! the labels that are kept.

use std::collections::{BTreeMap, BTreeSet};

use super::response::QuerySeries;
use super::{Prometheus, WantedPods};
use crate::knowledge::{MetricGroup, MetricMeaning, ProxyMetricNames};
use crate::source::diagnostics::EXPORTED;

/// Matchers of all queries.
pub(super) struct Selector {
    matchers: String,
    /// Labels that distinguish copies of series, in addition to those of the scrape.
    added: Vec<String>,
}

impl Selector {
    /// The labels that flags name, and the wanted namespaces.
    pub(super) fn new(from: &Prometheus, wanted: &WantedPods<'_>) -> Selector {
        let mut matchers = String::new();
        for (name, value) in &from.labels {
            matchers.push_str(&format!(",{name}=\"{}\"", escape(value)));
        }
        if !wanted.namespaces.is_empty() {
            // An empty alternative matches series without the label.
            let all = wanted.namespaces.iter().map(String::as_str).chain([wanted.control_plane, ""]);
            let all: Vec<&str> = all.collect();
            matchers.push_str(&format!(",namespace=~\"{}\"", all.join("|")));
        }
        Selector { matchers, added: Vec::new() }
    }

    /// Distinguishes copies of series by these labels.
    pub(super) fn add_labels(&mut self, added: Vec<String>) {
        self.added = added;
    }

    /// The start times with all labels of the series that have these labels of the scrape.
    pub(super) fn copies(&self, names: &ProxyMetricNames, of: &BTreeMap<String, String>) -> String {
        let all: Vec<&str> = names.names_of(MetricMeaning::StartedAt).collect();
        let known = of.iter().filter(|(name, _)| *name != "__name__");
        let known: String = known.map(|(name, value)| format!(",{name}=\"{}\"", escape(value))).collect();
        format!("{{__name__=~\"{}\"{}{known}}}", all.join("|"), self.matchers)
    }

    /// The number of start times of each process, for their labels: it has more if the server has copies.
    pub(super) fn starts(&self, names: &ProxyMetricNames) -> String {
        let of: Vec<&str> = names.names_of(MetricMeaning::StartedAt).collect();
        self.expression("count", &of, "", names.scraped().all())
    }

    /// The times at which the start times were scraped, with the labels of the scrape.
    pub(super) fn scrape_times(&self, names: &ProxyMetricNames) -> String {
        let of: Vec<&str> = names.names_of(MetricMeaning::StartedAt).collect();
        let by: Vec<&str> = names.scraped().all().chain(self.added.iter().map(String::as_str)).collect();
        let matchers = &self.matchers;
        format!("max by ({}) (timestamp({{__name__=~\"{}\"{matchers}}}))", by.join(","), of.join("|"))
    }

    /// The families of a group.
    pub(super) fn group(&self, group: &MetricGroup<'_>, names: &ProxyMetricNames) -> String {
        let only: String = group.only.iter().map(|(name, value)| format!(",{}", matcher(name, value))).collect();
        let among = group.among.iter().map(|(name, values)| format!(",{name}=~\"{}\"", any_of(values)));
        let except = group.except.iter().map(|(name, values)| format!(",{name}!~\"{}\"", any_of(values)));
        let only: String = std::iter::once(only).chain(among).chain(except).collect();
        let scraped: BTreeSet<&str> = names.scraped().all().collect();
        let kept = group.labels.iter().map(String::as_str).filter(|label| !scraped.contains(label));
        let exported: Vec<String> = group.labels.iter().map(|label| format!("{EXPORTED}{label}")).collect();
        let labels = scraped.iter().copied().chain(kept).chain(exported.iter().map(String::as_str));
        self.expression(if group.is_time { "max" } else { "sum" }, &group.names, &only, labels)
    }

    fn expression<'a>(
        &'a self,
        aggregation: &str,
        names: &[&str],
        only: &str,
        labels: impl Iterator<Item = &'a str>,
    ) -> String {
        let labels = labels.chain(self.added.iter().map(String::as_str));
        let by: Vec<&str> = std::iter::once("__name__").chain(labels).collect();
        let (by, names) = (by.join(","), names.join("|"));
        format!("{aggregation} by ({by}) ({{__name__=~\"{names}\"{only}{}}})", self.matchers)
    }
}

/// A matcher of one value. Servers since Prometheus 3 write the bound of a bucket with a decimal point.
fn matcher(name: &str, value: &str) -> String {
    if name == "le" && value.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{name}=~\"{value}|{value}[.]0\"")
    } else {
        format!("{name}=\"{}\"", escape(value))
    }
}

/// An expression that matches these values, and bounds of buckets with a decimal point.
fn any_of(values: &[String]) -> String {
    let quoted = |value: &String| {
        let plain = value.chars().flat_map(|c| if c.is_ascii_alphanumeric() { vec![c] } else { vec!['[', c, ']'] });
        let plain: String = plain.collect();
        match value.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("{plain}|{plain}[.]0"),
            false => plain,
        }
    };
    values.iter().map(quoted).collect::<Vec<_>>().join("|")
}

fn escape(value: &str) -> String {
    value.chars().fold(String::new(), |mut text, c| {
        match c {
            '\\' | '"' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
        text
    })
}

/// The labels of the process itself, of a series in the result of a group's query.
pub(super) fn own_labels(group: &MetricGroup<'_>, series: &QuerySeries) -> BTreeMap<String, String> {
    let mut labels = group.only.clone();
    for name in group.labels {
        let exported = series.label(&format!("{EXPORTED}{name}"));
        let value = if exported.is_empty() { series.label(name) } else { exported };
        if !value.is_empty() {
            labels.insert(name.clone(), value.to_owned());
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::PrometheusAddress;
    use super::*;
    use crate::knowledge::Knowledge;

    fn selector(labels: &[(&str, &str)], namespaces: &[String]) -> Selector {
        let from = Prometheus {
            address: PrometheusAddress::Url("http://localhost:9090".to_owned()),
            window: Duration::from_secs(600),
            token: None,
            certificate_authority: None,
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        Selector::new(&from, &WantedPods { pods: &[], control_plane: "linkerd", namespaces })
    }

    #[test]
    fn all_families_fit_in_few_queries() {
        let names = Knowledge::embedded().proxy_metrics();
        let groups = names.groups();
        // In addition: the start times, the times of the scrapes, and the configuration; the labels of copies, and the
        // start times by them.
        assert!(groups.len() + 5 <= 30, "{}", groups.len());
        let grouped: usize = groups.iter().map(|group| group.names.len()).sum();
        assert_eq!(grouped, names.names().count());
    }

    #[test]
    fn queries_select_cluster_namespaces_and_buckets() {
        let names = Knowledge::embedded().proxy_metrics();
        let selector = selector(&[("cluster", "a\"b\\")], &["shop".to_owned()]);
        let starts = selector.starts(names);
        assert!(starts.starts_with("count by (__name__,namespace,"), "{starts}");
        let matchers = ",cluster=\"a\\\"b\\\\\",namespace=~\"shop|linkerd|\"})";
        assert!(starts.ends_with(&format!("{{__name__=~\"process_start_time_seconds\"{matchers}")), "{starts}");
        let groups = names.groups();
        let of = |name: &str| groups.iter().find(|group| group.names.contains(&name)).expect("a group");
        let buckets = selector.group(of("pods_informer_lag_seconds_bucket"), names);
        assert!(buckets.starts_with("sum by (") && buckets.contains(",le=~\"10|10[.]0\""), "{buckets}");
        let overflows = selector.group(of("endpoint_updates_queue_overflow"), names);
        assert!(overflows.contains(",exported_service,"), "{overflows}");
    }

    #[test]
    fn label_of_the_process_wins_over_that_of_the_scrape() {
        let names = Knowledge::embedded().proxy_metrics();
        let groups = names.groups();
        let group = groups.iter().find(|group| group.labels.iter().any(|label| label == "fqn")).expect("a group");
        let labels = [("service", "linkerd-dst"), ("exported_service", "web.shop"), ("job", "x")];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let series = QuerySeries { labels: labels.into(), samples: Vec::new() };
        assert_eq!(own_labels(group, &series), BTreeMap::from([("service".to_owned(), "web.shop".to_owned())]));
    }
}
