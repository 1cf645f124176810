//! `route-parent-port-undeclared`: a route is attached to a port that its Service does not declare.

use std::collections::BTreeMap;

use super::backends::{ServiceKey, attached, routes, service_of};
use super::route_backend_port_undeclared::target;
use super::survey::{about, field, on, put, set, test};
use crate::checks::prelude::*;
use crate::objects::Route;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let routes = routes(ctx)?;
    if routes.is_empty() {
        return Ok(Verdict::fine());
    }
    let services: BTreeMap<ServiceKey<'_>, &Service> =
        services.iter().map(|service| (service.metadata.key(), service)).collect();
    let findings = routes.into_iter().flat_map(|(kind, route)| {
        let undeclared = undeclared(route, &services);
        let reaches_others = attached(route).count() > undeclared.len();
        undeclared.into_iter().map(move |found| finding(ctx, (kind, route), found, reaches_others))
    });
    Ok(findings.collect())
}

/// The Services and ports to which a route is attached in vain.
fn undeclared<'a>(route: &'a Route, services: &BTreeMap<ServiceKey<'a>, &'a Service>) -> Vec<(&'a Service, i64)> {
    let found = attached(route).filter_map(|parent| {
        let (port, service) = (parent.port?, services.get(&service_of(route, parent))?);
        let declares = service.spec.ports.iter().any(|known| i64::from(known.port) == port);
        let has_ports = !service.spec.cluster_ip.headless && service.spec.kind.as_str() != "ExternalName";
        (has_ports && !declares).then_some((*service, port))
    });
    found.collect()
}

fn finding(
    ctx: &Context<'_>,
    (kind, route): (Kind, &Route),
    (service, port): (&Service, i64),
    reaches_others: bool,
) -> Finding {
    let meta = &route.metadata;
    let (namespace, name) = service.metadata.key();
    let declared: Vec<String> = service.spec.ports.iter().map(|port| port.port.to_string()).collect();
    let declared = declared.join(", ");
    let effect = if reaches_others { "it has no effect there" } else { "it has no effect" };
    let message = format!(
        "The route is attached to port {port} of Service {namespace}/{name}, which does not declare the \
         port. Its status is accepted, but {effect}"
    );
    about(ctx, kind, meta, message)
        .parameter(format!("{namespace}/{name}:{port}"))
        .evidence(field(kind, meta, "spec.parentRefs", format!("{name}, port {port}")))
        .evidence(field(Kind::Service, &service.metadata, "spec.ports", declared.clone()))
        .remedy(Remedy::new().command(
            format!("Name a port that the Service declares ({declared}) in parentRefs, or no port for all of them"),
            match target(service, port) {
                Some(declared) => set(kind, meta, corrected(route, (service, port), declared)),
                None => on("edit", kind, meta),
            },
        ))
}

/// The operations that name another port in each reference to this one.
fn corrected(route: &Route, (service, port): (&Service, i64), declared: u16) -> Vec<serde_json::Value> {
    let parents = route.spec.parent_refs.iter().enumerate();
    let wrong = parents.filter(|(_, parent)| {
        parent.is_a("", "Service") && parent.port == Some(port) && service_of(route, parent) == service.metadata.key()
    });
    wrong
        .flat_map(|(at, parent)| {
            let path = format!("/spec/parentRefs/{at}");
            [test(format!("{path}/name"), parent.name.as_str()), put(format!("{path}/port"), declared)]
        })
        .collect()
}
