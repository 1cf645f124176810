//! Selects the Service ports whose endpoints are requested from each replica of destination: of Services with meshed
//! pods, those of pods with findings first. Sends no requests; the number is limited.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::item::destination::{DestinationSample, ServicePortTarget};
use crate::model::Cluster;
use crate::model::installed::COMPONENT;
use crate::model::published_endpoints::{is_of_this_cluster, published, tcp_ports};
use crate::objects::{EndpointSlice, Pod, Service};

/// Maximum number of replicas.
const REPLICAS: usize = 10;
/// Maximum number of Service ports.
const PORTS: usize = 200;
/// Maximum number of endpoints of all Service ports.
const ENDPOINTS: usize = 20_000;
/// The component and its container.
const DESTINATION: &str = "destination";

/// Selects the ready replicas of destination, and ports of Services in these namespaces (all if empty). `affected`
/// are pods with findings, by namespace and name.
pub fn select(cluster: &Cluster, namespaces: &[String], affected: &BTreeSet<(String, String)>) -> DestinationSample {
    let pods = cluster.list::<Pod>();
    let services = cluster.list::<Service>();
    let slices = cluster.list::<EndpointSlice>();
    let home = cluster.namespaces.control_plane.as_str();
    let replicas: Vec<&Pod> = pods
        .iter()
        .filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT) == Some(DESTINATION))
        .filter(|pod| pod.is_ready() && pod.metadata.deletion_timestamp.get().is_none())
        .take(REPLICAS)
        .collect();
    let domain = replicas.iter().find_map(|pod| {
        let container = pod.spec.container(DESTINATION)?;
        ["--cluster-domain", "-cluster-domain"].iter().find_map(|name| container.argument(name))
    });
    let meshed: BTreeSet<(&str, &str)> =
        pods.iter().filter(|pod| pod.spec.proxy().is_some()).map(|pod| pod.metadata.key()).collect();
    let mut of_service: HashMap<(&str, &str), Vec<&EndpointSlice>> = HashMap::new();
    for slice in slices {
        if let Some(service) = slice.service() {
            of_service.entry((slice.metadata.namespace.as_str(), service)).or_default().push(slice);
        }
    }
    let mut candidates: Vec<(bool, usize, &Service, &[&EndpointSlice])> = Vec::new();
    for service in services.iter().filter(|service| is_of_this_cluster(service)) {
        let namespace = service.metadata.namespace.as_str();
        let slices = of_service.get(&service.metadata.key()).map_or(&[][..], Vec::as_slice);
        let of_pods = || slices.iter().flat_map(|slice| &slice.endpoints).filter_map(|one| one.pod());
        let is_wanted = namespaces.is_empty() || namespaces.iter().any(|one| one == namespace);
        if is_wanted && of_pods().any(|pod| meshed.contains(&(namespace, pod))) {
            let is_affected = of_pods().any(|pod| affected.contains(&(namespace.to_owned(), pod.to_owned())));
            candidates.push((is_affected, of_pods().count(), service, slices));
        }
    }
    candidates.sort_by_key(|(is_affected, _, service, _)| (Reverse(*is_affected), service.metadata.key()));
    let mut sample = DestinationSample {
        namespace: home.to_owned(),
        replicas: replicas.iter().map(|pod| pod.metadata.name.clone()).collect(),
        node: replicas.first().map(|pod| pod.node_name.to_string()).unwrap_or_default(),
        domain: domain.unwrap_or("cluster.local").to_owned(),
        ..DestinationSample::default()
    };
    let mut room = ENDPOINTS;
    for (_, count, service, slices) in candidates {
        let versions: BTreeMap<_, _> = slices
            .iter()
            .map(|slice| {
                let meta = &slice.metadata;
                (meta.name.clone(), (meta.uid.clone(), meta.generation))
            })
            .collect();
        for port in tcp_ports(service) {
            let target = ServicePortTarget {
                namespace: service.metadata.namespace.to_string(),
                service: service.metadata.name.clone(),
                port: port.port,
                has_hints: slices.iter().flat_map(|slice| &slice.endpoints).any(|one| one.hints.is_some()),
                published: published(service, port, slices.iter().copied()),
                slices: versions.clone(),
            };
            if sample.ports.len() < PORTS && count <= room {
                room -= count;
                sample.ports.push(target);
            } else {
                sample.left.push(format!("{}:{}", target.service_name(), target.port));
            }
        }
    }
    sample
}
