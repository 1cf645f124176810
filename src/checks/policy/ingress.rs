//! Known ingress controllers, their pods, and the Services of Ingresses.

use super::survey::Survey;
use crate::annotations::INGRESS_CLASS;
use crate::checks::prelude::*;
use crate::model::ingress_controller::{CRD_PROVIDER, INGRESS_PROVIDER, native_by_default};
use crate::model::injection::INJECT;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::container::boolean;
use crate::objects::{Container, Ingress, IngressClass};

const NAME: &str = "app.kubernetes.io/name";
const COMPONENT: &str = "app.kubernetes.io/component";
const NGINX: &str = "nginx.ingress.kubernetes.io/service-upstream";

/// ingress-nginx, as its own chart installs it.
const INGRESS_NGINX: Controller = Controller {
    name: "ingress-nginx",
    labels: &[(NAME, "ingress-nginx"), (COMPONENT, "controller")],
    class: "nginx",
    calls_itself: "k8s.io/ingress-nginx",
    upstream: Some(("Ingress", NGINX)),
    default: ByDefault::ConfigMap,
};
/// Ingress controllers by the labels that their charts set on the pods, and the prefix of their class
/// names.
static CONTROLLERS: [&Controller; 10] = [
    &INGRESS_NGINX,
    &Controller { labels: &[(NAME, "rke2-ingress-nginx"), (COMPONENT, "controller")], ..INGRESS_NGINX },
    // Application routing of AKS.
    &Controller {
        labels: &[("app.kubernetes.io/managed-by", "aks-app-routing-operator"), (COMPONENT, "ingress-controller")],
        class: "webapprouting.kubernetes.azure.com",
        calls_itself: "webapprouting.kubernetes.azure.com/nginx",
        ..INGRESS_NGINX
    },
    &Controller {
        name: "nginx-ingress",
        labels: &[(NAME, "nginx-ingress")],
        class: "nginx",
        calls_itself: "nginx.org/ingress-controller",
        upstream: Some(("Ingress", "nginx.org/use-cluster-ip")),
        default: ByDefault::Pods,
    },
    &Controller {
        name: "traefik",
        labels: &[(NAME, "traefik")],
        class: "traefik",
        calls_itself: "traefik.io/ingress-controller",
        upstream: Some(("Service", "traefik.ingress.kubernetes.io/service.nativelb")),
        default: ByDefault::Arguments,
    },
    &KONG,
    // The chart of Kong's controller with gateways, which uses the other chart under this name.
    &Controller { labels: &[(NAME, "gateway"), (COMPONENT, "app")], ..KONG },
    &Controller {
        name: "haproxy-ingress",
        labels: &[(NAME, "haproxy-ingress")],
        class: "haproxy",
        calls_itself: "haproxy-ingress.github.io/controller",
        upstream: Some(("Ingress", "haproxy-ingress.github.io/service-upstream")),
        default: ByDefault::ConfigMapOrClass,
    },
    // The controller of HAProxy Technologies; the one before is a project of its own.
    &Controller {
        name: "kubernetes-ingress",
        labels: &[(NAME, "kubernetes-ingress")],
        class: "haproxy",
        calls_itself: "haproxy.org/ingress-controller",
        upstream: None,
        default: ByDefault::Pods,
    },
    &Controller {
        name: "contour",
        labels: &[(NAME, "contour"), (COMPONENT, "envoy")],
        class: "contour",
        calls_itself: "projectcontour.io/",
        upstream: None,
        default: ByDefault::Pods,
    },
];
const KONG: Controller = Controller {
    name: "kong",
    labels: &[(NAME, "kong"), (COMPONENT, "app")],
    class: "kong",
    calls_itself: "ingress-controllers.konghq.com/kong",
    upstream: Some(("Service", "ingress.kubernetes.io/service-upstream")),
    default: ByDefault::Class,
};
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

/// How an ingress controller is recognized.
pub(super) struct Controller {
    /// Its name in its chart.
    pub(super) name: &'static str,
    /// The labels of its pods.
    labels: &'static [(&'static str, &'static str)],
    /// The prefix of its class names.
    class: &'static str,
    /// Its controller name in IngressClasses, or the prefix of it.
    calls_itself: &'static str,
    /// The annotation that makes it send requests to the Service's address, and the kind that has the
    /// annotation; `None` if it always sends requests to pods.
    pub(super) upstream: Option<(&'static str, &'static str)>,
    /// The setting for Ingresses and Services without the annotation.
    pub(super) default: ByDefault,
}

/// The setting that determines where a controller sends requests, if an Ingress or Service does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByDefault {
    /// None: it sends them to pods.
    Pods,
    /// The key `service-upstream` of the ConfigMap that its arguments name.
    ConfigMap,
    /// The same, and the ConfigMap that the IngressClass names.
    ConfigMapOrClass,
    /// `nativeLBByDefault` of Traefik's providers.
    Arguments,
    /// The parameters of the IngressClass, in addition to the annotation.
    Class,
}

impl Controller {
    /// Whether the annotation makes it send requests to a Service's address; `None` without the annotation. An Ingress
    /// of `None` is not known.
    pub(super) fn annotated(&self, ingress: Option<&Meta>, service: &Meta) -> Option<bool> {
        let (kind, key) = self.upstream?;
        let meta = if kind == "Ingress" { ingress } else { Some(service) };
        // The parameters of its class may set what the annotation does not.
        let counts = |is_set: &bool| *is_set || self.default != ByDefault::Class;
        meta?.annotation(key).map(|value| boolean(value).unwrap_or_default()).filter(counts)
    }

    fn marks(&self, meta: &Meta) -> bool {
        self.labels.iter().all(|(key, value)| meta.label(key) == Some(value))
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
    /// The controller name in IngressClasses that its arguments set.
    class: Option<&'a str>,
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
    /// the annotation or the controller's arguments set the same for all. An annotation of the Ingress and a ConfigMap
    /// of the controller are not read.
    pub fn new(pod: &Pod, service: &Meta) -> Option<EndpointCaller> {
        let of = controller(pod).filter(|_| !is_in_ingress_mode(pod))?;
        let goes_to_service = of.annotated(None, service).unwrap_or_else(|| {
            let by_default = [CRD_PROVIDER, INGRESS_PROVIDER].map(|provider| native_by_default(pod, provider));
            of.default == ByDefault::Arguments && by_default == [Some(true); 2]
        });
        (!goes_to_service).then_some(EndpointCaller { controller: of.name, setting: of.upstream })
    }
}

/// The namespace of AKS's application routing.
const APP_ROUTING: &str = "app-routing-system";

/// The known controller that a pod belongs to.
fn controller(pod: &Pod) -> Option<&'static Controller> {
    let meta = &pod.metadata;
    let in_app_routing = || {
        let is_it = meta.namespace == APP_ROUTING && meta.label("app").is_some_and(|app| app.starts_with("nginx"));
        CONTROLLERS.into_iter().find(|known| is_it && known.class.starts_with("webapprouting"))
    };
    // Other builds and charts of ingress-nginx have the same option.
    let by_class = || class_of(pod).map(|_| &INGRESS_NGINX);
    CONTROLLERS.into_iter().find(|known| known.marks(meta)).or_else(in_app_routing).or_else(by_class)
}

/// The controller name in IngressClasses that the arguments of a build of ingress-nginx set.
fn class_of(pod: &Pod) -> Option<&str> {
    let mut containers = pod.spec.containers.iter().filter(|container| container.image.contains("nginx"));
    containers.find_map(|container| container.argument("--controller-class"))
}

/// The running pods of known controllers.
pub(super) fn callers<'a>(ctx: &Context<'_>, survey: &Survey<'_>, pods: &'a [Pod]) -> Vec<Caller<'a>> {
    let home = ctx.namespaces().control_plane.as_str();
    running(pods)
        .filter_map(|pod| Some(Caller { identity: identity(survey, home, pod), ..Caller::new(pod)? }))
        .collect()
}

impl<'a> Caller<'a> {
    /// A pod of a known controller, without its identity.
    fn new(pod: &'a Pod) -> Option<Caller<'a>> {
        let of = controller(pod)?;
        let class = class_of(pod).filter(|_| of.name == INGRESS_NGINX.name);
        Some(Caller { pod, of, class, identity: None })
    }
}

/// The running pods of known controllers whose proxy runs in ingress mode. Their identities are not determined.
pub(super) fn in_ingress_mode(pods: &[Pod]) -> impl Iterator<Item = Caller<'_>> {
    let meshed = running(pods).filter(|pod| pod.spec.proxy().is_some() && is_in_ingress_mode(pod));
    meshed.filter_map(Caller::new)
}

/// The running pods of known controllers that have a proxy. Their identities are not determined.
pub(super) fn meshed_callers(pods: &[Pod]) -> impl Iterator<Item = Caller<'_>> {
    running(pods).filter(|pod| pod.spec.proxy().is_some()).filter_map(Caller::new)
}

/// The running pods of ingress-nginx. Their identities are not determined.
pub(super) fn ingress_nginx(pods: &[Pod]) -> impl Iterator<Item = Caller<'_>> {
    running(pods).filter_map(Caller::new).filter(|caller| caller.of.name == INGRESS_NGINX.name)
}

/// Whether the proxy of a pod runs in ingress mode.
pub(super) fn is_in_ingress_mode(pod: &Pod) -> bool {
    let is_set = |proxy: &Container| proxy.env_value(INGRESS_MODE) == Some("true");
    pod.spec.proxy().is_some_and(is_set) || pod.metadata.annotation(INJECT) == Some("ingress")
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
pub(in crate::checks) struct Classes<'a>(&'a [IngressClass]);

impl<'a> Classes<'a> {
    /// Reads the cluster's IngressClasses. If they are unavailable, which is noted, only class names count.
    pub(in crate::checks) fn new(ctx: &Context<'a>) -> Classes<'a> {
        Classes(ctx.or_note(ctx.partial_list::<IngressClass>()).unwrap_or_default())
    }

    /// Whether a controller serves an Ingress.
    pub(super) fn serves(&self, caller: &Caller<'_>, ingress: &Ingress) -> bool {
        match (caller.class, self.of(ingress).0) {
            (Some(own), Some(class)) => class.spec.controller == own,
            _ => self.is_of(caller.of.class, caller.of.calls_itself, ingress),
        }
    }

    /// Whether a build of ingress-nginx serves an Ingress, as its class shows.
    pub(in crate::checks) fn is_of_ingress_nginx(&self, ingress: &Ingress) -> bool {
        let mut known = CONTROLLERS.into_iter().filter(|known| known.name == INGRESS_NGINX.name);
        known.any(|known| self.is_of(known.class, known.calls_itself, ingress))
    }

    /// The load balancer outside of the cluster that serves an Ingress.
    pub(super) fn balancer(&self, ingress: &Ingress) -> Option<&'static Balancer> {
        BALANCERS.iter().find(|known| self.is_of(known.class, known.calls_itself, ingress))
    }

    /// The class of a controller that names parameters.
    pub(super) fn with_parameters(&self, controller: &Controller) -> Option<&'a IngressClass> {
        let is_it = |class: &&IngressClass| {
            class.spec.parameters.is_some() && class.spec.controller.starts_with(controller.calls_itself)
        };
        self.0.iter().find(is_it)
    }

    /// The class of an Ingress, and the name by which the Ingress names it.
    fn of<'i>(&self, ingress: &'i Ingress) -> (Option<&'a IngressClass>, Option<&'i str>) {
        let named = match ingress.spec.ingress_class_name.as_str() {
            "" => ingress.metadata.annotation(INGRESS_CLASS),
            name => Some(name),
        };
        let class = match named {
            Some(name) => self.0.iter().find(|class| class.metadata.name == name),
            None => self.0.iter().find(|class| class.is_default()),
        };
        (class, named)
    }

    fn is_of(&self, begins: &str, calls_itself: &str, ingress: &Ingress) -> bool {
        match self.of(ingress) {
            (Some(class), _) => class.spec.controller.starts_with(calls_itself),
            (None, Some(name)) => name.starts_with(begins),
            (None, None) => false,
        }
    }
}
