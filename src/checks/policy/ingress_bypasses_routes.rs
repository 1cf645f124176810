//! `ingress-bypasses-routes`: a meshed ingress controller sends requests to pods, so routes of the Service
//! have no effect.

use std::collections::BTreeMap;

use super::ingress::{Caller, Classes, callers};
use super::ingress_entry::{Entry, entries};
use super::survey::{defined, survey};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Subject};
use crate::model::injection::INJECT;
use crate::model::policy::{OutboundIndex, OutboundObjects, RouteKind};
use crate::objects::{Kind, Meta, Pod, Service, ServiceProfile};

/// The routes that a controller bypasses on the way to a Service.
struct Bypass<'a> {
    entry: Entry<'a>,
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
    let mut found: BTreeMap<(Subject, &str), Bypass<'_>> = BTreeMap::new();
    for entry in entries {
        let Some(caller) = callers.iter().find(|one| entry.is_served(&classes, one)) else { continue };
        let Some((service, port)) = entry.service(services) else { continue };
        if entry.goes_to_service(caller, &service.metadata) {
            continue;
        }
        let from = caller.pod.metadata.namespace.as_str();
        let outbound = index.of_service(service.metadata.key(), port.port, from);
        let mut what: Vec<(Kind, &Meta)> =
            outbound.routes.iter().map(|route| (route.kind.kind(), &route.route.metadata)).collect();
        let full = format!("{}.{}.svc.{domain}", service.metadata.name, service.metadata.namespace);
        let profile = profiles.iter().find(|profile| {
            profile.metadata.name == full
                && !(profile.spec.routes.is_empty() && profile.spec.dst_overrides.is_empty())
        });
        what.extend(profile.map(|profile| (Kind::ServiceProfile, &profile.metadata)));
        if !what.is_empty() {
            let key = (entry.subject(), service.metadata.name.as_str());
            found.entry(key).or_insert(Bypass { entry, service, caller, what });
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

fn finding(ctx: &Context<'_>, bypass: &Bypass<'_>) -> Finding {
    let service = bypass.service.metadata.name.as_str();
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
    // The controller's own configuration may set the same for all of them.
    ctx.finding(bypass.entry.subject(), message)
        .parameter(service)
        .likely()
        .evidence(bypass.entry.lacking_upstream(bypass.caller))
        .evidence(mode(bypass.caller))
        .evidences(routes)
        .remedy(bypass.entry.use_service(bypass.caller))
}
