//! `route-backend-without-endpoints`: a rule of a route sends a share of the requests to a Service without
//! endpoints, while other backends have some.

use std::collections::{BTreeMap, BTreeSet};

use super::backends::{ServiceKey, is_of_streams, parents, routes, sent, served_by, traffic, weight};
use super::profile_overrides;
use super::survey::{about, defined, field, on, put, set, test};
use crate::checks::multicluster::links::is_mirror;
use crate::checks::prelude::*;
use crate::objects::{BackendRef, EndpointSlice, Route, ServiceProfile};

/// The share that rules of a route send to a Service without endpoints.
struct Lost<'a> {
    service: &'a Service,
    /// The rules: index, the backend's weight, and the sum of all weights.
    rules: Vec<(usize, i64, i64)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (services, slices) = (ctx.complete_list::<Service>()?, ctx.complete_list::<EndpointSlice>()?);
    let routes = routes(ctx)?;
    let profiles = ctx.or_note(defined::<ServiceProfile>(ctx)).unwrap_or_default();
    if routes.is_empty() && profiles.is_empty() {
        return Ok(Verdict::fine());
    }
    let services: BTreeMap<ServiceKey<'_>, &Service> =
        services.iter().map(|service| (service.metadata.key(), service)).collect();
    let served = served(slices);
    let findings = routes.into_iter().flat_map(|(kind, route)| {
        lost(route, &services, &served).into_values().map(move |lost| finding(ctx, kind, route, &lost))
    });
    let overrides = profile_overrides::lost(ctx, profiles, &services, &served);
    Ok(findings.chain(overrides).collect())
}

/// The Services with a ready endpoint.
fn served(slices: &[EndpointSlice]) -> BTreeSet<ServiceKey<'_>> {
    let ready =
        |slice: &&EndpointSlice| slice.endpoints.iter().any(|endpoint| endpoint.conditions.ready.unwrap_or(true));
    slices.iter().filter(ready).filter_map(key_of).collect()
}

fn key_of(slice: &EndpointSlice) -> Option<ServiceKey<'_>> {
    let service = slice.service()?;
    Some((slice.metadata.namespace.as_str(), service))
}

fn lost<'a>(
    route: &'a Route,
    services: &BTreeMap<ServiceKey<'a>, &'a Service>,
    served: &BTreeSet<ServiceKey<'a>>,
) -> BTreeMap<ServiceKey<'a>, Lost<'a>> {
    let mut found: BTreeMap<ServiceKey<'a>, Lost<'a>> = BTreeMap::new();
    let parents: BTreeSet<ServiceKey<'a>> = parents(route).collect();
    let rules = || route.spec.rules.iter().enumerate();
    for (parent, (at, rule)) in parents.into_iter().flat_map(|parent| rules().map(move |rule| (parent, rule))) {
        let total = sent(&rule.backend_refs).map(weight).sum();
        let keys = || sent(&rule.backend_refs).map(move |backend| (backend, served_by(backend, parent)));
        // If no backend has endpoints, the application is switched off and the route is not the problem.
        if !keys().any(|(_, key)| served.contains(&key)) && !served.contains(&parent) {
            continue;
        }
        for (backend, key) in keys().filter(|(_, key)| !served.contains(key)) {
            let Some(service) = services.get(&key).filter(|service| !is_mirror(service)) else { continue };
            let one = found.entry(key).or_insert(Lost { service, rules: Vec::new() });
            if !one.rules.iter().any(|(known, ..)| *known == at) {
                one.rules.push((at, weight(backend), total));
            }
        }
    }
    found
}

fn finding(ctx: &Context<'_>, kind: Kind, route: &Route, lost: &Lost<'_>) -> Finding {
    let (meta, service) = (&route.metadata, &lost.service.metadata);
    let (namespace, name) = service.key();
    let route_name = format!("{kind} {}", meta.name);
    let elsewhere = lost.service.spec.kind.as_str() == "ExternalName";
    let traffic = traffic(kind).to_ascii_lowercase();
    let status = if is_of_streams(kind) { "" } else { " with 504" };
    let message = if elsewhere {
        format!(
            "{route_name} sends {traffic} to Service {namespace}/{name}, an ExternalName, for which proxies find no \
             endpoint. These {traffic} fail{status}, while others succeed"
        )
    } else {
        format!(
            "{route_name} sends {traffic} to Service {namespace}/{name}, which has no ready endpoint. These {traffic} \
             fail{status}, while others succeed"
        )
    };
    let shares = lost.rules.iter().map(|(at, weight, total)| {
        field(kind, meta, &format!("spec.rules[{at}].backendRefs"), format!("{name} has weight {weight} of {total}"))
    });
    let proof = match elsewhere {
        true => field(Kind::Service, service, "spec.type", "ExternalName"),
        false => Evidence::other(format!("EndpointSlices of {namespace}/{name}"), "no ready endpoint in any"),
    };
    about(ctx, kind, meta, message)
        .parameter(format!("{namespace}/{name}"))
        .evidences(shares)
        .evidence(proof)
        .remedy(if elsewhere { by_name(kind, meta) } else { remedy(kind, route, lost) })
        .likely_if(elsewhere)
}

fn remedy(kind: Kind, route: &Route, lost: &Lost<'_>) -> Remedy {
    let service = &lost.service.metadata;
    Remedy::new()
        .command(
            "Check the endpoints of the Service: its selector may match no pod, or its pods are not ready",
            kubectl()
                .namespace(&service.namespace)
                .words("get endpointslices")
                .option("-l", format!("kubernetes.io/service-name={}", service.name)),
        )
        .command(
            "Until it has endpoints, set its weight to 0 in the route. Linkerd does not move a backend's \
             share to other backends automatically, not even with circuit breaking",
            set(kind, &route.metadata, without_share(route, lost)),
        )
}

/// The operations that set the weight of each such backend to 0.
fn without_share(route: &Route, lost: &Lost<'_>) -> Vec<serde_json::Value> {
    let (namespace, name) = lost.service.metadata.key();
    let rules = lost.rules.iter().filter_map(|(at, ..)| Some((at, route.spec.rules.get(*at)?)));
    let backends = rules.flat_map(|(at, rule)| rule.backend_refs.iter().enumerate().map(move |(i, to)| (at, i, to)));
    let is_it = |to: &BackendRef| {
        to.is_a("", "Service") && to.name == name && to.namespace.as_deref().is_none_or(|of| of == namespace)
    };
    backends
        .filter(|(_, _, to)| is_it(to))
        .flat_map(|(at, i, _)| {
            let path = format!("/spec/rules/{at}/backendRefs/{i}");
            [test(format!("{path}/name"), name), put(format!("{path}/weight"), 0)]
        })
        .collect()
}

fn by_name(kind: Kind, route: &Meta) -> Remedy {
    Remedy::new().run(
        StepKind::Command,
        "Name the intended Service in backendRefs, with its namespace (a host outside of the cluster cannot be a \
         backend)",
        on("edit", kind, route),
    )
}
