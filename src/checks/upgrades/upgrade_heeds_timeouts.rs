//! `upgrade-heeds-timeouts`: timeouts in rules of HTTPRoutes have no effect today, but end requests from the
//! target on.

use std::collections::BTreeMap;

use super::Upgrade;
use crate::checks::policy::{defined, set};
use crate::checks::prelude::*;
use crate::model::policy::{Controller, OutboundIndex, OutboundObjects, OutboundRule, Quirks, RouteKind};
use crate::objects::{GRPCRoute, HTTPRoute, LinkerdHTTPRoute, Route};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let read = |version: &LinkerdVersion| Quirks::from_version(Some(version), ctx.knowledge);
    if read(&way.from).gateway_timeouts || !read(way.to).gateway_timeouts {
        return Err(Unjudged::not_applicable("both releases handle timeouts in HTTPRoute rules alike"));
    }
    let routes = defined::<HTTPRoute>(ctx)?;
    let limited = |route: &&Route| {
        let limit = |rule: &crate::objects::RouteRule| rule.timeouts.as_ref().is_some_and(|of| of.request.is_some());
        ctx.judges(&route.metadata.namespace) && route.spec.rules.iter().any(limit)
    };
    let limited: Vec<&Route> = routes.iter().filter(limited).collect();
    if limited.is_empty() {
        return Ok(Vec::new().into());
    }
    let services = ctx.complete_list::<Service>()?;
    let objects = OutboundObjects {
        services,
        egress_networks: &[],
        routes: vec![
            (RouteKind::Http, routes),
            (RouteKind::LinkerdHttp, defined::<LinkerdHTTPRoute>(ctx)?),
            (RouteKind::Grpc, defined::<GRPCRoute>(ctx)?),
        ],
    };
    let namespace = ctx.namespaces().control_plane.as_str();
    let index = |version: &LinkerdVersion| {
        let controller = Controller::find(ctx.complete_list::<Deployment>()?, namespace, read(version))
            .map_err(|trouble| Unjudged::blocked("control-plane-not-ready", trouble.to_string()))?;
        Ok::<_, Unjudged>(OutboundIndex::new(controller, &objects))
    };
    let (today, then) = (index(&way.from)?, index(way.to)?);
    let findings = limited.into_iter().filter_map(|route| {
        let rules = begin(route, services, (&today, &then));
        (!rules.is_empty()).then(|| finding(ctx, &way, route, &rules))
    });
    Ok(findings.collect())
}

/// The rules of a route whose limit begins to count for calls of a Service that it is attached to, by their place.
fn begin<'a>(
    route: &Route,
    services: &[Service],
    (today, then): (&OutboundIndex<'a>, &OutboundIndex<'a>),
) -> BTreeMap<usize, String> {
    let own = route.metadata.namespace.as_str();
    let mut rules = BTreeMap::new();
    for parent in route.spec.parent_refs.iter().filter(|parent| parent.is_a("", "Service")) {
        let key = (parent.namespace.as_deref().unwrap_or(own), parent.name.as_str());
        let Some(service) = services.iter().find(|service| service.metadata.key() == key) else { continue };
        for port in service.spec.ports.iter().map(|port| port.port) {
            let of = |index: &OutboundIndex<'a>| -> Vec<OutboundRule<'a>> {
                let answer = index.of_service(key, port, own);
                let counts = answer.routes.into_iter().filter(|one| one.kind == RouteKind::Http);
                counts
                    .filter(|one| one.route.metadata.key() == route.metadata.key())
                    .flat_map(|one| one.rules)
                    .collect()
            };
            for (at, (old, new)) in of(today).iter().zip(&of(then)).enumerate() {
                let written = new.rule.timeouts.as_ref().and_then(|of| of.request.clone());
                if let (Some(written), true) = (written, old.timeouts != new.timeouts) {
                    rules.insert(at, written);
                }
            }
        }
    }
    rules
}

fn finding(ctx: &Context<'_>, way: &Upgrade<'_>, route: &Route, rules: &BTreeMap<usize, String>) -> Finding {
    let (namespace, name) = route.metadata.key();
    let object = format!("HTTPRoute {namespace}/{name}");
    let seen = rules
        .iter()
        .map(|(at, written)| Evidence::field(&object, format!("spec.rules[{at}].timeouts.request"), written.as_str()));
    let look =
        kubectl().namespace(namespace).words("get").arg(Kind::HTTPRoute.resource()).operand(name).words("-o yaml");
    let removed = rules
        .keys()
        .map(|at| serde_json::json!({"op": "remove", "path": format!("/spec/rules/{at}/timeouts/request")}));
    ctx.finding(
        Subject::object(Kind::HTTPRoute, namespace, name),
        "the installed release ignores the timeouts of its rules, and the target applies them: meshed \
         clients get an error for requests that take longer",
    )
    .evidences(seen)
    .evidence(way.target.clone())
    .remedy(Remedy::new().command("Compare these timeouts with how long requests take today", look).command(
        "If they are unintended, remove them before the upgrade, or raise them",
        set(Kind::HTTPRoute, &route.metadata, removed),
    ))
}
