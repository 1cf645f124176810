//! Ingress controllers that are known, their pods, and the Services that Ingresses lead to.

use super::survey::Survey;
use crate::checks::Context;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::{IngressService, Pod, Service, ServicePort};

/// Ingress controllers by the labels that their charts give their pods, and what the names of their classes begin with.
static CONTROLLERS: [Controller; 6] = [
    Controller {
        name: "ingress-nginx",
        component: Some("controller"),
        class: "nginx",
        upstream: Some(("Ingress", "nginx.ingress.kubernetes.io/service-upstream")),
    },
    Controller {
        name: "nginx-ingress",
        component: None,
        class: "nginx",
        upstream: Some(("Ingress", "nginx.org/use-cluster-ip")),
    },
    Controller {
        name: "traefik",
        component: None,
        class: "traefik",
        upstream: Some(("Service", "traefik.ingress.kubernetes.io/service.nativelb")),
    },
    Controller {
        name: "kong",
        component: Some("app"),
        class: "kong",
        upstream: Some(("Service", "ingress.kubernetes.io/service-upstream")),
    },
    Controller {
        name: "haproxy-ingress",
        component: None,
        class: "haproxy",
        upstream: Some(("Ingress", "haproxy-ingress.github.io/service-upstream")),
    },
    Controller { name: "contour", component: Some("envoy"), class: "contour", upstream: None },
];
const NAME: &str = "app.kubernetes.io/name";
const COMPONENT: &str = "app.kubernetes.io/component";

/// How the pods of an ingress controller are known.
pub(super) struct Controller {
    /// As its chart names it.
    pub(super) name: &'static str,
    component: Option<&'static str>,
    /// What the names of its classes begin with.
    pub(super) class: &'static str,
    /// The annotation with which it sends requests to the address of a Service, and the kind that carries it; `None` where it always
    /// sends them to pods.
    pub(super) upstream: Option<(&'static str, &'static str)>,
}

/// A pod of an ingress controller.
pub(super) struct Caller<'a> {
    pub(super) pod: &'a Pod,
    /// The controller.
    pub(super) of: &'static Controller,
    /// Its identity in the mesh, where it has a proxy.
    pub(super) identity: Option<String>,
}

/// The pods of the controllers that are known, those that run.
pub(super) fn callers<'a>(ctx: &Context<'_>, survey: &Survey<'_>, pods: &'a [Pod]) -> Vec<Caller<'a>> {
    let home = ctx.namespaces().control_plane.as_str();
    let running = pods.iter().filter(|pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none());
    running
        .filter_map(|pod| {
            let meta = &pod.metadata;
            let of = CONTROLLERS.iter().find(|known| {
                meta.label(NAME) == Some(known.name)
                    && known.component.is_none_or(|component| meta.label(COMPONENT) == Some(component))
            })?;
            let meshed = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
            let account = match pod.spec.service_account_name.as_str() {
                "" => "default",
                account => account,
            };
            let identity = meshed.then(|| survey.index.controller.identity(&meta.namespace, account));
            Some(Caller { pod, of, identity })
        })
        .collect()
}

/// The Service that a path of an Ingress of a namespace leads to, and the port; one without a selector is left out.
pub(super) fn service_of<'a>(
    services: &'a [Service],
    namespace: &str,
    to: &IngressService,
) -> Option<(&'a Service, &'a ServicePort)> {
    let service = services
        .iter()
        .find(|service| service.metadata.name == to.name && service.metadata.namespace == namespace)
        .filter(|service| !service.spec.selector.is_empty())?;
    let port = service.spec.ports.iter().find(|port| match to.port.number {
        Some(number) => port.port == number,
        None => port.name == to.port.name,
    });
    port.map(|port| (service, port))
}
