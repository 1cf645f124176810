//! Known ingress controllers, their pods, and the Services of Ingresses.

use super::survey::Survey;
use crate::annotations::INGRESS_CLASS;
use crate::checks::Context;
use crate::model::injection::INJECT;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::{Ingress, IngressClass, Meta, Pod};

/// Ingress controllers by the labels that their charts set on the pods, and the prefix of their class
/// names.
static CONTROLLERS: [Controller; 7] = [
    Controller {
        name: "ingress-nginx",
        component: Some("controller"),
        class: "nginx",
        calls_itself: "k8s.io/ingress-nginx",
        upstream: Some(("Ingress", "nginx.ingress.kubernetes.io/service-upstream")),
    },
    Controller {
        name: "nginx-ingress",
        component: None,
        class: "nginx",
        calls_itself: "nginx.org/ingress-controller",
        upstream: Some(("Ingress", "nginx.org/use-cluster-ip")),
    },
    Controller {
        name: "traefik",
        component: None,
        class: "traefik",
        calls_itself: "traefik.io/ingress-controller",
        upstream: Some(("Service", "traefik.ingress.kubernetes.io/service.nativelb")),
    },
    Controller {
        name: "kong",
        component: Some("app"),
        class: "kong",
        calls_itself: "ingress-controllers.konghq.com/kong",
        upstream: Some(("Service", "ingress.kubernetes.io/service-upstream")),
    },
    Controller {
        name: "haproxy-ingress",
        component: None,
        class: "haproxy",
        calls_itself: "haproxy-ingress.github.io/controller",
        upstream: Some(("Ingress", "haproxy-ingress.github.io/service-upstream")),
    },
    // The controller of HAProxy Technologies; the one before is a project of its own.
    Controller {
        name: "kubernetes-ingress",
        component: None,
        class: "haproxy",
        calls_itself: "haproxy.org/ingress-controller",
        upstream: None,
    },
    Controller {
        name: "contour",
        component: Some("envoy"),
        class: "contour",
        calls_itself: "projectcontour.io/",
        upstream: None,
    },
];
/// Load balancers outside of the cluster that serve Ingresses directly: display name, prefix of their class
/// names, and their controller name in IngressClasses.
static BALANCERS: [Balancer; 3] = [
    Balancer { name: "AWS Application Load Balancer", class: "alb", calls_itself: "ingress.k8s.aws/alb" },
    Balancer {
        name: "Azure Application Gateway",
        class: "azure-application-gateway",
        calls_itself: "azure/application-gateway",
    },
    Balancer { name: "Google Cloud load balancer", class: "gce", calls_itself: "k8s.io/ingress-gce" },
];
/// The variable by which the injector turns on ingress mode.
const INGRESS_MODE: &str = "LINKERD2_PROXY_INGRESS_MODE";
const NAME: &str = "app.kubernetes.io/name";
const COMPONENT: &str = "app.kubernetes.io/component";

/// How an ingress controller is recognized.
pub(super) struct Controller {
    /// Its name in its chart.
    pub(super) name: &'static str,
    component: Option<&'static str>,
    /// The prefix of its class names.
    class: &'static str,
    /// Its controller name in IngressClasses, or the prefix of it.
    calls_itself: &'static str,
    /// The annotation that makes it send requests to the Service's address, and the kind that has the
    /// annotation; `None` if it always sends requests to pods.
    pub(super) upstream: Option<(&'static str, &'static str)>,
}

impl Controller {
    /// Whether the annotation makes it send requests to a Service's address; an Ingress of `None` is not known.
    pub(super) fn calls_service(&self, ingress: Option<&Meta>, service: &Meta) -> bool {
        self.upstream.is_some_and(|(kind, key)| {
            let meta = if kind == "Ingress" { ingress } else { Some(service) };
            let value = meta.and_then(|meta| meta.annotation(key));
            value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
        })
    }
}

/// A load balancer outside of the cluster that serves Ingresses.
pub(super) struct Balancer {
    pub(super) name: &'static str,
    class: &'static str,
    calls_itself: &'static str,
}

/// A pod of an ingress controller.
pub(super) struct Caller<'a> {
    pub(super) pod: &'a Pod,
    /// The controller.
    pub(super) of: &'static Controller,
    /// Its mesh identity, if it has a proxy.
    pub(super) identity: Option<String>,
}

/// An ingress controller whose meshed pod connects to the pods of a Service, so that routes and profiles of the
/// Service do not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointCaller {
    /// The name of the controller's chart.
    pub controller: &'static str,
    /// The annotation that makes it call the Service instead, and the kind that has it; `None` if there is none.
    pub setting: Option<(&'static str, &'static str)>,
}

impl EndpointCaller {
    /// The check that reports such calls.
    pub const CHECK: &str = "ingress-bypasses-routes";

    /// The controller that a pod belongs to; `None` for other pods, for proxies in ingress mode, and if the Service has
    /// the annotation. An annotation of the Ingress is not read.
    pub fn new(pod: &Pod, service: &Meta) -> Option<EndpointCaller> {
        let of = controller(&pod.metadata).filter(|_| pod.metadata.annotation(INJECT) != Some("ingress"))?;
        (!of.calls_service(None, service))
            .then_some(EndpointCaller { controller: of.name, setting: of.upstream })
    }
}

/// The known controller that a pod belongs to.
fn controller(meta: &Meta) -> Option<&'static Controller> {
    CONTROLLERS.iter().find(|known| {
        meta.label(NAME) == Some(known.name)
            && known.component.is_none_or(|component| meta.label(COMPONENT) == Some(component))
    })
}

/// The running pods of known controllers.
pub(super) fn callers<'a>(ctx: &Context<'_>, survey: &Survey<'_>, pods: &'a [Pod]) -> Vec<Caller<'a>> {
    let home = ctx.namespaces().control_plane.as_str();
    running(pods)
        .filter_map(|pod| {
            let of = controller(&pod.metadata)?;
            Some(Caller { pod, of, identity: identity(survey, home, pod) })
        })
        .collect()
}

/// The running pods of known controllers whose proxy runs in ingress mode. Their identities are not determined.
pub(super) fn in_ingress_mode(pods: &[Pod]) -> impl Iterator<Item = Caller<'_>> {
    let mode = |pod: &Pod| {
        let proxy = pod.spec.proxy()?;
        let is_set = proxy.env_value(INGRESS_MODE) == Some("true");
        (is_set || pod.metadata.annotation(INJECT) == Some("ingress")).then_some(())
    };
    running(pods).filter_map(move |pod| {
        mode(pod)?;
        Some(Caller { pod, of: controller(&pod.metadata)?, identity: None })
    })
}

/// The running pods among `pods`.
pub(super) fn running(pods: &[Pod]) -> impl Iterator<Item = &Pod> {
    pods.iter().filter(|pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none())
}

/// The identity of a pod in a control plane's mesh, if it has a proxy.
pub(super) fn identity(survey: &Survey<'_>, home: &str, pod: &Pod) -> Option<String> {
    let meta = &pod.metadata;
    let meshed = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
    let account = pod.spec.account();
    meshed.then(|| survey.index.controller.identity(&meta.namespace, account))
}

/// Determines the controller of an Ingress from Ingresses and IngressClasses.
pub(super) struct Classes<'a>(&'a [IngressClass]);

impl<'a> Classes<'a> {
    /// Reads the cluster's IngressClasses. If they are unavailable, which is noted, only class names count.
    pub(super) fn new(ctx: &Context<'a>) -> Classes<'a> {
        Classes(ctx.or_note(ctx.partial_list::<IngressClass>()).unwrap_or_default())
    }

    /// Whether a controller serves an Ingress.
    pub(super) fn serves(&self, controller: &Controller, ingress: &Ingress) -> bool {
        self.is_of(controller.class, controller.calls_itself, ingress)
    }

    /// The load balancer outside of the cluster that serves an Ingress.
    pub(super) fn balancer(&self, ingress: &Ingress) -> Option<&'static Balancer> {
        BALANCERS.iter().find(|known| self.is_of(known.class, known.calls_itself, ingress))
    }

    fn is_of(&self, begins: &str, calls_itself: &str, ingress: &Ingress) -> bool {
        let named = match ingress.spec.ingress_class_name.as_str() {
            "" => ingress.metadata.annotation(INGRESS_CLASS),
            name => Some(name),
        };
        let class = match named {
            Some(name) => self.0.iter().find(|class| class.metadata.name == name),
            None => self.0.iter().find(|class| class.is_default()),
        };
        match (class, named) {
            (Some(class), _) => class.spec.controller.starts_with(calls_itself),
            (None, Some(name)) => name.starts_with(begins),
            (None, None) => false,
        }
    }
}
