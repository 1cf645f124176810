//! The pods behind a Service port, as policy workloads.

use super::survey::Survey;
use crate::model::endpoints::selects;
use crate::model::policy::Workload;
use crate::objects::{Pod, Service, ServicePort};

/// Each injected pod that a Service selects, with the target port of this Service port.
pub(super) fn behind<'s, 'a>(
    survey: &'s Survey<'a>,
    service: &'s Service,
    port: &'s ServicePort,
) -> impl Iterator<Item = (&'a Pod, &'s Workload<'a>, u16)> {
    let here = survey.pods_of(&service.metadata.namespace);
    let pods = here.iter().filter(move |(pod, _)| selects(service, &pod.metadata));
    pods.filter_map(move |(pod, workload)| Some((*pod, workload, port.leads_to(pod)?)))
}
