//! Metrics of proxies and control-plane containers: each is read twice through a port-forward, line by line,
//! in bounded time. Only known series are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flate2::write::MultiGzDecoder;
use futures::StreamExt;
use http::header;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::Live;
use super::forward::{self, BodyReader, broken_body, declared_length};
use crate::fetched::Why;
use crate::item::diagnostic::{FailedRead, MetricsSample};
use crate::item::proxy_metrics::{MetricsTarget, ProxyMetrics, ProxySample};
use crate::source::diagnostics::{Diagnostics, MetricsReader, own_container, share_clocks};

/// Number of processes that are read in parallel.
const AT_ONCE: usize = 8;
/// Time limit for one read of this number of processes, and of fewer; more have proportionally more time.
const BUDGET: Duration = Duration::from_secs(20);
const IN_BUDGET: usize = 320;
/// Maximum number of pods that are named as left out.
const MOST_LEFT_OUT: usize = 1000;
/// Maximum size of a response as received, in bytes.
const MOST_RECEIVED: usize = 64 << 20;
/// Maximum size of a response after decompression, in bytes: a proxy was seen with 134,000 lines.
const MOST: usize = 256 << 20;
/// Maximum length of a line; longer ones are skipped.
const LINE: usize = 64 * 1024;

/// Results of one read of all processes, by target.
type Results<'a> = BTreeMap<&'a MetricsTarget, Result<ProxyMetrics, Why>>;

impl Live {
    /// Reads the metrics of these processes twice, and adds them to given ones. Failures are recorded with
    /// them; if every process failed, the reason is that of the whole.
    pub async fn metrics(&self, sample: &ProxySample, interval: Duration, mut diagnostics: Diagnostics) -> Diagnostics {
        let began = Instant::now();
        let first = self.read_all(&sample.targets).await;
        let read: Vec<&MetricsTarget> =
            first.iter().filter(|(_, result)| result.is_ok()).map(|(target, _)| *target).collect();
        let first_error = first.values().find_map(|result| result.as_ref().err()).cloned();
        if let (true, Some(why)) = (read.is_empty(), first_error) {
            diagnostics.fail(why);
            return diagnostics;
        }
        let again: Vec<MetricsTarget> = read.into_iter().cloned().collect();
        tokio::time::sleep_until(self.at_latest(began + interval)).await;
        let second = self.read_all(&again).await;
        // Those that the time limit left out have no result.
        let late = sample.targets.iter().filter(|target| !first.contains_key(target));
        let left_out: BTreeSet<String> = sample.left.iter().cloned().chain(late.map(MetricsTarget::pod_name)).collect();
        let mut summary = MetricsSample {
            read: again.len(),
            left: left_out.len(),
            left_out: left_out.into_iter().take(MOST_LEFT_OUT).collect(),
            ..MetricsSample::default()
        };
        for results in [first, second] {
            let mut metrics = Vec::new();
            for (target, result) in results {
                match result {
                    Ok(one) => metrics.push(one),
                    Err(why) => summary.failed.push(FailedRead {
                        pod: target.pod_name(),
                        container: own_container(&target.container),
                        error: why.to_string(),
                    }),
                }
            }
            share_clocks(&mut metrics);
            metrics.into_iter().for_each(|one| diagnostics.add_metrics(one));
        }
        summary.failed.sort();
        summary.failed.dedup();
        diagnostics.add_sample(summary);
        diagnostics
    }

    /// One read of each process, as far as the time limit allows. A process that does not answer delays no other one.
    async fn read_all<'a>(&self, targets: &'a [MetricsTarget]) -> Results<'a> {
        let mut results = Results::new();
        // A 403 on one pod applies to the whole namespace.
        let namespaces: Mutex<BTreeSet<&str>> = Mutex::default();
        let denied = &|| namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let batches = targets.len().div_ceil(IN_BUDGET).max(1);
        let budget = BUDGET.saturating_mul(u32::try_from(batches).unwrap_or(u32::MAX));
        let until = self.at_latest(Instant::now() + budget);
        let reads = targets.iter().map(|target| async move {
            if denied().contains(target.namespace.as_str()) {
                return None;
            }
            let result = self.read_metrics(target).await;
            if matches!(result, Err(Why::Denied { .. })) {
                denied().insert(&target.namespace);
            }
            Some((target, result))
        });
        let mut reading = pin!(futures::stream::iter(reads).buffer_unordered(AT_ONCE));
        while let Ok(Some(read)) = tokio::time::timeout_at(until, reading.next()).await {
            results.extend(read);
        }
        results
    }

    /// This time, or that of the deadline if it is earlier.
    pub(super) fn at_latest(&self, at: Instant) -> Instant {
        self.deadline.map_or(at, |deadline| at.min(deadline.into()))
    }

    async fn read_metrics(&self, target: &MetricsTarget) -> Result<ProxyMetrics, Why> {
        let MetricsTarget { namespace, pod, container, port } = target;
        let reader = MetricLines::new(MetricsReader::new(namespace, pod, container));
        forward::read(&self.api, (namespace, pod), *port, "/metrics", reader).await
    }
}

/// Passes each line to a reader of metrics.
struct MetricLines {
    reader: MetricsReader,
    line: Vec<u8>,
    received: usize,
}

impl MetricLines {
    fn new(reader: MetricsReader) -> MetricLines {
        MetricLines { reader, line: Vec::new(), received: 0 }
    }

    fn end_of_line(&mut self) {
        if self.line.len() <= LINE {
            self.reader.line(String::from_utf8_lossy(&self.line).trim_end());
        }
        self.line.clear();
    }

    fn finish(mut self) -> ProxyMetrics {
        self.end_of_line();
        self.reader.finish()
    }
}

impl Write for MetricLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.received += bytes.len();
        if self.received > MOST {
            return Err(io::Error::other(TOO_LARGE));
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = (LINE + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.end_of_line();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BodyReader for MetricLines {
    type Content = ProxyMetrics;
    const ENCODINGS: &'static str = "gzip";

    async fn read(self, answer: http::Response<Incoming>) -> Result<ProxyMetrics, &'static str> {
        if answer.status() != http::StatusCode::OK {
            return Err("the response to /metrics is an error");
        }
        declared_length(&answer)?;
        let encoding = answer.headers().get(header::CONTENT_ENCODING).map(|value| value.as_bytes().to_vec());
        match encoding.as_deref() {
            None | Some(b"identity") => {
                let mut lines = self;
                copy(answer.into_body(), &mut lines).await?;
                Ok(lines.finish())
            }
            Some(b"gzip") => {
                let mut decoder = MultiGzDecoder::new(self);
                copy(answer.into_body(), &mut decoder).await?;
                Ok(decoder.finish().map_err(|_| BAD_GZIP)?.finish())
            }
            Some(_) => Err("the response has an unknown encoding"),
        }
    }
}

/// Copies a body as it arrives.
async fn copy(mut body: Incoming, to: &mut impl Write) -> Result<(), &'static str> {
    let mut received = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken_body(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        received += data.len();
        if received > MOST_RECEIVED {
            return Err(TOO_LARGE);
        }
        to.write_all(data).map_err(|_| BAD_GZIP)?;
    }
    Ok(())
}

const TOO_LARGE: &str = "the metrics are larger than 64 MB";
const BAD_GZIP: &str = "the metrics are not valid gzip, or too large";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> MetricLines {
        MetricLines::new(MetricsReader::new("shop", "web-1", "linkerd-proxy"))
    }

    #[test]
    fn lines_are_read_across_chunks() {
        let mut all = lines();
        for chunk in ["process_clock_time_sec", "onds 30.0\nprocess_start_time_seconds 10", "\nprocess_open_fds 7"] {
            all.write_all(chunk.as_bytes()).unwrap();
        }
        let metrics = all.finish();
        assert_eq!((metrics.read_at, metrics.started_at), (Some(30), Some(10)));
        assert_eq!(metrics.value(crate::knowledge::MetricMeaning::OpenFiles), Some(7.0));
    }

    #[test]
    fn gzip_and_endless_lines_are_bounded() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&vec![b'x'; 3 * LINE]).unwrap();
        packed.write_all(b"\nprocess_open_fds 7\n").unwrap();
        let mut decoder = MultiGzDecoder::new(lines());
        decoder.write_all(&packed.finish().unwrap()).unwrap();
        let all = decoder.finish().unwrap();
        assert!(all.line.capacity() <= 4 * LINE);
        assert_eq!(all.finish().value(crate::knowledge::MetricMeaning::OpenFiles), Some(7.0));
        let mut decoder = MultiGzDecoder::new(lines());
        assert!(decoder.write_all(b"not gzip at all").and_then(|()| decoder.finish().map(|_| ())).is_err());
    }
}
