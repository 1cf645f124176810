//! The pods behind a Service port, as policy workloads.

use super::survey::Survey;
use crate::model::policy::Workload;
use crate::objects::{Pod, Service, ServicePort};

/// Each injected pod that a Service selects, with the target port of this Service port.
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
    pods.filter_map(move |(pod, workload)| Some((*pod, workload, port.leads_to(pod)?)))
}
