//! The processes of the cluster that a Prometheus server has metrics of, found by the labels of its scrape
//! configuration and by the address of the pod.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};

use super::WantedPods;
use super::response::QuerySeries;
use crate::knowledge::{Knowledge, ScrapeLabels};
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;
use crate::source::diagnostics::EXPORTED;

/// Age in seconds from which a proxy should have been scraped.
const SETTLED: i64 = 300;

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    /// The pod's namespace.
    pub(super) namespace: String,
    pub(super) pod: String,
    pub(super) container: String,
}

/// The processes with metrics. If several jobs or servers scrape one, the series of one of them are used.
#[derive(Debug, Default)]
pub(super) struct Scraped {
    of_labels: HashMap<Vec<String>, Process>,
    /// Labels that distinguish copies of series, in addition to those of the scrape.
    added: Vec<String>,
    /// Processes with several series of the same labels, and these labels.
    pub(super) copied: BTreeMap<Process, BTreeMap<String, String>>,
    /// Processes with series of several clusters.
    pub(super) ambiguous: BTreeSet<Process>,
    /// Pods with a proxy and without metrics, as `NAMESPACE/NAME`.
    pub(super) unscraped: Vec<String>,
    /// The jobs whose series are used.
    pub(super) jobs: BTreeSet<String>,
}

impl Scraped {
    /// The processes of series, at a time. `each` passes every series on, with the number of its copies as its value.
    /// `added` labels distinguish copies.
    pub(super) fn new(
        each: impl FnOnce(&mut dyn FnMut(QuerySeries)),
        wanted: &WantedPods<'_>,
        now: f64,
        added: &[String],
    ) -> Scraped {
        let labels = Knowledge::embedded().proxy_metrics().scraped();
        let pods = Pods::new(wanted);
        let mut found: BTreeMap<Process, ProcessSeries> = BTreeMap::new();
        each(&mut |series| {
            if let Some(process) = pods.process(&series, labels) {
                let one = ProcessSeries::new(&series, labels, added);
                found.entry(process).and_modify(|earlier| earlier.add(&one)).or_insert(one);
            }
        });
        let mut scraped = Scraped { added: added.to_vec(), ..Scraped::default() };
        for (process, found) in found {
            if found.is_ambiguous {
                scraped.ambiguous.insert(process);
                continue;
            }
            if let Some(labels) = found.copied {
                scraped.copied.insert(process, labels);
                continue;
            }
            scraped.jobs.insert(found.job);
            scraped.of_labels.insert(found.key, process);
        }
        let has: BTreeSet<(&str, &str)> = scraped
            .of_labels
            .values()
            .chain(&scraped.ambiguous)
            .chain(scraped.copied.keys())
            .filter(|process| process.container == PROXY_CONTAINER)
            .map(|process| (process.namespace.as_str(), process.pod.as_str()))
            .collect();
        let missing = pods.proxies(now).filter(|pod| !has.contains(&pod.metadata.key()));
        scraped.unscraped = missing.map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name)).collect();
        scraped
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.of_labels.is_empty() && self.ambiguous.is_empty() && self.copied.is_empty()
    }

    /// Number of processes beyond a limit.
    pub(super) fn beyond(&self, limit: usize) -> usize {
        self.of_labels.len().saturating_sub(limit)
    }

    /// The process that a series with these labels is used for. Labels in `own`, and the cluster, may be
    /// those of the process itself, if the scrape adds none of the same name.
    pub(super) fn process(&self, labels: &BTreeMap<String, String>, own: &[String]) -> Option<&Process> {
        let of = Knowledge::embedded().proxy_metrics().scraped();
        // The server renames a label of the process if the scrape adds one of the same name.
        let may_be_own = |name: &String| own.contains(name) && !labels.contains_key(&format!("{EXPORTED}{name}"));
        let without = |is_dropped: &dyn Fn(&String) -> bool| {
            let mut labels = labels.clone();
            labels.retain(|name, _| !is_dropped(name));
            self.of_labels.get(&key(&labels, of, &self.added))
        };
        let in_cluster = |name: &String| of.cluster.contains(name);
        self.of_labels
            .get(&key(labels, of, &self.added))
            .or_else(|| without(&in_cluster))
            .or_else(|| without(&may_be_own))
            .or_else(|| without(&|name| may_be_own(name) || in_cluster(name)))
    }
}

/// The series of one process: the one with the first labels is used.
struct ProcessSeries {
    key: Vec<String>,
    job: String,
    cluster: String,
    /// Whether they belong to several clusters.
    is_ambiguous: bool,
    /// The labels of the scrape, if several series have them.
    copied: Option<BTreeMap<String, String>>,
}

impl ProcessSeries {
    fn new(series: &QuerySeries, labels: &ScrapeLabels, added: &[String]) -> ProcessSeries {
        let is_copied = series.samples.iter().any(|sample| sample.value > 1.0);
        ProcessSeries {
            key: key(&series.labels, labels, added),
            copied: is_copied.then(|| series.labels.clone()),
            job: series.label("job").to_owned(),
            cluster: first(series, &labels.cluster).to_owned(),
            is_ambiguous: false,
        }
    }

    fn add(&mut self, other: &ProcessSeries) {
        self.is_ambiguous |= self.cluster != other.cluster;
        if other.key < self.key {
            self.key.clone_from(&other.key);
            self.job.clone_from(&other.job);
            self.copied.clone_from(&other.copied);
        }
    }
}

/// The values of the labels of a scrape.
fn key(labels: &BTreeMap<String, String>, of: &ScrapeLabels, added: &[String]) -> Vec<String> {
    let all = of.all().chain(added.iter().map(String::as_str));
    all.map(|name| labels.get(name).cloned().unwrap_or_default()).collect()
}

/// The first of several labels that a series has; empty if it has none.
fn first<'a>(series: &'a QuerySeries, names: &[String]) -> &'a str {
    names.iter().map(|name| series.label(name)).find(|value| !value.is_empty()).unwrap_or_default()
}

/// The wanted pods, by name and by address.
struct Pods<'a> {
    wanted: &'a WantedPods<'a>,
    by_name: HashMap<(&'a str, &'a str), &'a Pod>,
    by_address: HashMap<IpAddr, &'a Pod>,
}

impl<'a> Pods<'a> {
    fn new(wanted: &'a WantedPods<'a>) -> Pods<'a> {
        let running = wanted.pods.iter().filter(|pod| pod.status.phase == "Running" && !pod.is_finished());
        let in_scope = running.filter(|pod| {
            let namespace = pod.metadata.namespace.as_str();
            let is_all = wanted.namespaces.is_empty();
            is_all || namespace == wanted.control_plane || wanted.namespaces.iter().any(|one| one == namespace)
        });
        let mut pods = Pods { wanted, by_name: HashMap::new(), by_address: HashMap::new() };
        for pod in in_scope {
            pods.by_name.insert(pod.metadata.key(), pod);
            if !pod.spec.host_network {
                pods.by_address.extend(pod.addresses().map(|address| (address, pod)));
            }
        }
        pods
    }

    /// Ready pods with a proxy that are old enough to have been scraped.
    fn proxies(&self, now: f64) -> impl Iterator<Item = &'a Pod> {
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let since = (now as i64).saturating_sub(SETTLED);
        let started = move |pod: &Pod| pod.status.start_time.get().is_none_or(|at| at.as_second() < since);
        let all: BTreeMap<_, &'a Pod> = self.by_name.iter().map(|(name, pod)| (*name, *pod)).collect();
        all.into_values().filter(move |pod| pod.spec.proxy().is_some() && pod.is_ready() && started(pod))
    }

    /// The wanted process of a series. Another address than that of the pod is an earlier pod of this name,
    /// or a pod of another cluster.
    fn process(&self, series: &QuerySeries, labels: &ScrapeLabels) -> Option<Process> {
        let (address, port) = address(first(series, &labels.address));
        let name = first(series, &labels.pod);
        let pod = if name.is_empty() {
            *self.by_address.get(&address?)?
        } else {
            *self.by_name.get(&(first(series, &labels.namespace), name))?
        };
        let has_family = |other: &IpAddr| pod.addresses().any(|own| own.is_ipv4() == other.is_ipv4());
        if address.is_some_and(|other| has_family(&other) && !pod.has_address(other)) {
            return None;
        }
        let container = container(pod, series, labels, port)?;
        let is_own = pod.metadata.namespace == self.wanted.control_plane;
        (is_own || container == PROXY_CONTAINER).then(|| Process {
            namespace: pod.metadata.namespace.to_string(),
            pod: pod.metadata.name.clone(),
            container,
        })
    }
}

/// The container of a series: by its label, by the port that was scraped, or by the component of a job of viz.
fn container(pod: &Pod, series: &QuerySeries, labels: &ScrapeLabels, port: Option<u16>) -> Option<String> {
    let has = |name: &str| pod.spec.container(name).is_some();
    let label = first(series, &labels.container);
    if !label.is_empty() {
        return has(label).then(|| label.to_owned());
    }
    let declares = |port: u16| {
        let mut all = pod.spec.all_containers();
        all.find(|container| container.ports.iter().any(|one| one.container_port == port))
    };
    if let Some(container) = port.and_then(declares) {
        return Some(container.name.to_string());
    }
    let component = first(series, &labels.component);
    if has(component) {
        return Some(component.to_owned());
    }
    (!first(series, &labels.pod).is_empty() && has(PROXY_CONTAINER)).then(|| PROXY_CONTAINER.to_owned())
}

/// Address and port of an instance.
fn address(instance: &str) -> (Option<IpAddr>, Option<u16>) {
    match instance.parse::<SocketAddr>() {
        Ok(address) => (Some(address.ip()), Some(address.port())),
        Err(_) => (instance.parse().ok(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::response::Sample;
    use super::*;

    fn pod(namespace: &str, name: &str, ip: &str, containers: &[(&str, u16)]) -> Pod {
        let containers: Vec<_> = containers
            .iter()
            .map(|(name, port)| serde_json::json!({"name": name, "ports": [{"name": "admin", "containerPort": port}]}))
            .collect();
        let pod = serde_json::json!({
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"containers": containers},
            "status": {"phase": "Running", "podIP": ip, "startTime": "2026-01-15T11:00:00Z",
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        serde_json::from_value(pod).expect("a pod")
    }

    fn series(labels: &[(&str, &str)]) -> QuerySeries {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        QuerySeries { labels: labels.collect(), samples: vec![Sample { time: 1.0, value: 1.0 }] }
    }

    fn found(all: &[QuerySeries]) -> Scraped {
        let pods = [
            pod("shop", "web-1", "10.0.0.1", &[("web", 8080), ("linkerd-proxy", 4191)]),
            pod("shop", "web-2", "10.0.0.2", &[("web", 8080), ("linkerd-proxy", 4191)]),
            pod("linkerd", "dst-1", "10.0.0.3", &[("destination", 9996), ("linkerd-proxy", 4191)]),
        ];
        let wanted = WantedPods { pods: &pods, control_plane: "linkerd", namespaces: &[] };
        let each = |take: &mut dyn FnMut(QuerySeries)| all.iter().cloned().for_each(take);
        Scraped::new(each, &wanted, 1_768_478_400.0, &[])
    }

    fn names(scraped: &Scraped) -> Vec<String> {
        let mut names: Vec<String> =
            scraped.of_labels.values().map(|one| format!("{}/{}", one.pod, one.container)).collect();
        names.sort();
        names
    }

    #[test]
    fn jobs_of_viz_and_of_monitors_name_processes() {
        let viz = [
            series(&[("job", "linkerd-proxy"), ("namespace", "shop"), ("pod", "web-1"), ("instance", "10.0.0.1:4191")]),
            series(&[("job", "linkerd-controller"), ("component", "destination"), ("instance", "10.0.0.3:9996")]),
            series(&[("job", "linkerd-controller"), ("component", "other"), ("instance", "10.9.9.9:9996")]),
        ];
        let scraped = found(&viz);
        assert_eq!(names(&scraped), ["dst-1/destination", "web-1/linkerd-proxy"]);
        assert_eq!(scraped.unscraped, ["linkerd/dst-1", "shop/web-2"]);
        let monitor = [series(&[
            ("job", "linkerd/proxies"),
            ("namespace", "shop"),
            ("pod", "web-2"),
            ("container", "linkerd-proxy"),
            ("instance", "10.0.0.2:4191"),
        ])];
        assert_eq!(names(&found(&monitor)), ["web-2/linkerd-proxy"]);
    }

    #[test]
    fn label_of_a_process_may_have_the_name_of_a_scrape_label() {
        let instance = [("job", "linkerd-controller"), ("component", "destination"), ("instance", "10.0.0.3:9996")];
        let scraped = found(&[series(&instance)]);
        let own = series(&[&instance[..], &[("namespace", "shop")]].concat());
        assert!(scraped.process(&own.labels, &[]).is_none());
        let process = scraped.process(&own.labels, &["namespace".to_owned()]);
        assert_eq!(process.map(|process| process.pod.as_str()), Some("dst-1"));
    }

    #[test]
    fn namespace_of_a_monitor_is_not_that_of_the_process() {
        let monitor = [
            ("job", "linkerd/controller"),
            ("namespace", "linkerd"),
            ("pod", "dst-1"),
            ("container", "destination"),
            ("instance", "10.0.0.3:9996"),
        ];
        let scraped = found(&[series(&monitor)]);
        let own = [("cluster", "local"), ("exported_namespace", "shop"), ("exported_service", "web")];
        let own = series(&[&monitor[..], &own[..]].concat());
        let process = scraped.process(&own.labels, &["namespace".to_owned(), "service".to_owned()]);
        assert_eq!(process.map(|process| process.pod.as_str()), Some("dst-1"));
    }

    #[test]
    fn other_pods_and_containers_are_ignored() {
        let of = |pod: &str, instance: &str, more: &[(&str, &str)]| {
            series(&[&[("namespace", "shop"), ("pod", pod), ("instance", instance)], more].concat())
        };
        for other in [
            of("web-1", "10.0.0.9:4191", &[]),
            of("web-9", "10.0.0.1:4191", &[]),
            of("web-1", "10.0.0.1:8080", &[]),
            of("web-1", "10.0.0.1:4191", &[("container", "web")]),
        ] {
            assert!(found(std::slice::from_ref(&other)).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn one_scrape_of_a_process_is_used() {
        let of = |more: &[(&str, &str)]| {
            series(&[&[("namespace", "shop"), ("pod", "web-1"), ("instance", "10.0.0.1:4191")], more].concat())
        };
        let (one, two) = (of(&[("job", "a")]), of(&[("job", "b")]));
        let scraped = found(&[two.clone(), one.clone()]);
        assert!(scraped.process(&one.labels, &[]).is_some() && scraped.process(&two.labels, &[]).is_none());
        let clusters = found(&[of(&[("cluster", "east")]), of(&[("cluster", "west")])]);
        assert_eq!((clusters.ambiguous.len(), names(&clusters).len()), (1, 0));
    }
}
