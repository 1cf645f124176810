//! Selects logs to read: containers of the control plane, controllers of Links, tap, and proxies of pods with
//! findings. Sends no requests; their number is limited.

use std::collections::BTreeSet;

use crate::affected_pods;
use crate::item::{EXTENSION_LABEL, Extension, Item};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::model::installed::COMPONENT;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;
use crate::source::logs::ContainerLog;

/// Maximum number of control-plane pods: three components with some replicas.
const OF_CONTROL_PLANE: usize = 30;
/// Maximum number of pods of the extensions multicluster and viz.
const OF_EXTENSIONS: usize = 20;
/// Maximum number of pods with findings.
const OF_FINDINGS: usize = 20;

/// Logs to read; that of the run before the last restart precedes the current one.
pub fn wanted(cluster: &Cluster, items: &BTreeSet<Item>) -> Vec<ContainerLog> {
    let pods = cluster.list::<Pod>();
    let home = cluster.namespaces.control_plane.as_str();
    let own =
        |pod: &&Pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished();
    let logs = Knowledge::embedded().mesh_logs();
    let mut tails = Vec::new();
    for pod in pods.iter().filter(own).take(OF_CONTROL_PLANE) {
        let containers = pod.spec.init_containers.iter().chain(pod.spec.containers.iter());
        let names = containers.map(|container| &*container.name).filter(|name| logs.reads(name));
        tails.extend(names.flat_map(|name| of_container(pod, name)));
    }
    let extensions = [Extension::Multicluster.name(), Extension::Viz.name()];
    let of_extensions = |pod: &&Pod| {
        pod.metadata.label(EXTENSION_LABEL).is_some_and(|name| extensions.contains(&name)) && !pod.is_finished()
    };
    for pod in pods.iter().filter(of_extensions).take(OF_EXTENSIONS) {
        let names = pod.spec.containers.iter().map(|container| &*container.name);
        let own = names.filter(|name| *name != PROXY_CONTAINER && logs.reads(name));
        tails.extend(own.flat_map(|name| of_container(pod, name)));
    }
    let found = affected_pods::all(cluster, items);
    let found = pods.iter().filter(|pod| {
        let meta = &pod.metadata;
        meta.namespace != home
            && pod.spec.proxy().is_some()
            && !pod.is_finished()
            && found.contains(&(meta.namespace.to_string(), meta.name.clone()))
    });
    tails.extend(found.take(OF_FINDINGS).flat_map(|pod| of_container(pod, PROXY_CONTAINER)));
    tails
}

/// The log of a container and of its previous run. A container that never ran has none.
fn of_container(pod: &Pod, container: &str) -> Vec<ContainerLog> {
    let Some(status) = pod.container_status(container) else { return Vec::new() };
    let tail = |previous| ContainerLog {
        namespace: pod.metadata.namespace.to_string(),
        pod: pod.metadata.name.clone(),
        container: container.to_owned(),
        previous,
    };
    let has_run = status.state.running().is_some() || status.state.terminated().is_some();
    let before = (status.restart_count > 0).then(|| tail(true));
    before.into_iter().chain((has_run || status.restart_count > 0).then(|| tail(false))).collect()
}
