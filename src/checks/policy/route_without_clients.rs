//! `route-without-clients`: a route that applies only to clients of its own namespace, in which no pod has
//! a proxy.

use std::collections::BTreeSet;

use super::backends::{parents, routes};
use super::survey::{about, field, on};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>()?;
    let routes = routes(ctx)?;
    let consumers = routes.into_iter().filter(|(_, route)| {
        let own = route.metadata.namespace.as_str();
        parents(route).all(|(namespace, _)| namespace != own)
    });
    let consumers: Vec<_> = consumers.collect();
    if consumers.is_empty() {
        return Ok(Verdict::fine());
    }
    let alive = pods.iter().filter(|pod| !pod.is_finished());
    let (mut there, mut meshed): (BTreeSet<&str>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
    for pod in alive {
        there.insert(&pod.metadata.namespace);
        if pod.spec.proxy().is_some() {
            meshed.insert(&pod.metadata.namespace);
        }
    }
    let idle = consumers.into_iter().filter(|(_, route)| !meshed.contains(route.metadata.namespace.as_str()));
    let findings = idle.map(|(kind, route)| {
        let meta = &route.metadata;
        let own = meta.namespace.as_str();
        let (namespace, name) = parents(route).next().unwrap_or_default();
        let said = if there.contains(own) { "none of its pods has a proxy" } else { "it has no pods" };
        about(
            ctx,
            kind,
            meta,
            format!(
                "The route has no effect: in another namespace than Service {namespace}/{name}, a route \
                 applies only to clients of its own namespace, {own}, and none of them has a proxy"
            ),
        )
        .evidence(field(kind, meta, "spec.parentRefs", format!("Service {namespace}/{name}")))
        .evidence(Evidence::other(format!("pods of namespace {own}"), said))
        .remedy(
            Remedy::new()
                .note(format!(
                    "If the route is meant for all clients of the Service, create it in namespace {namespace}"
                ))
                .command(format!("Then delete the route in namespace {own}"), on("delete", kind, meta))
                .note(format!(
                    "If the route is meant for clients in namespace {own}, mesh them: the client's \
                             proxy applies routes"
                )),
        )
    });
    Ok(findings.collect())
}
