//! Parses the output of `linkerd diagnostics proxy-metrics` and `controller-metrics`: Prometheus text of one
//! container after another, of which a few series are kept.

use std::collections::{BTreeMap, BTreeSet};

use super::{PortOf, UnusedText, scrape};
use crate::item::diagnostic::Answer;
use crate::item::proxy_metrics::{Denied, ProxyMetrics, Series};
use crate::knowledge::{Knowledge, MetricFamily, MetricKind, MetricMeaning};
use crate::names::{is_label, is_subdomain};
use crate::objects::container::PROXY_CONTAINER;

/// Beginning of the output of `proxy-metrics` and `controller-metrics`.
const METRICS: &str = "#\n# POD ";
/// The last line of the metrics of a process.
const END: &str = "# EOF";
/// Families that every proxy exports, and only proxies do.
const OF_PROXIES: [&str; 2] = ["proxy_build_info", "stack_create_total"];
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
    let name = name_of(line);
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
    let is_proxy = text.lines().any(|line| OF_PROXIES.contains(&name_of(line)));
    let Some(PortOf { namespace, pod, .. }) = of else {
        let scraped = scrape::read(text);
        return match (scraped.is_empty(), is_proxy) {
            (false, _) => Ok(scraped.into_iter().map(Answer::ProxyMetrics).collect()),
            (true, true) => {
                Err(UnusedText::Of("these metrics do not name their pod: use --diagnostics NAMESPACE/POD:PORT=FILE"))
            }
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
    let new = || MetricsReader::new(namespace, pod, container);
    let mut reads = Reads::new(&new);
    text.lines().for_each(|line| reads.line(line));
    Ok(reads.finish().into_iter().map(Answer::ProxyMetrics).collect())
}

/// The reads of one process in a text: a file can contain several, one after another.
struct Reads<'a> {
    new: &'a dyn Fn() -> MetricsReader,
    all: Vec<MetricsReader>,
    /// Whether the last one ended.
    has_ended: bool,
}

impl<'a> Reads<'a> {
    fn new(new: &'a dyn Fn() -> MetricsReader) -> Reads<'a> {
        Reads { new, all: Vec::new(), has_ended: true }
    }

    fn line(&mut self, line: &str) {
        let is_first_again = || {
            let reader = self.all.last();
            declared(line).is_some_and(|family| reader.is_some_and(|reader| reader.began_with(family)))
        };
        if !line.trim_ascii().is_empty() && (self.has_ended || is_first_again()) {
            self.all.push((self.new)());
            self.has_ended = false;
        }
        if let Some(reader) = self.all.last_mut() {
            reader.line(line);
        }
        self.has_ended |= line.trim_ascii_end() == END;
    }

    fn finish(self) -> Vec<ProxyMetrics> {
        let has_values = |reader: &MetricsReader| reader.lines > 0;
        self.all.into_iter().filter(has_values).map(MetricsReader::finish_text).collect()
    }
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
pub(super) fn read(text: &str, of: Option<&PortOf>) -> Result<Vec<Answer>, UnusedText> {
    let mut all: Vec<MetricsReader> = Vec::new();
    let mut is_named = of.is_none();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# POD ") {
            let pod = rest.split(' ').next().unwrap_or_default();
            if !is_subdomain(pod) {
                return Err(UnusedText::Other);
            }
            let is_of = of.is_some_and(|of| of.pod == pod);
            is_named |= is_of;
            let namespace = of.filter(|_| is_of).map_or("", |of| of.namespace.as_str());
            all.push(MetricsReader::new(namespace, pod, ""));
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
    let mut all: Vec<ProxyMetrics> = all.into_iter().map(MetricsReader::finish_text).collect();
    share_clocks(&mut all);
    if !is_named {
        return Err(UnusedText::Of("the file has no metrics of the pod that its name states"));
    }
    Ok(all.into_iter().map(Answer::ProxyMetrics).collect())
}

/// The name of a container in metrics: empty for the proxy.
pub fn own_container(name: &str) -> String {
    if name == PROXY_CONTAINER { String::new() } else { name.to_owned() }
}

/// Controllers in Go do not export their clock: the one of another container of the pod in the same output is used.
pub fn share_clocks(all: &mut [ProxyMetrics]) {
    let clocks: BTreeMap<String, i64> = all.iter().filter_map(|one| Some((one.pod.clone(), one.read_at?))).collect();
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
    /// The family that the text declares last, and the one that it declares first.
    declared: String,
    first_declared: String,
    /// The parts of a text that show whether it is whole.
    seen: Seen,
}

/// The parts of a text that show whether it has all metrics of a process.
#[derive(Debug, Default)]
struct Seen {
    /// Whether a sample does not follow the declaration of its family.
    has_undeclared: bool,
    /// Meanings of samples before the first declaration.
    undeclared: BTreeSet<MetricMeaning>,
    /// Whether it has a family that every proxy exports at the beginning.
    has_build: bool,
    /// Whether it has the start of the process, at the end.
    has_start: bool,
}

/// The name of the family that a line declares: `# TYPE NAME counter`.
fn declared(line: &str) -> Option<&str> {
    line.strip_prefix("# TYPE ")?.split(' ').next()
}

/// The name of the metric in a line with a value.
pub(super) fn name_of(line: &str) -> &str {
    line.split(['{', ' ']).next().unwrap_or_default()
}

/// Whether samples of this name belong to a family: counters and histograms add a suffix.
fn is_of(name: &str, family: &str) -> bool {
    let suffix = name.strip_prefix(family);
    suffix.is_some_and(|rest| ["", "_total", "_bucket", "_sum", "_count", "_info", "_created"].contains(&rest))
}

impl MetricsReader {
    /// Metrics of a container; the name of the proxy, or none, is the proxy.
    pub fn new(namespace: &str, pod: &str, container: &str) -> MetricsReader {
        let metrics = ProxyMetrics { namespace: namespace.to_owned(), pod: pod.to_owned(), ..ProxyMetrics::default() };
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
        if let Some(family) = declared(line) {
            family.clone_into(&mut self.declared);
            if self.first_declared.is_empty() {
                family.clone_into(&mut self.first_declared);
            }
        }
        if line.starts_with('#') || line.trim_ascii().is_empty() {
            return;
        }
        self.lines = self.lines.saturating_add(1);
        let name = name_of(line);
        let is_before_all = self.declared.is_empty();
        self.seen.has_undeclared |= is_before_all || !is_of(name, &self.declared);
        self.seen.has_build |= OF_PROXIES.contains(&name);
        self.seen.has_start |= name == "process_start_time_seconds";
        let Some((family, _)) = Knowledge::embedded().proxy_metrics().family(name) else { return };
        if is_before_all {
            self.seen.undeclared.insert(family.meaning);
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

    /// Whether the text began with the declaration of a family.
    fn began_with(&self, family: &str) -> bool {
        self.first_declared == family
    }

    /// Whether the text has only a part of the metrics.
    fn is_part(&self) -> bool {
        let Seen { has_undeclared, has_build, has_start, .. } = self.seen;
        let is_proxy = self.metrics.container.is_empty();
        self.lines > 0 && (has_undeclared || !has_start || is_proxy && !has_build)
    }

    /// The metrics of a text that can be a part of what the process serves.
    fn finish_text(self) -> ProxyMetrics {
        let is_part = self.is_part();
        // The beginning of the family before the first declaration is missing.
        let cut = if self.first_declared.is_empty() { BTreeSet::new() } else { self.seen.undeclared.clone() };
        let mut metrics = self.finish();
        metrics.is_part = is_part;
        metrics.truncated.extend(cut);
        metrics
    }

    /// The metrics read.
    pub fn finish(self) -> ProxyMetrics {
        let MetricsReader { mut metrics, uptime, series, denied, lines, .. } = self;
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

    const WHOLE: &str = "# HELP inbound_http_authz_deny_total x\n# TYPE inbound_http_authz_deny_total counter\n\
        inbound_http_authz_deny_total{target_port=\"80\"} 1\n\
        # TYPE proxy_build_info gauge\nproxy_build_info{version=\"2.3\"} 1\n\
        # TYPE outbound_tcp_detect_http_results counter\noutbound_tcp_detect_http_results_total{result=\"x\"} 1\n\
        # TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1768471200\n\
        # TYPE process_clock_time_seconds gauge\nprocess_clock_time_seconds 1768471260\n# EOF\n";

    fn of_web(text: &str) -> Vec<ProxyMetrics> {
        let answers = read_of(text, PortOf::parse("shop/web-1:4191").as_ref()).expect("metrics");
        answers.iter().filter_map(Answer::of_proxy).cloned().collect()
    }

    #[test]
    fn part_of_a_text_is_not_the_whole() {
        let is_part = |text: &str| of_web(text)[0].is_part;
        assert!(!is_part(WHOLE));
        let lines: Vec<&str> = WHOLE.lines().collect();
        let without_comments: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with('#')).collect();
        for part in [&lines[2..], &lines[5..], &lines[..5], &lines[..7], &without_comments] {
            assert!(is_part(&part.join("\n")), "{part:?}");
        }
        let tail = &of_web(&lines[2..].join("\n"))[0];
        assert!(tail.truncated.contains(&MetricMeaning::DeniedRequests));
        assert!(tail.may_lack(MetricMeaning::DeniedConnections));
        assert!(!of_web(WHOLE)[0].may_lack(MetricMeaning::DeniedConnections));
    }

    #[test]
    fn reads_in_one_file_are_separate() {
        let second = WHOLE.replace("} 1\n", "} 3\n").replace("1768471260", "1768471290");
        for separator in ["", "\n"] {
            let reads = of_web(&format!("{WHOLE}{separator}{second}"));
            let [first, later] = reads.as_slice() else { panic!("{reads:?}") };
            assert_eq!((first.denied[0].count, later.denied[0].count), (1, 3));
            assert_eq!(first.clone().followed_by(later.clone()).period, Some(30));
        }
        let without_end = WHOLE.replace("# EOF\n", "");
        assert_eq!(of_web(&format!("{without_end}{without_end}")).len(), 2);
    }

    #[test]
    fn name_of_the_file_states_the_namespace() {
        let text = format!("#\n# POD web-1 (1 of 1)\n#\n{WHOLE}");
        let of = PortOf::parse("shop/web-1:4191");
        let answers = read(&text, of.as_ref()).expect("metrics");
        let metrics: Vec<&ProxyMetrics> = answers.iter().filter_map(Answer::of_proxy).collect();
        assert_eq!((metrics[0].namespace.as_str(), metrics[0].is_part), ("shop", false));
        let other = PortOf::parse("shop/web-2:4191");
        assert!(matches!(read(&text, other.as_ref()), Err(UnusedText::Of(_))));
    }

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
        assert_eq!((one.label("error"), one.label("target_port"), one.label("protocol")), ("i/o", "80", "tcp"));
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
