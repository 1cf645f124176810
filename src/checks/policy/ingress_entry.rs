//! The ways from outside the cluster to Services: paths of Ingresses, and rules of Traefik's IngressRoutes.

use super::ingress::{Caller, Classes};
use super::survey::defined;
use crate::checks::prelude::*;
use crate::objects::service::TargetPort;
use crate::objects::{Ingress, IngressRoute, IngressService, ServicePort, TraefikService};

/// The chart of the controller that serves IngressRoutes.
const TRAEFIK: &str = "traefik";

/// Annotations of Ingresses that keep the sessions of a client at one pod.
const AFFINITY: [&str; 2] = ["nginx.ingress.kubernetes.io/affinity", "haproxy-ingress.github.io/affinity"];

/// One way to a Service.
#[derive(Clone, Copy)]
pub(super) enum Entry<'a> {
    /// A path of an Ingress.
    Path(&'a Ingress, &'a str, &'a IngressService),
    /// A service in a rule of an IngressRoute, with the index of the rule and its own.
    Rule(&'a IngressRoute, (usize, usize), &'a TraefikService),
}

/// All ways that the checked namespaces contain.
///
/// # Errors
/// The list of Ingresses or IngressRoutes is incomplete or unavailable.
pub(super) fn entries<'a>(ctx: &Context<'a>) -> Result<Vec<Entry<'a>>, Missing> {
    let ingresses = ctx.complete_list::<Ingress>()?;
    let routes = defined::<IngressRoute>(ctx)?;
    let paths = ingresses
        .iter()
        .filter(|one| ctx.judges(&one.metadata.namespace))
        .flat_map(|ingress| ingress.paths().map(move |(path, service)| Entry::Path(ingress, path, service)));
    let rules = routes.iter().filter(|one| ctx.judges(&one.metadata.namespace));
    let rules = rules.flat_map(|route| route.services().map(move |(place, to)| Entry::Rule(route, place, to)));
    Ok(paths.chain(rules).collect())
}

impl<'a> Entry<'a> {
    pub(super) fn meta(&self) -> &'a Meta {
        match self {
            Entry::Path(ingress, ..) => &ingress.metadata,
            Entry::Rule(route, ..) => &route.metadata,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Entry::Path(..) => Kind::Ingress,
            Entry::Rule(..) => Kind::IngressRoute,
        }
    }

    /// The object as a subject.
    pub(super) fn subject(&self) -> Subject {
        let (namespace, name) = self.meta().key();
        Subject::object(self.kind(), namespace, name)
    }

    /// The path or rule as evidence.
    pub(super) fn evidence(&self) -> Evidence {
        match self {
            Entry::Path(_, path, _) => Evidence::field(self.subject(), "spec.rules[].http.paths[].path", *path),
            Entry::Rule(_, (rule, at), service) => Evidence::field(
                self.subject(),
                format!("spec.routes[{rule}].services[{at}].name"),
                service.name.as_str(),
            ),
        }
    }

    /// The namespace and name of the Service.
    pub(super) fn to(&self) -> (&'a str, &'a str) {
        match self {
            Entry::Path(ingress, _, service) => (&ingress.metadata.namespace, &service.name),
            Entry::Rule(route, _, service) if service.namespace.is_empty() => {
                (&route.metadata.namespace, &service.name)
            }
            Entry::Rule(_, _, service) => (&service.namespace, &service.name),
        }
    }

    /// The Service and its port; `None` if it does not exist or has no selector.
    pub(super) fn service<'s>(&self, services: &'s [Service]) -> Option<(&'s Service, &'s ServicePort)> {
        let service = services.iter().find(|service| service.metadata.key() == self.to());
        let service = service.filter(|service| !service.spec.selector.is_empty())?;
        let is_port = |port: &&ServicePort| match self {
            Entry::Path(_, _, to) => match to.port.number {
                Some(number) => port.port == number,
                None => port.name == to.port.name,
            },
            Entry::Rule(_, _, to) => match &to.port {
                Some(TargetPort::Number(number)) => port.port == *number,
                Some(TargetPort::Name(name)) => port.name == *name,
                None => true,
            },
        };
        Some((service, service.spec.ports.iter().find(is_port)?))
    }

    /// The number of the port, if it is written as one.
    pub(super) fn number(&self) -> Option<u16> {
        match self {
            Entry::Path(_, _, to) => to.port.number,
            Entry::Rule(_, _, to) => match &to.port {
                Some(TargetPort::Number(number)) => Some(*number),
                Some(TargetPort::Name(_)) | None => None,
            },
        }
    }

    /// Whether a controller serves it.
    pub(super) fn is_served(&self, classes: &Classes<'_>, caller: &Caller<'_>) -> bool {
        match self {
            Entry::Path(ingress, ..) => classes.serves(caller, ingress),
            Entry::Rule(..) => caller.of.name == TRAEFIK,
        }
    }

    /// Whether its own setting or that of the Service makes the controller send requests to the Service's address;
    /// `None` if none is set.
    pub(super) fn own_upstream(&self, caller: &Caller<'_>, service: &Meta) -> Option<bool> {
        match self {
            Entry::Path(ingress, ..) => caller.of.annotated(Some(&ingress.metadata), service),
            Entry::Rule(_, _, to) => to.native_lb,
        }
    }

    /// The evidence that it does not.
    pub(super) fn lacking_upstream(&self, caller: &Caller<'_>, service: &Meta) -> Evidence {
        match (self, caller.of.upstream) {
            (Entry::Rule(_, (rule, at), to), _) => Evidence::field(
                self.subject(),
                format!("spec.routes[{rule}].services[{at}].nativeLB"),
                to.native_lb.map_or_else(|| "not set".to_owned(), |is_set| is_set.to_string()),
            ),
            (Entry::Path(ingress, ..), Some((kind, key))) => {
                let meta = if kind == "Ingress" { &ingress.metadata } else { service };
                let path = format!("metadata.annotations[{key}]");
                let (namespace, name) = meta.key();
                let said = meta.annotation(key).unwrap_or("not set");
                Evidence::field(format!("{kind} {namespace}/{name}"), path, said)
            }
            (Entry::Path(..), None) => Evidence::other("ingress controller", caller.of.name),
        }
    }

    /// The steps that make the controller use the address of the Service. `authority`: the full name and the port of
    /// the Service, for a controller in ingress mode.
    pub(super) fn use_service(&self, caller: &Caller<'_>, to: &Meta, authority: Option<&str>) -> Remedy {
        let act = "Let the controller send requests to the Service (also in its source manifest): its proxy then \
            selects the pod";
        let (namespace, service) = self.to();
        let name = self.meta().name.as_str();
        let command = match (self, caller.of.upstream) {
            (Entry::Rule(_, (rule, at), _), _) => {
                let path = format!("/spec/routes/{rule}/services/{at}/nativeLB");
                let patch = serde_json::json!([{"op": "add", "path": path, "value": true}]).to_string();
                let patched = kubectl().namespace(&self.meta().namespace).words("patch ingressroutes.traefik.io");
                Some(patched.operand(name).words("--type json -p").arg(patch))
            }
            (Entry::Path(..), Some((kind, key))) => {
                let (resource, object, meta) = if kind == "Ingress" {
                    ("annotate ingress", name, self.meta())
                } else {
                    ("annotate service", service, to)
                };
                let set = kubectl().namespace(namespace).words(resource).operand(object).arg(format!("{key}=true"));
                let is_other = meta.annotation(key).is_some();
                Some(if is_other { set.words("--overwrite") } else { set })
            }
            (Entry::Path(..), None) => None,
        };
        let sticky = match self {
            Entry::Path(ingress, ..) => {
                AFFINITY.iter().find(|key| ingress.metadata.annotation(key).is_some_and(|value| !value.is_empty()))
            }
            Entry::Rule(..) => None,
        };
        let act = match sticky {
            Some(key) => format!("{act}. Sticky sessions end ({key})"),
            None => act.to_owned(),
        };
        let is_on_host = caller.pod.spec.host_network;
        let header = match authority {
            Some(authority) => format!("Or configure the controller to set the header l5d-dst-override: {authority}"),
            None => "Or mesh the controller in ingress mode (linkerd.io/inject: ingress) and configure it to set the \
                     header l5d-dst-override"
                .to_owned(),
        };
        match command {
            // The injector passes over such pods.
            Some(command) if is_on_host => Remedy::new().run(StepKind::Annotation, act, command),
            None if is_on_host => Remedy::new().note(
                "Move the controller off the network of its nodes (hostNetwork: false): the injector adds no proxy to \
                 such pods. Then mesh it in ingress mode (linkerd.io/inject: ingress)",
            ),
            Some(command) => Remedy::new().run(StepKind::Annotation, act, command).note(header),
            None => Remedy::new().note(
                "Mesh the controller in ingress mode (linkerd.io/inject: ingress) and configure it to set the header \
                 l5d-dst-override",
            ),
        }
    }
}
