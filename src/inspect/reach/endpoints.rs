//! The part of a walk that is about the pods behind a Service: which of them calls go to, and why there are none.

use std::collections::BTreeMap;

use super::{Caller, Mesh};
use crate::finding::{Evidence, Subject};
use crate::inspect::walk::{Outcome, Part, Walk};
use crate::model::availability::{State, proxy_started};
use crate::model::owners::generation;
use crate::model::pod_status;
use crate::model::policy::Spoken;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Kind, Pod, Service, ServicePort, TargetPort, Workload};

/// Pods that are the same to a call.
struct Alike<'a> {
    pod: &'a Pod,
    count: usize,
}

impl<'a> Mesh<'a> {
    /// Goes on to the pods behind a Service: to the port that `port` leads to, or, without one, to `number` of the pods themselves.
    pub(super) fn to_endpoints(
        &self,
        walk: &mut Walk,
        caller: Caller<'_>,
        service: &Service,
        port: Result<&ServicePort, u16>,
        spoken: Option<Spoken>,
    ) {
        let endpoints = self.endpoints(walk, caller, service);
        let all: usize = endpoints.iter().map(|alike| alike.count).sum();
        let ways = endpoints.into_iter().map(|alike| {
            let name = format!("{} of {all} endpoints (pod {})", alike.count, alike.pod.metadata.name);
            let mut way = walk.branch();
            match port {
                Err(number) => {
                    let spoken = caller.meshed.then(|| self.spoken_to_pod(alike.pod, number));
                    self.to_pod(&mut way, caller, spoken, alike.pod, number);
                }
                Ok(port) => match port.leads_to(alike.pod) {
                    Some(target) => self.to_pod(&mut way, caller, spoken, alike.pod, target),
                    None => unnamed(&mut way, port, alike.pod),
                },
            }
            (name, way)
        });
        let ways: Vec<(String, Walk)> = ways.collect();
        walk.join(ways);
    }

    /// The pods behind a Service, one of each kind that a call may meet.
    fn endpoints(&self, walk: &mut Walk, caller: Caller<'_>, service: &Service) -> Vec<Alike<'a>> {
        let (ready, all) = self.ready(service);
        let selected = self.selected(service);
        if ready == 0 {
            let (why, evidence) = self.why_none(service, &selected);
            let step = none_ready(walk, service, all, &self.calls.no_endpoint, why.as_deref());
            step.evidence.extend(evidence);
            step.fix("make its pods ready; a selector that matches no pod gives no endpoint");
            return Vec::new();
        }
        walk.step(Part::Endpoints, Outcome::Passes, format!("{ready} of {all} endpoints are ready"))
            .evidence(endpoints_of(service, format!("{ready} of {all} ready")));
        let is_ready = |pod: &&Pod| pod.condition("Ready").is_some_and(|ready| ready.status == "True");
        let serving: Vec<&'a Pod> = selected.iter().copied().filter(is_ready).collect();
        // A Service can take pods that are not ready.
        let serving = if serving.is_empty() || ready > serving.len() { selected } else { serving };
        if serving.is_empty() {
            let says = "none of the Service's endpoints is a pod of this cluster that it selects";
            walk.step(Part::Server, Outcome::NotJudged, says);
        }
        let mut alike: BTreeMap<_, Alike<'a>> = BTreeMap::new();
        for pod in serving {
            let entry = alike.entry(self.likeness(caller, pod)).or_insert(Alike { pod, count: 0 });
            entry.count += 1;
        }
        alike.into_values().collect()
    }

    /// What distinguishes pods for a call: what made them, whether the proxy is ready, since when, and where they run.
    fn likeness(&self, caller: Caller<'_>, pod: &Pod) -> (String, String) {
        let made = match pod.metadata.controller() {
            Some(_) => generation(pod),
            None => pod.metadata.name.clone(),
        };
        let status = pod.container_status(PROXY_CONTAINER);
        let late = match self.control_plane.state("destination", "policy") {
            State::Down { since: Some(since), .. } => {
                proxy_started(pod).is_some_and(|started| started >= since)
            }
            _ => false,
        };
        let itself = pod.metadata.key() == caller.pod.metadata.key();
        let node = if caller.pod.spec.host_network { pod.node_name.as_str() } else { "" };
        let ready = status.is_none_or(|status| status.ready);
        (made, format!("{ready} {late} {itself} {node}"))
    }

    /// The pods that a Service selects.
    fn selected(&self, service: &Service) -> Vec<&'a Pod> {
        let selector = &service.spec.selector;
        let pods = self.policy.pods.iter().filter(|pod| {
            pod.metadata.namespace == service.metadata.namespace
                && !pod.is_finished()
                && !selector.is_empty()
                && selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value))
        });
        pods.collect()
    }

    /// Why a Service has no ready endpoint: what is the matter with its pods, or what should make some and does not.
    fn why_none(&self, service: &Service, selected: &[&Pod]) -> (Option<String>, Vec<Evidence>) {
        if let Some(pod) = selected.first() {
            let name = &pod.metadata.name;
            let more = match selected.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let (state, path) = match pod_status::word(pod).as_str() {
                "Running" => ("not ready".to_owned(), "status.conditions[Ready]"),
                word => (format!("in state {word}"), "status.containerStatuses"),
            };
            let why = format!("pod {name}{more} is {state}");
            return (Some(why), vec![Evidence::field(super::subject(pod), path, state)]);
        }
        let selector = &service.spec.selector;
        let makes = |workload: &&Workload| {
            let labels = &workload.spec.template.metadata.labels;
            workload.metadata.namespace == service.metadata.namespace
                && !selector.is_empty()
                && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        };
        let Some(workload) = self.deployments.iter().find(makes) else {
            let none = selector.is_empty();
            let why = if none { "it has no selector" } else { "its selector matches no pod" };
            return (Some(why.to_owned()), Vec::new());
        };
        let meta = &workload.metadata;
        let object = Subject::object(Kind::Deployment, &meta.namespace, &meta.name);
        match workload.spec.replicas {
            Some(0) => {
                let why = format!("Deployment {} is scaled to 0", meta.name);
                (Some(why), vec![Evidence::field(object, "spec.replicas", "0")])
            }
            _ => {
                let why = format!("Deployment {} has no pod", meta.name);
                let said = workload.replica_failure().map_or("0", |failure| &failure.message);
                (Some(why), vec![Evidence::field(object, "status.replicas", said)])
            }
        }
    }

    /// How many endpoints of a Service are ready, and how many there are.
    pub(super) fn ready(&self, service: &Service) -> (usize, usize) {
        let (namespace, name) = service.metadata.key();
        let slices = self
            .slices
            .iter()
            .filter(|slice| slice.metadata.namespace == namespace && slice.service() == Some(name));
        let mut counted = (0, 0);
        for endpoint in slices.flat_map(|slice| &slice.endpoints) {
            counted.0 += usize::from(endpoint.conditions.ready != Some(false));
            counted.1 += 1;
        }
        counted
    }
}

/// Notes that a pod has no port of the name that a Service's port leads to.
fn unnamed(walk: &mut Walk, port: &ServicePort, pod: &Pod) {
    let name = match &port.target_port {
        Some(TargetPort::Name(name)) => name.as_str(),
        _ => "",
    };
    let says = format!("pod {} names no port {name}", pod.metadata.name);
    walk.step(Part::Endpoints, Outcome::Stops, says)
        .fix("give the container's port that name, or write its number as targetPort");
}

/// Notes that a Service has no ready endpoint, of this number of endpoints.
pub(super) fn none_ready<'w>(
    walk: &'w mut Walk,
    service: &Service,
    all: usize,
    callers_get: &str,
    why: Option<&str>,
) -> &'w mut super::Step {
    let (namespace, name) = service.metadata.key();
    let why = why.map(|why| format!(", because {why}")).unwrap_or_default();
    let says = format!("no endpoint of Service {namespace}/{name} is ready{why}: {callers_get}");
    walk.step(Part::Endpoints, Outcome::Stops, says)
        .evidence(endpoints_of(service, format!("0 of {all} ready")))
}

fn endpoints_of(service: &Service, said: String) -> Evidence {
    let (namespace, name) = service.metadata.key();
    Evidence::other(format!("EndpointSlices of Service {namespace}/{name}"), said)
}
