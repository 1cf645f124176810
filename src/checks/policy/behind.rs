//! The pods behind a port of a Service, as policy sees them.

use super::survey::Survey;
use crate::model::policy::Workload;
use crate::objects::{Pod, Service, ServicePort, TargetPort};

/// Each injected pod that a Service selects, with the port that connections to this port of the Service come to.
pub(super) fn behind<'s, 'a>(
    survey: &'s Survey<'a>,
    service: &'s Service,
    port: &'s ServicePort,
) -> impl Iterator<Item = (&'a Pod, &'s Workload<'a>, u16)> {
    let selects = |pod: &Pod| {
        let mut selector = service.spec.selector.iter();
        selector.all(|(key, value)| pod.metadata.label(key) == Some(value.as_str()))
    };
    let here = survey.pods_of(&service.metadata.namespace);
    let pods = here.iter().filter(move |(pod, _)| !service.spec.selector.is_empty() && selects(pod));
    pods.flat_map(move |(pod, workload)| {
        numbers(port, workload).into_iter().map(move |number| (*pod, workload, number))
    })
}

/// The ports of a workload that a port of a Service leads to.
fn numbers(port: &ServicePort, workload: &Workload<'_>) -> Vec<u16> {
    match &port.target_port {
        None => vec![port.port],
        Some(TargetPort::Number(number)) => vec![*number],
        Some(TargetPort::Name(name)) => {
            workload.ports.get(name.as_str()).into_iter().flatten().copied().collect()
        }
    }
}
