//! Parses the output of `linkerd diagnostics proxy-metrics`: Prometheus text of one pod after another, of which a few
//! series are kept.

use super::Unread;
use crate::item::diagnostic::{Answer, Denied, ProxyMetrics};
use crate::knowledge::{Knowledge, MetricMeaning};
use crate::names::is_subdomain;

/// Beginning of the output of `proxy-metrics` and `controller-metrics`.
const METRICS: &str = "#\n# POD ";
/// Maximum number of different denials to keep per proxy.
const MOST_DENIED: usize = 100;

/// Whether a text begins like output of `proxy-metrics` and `controller-metrics`.
pub fn begins_metrics(head: &[u8]) -> bool {
    let head: Vec<u8> = head.iter().copied().filter(|byte| *byte != b'\r').take(METRICS.len()).collect();
    head == METRICS.as_bytes()
}

/// Parses the metrics of all pods.
pub(super) fn read(text: &str) -> Result<Vec<Answer>, Unread> {
    let mut proxies: Vec<Reading> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# POD ") {
            let pod = rest.split(' ').next().unwrap_or_default();
            if !is_subdomain(pod) {
                return Err(Unread::Other);
            }
            let proxy = ProxyMetrics { pod: pod.to_owned(), ..ProxyMetrics::default() };
            proxies.push(Reading { proxy, uptime: None });
            continue;
        }
        let Some(reading) = proxies.last_mut() else { continue };
        if line.starts_with("# CONTAINER ") {
            return Err(Unread::Of(
                "linkerd diagnostics controller-metrics is not used: its counters lack the period in which \
                 they grew",
            ));
        }
        if let Some(error) = line.strip_prefix("# ERROR") {
            error.trim_start_matches([':', ' ']).clone_into(&mut reading.proxy.error);
        } else if !line.starts_with('#') {
            reading.sample(line);
        }
    }
    Ok(proxies.into_iter().map(|reading| Answer::ProxyMetrics(reading.done())).collect())
}

/// A proxy whose metrics are being parsed.
struct Reading {
    proxy: ProxyMetrics,
    uptime: Option<i64>,
}

impl Reading {
    /// Parses one line of metrics; ignores other series.
    fn sample(&mut self, line: &str) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let value = || line.rsplit_once(['}', ' ']).and_then(|(_, value)| value.trim().parse::<f64>().ok());
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let seconds = || value().filter(|value| value.is_finite()).map(|value| value as i64);
        let Some(meaning) = Knowledge::embedded().proxy_metrics().meaning(name) else { return };
        let proxy = &mut self.proxy;
        match meaning {
            MetricMeaning::ReadAt => proxy.read_at = seconds(),
            MetricMeaning::StartedAt => proxy.started_at = seconds(),
            MetricMeaning::Uptime => self.uptime = seconds(),
            MetricMeaning::CertificateExpiresAt => proxy.expires_at = seconds(),
            MetricMeaning::DeniedRequests => self.denied(line, "requests", value()),
            MetricMeaning::DeniedConnections => self.denied(line, "connections", value()),
        }
    }

    /// A sample of a denial counter.
    fn denied(&mut self, line: &str, what: &str, value: Option<f64>) {
        let label = |name: &str| label(line, name).unwrap_or_default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let count = value.map_or(0, |value| value as u64);
        if count > 0 && self.proxy.denied.len() < MOST_DENIED {
            self.proxy.denied.push(Denied {
                port: label("target_port").parse().unwrap_or_default(),
                what: what.to_owned(),
                kind: label("srv_kind").to_owned(),
                name: label("srv_name").to_owned(),
                client: label("client_id").to_owned(),
                count,
            });
        }
    }

    fn done(self) -> ProxyMetrics {
        let Reading { mut proxy, uptime } = self;
        let told = proxy.started_at.zip(uptime).map(|(started, uptime)| started.saturating_add(uptime));
        proxy.read_at = proxy.read_at.or(told);
        proxy.denied.sort();
        proxy
    }
}

/// Value of a label of a sample.
fn label<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let labels = line.split_once('{')?.1;
    let mut rest = labels;
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"')?;
        if key.trim_start_matches(',') == name {
            return Some(value);
        }
        rest = after;
    }
    None
}
