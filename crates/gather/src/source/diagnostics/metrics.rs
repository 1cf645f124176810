//! Parses the output of `linkerd diagnostics proxy-metrics` and `controller-metrics`: Prometheus text of one
//! container after another, of which a few series are kept.

use std::collections::BTreeMap;

use super::{PortOf, UnusedText, scrape};
use crate::item::diagnostic::Answer;
use crate::item::proxy_metrics::{Denied, ProxyMetrics, Series};
use crate::knowledge::{Knowledge, MetricFamily, MetricKind, MetricMeaning};
use crate::names::{is_label, is_subdomain};
use crate::objects::container::PROXY_CONTAINER;

/// Beginning of the output of `proxy-metrics` and `controller-metrics`.
const METRICS: &str = "#\n# POD ";
/// Maximum number of series of one read to keep per meaning and process. Of two reads together fewer are kept: those
/// that grew most.
const MOST_SERIES: usize = 2000;
/// The last second that a date can name. Other times are not real.
const LAST_SECOND: i64 = 253_402_207_200;

/// Whether a text begins like output of `proxy-metrics` and `controller-metrics`.
pub fn begins_metrics(head: &[u8]) -> bool {
    let head: Vec<u8> = head.iter().copied().filter(|byte| *byte != b'\r').take(METRICS.len()).collect();
    head == METRICS.as_bytes()
}

/// Whether a text begins like metrics as a process serves them: with a comment of theirs, or with a value, as parts of
/// them do.
pub(super) fn begins_exposition(text: &str) -> bool {
    ["# HELP ", "# TYPE "].iter().any(|word| text.starts_with(word))
        || text.lines().find(|line| !line.starts_with('#')).is_some_and(is_value)
}

/// Whether a line has the form of a metric's value: `name{labels} number`.
fn is_value(line: &str) -> bool {
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    let is_name = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let rest = line[name.len()..].trim_start();
    let number = match rest.starts_with('{') {
        true => rest.rsplit('}').next().unwrap_or_default(),
        false => rest,
    };
    let mut numbers = number.split_whitespace().map(|word| word.parse::<f64>().is_ok());
    name.contains('_') && name.chars().all(is_name) && numbers.next() == Some(true) && numbers.all(|one| one)
}

/// Parses what a process serves at `/metrics`, or what Prometheus serves at `/federate`.
pub(super) fn read_of(text: &str, of: Option<&PortOf>) -> Result<Vec<Answer>, UnusedText> {
    // Every proxy exports one of these, and only proxies do.
    let is_own =
        |line: &str| ["proxy_build_info{", "stack_create_total{"].iter().any(|own| line.starts_with(own));
    let is_proxy = text.lines().any(is_own);
    let Some(PortOf { namespace, pod, .. }) = of else {
        let scraped = scrape::read(text);
        return match (scraped.is_empty(), is_proxy) {
            (false, _) => Ok(scraped.into_iter().map(Answer::ProxyMetrics).collect()),
            (true, true) => Err(UnusedText::Of(
                "these metrics do not name their pod: use --diagnostics NAMESPACE/POD:PORT=FILE",
            )),
            (true, false) => Err(UnusedText::Of(
                "these metrics are not of a proxy and do not name their pod: for the control plane, use \
                 --diagnostics NAMESPACE/POD:PORT=FILE or the output of linkerd diagnostics controller-metrics",
            )),
        };
    };
    let container = if is_proxy { Some(PROXY_CONTAINER) } else { of.and_then(container_of) };
    let Some(container) = container else {
        return Err(UnusedText::Of(
            "these metrics are neither of a proxy (port 4191) nor of a port of the control plane that serves metrics: \
             9990, 9995, 9996 or 9997",
        ));
    };
    let mut reader = MetricsReader::new(namespace, pod, container);
    text.lines().for_each(|line| reader.line(line));
    Ok(vec![Answer::ProxyMetrics(reader.finish())])
}

/// The container that serves metrics on a port of Linkerd.
fn container_of(of: &PortOf) -> Option<&'static str> {
    match of.port {
        4191 => Some(PROXY_CONTAINER),
        9990 if of.pod.starts_with("linkerd-identity-") => Some("identity"),
        9990 => Some("policy"),
        9995 => Some("proxy-injector"),
        9996 => Some("destination"),
        9997 => Some("sp-validator"),
        _ => None,
    }
}

/// Parses the metrics of all containers.
pub(super) fn read(text: &str) -> Result<Vec<Answer>, UnusedText> {
    let mut all: Vec<MetricsReader> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# POD ") {
            let pod = rest.split(' ').next().unwrap_or_default();
            if !is_subdomain(pod) {
                return Err(UnusedText::Other);
            }
            all.push(MetricsReader::new("", pod, ""));
            continue;
        }
        let Some(reader) = all.last_mut() else { continue };
        if let Some(container) = line.strip_prefix("# CONTAINER ").map(str::trim) {
            if !is_label(container) {
                return Err(UnusedText::Other);
            }
            reader.set_container(container);
        } else if let Some(error) = line.strip_prefix("# ERROR") {
            reader.fail(error.trim_start_matches([':', ' ']));
        } else {
            reader.line(line);
        }
    }
    let mut all: Vec<ProxyMetrics> = all.into_iter().map(MetricsReader::finish).collect();
    share_clocks(&mut all);
    Ok(all.into_iter().map(Answer::ProxyMetrics).collect())
}

/// The name of a container in metrics: empty for the proxy.
pub fn own_container(name: &str) -> String {
    if name == PROXY_CONTAINER { String::new() } else { name.to_owned() }
}

/// Controllers in Go do not export their clock: the one of another container of the pod in the same output is used.
pub fn share_clocks(all: &mut [ProxyMetrics]) {
    let clocks: BTreeMap<String, i64> =
        all.iter().filter_map(|one| Some((one.pod.clone(), one.read_at?))).collect();
    for one in all.iter_mut().filter(|one| one.read_at.is_none() && !one.container.is_empty()) {
        one.read_at = clocks.get(&one.pod).copied();
    }
}

/// Reads the metrics of one process, line by line.
#[derive(Debug, Default)]
pub struct MetricsReader {
    metrics: ProxyMetrics,
    uptime: Option<i64>,
    series: BTreeMap<MetricMeaning, BTreeMap<BTreeMap<String, String>, f64>>,
    /// Denials, with a count of 0 as key.
    denied: BTreeMap<Denied, u64>,
    /// Number of series read from text.
    lines: u32,
}

impl MetricsReader {
    /// Metrics of a container; the name of the proxy, or none, is the proxy.
    pub fn new(namespace: &str, pod: &str, container: &str) -> MetricsReader {
        let metrics =
            ProxyMetrics { namespace: namespace.to_owned(), pod: pod.to_owned(), ..ProxyMetrics::default() };
        let mut reader = MetricsReader { metrics, ..MetricsReader::default() };
        reader.set_container(container);
        reader
    }

    fn set_container(&mut self, container: &str) {
        self.metrics.container = own_container(container);
    }

    /// Records that the metrics are unavailable.
    pub fn fail(&mut self, error: &str) {
        error.clone_into(&mut self.metrics.error);
    }

    /// Reads one line; ignores comments and unknown series.
    pub fn line(&mut self, line: &str) {
        if line.starts_with('#') || line.trim_ascii().is_empty() {
            return;
        }
        self.lines = self.lines.saturating_add(1);
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        if Knowledge::embedded().proxy_metrics().family(name).is_none() {
            return;
        }
        let Some(Sample { labels, value, .. }) = Sample::parse(&line[name.len()..]) else { return };
        self.sample(name, labels, value);
    }

    /// Reads one sample; ignores unknown series.
    pub fn sample(&mut self, name: &str, mut labels: BTreeMap<String, String>, value: f64) {
        let Some((family, adds)) = Knowledge::embedded().proxy_metrics().family(name) else { return };
        // Servers since Prometheus 3 write the bound of a bucket with a decimal point.
        if let Some(bound) = labels.get_mut("le").filter(|bound| bound.ends_with(".0")) {
            bound.truncate(bound.len() - 2);
        }
        if !family.reads(&labels) {
            return;
        }
        let metrics = &mut self.metrics;
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let seconds = Some(value as i64).filter(|at| value.is_finite() && (0..=LAST_SECOND).contains(at));
        if family.kind == MetricKind::Time && seconds.is_none() {
            return;
        }
        metrics.exported.insert(family.meaning);
        match family.meaning {
            MetricMeaning::ReadAt => metrics.read_at = seconds,
            MetricMeaning::StartedAt => metrics.started_at = seconds,
            MetricMeaning::Uptime => self.uptime = seconds,
            MetricMeaning::CertificateExpiresAt => metrics.expires_at = seconds,
            MetricMeaning::DeniedRequests => self.denied(family.meaning, &labels, "requests", value),
            MetricMeaning::DeniedConnections => self.denied(family.meaning, &labels, "connections", value),
            _ => self.keep(family, adds, labels, value),
        }
    }

    /// Adds a sample to the series with the same kept labels.
    fn keep(
        &mut self,
        family: &MetricFamily,
        adds: &BTreeMap<String, String>,
        mut labels: BTreeMap<String, String>,
        value: f64,
    ) {
        // A counter of 0 has no growth, and is the same as none.
        if !value.is_finite() || value == 0.0 && family.kind == MetricKind::Counter {
            return;
        }
        labels.retain(|name, value| family.labels.contains(name) && !value.is_empty());
        labels.extend(adds.clone());
        let all = self.series.entry(family.meaning).or_default();
        if all.len() >= MOST_SERIES && !all.contains_key(&labels) {
            self.metrics.truncated.insert(family.meaning);
            return;
        }
        let known = all.entry(labels).or_insert(0.0);
        *known = match family.kind {
            MetricKind::Time => known.max(value),
            MetricKind::Counter | MetricKind::Gauge => *known + value,
        };
    }

    /// Adds a sample of a denial counter to the denials with the same labels.
    fn denied(&mut self, meaning: MetricMeaning, labels: &BTreeMap<String, String>, what: &str, value: f64) {
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let count = value as u64;
        if count == 0 {
            return;
        }
        let denied = Denied {
            port: label("target_port").parse().unwrap_or_default(),
            what: what.to_owned(),
            kind: label("srv_kind"),
            name: label("srv_name"),
            client: label("client_id"),
            ..Denied::default()
        };
        if self.denied.len() >= MOST_SERIES && !self.denied.contains_key(&denied) {
            self.metrics.truncated.insert(meaning);
            return;
        }
        let known = self.denied.entry(denied).or_default();
        *known = known.saturating_add(count);
    }

    /// The metrics read.
    pub fn finish(self) -> ProxyMetrics {
        let MetricsReader { mut metrics, uptime, series, denied, lines } = self;
        let told = metrics.started_at.zip(uptime).map(|(started, uptime)| started.saturating_add(uptime));
        metrics.read_at = metrics.read_at.or(told);
        metrics.denied = denied.into_iter().map(|(of, count)| Denied { count, ..of }).collect();
        let each = series.into_iter().flat_map(|(meaning, all)| {
            all.into_iter().map(move |(labels, value)| Series { meaning, labels, value, before: None })
        });
        metrics.series = each.collect();
        if lines > 0 {
            let (labels, meaning) = (BTreeMap::new(), MetricMeaning::SeriesCount);
            metrics.exported.insert(meaning);
            metrics.series.push(Series { meaning, labels, value: f64::from(lines), before: None });
        }
        metrics
    }
}

/// A sample, without its name.
pub(super) struct Sample {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
    /// Milliseconds since 1970, if it states them.
    pub(super) time: Option<i64>,
}

impl Sample {
    /// Parses a line after the name; `None` if it is malformed.
    pub(super) fn parse(rest: &str) -> Option<Sample> {
        let mut labels = BTreeMap::new();
        let mut rest = rest.trim_start();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            loop {
                rest = rest.trim_start_matches([',', ' ']);
                if let Some(after) = rest.strip_prefix('}') {
                    rest = after;
                    break;
                }
                let (name, after) = rest.split_once("=\"")?;
                let (value, after) = quoted(after)?;
                labels.insert(name.to_owned(), value);
                rest = after;
            }
        }
        let mut words = rest.split_ascii_whitespace();
        let value = words.next()?.parse().ok()?;
        Some(Sample { labels, value, time: words.next().and_then(|time| time.parse().ok()) })
    }
}

/// The value of a label up to its closing quote, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_reduced_to_kept_labels() {
        let mut reader = MetricsReader::new("shop", "web-1", PROXY_CONTAINER);
        for line in [
            "# TYPE inbound_tcp_errors_total counter",
            "inbound_tcp_errors_total{error=\"i/o\",target_addr=\"10.0.0.1:80\",target_port=\"80\"} 2",
            "inbound_tcp_errors_total{error=\"i/o\",target_addr=\"10.0.0.2:80\",target_port=\"80\"} 3 1700000000000",
            "tcp_open_total{direction=\"inbound\",peer=\"src\",tls=\"true\"} 9",
            "inbound_tcp_errors_total{error=\"broken} 1",
            "inbound_tcp_errors_total{error=\"a\\\"b\",target_port=\"81\"} NaN",
        ] {
            reader.line(line);
        }
        let metrics = reader.finish();
        let errors: Vec<&Series> = metrics.series(MetricMeaning::InboundErrors).collect();
        let [one] = errors.as_slice() else { panic!("{metrics:?}") };
        assert_eq!(metrics.value(MetricMeaning::SeriesCount), Some(5.0));
        assert_eq!(
            (one.label("error"), one.label("target_port"), one.label("protocol")),
            ("i/o", "80", "tcp")
        );
        assert_eq!((one.value, one.label("target_addr")), (5.0, ""));
        assert_eq!((metrics.namespace.as_str(), metrics.container.as_str()), ("shop", ""));
    }

    #[test]
    fn number_of_series_is_bounded() {
        let mut reader = MetricsReader::new("", "web-1", "");
        for port in 0..2 * MOST_SERIES {
            reader.line(&format!("inbound_tcp_errors_total{{error=\"i/o\",target_port=\"{port}\"}} 1"));
        }
        let metrics = reader.finish();
        assert_eq!(metrics.series(MetricMeaning::InboundErrors).count(), MOST_SERIES);
        assert!(metrics.truncated.contains(&MetricMeaning::InboundErrors));
    }

    #[test]
    fn impossible_times_are_not_read() {
        for time in ["-1e300", "1e300", "-1", "NaN", "253402300800"] {
            let mut reader = MetricsReader::new("", "web-1", "");
            for name in ["expiration", "refresh"] {
                reader.line(&format!("control_identity_cert_{name}_timestamp_seconds {time}"));
            }
            let metrics = reader.finish();
            assert_eq!(metrics.expires_at, None, "{time}");
            assert_eq!(metrics.value(MetricMeaning::CertificateRefreshedAt), None, "{time}");
            assert!(!metrics.exported.contains(&MetricMeaning::CertificateExpiresAt), "{time}");
        }
    }

    #[test]
    fn denials_with_equal_labels_are_added_and_bounded() {
        let line = |client: usize, address: &str, count: u64| {
            format!(
                "inbound_http_authz_deny_total{{target_addr=\"{address}\",target_port=\"80\",client_id=\"c{client}\"}} {count}"
            )
        };
        let mut reader = MetricsReader::new("", "web-1", "");
        reader.line(&line(0, "10.0.0.1:80", 2));
        reader.line(&line(0, "10.0.0.2:80", 3));
        reader.line(&line(1, "10.0.0.2:80", 0));
        let metrics = reader.finish();
        assert_eq!(metrics.denied.iter().map(|one| one.count).collect::<Vec<_>>(), [5]);
        let mut reader = MetricsReader::new("", "web-1", "");
        (0..=MOST_SERIES).for_each(|client| reader.line(&line(client, "10.0.0.1:80", 1)));
        let metrics = reader.finish();
        assert_eq!(metrics.denied.len(), MOST_SERIES);
        assert!(metrics.truncated.contains(&MetricMeaning::DeniedRequests));
    }
}
