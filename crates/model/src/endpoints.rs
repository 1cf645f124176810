//! Why a Service has no ready endpoint: the state of its pods, or of the workload that should create them.

use std::fmt;

use super::pod_status;
use crate::finding::{Evidence, Subject};
use crate::objects::{Kind, Meta, Pod, Service, Workload};

/// Why a Service has no ready endpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum NoEndpoint<'a> {
    /// Pods that it selects are ready; no EndpointSlice lists them.
    NotListed(&'a Pod),
    /// Pods that it selects are not ready: the first, and the number of all.
    NotReady(&'a Pod, usize),
    /// The workload whose pods it selects is scaled to 0.
    ScaledToZero(Kind, &'a Workload),
    /// The workload whose pods it selects has no pod.
    NoPod(Kind, &'a Workload),
    /// Its selector matches neither a pod nor a workload's template.
    NothingSelected,
    /// It has no selector.
    NoSelector,
}

impl<'a> NoEndpoint<'a> {
    /// The cause for a Service without a ready endpoint. `workloads` are those whose templates are compared
    /// with its selector.
    pub fn explain(
        service: &Service,
        pods: &'a [Pod],
        workloads: impl IntoIterator<Item = (Kind, &'a Workload)>,
    ) -> NoEndpoint<'a> {
        if service.spec.selector.is_empty() {
            return NoEndpoint::NoSelector;
        }
        let selected: Vec<&Pod> = selected(service, pods).collect();
        if let Some(pod) = selected.iter().find(|pod| pod.is_ready()) {
            return NoEndpoint::NotListed(pod);
        }
        if let Some(pod) = selected.first() {
            return NoEndpoint::NotReady(pod, selected.len());
        }
        let selector = &service.spec.selector;
        let mut creating = workloads.into_iter().filter(|(_, workload)| {
            let labels = &workload.spec.template.metadata.labels;
            workload.metadata.namespace == service.metadata.namespace
                && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        });
        match creating.next() {
            Some((kind, workload)) if workload.spec.replicas == Some(0) => NoEndpoint::ScaledToZero(kind, workload),
            Some((kind, workload)) => NoEndpoint::NoPod(kind, workload),
            None => NoEndpoint::NothingSelected,
        }
    }

    /// The field that shows it.
    pub fn evidence(&self) -> Option<Evidence> {
        let of_pod = |pod: &Pod| Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name);
        let of_workload =
            |kind: Kind, one: &Workload| Subject::object(kind, &one.metadata.namespace, &one.metadata.name);
        Some(match self {
            NoEndpoint::NotListed(pod) => Evidence::field(of_pod(pod), "status.conditions[Ready]", "True"),
            NoEndpoint::NotReady(pod, _) => {
                let path = match pod_status::label(pod).as_str() {
                    "Running" => "status.conditions[Ready]",
                    _ => "status.containerStatuses",
                };
                Evidence::field(of_pod(pod), path, state(pod))
            }
            NoEndpoint::ScaledToZero(kind, one) => Evidence::field(of_workload(*kind, one), "spec.replicas", "0"),
            NoEndpoint::NoPod(kind, one) => {
                let said = one.replica_failure().map_or("0", |failure| &failure.message);
                Evidence::field(of_workload(*kind, one), "status.replicas", said)
            }
            NoEndpoint::NothingSelected | NoEndpoint::NoSelector => return None,
        })
    }
}

/// As a clause.
impl fmt::Display for NoEndpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEndpoint::NotListed(pod) => {
                write!(f, "pod {} is ready and in none of its EndpointSlices", pod.metadata.name)
            }
            NoEndpoint::NotReady(pod, 1) => write!(f, "pod {} is {}", pod.metadata.name, state(pod)),
            NoEndpoint::NotReady(pod, count) => {
                write!(f, "pod {} and {} more are {}", pod.metadata.name, count - 1, state(pod))
            }
            NoEndpoint::ScaledToZero(kind, one) => {
                write!(f, "{kind} {} is scaled to 0", one.metadata.name)
            }
            NoEndpoint::NoPod(kind, one) => write!(f, "{kind} {} has no pod", one.metadata.name),
            NoEndpoint::NothingSelected => f.write_str("its selector matches no pod"),
            NoEndpoint::NoSelector => f.write_str("it has no selector"),
        }
    }
}

/// The pods that a Service selects, without those that have ended.
pub fn selected<'a>(service: &Service, pods: &'a [Pod]) -> impl Iterator<Item = &'a Pod> {
    pods.iter().filter(move |pod| !pod.is_finished() && selects(service, &pod.metadata))
}

/// Whether a Service selects an object with these labels.
pub fn selects(service: &Service, meta: &Meta) -> bool {
    let selector = &service.spec.selector;
    meta.namespace == service.metadata.namespace
        && !selector.is_empty()
        && selector.iter().all(|(key, value)| meta.label(key) == Some(value))
}

fn state(pod: &Pod) -> String {
    match pod_status::label(pod).as_str() {
        "Running" => "not ready".to_owned(),
        word => format!("in state {word}"),
    }
}
