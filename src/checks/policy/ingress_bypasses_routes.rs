//! `ingress-bypasses-routes`: a meshed ingress controller sends requests to pods, so routes of the Service
//! have no effect.

use std::collections::BTreeMap;

use super::ingress::{Caller, Classes, callers, service_of};
use super::survey::{defined, survey};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::model::injection::INJECT;
use crate::model::policy::{OutboundIndex, OutboundObjects, RouteKind};
use crate::objects::{Ingress, Kind, Meta, Pod, Service, ServiceProfile};

/// The routes that an Ingress bypasses on the way to a Service.
struct Bypass<'a> {
    ingress: &'a Ingress,
    service: &'a Service,
    caller: &'a Caller<'a>,
    what: Vec<(Kind, &'a Meta)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let callers = callers(ctx, survey, ctx.complete_list::<Pod>()?);
    // In ingress mode, the proxy uses the header that names the Service.
    let callers: Vec<&Caller<'_>> = callers.iter().filter(|caller| is_ordinary(caller)).collect();
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("no known ingress controller has a proxy in the ordinary mode"));
    }
    let (ingresses, services) = (ctx.complete_list::<Ingress>()?, ctx.complete_list::<Service>()?);
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
    let mut found: BTreeMap<(&str, &str, &str), Bypass<'_>> = BTreeMap::new();
    for ingress in ingresses.iter().filter(|ingress| ctx.judges(&ingress.metadata.namespace)) {
        let Some(caller) = callers.iter().find(|one| classes.serves(one.of, ingress)) else { continue };
        for (_, to) in ingress.paths() {
            let (namespace, name) = ingress.metadata.key();
            let Some((service, port)) = service_of(services, namespace, to) else { continue };
            if to_service(caller, &ingress.metadata, &service.metadata) {
                continue;
            }
            let from = caller.pod.metadata.namespace.as_str();
            let outbound = index.of_service(service.metadata.key(), port.port, from);
            let mut what: Vec<(Kind, &Meta)> =
                outbound.routes.iter().map(|route| (route.kind.kind(), &route.route.metadata)).collect();
            let full = format!("{}.{namespace}.svc.{domain}", service.metadata.name);
            let profile = profiles.iter().find(|profile| {
                profile.metadata.name == full
                    && !(profile.spec.routes.is_empty() && profile.spec.dst_overrides.is_empty())
            });
            what.extend(profile.map(|profile| (Kind::ServiceProfile, &profile.metadata)));
            if !what.is_empty() {
                let key = (namespace, name, service.metadata.name.as_str());
                found.entry(key).or_insert(Bypass { ingress, service, caller, what });
            }
        }
    }
    Ok(found.values().map(|bypass| finding(ctx, bypass)).collect::<Vec<_>>().into())
}

/// Whether a controller has a proxy in the ordinary mode. In ingress mode, it uses the header that names the Service.
pub(super) fn is_ordinary(caller: &Caller<'_>) -> bool {
    caller.identity.is_some() && caller.pod.metadata.annotation(INJECT) != Some("ingress")
}

/// The mode of a controller's proxy as evidence.
pub(super) fn mode(caller: &Caller<'_>) -> Evidence {
    let pod = &caller.pod.metadata;
    let said = pod.annotation(INJECT).unwrap_or("not set; it has a proxy");
    let object = format!("Pod {}/{}", pod.namespace, pod.name);
    Evidence::field(object, format!("metadata.annotations[{INJECT}]"), said)
}

/// Whether an annotation makes the controller send requests to the Service's address.
pub(super) fn to_service(caller: &Caller<'_>, ingress: &Meta, service: &Meta) -> bool {
    caller.of.upstream.is_some_and(|(kind, key)| {
        let meta = if kind == "Ingress" { ingress } else { service };
        meta.annotation(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    })
}

fn finding(ctx: &Context<'_>, bypass: &Bypass<'_>) -> Finding {
    let (namespace, name) = bypass.ingress.metadata.key();
    let service = bypass.service.metadata.name.as_str();
    let subject = Subject::object(Kind::Ingress, namespace, name);
    let message = format!(
        "The ingress controller sends requests directly to the pods of Service {service}. The routes and the \
         profile of the Service (splits, timeouts, retries) have no effect on requests from outside"
    );
    let routes = bypass.what.iter().map(|(kind, meta)| {
        Evidence::field(
            Subject::object(*kind, &meta.namespace, &meta.name),
            "attached to",
            format!("Service {service}"),
        )
    });
    // The controller's own configuration may set the same for all Ingresses.
    ctx.finding(subject, message)
        .parameter(service)
        .likely()
        .evidence(lacking_upstream(bypass.caller, (namespace, name), service))
        .evidence(mode(bypass.caller))
        .evidences(routes)
        .remedy(use_service(bypass.caller, (namespace, name), service))
}

/// The evidence that a controller does not use the address of a Service for an Ingress.
pub(super) fn lacking_upstream(
    caller: &Caller<'_>,
    (namespace, ingress): (&str, &str),
    service: &str,
) -> Evidence {
    match caller.of.upstream {
        Some((kind, key)) => {
            let object = if kind == "Ingress" { ingress } else { service };
            let path = format!("metadata.annotations[{key}]");
            Evidence::field(format!("{kind} {namespace}/{object}"), path, "not set")
        }
        None => Evidence::other("ingress controller", caller.of.name),
    }
}

/// The steps that make a controller use the address of a Service.
pub(super) fn use_service(caller: &Caller<'_>, (namespace, ingress): (&str, &str), service: &str) -> Remedy {
    let remedy = match caller.of.upstream {
        Some((kind, key)) => {
            let (resource, object) =
                if kind == "Ingress" { ("annotate ingress", ingress) } else { ("annotate service", service) };
            let annotate =
                kubectl().namespace(namespace).words(resource).operand(object).arg(format!("{key}=true"));
            Remedy::new()
                .run(
                    StepKind::Annotation,
                    "Configure the controller to send requests to the Service; its proxy then selects the \
                     pod",
                    annotate,
                )
                .step(StepKind::Note, "Make the same change in the object's source")
        }
        None => Remedy::new(),
    };
    remedy.step(
        StepKind::Note,
        "Or mesh the controller in ingress mode (linkerd.io/inject: ingress) and configure it to set the \
         header l5d-dst-override",
    )
}
