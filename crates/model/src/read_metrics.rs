//! Metrics that were read or given, by the pod that they belong to.

use std::collections::HashMap;

use crate::item::proxy_metrics::ProxyMetrics;
use crate::objects::Pod;

/// Metrics of one container of each pod.
pub struct ReadMetrics<'a> {
    by_name: HashMap<&'a str, Vec<&'a ProxyMetrics>>,
    pods_of_name: HashMap<&'a str, usize>,
}

/// Why there are no metrics of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMetrics<'a> {
    /// None were read or given.
    NotRead,
    /// The read failed.
    Failed(&'a str),
    /// They are of a process that ended.
    EarlierRun,
}

impl<'a> ReadMetrics<'a> {
    /// The metrics by pod. The linkerd command prints no namespace: such metrics belong to the only pod of their name
    /// among `pods`.
    pub fn new(
        all: impl IntoIterator<Item = &'a ProxyMetrics>,
        pods: impl IntoIterator<Item = &'a Pod>,
    ) -> ReadMetrics<'a> {
        let mut by_name: HashMap<&str, Vec<&ProxyMetrics>> = HashMap::new();
        all.into_iter().for_each(|one| by_name.entry(one.pod.as_str()).or_default().push(one));
        let mut pods_of_name: HashMap<&str, usize> = HashMap::new();
        pods.into_iter().for_each(|pod| *pods_of_name.entry(pod.metadata.name.as_str()).or_default() += 1);
        ReadMetrics { by_name, pods_of_name }
    }

    /// The metrics of a container of a pod, of the process that runs now.
    ///
    /// # Errors
    /// There are none; contains the reason.
    pub fn container(&self, pod: &Pod, container: &str) -> Result<&'a ProxyMetrics, NoMetrics<'a>> {
        let (namespace, name) = pod.metadata.key();
        let is_only = self.pods_of_name.get(name).is_none_or(|pods| *pods == 1);
        let is_its = |metrics: &&&ProxyMetrics| {
            let is_named = metrics.namespace == namespace || metrics.namespace.is_empty() && is_only;
            is_named && (metrics.container.is_empty() || metrics.container == container)
        };
        let mut reason = NoMetrics::NotRead;
        for metrics in self.by_name.get(name).into_iter().flatten().filter(is_its) {
            match () {
                () if !metrics.error.is_empty() => reason = NoMetrics::Failed(&metrics.error),
                () if is_of_earlier_run(metrics, pod, container) => reason = NoMetrics::EarlierRun,
                () => return Ok(metrics),
            }
        }
        Err(reason)
    }
}

/// Whether the container started after its metrics were read.
fn is_of_earlier_run(metrics: &ProxyMetrics, pod: &Pod, container: &str) -> bool {
    let status = pod.container_status(container);
    let started = status.and_then(|status| status.state.running()?.started_at.get());
    started.zip(metrics.read_at).is_some_and(|(started, read)| read < started.as_second())
}
