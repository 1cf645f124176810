//! `ingress-bypasses-routes`: a meshed ingress controller sends requests to pods, so routes of the Service
//! have no effect. In ingress mode, it does so without the header that names the Service. The same holds for a meshed
//! Envoy Gateway.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::envoy_gateway::{Routing, meshed_pods, to_services};
use super::gateways::{routes, services_of};
use super::ingress::{Caller, Classes, callers, is_in_ingress_mode};
use super::ingress_entry::{Entry, entries};
use super::ingress_header::{Header, header};
use super::ingress_upstream::Upstream;
use super::survey::{Survey, defined, survey};
use crate::checks::prelude::*;
use crate::model::injection::INJECT;
use crate::model::policy::{OutboundIndex, OutboundObjects, RouteKind};
use crate::objects::{Route, ServiceProfile};

/// The routes that a controller bypasses on the way to a Service.
struct Bypass<'a> {
    entry: Entry<'a>,
    service: &'a Service,
    port: u16,
    caller: &'a Caller<'a>,
    /// The settings that make the controller send requests to pods.
    because: Vec<Evidence>,
    what: Vec<(Kind, &'a Meta)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let pods = ctx.complete_list::<Pod>()?;
    let callers = callers(ctx, survey, pods);
    let callers: Vec<&Caller<'_>> = callers.iter().filter(|caller| caller.identity.is_some()).collect();
    let gateway_routes = of_envoy_gateways(ctx, survey, pods);
    if callers.is_empty() && gateway_routes.is_empty() {
        return Err(Unjudged::not_applicable("no known ingress controller or Gateway has a proxy"));
    }
    let (entries, services) = (entries(ctx)?, ctx.complete_list::<Service>()?);
    let profiles = defined::<ServiceProfile>(ctx)?;
    let classes = Classes::new(ctx);
    let objects = OutboundObjects {
        services,
        egress_networks: &[],
        routes: vec![
            (RouteKind::Http, survey.objects.http_routes),
            (RouteKind::LinkerdHttp, survey.objects.linkerd_http_routes),
            (RouteKind::Grpc, survey.objects.grpc_routes),
        ],
    };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let domain = &survey.index.controller.cluster_domain;
    let bypassed = |service: &Service, port: u16, from: &str| {
        let outbound = index.of_service(service.metadata.key(), port, from);
        let mut what: Vec<(Kind, &Meta)> =
            outbound.routes.iter().map(|route| (route.kind.kind(), &route.route.metadata)).collect();
        let full = format!("{}.{}.svc.{domain}", service.metadata.name, service.metadata.namespace);
        let profile = profiles.iter().find(|profile| {
            profile.metadata.name == full && !(profile.spec.routes.is_empty() && profile.spec.dst_overrides.is_empty())
        });
        what.extend(profile.map(|profile| (Kind::ServiceProfile, &profile.metadata)));
        what
    };
    let mut found: BTreeMap<(Subject, &str), Bypass<'_>> = BTreeMap::new();
    for entry in entries {
        let Some(caller) = callers.iter().find(|one| entry.is_served(&classes, one)) else { continue };
        let Some((service, port)) = entry.service(services) else { continue };
        let what = bypassed(service, port.port, &caller.pod.metadata.namespace);
        if what.is_empty() {
            continue;
        }
        let Some(because) = because(ctx, &classes, (&entry, caller), &service.metadata) else { continue };
        let key = (entry.subject(), service.metadata.name.as_str());
        let port = port.port;
        found.entry(key).or_insert(Bypass { entry, service, port, caller, because, what });
    }
    let mut findings: Vec<Finding> = found.values().map(|bypass| finding(ctx, domain, bypass)).collect();
    let routing = LazyCell::new(|| Routing::read(ctx));
    for (kind, route, gateway) in gateway_routes {
        for (service, port) in services_of(services, route) {
            let mut what = bypassed(service, port.port, &gateway.metadata.namespace);
            // The Gateway applies its own routes itself.
            what.retain(|(other, meta)| (*other, meta.key()) != (kind, route.metadata.key()));
            if what.is_empty() {
                continue;
            }
            if let Routing::Endpoints(settings) = &*routing {
                findings.push(of_gateway(ctx, (kind, route), gateway, service, (settings, &what)));
            }
        }
    }
    Ok(findings.into())
}

/// The settings that make a controller send the requests of an entry to pods; `None` if it does not, or if this is
/// unknown.
fn because(
    ctx: &Context<'_>,
    classes: &Classes<'_>,
    (entry, caller): (&Entry<'_>, &Caller<'_>),
    service: &Meta,
) -> Option<Vec<Evidence>> {
    let because = match Upstream::new(ctx, classes, (entry, caller), service) {
        Upstream::Pods(because) => because,
        Upstream::Service | Upstream::ServiceByDefault(_) => return None,
        Upstream::Unknown(missing) => return ctx.or_note(Err(missing)),
    };
    if is_ordinary(caller) {
        return Some(because);
    }
    // In ingress mode, the proxy uses the header that names the Service.
    match header(ctx, entry, caller) {
        Header::Never => Some(because),
        Header::Possible => None,
        Header::Unknown(missing) => ctx.or_note(Err(missing)),
    }
}

/// The routes of meshed Envoy Gateways, each with a pod of its Gateway.
fn of_envoy_gateways<'a>(ctx: &Context<'_>, survey: &Survey<'a>, pods: &'a [Pod]) -> Vec<(Kind, &'a Route, &'a Pod)> {
    routes(ctx, survey)
        .filter_map(|(kind, route)| Some((kind, route, *meshed_pods(ctx, survey, pods, route).first()?)))
        .collect()
}

/// The finding about a route of a meshed Envoy Gateway that sends requests to endpoints.
fn of_gateway(
    ctx: &Context<'_>,
    (kind, route): (Kind, &Route),
    gateway: &Pod,
    service: &Service,
    (settings, what): (&[Evidence], &[(Kind, &Meta)]),
) -> Finding {
    let name = service.metadata.name.as_str();
    let message = format!(
        "Envoy Gateway sends requests directly to the pods of Service {name}. The routes and the profile of the \
         Service (splits, timeouts, retries) have no effect on requests from outside"
    );
    let (of, named) = route.metadata.key();
    let meshed = Subject::object(Kind::Pod, &gateway.metadata.namespace, &gateway.metadata.name);
    ctx.finding(Subject::object(kind, of, named), message)
        .parameter(name)
        .likely()
        .evidences(settings.iter().cloned())
        .evidence(Evidence::field(meshed, "spec.containers", "linkerd-proxy"))
        .evidences(attached(name, what))
        .remedy(to_services(ctx))
}

/// The routes that have no effect, as evidence.
fn attached(service: &str, what: &[(Kind, &Meta)]) -> Vec<Evidence> {
    let evidence = |(kind, meta): &(Kind, &Meta)| {
        let route = Subject::object(*kind, &meta.namespace, &meta.name);
        Evidence::field(route, "attached to", format!("Service {service}"))
    };
    what.iter().map(evidence).collect()
}

/// Whether a controller has a proxy in the ordinary mode. In ingress mode, it uses the header that names the Service.
pub(super) fn is_ordinary(caller: &Caller<'_>) -> bool {
    caller.identity.is_some() && !is_in_ingress_mode(caller.pod)
}

/// The mode of a controller's proxy as evidence.
pub(super) fn mode(caller: &Caller<'_>) -> Evidence {
    let pod = &caller.pod.metadata;
    let said = pod.annotation(INJECT).unwrap_or("not set; it has a proxy");
    Evidence::field(pod.described("Pod"), format!("metadata.annotations[{INJECT}]"), said)
}

fn finding(ctx: &Context<'_>, domain: &str, bypass: &Bypass<'_>) -> Finding {
    let Bypass { entry, service, port, caller, because, what } = bypass;
    let (namespace, name) = service.metadata.key();
    let message = match is_ordinary(caller) {
        true => format!(
            "The ingress controller sends requests directly to the pods of Service {name}. The routes and the \
             profile of the Service (splits, timeouts, retries) have no effect on requests from outside"
        ),
        false => format!(
            "The ingress controller sends requests to the pods of Service {name} without the header l5d-dst-override, \
             which its proxy in ingress mode requires. The routes and the profile of the Service have no effect"
        ),
    };
    let authority = (!is_ordinary(caller)).then(|| format!("{name}.{namespace}.svc.{domain}:{port}"));
    // A template of the controller's own may set the same for all of them.
    ctx.finding(entry.subject(), message)
        .parameter(name)
        .likely()
        .evidences(because.iter().cloned())
        .evidence(mode(caller))
        .evidences(attached(name, what))
        .remedy(entry.use_service(caller, &service.metadata, authority.as_deref()))
}
