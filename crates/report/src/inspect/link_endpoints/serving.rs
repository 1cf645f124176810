//! The endpoints behind the gateways of a cluster: whether any accepts calls, and Deployments without
//! replicas.

use std::collections::{BTreeMap, BTreeSet};

use super::gateway::is_gateway;
use super::list;
use crate::model::Cluster;
use crate::objects::{Deployment, EndpointSlice, Kind, Listed, Meta, Pod, Service, Texts, Workload};

/// The kinds that are read. Pods are used if they are available anyway.
pub(super) const KINDS: [Kind; 2] = [EndpointSlice::KIND, Deployment::KIND];

/// The endpoints behind each gateway, by namespace and name of its Service.
#[derive(Debug, Clone, Default)]
pub(super) struct Serving {
    behind: BTreeMap<(String, String), GatewayEndpoints>,
    /// The services with known endpoints, by namespace and name.
    filled: BTreeSet<(String, String)>,
}

/// The endpoints behind a gateway.
#[derive(Debug, Clone, Default)]
struct GatewayEndpoints {
    /// Number of ready endpoints, of all, and their kind; `None` if neither endpoints nor pods could be read.
    counted: Option<(usize, usize, &'static str)>,
    /// The Deployments of its pods, if all are scaled to zero.
    scaled_to_zero: Vec<String>,
}

/// A gateway without an endpoint that accepts calls.
pub(super) struct Dead {
    /// Deployments that are scaled to zero; empty if pods are wanted.
    pub scaled_to_zero: Vec<String>,
    pub evidence: String,
}

impl Serving {
    /// Reads the gateways of a cluster, and the services with endpoints.
    pub(super) fn from_cluster(cluster: &Cluster) -> Serving {
        let services = list::<Service>(cluster).unwrap_or_default();
        let deployments = list::<Deployment>(cluster).unwrap_or_default();
        let (slices, pods) = (list::<EndpointSlice>(cluster), list::<Pod>(cluster));
        let behind = services.iter().filter(|service| is_gateway(service)).map(|service| {
            let meta = &service.metadata;
            let counted = slices
                .as_deref()
                .map(|slices| endpoints(service, slices))
                .or_else(|| pods_behind(service, pods.as_deref()?));
            let behind =
                GatewayEndpoints { counted, scaled_to_zero: scaled_to_zero(service, &deployments, pods.as_deref()) };
            ((meta.namespace.to_string(), meta.name.to_string()), behind)
        });
        let of = |slice: &EndpointSlice| Some((slice.metadata.namespace.to_string(), slice.service()?.to_owned()));
        let filled = slices.iter().flatten().filter(|slice| !slice.endpoints.is_empty()).filter_map(of);
        Serving { behind: behind.collect(), filled: filled.collect() }
    }

    /// Whether it is unknown if a headless service has endpoints. A controller that mirrors such services as
    /// headless creates the mirror once there are some.
    pub(super) fn awaits_endpoints(&self, service: &Service) -> bool {
        let (namespace, name) = service.metadata.key();
        service.spec.cluster_ip.headless && !self.filled.contains(&(namespace.to_owned(), name.to_owned()))
    }

    /// Why a gateway accepts no calls; `None` if it does.
    pub(super) fn dead(&self, gateway: &Service) -> Option<Result<Dead, &'static str>> {
        let key = (gateway.metadata.namespace.to_string(), gateway.metadata.name.to_string());
        let GatewayEndpoints { counted, scaled_to_zero } = self.behind.get(&key).cloned().unwrap_or_default();
        let replicas = scaled_to_zero.iter().map(|name| format!("Deployment {}/{name} spec.replicas: 0", key.0));
        match counted {
            None if scaled_to_zero.is_empty() => Some(Err("the EndpointSlices")),
            Some((1.., _, _)) if scaled_to_zero.is_empty() => None,
            _ => {
                let counted = counted.map(|(ready, all, what)| format!("{ready} of {all} {what} ready"));
                let evidence = replicas.chain(counted).collect::<Vec<String>>().join(", ");
                Some(Ok(Dead { scaled_to_zero, evidence }))
            }
        }
    }
}

/// Number of ready endpoints of a Service, and of all.
fn endpoints(service: &Service, slices: &[EndpointSlice]) -> (usize, usize, &'static str) {
    let meta = &service.metadata;
    let own = slices
        .iter()
        .filter(|slice| slice.metadata.namespace == meta.namespace && slice.service() == Some(meta.name.as_str()));
    let all = own.flat_map(|slice| &slice.endpoints);
    let (ready, not): (Vec<_>, Vec<_>) = all.partition(|endpoint| endpoint.conditions.ready.unwrap_or(true));
    (ready.len(), ready.len() + not.len(), "endpoints")
}

/// The same from its pods; `None` without a selector, whose endpoints another component manages.
fn pods_behind(service: &Service, pods: &[Pod]) -> Option<(usize, usize, &'static str)> {
    if service.spec.selector.is_empty() {
        return None;
    }
    let own = pods.iter().filter(|pod| is_behind(service, &pod.metadata, &pod.metadata.labels));
    let (ready, not): (Vec<_>, Vec<_>) = own.partition(|pod| is_ready(pod));
    Some((ready.len(), ready.len() + not.len(), "pods"))
}

fn is_behind(service: &Service, meta: &Meta, labels: &Texts) -> bool {
    let selector = &service.spec.selector;
    !selector.is_empty()
        && meta.namespace == service.metadata.namespace
        && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

fn is_ready(pod: &Pod) -> bool {
    let containers = &pod.status.container_statuses;
    pod.status.phase == "Running" && !containers.is_empty() && containers.iter().all(|one| one.ready)
}

/// The Deployments behind a Service, if all are scaled to zero and nothing else is behind it: their remaining
/// pods are terminating.
fn scaled_to_zero(service: &Service, deployments: &[Workload], pods: Option<&[Pod]>) -> Vec<String> {
    let own = || deployments.iter().filter(|one| is_behind(service, &one.metadata, &one.spec.template.metadata.labels));
    let made = |pod: &Pod| {
        let owner = pod.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
        let of = |one: &Workload| {
            owner.is_some_and(|owner| {
                let hash = owner.name.strip_prefix(&format!("{}-", one.metadata.name));
                &*owner.kind == "ReplicaSet" && hash.is_some_and(|hash| !hash.contains('-'))
            })
        };
        own().any(of)
    };
    let others = pods
        .unwrap_or_default()
        .iter()
        .any(|pod| is_behind(service, &pod.metadata, &pod.metadata.labels) && is_ready(pod) && !made(pod));
    if others || own().any(|one| one.spec.replicas != Some(0)) {
        return Vec::new();
    }
    own().map(|one| one.metadata.name.to_string()).collect()
}
