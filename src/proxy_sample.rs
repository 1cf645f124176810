//! Selects the processes whose metrics are read: containers of the control plane, one or two proxies per workload, and
//! those of pods with findings. Sends no requests; the number is limited.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::item::proxy_metrics::{CertificateTarget, MetricsTarget, ProxySample};
use crate::item::{EXTENSION_LABEL, Program};
use crate::model::Cluster;
use crate::model::installed::COMPONENT;
use crate::model::owners::Owner;
use crate::names::is_subdomain;
use crate::objects::container::{LOCAL_NAME, PROXY_CONTAINER, TRUST_ANCHORS};
use crate::objects::{Container, Pod};

/// Maximum number of control-plane pods: three components with some replicas.
const OF_CONTROL_PLANE: usize = 30;
/// Maximum number of other proxies, unless `--max-proxies` sets it.
pub const OF_WORKLOADS: usize = 200;
/// Maximum number of pods with findings, in addition to those that represent their workload.
const OF_FINDINGS: usize = 50;
/// Maximum number of proxies whose certificates are read, those of the control plane first.
const OF_CERTIFICATES: usize = 50;
/// Name, or end of the name, of a port that serves metrics.
const ADMIN: &str = "admin";
/// The proxy's metrics port if it declares none.
const PROXY_ADMIN: u16 = 4191;

/// The proxies to select from.
#[derive(Debug)]
pub struct Selection<'a> {
    /// Namespaces of the workloads; all if empty.
    pub namespaces: &'a [String],
    /// Pods with findings, by namespace and name.
    pub affected: &'a BTreeSet<(String, String)>,
    /// Maximum number of proxies of workloads.
    pub most: usize,
}

/// Selects all replicas of the control plane; of each workload the newest ready pod, and the one whose proxy restarted
/// most; and pods with findings whose proxy runs. Their workloads come first if the limit leaves out some.
pub fn select(cluster: &Cluster, selection: &Selection<'_>) -> ProxySample {
    let Selection { namespaces, affected, most } = *selection;
    let pods = cluster.list::<Pod>();
    let home = cluster.namespaces.control_plane.as_str();
    let running = || pods.iter().filter(|pod| pod.status.phase == "Running" && !pod.is_finished());
    let own = running().filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some());
    let mut targets: Vec<MetricsTarget> = own.take(OF_CONTROL_PLANE).flat_map(containers).collect();
    let owners = cluster.owners();
    let mut workloads: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    let is_selected = |pod: &&Pod| {
        let namespace = pod.metadata.namespace.as_str();
        let is_wanted = namespaces.is_empty() || namespaces.iter().any(|one| one == namespace);
        namespace != home && is_wanted && pod.spec.proxy().is_some()
    };
    for pod in running().filter(is_selected) {
        workloads.entry(owners.owner(pod)).or_default().push(pod);
    }
    let is_affected = |pod: &Pod| {
        let (namespace, name) = pod.metadata.key();
        affected.contains(&(namespace.to_owned(), name.to_owned()))
    };
    let mut workloads: Vec<Vec<&Pod>> = workloads.into_values().collect();
    workloads.sort_by_key(|pods| Reverse(pods.iter().any(|pod| is_affected(pod))));
    let mut chosen: Vec<&Pod> = Vec::new();
    let mut more = OF_FINDINGS;
    for pods in workloads {
        let own = of_workload(&pods);
        let is_other = |pod: &&Pod| own.iter().all(|one| one.metadata.name != pod.metadata.name);
        let others = pods.iter().copied().filter(is_other).filter(|pod| is_affected(pod) && has_running_proxy(pod));
        let others: Vec<&Pod> = others.take(more).collect();
        more -= others.len();
        chosen.extend(own.into_iter().chain(others));
    }
    let left = chosen.split_off(most.min(chosen.len()));
    targets.extend(chosen.into_iter().filter_map(proxy));
    let left = left.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
    let certificates = targets.iter().filter(|target| target.container == PROXY_CONTAINER);
    let pod = |target: &MetricsTarget| {
        pods.iter().find(|pod| pod.metadata.key() == (target.namespace.as_str(), target.pod.as_str()))
    };
    let certificates = certificates.filter_map(|target| certificate_target(target, pod(target)?));
    let certificates = certificates.take(OF_CERTIFICATES).collect();
    ProxySample { targets, left: left.collect(), certificates }
}

/// A proxy whose certificates can be read: it accepts TLS on its own ports only under its name.
fn certificate_target(target: &MetricsTarget, pod: &Pod) -> Option<CertificateTarget> {
    let proxy = pod.spec.proxy()?;
    let name = proxy.env_value(LOCAL_NAME)?;
    let name = name.replace("$(_pod_sa)", pod.spec.account()).replace("$(_pod_ns)", &pod.metadata.namespace);
    is_subdomain(&name).then(|| CertificateTarget {
        process: target.clone(),
        name,
        reads_config_map: proxy.variable(TRUST_ANCHORS).is_some_and(|variable| variable.value.is_none()),
    })
}

fn has_running_proxy(pod: &Pod) -> bool {
    pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.state.running().is_some())
}

/// Namespace, name and port of a running pod of viz's Prometheus.
pub fn prometheus_of_viz(cluster: &Cluster) -> Option<(String, String, u16)> {
    let pods = cluster.list::<Pod>();
    let program = Program::Prometheus;
    let is_it = |pod: &&Pod| {
        let meta = &pod.metadata;
        pod.status.phase == "Running"
            && meta.label(EXTENSION_LABEL).is_some_and(|name| name == program.extension().name())
            && meta.label("component").is_some_and(|name| program.components().contains(&name))
    };
    let pod = pods.iter().filter(is_it).min_by_key(|pod| pod.metadata.name.as_str())?;
    Some((pod.metadata.namespace.to_string(), pod.metadata.name.clone(), program.port()))
}

/// The newest ready pod, or the newest one; and the pod whose proxy restarted most, if that is another one.
fn of_workload<'a>(pods: &[&'a Pod]) -> Vec<&'a Pod> {
    let newest = pods
        .iter()
        .copied()
        .max_by_key(|pod| (pod.is_ready(), pod.metadata.creation_timestamp.get(), pod.metadata.name.as_str()));
    let restarts = |pod: &Pod| pod.container_status(PROXY_CONTAINER).map_or(0, |status| status.restart_count);
    let restarted = pods
        .iter()
        .copied()
        .max_by_key(|pod| (restarts(pod), pod.metadata.name.as_str()))
        .filter(|pod| restarts(pod) > 0);
    let other = restarted.filter(|pod| newest.is_none_or(|newest| newest.metadata.name != pod.metadata.name));
    newest.into_iter().chain(other).collect()
}

/// The containers of a control-plane pod that serve metrics.
fn containers(pod: &Pod) -> impl Iterator<Item = MetricsTarget> {
    pod.spec.all_containers().filter_map(|container| {
        let port = admin_port(container);
        let port = port.or_else(|| (container.name == PROXY_CONTAINER).then_some(PROXY_ADMIN))?;
        Some(target(pod, container, port))
    })
}

fn proxy(pod: &Pod) -> Option<MetricsTarget> {
    let container = pod.spec.proxy()?;
    Some(target(pod, container, admin_port(container).unwrap_or(PROXY_ADMIN)))
}

fn admin_port(container: &Container) -> Option<u16> {
    container.ports.iter().find(|port| port.name.ends_with(ADMIN)).map(|port| port.container_port)
}

fn target(pod: &Pod, container: &Container, port: u16) -> MetricsTarget {
    MetricsTarget {
        namespace: pod.metadata.namespace.to_string(),
        pod: pod.metadata.name.clone(),
        container: container.name.to_string(),
        port,
    }
}
