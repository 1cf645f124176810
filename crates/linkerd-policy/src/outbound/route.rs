//! Routes as the policy controller evaluates them for clients: the destinations of each rule, with timeouts
//! and retries.

use std::collections::{HashMap, HashSet};

use jiff::SignedDuration;

use super::super::parse::Broken;
use super::super::routes::{self, RouteKind};
use super::settings::{self, Retry, Timeouts};
use crate::knowledge::go_duration;
use crate::names::with_article;
use crate::objects::{BackendRef, POLICY_CONTROLLER, ParentRef, Route, RouteFilter, RouteRule, Service};

/// A route of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboundRoute<'a> {
    pub kind: RouteKind,
    /// The object.
    pub route: &'a Route,
    pub rules: Vec<OutboundRule<'a>>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboundRule<'a> {
    /// Its matches and actions.
    pub rule: &'a RouteRule,
    /// The backends of its requests; none means the original destination of the call.
    pub backends: Vec<Backend<'a>>,
    /// Its timeouts; if it has none, those of the called object.
    pub timeouts: Timeouts,
    /// Its retries; if it has none, those of the called object.
    pub retry: Option<Retry>,
}

/// The destination of a part of the requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Backend<'a> {
    /// The weight, relative to the other backends.
    pub weight: u32,
    /// The reference in the rule.
    pub named: &'a BackendRef,
    /// Its resolved destination.
    pub to: Destination<'a>,
}

/// The resolved destination of a backend.
#[derive(Debug, Clone, PartialEq)]
pub enum Destination<'a> {
    /// A port of an existing Service.
    Service {
        namespace: &'a str,
        port: u16,
        /// Whether the Service declares it; requests to others fail with 502.
        declared: bool,
    },
    /// A port of a missing Service: requests fail with 500.
    NoService { namespace: &'a str, port: u16 },
    /// To the requested address, through the EgressNetwork that the route is attached to.
    Egress { namespace: &'a str },
    /// An EgressNetwork that cannot be used here, and why: requests fail with 500.
    NoEgress {
        namespace: &'a str,
        /// Why, in the controller's words.
        why: String,
    },
    /// An invalid destination, with the controller's reason: requests fail with 500.
    Invalid(String),
}

impl Destination<'_> {
    /// The reason that requests to it fail; `None` if they do not.
    pub fn fails(&self, name: &str) -> Option<String> {
        match self {
            Destination::Service { declared: true, .. } | Destination::Egress { .. } => None,
            Destination::Service { namespace, port, declared: false } => {
                Some(format!("Service {namespace}/{name} declares no port {port}"))
            }
            Destination::NoService { namespace, .. } => Some(format!("Service {namespace}/{name} does not exist")),
            Destination::NoEgress { why, .. } | Destination::Invalid(why) => Some(why.clone()),
        }
    }
}

/// A route that the controller could read completely.
#[derive(Debug, Clone)]
pub(super) struct Read<'a> {
    pub(super) kind: RouteKind,
    pub(super) route: &'a Route,
    timeouts: Timeouts,
    retry: Option<Retry>,
}

/// Reads a route, with its annotations if they apply. The outer error is an object that cannot be read at
/// all; the inner error is the reason that the controller skips the route.
pub(super) fn read(kind: RouteKind, route: &Route, annotations: bool) -> Result<Result<Read<'_>, String>, Broken> {
    drop(routes::read(kind, route)?);
    Ok(convert(kind, route, annotations))
}

fn convert(kind: RouteKind, route: &Route, annotations: bool) -> Result<Read<'_>, String> {
    if matches!(kind, RouteKind::Tls | RouteKind::Tcp) {
        let rules = route.spec.rules.len();
        return match rules {
            1 => Ok(Read { kind, route, timeouts: Timeouts::default(), retry: None }),
            _ => Err(format!("it has {rules} rules; {} must have one", with_article(&kind.kind().to_string()))),
        };
    }
    let (timeouts, retry) = match annotations {
        true => (settings::timeouts(&route.metadata)?, settings::retry(&route.metadata, kind)?),
        false => (Timeouts::default(), None),
    };
    for rule in &route.spec.rules {
        rule.matches.iter().try_for_each(|said| routes::matched(kind, said))?;
        rule.filters.iter().try_for_each(|said| routes::filtered(kind, said))?;
    }
    Ok(Read { kind, route, timeouts, retry })
}

/// The destination of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Called<'c> {
    /// `Service` or `EgressNetwork`.
    pub(super) kind: &'static str,
    pub(super) namespace: &'c str,
    pub(super) name: &'c str,
    pub(super) port: u16,
}

impl Called<'_> {
    fn group(self) -> &'static str {
        if self.kind == "Service" { "" } else { "policy.linkerd.io" }
    }
}

impl<'a> Read<'a> {
    /// Whether it is an accepted route of the destination: it names it, and the controller's status accepts
    /// it there.
    pub(super) fn is_of(&self, called: Called<'_>) -> bool {
        let here = &self.route.metadata.namespace;
        let at = |parent: &&ParentRef| {
            parent.name == called.name && parent.namespace.as_deref().unwrap_or(here) == called.namespace
        };
        self.route.spec.parent_refs.iter().filter(at).any(|parent| match parent.port {
            Some(port) => {
                parent.is_a(called.group(), called.kind)
                    && port == i64::from(called.port)
                    && self.is_accepted(called, Some(port))
            }
            // Without a port it applies if a Service accepted it, at any port. The controller stores such
            // routes by name alone, so that an EgressNetwork with the Service's name has them too.
            None => {
                let service = Called { kind: "Service", ..called };
                let linkerds = parent.is_a("", "Service") || parent.is_a("policy.linkerd.io", "EgressNetwork");
                linkerds && self.is_accepted(service, None)
            }
        })
    }

    /// Whether the controller accepted the route in its status, for the given port if any.
    fn is_accepted(&self, called: Called<'_>, port: Option<i64>) -> bool {
        let group = |parent: &ParentRef| match parent.group.as_deref() {
            None | Some("" | "core") => String::new(),
            Some(other) => other.to_owned(),
        };
        let mut statuses = self.route.status.parents.iter();
        statuses.any(|status| {
            let parent = &status.parent_ref;
            parent.name == called.name
                && parent.kind.as_deref() == Some(called.kind)
                && group(parent) == called.group()
                && (port.is_none() || parent.port.is_none() || parent.port == port)
                && status.conditions.iter().any(|said| said.kind == "Accepted" && said.status == "True")
        })
    }

    /// Whether Linkerd's controller has written a status for it.
    pub(super) fn is_judged(&self) -> bool {
        self.route.status.parents.iter().any(|parent| parent.controller_name == POLICY_CONTROLLER)
    }

    /// Its effect on calls to `called`.
    pub(super) fn applied_to(&self, called: Called<'_>, world: &World<'a>) -> OutboundRoute<'a> {
        let rule = |rule: &'a RouteRule| {
            let request = rule.timeouts.as_ref().and_then(|limits| limits.request.as_deref());
            let of_rule = match self.kind {
                RouteKind::LinkerdHttp => {
                    // The controller drops the sign.
                    request.and_then(go_duration).map(SignedDuration::unsigned_abs)
                }
                RouteKind::Http if world.gateway_timeouts => request.and_then(|text| settings::duration(text).ok()),
                _ => None,
            };
            let mut timeouts = self.timeouts;
            timeouts.request = timeouts.request.or(of_rule.filter(|limit| !limit.is_zero()));
            let backends = rule.backend_refs.iter().map(|named| self.backend(named, called, world));
            OutboundRule { rule, backends: backends.collect(), timeouts, retry: self.retry.clone() }
        };
        OutboundRoute { kind: self.kind, route: self.route, rules: self.route.spec.rules.iter().map(rule).collect() }
    }

    /// The namespace of the destination. In every release, backends without a namespace are resolved there,
    /// not in the route's namespace as in the Gateway API and in the route's status.
    fn namespace_of(&self, called: Called<'_>) -> &'a str {
        let own = self.route.metadata.namespace.as_str();
        let named = self.route.spec.parent_refs.iter().filter_map(|parent| parent.namespace.as_deref());
        named.chain([own]).find(|namespace| *namespace == called.namespace).unwrap_or(own)
    }

    fn backend(&self, named: &'a BackendRef, called: Called<'_>, world: &World<'a>) -> Backend<'a> {
        let weight = named.weight.and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1);
        let namespace = named.namespace.as_deref().unwrap_or(self.namespace_of(called));
        let port = named.port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
        let unsupported = named.filters.iter().find_map(|filter| unsupported(self.kind, filter));
        let egress = named.is_a("policy.linkerd.io", "EgressNetwork");
        let to = if !egress && !named.is_a("", "Service") {
            let group = named.group.as_deref().unwrap_or("core");
            let kind = named.kind.as_deref().unwrap_or("<empty>");
            Destination::Invalid(format!("unsupported backend type {group} {kind}"))
        } else if let Some(filter) = unsupported {
            Destination::Invalid(format!("unsupported backend filter: {filter}"))
        } else if egress {
            match world.no_egress(namespace, &named.name, called) {
                Some(why) => Destination::NoEgress { namespace, why },
                None => Destination::Egress { namespace },
            }
        } else {
            match port {
                None => Destination::Invalid(format!("missing port for backend Service {}", named.name)),
                Some(port) => match world.services.get(&(namespace, named.name.as_str())) {
                    Some(service) => {
                        let declared = service.spec.ports.iter().any(|known| known.port == port);
                        Destination::Service { namespace, port, declared }
                    }
                    None => Destination::NoService { namespace, port },
                },
            }
        };
        Backend { weight, named, to }
    }
}

/// Other objects that a route depends on, and the behavior of the release.
pub(super) struct World<'a> {
    /// Services, by namespace and name.
    pub(super) services: HashMap<(&'a str, &'a str), &'a Service>,
    /// EgressNetworks, by namespace and name.
    pub(super) egress: HashSet<(&'a str, &'a str)>,
    pub(super) gateway_timeouts: bool,
}

impl World<'_> {
    /// The controller's reason to reject an EgressNetwork as a backend.
    fn no_egress(&self, namespace: &str, name: &str, called: Called<'_>) -> Option<String> {
        if !self.egress.contains(&(namespace, name)) {
            return Some(format!("EgressNetwork not found {name}"));
        }
        if called.kind == "Service" {
            return Some("EgressNetwork backends attach to EgressNetwork parents only".to_owned());
        }
        let same = (called.namespace, called.name) == (namespace, name);
        (!same).then(|| "Route with EgressNetwork backend needs to have the same EgressNetwork as a parent".to_owned())
    }
}

/// A filter of a backend that is not supported there, in the controller's words.
fn unsupported(kind: RouteKind, filter: &RouteFilter) -> Option<&'static str> {
    if filter.request_header_modifier.is_some() || filter.response_header_modifier.is_some() {
        return None;
    }
    if filter.request_redirect.is_some() && kind.is_http() {
        return None;
    }
    Some(match filter {
        RouteFilter { request_mirror: Some(_), .. } => "RequestMirror filter is not supported",
        RouteFilter { url_rewrite: Some(_), .. } if kind.is_http() => "URLRewrite filter is not supported",
        RouteFilter { extension_ref: Some(_), .. } => "ExtensionRef filter is not supported",
        _ => "unknown filter",
    })
}
